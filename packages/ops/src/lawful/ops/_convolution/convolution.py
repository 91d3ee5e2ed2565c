"""Convolutions: sums of products of an array and a kernel that slides over it.

The features or the batch of the array may be divided into groups, each of which is convolved with its own part of the
kernel's output features.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
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
from lawful.ops._convolution.declaration import convolution_declaration
from lawful.ops._convolution.dimension_numbers import Specs, conv_dimension_numbers
from lawful.ops._convolution.groups import merge, merge_inside, unmerge
from lawful.ops._convolution.lowering import hlo_convolution, lower_complex
from lawful.ops._convolution.matrices import convolve
from lawful.ops._convolution.sizes import ConvSizes, check_steps, conv_pads, conv_sizes, spatial_sizes
from lawful.ops._convolution.sliding_window import Pads, dilated
from lawful.ops._elementwise.declaration import add_tangents
from lawful.ops._products.precision import (
    Precisions,
    canonical_precision,
    result_dtype,
    sum_dtype,
)
from lawful.ops._shape.slicing import rev
from lawful.ops._support.batch_dimensions import move_batch_dim
from lawful.ops._support.promotion import cast, convert
from lawful.ops._support.structural import Shape, static_integers, zeros_of

__all__ = ["conv_general_dilated", "conv_general_dilated_p"]

conv_general_dilated_p = Primitive("conv_general_dilated", pure_rules=True)
conv_general_dilated_p.def_rule("operations", lambda eqn: 2 * eqn.outvars[0].aval.size * _products(eqn))
conv_general_dilated_p.declaration = convolution_declaration


def conv_general_dilated(
    lhs: Any,
    rhs: Any,
    window_strides: Any,
    padding: Any,
    lhs_dilation: Any = None,
    rhs_dilation: Any = None,
    dimension_numbers: Any = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Returns the convolution, or rather the correlation, of an array with a kernel.

    Args:
      lhs: an array with a batch dimension, one of features, and n spatial ones.
      rhs: the kernel, with a dimension of output features, one of input features, and n spatial ones; the dtypes are
        promoted.
      window_strides: for each spatial dimension how far the kernel moves from one element of the result to the next.
      padding: for each spatial dimension ``(low, high)``, how many zeros to put before and after it, or elements to
        drop if negative; ``"VALID"`` for none; ``"SAME"`` for as many as give a result of the length of ``lhs``,
        divided by the stride, the odd one at the end, ``"SAME_LOWER"`` at the beginning.
      lhs_dilation: for each spatial dimension the distance of neighbours of ``lhs``, with zeros between; None for 1.
      rhs_dilation: the same of the kernel.
      dimension_numbers: which dimension is which, see `conv_dimension_numbers`.
      feature_group_count: into how many groups the features are divided: of a kernel for each of them has
        ``lhs_features // feature_group_count`` input features.
      batch_group_count: into how many groups the batch is divided, instead.
      precision: how exactly an accelerator multiplies: a `Precision` or its name, or a pair of them for the operands.
      preferred_element_type: the dtype of the result, in which products are added; by default that of the operands.

    Returns:
      The result, with a batch dimension, one of output features and n spatial ones. Of booleans, a product is their
      "and" and a sum their "or".

    Raises:
      ArgumentTypeError: the dimension numbers do not fit, or products cannot be added in the preferred dtype.
      ArgumentValueError: the lengths, groups, strides, dilations or padding do not fit.

    Law: linear in each operand.

    >>> conv_general_dilated(np.array([[[1.0, 2.0, 3.0]]]), np.array([[[1.0, 1.0]]]), (1,), "VALID")
    array([[[3., 5.]]])

    Source: ``jax.lax.conv_general_dilated``.
    """
    left, right = get_aval(lhs), get_aval(rhs)
    dtype, _ = promote_dtypes((left.dtype, left.weak_type), (right.dtype, right.weak_type))
    specs = conv_dimension_numbers(left.shape, right.shape, dimension_numbers)
    ones = (1,) * (left.ndim - 2)
    strides, lhs_steps, rhs_steps = (
        ones if value is None else static_integers("conv_general_dilated", name, value)
        for name, value in (
            ("window_strides", window_strides),
            ("lhs_dilation", lhs_dilation),
            ("rhs_dilation", rhs_dilation),
        )
    )
    check_steps(left.ndim - 2, strides, lhs_steps, rhs_steps)
    if isinstance(padding, str) and set(lhs_steps) - {1}:
        raise ArgumentValueError(
            f"conv_general_dilated: expected pairs as padding where lhs is dilated, got {padding!r}; give them, or use "
            "conv_transpose"
        )
    pads = conv_pads(
        padding,
        spatial_sizes(left.shape, specs.lhs_spec),
        spatial_sizes(right.shape, specs.rhs_spec),
        strides,
        rhs_steps,
    )
    (feature_groups,) = static_integers("conv_general_dilated", "feature_group_count", feature_group_count)
    (batch_groups,) = static_integers("conv_general_dilated", "batch_group_count", batch_group_count)
    preferred = None if preferred_element_type is None else as_dtype(preferred_element_type)
    params: dict[str, Any] = {
        "window_strides": strides,
        "padding": pads,
        "lhs_dilation": lhs_steps,
        "rhs_dilation": rhs_steps,
        "dimension_numbers": (tuple(specs.lhs_spec), tuple(specs.rhs_spec), tuple(specs.out_spec)),
        "feature_group_count": feature_groups,
        "batch_group_count": batch_groups,
        "precision": canonical_precision("conv_general_dilated", precision),
        "preferred_element_type": None if preferred == dtype else preferred,
    }
    operands = convert(lhs, dtype), convert(rhs, dtype)
    # Raises errors of shapes and dtypes.
    _abstract_eval(*map(get_aval, operands), **params)
    return conv_general_dilated_p.bind(*operands, **params)


