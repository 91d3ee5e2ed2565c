"""Elementwise ops: declaration, arithmetic, comparison, selection, exponential to hyperbolic functions.

The formulas for complex numbers are a lazy import, used when a program with complex numbers is first lowered.
"""

from typing import TYPE_CHECKING

from lawful.core import lazy_imports

if TYPE_CHECKING:
    from lawful.ops._elementwise.complex_formulas import corrections, formulas
else:
    __getattr__, __dir__ = lazy_imports(__name__, "complex_formulas")

__all__ = ["corrections", "formulas"]
