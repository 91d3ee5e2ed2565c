"""The forms of sub-programs, each declared in one place; programs shrink to the ones that are declared first."""

from lawful.laws._form import forms

from lawful.laws._forms import compilation, choice, batching, derivative  # isort: skip

__all__ = ["batching", "choice", "compilation", "derivative", "forms"]
