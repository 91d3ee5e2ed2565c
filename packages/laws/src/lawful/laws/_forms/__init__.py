"""The forms of sub-programs, one module for each group. Programs shrink to the forms declared first."""

from lawful.laws._programs.form import forms

# isort: off
from lawful.laws._forms import compilation
from lawful.laws._forms import choice
from lawful.laws._forms import batching
from lawful.laws._forms import loops
from lawful.laws._forms import slices
from lawful.laws._forms import rematerialization
from lawful.laws._forms import own_rules
from lawful.laws._forms import detours
from lawful.laws._forms import derivative
from lawful.laws._forms import known_directions
from lawful.laws._forms import sharding
# isort: on

__all__ = [
    "batching",
    "choice",
    "compilation",
    "derivative",
    "detours",
    "forms",
    "known_directions",
    "loops",
    "own_rules",
    "rematerialization",
    "sharding",
    "slices",
]