# Evaluation and typing


@conv_general_dilated_p.def_impl
def _impl(lhs: Any, rhs: Any, *, preferred_element_type: np.dtype[Any] | None, **params: Any) -> Any:
    lhs, rhs = np.asarray(lhs), np.asarray(rhs)
    result = preferred_element_type or lhs.dtype
    sizes = conv_sizes(lhs.shape, rhs.shape, **params)
    out_spec = params["dimension_numbers"][2]
    if sizes.is_zero:
        return np.zeros(sizes.result(out_spec), result)
    wide = sum_dtype(lhs.dtype, result)
    out = convolve(lhs.astype(wide, copy=False), rhs.astype(wide, copy=False), sizes, **params)
    return cast(out.transpose([out_spec.index(dim) for dim in range(out.ndim)]), result)


@conv_general_dilated_p.def_abstract_eval
def _abstract_eval(
    lhs: ShapedArray, rhs: ShapedArray, *, preferred_element_type: np.dtype[Any] | None, **params: Any
) -> ShapedArray:
    if lhs.dtype != rhs.dtype or lhs.ndim != rhs.ndim or lhs.ndim < 2:
        raise ArgumentTypeError(
            f"conv_general_dilated_p: expected operands of one dtype and number of dimensions, got {lhs} and {rhs}; "
            "call lawful.ops.conv_general_dilated, which promotes"
        )
    sizes = conv_sizes(lhs.shape, rhs.shape, **params)
    dtype = result_dtype("conv_general_dilated", lhs.dtype, preferred_element_type)
    return ShapedArray(sizes.result(params["dimension_numbers"][2]), dtype)


# Derivatives


@conv_general_dilated_p.def_jvp
def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
    (lhs, rhs), (lhs_dot, rhs_dot) = primals, tangents
    ans = conv_general_dilated_p.bind(lhs, rhs, **params)
    total: Any = Zero(get_aval(ans).to_tangent_aval())
    if is_inexact(get_aval(lhs).dtype):
        if type(lhs_dot) is not Zero:
            total = conv_general_dilated_p.bind(lhs_dot, rhs, **params)
        if type(rhs_dot) is not Zero:
            total = add_tangents(total, conv_general_dilated_p.bind(lhs, rhs_dot, **params))
    return ans, total


