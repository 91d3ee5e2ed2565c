"""Products of arrays: contractions of pairs of dimensions, with pairs of batch dimensions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from lawful.core import (
    ArgumentTypeError,
    Call,
    Choose,
    Declaration,
    JaxprEqn,
    Primitive,
    ShapedArray,
    UndefinedPrimal,
    Zero,
    as_dtype,
    get_aval,
    is_inexact,
    kind,
    promote_dtypes,
)
from lawful.ops._elementwise.declaration import add_tangents
from lawful.ops._products.matrix_products import (
    DimensionNumbers,
    Shape,
    by_matrices,
    plan_of,
    product_of_matrices,
    remaining_axes,
)
from lawful.ops._products.precision import (
    OF_COMPLEX_INFINITY,
    Precisions,
    canonical_precision,
    precision_config,
    result_dtype,
    sum_dtype,
)
from lawful.ops._shape.reshape import transpose
from lawful.ops._support.promotion import cast, convert
from lawful.ops._support.structural import canonical_axes

__all__ = ["dot_general", "dot_general_p"]


dot_general_p = Primitive("dot_general", pure_rules=True)
dot_general_p.def_rule("operations", lambda eqn: 2 * eqn.outvars[0].aval.size * _contracted(eqn))

_MATRIX_PRODUCT: DimensionNumbers = ((1,), (0,)), ((), ())


def dot_general(
    lhs: Any, rhs: Any, dimension_numbers: Any, precision: Any = None, preferred_element_type: Any = None
) -> Any:
    """Returns the sums of products of two arrays over pairs of dimensions.

    The result has the batch dimensions, then the other dimensions of ``lhs``, then those of ``rhs``, without the
    contracted ones. Of booleans, a product is their "and" and a sum their "or".

    Args:
      lhs: an array.
      rhs: an array; the dtypes are promoted.
      dimension_numbers: ``((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch))``, four sequences of
        dimensions; those at the same position of a pair belong together and have equal lengths.
      precision: how exactly an accelerator multiplies: a `Precision` or its name, or a pair of them for the operands.
      preferred_element_type: the dtype of the result, in which products are added; by default that of the operands.

    Raises:
      ArgumentTypeError: the dimensions do not fit, or products of this dtype cannot be added in the preferred one.
      ArgumentValueError: there is no such precision.
      AxisError: there is no such dimension.

    >>> dot_general(np.ones((2, 3)), np.ones((3, 4)), (((1,), (0,)), ((), ())))
    array([[3., 3., 3., 3.],
           [3., 3., 3., 3.]])

    Source: ``jax.lax.dot_general``.
    """
    left, right = get_aval(lhs), get_aval(rhs)
    if left.dtype == right.dtype:
        dtype = left.dtype
    else:
        dtype, _ = promote_dtypes((left.dtype, left.weak_type), (right.dtype, right.weak_type))
        lhs, rhs = convert(lhs, dtype), convert(rhs, dtype)
    preferred = None if preferred_element_type is None else as_dtype(preferred_element_type)
    if preferred == dtype:
        preferred = None
    numbers = dimension_numbers
    if numbers != _MATRIX_PRODUCT:
        numbers = canonical_numbers("dot_general", numbers, left.ndim, right.ndim)
    plan_of(left.shape, right.shape, numbers)
    result_dtype("dot_general", dtype, preferred)
    precision = canonical_precision("dot_general", precision)
    return dot_general_p.bind(
        lhs, rhs, dimension_numbers=numbers, precision=precision, preferred_element_type=preferred
    )


def canonical_numbers(name: str, numbers: Any, lhs_ndim: int, rhs_ndim: int) -> DimensionNumbers:
    """Returns dimension numbers as tuples of dimensions that are not negative.

    Raises:
      ArgumentTypeError: they have another form.
      AxisError: there is no such dimension.
    """
    try:
        (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = numbers
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError(
            f"{name}: expected dimension_numbers ((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch)), "
            f"got {numbers!r}; give four sequences of dimensions"
        ) from error
    return (
        (canonical_axes(name, lhs_contract, lhs_ndim), canonical_axes(name, rhs_contract, rhs_ndim)),
        (canonical_axes(name, lhs_batch, lhs_ndim), canonical_axes(name, rhs_batch, rhs_ndim)),
    )


# Evaluation and typing


@dot_general_p.def_impl
def _impl(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: DimensionNumbers,
    preferred_element_type: np.dtype[Any] | None,
    precision: Precisions = None,
) -> Any:
    lhs, rhs = np.asarray(lhs), np.asarray(rhs)
    dtype = lhs.dtype
    result = dtype if preferred_element_type is None else preferred_element_type
    wide = sum_dtype(dtype, result)
    if wide != dtype:
        lhs, rhs = lhs.astype(wide), rhs.astype(wide)
    product = product_of_matrices(lhs.shape, rhs.shape, wide, dimension_numbers)
    out = by_matrices(lhs, rhs, dimension_numbers) if product is None else product(lhs, rhs)
    return out if wide == result else cast(out, result)


@dot_general_p.def_rule_as("numpy")
def _specialised(avals: Sequence[ShapedArray], compile: Any, **params: Any) -> Callable[..., Any]:
    """Returns the function for operands of some types: NumPy's function for a product of matrices."""
    impl = dot_general_p.rule("impl")
    lhs, rhs = avals
    if impl is _impl and params["preferred_element_type"] is None and sum_dtype(lhs.dtype, lhs.dtype) == lhs.dtype:
        product = product_of_matrices(lhs.shape, rhs.shape, lhs.dtype, params["dimension_numbers"])
        if product is not None:
            return product
    return partial(impl, **params)


