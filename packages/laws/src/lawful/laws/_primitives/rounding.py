"""Whether a function amplifies the rounding of its operations, so that two backends may give anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from lawful import tree
from lawful.core import Primitive, get_aval
from lawful.laws._law.comparison import find_difference
from lawful.laws._primitives.changed_results import evaluate_changed
from lawful.ops import eq, mul, round, select
from lawful.staging import make_jaxpr


def amplifies_rounding(function: Callable[..., Any], args: Sequence[Any]) -> bool:
    """Whether a function gives something else if the results on its way are two units of rounding larger.

    Integers among them stay as they are: a sum or product of integers is exact.

    >>> from lawful import ops
    >>> [amplifies_rounding(lambda x, n: ops.sin(ops.mul(ops.exp(x), n)), (0.3, n)) for n in (2.0, 2.0**60)]
    [False, True]
    """
    closed, leaves = make_jaxpr(function)(*args), tree.leaves(tuple(args))
    with np.errstate(all="ignore"):
        plain, changed = [evaluate_changed(closed, leaves, change) for change in (_unchanged, _larger)]
    return find_difference(plain, changed) is not None


def _unchanged(primitive: Primitive, out: Any) -> Any:
    return out


def _larger(primitive: Primitive, out: Any) -> Any:
    dtype = get_aval(out).dtype
    larger = mul(out, dtype.type(1 + 2 * float(ml_dtypes.finfo(dtype).eps)))
    return larger if dtype.kind == "c" else select(eq(out, round(out)), out, larger)
