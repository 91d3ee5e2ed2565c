"""Functions that move, repeat and join elements, make arrays, and convert them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

from .arguments import (
    axes,
    axis,
    dtypes,
    flags,
    of_size,
    one_axis_or_none,
    permutations,
    promoted_arrays,
    sequences,
    signed,
    wider,
)
from .arrays import (
    ALL,
    BOOL,
    COMPLEX,
    FLOATING,
    FLOATS,
    INTEGERS,
    NUMERIC,
    REAL,
    SIGNED,
    Strategy,
    arrays,
    broadcastable,
    filled,
    nonempty,
    scalars,
    shapes,
)
from .calls import Several, always, call, with_keyword
from .closeness import Closeness
from .spec import Spec

_any = arrays(ALL)


# Arguments


@st.composite
def _joined(draw: st.DrawFn) -> Several:
    """Draws arrays that differ in one length, with its dimension; or arrays of any shapes, with None."""
    count = draw(st.integers(1, 3))
    if draw(flags):
        return Several((draw(promoted_arrays([draw(shapes()) for _ in range(count)])), None))
    shape = draw(shapes(1))
    dim = draw(st.integers(0, len(shape) - 1))
    several = [(*shape[:dim], draw(st.integers(0, 3)), *shape[dim + 1 :]) for _ in range(count)]
    return Several((draw(promoted_arrays(several)), dim - draw(st.sampled_from([0, len(shape)]))))


def _new_axis(x: Any, *_: Any) -> Strategy:
    return st.integers(-x.ndim - 1, x.ndim)


def _stack_axis(parts: Any, *_: Any) -> Strategy:
    return _new_axis(parts[0])


def _ones(x: Any, *_: Any) -> Strategy:
    dims = [i for i, size in enumerate(x.shape) if size == 1]
    several = signed(st.lists(st.sampled_from(dims), unique=True) if dims else st.just([]), x.ndim)
    return st.one_of(several, st.sampled_from(dims)) if dims else several


@st.composite
def _moves(draw: st.DrawFn) -> Several:
    x = draw(arrays(ALL, shapes(1)))
    if draw(flags):
        return Several((x, draw(axis(x)), draw(axis(x))))
    count = draw(st.integers(0, x.ndim))
    sources, dims = (draw(signed(st.permutations(range(x.ndim)), x.ndim))[:count] for _ in range(2))
    return Several((x, sources, dims))


_shift = st.integers(-4, 4)


@st.composite
def _shifts(draw: st.DrawFn) -> Several:
    """Draws an array, how far to roll it, and along which dimensions."""
    x = draw(_any)
    if not x.ndim or draw(flags):
        return Several((x, draw(_shift), draw(one_axis_or_none(x))))
    dims = draw(signed(st.permutations(range(x.ndim)), x.ndim))[: draw(st.integers(1, x.ndim))]
    return Several((x, tuple([draw(_shift) for _ in dims]), dims))


@st.composite
def _repeats(draw: st.DrawFn) -> Several:
    """Draws an array, how often to repeat each part of it, and along which dimension."""
    x = draw(arrays(ALL, shapes(1)))
    dim = draw(st.integers(0, x.ndim - 1))
    counts = draw(st.lists(st.integers(0, 3), min_size=x.shape[dim], max_size=x.shape[dim]))
    return Several((x, np.array(counts, draw(st.sampled_from(INTEGERS[:-1]))), dim))


@st.composite
def _several(draw: st.DrawFn) -> Several:
    return Several([draw(arrays(ALL, shape)) for shape in draw(broadcastable(draw(st.integers(1, 3))))])


@st.composite
def _vectors(draw: st.DrawFn) -> Several:
    dtype = draw(st.sampled_from(NUMERIC))
    return Several([draw(filled(draw(shapes(1, 1)), dtype)) for _ in range(draw(st.integers(0, 3)))])


@st.composite
def _conversions(draw: st.DrawFn) -> Several:
    """Draws arrays and dtypes that hold their values; the standard does not define other conversions."""
    to = draw(st.sampled_from(ALL))
    dtype = draw(st.sampled_from([name for name in ALL if not (name in COMPLEX and to not in COMPLEX)]))
    kind = "any" if to in ("bool", *FLOATING) and not (dtype == "float64" and to == "float32") else "positive"
    return Several((draw(arrays((dtype,), kind=kind)), np.dtype(to)))


_value = st.sampled_from([True, 3, -2, 0.5, -0.0, float("nan"), float("inf"), 1 - 2j])


def _dtype_of_value(_: Any, value: Any) -> Strategy:
    """Draws dtypes that can represent a number."""
    groups = {bool: BOOL, int: (*SIGNED, *FLOATING), float: FLOATING, complex: COMPLEX}
    return dtypes(groups[type(value)])


@st.composite
def _like(draw: st.DrawFn) -> Several:
    x = draw(_any)
    return Several((x, draw(scalars(x.dtype.name))))


@st.composite
def _nested(draw: st.DrawFn) -> Any:
    """Draws nested lists of numbers, all bool, integer, floating or complex."""
    return draw(arrays(("bool", "int64", "float64", "complex128"), nonempty(1), "small")).tolist()


@st.composite
def _ranges(draw: st.DrawFn) -> Several:
    ends = st.sampled_from([0, 1, -2, 5, 0.5, 2.5, -3.0])
    args = [draw(ends) for _ in range(draw(st.integers(1, 2)))]
    step = [draw(st.sampled_from([1, 2, -1, 0.5, -1.5, 3]))] if len(args) == 2 and draw(flags) else []
    return Several((*args, *step))


def _range_dtype(*numbers: Any) -> Strategy:
    return dtypes(REAL if all(type(x) is int and x >= 0 for x in numbers) else FLOATS)


def _spaced_dtype(*args: Any) -> Strategy:
    return dtypes(COMPLEX if any(isinstance(x, complex) for x in args[:2]) else FLOATING)


_ends = st.sampled_from([0, 1, -2, 2.5, 1e3, -0.5, 1 + 2j])


# Specs


def _moved() -> Iterator[Spec]:
    yield Spec("broadcast_arrays", call(_several()))
    yield Spec("broadcast_to", call(_any, lambda x: wider(x.shape)))
    yield Spec("concat", with_keyword("axis", _joined()))
    yield Spec("expand_dims", call(_any, axis=always(_new_axis)))
    yield Spec("flip", call(_any, axis=axes))
    yield Spec("matrix_transpose", call(arrays(ALL, shapes(2))))
    yield Spec("moveaxis", call(_moves()))
    yield Spec("permute_dims", call(_any, permutations))
    yield Spec("repeat", st.one_of(call(_any, st.integers(0, 3)), with_keyword("axis", _repeats())), known=(1,))
    yield Spec("reshape", call(_any, lambda x: of_size(x.size), copy=st.sampled_from([None, True])))
    yield Spec("roll", with_keyword("axis", _shifts()))
    yield Spec("squeeze", call(_any, _ones))
    yield Spec("stack", call(sequences(shapes(0, 2)), axis=_stack_axis))
    yield Spec("tile", call(_any, shapes(of=st.integers(0, 2))))
    yield Spec("unstack", call(arrays(ALL, shapes(1)), axis=axis))
    for name in ("tril", "triu"):
        yield Spec(name, call(arrays(ALL, shapes(2)), k=st.integers(-4, 4)))


def _made() -> Iterator[Spec]:
    unset = Closeness(values=False)
    of_dtype = {"dtype": dtypes(ALL)}
    # XLA omits the addition of an initial zero; then 0 * -1 is -0.
    yield Spec("arange", call(_ranges(), dtype=_range_dtype), Closeness(digits=2, zeros=False))
    yield Spec("asarray", call(st.one_of(_any, _value, _nested()), copy=st.sampled_from([None, True])))
    yield Spec("astype", call(_conversions(), copy=flags))
    yield Spec("empty", call(shapes(), **of_dtype), unset)
    yield Spec("empty_like", call(_any, **of_dtype), unset)
    length = st.integers(0, 3)
    yield Spec("eye", call(length, st.one_of(st.none(), length), k=st.integers(-4, 4), **of_dtype))
    yield Spec("from_dlpack", call(_any), untraced="a traced array is not exchanged with other libraries")
    yield Spec("full", call(shapes(), _value, dtype=_dtype_of_value))
    yield Spec("full_like", call(_like()))
    spaced = call(_ends, _ends, st.integers(0, 5), dtype=_spaced_dtype, endpoint=flags)
    yield Spec("linspace", spaced, Closeness(terms=4, zeros=False))
    yield Spec("meshgrid", call(_vectors(), indexing=st.sampled_from(["xy", "ij"])))
    for name in ("ones", "zeros"):
        yield Spec(name, call(st.one_of(shapes(), st.integers(0, 3)), **of_dtype))
        yield Spec(f"{name}_like", call(_any, **of_dtype))


MANIPULATION = [*_moved(), *_made()]