@conv_general_dilated_p.def_transpose
def _transpose(ct: Any, lhs: Any, rhs: Any, **params: Any) -> list[Any]:
    lhs_is_linear = isinstance(lhs, UndefinedPrimal)
    assert lhs_is_linear != isinstance(rhs, UndefinedPrimal), "a convolution is linear in one operand, not in both"
    linear, other = (lhs.aval, rhs) if lhs_is_linear else (rhs.aval, lhs)
    if type(ct) is Zero:
        cotangent: Any = Zero(linear)
    else:
        shapes = (linear.shape, get_aval(other).shape) if lhs_is_linear else (get_aval(other).shape, linear.shape)
        sizes = conv_sizes(*shapes, **params)
        if sizes.is_zero:
            cotangent = zeros_of(linear)
        else:
            rule = _cotangent_of_array if lhs_is_linear else _cotangent_of_kernel
            cotangent = convert(rule(ct, linear.shape, other, sizes, **params), linear.dtype)
    return [cotangent, None] if lhs_is_linear else [None, cotangent]


def _cotangent_of_array(
    ct: Any,
    shape: Shape,
    rhs: Any,
    sizes: ConvSizes,
    *,
    window_strides: Shape,
    padding: Pads,
    lhs_dilation: Shape,
    rhs_dilation: Shape,
    dimension_numbers: Specs,
    batch_group_count: int,
    precision: Precisions,
    **_: Any,
) -> Any:
    """Returns the cotangent of the array: that of the result, dilated by the strides, with the reversed kernel.

    In each group, input and output features are swapped. Groups of the batch are merged at the end.
    """
    lhs_spec, rhs_spec, out_spec = dimension_numbers
    pads = []
    for i, (low, _high) in enumerate(padding):
        window = dilated(sizes.kernel[i], rhs_dilation[i])
        before = window - low - 1
        whole = dilated(shape[lhs_spec[2 + i]], lhs_dilation[i]) + window - 1
        pads.append((before, whole - dilated(sizes.spatial[i], window_strides[i]) - before))
    kernel = rev(rhs, rhs_spec[2:])
    if sizes.groups > 1:
        kernel = merge(unmerge(kernel, rhs_spec[0], sizes.groups), rhs_spec[0], rhs_spec[1])
    out = conv_general_dilated(
        ct,
        kernel,
        lhs_dilation,
        pads,
        window_strides,
        rhs_dilation,
        (out_spec, (rhs_spec[1], rhs_spec[0], *rhs_spec[2:]), lhs_spec),
        sizes.groups,
        precision=precision,
    )
    if batch_group_count > 1:
        out = merge(unmerge(out, lhs_spec[1], sizes.groups), lhs_spec[1], lhs_spec[0])
    return out


def _cotangent_of_kernel(
    ct: Any,
    shape: Shape,
    lhs: Any,
    sizes: ConvSizes,
    *,
    window_strides: Shape,
    padding: Pads,
    lhs_dilation: Shape,
    rhs_dilation: Shape,
    dimension_numbers: Specs,
    feature_group_count: int,
    batch_group_count: int,
    precision: Precisions,
    **_: Any,
) -> Any:
    """Returns the cotangent of the kernel: the array, with the cotangent of the result as kernel, dilated by strides.

    Features and batch are swapped, so that groups of one are groups of the other.
    """
    lhs_spec, rhs_spec, out_spec = dimension_numbers
    lhs_shape = get_aval(lhs).shape
    pads = []
    for i, (low, _high) in enumerate(padding):
        missing = dilated(sizes.spatial[i], window_strides[i]) - dilated(lhs_shape[lhs_spec[2 + i]], lhs_dilation[i])
        pads.append((low, missing + dilated(sizes.kernel[i], rhs_dilation[i]) - 1 - low))
    lhs_spec, out_spec, rhs_spec = ((spec[1], spec[0], *spec[2:]) for spec in (lhs_spec, out_spec, rhs_spec))
    return conv_general_dilated(
        lhs,
        ct,
        rhs_dilation,
        pads,
        lhs_dilation,
        window_strides,
        (lhs_spec, out_spec, rhs_spec),
        batch_group_count,
        feature_group_count,
        precision,
    )


