"""`jax.lax.linalg` beside JAX's: systems, updates and products of reflections, with derivatives by other formulas."""

import math
from typing import Any

import jax
import numpy as np
import pytest

import lawful.jax
import lawful.numpy as lnp
from lawful import ops
from lawful.autodiff import jvp, vjp
from lawful.batching import vmap
from lawful.core import ArgumentTypeError, ArgumentValueError
from lawful.linalg import cholesky_update, polar, qdwh
from lawful.staging import jit

from ._matrices import BACKENDS, DTYPES, drawn


def tolerance(dtype: Any) -> float:
    return 1e-4 if np.dtype(dtype).itemsize // (1 + (np.dtype(dtype).kind == "c")) == 4 else 1e-11


def reflections(dtype: Any, *shape: int) -> tuple[Any, Any]:
    """Returns what LAPACK's geqrf gives."""
    [x] = drawn(3, shape, dtype=dtype)
    found = [np.linalg.qr(matrix, mode="raw") for matrix in x.reshape(math.prod(shape[:-2]), *shape[-2:])]
    q = np.stack([h.T for h, _ in found]).reshape(shape).astype(dtype)
    return q, np.stack([tau for _, tau in found]).reshape(*shape[:-2], min(shape[-2:])).astype(dtype)


def same(found: Any, expected: Any, atol: float = 1e-11) -> None:
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=atol, atol=atol)


def same_derivatives(f: Any, reference: Any, *args: Any, order: int = 2) -> None:
    """Compares the derivatives of a function with those of a composition of elementary operations."""
    tangents = tuple(drawn(7, *[x.shape for x in args], dtype=args[0].dtype))

    def along(g: Any) -> Any:
        return lambda *x: jvp(g, x, tangents)[1]

    first, wanted = along(f), along(reference)
    for backend in BACKENDS:
        same(jit(first, backend=backend)(*args), wanted(*args))
    if order > 1:
        same(along(first)(*args), along(wanted)(*args), 1e-10)
    out, pull = vjp(f, *args)
    [cotangent] = drawn(8, np.shape(out), dtype=args[0].dtype)
    for x, y in zip(pull(cotangent), vjp(reference, *args)[1](cotangent), strict=True):
        same(x, y)


# tridiagonal_solve


def tridiagonal(dl: Any, d: Any, du: Any) -> Any:
    return lnp.diag(d) + lnp.diag(dl[1:], -1) + lnp.diag(du[:-1], 1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("size", "count"), [(0, 2), (1, 2), (2, 1), (6, 3)])
def test_tridiagonal_solve_agrees_with_jax(dtype: str, size: int, count: int) -> None:
    args = drawn(size, *[(2, size)] * 3, (2, size, count), dtype=dtype)
    if size:
        expected = jax.lax.linalg.tridiagonal_solve(*map(jax.numpy.asarray, args))
        same(lawful.jax.lax.linalg.tridiagonal_solve(*args), expected, tolerance(dtype))
    for backend in BACKENDS:
        x = jit(ops.tridiagonal_solve, backend=backend)(*args)
        assert x.dtype == dtype
        for i in range(2 if size else 0):
            same(tridiagonal(*[part[i] for part in args[:3]]) @ np.asarray(x)[i], args[3][i], 50 * tolerance(dtype))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_tridiagonal_solve_derivatives(dtype: str) -> None:
    args = drawn(0, *[(5,)] * 3, (5, 2), dtype=dtype)
    same_derivatives(ops.tridiagonal_solve, lambda *x: ops.solve(tridiagonal(*x[:3]), x[3]), *args)


def test_tridiagonal_solve_batched() -> None:
    dl, d, du, b = drawn(1, (3, 4), (3, 4), (3, 4), (4, 2))
    each = np.stack([ops.tridiagonal_solve(*parts, b) for parts in zip(dl, d, du, strict=True)])
    same(vmap(ops.tridiagonal_solve, (0, 0, 0, None))(dl, d, du, b), each)
    same(vmap(lambda y: ops.tridiagonal_solve(dl[0], d[0], du[0], y), 1, 1)(b), each[0])


@pytest.mark.parametrize("backend", BACKENDS)
def test_tridiagonal_solve_singular_is_nan(backend: str) -> None:
    solve = jit(ops.tridiagonal_solve, backend=backend)
    zero, one = np.zeros(3), np.ones(3)
    assert np.isnan(solve(zero, zero, one, np.ones((3, 1)))).all()
    # The first of dl and the last of du are not read, and a column does not affect others.
    dl, du, b = np.array([np.nan, 1, 1]), np.array([1, 1, np.inf]), np.array([[1, 1], [1, np.inf], [1, 1]])
    same(np.asarray(solve(dl, 2 * one, du, b))[:, 0], [0.5, 0, 0.5])
    assert np.isnan(np.asarray(solve(dl, 2 * one, du, b))[:, 1]).all()
    assert np.isnan(solve(one, np.array([1, np.inf, 1]), one, np.ones((3, 1)))).all()


