"""Exercise 2: a transformation. ``with_units(f)`` computes ``f``, and checks the physical units of every operation."""

from lawful.core import register_internal_module
from units import rules as rules
from units.trace import Unit, UnitError, with_units

register_internal_module(__name__)

__all__ = ["Unit", "UnitError", "with_units"]
