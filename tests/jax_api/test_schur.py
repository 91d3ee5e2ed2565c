"""Hessenberg, Schur and tridiagonal forms, and what Schur forms solve, beside SciPy's and JAX's."""

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pytest
import scipy.linalg

import lawful.jax
import lawful.numpy as lnp
from lawful import ops
from lawful.autodiff import grad, jvp, vjp
from lawful.batching import vmap
from lawful.core import ArgumentTypeError, ArgumentValueError, MissingRuleError
from lawful.linalg import expm, funm, hessenberg, rsf2csf, schur, solve_sylvester, sqrtm
from lawful.staging import jit

from ._matrices import BACKENDS, DTYPES, drawn


def tolerance(dtype: Any) -> float:
    return 1e-5 if np.dtype(dtype) in (np.dtype("float32"), np.dtype("complex64")) else 1e-13


def adjoint(x: Any) -> Any:
    return np.conj(np.swapaxes(x, -1, -2))


def jordan(size: int, value: complex = 1.0) -> Any:
    return value * np.eye(size) + np.eye(size, k=1)


def matrices() -> Iterator[Any]:
    """Yields matrices without enough eigenvectors, nearly so, singular, orthogonal, huge and tiny, and random ones."""
    for size in (1, 2, 3, 7, 20):
        general, turned = drawn(size, (size, size), (size, size))
        q = np.linalg.qr(turned)[0]
        yield from (general, q, general + general.T, 1e300 * general, 1e-300 * general)
        yield from (q @ jordan(size) @ q.T, jordan(size).T, np.ones((size, size)), np.zeros((size, size)))
        yield np.roll(np.eye(size), 1, axis=0)
        graded = 10.0 ** np.arange(size)
        yield general / graded[:, None] * graded
    for block in ([[1, 1e5], [-1e-12, 1]], [[1, 1], [-1e-10, 1]], [[1, 2], [-2, 1]]):
        repeated = np.kron(jordan(3), block)
        q = np.linalg.qr(drawn(1, (6, 6))[0])[0]
        yield q @ repeated @ q.T
    yield scipy.linalg.companion(np.poly(np.arange(1, 13)))
    for seed in range(6):  # of elements of all sizes: blocks that are nearly triangular
        rng = np.random.default_rng(seed)
        yield rng.integers(-1, 2, (4, 4)) * 10.0 ** rng.integers(-20, 20, (4, 4))


def check_schur(x: Any, t: Any, z: Any, tol: float) -> None:
    assert t.dtype == z.dtype == x.dtype
    size = max(np.abs(x).max(initial=0), np.finfo(x.dtype).tiny)
    error = z @ (t / size) @ adjoint(z) - x / size
    assert np.abs(error).max(initial=0) <= tol * np.linalg.norm(x / size)
    assert np.abs(adjoint(z) @ z - np.eye(len(x))).max(initial=0) <= tol * len(x)
    below = np.diagonal(t, -1)
    if x.dtype.kind == "c":
        assert not np.tril(t, -1).any()
        return
    assert not np.tril(t, -2).any()
    assert not (below[1:] * below[:-1]).any()
    for k in np.flatnonzero(below):
        assert t[k, k] == t[k + 1, k + 1]
        assert np.sign(t[k, k + 1]) == -np.sign(t[k + 1, k])


@pytest.mark.parametrize("dtype", DTYPES)
def test_schur_of_many_matrices(dtype: str) -> None:
    for x in matrices():
        matrix = (x + 1j * x[::-1, ::-1] if dtype[0] == "c" else x).astype(
            "complex128" if dtype[0] == "c" else "float64"
        )
        with np.errstate(over="ignore", under="ignore"):
            matrix = matrix.astype(dtype)
        if np.isfinite(matrix).all():
            t, z = ops.schur(matrix)
            check_schur(matrix, t, z, tolerance(dtype))
            np.testing.assert_array_equal(ops.schur(matrix, compute_schur_vectors=False), t)


