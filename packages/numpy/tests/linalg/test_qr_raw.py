"""The raw mode of the QR decomposition: reflections as LAPACK stores them."""

from typing import Any

import numpy as np
import pytest

from lawful.core import ArgumentValueError
from lawful.numpy import linalg
from lawful.staging import jit

SHAPES = [(4, 3), (3, 4), (3, 3), (0, 3), (3, 0), (1, 1)]


def matrices(shape: tuple[int, ...], dtype: Any) -> Any:
    rng = np.random.default_rng(0)
    return (rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype is complex else 0.0)).astype(dtype)


@pytest.mark.parametrize("dtype", [float, complex, np.float32])
@pytest.mark.parametrize("shape", SHAPES)
def test_qr_raw_is_that_of_numpy(shape: tuple[int, int], dtype: Any) -> None:
    a = matrices(shape, dtype)
    rtol = 1e-4 if dtype is np.float32 else 1e-12
    for found, expected in zip(linalg.qr(a, mode="raw"), np.linalg.qr(a, mode="raw"), strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol)


def test_qr_raw_of_columns_that_are_done() -> None:
    a = np.diag([1.0, -2.0, 0.0])
    packed, factors = linalg.qr(a, mode="raw")
    assert packed.tolist() == a.tolist()
    assert factors.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("scale", [1e-200, 1e200, 3e307])
def test_qr_raw_of_large_and_small_numbers(scale: float, dtype: Any) -> None:
    """Their squares overflow or vanish, and XLA's inverses are 0."""
    a = scale * matrices((4, 3), dtype)
    expected = np.linalg.qr(a, mode="raw")
    for function in (linalg.qr, jit(linalg.qr, static_argnames="mode")):
        packed, factors = function(a, mode="raw")
        np.testing.assert_allclose(packed, expected[0], rtol=1e-12)
        np.testing.assert_allclose(factors, expected[1], rtol=1e-12)


@pytest.mark.filterwarnings("ignore:overflow")  # in columns that are not chosen
@pytest.mark.parametrize("dtype", [float, complex, np.float32])
def test_qr_raw_of_a_column_close_to_overflow(dtype: Any) -> None:
    """Twice its length overflows, with NaN in some versions of LAPACK."""
    a = np.array([[-1.2, 2e-10], [0.6, 1e-10], [0.5, -1e-10]], dtype) * (np.finfo(dtype).max / 2)
    small, expected = np.linalg.qr(a / 1024, mode="raw")
    rtol = 1e-4 if dtype is np.float32 else 1e-12
    for function in (linalg.qr, jit(linalg.qr, static_argnames="mode")):
        packed, factors = function(a, mode="raw")
        np.testing.assert_allclose(np.tril(packed) / 1024, np.tril(small), rtol)
        np.testing.assert_allclose(np.triu(packed, 1), np.triu(small, 1), rtol)
        np.testing.assert_allclose(factors, expected, rtol)


@pytest.mark.parametrize("dtype", [float, complex, np.float32])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (1, 3), (1, 1)])
def test_qr_raw_of_subnormal_numbers(shape: tuple[int, int], dtype: Any) -> None:
    """Their inverses overflow. XLA may take the numbers for 0."""
    tiny = np.finfo(dtype).tiny
    a = matrices(shape, dtype)
    packed, factors = linalg.qr(a * (tiny / 8), mode="raw")
    expected = np.linalg.qr(a, mode="raw")
    rtol = 1e-4 if dtype is np.float32 else 1e-12
    np.testing.assert_allclose(factors, expected[1], rtol, atol=rtol)
    np.testing.assert_allclose(np.triu(packed, 1), np.triu(expected[0], 1), rtol, atol=rtol)
    np.testing.assert_allclose(np.tril(packed), np.tril(expected[0]) * (tiny / 8), rtol, atol=tiny * rtol)
    for x in jit(linalg.qr, static_argnames="mode")(a * (tiny / 8), mode="raw"):
        assert np.all(np.isfinite(x))


def test_qr_raw_compiled_and_of_batches() -> None:
    a = matrices((2, 4, 3), float)
    packed, factors = jit(lambda a: tuple(linalg.qr(a, mode="raw")))(a)
    assert packed.shape == (2, 3, 4)
    for i in range(2):
        expected = np.linalg.qr(a[i], mode="raw")
        np.testing.assert_allclose(packed[i], expected[0], rtol=1e-12)
        np.testing.assert_allclose(factors[i], expected[1], rtol=1e-12)


def test_qr_of_an_unknown_mode() -> None:
    with pytest.raises(
        ArgumentValueError, match="expected the mode 'reduced', 'complete', 'r' or 'raw', got 'economic'"
    ):
        linalg.qr(np.eye(2), mode="economic")