# Batching


@conv_general_dilated_p.def_batch
def _batch(args: Sequence[Any], dims: Sequence[int | None], **params: Any) -> tuple[Any, int]:
    (lhs, rhs), (lhs_dim, rhs_dim) = args, dims
    lhs_spec, rhs_spec, out_spec = params["dimension_numbers"]
    groups = "batch_group_count" if params["batch_group_count"] > 1 else "feature_group_count"
    shapes = [_without(get_aval(x).shape, dim) for x, dim in zip(args, dims, strict=True)]
    size = next(get_aval(x).shape[dim] for x, dim in zip(args, dims, strict=True) if dim is not None)
    if not size:
        aval = _abstract_eval(*[ShapedArray(shape, get_aval(lhs).dtype) for shape in shapes], **params)
        return zeros_of(ShapedArray((0, *aval.shape), aval.dtype)), 0
    count = params[groups]
    if lhs_dim is not None and rhs_dim is not None:
        # Each batch element is a group.
        lhs = merge(lhs, lhs_dim, lhs_spec[0 if groups == "batch_group_count" else 1])
        rhs = merge(rhs, rhs_dim, rhs_spec[0])
        out = conv_general_dilated_p.bind(lhs, rhs, **{**params, groups: count * size})
        return unmerge(out, out_spec[1], size), out_spec[1]
    if lhs_dim is not None:
        outer = params["batch_group_count"]
        out = conv_general_dilated_p.bind(merge_inside(lhs, lhs_dim, lhs_spec[0], outer), rhs, **params)
        return unmerge(out, out_spec[0], size), out_spec[0]
    assert rhs_dim is not None
    out = conv_general_dilated_p.bind(lhs, merge_inside(rhs, rhs_dim, rhs_spec[0], count), **params)
    # The output features are (group, batch, features of one batch element).
    axis = out_spec[1]
    out = move_batch_dim(unmerge(unmerge(out, axis, count), axis + 1, size), axis + 1)
    return merge(out, axis + 1, axis + 1), 0


def _without(shape: Shape, dim: int | None) -> Shape:
    return shape if dim is None else (*shape[:dim], *shape[dim + 1 :])


# Lowering


@conv_general_dilated_p.def_lowering
def _lower(ctx: Any, lhs: Any, rhs: Any, **params: Any) -> Any:
    left, right = ctx.avals_in
    (out,) = ctx.avals_out
    if conv_sizes(left.shape, right.shape, **params).is_zero:
        return ctx.zeros(out)
    wide = sum_dtype(left.dtype, out.dtype)
    if kind(wide) != kind(left.dtype):
        lhs, rhs = (
            ctx.hlo.convert(ctx.tensor_type(aval.update(dtype=wide)), x) for x, aval in ((lhs, left), (rhs, right))
        )
    aval = out.update(dtype=wide)
    if wide.kind == "c":
        value = lower_complex(ctx, lhs, rhs, aval, params)
    else:
        value = hlo_convolution(ctx, lhs, rhs, aval, **params)
    return value if wide == out.dtype else ctx.hlo.convert(ctx.tensor_type(out), value)


def _products(eqn: JaxprEqn) -> int:
    """Returns how many products each element of the result is the sum of, padding included."""
    kernel = eqn.invars[1].aval
    features: int = kernel.shape[eqn.params["dimension_numbers"][1][0]]
    return kernel.size // max(features, 1)
