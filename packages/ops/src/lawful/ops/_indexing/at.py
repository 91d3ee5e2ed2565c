"""Functional updates: ``x.at[index].set(y)`` is what ``x[index] = y`` makes of ``x``, as a new array.

Tracers and device arrays have ``at``; for NumPy's arrays, and for all, there is the function `at`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, get_aval, kind
from lawful.ops._indexing.dynamic_slice_functions import dynamic_update_slice
from lawful.ops._indexing.gather_scatter.scatter import (
    Scatter,
    scatter,
    scatter_add,
    scatter_max,
    scatter_min,
    scatter_mul,
    scatter_sub,
)
from lawful.ops._indexing.gather_scatter.windows import GatherScatterMode, ScatterDimensionNumbers
from lawful.ops._indexing.getitem import read
from lawful.ops._indexing.index import Index, index_vectors, parse_index
from lawful.ops._indexing.traced_mask import TracedMask
from lawful.ops._shape.reshape import reshape
from lawful.ops._shape.slicing import rev
from lawful.ops._shape.squeeze import squeeze
from lawful.ops._support.large_integers import fitting_integer
from lawful.ops._support.promotion import broadcast_shapes, broadcast_to, convert
from lawful.ops._support.structural import strong

__all__ = ["At", "AtIndex", "at"]

# The neutral element of updates that have one; for others it is the element itself.
_NEUTRAL = {scatter_add: 0, scatter_sub: 0, scatter_mul: 1}
_RANK = {"b": 0, "i": 1, "u": 1, "V": 1, "f": 2, "c": 3}


class At:
    """The type of ``at(x)`` and ``x.at``; an index of it, ``x.at[index]``, has the updates as methods.

    >>> At(np.arange(3))[0].set(9)
    array([9, 1, 2])
    """

    __slots__ = ("_array",)

    def __init__(self, array: Any) -> None:
        self._array = array

    def __getitem__(self, index: Any) -> AtIndex:
        return AtIndex(self._array, index)

    def __repr__(self) -> str:
        return f"at({self._array!r})"


def at(x: Any) -> At:
    """Returns what is indexed to update an array functionally: ``at(x)[index].set(y)``.

    Args:
      x: an array; of tracers and device arrays it is ``x.at``.

    >>> at(np.arange(4))[1:3].set(9)
    array([0, 9, 9, 3])
    >>> at(np.arange(4))[np.array([0, 0])].add(10)
    array([20,  1,  2,  3])

    Source: ``jax.numpy.ndarray.at``.
    """
    get_aval(x)
    return At(x)


class AtIndex:
    """An array and an index, of which the methods give the array with those elements updated, or the elements.

    All of them take:

    - ``indices_are_sorted``: a promise that may make it faster.
    - ``unique_indices``: a promise that no element is chosen twice; derivatives of ``multiply``, ``divide`` and
      ``power`` in what is given need it.
    - ``mode``: what is done about positions outside of the array: ``"clip"`` takes the nearest; ``"fill"`` and
      ``"drop"`` leave an update out, and read ``fill_value``; ``"promise_in_bounds"`` says that there are none. By
      default a known position has to be inside, of the traced ones an update outside is left out and a read takes
      the nearest.
    - ``wrap_negative_indices``: whether negative positions are counted from the end.

    A boolean array whose values are not known may choose what is updated, alone or among slices, where ``values`` have
    one for all that it chooses; JAX refuses it.

    Updates are converted to the array's dtype, where they are of the same dtype kind or a lower one. Where an element
    is chosen several times all updates count, in ``set`` the last one; on a GPU it may be any of them.

    Raises:
      ArgumentIndexError: as ``x[index]``.
      ArgumentTypeError: an update is of a higher dtype kind, such as a float for an array of integers.
      ArgumentValueError: an update does not broadcast to the shape of ``x[index]``.

    >>> index = at(np.array([1, 2, 3]))[1:]
    >>> index.multiply(10), index.get()
    (array([ 1, 20, 30]), array([2, 3]))
    """

    __slots__ = ("_array", "_index")

    def __init__(self, array: Any, index: Any) -> None:
        self._array = array
        self._index = index

    def __repr__(self) -> str:
        return f"at({self._array!r})[{self._index!r}]"

    def get(
        self,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: str | GatherScatterMode | None = None,
        fill_value: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Any:
        """Returns ``x[index]``; with ``mode="fill"``, ``fill_value`` for what is outside, NaN by default.

        >>> at(np.array([1.0, 2.0]))[np.array([1, 5])].get(mode="fill")
        array([ 2., nan])
        """
        x = strong(self._array)
        parsed = parse_index(get_aval(x).shape, self._index, strict=mode is None, wrap=wrap_negative_indices)
        return read(
            x,
            parsed,
            mode=None if mode is None else GatherScatterMode.from_any(mode).value,
            fill_value=fill_value,
            unique_indices=unique_indices,
            indices_are_sorted=indices_are_sorted,
        )

    def set(self, values: Any, **options: Any) -> Any:
        """Returns ``x`` after ``x[index] = values``.

        >>> at(np.zeros(3))[-1].set(5)
        array([0., 0., 5.])
        """
        return _updated(self._array, self._index, values, scatter, **options)

    def add(self, values: Any, **options: Any) -> Any:
        """Returns ``x`` after ``numpy.add.at(x, index, values)``."""
        return _updated(self._array, self._index, values, scatter_add, **options)

    def subtract(self, values: Any, **options: Any) -> Any:
        """Returns ``x`` after ``numpy.subtract.at(x, index, values)``."""
        return _updated(self._array, self._index, values, scatter_sub, **options)

    def multiply(self, values: Any, **options: Any) -> Any:
        """Returns ``x`` after ``numpy.multiply.at(x, index, values)``."""
        return _updated(self._array, self._index, values, scatter_mul, **options)

    mul = multiply

    def divide(self, values: Any, **options: Any) -> Any:
        """Returns ``x`` after ``numpy.divide.at(x, index, values)``; floating, as a quotient is."""
        return ops.true_divide(self._array, self._of_ones(values, options))

    def power(self, values: Any, **options: Any) -> Any:
        """Returns ``x`` after ``numpy.power.at(x, index, values)``."""
        return ops.pow(self._array, self._of_ones(values, options))

    def min(self, values: Any, **options: Any) -> Any:
        """Returns ``x`` after ``numpy.minimum.at(x, index, values)``."""
        return _updated(self._array, self._index, values, scatter_min, **options)

    def max(self, values: Any, **options: Any) -> Any:
        """Returns ``x`` after ``numpy.maximum.at(x, index, values)``."""
        return _updated(self._array, self._index, values, scatter_max, **options)

    def apply(self, func: Callable[[Any], Any], **options: Any) -> Any:
        """Returns ``x`` after ``x[index] = func(x[index])``; it can be differentiated.

        An element that is chosen several times has ``func`` applied once, where JAX applies it as often.

        >>> at(np.array([1.0, 4.0]))[1].apply(np.sqrt)
        array([1., 2.])
        """
        return self.set(func(self.get(**options)), **options)

    def _of_ones(self, values: Any, options: dict[str, Any]) -> Any:
        """Returns an array of ones with the values multiplied into it."""
        return _updated(ops.full_like(self._array, 1), self._index, values, scatter_mul, **options)


def _updated(
    x: Any,
    index: Any,
    values: Any,
    combine: Scatter,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
    wrap_negative_indices: bool = True,
) -> Any:
    """Returns ``x`` with values combined with its elements at an index."""
    x = strong(x)
    aval = get_aval(x)
    GatherScatterMode.from_any(mode)
    chosen = TracedMask.of(aval.shape, index)
    if chosen is not None:
        neutral = _NEUTRAL.get(combine)
        others = read(x, parse_index(aval.shape, chosen.around)) if neutral is None else np.asarray(neutral, aval.dtype)
        return _updated(x, chosen.around, chosen.select(fitting(chosen.spread(values), aval.dtype), others), combine)
    parsed = parse_index(aval.shape, index, strict=mode is None, wrap=wrap_negative_indices)
    values = _fitting(values, aval.dtype, parsed)
    if aval.dtype.kind == "b":  # the sum and the product of booleans
        combine = {scatter_add: scatter_max, scatter_mul: scatter_min}.get(combine, combine)
    if 0 in parsed.result or not aval.size:
        return x
    if combine is scatter and _is_block(parsed):
        return _with_block(x, parsed, values)
    target = reshape(x, parsed.shape) if parsed.inserted else x
    out = _scattered(target, parsed, values, combine, indices_are_sorted, unique_indices, mode)
    return reshape(out, aval.shape) if parsed.inserted else out


def fitting(values: Any, dtype: np.dtype[Any]) -> Any:
    """Returns values converted to the dtype of the array that they update.

    Raises:
      ArgumentTypeError: they are of a higher dtype kind, so that they would lose a part.
    """
    values = fitting_integer(values, dtype)
    have = get_aval(values)
    if _RANK[kind(have.dtype)] > _RANK[kind(dtype)]:
        raise ArgumentTypeError(
            f"at: expected values of a dtype kind that fits an array of {dtype}, got {have}, which would lose a part; "
            "convert the values or the array with astype"
        )
    return convert(values, dtype)


def _fitting(values: Any, dtype: np.dtype[Any], index: Index) -> Any:
    """Returns values in an array's dtype, with the dimensions of ``x[index]`` except new ones."""
    values = fitting(values, dtype)
    shape = get_aval(values).shape
    while len(shape) > len(index.result) and shape[0] == 1:  # NumPy drops these in an assignment
        values, shape = squeeze(values, (0,)), shape[1:]
    if broadcast_shapes("at", shape, index.result) != index.result:
        raise ArgumentValueError(
            f"at: expected values that broadcast to the shape {index.result} of x[index], got the shape {shape}; "
            "reshape them, or choose other elements"
        )
    return squeeze(broadcast_to(values, index.result), index.new_dims)


