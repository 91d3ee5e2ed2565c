"""Symbolic zeros as tangents, and the arrays that stand for them."""

from __future__ import annotations

from typing import Any

from lawful.core import Zero, float0, get_aval, instantiate_zeros
from lawful.ops import full, with_weakness_of


def zero_tangent(x: Any) -> Zero:
    """Returns the symbolic zero tangent of a primal value.

    >>> zero_tangent(3)
    Zero(float0[])
    """
    return Zero(get_aval(x).to_tangent_aval())


def as_tangent_of(primal: Any, tangent: Any) -> Any:
    """Returns an instantiated tangent of exactly the tangent type of a primal, weakness included.

    >>> as_tangent_of(2.0, zero_tangent(2.0))
    0.0
    """
    return with_weakness_of(instantiated(tangent), get_aval(primal).to_tangent_aval())


def instantiated(tangent: Any) -> Any:
    """Returns zeros for a symbolic zero, and anything else as it is.

    Where a program is recorded they are an equation of it, because a jaxpr within a jaxpr has no constants.

    >>> import numpy as np
    >>> instantiated(zero_tangent(np.ones(2))), instantiated(3.0)
    (array([0., 0.]), 3.0)
    """
    if type(tangent) is not Zero or tangent.aval.dtype == float0:
        return instantiate_zeros(tangent)
    return full(tangent.aval.shape, 0, tangent.aval.dtype)
