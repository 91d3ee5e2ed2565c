"""The forms of sub-programs, each declared in one place; programs shrink to the ones that are declared first."""

from lawful.laws._form import forms
from lawful.laws._forms import (
    batching,
    choice,
    compilation,
    derivative,
    detours,
    loops,
    own_rules,
    rematerialization,
    slices,
)  # isort: skip

__all__ = [
    "batching",
    "choice",
    "compilation",
    "derivative",
    "detours",
    "forms",
    "loops",
    "own_rules",
    "rematerialization",
    "slices",
]