def test_tridiagonal_solve_arguments_error() -> None:
    d, b = np.ones(3), np.ones((3, 1))
    for bad in ((d[1:], d, d, b), (d, d, d, b[1:]), (d, d, d, b[None]), (1.0, 1.0, 1.0, d)):
        with pytest.raises(ArgumentValueError, match=r"tridiagonal_solve: expected three diagonals of shape \(…, m\)"):
            ops.tridiagonal_solve(*bad)
    with pytest.raises(ArgumentTypeError, match="expected arrays of one dtype, float32"):
        ops.tridiagonal_solve(*[x.astype(int) for x in (d, d, d, b)])
    with pytest.raises(ArgumentValueError, match="expected no perturb_singular, got True; a singular matrix gives NaN"):
        lawful.jax.lax.linalg.tridiagonal_solve(d, d, d, b, perturb_singular=True)


# symmetric_product


@pytest.mark.parametrize("options", [{}, {"alpha": 2.0, "beta": -0.5}, {"beta": 2.0, "symmetrize_output": True}])
def test_symmetric_product_agrees_with_jax(options: dict[str, Any]) -> None:
    a, c = drawn(0, (2, 3, 2), (2, 3, 3))
    expected = jax.lax.linalg.symmetric_product(a, c, **options)
    same(lawful.jax.lax.linalg.symmetric_product(a, c, **options), expected)
    same(jit(lambda a, c: ops.symmetric_product(a, c, **options), backend="xla")(a, c), expected)


def test_symmetric_product_reads_no_c_without_beta() -> None:
    a, c = drawn(0, (3, 2), (3, 3))
    same(ops.symmetric_product(a, np.full_like(c, np.nan)), a @ a.T)
    with pytest.raises(ArgumentValueError, match=r"symmetric_product: expected shapes \(…, m, n\) and \(…, m, m\)"):
        ops.symmetric_product(a, c[:2])


# cholesky_update


def updated(r: Any, w: Any) -> Any:
    x = lnp.conj(lnp.triu(r).T) @ lnp.triu(r) + w[:, None] * lnp.conj(w)[None]
    return lnp.conj(ops.cholesky(x)).T


@pytest.mark.parametrize("dtype", DTYPES)
def test_cholesky_update_values_and_derivatives(dtype: str) -> None:
    r, w = drawn(0, (4, 4), (4,), dtype=dtype)
    for backend in BACKENDS:
        found = jit(cholesky_update, backend=backend)(r, w)
        assert found.dtype == dtype
        same(found, updated(r, w), tolerance(dtype))
    if dtype == "float64":
        same(lawful.jax.lax.linalg.cholesky_update(r, w), np.triu(jax.lax.linalg.cholesky_update(np.triu(r), w)))
    if tolerance(dtype) < 1e-6:
        same_derivatives(cholesky_update, updated, r, w)


def test_cholesky_update_batched_and_at_zero() -> None:
    r, w = drawn(0, (2, 3, 3), (2, 3))
    each = np.stack([cholesky_update(r[i], w[i]) for i in range(2)])
    same(cholesky_update(r, w), each)
    same(vmap(cholesky_update)(r, w), each)
    np.testing.assert_array_equal(cholesky_update(np.zeros((2, 2)), np.zeros(2)), np.zeros((2, 2)))
    assert cholesky_update(np.zeros((0, 0)), np.zeros(0)).shape == (0, 0)
    # The square of the matrix is not formed.
    same(cholesky_update(3e200 * np.eye(2), np.array([4e200, 0])) / 1e200, [[5, 0], [0, 3]])
    for shapes in (((2, 3), (2,)), ((3, 3), (2,)), ((3,), ())):
        with pytest.raises(ArgumentValueError, match=r"cholesky_update: expected shapes \(…, n, n\) and \(…, n\)"):
            cholesky_update(*[np.ones(shape) for shape in shapes])


# householder_product and ormqr


def product_of_reflections(a: Any, taus: Any) -> Any:
    out = lnp.eye(a.shape[0], dtype=a.dtype)
    for i in range(taus.shape[0]):
        v = lnp.concatenate([lnp.zeros(i, a.dtype), lnp.ones(1, a.dtype), a[i + 1 :, i]])
        out = out - taus[i] * (out @ v)[:, None] * lnp.conj(v)[None]
    return out


