"""The forms of sub-programs, each declared in one place; programs shrink to the ones that are declared first."""

from lawful.laws._form import forms

from lawful.laws._forms import compilation, choice, batching, loops, slices, rematerialization, own_rules, derivative  # isort: skip

__all__ = [
    "batching",
    "choice",
    "compilation",
    "derivative",
    "forms",
    "loops",
    "own_rules",
    "rematerialization",
    "slices",
]
