"""Reductions, cumulative ones, and functions of neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

from .arguments import axes, axis, dtypes, flags, one_axis_or_none
from .arrays import ALL, FLOATING, FLOATS, NUMERIC, REAL, Strategy, arrays, filled, nonempty, shapes
from .calls import Call, always, call
from .closeness import Closeness
from .spec import Spec

# Terms may be added in any order.
_SUM = Closeness(terms=16, zeros=False)
_PRODUCT = Closeness(digits=64, zeros=False)
_VARIANCE = Closeness(digits=64, terms=64, zeros=False)


def _wider(x: Any, *_: Any) -> Strategy:
    """Draws dtypes for sums: they hold all values of the array, and have its dtype kind."""
    kind = {"b": "iu", "i": "i", "u": "u", "f": "f", "c": "c"}[x.dtype.kind]
    return dtypes([name for name in NUMERIC if np.dtype(name).kind in kind and np.dtype(name) >= x.dtype])


def _corrections(x: Any, *_: Any) -> Strategy:
    return st.sampled_from([0, 1, 0.5, 2.0])


def _axis_or_none_if_vector(x: Any, *_: Any) -> Strategy:
    return one_axis_or_none(x) if x.ndim == 1 else axis(x)


@st.composite
def _differences(draw: st.DrawFn) -> Call:
    """Draws an array, an order and dimension of differences, and values to prepend and append."""
    x = draw(arrays(NUMERIC, shapes(1)))
    dim = draw(st.integers(0, x.ndim - 1))
    named: dict[str, Any] = {"n": draw(st.integers(0, 3)), "axis": dim - draw(st.sampled_from([0, x.ndim]))}
    for edge in ("prepend", "append"):
        if draw(flags):
            shape = (*x.shape[:dim], draw(st.integers(0, 2)), *x.shape[dim + 1 :])
            named[edge] = draw(filled(shape, x.dtype.name))
    return Call((x,), named)


def _reductions() -> Iterator[Spec]:
    small = {"axis": axes, "keepdims": flags}
    yield Spec("sum", call(arrays(NUMERIC, kind="special"), dtype=_wider, **small), _SUM)
    yield Spec("prod", call(arrays(NUMERIC, kind="small"), dtype=_wider, **small), _PRODUCT)
    yield Spec("mean", call(arrays(FLOATING, kind="special", complex_kind="small"), **small), _SUM)
    yield Spec("var", call(arrays(FLOATS, kind="special"), correction=_corrections, **small), _VARIANCE)
    yield Spec("std", call(arrays(FLOATS, kind="special"), correction=_corrections, **small), _VARIANCE)
    for name in ("max", "min"):
        yield Spec(name, call(arrays(REAL, nonempty()), **small), Closeness(zeros=False))
    for name in ("all", "any"):
        yield Spec(name, call(arrays(ALL), **small))
    yield Spec("count_nonzero", call(arrays(ALL), **small))
    for name in ("argmax", "argmin"):
        yield Spec(name, call(arrays(REAL, nonempty()), axis=one_axis_or_none, keepdims=flags))
    along = {"axis": always(_axis_or_none_if_vector), "dtype": _wider, "include_initial": flags}
    yield Spec("cumulative_sum", call(arrays(NUMERIC, shapes(1), "special"), **along), _SUM)
    yield Spec("cumulative_prod", call(arrays(NUMERIC, shapes(1), "small"), **along), _PRODUCT)
    yield Spec("diff", _differences(), Closeness(digits=4))


REDUCTIONS = [*_reductions()]