@pytest.mark.parametrize("dtype", DTYPES)
def test_householder_product_agrees_with_jax(dtype: str) -> None:
    for shape, count in (((2, 5, 3), 3), ((4, 4), 2), ((1, 1), 1), ((3, 0), 0), ((70, 66), 66)):
        a, taus = reflections(dtype, *shape)
        taus = taus[..., :count]
        q = lawful.jax.lax.linalg.householder_product(a, taus)
        same(q, jax.lax.linalg.householder_product(a, taus), tolerance(dtype))
        same(np.swapaxes(np.conj(q), -1, -2) @ q, np.eye(q.shape[-1]) + 0 * q[..., :1, :], tolerance(dtype))
    small = reflections(dtype, 5, 3)
    same(jit(ops.householder_product, backend="xla")(*small), ops.householder_product(*small), tolerance(dtype))


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_ormqr_agrees_with_jax(dtype: str, left: bool, transpose: bool) -> None:
    for shape in ((2, 5, 3), (70, 70)):
        a, taus = reflections(dtype, *shape)
        [c] = drawn(0, (*shape[:-2], shape[-2], 2) if left else (*shape[:-2], 2, shape[-2]), dtype=dtype)
        found = lawful.jax.lax.linalg.ormqr(a, taus, c, left=left, transpose=transpose)
        same(found, jax.lax.linalg.ormqr(a, taus, c, left=left, transpose=transpose), tolerance(dtype))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_householder_product_derivatives(dtype: str) -> None:
    a, taus = drawn(0, (4, 3), (3,), dtype=dtype)
    taus[1] = 0  # no reflection
    same_derivatives(ops.householder_product, lambda *x: product_of_reflections(*x)[:, :3], a, taus)
    [c] = drawn(1, (2, 4), dtype=dtype)
    for left in (False, True):

        def wanted(a: Any, taus: Any, c: Any, left: bool = left) -> Any:
            q = lnp.conj(product_of_reflections(a, taus)).T
            return q @ c if left else c @ q

        same_derivatives(
            lambda *x, left=left: ops.ormqr(*x, left=left, transpose=True), wanted, a, taus, c.T if left else c, order=1
        )


def test_householder_product_batched_and_errors() -> None:
    a, taus = reflections("float64", 3, 4, 2)
    each = ops.householder_product(a, taus)
    same(vmap(ops.householder_product)(a, taus), each)
    c = np.eye(4)
    same(vmap(lambda *x: ops.ormqr(*x, c))(a, taus)[..., :2], each)
    with pytest.raises(ArgumentValueError, match="householder_product: expected at most as many columns as rows"):
        ops.householder_product(np.ones((2, 3)), np.ones(2))
    with pytest.raises(ArgumentValueError, match=r"expected a of shape .* and at most"):
        ops.householder_product(np.ones((3, 2)), np.ones(3))
    with pytest.raises(ArgumentValueError, match="ormqr: expected shapes"):
        ops.ormqr(a[0], taus[0], np.ones((3, 4)))
    with pytest.raises(ArgumentTypeError, match="householder_product: expected matrices of float32"):
        ops.householder_product(np.ones((3, 2), int), np.ones(2, int))


# qdwh


@pytest.mark.parametrize("dtype", DTYPES)
def test_qdwh_agrees_with_jax(dtype: str) -> None:
    for shape in ((1, 1), (5, 3), (4, 4)):
        [x] = drawn(0, shape, dtype=dtype)
        u, h, count, is_converged = lawful.jax.lax.linalg.qdwh(x)
        expected = jax.jit(jax.lax.linalg.qdwh)(x)
        assert is_converged
        assert count < 8
        same(u @ h, x, tolerance(dtype))
        for found, wanted in zip((u, h), expected[:2], strict=True):
            assert found.dtype == wanted.dtype
            same(found, wanted, tolerance(dtype))
    for found, wanted in zip(jit(qdwh, backend="xla")(x), qdwh(x), strict=True):
        same(found, wanted, tolerance(dtype))


def test_qdwh_of_special_matrices() -> None:
    for x in (np.diag([1, 1e-12]), 1e300 * np.eye(2), 1e-300 * np.eye(2)):
        u, h, _, is_converged = qdwh(x)
        assert is_converged
        same(u, np.eye(2))
        np.testing.assert_allclose(h, x)
    np.testing.assert_array_equal(qdwh(np.diag([1.0, 0]))[0], np.diag([1, 0]))
    u, h, _, _ = qdwh(np.zeros((3, 0)))
    assert (u.shape, h.shape) == ((3, 0), (0, 0))
    u, _, count, is_converged = qdwh(np.array([[np.nan, 1], [0, 1]]))
    assert np.isnan(u).all()
    assert not is_converged
    assert count == 1
    _, _, count, is_converged = qdwh(drawn(0, (3, 3))[0], max_iterations=2)
    assert (count, bool(is_converged)) == (2, False)
    for shape in ((2, 3), (3,), (2, 3, 3)):
        with pytest.raises(ArgumentValueError, match="qdwh: expected a matrix with at least as many rows as columns"):
            qdwh(np.ones(shape))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_qdwh_derivatives_are_those_of_polar(dtype: str) -> None:
    [x] = drawn(0, (4, 3), dtype=dtype)
    same_derivatives(lambda a: lnp.concatenate(qdwh(a)[:2]), lambda a: lnp.concatenate(polar(a)), x)
    pair = np.stack([x, 2 * x])
    for found, wanted in zip(vmap(qdwh)(pair), zip(*map(qdwh, pair), strict=True), strict=True):
        same(found, np.stack(wanted))
