"""Decompositions and `lawful.numpy.linalg` against jax: values and gradients, of real and complex matrices."""

import importlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad
from lawful.staging import jit

linalg = importlib.import_module("lawful.numpy.linalg")

random = np.random.default_rng(0)
SQUARE = random.normal(size=(2, 4, 4)) + 3 * np.eye(4)
COMPLEX = SQUARE + 0.4j * random.normal(size=SQUARE.shape)
TALL = random.normal(size=(5, 3))
RIGHT = random.normal(size=(2, 4, 3))
HERMITIAN = COMPLEX @ COMPLEX.conj().swapaxes(-1, -2)
SYMMETRIC = SQUARE @ SQUARE.swapaxes(-1, -2)


def projected(vectors, values):
    """Returns what does not depend on the phases of vectors."""
    return [values, abs(vectors) ** 2]


NORMS = (None, 1, -1, 2, -2, np.inf, -np.inf)
CASES = {
    "solve": (lambda np_, a: np_.solve(a, RIGHT), (SQUARE, COMPLEX)),
    "inv": (lambda np_, a: np_.inv(a), (SQUARE, COMPLEX)),
    "det": (lambda np_, a: np_.det(a), (SQUARE, COMPLEX, SQUARE[:, :3, :3], SQUARE[:, :2, :2])),
    "slogdet": (lambda np_, a: tuple(np_.slogdet(a)), (SQUARE, COMPLEX)),
    "cholesky": (lambda np_, a: np_.cholesky(a), (SYMMETRIC, HERMITIAN)),
    "upper cholesky": (lambda np_, a: np_.cholesky(a, upper=True), (SYMMETRIC, HERMITIAN)),
    "qr": (lambda np_, a: tuple(np_.qr(a)), (SQUARE, COMPLEX, TALL, TALL.T)),
    "r": (lambda np_, a: np_.qr(a, mode="r"), (SQUARE, COMPLEX, TALL, TALL.T)),
    "svdvals": (lambda np_, a: np_.svdvals(a), (SQUARE, COMPLEX, TALL, TALL.T)),
    "svd": (lambda np_, a: projected(*np_.svd(a, full_matrices=False)[:2]), (SQUARE, COMPLEX, TALL, TALL.T)),
    "eigvalsh": (lambda np_, a: np_.eigvalsh(a), (SYMMETRIC, HERMITIAN)),
    "eigh": (lambda np_, a: projected(*np_.eigh(a)[::-1]), (SYMMETRIC, HERMITIAN)),
    "eigvals": (lambda np_, a: np_.eigvals(a), (SQUARE, COMPLEX)),
    "pinv": (lambda np_, a: np_.pinv(a), (SQUARE, COMPLEX, TALL, TALL.T)),
    "lstsq": (lambda np_, a: np_.lstsq(a, np.ones((len(a), 2)))[:2], (TALL,)),
    "matrix_power": (lambda np_, a: [np_.matrix_power(a, n) for n in (5, -3)], (SQUARE, COMPLEX)),
    "multi_dot": (lambda np_, a: np_.multi_dot([a, a.T, a, np.ones(3)]), (TALL,)),
    "cross": (lambda np_, a: np_.cross(a, a[::-1] * 2 + 1), (TALL,)),
    "vecdot": (lambda np_, a: np_.vecdot(a, a[1]), (SQUARE, COMPLEX)),
    "trace": (lambda np_, a: [np_.trace(a, offset=k) for k in (-1, 0, 2)], (SQUARE, COMPLEX)),
    "diagonal": (lambda np_, a: [np_.diagonal(a, offset=k) for k in (-1, 0, 2)], (SQUARE, TALL)),
    "outer": (lambda np_, a: np_.outer(a[0], a[1]), (TALL,)),
    "tensorsolve": (lambda np_, a: np_.tensorsolve(a[0].reshape(2, 2, 4), np.ones((2, 2))), (SQUARE,)),
    "tensorinv": (lambda np_, a: np_.tensorinv(a[0].reshape(2, 2, 4)), (SQUARE,)),
    "norms of vectors": (lambda np_, a: [np_.norm(a, p, axis=1) for p in (*NORMS, 0.5, 3)], (SQUARE, COMPLEX)),
    "norms of matrices": (lambda np_, a: [np_.norm(a, p, (0, 2)) for p in (*NORMS, "fro", "nuc")], (SQUARE, COMPLEX)),
    "vector_norm": (lambda np_, a: np_.vector_norm(a, axis=(0, 1), keepdims=True, ord=3), (SQUARE, COMPLEX)),
    "matrix_norm": (lambda np_, a: np_.matrix_norm(a, keepdims=True), (SQUARE, COMPLEX)),
    "cond": (lambda np_, a: [np_.cond(a, p) for p in (*NORMS, "fro", "nuc")], (SQUARE, COMPLEX)),
}  # fmt: skip


