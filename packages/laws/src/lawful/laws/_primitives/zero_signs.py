"""Whether a function depends on the signs of zeros that backends may choose.

The larger of ``0.0`` and ``-0.0`` is either, by IEEE 754-2008 and in NumPy, whose choice depends on the processor; XLA
says ``0.0``. A sum of negative zeros is ``0.0`` where it starts with a zero. These are equal, and what follows may tell
them apart: ``1 / 0.0`` from ``1 / -0.0``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from lawful import tree
from lawful.core import ClosedJaxpr
from lawful.laws._law.comparison import find_difference
from lawful.laws._primitives.changed_results import evaluate_changed
from lawful.ops import add, neg
from lawful.staging import make_jaxpr

_CHOOSING: Final = frozenset(
    {
        *("max", "min", "clamp", "reduce_max", "reduce_min", "cummax", "cummin", "reduce_window_max"),
        *("reduce_window_min", "scatter_max", "scatter_min", "pmax", "pmin", "cumsum", "reduce_window_sum"),
    }
)


def depends_on_chosen_zeros(function: Callable[..., Any], args: Sequence[Any]) -> bool:
    """Whether a function gives something else if the zeros that backends choose the sign of have the other sign.

    >>> from lawful import ops
    >>> depends_on_chosen_zeros(lambda x, y: ops.rsqrt(ops.max(x, y)), (0.0, -0.0))
    True
    >>> depends_on_chosen_zeros(lambda x, y: ops.exp(ops.max(x, y)), (0.0, -0.0))
    False
    """
    closed, leaves = make_jaxpr(function)(*args), tree.leaves(tuple(args))
    with np.errstate(all="ignore"):
        positive, negative = [_with_zeros(closed, leaves, sign) for sign in (_positive, _negative)]
    return find_difference(positive, negative) is not None


def _positive(x: Any) -> Any:
    return add(x, 0.0)


def _negative(x: Any) -> Any:
    return neg(add(neg(x), 0.0))


def _with_zeros(closed: ClosedJaxpr, args: Sequence[Any], sign: Callable[[Any], Any]) -> list[Any]:
    """Evaluates a jaxpr with one sign for all zeros whose sign backends may choose."""
    return evaluate_changed(closed, args, lambda primitive, out: sign(out) if primitive.name in _CHOOSING else out)