@dot_general_p.def_abstract_eval
def _abstract_eval(
    lhs: ShapedArray,
    rhs: ShapedArray,
    *,
    dimension_numbers: DimensionNumbers,
    preferred_element_type: np.dtype[Any] | None,
    precision: Precisions = None,
) -> ShapedArray:
    if lhs.dtype != rhs.dtype:
        raise ArgumentTypeError(
            f"dot_general_p: expected operands of one dtype, got {lhs} and {rhs}; "
            "call lawful.ops.dot_general, which promotes"
        )
    shape = plan_of(lhs.shape, rhs.shape, dimension_numbers).shape
    return ShapedArray(shape, result_dtype("dot_general", lhs.dtype, preferred_element_type))


# Derivatives


@dot_general_p.def_jvp
def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
    (lhs, rhs), (lhs_dot, rhs_dot) = primals, tangents
    ans = dot_general_p.bind(lhs, rhs, **params)
    aval = get_aval(ans)
    total: Any = Zero(aval.to_tangent_aval())
    if is_inexact(get_aval(lhs).dtype):
        if type(lhs_dot) is not Zero:
            total = dot_general_p.bind(lhs_dot, rhs, **params)
        if type(rhs_dot) is not Zero:
            total = add_tangents(total, dot_general_p.bind(lhs, rhs_dot, **params))
    return ans, total


