"""Searching, sorting and set functions; indexing; and inspection of dtypes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

from .arguments import axis, dtypes, flags, promotable
from .arrays import ALL, FLOATING, INTEGERS, REAL, Strategy, arrays, broadcastable, filled, nonempty, scalars, shapes
from .calls import Call, Several, call, with_keyword
from .closeness import Closeness
from .spec import Spec

_KINDS = ("bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric")


# Arguments


@st.composite
def _choices(draw: st.DrawFn) -> Several:
    """Draws a condition and two arrays, one of which may be a number."""
    left, right = draw(st.sampled_from(promotable(ALL)))
    first, second, third = draw(broadcastable(3))
    condition = draw(filled(first, "bool"))
    number = draw(st.sampled_from((None, None, 0, 1)))
    x = draw(scalars(right) if number == 0 else filled(second, left))
    return Several((condition, x, draw(scalars(left) if number == 1 else filled(third, right))))


@st.composite
def _sorted_and_wanted(draw: st.DrawFn) -> Call:
    left, right = draw(st.sampled_from(promotable(REAL)))
    x, wanted = draw(filled(draw(shapes(1, 1)), left, "finite")), draw(filled(draw(shapes()), right, "finite"))
    named: dict[str, Any] = {"side": draw(st.sampled_from(["left", "right"]))} if draw(flags) else {}
    if draw(flags):
        return Call((x, wanted), {**named, "sorter": np.argsort(x)})
    return Call((np.sort(x), wanted), named)


@st.composite
def _taken(draw: st.DrawFn) -> Several:
    x = draw(arrays(ALL, shapes(1)))
    dim = draw(st.integers(-x.ndim, x.ndim - 1))
    size = x.shape[dim]
    positions = draw(st.lists(st.integers(-size, size - 1), max_size=3)) if size else []
    # Negative positions are allowed since 2024.12, in signed dtypes.
    dtype = draw(st.sampled_from(INTEGERS))
    if dtype.startswith("u"):
        positions = [abs(i) % max(size, 1) for i in positions]
    return Several((x, np.array(positions, dtype), dim))


@st.composite
def _taken_along(draw: st.DrawFn) -> Several:
    x = draw(arrays(ALL, shapes(1)))
    dim = draw(st.integers(-x.ndim, x.ndim - 1))
    size = x.shape[dim]
    shape = list(x.shape)
    shape[dim] = draw(st.integers(0, 3)) if size else 0
    count = int(np.prod(shape))
    positions = draw(st.lists(st.integers(-size, size - 1), min_size=count, max_size=count)) if count else []
    return Several((x, np.array(positions, "int64").reshape(shape), dim))


@st.composite
def _indexed(draw: st.DrawFn) -> Several:
    """Draws an array and an index for all dimensions: integers, slices, None and at most one ``...``."""
    x = draw(arrays(ALL))
    entries: list[Any] = []
    for size in x.shape:
        if draw(st.integers(0, 4)) == 0:
            entries.append(None)
        step = draw(st.sampled_from([1, 1, 2, -1]))
        ends = st.one_of(st.none(), st.integers(0, size))
        start, stop = draw(ends), draw(ends)
        if step < 0:  # the standard does not define what is beyond the last element
            start = None if start is None else min(start, max(size - 1, 0))
            stop = None if stop is None else min(stop, max(size - 1, 0))
        whole = slice(start, stop, step)
        entries.append(draw(st.integers(-size, size - 1)) if size and draw(flags) else whole)
    if draw(flags):
        dim = draw(st.integers(0, len(entries)))
        dropped = draw(st.integers(0, len(entries) - dim))
        dropped = min(dropped, next((i for i, e in enumerate(entries[dim:]) if e is None), dropped))
        entries[dim : dim + dropped] = [...]
    return Several((x, entries[0] if len(entries) == 1 else tuple(entries)))


@st.composite
def _gathered(draw: st.DrawFn) -> Several:
    """Draws an array and, for each dimension, a position or an array of positions."""
    x = draw(arrays(ALL, nonempty(1)))
    shape = draw(shapes(0, 2))
    entries = []
    for size, smaller_shape in zip(x.shape, draw(broadcastable(x.ndim, shape)), strict=True):
        count = int(np.prod(smaller_shape))
        positions = draw(st.lists(st.integers(-size, size - 1), min_size=count, max_size=count))
        entries.append(np.array(positions, "int64").reshape(smaller_shape))
    entries[0] = np.atleast_1d(entries[0])  # an index of integers only is of another sort
    return Several((x, tuple(entries)))


@st.composite
def _masked(draw: st.DrawFn) -> Several:
    x = draw(_numbers_or_flags)
    return Several((x, draw(filled(x.shape, "bool"))))


_numbers_or_flags = arrays(ALL)
_kinds = st.one_of(st.sampled_from(_KINDS), dtypes(ALL))


# Specs


def _found(result: Any) -> dict[str, Any]:
    """Returns the number of elements, for a program that must know it."""
    first = result[0] if isinstance(result, tuple) else result
    return {"size": first.shape[0]}


def _by_value(result: Any) -> Any:
    """Returns unique elements in order, with their counts; the standard does not define their order."""
    if not isinstance(result, tuple):
        return np.sort(np.asarray(result))
    values = np.asarray(result[0])
    order = np.argsort(values, stable=True)
    fields = {name: np.asarray(field) for name, field in result._asdict().items()}
    numbers = np.count_nonzero(values == values)
    for name in fields.keys() & {"values", "indices", "counts"}:
        fields[name] = fields[name][order]
    if "indices" in fields:  # the index of a NaN is not defined
        fields["indices"][numbers:].sort()
    if "inverse_indices" in fields:
        fields["inverse_indices"] = np.minimum(np.argsort(order)[fields["inverse_indices"]], numbers)
    return type(result)(**fields)


def _searches() -> Iterator[Spec]:
    numbers = arrays(REAL, shapes(1), "finite")
    yield Spec("nonzero", call(arrays(ALL, shapes(1))), sizes=_found)
    yield Spec("searchsorted", _sorted_and_wanted())
    yield Spec("where", call(_choices()))
    for name in ("all", "counts", "inverse", "values"):
        yield Spec(f"unique_{name}", call(arrays(ALL)), Closeness(zeros=False), sizes=_found, seen=_by_value)
    yield Spec("sort", call(numbers, axis=axis, descending=flags, stable=flags), Closeness(zeros=False))
    # Without stability, the order of equal elements is not defined.
    yield Spec("argsort", call(numbers, axis=axis, descending=flags, stable=st.just(True)))
    yield Spec("take", with_keyword("axis", _taken()))
    yield Spec("take_along_axis", with_keyword("axis", _taken_along()))


@st.composite
def _promoted(draw: st.DrawFn) -> Several:
    """Draws dtypes and arrays that promote, and a number that is weaker."""
    left, right = draw(st.sampled_from(promotable(ALL)))
    several = [draw(st.one_of(st.just(np.dtype(name)), filled((2,), name))) for name in (left, right)]
    return Several((*several, *([draw(scalars(left))] if draw(flags) else [])))


def _limits(result: Any) -> list[Any]:
    """Returns the limits of a dtype as numbers."""
    fields = ("eps", "max", "min", "smallest_normal") if hasattr(result, "eps") else ("max", "min")
    return [result.bits, *[float(getattr(result, field)) for field in fields], str(result.dtype).rpartition(".")[2]]


def _dtypes() -> Iterator[Spec]:
    yield Spec("result_type", call(_promoted()))
    yield Spec("finfo", call(st.one_of(dtypes(FLOATING), arrays(FLOATING))), seen=_limits)
    yield Spec("iinfo", call(st.one_of(dtypes(INTEGERS), arrays(INTEGERS))), seen=_limits)
    yield Spec("can_cast", call(st.one_of(dtypes(ALL), _numbers_or_flags), _of_the_same_kind))
    yield Spec("isdtype", call(dtypes(ALL), st.one_of(_kinds, st.lists(_kinds, min_size=1, max_size=3).map(tuple))))


def _of_the_same_kind(x: Any) -> Strategy:
    """Draws dtypes of the same kind; the standard does not define isdtype-like conversions of other kinds."""
    kind = x.kind if isinstance(x, np.dtype) else x.dtype.kind
    return dtypes([name for name in ALL if np.dtype(name).kind == kind])


def _attributes() -> Iterator[Spec]:
    yield Spec("operator.getitem", call(_indexed()))
    yield Spec("operator.getitem", call(_gathered()), title="at positions")
    traced = "how many elements a mask chooses is not known in a program: test_data_dependent_shapes.py"
    yield Spec("operator.getitem", call(_masked()), title="by a mask", untraced=traced)
    yield Spec("array.T", call(arrays(ALL, shapes(2, 2))))
    yield Spec("array.mT", call(arrays(ALL, shapes(2))))
    for name in ("shape", "ndim", "size", "dtype"):
        yield Spec(f"array.{name}", call(_numbers_or_flags))


SEARCHES = [*_searches(), *_dtypes(), *_attributes()]