@pytest.mark.parametrize("dtype", DTYPES)
def test_schur_compiled_and_batched(dtype: str) -> None:
    [x] = drawn(0, (2, 5, 5), dtype=dtype)
    for f in (jit(ops.schur, backend="xla"), vmap(ops.schur), lawful.jax.lax.linalg.schur):
        t, z = map(np.asarray, f(x))
        for i in range(2):
            check_schur(x[i], t[i], z[i], tolerance(dtype))
    for backend in BACKENDS:
        traces = jit(lambda a: lnp.trace(ops.schur(a, compute_schur_vectors=False), 0, -2, -1), backend=backend)(x)
        np.testing.assert_allclose(traces, np.trace(x, 0, -2, -1), rtol=1e-4)


def test_schur_of_triangular_matrices_is_exact() -> None:
    for x in (jordan(4), np.triu(drawn(0, (5, 5))[0]), np.zeros((3, 3)), np.zeros((0, 0)), np.eye(1)):
        t, z = schur(x)
        np.testing.assert_array_equal(t, x)
        np.testing.assert_array_equal(z, np.eye(len(x)))


@pytest.mark.parametrize("backend", BACKENDS)
def test_schur_not_finite_is_nan(backend: str) -> None:
    x = np.stack([np.eye(2), np.array([[1, np.nan], [0, 1]]), np.array([[np.inf, 1], [0, 1]])])
    for f in (ops.schur, ops.hessenberg, ops.tridiagonal):
        for out in jit(f, backend=backend)(x):
            assert np.isnan(np.asarray(out).reshape(3, -1)).all(-1).tolist() == [False, f is not ops.tridiagonal, True]


def test_schur_output_complex_of_real_matrices() -> None:
    [x] = drawn(0, (2, 6, 6))
    t, z = schur(x, "complex")
    assert t.dtype == np.complex128
    assert not np.tril(t, -1).any()
    np.testing.assert_allclose(z @ t @ adjoint(z), x, atol=1e-13)
    expected = np.sort_complex(np.linalg.eigvals(x).round(8))
    np.testing.assert_allclose(np.sort_complex(np.diagonal(t, 0, -2, -1).round(8)), expected, atol=1e-7)
    with pytest.raises(ArgumentValueError, match="schur: expected the output 'real' or 'complex', got 'r'"):
        schur(x, "r")


@pytest.mark.parametrize("function", [schur, hessenberg, sqrtm, lambda a: funm(a, lnp.exp)])
def test_forms_arguments_error(function: Any) -> None:
    for shape in ((2, 3), (3,)):
        with pytest.raises(ArgumentValueError, match="expected square matrices as"):
            function(np.ones(shape))
    with pytest.raises(ArgumentTypeError, match=r"expected matrices of float32, .* convert with astype"):
        function(np.eye(2, dtype=np.float16))
    assert np.asarray(lnp.asarray(function(np.eye(2, dtype=int))[0])).dtype.kind in "fc"


@pytest.mark.parametrize("function", [ops.schur, ops.hessenberg, ops.tridiagonal])
def test_forms_have_no_derivative(function: Any) -> None:
    with pytest.raises(MissingRuleError, match="may jump"):
        jvp(lambda x: function(x)[0], (np.eye(2),), (np.eye(2),))


# Hessenberg and tridiagonal forms


