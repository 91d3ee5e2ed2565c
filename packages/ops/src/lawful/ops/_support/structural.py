"""The family of structural ops: they move, repeat, choose or drop elements, and compute nothing.

Such an op is linear: its derivative is the op applied to the tangents. Its result is strong, because it is an array.
`structural` declares one with a single operand.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from lawful import ops
from lawful.core import (
    MOST_DIMENSIONS,
    ArgumentValueError,
    Call,
    Choose,
    Declaration,
    InvalidArgumentError,
    Primitive,
    ShapedArray,
    Tracer,
    Zero,
    get_aval,
    is_array,
)
from lawful.ops._support.errors import AxisError
from lawful.ops._support.operation_counts import no_operations
from lawful.ops._support.promotion import convert

__all__ = ["canonical_axes", "canonical_axis", "check_sizes", "is_axis_of_scalar", "reduced_axes", "static_integers"]

Shape = tuple[int, ...]


def structural(
    name: str,
    *,
    compute: Callable[..., Any],
    infer: Callable[..., Shape],
    inverse: Callable[..., Any],
    batch: Callable[..., tuple[Any, int]],
    lower: Callable[..., Any],
    sample: Callable[[Choose], Call],
    reference: Callable[..., Any],
    specialise: Callable[..., Callable[[Any], Any]] | None = None,
) -> Primitive:
    """Declares a structural op.

    Args:
      name: the primitive's name.
      compute: ``compute(array, **params)`` in NumPy.
      infer: ``infer(shape, **params)`` gives the shape of the result, and raises for params that do not fit.
      inverse: ``inverse(ct, aval, **params)`` gives the cotangent of an operand of type ``aval``, for any weakness.
      batch: ``batch(x, dim, **params)`` gives the result and its batch dimension.
      lower: ``lower(ctx, x, **params)`` gives the MLIR value.
      sample: draws a well-typed call, for laws.
      reference: a NumPy function that it equals, for laws.
      specialise: ``specialise(aval, **params)`` gives ``compute`` for arrays of one type, where that is faster.
    """
    primitive = Primitive(name, pure_rules=True)
    primitive.def_rule("operations", no_operations)

    @primitive.def_impl
    def impl(x: Any, **params: Any) -> Any:
        return compute(x if type(x) is np.ndarray else np.asarray(x), **params)

    @primitive.def_rule_as("numpy")
    def specialised(avals: Sequence[ShapedArray], compile: Any, **params: Any) -> Callable[..., Any]:
        (aval,) = avals
        function = primitive.rule("impl")
        if function is not impl:
            return partial(function, **params)
        if specialise is not None:
            return specialise(aval, **params)
        return partial(compute if aval.shape else impl, **params)  # an operand with dimensions is an array

    @primitive.def_abstract_eval
    def abstract_eval(x: ShapedArray, **params: Any) -> ShapedArray:
        return ShapedArray(infer(x.shape, **params), x.dtype)

    apply_to_tangents(primitive)

    @primitive.def_transpose
    def transpose(ct: Any, x: Any, **params: Any) -> list[Any]:
        return [Zero(x.aval) if type(ct) is Zero else cotangent(inverse(ct, x.aval, **params), x.aval)]

    @primitive.def_batch
    def batch_rule(args: Sequence[Any], dims: Sequence[int], **params: Any) -> tuple[Any, int]:
        return batch(args[0], dims[0], **params)

    primitive.def_lowering(lower)
    primitive.declaration = Declaration(sample=sample, reference=reference, kinds="fiubc", linear=((0,),))
    return primitive


def apply_to_tangents(primitive: Primitive, constants: int = 0) -> None:
    """Defines the jvp rule of a primitive that is jointly linear in its operands but the first few.

    Args:
      primitive: the primitive.
      constants: the number of leading operands in which it is not linear, and that have no derivative.
    """

    @primitive.def_jvp
    def jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        ans = primitive.bind(*primals, **params)
        tangents = tangents[constants:]
        if all(type(t) is Zero for t in tangents):
            return ans, Zero(get_aval(ans).to_tangent_aval())
        return ans, primitive.bind(*primals[:constants], *map(instantiate, tangents), **params)


def without_derivative(primitive: Primitive) -> None:
    """Defines the jvp rule of a primitive with one result, whose tangent is zero."""

    @primitive.def_jvp
    def jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Zero]:
        ans = primitive.bind(*primals, **params)
        return ans, Zero(get_aval(ans).to_tangent_aval())


def instantiate(tangent: Any) -> Any:
    """Returns zeros for a symbolic zero, one element repeated, and anything else as it is."""
    return zeros_of(tangent.aval) if type(tangent) is Zero else tangent


def zeros_of(aval: ShapedArray) -> Any:
    """Returns zeros of a type: one element repeated, which takes no memory and no constant in a jaxpr."""
    return ops.broadcast_in_dim(aval.dtype.type(0), aval.shape, ())


def cotangent(ct: Any, aval: ShapedArray) -> Any:
    """Returns a cotangent as weak as the argument that it is for: results are strong, arguments may be weak."""
    return convert(ct, aval.dtype, weak_type=True) if aval.weak_type else ct


def strong(x: Any) -> Any:
    """Returns an array, number or tracer as a strong value: itself, unless it stands for a Python scalar."""
    aval = get_aval(x)
    return convert(x, aval.dtype) if aval.weak_type else x


def _index(x: Any) -> int:
    if type(x) is np.bool:  # NumPy 2.1 converts it, with a warning
        raise TypeError
    return operator.index(x)


def static_integers(name: str, argument: str, values: Any) -> Shape:
    """Returns integers, or a single one, as a tuple of Python integers.

    Raises:
      InvalidArgumentError: they are not integers. A tracer raises its own error, which says what to write instead.

    >>> static_integers("f", "sizes", np.array([2, 3])), static_integers("f", "sizes", 4)
    ((2, 3), (4,))
    """
    try:
        return tuple(map(_index, values))
    except TypeError:
        pass
    if type(values) is int or (is_array(values) and get_aval(values).ndim == 0):
        return static_integers(name, argument, (values,))
    for x in values if isinstance(values, tuple | list) else ():
        if isinstance(x, Tracer):
            operator.index(x)  # raises the tracer's error, which is more specific
    raise InvalidArgumentError(f"{name}: expected integers as {argument}, got {values!r}; give a tuple of integers")


def canonical_axis(name: str, axis: Any, ndim: int) -> int:
    """Returns an axis, counted from the end if negative, as a number from 0.

    Raises:
      AxisError: there is no such axis.

    >>> canonical_axis("f", -1, 3)
    2
    """
    (index,) = canonical_axes(name, (axis,), ndim)
    return index


def canonical_axes(name: str, axes: Any, ndim: int) -> Shape:
    """Returns different axes, counted from the end if negative, as numbers from 0, in the order given.

    Raises:
      AxisError: there is no such axis.
      ArgumentValueError: one is repeated.

    >>> canonical_axes("f", (-1, 0), 3)
    (2, 0)
    """
    indices = static_integers(name, "axes", axes)
    for index in indices:
        if not -ndim <= index < ndim:
            raise AxisError(
                f"{name}: expected an axis of an array with {ndim} dimensions, got {index}; "
                + (f"use one from {-ndim} to {ndim - 1}" if ndim else "a scalar has none")
            )
    indices = tuple([index + ndim if index < 0 else index for index in indices])
    if len(set(indices)) < len(indices):
        raise ArgumentValueError(f"{name}: expected different axes, got {indices}; name each once")
    return indices


def is_axis_of_scalar(axis: Any, ndim: int) -> bool:
    """Returns whether ``axis`` is 0 or -1 of a scalar, which NumPy's reductions treat as an array of one element.

    >>> is_axis_of_scalar(-1, 0), is_axis_of_scalar(-1, 1)
    (True, False)
    """
    return not ndim and isinstance(axis, int | np.integer) and axis in (0, -1)


def reduced_axes(name: str, axis: Any, ndim: int) -> Shape:
    """Returns the dimensions that ``axis=`` of a reduction names: all for None, none for the axis 0 of a scalar.

    Raises:
      AxisError: there is no such axis.
      ArgumentValueError: one is repeated.

    >>> reduced_axes("f", None, 3), reduced_axes("f", -1, 3)
    ((0, 1, 2), (2,))
    """
    if axis is None:
        return tuple(range(ndim))
    return () if is_axis_of_scalar(axis, ndim) else tuple(sorted(canonical_axes(name, axis, ndim)))


def check_sizes(name: str, shape: Shape) -> None:
    """Raises InvalidArgumentError if a length in a shape is negative, or if there are more than NumPy's 64.

    >>> check_sizes("f", (2, -1))
    Traceback (most recent call last):
    lawful.core._errors.InvalidArgumentError: ...: f: expected lengths that are not negative, got the shape (2, -1)...
    """
    if any(size < 0 for size in shape):
        raise InvalidArgumentError(f"{name}: expected lengths that are not negative, got the shape {shape}; correct it")
    if len(shape) > MOST_DIMENSIONS:
        raise InvalidArgumentError(
            f"{name}: expected at most {MOST_DIMENSIONS} dimensions, got {len(shape)}; reshape the array"
        )
