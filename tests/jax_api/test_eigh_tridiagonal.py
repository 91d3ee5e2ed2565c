"""`linalg.eigh_tridiagonal` beside JAX's, and its derivatives beside those of JAX's `eigh`."""

from typing import Any

import jax
import numpy as np
import pytest

import lawful.jax
from lawful.autodiff import jacrev, jvp
from lawful.batching import vmap
from lawful.core import ArgumentTypeError, ArgumentValueError
from lawful.linalg import eigh_tridiagonal
from lawful.staging import jit

D, E = np.array([1.0, -2.0, 3.5, 0.25, 7.0]), np.array([1.0, 0.5, -3.0, 2.0])


def values(d: Any, e: Any, **options: Any) -> Any:
    return eigh_tridiagonal(d, e, eigvals_only=True, **options)


def matrix(d: Any, e: Any) -> Any:
    return jax.numpy.diag(d) + jax.numpy.diag(e, 1) + jax.numpy.diag(e, -1)


@pytest.mark.parametrize("options", [{}, {"select": "i", "select_range": (1, 3)}, {"tol": 1e-14}])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_eigh_tridiagonal_values_agree_with_jax(options: dict[str, Any], dtype: Any) -> None:
    d, e = D.astype(dtype), E.astype(dtype)
    ours = lawful.jax.scipy.linalg.eigh_tridiagonal(d, e, eigvals_only=True, **options)
    theirs = jax.scipy.linalg.eigh_tridiagonal(d, e, eigvals_only=True, **options)
    assert type(ours) is lawful.jax.Array
    assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(ours, theirs, rtol=1e-5 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_eigh_tridiagonal_compiled_and_batched(backend: str) -> None:
    expected = np.linalg.eigvalsh(np.asarray(matrix(D, E)))
    np.testing.assert_allclose(jit(values, backend=backend)(D, E), expected, rtol=1e-12)
    found = jit(vmap(values, (0, None)), backend=backend)(np.stack([D, D + 2]), E)
    np.testing.assert_allclose(found, [expected, expected + 2], rtol=1e-12)


def test_eigh_tridiagonal_vectors_are_those_of_the_matrix() -> None:
    for bounds in ((0, 4), (1, 2)):
        w, v = eigh_tridiagonal(D, E, select="i", select_range=bounds)
        np.testing.assert_allclose(np.asarray(matrix(D, E)) @ v, v * w, atol=1e-12)
        np.testing.assert_allclose(v.T @ v, np.eye(v.shape[1]), atol=1e-12)


def test_eigh_tridiagonal_derivatives_are_those_of_eigh_of_jax() -> None:
    def reference(d: Any, e: Any) -> Any:
        return jax.numpy.linalg.eigh(matrix(d, e))[0]

    for ours, theirs in zip(
        jacrev(values, argnums=(0, 1))(D, E), jax.jacobian(reference, argnums=(0, 1))(D, E), strict=True
    ):
        np.testing.assert_allclose(ours, np.asarray(theirs), atol=1e-12)
    tangents = np.cos(D), np.sin(E)
    found = jvp(lambda d, e: eigh_tridiagonal(d, e)[1] ** 2, (D, E), tangents)[1]
    wanted = jax.jvp(lambda d, e: jax.numpy.linalg.eigh(matrix(d, e))[1] ** 2, (D, E), tangents)[1]
    np.testing.assert_allclose(found, np.asarray(wanted), atol=1e-12)


@pytest.mark.parametrize("size", [0, 1, 2])
def test_eigh_tridiagonal_of_small_matrices(size: int) -> None:
    w, v = eigh_tridiagonal(np.arange(size) + 3.0, np.zeros(max(size - 1, 0)))
    np.testing.assert_array_equal(w, np.arange(size) + 3.0)
    np.testing.assert_array_equal(np.abs(v), np.eye(size))


def test_eigh_tridiagonal_arguments_error() -> None:
    with pytest.raises(ArgumentTypeError, match="eigh_tridiagonal: expected real elements"):
        values(D, E * 1j)
    for d, e in ((D, D), (D[None], E), (1.0, E)):
        with pytest.raises(ArgumentValueError, match=r"eigh_tridiagonal: expected shapes \(n,\) and \(n - 1,\)"):
            values(d, e)
    with pytest.raises(ArgumentValueError, match="expected select 'a' or 'i', got 'v'; select from the result"):
        values(D, E, select="v", select_range=(0.0, 1.0))
    with pytest.raises(ArgumentValueError, match="expected select 'a' or 'i', got 'b'"):
        values(D, E, select="b")
    for bounds in (None, (3, 1), (0, 5), (-1, 2), (1,)):
        with pytest.raises(ArgumentValueError, match="expected select_range of the first and the last position"):
            values(D, E, select="i", select_range=bounds)
