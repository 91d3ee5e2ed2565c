"""Splitting of arrays: into equal parts, at positions, or along a dimension."""

from __future__ import annotations

from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentValueError, get_aval
from lawful.numpy._eager import direct
from lawful.ops import canonical_axis, static_integers

__all__ = ["split", "unstack", "array_split", "dsplit", "hsplit", "vsplit"]


def _numpy_split(ary: Any, sections: Any, axis: Any = 0) -> list[Any]:
    if type(sections) is not int or axis != 0 or sections < 1 or len(ary) % sections:
        raise ValueError(sections)
    size = len(ary) // sections
    return [ary[i : i + size] for i in range(0, len(ary), size)]


@direct(_numpy_split, most=3, names=("axis",))
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Returns the parts of an array along a dimension.

    Args:
      ary: an array.
      indices_or_sections: how many parts of equal length, or the positions at which it is cut.
      axis: the dimension.

    Raises:
      ArgumentValueError: there are no such parts of equal length.
      AxisError: there is no such dimension.

    >>> split(numpy.arange(6), 2), split(numpy.arange(3), [1])
    ([array([0, 1, 2]), array([3, 4, 5])], [array([0]), array([1, 2])])

    Source: ``numpy.split``.
    """
    shape = get_aval(ary).shape
    axis = canonical_axis("split", axis, len(shape))
    length = shape[axis]
    if not isinstance(indices_or_sections, list | tuple | numpy.ndarray):
        (sections,) = static_integers("split", "indices_or_sections", indices_or_sections)
        if sections < 1 or length % sections:
            raise ArgumentValueError(
                f"split: expected a number of parts that divides the length {length} of dimension {axis}, got "
                f"{sections}; give the positions of the cuts"
            )
        return ops.split(ary, (length // sections,) * sections, axis)
    indices = static_integers("split", "indices_or_sections", indices_or_sections)
    cuts = [slice(None, index).indices(length)[1] for index in indices]
    starts, ends = [0, *cuts], [*cuts, length]
    return [ops.slice_in_dim(ary, i, max(i, j), axis=axis) for i, j in zip(starts, ends, strict=True)]


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """Returns the parts of an array at each position of a dimension, which they have no longer.

    Args:
      x: an array.
      axis: the dimension.

    Raises:
      AxisError: there is no such dimension.

    Law: ``stack(unstack(x, axis=k), axis=k) = x``, if there is a part.

    >>> unstack(numpy.array([[1, 2], [3, 4]]), axis=1)
    (array([1, 3]), array([2, 4]))

    Source: ``numpy.unstack``.
    """
    shape = get_aval(x).shape
    axis = canonical_axis("unstack", axis, len(shape))
    if not shape[axis]:
        return ()
    return tuple([ops.squeeze(part, (axis,)) for part in ops.split(x, (1,) * shape[axis], axis)])


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Returns the parts of an array along a dimension, which may be of unequal length: the first ones are longer.

    Args:
      ary: an array.
      indices_or_sections: how many parts, or the positions at which it is cut.
      axis: the dimension.

    Raises:
      ArgumentValueError: the number of parts is not positive.
      AxisError: there is no such dimension.

    >>> array_split(numpy.arange(5), 2)
    [array([0, 1, 2]), array([3, 4])]

    Source: ``numpy.array_split``.
    """
    if isinstance(indices_or_sections, list | tuple | numpy.ndarray):
        return split(ary, indices_or_sections, axis)
    (count,) = static_integers("array_split", "indices_or_sections", indices_or_sections)
    if count < 1:
        raise ArgumentValueError(f"array_split: expected a positive number of parts, got {count}")
    axis = canonical_axis("array_split", axis, get_aval(ary).ndim)
    short, longer = divmod(get_aval(ary).shape[axis], count)
    return ops.split(ary, (short + 1,) * longer + (short,) * (count - longer), axis)


def _along(name: str, ary: Any, parts: Any, ndim: int, axis: int) -> list[Any]:
    aval = get_aval(ary)
    if aval.ndim < ndim:
        raise ArgumentValueError(f"{name}: expected at least {ndim} dimensions, got {aval}; reshape it")
    return split(ary, parts, axis)


def hsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Returns the parts of an array along the second dimension, of a vector along its only one; as `split`.

    Raises:
      ArgumentValueError: it is a scalar; and as `split`.

    >>> hsplit(numpy.array([[1, 2], [3, 4]]), 2)[1]
    array([[2],
           [4]])

    Source: ``numpy.hsplit``.
    """
    return _along("hsplit", ary, indices_or_sections, 1, 1 if get_aval(ary).ndim > 1 else 0)


def vsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Returns the parts of an array along the first dimension; as `split`.

    Raises:
      ArgumentValueError: it has fewer than two dimensions; and as `split`.

    >>> vsplit(numpy.array([[1, 2], [3, 4]]), 2)[1]
    array([[3, 4]])

    Source: ``numpy.vsplit``.
    """
    return _along("vsplit", ary, indices_or_sections, 2, 0)


def dsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Returns the parts of an array along the third dimension; as `split`.

    Raises:
      ArgumentValueError: it has fewer than three dimensions; and as `split`.

    >>> dsplit(numpy.arange(4).reshape(1, 2, 2), 2)[1]
    array([[[1],
            [3]]])

    Source: ``numpy.dsplit``.
    """
    return _along("dsplit", ary, indices_or_sections, 3, 2)
