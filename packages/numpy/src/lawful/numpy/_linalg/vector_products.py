"""Products of stacks of vectors and matrices, and the Kronecker product."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentValueError, get_aval
from lawful.numpy._eager import eager
from lawful.numpy._integers import with_dtype
from lawful.numpy._manipulation.shape import moveaxis
from lawful.ops import canonical_axis

__all__ = ["cross", "kron", "matvec", "vecdot", "vecmat"]


def _check_ndim(name: str, x: Any, at_least: int) -> None:
    aval = get_aval(x)
    if aval.ndim < at_least:
        raise ArgumentValueError(f"{name}: expected an array of at least {at_least} dimensions, got {aval}; reshape it")


def _same_length(name: str, left: int, right: int) -> None:
    if left != right:
        raise ArgumentValueError(f"{name}: expected as many elements on both sides, got {left} and {right}; slice one")


def _eager_since_2_2[F: Callable[..., Any]](name: str) -> Callable[[F], F]:
    """Returns the decorator of a function that NumPy has since 2.2; before, eager arrays take the algorithm here."""
    if hasattr(numpy, name):
        return eager(getattr(numpy, name), arrays=2, looks=False)
    return lambda function: function


@eager(numpy.vecdot, arrays=2, looks=False)
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Returns the inner products of vectors, the first one conjugated: the other dimensions are broadcast.

    Args:
      x1: an array.
      x2: an array.
      axis: the dimension of both in which the vectors lie.

    Raises:
      ArgumentValueError: the vectors differ in length, or the other dimensions do not broadcast.
      AxisError: there is no such dimension.

    >>> vecdot(numpy.array([[1.0, 2.0], [3.0, 4.0]]), numpy.array([1.0, 1.0]))
    array([3., 7.])

    Source: ``numpy.vecdot``.
    """
    _check_ndim("vecdot", x1, 1)
    _check_ndim("vecdot", x2, 1)
    left, right = moveaxis(x1, axis, -1), moveaxis(x2, axis, -1)
    _same_length("vecdot", get_aval(left).shape[-1], get_aval(right).shape[-1])
    product = ops.matmul(ops.expand_dims(ops.conj(left), (-2,)), ops.expand_dims(right, (-1,)))
    return ops.squeeze(product, (-2, -1))


@_eager_since_2_2("matvec")
def matvec(x1: Any, x2: Any, /) -> Any:
    """Returns the products of matrices and vectors: the other dimensions are broadcast.

    Raises:
      ArgumentValueError: there are not as many columns as elements, or the other dimensions do not broadcast.

    >>> matvec(numpy.array([[1.0, 2.0], [3.0, 4.0]]), numpy.array([[1.0, 1.0], [1.0, 0.0]]))
    array([[3., 7.],
           [1., 3.]])

    Source: ``numpy.matvec``.
    """
    _check_ndim("matvec", x1, 2)
    _check_ndim("matvec", x2, 1)
    _same_length("matvec", get_aval(x1).shape[-1], get_aval(x2).shape[-1])
    return ops.squeeze(ops.matmul(x1, ops.expand_dims(x2, (-1,))), (-1,))


@_eager_since_2_2("vecmat")
def vecmat(x1: Any, x2: Any, /) -> Any:
    """Returns the products of vectors, conjugated, and matrices: the other dimensions are broadcast.

    Raises:
      ArgumentValueError: there are not as many elements as rows, or the other dimensions do not broadcast.

    >>> vecmat(numpy.array([1.0, 1.0]), numpy.array([[1.0, 2.0], [3.0, 4.0]]))
    array([4., 6.])

    Source: ``numpy.vecmat``.
    """
    _check_ndim("vecmat", x1, 1)
    _check_ndim("vecmat", x2, 2)
    _same_length("vecmat", get_aval(x1).shape[-1], get_aval(x2).shape[-2])
    return ops.squeeze(ops.matmul(ops.expand_dims(ops.conj(x1), (-2,)), x2), (-2,))


def _of_three(vectors: Any) -> Any:
    """Returns vectors of two elements with a third one, 0."""
    aval = get_aval(vectors)
    padding = [(0, 0, 0)] * (aval.ndim - 1) + [(0, 3 - aval.shape[-1], 0)]
    return ops.pad(vectors, aval.dtype.type(0), padding) if aval.shape[-1] < 3 else vectors


def _numpy_cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    if numpy.shape(a)[axisa] == 2 or numpy.shape(b)[axisb] == 2:  # NumPy 2.1 warns of them, NumPy 2.5 refuses them
        raise ValueError
    return numpy.cross(a, b, axisa, axisb, axisc)


@eager(_numpy_cross, arrays=2, looks=False)
def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    """Returns the cross products of vectors of three elements: the other dimensions are broadcast.

    The third element of a vector of two is 0. The products of such vectors are scalars, their third elements.

    Args:
      a: an array.
      b: an array.
      axisa: the dimension of ``a`` in which the vectors lie.
      axisb: that of ``b``.
      axisc: that of the result.
      axis: all three at once.

    Raises:
      ArgumentValueError: the vectors have neither two nor three elements, or the other dimensions do not broadcast.
      AxisError: there is no such dimension.

    >>> cross(numpy.array([1.0, 0.0, 0.0]), numpy.array([0.0, 1.0, 0.0]))
    array([0., 0., 1.])

    Source: ``numpy.cross``.
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    _check_ndim("cross", a, 1)
    _check_ndim("cross", b, 1)
    left, right = moveaxis(a, axisa, -1), moveaxis(b, axisb, -1)
    lengths = get_aval(left).shape[-1], get_aval(right).shape[-1]
    if any(length not in (2, 3) for length in lengths):
        raise ArgumentValueError(f"cross: expected vectors of two or three elements, got {lengths[0]} and {lengths[1]}")
    left, right = ops.promote("cross", numpy.multiply, (_of_three(left), _of_three(right)))
    if lengths == (2, 2):
        return ops.sub(ops.mul(left[..., 0], right[..., 1]), ops.mul(left[..., 1], right[..., 0]))
    axisc = canonical_axis("cross", axisc, get_aval(left).ndim)

    # By components: concatenated operands, as from a roll, would prevent XLA from fusing the products.
    a0, a1, a2 = (ops.slice_in_dim(left, i, i + 1, axis=-1) for i in range(3))
    b0, b1, b2 = (ops.slice_in_dim(right, i, i + 1, axis=-1) for i in range(3))
    components = [
        ops.sub(ops.mul(a1, b2), ops.mul(a2, b1)),
        ops.sub(ops.mul(a2, b0), ops.mul(a0, b2)),
        ops.sub(ops.mul(a0, b1), ops.mul(a1, b0)),
    ]
    return moveaxis(ops.concatenate(components, -1), -1, axisc)


@eager(numpy.kron, arrays=2, looks=False)
def kron(a: Any, b: Any) -> Any:
    """Returns the Kronecker product: ``b`` times each element of ``a``, in blocks.

    >>> kron(numpy.array([1, 10]), numpy.array([[1, 2]]))
    array([[ 1,  2, 10, 20]])

    Source: ``numpy.kron``.
    """
    a, b = with_dtype(a), with_dtype(b)
    left, right = get_aval(a).shape, get_aval(b).shape
    ndim = max(len(left), len(right))
    left, right = (1,) * (ndim - len(left)) + left, (1,) * (ndim - len(right)) + right
    blocks = ops.reshape(a, [n for size in left for n in (size, 1)])
    inside = ops.reshape(b, [n for size in right for n in (1, size)])
    return ops.reshape(ops.mul(blocks, inside), [m * n for m, n in zip(left, right, strict=True)])
