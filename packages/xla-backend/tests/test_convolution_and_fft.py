"""Convolutions and Fourier transforms that NumPy has no function for, or computes otherwise, on XLA."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.staging import jit


def test_fft_of_dimensions_with_one_element() -> None:
    x = np.arange(4.0).reshape(1, 4)
    got = jit(lambda x: ops.fft(x, "RFFT", (1, 4)))(x)
    np.testing.assert_allclose(np.asarray(got), np.fft.rfft2(x))


def test_irfft_ignores_what_is_not_symmetric() -> None:
    random = np.random.default_rng(0)
    x = random.normal(size=(4, 3, 3)) + 1j * random.normal(size=(4, 3, 3))
    for lengths in ((3, 4), (3, 5), (4, 3, 4)):
        axes = tuple(range(-len(lengths), 0))
        got = jit(lambda x, lengths=lengths: ops.fft(x, "IRFFT", lengths))(x)
        np.testing.assert_allclose(np.asarray(got), np.fft.irfftn(x, lengths, axes), atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_conv_padding_is_skipped_or_a_zero(dtype: Any) -> None:
    """Of an infinity under the padding the result is NaN or what it is without; all else agrees."""
    x, y = np.ones((1, 1, 3), dtype), np.array([[[np.inf, 1.0]]], dtype)
    with np.errstate(invalid="ignore"):
        eager = ops.conv_general_dilated(x, y, (1,), [(1, 0)])
    compiled = np.asarray(jit(lambda x, y: ops.conv_general_dilated(x, y, (1,), [(1, 0)]))(x, y))
    assert np.isnan(compiled[0, 0, 0]) or compiled[0, 0, 0] == 1
    np.testing.assert_array_equal(compiled[..., 1:], eager[..., 1:])


def test_conv_precision_is_in_the_text() -> None:
    def f(x: Any) -> Any:
        return ops.conv(x, x, (1,), "VALID", ("high", "highest"))

    assert "HIGH>, #stablehlo<precision HIGHEST" in jit(f).lower(np.ones((1, 1, 2), np.float32)).as_text()
