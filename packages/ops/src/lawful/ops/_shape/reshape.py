"""Ops that change the shape of an array, or the order of its dimensions."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from lawful import ops
from lawful.core import ArgumentValueError, Call, Choose, InvalidArgumentError, ShapedArray, get_aval, require_size
from lawful.ops._support.batch_dimensions import move_batch_dim
from lawful.ops._support.eager import is_eager_array
from lawful.ops._support.structural import Shape, canonical_axes, check_sizes, static_integers, strong, structural

__all__ = ["broadcast_in_dim", "broadcast_in_dim_p", "reshape", "reshape_p", "transpose", "transpose_p"]

# Broadcasting


def broadcast_in_dim(operand: Any, shape: Any, broadcast_dimensions: Any) -> Any:
    """Returns ``operand`` repeated along new dimensions, and along those of length 1.

    Args:
      operand: an array.
      shape: the shape of the result.
      broadcast_dimensions: for each dimension of ``operand`` the dimension of the result that it becomes, in
        increasing order.

    Raises:
      ArgumentValueError: the shapes do not fit.

    Eagerly the result is a read-only view.

    >>> broadcast_in_dim(np.array([1, 2]), (2, 3), (0,))
    array([[1, 1, 1],
           [2, 2, 2]])

    Source: ``jax.lax.broadcast_in_dim``.
    """
    shape = static_integers("broadcast_in_dim", "the shape", shape)
    broadcast_dimensions = static_integers("broadcast_in_dim", "broadcast_dimensions", broadcast_dimensions)
    if is_eager_array(operand):
        _infer_broadcast(operand.shape, shape=shape, broadcast_dimensions=broadcast_dimensions)
        return (
            operand
            if operand.shape == shape
            else _compute_broadcast(operand, shape=shape, broadcast_dimensions=broadcast_dimensions)
        )
    have = get_aval(operand).shape
    _infer_broadcast(have, shape=shape, broadcast_dimensions=broadcast_dimensions)
    if have == shape:
        return strong(operand)
    return broadcast_in_dim_p.bind(operand, shape=shape, broadcast_dimensions=broadcast_dimensions)


def _infer_broadcast(operand: Shape, *, shape: Shape, broadcast_dimensions: Shape) -> Shape:
    if len(operand) != len(broadcast_dimensions):
        raise InvalidArgumentError(
            f"broadcast_in_dim: expected a dimension of the result for each of the operand's {len(operand)}, "
            f"got broadcast_dimensions={broadcast_dimensions}; give {len(operand)}"
        )
    before = -1
    for size, dim in zip(operand, broadcast_dimensions, strict=True):
        if not before < dim < len(shape):
            raise InvalidArgumentError(
                f"broadcast_in_dim: expected increasing dimensions of the shape {shape}, "
                f"got broadcast_dimensions={broadcast_dimensions}; transpose the operand first"
            )
        if size != shape[dim] and size != 1:
            raise InvalidArgumentError(
                f"broadcast_in_dim: expected an operand with dimensions of length 1, or those of the result, got "
                f"{operand} to be broadcast to {shape} by broadcast_dimensions={broadcast_dimensions}; "
                "choose other dimensions, or reshape the operand first"
            )
        before = dim
    check_sizes("broadcast_in_dim", shape)
    return shape


def _compute_broadcast(x: Any, *, shape: Shape, broadcast_dimensions: Shape) -> Any:
    aligned = [1] * len(shape)
    for size, dim in zip(x.shape, broadcast_dimensions, strict=True):
        aligned[dim] = size
    # The same as numpy.broadcast_to, without its overhead.
    operands = (x.reshape(aligned),)
    try:
        iterator = np.nditer(
            operands, ("multi_index", "refs_ok", "zerosize_ok"), (("readonly",),), itershape=shape, order="C"
        )
        return iterator.itviews[0]
    except ValueError:
        require_size(shape, x.dtype)
        raise


def _broadcast_of(aval: ShapedArray, *, shape: Shape, broadcast_dimensions: Shape) -> Callable[[Any], Any]:
    """Returns the function that broadcasts arrays of a type: a view with precomputed strides if they are contiguous."""
    of_any_strides = partial(_compute_broadcast, shape=shape, broadcast_dimensions=broadcast_dimensions)
    size = math.prod(shape)
    if size == aval.size and aval.shape:  # only dimensions of length 1 differ
        return lambda x: x.reshape(shape)
    require_size(shape, aval.dtype)
    strides = [0] * len(shape)
    contiguous, step = [0] * aval.ndim, aval.dtype.itemsize
    for axis in reversed(range(aval.ndim)):
        contiguous[axis] = step
        if aval.shape[axis] != 1:
            strides[broadcast_dimensions[axis]] = step
        step *= aval.shape[axis]
    steps, expected = tuple(strides), tuple(contiguous)

    def broadcast(x: Any) -> Any:
        x = np.asarray(x)
        if x.strides != expected:
            return of_any_strides(x)
        view: Any = np.ndarray(shape, x.dtype, x, 0, steps)
        view.setflags(write=False)  # elements of the view share memory
        return view

    return broadcast


def _unbroadcast(ct: Any, aval: ShapedArray, *, shape: Shape, broadcast_dimensions: Shape) -> Any:
    repeated = set(range(len(shape)))
    for size, dim in zip(aval.shape, broadcast_dimensions, strict=True):
        if size == shape[dim]:
            repeated.remove(dim)
    summed = tuple(dim for dim in sorted(repeated) if shape[dim] != 1)
    return reshape(ops.reduce_sum(ct, summed) if summed else ct, aval.shape)


def _batch_broadcast(x: Any, dim: int, *, shape: Shape, broadcast_dimensions: Shape) -> tuple[Any, int]:
    # The batch dimension stays between its neighbours or in front, so that no transposition is needed.
    if dim == 0:
        out = 0
    else:
        out = broadcast_dimensions[dim] if dim < len(broadcast_dimensions) else len(shape)
    dims = (*broadcast_dimensions[:dim], out, *(to + 1 for to in broadcast_dimensions[dim:]))
    shape = (*shape[:out], get_aval(x).shape[dim], *shape[out:])
    return broadcast_in_dim_p.bind(x, shape=shape, broadcast_dimensions=dims), out


def _lower_broadcast(ctx: Any, x: Any, *, shape: Shape, broadcast_dimensions: Shape) -> Any:
    return ctx.hlo.broadcast_in_dim(ctx.tensor_type(ctx.avals_out[0]), x, ctx.i64_array(broadcast_dimensions))


def _sample_broadcast(choose: Choose) -> Call:
    shape = choose.shape()
    dims = tuple(dim for dim in range(len(shape)) if choose.one_of((True, False)))
    operand = tuple(choose.one_of((1, shape[dim])) for dim in dims)
    return (ShapedArray(operand, choose.dtype("fiubc")),), {"shape": shape, "broadcast_dimensions": dims}


def _reference_broadcast(x: Any, *, shape: Shape, broadcast_dimensions: Shape) -> Any:
    new = tuple(dim for dim in range(len(shape)) if dim not in broadcast_dimensions)
    return np.broadcast_to(np.expand_dims(x, new), shape)


broadcast_in_dim_p = structural(
    "broadcast_in_dim",
    compute=_compute_broadcast,
    infer=_infer_broadcast,
    inverse=_unbroadcast,
    batch=_batch_broadcast,
    lower=_lower_broadcast,
    sample=_sample_broadcast,
    reference=_reference_broadcast,
    specialise=_broadcast_of,
)

# Reshaping


def reshape(operand: Any, new_sizes: Any, dimensions: Any = None) -> Any:
    """Returns the elements of ``operand``, in row-major order, in another shape.

    Args:
      operand: an array.
      new_sizes: the new shape. One length may be -1: it is found from the others.
      dimensions: the order in which the dimensions of ``operand`` are read, by default from the first to the last.

    Raises:
      ArgumentValueError: the new shape has not as many elements.

    >>> reshape(np.arange(6), (2, -1))
    array([[0, 1, 2],
           [3, 4, 5]])

    Source: ``jax.lax.reshape``.
    """
    if dimensions is not None:
        operand = transpose(operand, dimensions)
    new_sizes = static_integers("reshape", "new_sizes", new_sizes)
    if is_eager_array(operand):
        if operand.shape == new_sizes:
            return operand
        try:
            return operand.reshape(new_sizes)
        except ValueError:
            pass  # the path below raises the error
    aval = get_aval(operand)
    if -1 in new_sizes:
        new_sizes = _complete(aval, new_sizes)
    if aval.shape == new_sizes:
        return strong(operand)
    _infer_reshape(aval.shape, new_sizes=new_sizes)
    return reshape_p.bind(operand, new_sizes=new_sizes)


def _complete(aval: ShapedArray, new_sizes: Shape) -> Shape:
    known = math.prod(size for size in new_sizes if size != -1)
    if new_sizes.count(-1) > 1 or known <= 0 or aval.size % known:
        raise ArgumentValueError(
            f"reshape: expected one -1, and other lengths whose product divides {aval.size}, got {aval.shape} to be "
            f"reshaped to {new_sizes}; write the lengths out"
        )
    return tuple(aval.size // known if size == -1 else size for size in new_sizes)


def _infer_reshape(operand: Shape, *, new_sizes: Shape) -> Shape:
    check_sizes("reshape", new_sizes)
    if math.prod(operand) != math.prod(new_sizes):
        raise ArgumentValueError(
            f"reshape: expected a shape with {math.prod(operand)} elements, got {operand} to be reshaped to "
            f"{new_sizes}, which has {math.prod(new_sizes)}; correct a length, or let one be -1"
        )
    return new_sizes


def _batch_reshape(x: Any, dim: int, *, new_sizes: Shape) -> tuple[Any, int]:
    shape = get_aval(x).shape
    if dim == len(shape) - 1 > 0:
        return reshape_p.bind(x, new_sizes=(*new_sizes, shape[dim])), len(new_sizes)
    return reshape_p.bind(move_batch_dim(x, dim), new_sizes=(shape[dim], *new_sizes)), 0


def _sample_reshape(choose: Choose) -> Call:
    shape = choose.shape()
    # A shape with as many elements: the lengths in another order, two of them merged, or ones inserted.
    sizes = list(shape)
    sizes.sort(reverse=choose.one_of((True, False)))
    if len(sizes) > 1 and choose.one_of((True, False)):
        sizes = [sizes[0] * sizes[1], *sizes[2:]]
    elif len(sizes) < 3:
        sizes.insert(choose.integer(0, len(sizes)), 1)
    return (ShapedArray(shape, choose.dtype("fiubc")),), {"new_sizes": tuple(sizes)}


reshape_p = structural(
    "reshape",
    compute=lambda x, *, new_sizes: x.reshape(new_sizes),
    infer=_infer_reshape,
    inverse=lambda ct, aval, *, new_sizes: reshape(ct, aval.shape),
    batch=_batch_reshape,
    lower=lambda ctx, x, *, new_sizes: ctx.hlo.reshape(ctx.tensor_type(ctx.avals_out[0]), x),
    sample=_sample_reshape,
    reference=lambda x, *, new_sizes: np.reshape(x, new_sizes),
)

# The order of dimensions


def transpose(operand: Any, permutation: Any) -> Any:
    """Returns ``operand`` with its dimensions in another order.

    Args:
      operand: an array.
      permutation: for each dimension of the result, the dimension of ``operand`` that it was.

    Raises:
      ArgumentValueError: it does not name each dimension once.

    >>> transpose(np.array([[1, 2], [3, 4]]), (1, 0))
    array([[1, 3],
           [2, 4]])

    Source: ``jax.lax.transpose``.
    """
    eager = is_eager_array(operand)
    shape = operand.shape if eager else get_aval(operand).shape
    permutation = canonical_axes("transpose", permutation, len(shape))
    _infer_transpose(shape, permutation=permutation)
    if permutation == tuple(range(len(shape))):
        return operand if eager else strong(operand)
    return operand.transpose(permutation) if eager else transpose_p.bind(operand, permutation=permutation)


def _infer_transpose(operand: Shape, *, permutation: Shape) -> Shape:
    if len(permutation) != len(operand) or set(permutation) != set(range(len(operand))):
        raise ArgumentValueError(
            f"transpose: expected each of the {len(operand)} dimensions once, got permutation={permutation}; "
            f"give an order of {tuple(range(len(operand)))}"
        )
    return tuple(operand[dim] for dim in permutation)


def _inverse_order(permutation: Shape) -> Shape:
    return tuple(sorted(range(len(permutation)), key=permutation.__getitem__))


def _batch_transpose(x: Any, dim: int, *, permutation: Shape) -> tuple[Any, int]:
    order = (dim, *(source + (source >= dim) for source in permutation))
    return transpose(x, order), 0


def _sample_transpose(choose: Choose) -> Call:
    # Often three dimensions, because a permutation of two is its own inverse.
    shape = choose.shape(min_ndim=choose.one_of((0, 2)))
    left, order = list(range(len(shape))), []
    while left:
        order.append(left.pop(choose.integer(0, len(left) - 1)))
    return (ShapedArray(shape, choose.dtype("fiubc")),), {"permutation": tuple(order)}


transpose_p = structural(
    "transpose",
    compute=lambda x, *, permutation: x.transpose(permutation),
    infer=_infer_transpose,
    inverse=lambda ct, aval, *, permutation: transpose(ct, _inverse_order(permutation)),
    batch=_batch_transpose,
    lower=lambda ctx, x, *, permutation: ctx.hlo.transpose(x, ctx.i64_array(permutation)),
    sample=_sample_transpose,
    reference=lambda x, *, permutation: np.transpose(x, permutation),
)
