"""Products of arrays: sums over pairs of dimensions, side by side for pairs of batch dimensions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from lawful.core import (
    ArgumentTypeError,
    Call,
    Choose,
    Declaration,
    Primitive,
    ShapedArray,
    UndefinedPrimal,
    Zero,
    as_dtype,
    cached_function,
    get_aval,
    is_inexact,
    kind,
    of_numpy,
    promote_dtypes,
    record,
)
from lawful.ops._elementwise import add_tangents
from lawful.ops._product_precision import (
    OF_COMPLEX_INFINITY,
    Precisions,
    canonical_precision,
    precision_config,
    result_dtype,
    sum_dtype,
)
from lawful.ops._promotion import cast, convert
from lawful.ops._shape import transpose
from lawful.ops._structural import canonical_axes

Shape = tuple[int, ...]
Pair = tuple[Shape, Shape]
#: ``((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch))``
DimensionNumbers = tuple[Pair, Pair]

dot_general_p = Primitive("dot_general", pure_rules=True)

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
        dimensions; those that stand at the same place in a pair belong together and have equal lengths.
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
        numbers = _canonical(numbers, left.ndim, right.ndim)
    _plan(left.shape, right.shape, numbers)
    result_dtype("dot_general", dtype, preferred)
    precision = canonical_precision("dot_general", precision)
    return dot_general_p.bind(
        lhs, rhs, dimension_numbers=numbers, precision=precision, preferred_element_type=preferred
    )


def _canonical(numbers: Any, lhs_ndim: int, rhs_ndim: int) -> DimensionNumbers:
    try:
        (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = numbers
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError(
            f"dot_general: expected dimension_numbers ((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch)), "
            f"got {numbers!r}; give four sequences of dimensions"
        ) from error
    return (
        (canonical_axes("dot_general", lhs_contract, lhs_ndim), canonical_axes("dot_general", rhs_contract, rhs_ndim)),
        (canonical_axes("dot_general", lhs_batch, lhs_ndim), canonical_axes("dot_general", rhs_batch, rhs_ndim)),
    )


@record
class _Plan:
    """How a product of two shapes becomes products of matrices.

    Attributes:
      lhs_free: the dimensions of the first operand that the result has, batch dimensions apart.
      rhs_free: those of the second operand.
      lhs_matrices: the shape of the first operand with its dimensions in the order batch, free, contracted, each
        group as one; the first is left out where there are no batch dimensions.
      rhs_matrices: the same of the second operand in the order batch, contracted, free.
      shape: the shape of the result.
    """

    lhs_free: Shape
    rhs_free: Shape
    lhs_matrices: Shape
    rhs_matrices: Shape
    shape: Shape


@cached_function("plans of dot_general", 4096)
def _plan(lhs: Shape, rhs: Shape, numbers: DimensionNumbers) -> _Plan:
    """Checks the dimension numbers, and returns how to multiply two arrays of such shapes."""
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = numbers
    _check_pairs("contracting", lhs, rhs, lhs_contract, rhs_contract)
    _check_pairs("batch", lhs, rhs, lhs_batch, rhs_batch)
    for side, shape, used in (("lhs", lhs, lhs_contract + lhs_batch), ("rhs", rhs, rhs_contract + rhs_batch)):
        if len(set(used)) < len(used) or not set(used) <= set(range(len(shape))):
            raise ArgumentTypeError(
                f"dot_general: expected contracting and batch dimensions of {side} that are different and in 0 to "
                f"{len(shape) - 1}, got {numbers} for the shapes {lhs} and {rhs}; name each dimension at most once"
            )
    lhs_free = _remaining(len(lhs), lhs_contract, lhs_batch)
    rhs_free = _remaining(len(rhs), rhs_contract, rhs_batch)
    batch_shape = _sizes(lhs, lhs_batch)
    batch = (math.prod(batch_shape),) if lhs_batch else ()
    contract = math.prod(_sizes(lhs, lhs_contract))
    return _Plan(
        lhs_free,
        rhs_free,
        (*batch, math.prod(_sizes(lhs, lhs_free)), contract),
        (*batch, contract, math.prod(_sizes(rhs, rhs_free))),
        batch_shape + _sizes(lhs, lhs_free) + _sizes(rhs, rhs_free),
    )


def _sizes(shape: Shape, axes: Shape) -> Shape:
    return tuple([shape[axis] for axis in axes])


def _remaining(ndim: int, *used: Iterable[int]) -> Shape:
    taken = {axis for axes in used for axis in axes}
    return tuple([axis for axis in range(ndim) if axis not in taken])


def _check_pairs(what: str, lhs: Shape, rhs: Shape, lhs_axes: Shape, rhs_axes: Shape) -> None:
    fits = len(lhs_axes) == len(rhs_axes) and all(
        a < len(lhs) and b < len(rhs) and lhs[a] == rhs[b] for a, b in zip(lhs_axes, rhs_axes, strict=True)
    )
    if not fits:
        raise ArgumentTypeError(
            f"dot_general: expected {what} dimensions in pairs of equal length, got the dimensions {lhs_axes} of the "
            f"shape {lhs} and {rhs_axes} of the shape {rhs}; name others, or reshape one operand"
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
    product = _product(lhs.shape, rhs.shape, wide, dimension_numbers)
    out = _by_matrices(lhs, rhs, dimension_numbers) if product is None else product(lhs, rhs)
    return out if wide == result else cast(out, result)


def _by_matrices(lhs: Any, rhs: Any, numbers: DimensionNumbers) -> Any:
    plan = _plan(lhs.shape, rhs.shape, numbers)
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = numbers
    # Where only the order of two dimensions changes these are views, which BLAS takes as they are.
    left = lhs.transpose(lhs_batch + plan.lhs_free + lhs_contract).reshape(plan.lhs_matrices)
    right = rhs.transpose(rhs_batch + rhs_contract + plan.rhs_free).reshape(plan.rhs_matrices)
    return np.matmul(left, right).reshape(plan.shape)[()]


#: Up to so many bytes of a result, by the kind of its numbers, `numpy.ndarray.dot` is faster than `numpy.matmul`: twice
#: as fast for matrices of 3 × 3, by a fifth for 64 × 32. For more the zeros that it begins with take longer.
_MOST_BYTES = {"f": 16_384, "c": 8_192}


@cached_function("NumPy products of dot_general", 4096)
def _product(lhs: Shape, rhs: Shape, dtype: np.dtype[Any], numbers: DimensionNumbers) -> Callable[..., Any] | None:
    """Returns the function of NumPy that multiplies vectors or matrices of such shapes; None for other products."""
    (lhs_contract, rhs_contract), (lhs_batch, _) = numbers
    if lhs_batch or len(lhs_contract) != 1 or max(len(lhs), len(rhs)) > 2:
        return None
    size = math.prod(_plan(lhs, rhs, numbers).shape) * dtype.itemsize
    multiply = np.ndarray.dot if size <= _MOST_BYTES.get(dtype.kind, -1) else np.matmul
    turn_lhs, turn_rhs = len(lhs) == 2 and lhs_contract == (0,), rhs_contract == (1,)
    if turn_lhs:
        return of_numpy((lambda x, y: multiply(x.T, y.T)) if turn_rhs else (lambda x, y: multiply(x.T, y)))
    return of_numpy(lambda x, y: multiply(x, y.T)) if turn_rhs else multiply


@dot_general_p.def_rule_as("numpy")
def _specialised(avals: Sequence[ShapedArray], compile: Any, **params: Any) -> Callable[..., Any]:
    """Returns the function for operands of some types: that of NumPy's itself for a product of matrices."""
    impl = dot_general_p.rule("impl")
    lhs, rhs = avals
    if impl is _impl and params["preferred_element_type"] is None and sum_dtype(lhs.dtype, lhs.dtype) == lhs.dtype:
        product = _product(lhs.shape, rhs.shape, lhs.dtype, params["dimension_numbers"])
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
    shape = _plan(lhs.shape, rhs.shape, dimension_numbers).shape
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

    It is the product of ``ct`` with ``y`` over the dimensions that ``ct`` has from ``y``, in the order of the two in
    which its dimensions are those of ``x``, if there is one.
    """
    (x_contract, y_contract), (x_batch, y_batch) = numbers
    y_ndim = get_aval(y).ndim
    x_free, y_free = _remaining(x.ndim, x_contract, x_batch), _remaining(y_ndim, y_contract, y_batch)
    batch = tuple(range(len(x_batch)))
    first = len(x_batch) + (len(x_free) if lhs_is_linear else 0)
    ct_from_y = tuple(range(first, first + len(y_free)))
    # What is left of ct are the free dimensions, and what is left of y its contracted ones in increasing order.
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
    # An operand that is mapped alone has one free dimension more, and the other stays as it is.
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
    """Returns the place of a dimension among those that are not used."""
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
        places = [order.index(index) for index in range(len(sizes))]
        split = len(batch) + len(contract)
        return tuple(sizes[index] for index in order), tuple(places[len(batch) : split]), tuple(places[: len(batch)])

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
    # Every dimension gets a letter; what belongs together gets the same.
    lhs_labels = list(range(lhs.ndim))
    rhs_labels = list(range(lhs.ndim, lhs.ndim + rhs.ndim))
    for a, b in zip(lhs_contract + lhs_batch, rhs_contract + rhs_batch, strict=True):
        rhs_labels[b] = lhs_labels[a]
    out = [lhs_labels[a] for a in lhs_batch]
    out += [lhs_labels[a] for a in _remaining(lhs.ndim, lhs_contract, lhs_batch)]
    out += [rhs_labels[b] for b in _remaining(rhs.ndim, rhs_contract, rhs_batch)]
    return cast(np.einsum(lhs.astype(wide), lhs_labels, rhs.astype(wide), rhs_labels, out), result)


dot_general_p.declaration = Declaration(
    sample=_sample,
    reference=_reference,
    kinds="fiubc",
    linear=((0,), (1,)),
    unequal=(OF_COMPLEX_INFINITY,),
)
