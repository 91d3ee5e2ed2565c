"""Fourier transforms: more dimensions than XLA's op takes, dtypes, empty arrays and errors."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, Zero, get_aval

RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize("lengths", [(2, 3, 4, 5), (2, 1, 3, 2, 4)])
def test_fft_of_many_dimensions(lengths: tuple[int, ...]) -> None:
    axes = tuple(range(1, len(lengths) + 1))
    x = RANDOM.normal(size=(2, *lengths))
    spectrum = np.fft.rfftn(x, axes=axes)
    np.testing.assert_allclose(ops.fft(x, "RFFT", lengths), spectrum, atol=1e-12)
    np.testing.assert_allclose(ops.fft(x, "FFT", lengths), np.fft.fftn(x, axes=axes), atol=1e-12)
    np.testing.assert_allclose(ops.fft(x + 1j, "IFFT", lengths), np.fft.ifftn(x + 1j, axes=axes), atol=1e-12)
    # Not the spectrum of a real signal.
    np.testing.assert_allclose(
        ops.fft(spectrum * 1j, "IRFFT", lengths), np.fft.irfftn(spectrum * 1j, lengths, axes), atol=1e-12
    )


@pytest.mark.parametrize(
    ("dtype", "real", "complex"),
    [
        (np.float16, np.float32, np.complex64),
        (ml_dtypes.bfloat16, np.float32, np.complex64),
        (np.float32, np.float32, np.complex64),
        (np.float64, np.float64, np.complex128),
        (np.int8, np.float64, np.complex128),
        (np.bool_, np.float64, np.complex128),
        (np.complex64, np.float32, np.complex64),
    ],
)
def test_fft_dtypes(dtype: Any, real: Any, complex: Any) -> None:
    x = np.ones(4, dtype)
    assert ops.fft(x, "FFT", (4,)).dtype == ops.fft(x, "IFFT", (4,)).dtype == complex
    assert ops.fft(x, "IRFFT", (6,)).dtype == real
    if np.dtype(dtype).kind != "c":
        assert ops.fft(x, "RFFT", (4,)).dtype == complex


def test_fft_without_elements() -> None:
    assert ops.fft(np.zeros((0, 4)), "RFFT", (4,)).shape == (0, 3)
    assert ops.fft(np.zeros((0, 3)), "IRFFT", (4,)).shape == (0, 4)


def test_fft_without_lengths_converts() -> None:
    assert ops.fft(np.float32(1.0), "FFT", ()).dtype == np.complex64
    assert ops.fft(np.float32(1.0), "RFFT", ()).dtype == np.float32


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ops.fft(np.ones(4), "DCT", (4,)), ArgumentValueError, "expected a fft_type of 'FFT', "),
        (lambda: ops.fft(np.ones(4), 1.5, (4,)), ArgumentTypeError, "expected a type of transform"),
        (lambda: ops.fft(np.ones(4, complex), "RFFT", (4,)), ArgumentTypeError, "expected a real array for RFFT"),
        (lambda: ops.fft(np.ones(4), "FFT", (5,)), ArgumentValueError, "last dimensions are"),
        (lambda: ops.fft(np.ones(4), "IRFFT", (5,)), ArgumentValueError, "last dimensions are"),
        (lambda: ops.fft(np.ones(4), "FFT", (4, 4)), ArgumentValueError, "last dimensions are"),
        (lambda: ops.fft(np.ones(0), "FFT", (0,)), ArgumentValueError, "expected lengths of at least 1"),
        (lambda: ops.fft(np.ones(4), "FFT", (4.0,)), ArgumentTypeError, "expected integers as fft_lengths"),
        (
            lambda: ops.fft_p.rule("abstract_eval")(get_aval(np.ones(4)), fft_type="FFT", fft_lengths=(4,)),
            ArgumentTypeError,
            "call lawful.ops.fft",
        ),
    ],
)
def test_fft_errors(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_fft_keeps_symbolic_zeros() -> None:
    x = np.ones(4)
    params = {"fft_type": "RFFT", "fft_lengths": (4,)}
    assert type(ops.fft_p.rule("jvp")((x,), (Zero(get_aval(x)),), **params)[1]) is Zero