@pytest.mark.parametrize("dtype", DTYPES)
def test_hessenberg_agrees_with_scipy_and_jax(dtype: str) -> None:
    [x] = drawn(0, (2, 5, 5), dtype=dtype)
    atol = 20 * tolerance(dtype)
    for backend in BACKENDS:
        h, q = jit(lambda a: hessenberg(a, calc_q=True), backend=backend)(x)
        assert h.dtype == q.dtype == dtype
        np.testing.assert_allclose(np.asarray(q) @ np.asarray(h) @ adjoint(q), x, atol=atol)
        for i in range(2):
            for found, expected in zip((h, q), scipy.linalg.hessenberg(x[i], calc_q=True), strict=True):
                np.testing.assert_allclose(np.asarray(found)[i], expected, atol=atol)
    ours, theirs = (library.lax.linalg.hessenberg(x) for library in (lawful.jax, jax))
    for found, expected in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(found, expected, atol=atol)
    for size in (0, 1, 2):
        h, q = hessenberg(x[:, :size, :size], calc_q=True)
        np.testing.assert_allclose(q @ h @ adjoint(q), x[:, :size, :size], atol=atol)
        assert h.shape == q.shape == (2, size, size)
    ones = np.ones((20, 20), dtype)  # what is left of it is rounding, squared again and again
    h, q = hessenberg(ones, calc_q=True)
    np.testing.assert_allclose(q @ h @ adjoint(q), ones, atol=atol)
    np.testing.assert_allclose(adjoint(q) @ q, np.eye(20), atol=atol)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
def test_tridiagonal_agrees_with_jax(dtype: str, lower: bool) -> None:
    [x] = drawn(0, (2, 5, 5), dtype=dtype)
    triangle = np.tril if lower else np.triu
    expected = list(jax.lax.linalg.tridiagonal(x, lower=lower))
    expected[0] = triangle(expected[0])
    spoilt = x + np.where(triangle(np.ones((5, 5))), 0, np.nan).astype(dtype)
    for backend in BACKENDS:
        for found, wanted in zip(
            jit(lambda a: ops.tridiagonal(a, lower=lower), backend=backend)(spoilt), expected, strict=True
        ):
            assert found.dtype == wanted.dtype
            np.testing.assert_allclose(found, wanted, atol=300 * tolerance(dtype))
    for size in (0, 1, 2):
        t, d, e, taus = ops.tridiagonal(x[:, :size, :size], lower=lower)
        assert (t.shape, d.shape) == ((2, size, size), (2, size))
        assert e.shape == taus.shape == (2, max(size - 1, 0))


# rsf2csf


def test_rsf2csf_agrees_with_scipy() -> None:
    for t in ([[1.0, 2], [-3, 1]], [[1.0, 2, 3], [0, 1, 2], [0, -2, 1]], [[5.0, 1, 2], [0, 4, 3], [0, 0, 3]]):
        z = np.linalg.qr(drawn(0, (len(t), len(t)))[0])[0]
        for found, expected in zip(rsf2csf(np.array(t), z), scipy.linalg.rsf2csf(t, z), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-14)
    x = drawn(1, (2, 6, 6))[0]
    for f in (rsf2csf, jit(rsf2csf, backend="xla"), lawful.jax.scipy.linalg.rsf2csf):
        t, z = map(np.asarray, f(*schur(x)))
        assert not np.tril(t, -1).any()
        np.testing.assert_allclose(z @ t @ adjoint(z), x, atol=1e-13)
    huge = rsf2csf(np.array([[1e300, 2e300], [-3e300, 1e300]]), np.eye(2))[0]
    np.testing.assert_allclose(np.diag(huge) / 1e300, [1 + 6**0.5 * 1j, 1 - 6**0.5 * 1j])
    with pytest.raises(ArgumentValueError, match="rsf2csf: expected matrices of one size"):
        rsf2csf(np.eye(2), np.eye(3))


# solve_sylvester


def by_kronecker(a: Any, b: Any, c: Any) -> Any:
    m, n = c.shape
    matrix = lnp.kron(a, lnp.eye(n)) + lnp.kron(lnp.eye(m), b.T)
    return lnp.linalg.solve(matrix, c.reshape(m * n, 1)).reshape(m, n)


