"""Convolutions with fewer arguments, and transposed convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lawful.core import ArgumentValueError, get_aval
from lawful.ops._convolution.convolution import conv_general_dilated
from lawful.ops._convolution.dimension_numbers import conv_dimension_numbers
from lawful.ops._convolution.sliding_window import dilated
from lawful.ops._shape.reshape import transpose
from lawful.ops._shape.slicing import rev
from lawful.ops._support.structural import static_integers

__all__ = ["conv", "conv_transpose", "conv_with_general_padding"]


def conv(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: str,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Returns `conv_general_dilated` without dilation, groups and other orders of dimensions.

    >>> import numpy as np
    >>> conv(np.array([[[1.0, 2.0, 3.0]]]), np.array([[[1.0, 1.0]]]), (1,), "SAME")
    array([[[3., 5., 3.]]])

    Source: ``jax.lax.conv``.
    """
    return conv_general_dilated(
        lhs, rhs, window_strides, padding, precision=precision, preferred_element_type=preferred_element_type
    )


def conv_with_general_padding(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Sequence[int] | None,
    rhs_dilation: Sequence[int] | None,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Returns `conv_general_dilated` without groups and other orders of dimensions.

    >>> import numpy as np
    >>> conv_with_general_padding(np.array([[[1.0, 2.0]]]), np.array([[[1.0, 1.0]]]), (1,), [(1, 0)], (2,), (1,))
    array([[[1., 1., 2.]]])

    Source: ``jax.lax.conv_with_general_padding``.
    """
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


_DEFAULT_SPECS = {
    2: ("NC", "IO", "NC"),
    3: ("NHC", "HIO", "NHC"),
    4: ("NHWC", "HWIO", "NHWC"),
    5: ("NHWDC", "HWDIO", "NHWDC"),
}


def conv_transpose(
    lhs: Any,
    rhs: Any,
    strides: Sequence[int],
    padding: Any,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    transpose_kernel: bool = False,
    precision: Any = None,
    preferred_element_type: Any = None,
    use_consistent_padding: bool = False,
) -> Any:
    """Returns the convolution with fractional strides, which makes the spatial dimensions longer by them.

    Args:
      lhs: an array with a batch dimension, one of features, and n spatial ones.
      rhs: the kernel.
      strides: for each spatial dimension the distance that neighbours of ``lhs`` get.
      padding: ``"SAME"`` or ``"VALID"``: that of the convolution whose transpose this is; or for each spatial
        dimension ``(low, high)``, of this convolution, but with ``use_consistent_padding`` of that one too.
      rhs_dilation: for each spatial dimension the distance of neighbours of the kernel; None for 1.
      dimension_numbers: as `conv_general_dilated`, but by default features are last: ``("NHWC", "HWIO", "NHWC")``.
      transpose_kernel: whether the kernel is reversed, and its input and output features are swapped: then this is
        the transpose of a convolution with that kernel.
      precision: as `conv_general_dilated`.
      preferred_element_type: as `conv_general_dilated`.
      use_consistent_padding: what pairs as padding mean.

    Raises:
      ArgumentValueError: there are no default numbers for this many dimensions, or the lengths do not fit.
      ArgumentTypeError: the dimension numbers do not fit.

    >>> import numpy as np
    >>> conv_transpose(np.array([[[1.0], [2.0]]]), np.array([[[1.0]], [[0.5]]]), (2,), "SAME").ravel()
    array([0.5, 1. , 1. , 2. ])

    Source: ``jax.lax.conv_transpose``.
    """
    left, right = get_aval(lhs), get_aval(rhs)
    if dimension_numbers is None:
        if left.ndim not in _DEFAULT_SPECS:
            raise ArgumentValueError(
                f"conv_transpose: expected arrays of two to five dimensions where there are no dimension_numbers, got "
                f"{left}; give dimension_numbers"
            )
        dimension_numbers = _DEFAULT_SPECS[left.ndim]
    specs = conv_dimension_numbers(left.shape, right.shape, dimension_numbers)
    n = left.ndim - 2
    steps = (1,) * n if rhs_dilation is None else static_integers("conv_transpose", "rhs_dilation", rhs_dilation)
    strides = static_integers("conv_transpose", "strides", strides)
    if not len(steps) == len(strides) == n:
        raise ArgumentValueError(
            f"conv_transpose: expected strides and rhs_dilation for each of {n} spatial dimensions, got {strides} and "
            f"{steps}; give {n} of each"
        )
    named = padding in ("SAME", "VALID") if isinstance(padding, str) else False
    if named or use_consistent_padding:
        windows = [dilated(right.shape[dim], step) for dim, step in zip(specs.rhs_spec[2:], steps, strict=True)]
        forward = [padding] * n if isinstance(padding, str) else list(padding)
        padding = [_transposed_padding(*sizes) for sizes in zip(windows, strides, forward, strict=True)]
    if transpose_kernel:
        order = list(range(right.ndim))
        first, second = specs.rhs_spec[:2]
        order[first], order[second] = second, first
        rhs = transpose(rev(rhs, specs.rhs_spec[2:]), order)
    return conv_general_dilated(
        lhs,
        rhs,
        (1,) * n,
        padding,
        strides,
        steps,
        specs,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def _transposed_padding(window: int, stride: int, padding: Any) -> tuple[int, int]:
    """Returns the padding of a transposed convolution, from that of the convolution."""
    if padding == "SAME":
        total = window + stride - 2
        before = window - 1 if stride >= window else -(-total // 2)
    elif padding == "VALID":
        total = window + stride - 2 + max(window - stride, 0)
        before = window - 1
    elif isinstance(padding, str):
        raise ArgumentValueError(f"conv_transpose: expected 'SAME', 'VALID' or pairs as padding, got {padding!r}")
    else:
        low, high = static_integers("conv_transpose", "an entry of padding", padding)
        before, total = window - 1 - low, 2 * (window - 1) - low - high
    return before, total - before