def leaves(x):
    return [np.asarray(y) for y in (x if isinstance(x, tuple | list) else [x])]


def total(outs):
    """Returns a real number that depends on all results."""
    outs = outs if isinstance(outs, tuple | list) else [outs]
    return sum((i + 1) * (abs(x) ** 2).sum() + 0.3 * x.real.sum() for i, x in enumerate(outs))


@pytest.mark.parametrize(("name", "place"), [(name, i) for name, (_, xs) in CASES.items() for i in range(len(xs))])
def test_values_and_gradients(name, place):
    function, xs = CASES[name]
    x = xs[place]

    def total_and_values(a):
        values = function(jnp.linalg, a)
        return total(values), values

    gradient, values = jax.jit(jax.grad(total_and_values, has_aux=True))(x)
    expected = leaves(values)
    for found in (function(linalg, x), jit(lambda a: function(np.linalg, a))(x)):
        for y, z in zip(leaves(found), expected, strict=True):
            assert y.dtype == z.dtype
            np.testing.assert_allclose(y, z, rtol=1e-8, atol=1e-10)
    found = grad(lambda a: total(function(linalg, a)))(x)
    if name == "upper cholesky":  # one triangle is read, as in NumPy; JAX reads the mean of both
        np.testing.assert_array_equal(np.tril(found, -1), 0)
        found = (found + found.conj().swapaxes(-1, -2)) / 2
    np.testing.assert_allclose(found, gradient, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_triangular_solve(dtype):
    a, b = COMPLEX.astype(dtype) if dtype[0] == "c" else SQUARE.astype(dtype), RIGHT.astype(dtype)
    names = ("left_side", "lower", "transpose_a", "conjugate_a", "unit_diagonal")
    numbers = range(32) if dtype == "complex128" else range(0, 32, 5)  # each flag both ways
    choices = [{flag: bool(number >> i & 1) for i, flag in enumerate(names)} for number in numbers]

    def solved(solve):
        """By all choices, to be compiled at once: each of its own takes longer."""
        return lambda a, b: [solve(a, b if flags["left_side"] else b.swapaxes(-1, -2), **flags) for flags in choices]

    expected = jax.jit(solved(jax.lax.linalg.triangular_solve))(a, b)
    tolerance = 1e-3 if dtype in ("float32", "complex64") else 1e-9
    for function in (solved(ops.triangular_solve), jit(solved(ops.triangular_solve))):
        for flags, found, theirs in zip(choices, function(a, b), expected, strict=True):
            np.testing.assert_allclose(found, theirs, rtol=tolerance, atol=tolerance, err_msg=str(flags))


def test_linalg_derivatives_of_eigenvectors():
    def loss(eig):
        return lambda a: total(eig(a, compute_left_eigenvectors=False, enable_eigvec_derivs=True))

    for x in (SQUARE, COMPLEX):
        expected = jax.jit(jax.grad(loss(jax.lax.linalg.eig)))(x)
        np.testing.assert_allclose(grad(loss(ops.eig))(x), expected, rtol=1e-6, atol=1e-8)
    with pytest.raises(NotImplementedError, match="enable_eigvec_derivs"):
        grad(lambda a: total(linalg.eig(a)))(SQUARE)


def test_lu():
    jax_lu = jax.lax.linalg.lu
    for x in (SQUARE, COMPLEX, TALL, TALL.T):
        values, gradient = jax.jit(lambda a: (jax_lu(a), jax.grad(lambda a: total(jax_lu(a)[0]))(a)))(x)
        for mine, theirs in zip(ops.lu(x), values, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(grad(lambda a: total(ops.lu(a)[0]))(x), gradient, rtol=1e-8, atol=1e-8)