def _is_block(index: Index) -> bool:
    """Returns whether the elements are one contiguous block at a static position."""
    return index.is_basic and all(abs(chosen.step) == 1 or len(chosen) == 1 for chosen in index.slices.values())


def _with_block(x: Any, index: Index, values: Any) -> Any:
    values = rev(values, _reversed_dims(index))
    dims = range(len(index.shape))
    sizes = [len(index.slices[dim]) if dim in index.slices else 1 for dim in dims]
    starts = [
        min(index.slices[dim][0], index.slices[dim][-1]) if dim in index.slices else index.positions[dim]
        for dim in dims
    ]
    return dynamic_update_slice(x, reshape(values, tuple(sizes)), starts)


def _reversed_dims(index: Index) -> tuple[int, ...]:
    """Returns the dimensions of the values, without new ones, that a negative step reverses."""
    shift = len(index.looked_up)
    out, position = [], 0
    for i, dim in enumerate(index.kept):
        if dim is not None:
            if index.slices[dim].step == -1 and len(index.slices[dim]) > 1:
                out.append(position + (shift if i >= index.lookup_start else 0))
            position += 1
    return tuple(out)


def _scattered(
    x: Any,
    index: Index,
    values: Any,
    combine: Scatter,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: str | GatherScatterMode | None,
) -> Any:
    """Returns ``x`` with values scattered to an index.

    Slices with step ±1 are dimensions of a window. Those with gaps are looked up by index vectors.
    """
    shift = len(index.looked_up)
    kept = [dim for dim in index.kept if dim is not None]
    start = sum(dim is not None for dim in index.kept[: index.lookup_start])
    # The role of each dimension of the values: a looked-up dimension, or a slice.
    axes: list[tuple[str, int]] = [("slice", dim) for dim in kept]
    axes[start:start] = [("lookup", i) for i in range(shift)]
    gaps = {dim for dim in kept if abs(index.slices[dim].step) != 1 and len(index.slices[dim]) > 1}
    windows = tuple([i for i, (role, dim) in enumerate(axes) if role == "slice" and dim not in gaps])
    batch = [axis for i, axis in enumerate(axes) if i not in windows]
    shape = tuple([index.looked_up[i] if role == "lookup" else len(index.slices[i]) for role, i in batch])
    positions: dict[int, Any] = {}
    for dim, where in index.positions.items():
        positions[dim] = _spread(where, shift, [batch.index(("lookup", i)) for i in range(shift)], len(shape))
    for dim, chosen in index.slices.items():
        if dim in gaps:
            positions[dim] = _spread(np.asarray(chosen), 1, [batch.index(("slice", dim))], len(shape))
        elif len(chosen) != index.shape[dim]:
            positions[dim] = min(chosen[0], chosen[-1])
    dims = tuple(sorted(positions))
    is_single = not shift and not gaps
    known = index.in_bounds and mode is None
    return combine(
        x,
        index_vectors([positions[dim] for dim in dims], shape),
        rev(values, _reversed_dims(index)),
        ScatterDimensionNumbers(windows, tuple(sorted({*index.positions, *gaps})), dims),
        indices_are_sorted=indices_are_sorted or is_single,
        unique_indices=unique_indices or not shift,
        mode="promise_in_bounds" if known else mode,
    )


def _spread(where: Any, ndim: int, dims: list[int], total: int) -> Any:
    """Returns positions, which broadcast to ``ndim`` dimensions, reshaped to have these as ``dims`` of ``total``."""
    if type(where) is int:
        return where
    have = get_aval(where).shape
    sizes = [1] * total
    for dim, size in zip(dims[ndim - len(have) :], have, strict=True):
        sizes[dim] = size
    return reshape(where, tuple(sizes))
