"""How many arithmetic operations an equation takes: rules in the slot ``"operations"``, called with the equation.

An elementwise function of any kind counts as one operation an element, which needs no rule; a complex operation too.
"""

from __future__ import annotations

import math
from typing import Any


def no_operations(eqn: Any) -> int:
    """Returns 0: elements only move."""
    return 0


def one_an_element(eqn: Any) -> int:
    """Returns the number of elements of the result."""
    return int(eqn.outvars[0].aval.size)


def one_an_operand_element(eqn: Any) -> int:
    """Returns the number of elements of the first operand: a reduction, or a cumulative op."""
    return int(eqn.invars[0].aval.size)


def of_sorting(eqn: Any) -> int:
    """Returns the comparisons of a sort of the first operand: ``n log2(n)`` along the dimension."""
    aval = eqn.invars[0].aval
    length = aval.shape[eqn.params["dimension"]] if "dimension" in eqn.params else aval.shape[-1] if aval.shape else 1
    return int(aval.size) * max(1, math.ceil(math.log2(max(length, 1))))


def of_matrices(cubic: float) -> Any:
    """Returns the rule of a decomposition: ``cubic * m * n * min(m, n)`` for each matrix, the leading term."""

    def count(eqn: Any) -> int:
        shape = eqn.invars[0].aval.shape
        m, n = shape[-2:]
        operations: float = math.prod(shape[:-2]) * cubic * m * n * min(m, n)
        return round(operations)

    return count
