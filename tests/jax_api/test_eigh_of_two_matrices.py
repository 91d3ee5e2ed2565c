"""`eigh` of two matrices beside SciPy's: eigenvalues, eigenvectors, both derivatives, batches, compiled."""

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import lawful.jax
from lawful import linalg
from lawful.autodiff import jvp, vjp
from lawful.batching import vmap
from lawful.core import ArgumentValueError
from lawful.staging import jit

SIZE = 4


def matrices(dtype: str, lower: bool) -> tuple[Any, Any, Any, Any]:
    """Matrices with other numbers in the triangle that is not read, and the Hermitian ones that they stand for."""
    random = np.random.default_rng(0)

    def matrix() -> Any:
        x = random.normal(size=(SIZE, SIZE))
        return (x + 1j * random.normal(size=x.shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)

    a, b = matrix(), matrix()
    b = (b @ b.conj().T + np.eye(SIZE)).astype(dtype)
    triangle, rest = (np.tril, -1) if lower else (np.triu, 1)
    read = triangle(a)
    hermitian = read + triangle(a, rest).conj().T
    np.fill_diagonal(hermitian, hermitian.diagonal().real)
    unread = np.triu(np.ones_like(b), 1) if lower else np.tril(np.ones_like(b), -1)
    return a, b + unread, hermitian, b


@pytest.mark.parametrize("kind", [1, 2, 3])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("dtype", ["float64", "complex128", "float32", "complex64"])
def test_eigh_of_two_matrices_is_scipy_s(kind: int, lower: bool, dtype: str) -> None:
    a, b, hermitian, positive = matrices(dtype, lower)
    close = {"rtol": 1e-11, "atol": 1e-11} if dtype in ("float64", "complex128") else {"rtol": 1e-3, "atol": 1e-3}
    expected, vectors = scipy.linalg.eigh(a, b, lower=lower, type=kind)
    w, v = linalg.eigh(a, b, lower=lower, type=kind)
    assert (w.dtype, v.dtype) == (expected.dtype, vectors.dtype)
    np.testing.assert_allclose(w, expected, **close)
    np.testing.assert_allclose(abs(v), abs(vectors), **close)
    left, right = {
        1: (hermitian @ v, positive @ v * w),
        2: (hermitian @ positive @ v, v * w),
        3: (positive @ hermitian @ v, v * w),
    }[kind]
    np.testing.assert_allclose(left, right, rtol=0, atol=100 * close["atol"])
    stack = np.stack([a, 2 * a])
    for found in (
        linalg.eigh(stack, np.stack([b, b]), lower, True, kind),
        vmap(lambda a: linalg.eigh(a, b, lower, True, kind))(stack),
        lawful.jax.scipy.linalg.eigh(stack, np.stack([b, b]), lower=lower, eigvals_only=True, type=kind),
    ):
        np.testing.assert_allclose(found, [expected, 2 * expected], **close)


@pytest.mark.parametrize("kind", [1, 2, 3])
@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_eigh_of_two_matrices_differentiates(kind: int, backend: str) -> None:
    a, b, _, _ = matrices("float64", True)
    random = np.random.default_rng(1)
    (a_dot, b_dot), step = random.normal(size=(2, SIZE, SIZE)), 1e-6

    def f(a: Any, b: Any) -> Any:
        return linalg.eigh(a, b, type=kind)

    (_, v), (w_dot, v_dot) = jit(lambda *x: jvp(f, x, (a_dot, b_dot)), backend=backend)(a, b)
    after, before = (scipy.linalg.eigh(a + h * a_dot, b + h * b_dot, type=kind) for h in (step, -step))
    np.testing.assert_allclose(w_dot, (after[0] - before[0]) / (2 * step), rtol=1e-6, atol=1e-6)
    signed = [found[1] * np.sign((found[1] * v).sum(0)) for found in (after, before)]
    np.testing.assert_allclose(v_dot, (signed[0] - signed[1]) / (2 * step), rtol=1e-5, atol=1e-5)
    _, pullback = vjp(f, a, b)
    w_bar, v_bar = random.normal(size=SIZE), random.normal(size=(SIZE, SIZE)) * np.sign((f(a, b)[1] * v).sum(0))
    a_bar, b_bar = pullback((w_bar, v_bar))
    v_dot = v_dot * np.sign((f(a, b)[1] * v).sum(0))
    expected = (w_bar * w_dot).sum() + (v_bar * v_dot).sum()
    np.testing.assert_allclose((a_bar * a_dot).sum() + (b_bar * b_dot).sum(), expected, rtol=1e-9)


def test_eigh_of_another_type_is_refused() -> None:
    with pytest.raises(ArgumentValueError, match="expected the type 1, 2 or 3, got 4"):
        linalg.eigh(np.eye(2), np.eye(2), type=4)
