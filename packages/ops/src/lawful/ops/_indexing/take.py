"""Elements by their positions along one dimension: NumPy's functions, with the modes of `gather`."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful import ops
from lawful.core import (
    ArgumentIndexError,
    ArgumentTypeError,
    ArgumentValueError,
    IndexTypeError,
    Tracer,
    get_aval,
    record,
)
from lawful.ops._indexing.at import at, fitting
from lawful.ops._indexing.gather_scatter.gather import gather
from lawful.ops._indexing.gather_scatter.scatter import scatter
from lawful.ops._indexing.gather_scatter.windows import (
    GatherDimensionNumbers,
    GatherScatterMode,
    ScatterDimensionNumbers,
)
from lawful.ops._indexing.index import Positions, parse_index
from lawful.ops._shape.reshape import reshape
from lawful.ops._shape.squeeze import squeeze
from lawful.ops._support.promotion import broadcast_shapes, broadcast_to
from lawful.ops._support.structural import Shape, canonical_axis, is_axis_of_scalar, strong, zeros_of

__all__ = ["put_along_axis", "take", "take_along_axis"]


def take(
    a: Any,
    indices: Any,
    axis: int | None = None,
    out: None = None,
    mode: str | None = None,
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    fill_value: Any = None,
) -> Any:
    """Returns the elements of ``a`` at positions along an axis.

    Args:
      a: an array.
      indices: an array of integers, which may be traced; booleans are 0 and 1.
      axis: the dimension; None for the flattened array.
      out: not supported.
      mode: ``"raise"``, of positions that are known, ``"clip"`` and ``"wrap"`` as in NumPy; ``"fill"`` gives
        ``fill_value`` for what is outside. By default known positions raise, and traced ones fill; all of them fill
        if there is a ``fill_value``.
      unique_indices: a promise that no position is repeated.
      indices_are_sorted: a promise.
      fill_value: by default NaN; of integers the smallest, of unsigned ones the largest, and True.

    Raises:
      ArgumentIndexError: a known position is outside, or there are no elements; as NumPy's IndexError.
      ArgumentTypeError: positions are not integers.
      ArgumentValueError: there is no such mode, or traced positions are to raise.

    >>> take(np.array([[1, 2, 3], [4, 5, 6]]), np.array([2, 0]), axis=1)
    array([[3, 1],
           [6, 4]])

    Source: ``jax.numpy.take``.
    """
    if out is not None:
        raise ArgumentTypeError("take: expected no out=, got one: arrays are not overwritten; use the result")
    aval = get_aval(a)
    if axis is None or is_axis_of_scalar(axis, aval.ndim):
        a, axis = reshape(a, (aval.size,)), 0
    axis = canonical_axis("take", axis, get_aval(a).ndim)
    if get_aval(indices).dtype.kind == "b":  # as in NumPy: no mask, but 0 and 1
        indices = ops.convert_element_type(indices, "int64")
    _check_integers("take", indices)
    if not get_aval(a).shape[axis] and get_aval(indices).size:
        raise ArgumentIndexError(
            f"take: expected an axis with elements, got the shape {aval.shape}; leave the positions empty"
        )
    mode = "fill" if mode is None and fill_value is not None else mode
    chosen, positions = _mode("take", mode, indices, get_aval(a).shape[axis])
    wrap = chosen != "clip"  # as in NumPy, where it disables negative positions
    options = {"unique_indices": unique_indices, "indices_are_sorted": indices_are_sorted, "fill_value": fill_value}
    return at(a)[(*[slice(None)] * axis, positions)].get(mode=chosen, wrap_negative_indices=wrap, **options)


def _check_integers(name: str, indices: Any) -> None:
    aval = get_aval(indices)
    if aval.dtype.kind not in "iu":
        raise ArgumentTypeError(f"{name}: expected integers as indices, got {aval}; convert with astype(int)")


def _mode(name: str, mode: str | None, indices: Any, size: int) -> tuple[str | None, Any]:
    """Returns the mode to read by, None for known positions, which must be inside, and the positions."""
    is_known = not isinstance(indices, Tracer) or indices.concrete() is not None
    if mode is None:
        return (None if is_known else "fill"), indices
    if mode == "wrap":
        return "clip", ops.remainder(indices, size)
    if mode == "raise":
        if not is_known:
            raise ArgumentValueError(
                f"{name}: expected positions that are known with mode='raise', got the tracer {get_aval(indices)}; "
                "choose 'fill', 'clip' or 'wrap'"
            )
        return None, indices
    return GatherScatterMode.from_any(mode).value, indices


def take_along_axis(
    arr: Any,
    indices: Any,
    axis: int | None = -1,
    *,
    mode: str | None = None,
    fill_value: Any = None,
    wrap_negative_indices: bool = True,
) -> Any:
    """Returns the elements of ``arr`` at positions along an axis that differ from row to row, as those of a sort.

    Args:
      arr: an array.
      indices: integers, which may be traced; with as many dimensions as ``arr``, broadcast against it but for ``axis``.
      axis: the dimension; None for the flattened array.
      mode: ``"fill"`` gives ``fill_value`` for what is outside, ``"clip"`` the nearest. By default known positions
        raise, and traced ones fill.
      fill_value: by default NaN; of integers the smallest, of unsigned ones the largest, and True.
      wrap_negative_indices: whether negative positions are counted from the end.

    Raises:
      ArgumentIndexError: positions are not integers, or a known one is outside.
      ArgumentValueError: the dimensions do not fit.

    >>> x = np.array([[3, 1, 2], [4, 6, 5]])
    >>> take_along_axis(x, np.argmax(x, axis=1, keepdims=True), axis=1)
    array([[3],
           [6]])

    Source: ``jax.numpy.take_along_axis``.
    """
    arr = strong(arr)
    if axis is None:
        arr, axis = reshape(arr, (get_aval(arr).size,)), 0
    rows = _rows("take_along_axis", get_aval(arr).shape, indices, axis, mode is None, wrap_negative_indices)
    if not rows.size:
        return zeros_of(get_aval(arr).update(shape=rows.result))
    return gather(
        squeeze(arr, rows.dropped),
        rows.vectors,
        GatherDimensionNumbers(*rows.numbers),
        rows.sizes,
        mode=rows.mode if mode is None else mode,
        fill_value=fill_value,
    )


def put_along_axis(
    arr: Any, indices: Any, values: Any, axis: int | None, *, inplace: bool = True, mode: str | None = None
) -> Any:
    """Returns ``arr`` with values written at positions along an axis that differ from row to row.

    Args:
      arr: an array.
      indices: integers, which may be traced; with as many dimensions as ``arr``, broadcast against it but for ``axis``.
      values: what is written; broadcast to the positions.
      axis: the dimension; None for the flattened array.
      inplace: has to be False: nothing is overwritten.
      mode: ``"drop"`` leaves out what is outside, ``"clip"`` writes to the nearest. By default known positions raise,
        and traced ones are left out.

    Raises:
      ArgumentIndexError: positions are not integers, or a known one is outside.
      ArgumentValueError: the dimensions do not fit, or ``inplace`` is true.

    >>> put_along_axis(np.zeros((2, 3)), np.array([[2], [0]]), 1.0, 1, inplace=False)
    array([[0., 0., 1.],
           [1., 0., 0.]])

    Source: ``jax.numpy.put_along_axis``.
    """
    if inplace:
        raise ArgumentValueError(
            "put_along_axis: expected inplace=False, got True: arrays are not overwritten; pass it and use the result"
        )
    arr = strong(arr)
    shape = get_aval(arr).shape
    if axis is None:
        arr, axis = reshape(arr, (get_aval(arr).size,)), 0
    flat = get_aval(arr).shape
    rows = _rows("put_along_axis", flat, indices, axis, mode is None, True)
    values = broadcast_to(fitting(values, get_aval(arr).dtype), rows.result)
    if not rows.size:
        return reshape(arr, shape)
    chosen = rows.mode if mode is None else mode
    numbers = ScatterDimensionNumbers(*rows.numbers)
    out = scatter(squeeze(arr, rows.dropped), rows.vectors, values, numbers, mode=chosen)
    return reshape(out, shape)


@record
class _Rows:
    """Positions along one axis of an array that differ from row to row.

    Attributes:
      result: the shape of the elements there.
      dropped: the dimensions of the array to be dropped, along which it is repeated.
      vectors: index vectors.
      numbers: dimension numbers, of the array without the dropped dimensions.
      sizes: the shape of the windows.
      mode: the default mode for positions outside.
    """

    result: Shape
    dropped: Shape
    vectors: Any
    numbers: tuple[Shape, Shape, Shape, Shape, Shape]
    sizes: Shape
    mode: str

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.result, dtype=np.int64))


def _rows(name: str, shape: Shape, indices: Any, axis: int, strict: bool, wrap: bool) -> _Rows:
    aval = get_aval(indices)
    axis = canonical_axis(name, axis, len(shape))
    if aval.ndim != len(shape):
        raise ArgumentValueError(
            f"{name}: expected indices with as many dimensions as the array, {len(shape)}, got {aval}; "
            "use take for the same positions in every row"
        )
    _check_integers_of_index(name, indices)
    others = [1 if dim == axis else size for dim, size in enumerate(shape)]
    result = broadcast_shapes(name, aval.shape, tuple(others))
    positions, in_bounds = _checked(indices, shape[axis], strict, wrap)
    # Dimensions of three roles: `whole` ones are read as whole windows, because the positions do not differ along them;
    # `dropped` ones have length 1 in the array; along the others, array and positions are paired.
    whole = [dim for dim in range(len(shape)) if dim != axis and aval.shape[dim] == 1]
    dropped = [dim for dim in range(len(shape)) if dim != axis and dim not in whole and shape[dim] == 1]
    paired = [dim for dim in range(len(shape)) if dim != axis and dim not in whole and dim not in dropped]
    batch = [dim for dim in range(len(shape)) if dim not in whole]
    kept = [dim for dim in range(len(shape)) if dim not in dropped]
    numbers = (
        tuple(whole),
        (kept.index(axis),),
        (kept.index(axis),),
        tuple([kept.index(dim) for dim in paired]),
        tuple([batch.index(dim) for dim in paired]),
    )
    sizes = tuple([shape[dim] if dim in whole else 1 for dim in kept])
    vectors = reshape(positions, (*[result[dim] for dim in batch], 1))
    mode = "promise_in_bounds" if in_bounds else "fill"
    return _Rows(result, tuple(dropped), vectors, numbers, sizes, mode)


def _check_integers_of_index(name: str, indices: Any) -> None:
    aval = get_aval(indices)
    if aval.dtype.kind not in "iu":
        raise IndexTypeError(f"{name}: expected integers as indices, got {aval}; convert with astype(int)")


def _checked(indices: Any, size: int, strict: bool, wrap: bool) -> tuple[Positions, bool]:
    """Returns positions counted from the start, and whether all are known to be inside."""
    parsed = parse_index((size,), indices, strict=strict, wrap=wrap)
    (positions,) = parsed.positions.values()
    return positions, parsed.in_bounds
