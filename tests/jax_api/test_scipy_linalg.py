"""`jax.scipy.linalg` beside SciPy's: matrices of structure, and products with the Q of a QR decomposition."""

from typing import Any

import jax
import numpy as np
import pytest
import scipy.linalg

import lawful.jax
import lawful.numpy as lnp
from lawful.autodiff import jvp
from lawful.batching import vmap
from lawful.core import ArgumentValueError
from lawful.linalg import fiedler_companion, invpascal, pascal, qr_multiply
from lawful.staging import jit

DTYPES = ["float32", "float64", "complex64", "complex128"]
RNG = np.random.default_rng(0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_fiedler_companion_agrees_with_scipy(dtype: str) -> None:
    for size in range(1, 8):
        a = (np.arange(size) + 2 + (1j if dtype[0] == "c" else 0)).astype(dtype)
        found = fiedler_companion(a)
        assert found.dtype == dtype
        expected = scipy.linalg.fiedler_companion(a)
        np.testing.assert_allclose(found, expected, rtol=1e-5)
        np.testing.assert_allclose(jit(fiedler_companion, backend="xla")(a), expected, rtol=1e-5)


def test_fiedler_companion_batches_and_derivative() -> None:
    a, a_dot = RNG.normal(size=(2, 3, 5))
    each = np.stack([scipy.linalg.fiedler_companion(row) for row in a])
    np.testing.assert_allclose(fiedler_companion(a), each)
    np.testing.assert_allclose(vmap(fiedler_companion)(a), each)
    assert isinstance(lawful.jax.scipy.linalg.fiedler_companion(a), lawful.jax.Array)
    quotient = a_dot / a[:, :1] - a * a_dot[:, :1] / a[:, :1] ** 2
    wanted = np.stack([scipy.linalg.fiedler_companion([1, *row[1:]]) for row in quotient])
    ones = fiedler_companion(np.array([1.0, 0, 0, 0, 0]))
    np.testing.assert_allclose(jvp(fiedler_companion, (a,), (a_dot,))[1], wanted - ones, atol=1e-12)
    with pytest.raises(ArgumentValueError, match="fiedler_companion: expected at least one coefficient"):
        fiedler_companion(np.zeros(0))
    assert fiedler_companion(np.array([1, 2, 3])).dtype == np.float64


@pytest.mark.parametrize("kind", [None, "symmetric", "lower", "upper"])
def test_invpascal_is_the_inverse_of_pascal(kind: Any) -> None:
    for size in (0, 1, 2, 5, 12):
        found = invpascal(size, kind)
        assert found.shape == (size, size)
        np.testing.assert_array_equal(found @ pascal(size, kind), np.eye(size))
        expected = scipy.linalg.invpascal(size, kind or "symmetric")
        np.testing.assert_array_equal(found, np.asarray(expected, float).reshape(size, size))
    with pytest.raises(ArgumentValueError, match="invpascal: expected the kind 'symmetric', 'lower' or 'upper'"):
        invpascal(3, "left")


@pytest.mark.parametrize("conjugate", [False, True])
@pytest.mark.parametrize("mode", ["left", "right"])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_qr_multiply_agrees_with_scipy(dtype: str, mode: str, conjugate: bool) -> None:
    for rows, columns in ((5, 3), (3, 5), (4, 4), (1, 1)):
        a = (
            (RNG.normal(size=(rows, columns)) + (1j * RNG.normal(size=(rows, columns)))).astype(dtype)
            if (dtype == "complex128")
            else RNG.normal(size=(rows, columns))
        )
        rank = min(rows, columns)
        for shape in ((rank, 2), (rank,)) if mode == "left" else ((2, rows), (rows,)):
            c = RNG.normal(size=shape)
            expected = scipy.linalg.qr_multiply(a, c, mode, conjugate=conjugate)
            for x, y in zip(qr_multiply(a, c, mode, conjugate=conjugate), expected, strict=True):
                np.testing.assert_allclose(x, y, atol=1e-12)


def test_qr_multiply_compiled_batched_and_derived() -> None:
    a, c = RNG.normal(size=(2, 4, 3)), RNG.normal(size=(2, 5, 4))
    expected = [np.stack(parts) for parts in zip(*[qr_multiply(*pair) for pair in zip(a, c, strict=True)], strict=True)]
    for f in (qr_multiply, vmap(qr_multiply), jit(qr_multiply, backend="xla")):
        for x, y in zip(f(a, c), expected, strict=True):
            np.testing.assert_allclose(x, y, atol=1e-12)

    def composed(a: Any, c: Any) -> Any:
        q, r = lnp.linalg.qr(a)
        return c @ q, r

    tangents = (np.cos(a), np.sin(c))
    for x, y in zip(jvp(qr_multiply, (a, c), tangents)[1], jvp(composed, (a, c), tangents)[1], strict=True):
        np.testing.assert_allclose(x, y, atol=1e-12)


def test_qr_multiply_arguments() -> None:
    a = RNG.normal(size=(4, 3))
    with pytest.raises(ArgumentValueError, match="qr_multiply: expected the mode 'left' or 'right', got 'up'"):
        qr_multiply(a, a, "up")
    for c, mode in ((np.ones(3), "right"), (np.ones((4, 2)), "left"), (1.0, "left")):
        with pytest.raises(ArgumentValueError, match="qr_multiply: expected c with the length"):
            qr_multiply(a, c, mode)
    ours = lawful.jax.scipy.linalg.qr_multiply
    with pytest.raises(ArgumentValueError, match="expected no pivoting, got True"):
        ours(a, a[:, 0], pivoting=True)
    with jax.enable_x64(True):
        expected = jax.scipy.linalg.qr_multiply(a, a[:, 0], overwrite_c=True)
    for x, y in zip(ours(a, a[:, 0], overwrite_c=True), expected, strict=True):
        np.testing.assert_allclose(x, y, atol=1e-12)