@pytest.mark.parametrize("dtype", DTYPES)
def test_solve_sylvester_values(dtype: str) -> None:
    for m, n in ((1, 1), (3, 2), (2, 4), (0, 2)):
        a, b, c = drawn(m, (m, m), (n, n), (m, n), dtype=dtype)
        x = solve_sylvester(a, b, c)
        assert x.dtype == dtype
        np.testing.assert_allclose(a @ x + x @ b, c, atol=100 * tolerance(dtype))
        if m:
            np.testing.assert_allclose(x, scipy.linalg.solve_sylvester(a, b, c), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(jit(solve_sylvester, backend="xla")(a, b, c), x)
    defective = solve_sylvester(jordan(3), jordan(3).T, np.eye(3))
    np.testing.assert_allclose(jordan(3) @ defective + defective @ jordan(3).T, np.eye(3), atol=1e-14)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_solve_sylvester_derivatives(dtype: str) -> None:
    args = tuple(drawn(0, (3, 3), (2, 2), (3, 2), dtype=dtype))
    tangents = tuple(np.cos(x) for x in args)
    wanted = jvp(by_kronecker, args, tangents)[1]
    for backend in BACKENDS:
        found = jit(lambda *x: jvp(solve_sylvester, x, tangents)[1], backend=backend)(*args)
        np.testing.assert_allclose(found, wanted, atol=1e-11)
    for x, y in zip(vjp(solve_sylvester, *args)[1](wanted), vjp(by_kronecker, *args)[1](wanted), strict=True):
        np.testing.assert_allclose(x, y, atol=1e-10)
    second = [jvp(lambda *x, f=f: vjp(f, *x)[1](wanted)[0], args, tangents)[1] for f in (solve_sylvester, by_kronecker)]
    np.testing.assert_allclose(*second, atol=1e-9)


def test_solve_sylvester_batched_singular_and_errors() -> None:
    a, b, c = drawn(0, (2, 3, 3), (2, 2), (2, 3, 2))
    each = np.stack([solve_sylvester(a[i], b, c[i]) for i in range(2)])
    np.testing.assert_allclose(solve_sylvester(a, b, c), each, atol=1e-12)
    np.testing.assert_allclose(vmap(solve_sylvester, (0, None, 0))(a, b, c), each, atol=1e-12)
    ours = lawful.jax.scipy.linalg.solve_sylvester
    np.testing.assert_allclose(ours(a, b, c, method="eigen", tol=1e-8), each, atol=1e-12)
    for f in (solve_sylvester, jit(solve_sylvester, backend="xla")):
        assert np.isnan(f(np.eye(2), -np.eye(2), np.ones((2, 2)))).all()
    assert np.isnan(solve_sylvester(np.eye(2), (1e-9 - 1) * np.eye(2), np.ones((2, 2)), tol=1e-8)).all()
    with pytest.raises(ArgumentValueError, match="solve_sylvester: expected the method 'schur' or 'eigen'"):
        solve_sylvester(a, b, c, method="qr")
    with pytest.raises(ArgumentValueError, match="solve_sylvester: expected shapes"):
        solve_sylvester(b, b, c)


# sqrtm and funm


@pytest.mark.parametrize("dtype", DTYPES)
def test_sqrtm_agrees_with_scipy(dtype: str) -> None:
    for x in (*drawn(0, (1, 1), (6, 6), dtype=dtype), jordan(4).astype(dtype)):
        for f in (sqrtm, lawful.jax.scipy.linalg.sqrtm):
            root = f(x)
            assert root.dtype == np.result_type(dtype, "complex64")
            np.testing.assert_allclose(root @ root, x, atol=50 * tolerance(dtype))
            np.testing.assert_allclose(root, scipy.linalg.sqrtm(x), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(jit(sqrtm, backend="xla")(x), sqrtm(x), atol=tolerance(dtype))
    batch = np.stack([x, 2 * x])
    for f in (sqrtm, vmap(sqrtm)):
        np.testing.assert_allclose(f(batch), [sqrtm(x), sqrtm(2 * x)], atol=tolerance(dtype))


def test_sqrtm_of_singular_matrices() -> None:
    for x in (-np.eye(2), np.zeros((2, 2)), np.diag([4.0, 0, 0]), np.ones((3, 3)), np.zeros((0, 0))):
        root = sqrtm(x)
        np.testing.assert_allclose(root @ root, x, atol=1e-14)
    assert np.isnan(sqrtm(jordan(2, 0))).any()
    # On the branch cut the root has a positive imaginary part, of both signs of zero.
    np.testing.assert_allclose(sqrtm(np.diag([complex(-4, -0.0), complex(-4, 0.0)])), 2j * np.eye(2), atol=1e-15)


def test_sqrtm_derivatives() -> None:
    [x], [direction] = drawn(0, (4, 4)), drawn(1, (4, 4))
    x, direction = x @ x.T + np.eye(4), direction + direction.T

    def by_eigenvalues(a: Any) -> Any:
        w, v = lnp.linalg.eigh(a)
        return (v * lnp.sqrt(w)) @ v.T

    def along(f: Any) -> Any:
        return lambda a: jvp(f, (a,), (direction,))[1]

    def loss(f: Any) -> Any:
        return lambda a: lnp.sum(f(a).real * direction)

    np.testing.assert_allclose(along(sqrtm)(x), along(by_eigenvalues)(x), atol=1e-11)
    np.testing.assert_allclose(along(along(sqrtm))(x), along(along(by_eigenvalues))(x), atol=1e-10)
    for backend in BACKENDS:
        gradient = jit(grad(loss(sqrtm)), backend=backend)(x)
        np.testing.assert_allclose(gradient, grad(loss(by_eigenvalues))(x), atol=1e-11)
    general = drawn(2, (4, 4))[0]
    root, root_dot = jvp(sqrtm, (general,), (direction,))
    np.testing.assert_allclose(root @ root_dot + root_dot @ root, direction, atol=1e-12)
    assert np.isnan(along(sqrtm)(np.zeros((4, 4)))).all()


def test_funm_agrees_with_expm_and_scipy() -> None:
    [q] = drawn(3, (4, 4))
    q = np.linalg.qr(q)[0]
    for x in (
        *drawn(0, (4, 4), (3, 3), dtype="complex128"),
        *drawn(0, (4, 4)),
        np.eye(3),
        q @ np.diag([1, 1, 1, 2]) @ q.T,
    ):
        found, error = funm(x, lnp.exp, disp=False)
        np.testing.assert_allclose(found, expm(x), atol=1e-12)
        assert error < 1e-12
        np.testing.assert_array_equal(lawful.jax.scipy.linalg.funm(x, lnp.exp), found)
    [x] = drawn(0, (2, 4, 4))
    expected = [scipy.linalg.funm(matrix, np.cos) for matrix in x]
    for f in (funm, jit(lambda a, f, disp: funm(a, f, disp), static_argnums=(1, 2), backend="xla")):
        found, error = f(x, lnp.cos, False)
        np.testing.assert_allclose(found, expected, atol=1e-12)
        assert (np.asarray(error) < 1e-14).all()


def test_funm_of_defective_matrices_is_nan() -> None:
    """SciPy gives 0 in place of a derivative, silently."""
    for x in (jordan(2), np.array([[1.0, 3, 5], [0, 2, 4], [0, 0, 1]]), np.array([[1.0, 1], [0, 1 + 1e-15]])):
        found, error = funm(x, lnp.exp, disp=False)
        assert np.isnan(found).all()
        assert error == np.inf
    with pytest.raises(ArgumentTypeError, match="funm: expected a function of arrays, got 3"):
        funm(np.eye(2), 3)
    with pytest.raises(ArgumentValueError, match="funm: expected values for"):
        funm(np.eye(2), lambda x: x[:1])
