"""Lowering of convolutions to StableHLO, those of complex numbers by parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful.core import ArgumentTypeError, ShapedArray
from lawful.ops._convolution.dimension_numbers import Specs
from lawful.ops._convolution.sliding_window import Pads
from lawful.ops._products.precision import Precisions, precision_config
from lawful.ops._support.structural import Shape


def lower_complex(ctx: Any, lhs: Any, rhs: Any, aval: ShapedArray, params: dict[str, Any]) -> Any:
    """Convolves real and imaginary parts: XLA's complex convolutions are slow on the CPU, and missing on a GPU."""
    real = aval.update(dtype=np.dtype(np.float32 if aval.dtype == np.complex64 else np.float64))

    def product(x: Any, y: Any) -> Any:
        return hlo_convolution(ctx, x, y, real, **params)

    (a, b), (c, d) = ((ctx.hlo.real(x), ctx.hlo.imag(x)) for x in (lhs, rhs))
    return ctx.hlo.complex(ctx.hlo.subtract(product(a, c), product(b, d)), ctx.hlo.add(product(a, d), product(b, c)))


def hlo_convolution(
    ctx: Any,
    lhs: Any,
    rhs: Any,
    out: ShapedArray,
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
    """Returns the StableHLO op.

    Raises:
      ArgumentTypeError: the numbers are integers, but for int8, or booleans, and XLA has no kernel on the platform.
    """
    if ctx.platform != "cpu" and out.dtype.kind in "biu" and out.dtype != np.int8:
        raise ArgumentTypeError(
            f"convolution: expected floats on {ctx.platform}, got {out.dtype}; convert them, or compile for the CPU: "
            'jit(f, backend="cpu")'
        )
    (batch, features, *spatial), (outputs, inputs, *kernel), (out_batch, out_features, *out_spatial) = dimension_numbers
    numbers = ctx.hlo.ConvDimensionNumbers.get(
        input_batch_dimension=batch,
        input_feature_dimension=features,
        input_spatial_dimensions=spatial,
        kernel_output_feature_dimension=outputs,
        kernel_input_feature_dimension=inputs,
        kernel_spatial_dimensions=kernel,
        output_batch_dimension=out_batch,
        output_feature_dimension=out_features,
        output_spatial_dimensions=out_spatial,
    )
    return ctx.hlo.convolution(
        ctx.tensor_type(out),
        lhs,
        rhs,
        dimension_numbers=numbers,
        feature_group_count=ctx.i64(feature_group_count),
        batch_group_count=ctx.i64(batch_group_count),
        window_strides=ctx.i64_array(window_strides),
        padding=ctx.ir.DenseElementsAttr.get(np.asarray(padding, np.int64).reshape(-1, 2)),
        lhs_dilation=ctx.i64_array(lhs_dilation),
        rhs_dilation=ctx.i64_array(rhs_dilation),
        window_reversal=ctx.bool_array([False] * len(spatial)),
        precision_config=precision_config(ctx, precision),
    )