@dot_general_p.def_transpose
def _transpose(
    ct: Any, lhs: Any, rhs: Any, *, dimension_numbers: DimensionNumbers, precision: Precisions = None, **_: Any
) -> list[Any]:
    lhs_is_linear = isinstance(lhs, UndefinedPrimal)
    assert lhs_is_linear != isinstance(rhs, UndefinedPrimal), (
        "dot_general is linear in each operand, not in both at once"
    )
    linear = lhs if lhs_is_linear else rhs
    if type(ct) is Zero:
        cotangent: Any = Zero(linear.aval)
    elif lhs_is_linear:
        cotangent = _cotangent(ct, lhs.aval, rhs, dimension_numbers, precision, lhs_is_linear=True)
    else:
        (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = dimension_numbers
        swapped = (rhs_contract, lhs_contract), (rhs_batch, lhs_batch)
        cotangent = _cotangent(ct, rhs.aval, lhs, swapped, _swapped(precision), lhs_is_linear=False)
    return [cotangent, None] if lhs_is_linear else [None, cotangent]


def _cotangent(
    ct: Any, x: ShapedArray, y: Any, numbers: DimensionNumbers, precision: Precisions, *, lhs_is_linear: bool
) -> Any:
    """Returns the cotangent of the linear operand.

    Args:
      ct: the cotangent of the result.
      x: the type of the linear operand.
      y: the other operand.
      numbers: the dimension numbers, those of ``x`` first.
      precision: that of ``x``, which is that of its cotangent, and of ``y``.
      lhs_is_linear: whether ``x`` is the first operand.

    It is the product of ``ct`` with ``y`` over the dimensions that ``ct`` has from ``y``, or of ``y`` with ``ct`` if
    that has the dimensions in the order of ``x``.
    """
    (x_contract, y_contract), (x_batch, y_batch) = numbers
    y_ndim = get_aval(y).ndim
    x_free, y_free = remaining_axes(x.ndim, x_contract, x_batch), remaining_axes(y_ndim, y_contract, y_batch)
    batch = tuple(range(len(x_batch)))
    first = len(x_batch) + (len(x_free) if lhs_is_linear else 0)
    ct_from_y = tuple(range(first, first + len(y_free)))
    # ct contributes the free dimensions of x, and y its contracted dimensions in increasing order.
    contracted = [a for _, a in sorted(zip(y_contract, x_contract, strict=True))]
    order = (*x_batch, *contracted, *x_free)
    if order == tuple(range(x.ndim)):
        out = dot_general(y, ct, ((y_free, ct_from_y), (y_batch, batch)), _swapped(precision))
    else:
        out = dot_general(ct, y, ((ct_from_y, y_free), (batch, y_batch)), precision)
        order = (*x_batch, *x_free, *contracted)
        out = transpose(out, tuple(sorted(range(x.ndim), key=order.__getitem__)))
    return convert(out, x.dtype, x.weak_type)


def _swapped(precision: Precisions) -> Precisions:
    return precision and (precision[1], precision[0])


# Batching


@dot_general_p.def_batch
def _batch(
    args: Sequence[Any], dims: Sequence[int | None], *, dimension_numbers: DimensionNumbers, **params: Any
) -> tuple[Any, int]:
    (lhs, rhs), (lhs_dim, rhs_dim) = args, dims
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = dimension_numbers
    lhs_contract, lhs_batch = _shifted(lhs_contract, lhs_dim), _shifted(lhs_batch, lhs_dim)
    rhs_contract, rhs_batch = _shifted(rhs_contract, rhs_dim), _shifted(rhs_batch, rhs_dim)
    # If only one operand is batched, its batch dimension is one more free dimension.
    if rhs_dim is None:
        assert lhs_dim is not None
        out_dim = len(lhs_batch) + _rank(lhs_dim, lhs_contract + lhs_batch)
    elif lhs_dim is None:
        lhs_free = get_aval(lhs).ndim - len(lhs_contract) - len(lhs_batch)
        out_dim = len(lhs_batch) + lhs_free + _rank(rhs_dim, rhs_contract + rhs_batch)
    else:
        lhs_batch, rhs_batch = (lhs_dim, *lhs_batch), (rhs_dim, *rhs_batch)
        out_dim = 0
    numbers = (lhs_contract, rhs_contract), (lhs_batch, rhs_batch)
    return dot_general_p.bind(lhs, rhs, dimension_numbers=numbers, **params), out_dim


def _shifted(axes: Shape, dim: int | None) -> Shape:
    return axes if dim is None else tuple([axis + (axis >= dim) for axis in axes])


def _rank(dim: int, used: Shape) -> int:
    """Returns the position of a dimension among those that are not used."""
    return dim - len([axis for axis in used if axis < dim])


# Lowering


@dot_general_p.def_lowering
def _lower(
    ctx: Any,
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: DimensionNumbers,
    preferred_element_type: np.dtype[Any] | None,
    precision: Precisions = None,
) -> Any:
    left, right = ctx.avals_in
    (out,) = ctx.avals_out
    if kind(out.dtype) != kind(left.dtype):
        lhs = ctx.hlo.convert(ctx.tensor_type(left.update(dtype=out.dtype)), lhs)
        rhs = ctx.hlo.convert(ctx.tensor_type(right.update(dtype=out.dtype)), rhs)
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = dimension_numbers
    numbers = ctx.hlo.DotDimensionNumbers.get(
        lhs_batching_dimensions=list(lhs_batch),
        rhs_batching_dimensions=list(rhs_batch),
        lhs_contracting_dimensions=list(lhs_contract),
        rhs_contracting_dimensions=list(rhs_contract),
    )
    config = precision_config(ctx, precision)
    return ctx.hlo.dot_general(ctx.tensor_type(out), lhs, rhs, numbers, precision_config=config)


# Declaration


def _sample(choose: Choose) -> Call:
    batch = [choose.integer(0, 3) for _ in range(choose.integer(0, 2))]
    contract = [choose.integer(0, 4) for _ in range(choose.integer(0, min(2, 3 - len(batch))))]

    def draw() -> tuple[Shape, Shape, Shape]:
        """Draws the order of one operand's dimensions: its shape, contracting and batch dimensions."""
        free = [choose.integer(0, 3) for _ in range(choose.integer(0, 3 - len(batch) - len(contract)))]
        order: list[int] = []
        for index in range(len(batch) + len(contract) + len(free)):
            order.insert(choose.integer(0, index), index)
        sizes = batch + contract + free
        dims = [order.index(index) for index in range(len(sizes))]
        split = len(batch) + len(contract)
        return tuple(sizes[index] for index in order), tuple(dims[len(batch) : split]), tuple(dims[: len(batch)])

    lhs, lhs_contract, lhs_batch = draw()
    rhs, rhs_contract, rhs_batch = draw()
    dtype = choose.dtype("fiubc")
    preferred = choose.one_of((None, None, _WIDEST.get(kind(dtype))))
    return (ShapedArray(lhs, dtype), ShapedArray(rhs, dtype)), {
        "dimension_numbers": ((lhs_contract, rhs_contract), (lhs_batch, rhs_batch)),
        "precision": choose.one_of((None, None, None, ("default", "highest"))),
        "preferred_element_type": None if preferred == dtype else preferred,
    }


_WIDEST = {name[0]: np.dtype(name) for name in ("int64", "uint64", "float64", "complex128")}


def _reference(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: DimensionNumbers,
    preferred_element_type: np.dtype[Any] | None,
    precision: Precisions = None,
) -> Any:
    lhs, rhs = np.asarray(lhs), np.asarray(rhs)
    result = preferred_element_type or lhs.dtype
    wide = sum_dtype(lhs.dtype, result)
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = dimension_numbers
    # Each dimension gets an einsum label; paired dimensions get the same one.
    lhs_labels = list(range(lhs.ndim))
    rhs_labels = list(range(lhs.ndim, lhs.ndim + rhs.ndim))
    for a, b in zip(lhs_contract + lhs_batch, rhs_contract + rhs_batch, strict=True):
        rhs_labels[b] = lhs_labels[a]
    out = [lhs_labels[a] for a in lhs_batch]
    out += [lhs_labels[a] for a in remaining_axes(lhs.ndim, lhs_contract, lhs_batch)]
    out += [rhs_labels[b] for b in remaining_axes(rhs.ndim, rhs_contract, rhs_batch)]
    return cast(np.einsum(lhs.astype(wide), lhs_labels, rhs.astype(wide), rhs_labels, out), result)


dot_general_p.declaration = Declaration(
    sample=_sample,
    reference=_reference,
    kinds="fiubc",
    linear=((0,), (1,)),
    unequal=(OF_COMPLEX_INFINITY,),
)


def _contracted(eqn: JaxprEqn) -> int:
    """Returns how many products each element of the result is the sum of."""
    (axes, _), _ = eqn.params["dimension_numbers"]
    return math.prod(eqn.invars[0].aval.shape[axis] for axis in axes)
