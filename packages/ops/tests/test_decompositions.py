"""Evaluation of matrix decompositions: their equations, shapes and errors."""

import numpy as np
import pytest

from lawful import ops

DTYPES = ("float32", "float64", "complex64", "complex128")
SHAPES = ((3, 3), (2, 4, 3), (2, 3, 4), (0, 3), (3, 0), (0, 2, 2), (2, 0, 0), (1, 1))


def matrices(shape, dtype, seed=0):
    random = np.random.default_rng(seed)
    x = random.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * random.normal(size=shape)
    return x.astype(dtype)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def assert_near(x, y):
    assert x.dtype == y.dtype
    np.testing.assert_allclose(x, y, atol=1e-4 if x.dtype.itemsize // (1 + (x.dtype.kind == "c")) == 4 else 1e-10)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
class TestProducts:
    def test_qr(self, shape, dtype):
        x = matrices(shape, dtype)
        for full_matrices in (False, True):
            q, r = ops.qr(x, full_matrices=full_matrices)
            assert_near(q @ r, x)
            assert_near(
                adjoint(q) @ q,
                np.broadcast_to(np.eye(q.shape[-1], dtype=dtype), adjoint(q).shape[:-2] + q.shape[-1:] * 2),
            )
            assert not np.tril(r, -1).any()

    def test_svd(self, shape, dtype):
        x = matrices(shape, dtype)
        u, s, vh = ops.svd(x, full_matrices=False)
        assert_near((u * s[..., None, :]).astype(dtype) @ vh, x)
        np.testing.assert_allclose(ops.svd(x, compute_uv=False), s, atol=1e-4)
        assert ops.svd(x)[0].shape == (*shape[:-1], shape[-2])
        assert ops.svd(x)[2].shape == (*shape[:-2], shape[-1], shape[-1])

    def test_lu(self, shape, dtype):
        x = matrices(shape, dtype)
        lu, pivots, permutation = ops.lu(x)
        rank = min(shape[-2:])
        lower = np.tril(lu, -1)[..., :rank] + np.eye(shape[-2], rank, dtype=dtype)
        swapped = np.take_along_axis(x, permutation[..., None].astype(int), axis=-2)
        assert_near(lower @ np.triu(lu)[..., :rank, :], swapped)
        np.testing.assert_array_equal(ops.lu_pivots_to_permutation(pivots, shape[-2]), permutation)
        assert pivots.dtype == permutation.dtype == np.int32


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 4), (0, 0), (0, 2, 2), (40, 40)])
class TestOfSquareMatrices:
    def test_cholesky(self, shape, dtype):
        x = matrices(shape, dtype)
        x = x @ adjoint(x) + np.eye(shape[-1], dtype=dtype)
        factor = ops.cholesky(x)
        assert_near(factor @ adjoint(factor) / 100, x / 100)
        assert not np.triu(factor, 1).any()

    def test_eigh(self, shape, dtype):
        x = matrices(shape, dtype)
        x = x + adjoint(x)
        v, w = ops.eigh(x)
        assert_near(x @ v, (v * w[..., None, :]).astype(dtype))
        for lower, triangle in ((True, np.tril(x)), (False, np.triu(x))):
            np.testing.assert_allclose(ops.eigh(triangle, lower=lower, symmetrize_input=False)[1], w, atol=1e-4)

    def test_eig(self, shape, dtype):
        x = matrices(shape, dtype)
        w, left, right = ops.eig(x)
        assert w.dtype == left.dtype == right.dtype == np.result_type(dtype, np.complex64)
        np.testing.assert_allclose(x @ right, right * w[..., None, :], atol=1e-3)
        np.testing.assert_allclose(adjoint(left) @ x, w[..., :, None] * adjoint(left), atol=1e-3)

    def test_triangular_solve(self, shape, dtype):
        a = matrices(shape, dtype) + 20 * np.eye(shape[-1], dtype=dtype)
        b = matrices((*shape[:-2], shape[-1], 5), dtype, 1)
        for lower in (False, True):
            triangle = np.tril(a) if lower else np.triu(a)
            assert_near(triangle @ ops.triangular_solve(a, b, left_side=True, lower=lower), b)
            flags = {"transpose_a": True, "conjugate_a": True}
            assert_near(ops.triangular_solve(a, adjoint(b), lower=lower, **flags) @ adjoint(triangle), adjoint(b))

    def test_solve_and_determinants(self, shape, dtype):
        a = matrices(shape, dtype) + 20 * np.eye(shape[-1], dtype=dtype)
        b = matrices((*shape[:-2], shape[-1], 5), dtype, 1)
        factors, _, permutation = ops.lu(a)
        for flags in ({}, {"transpose_a": True}, {"conjugate_a": True}, {"transpose_a": True, "conjugate_a": True}):
            op = np.swapaxes(a, -1, -2) if flags.get("transpose_a") else a
            op = np.conj(op) if flags.get("conjugate_a") else op
            for out in (ops.solve(a, b, **flags), ops.solve_by_factors(factors, permutation, b, **flags)):
                assert_near(op @ out, b)
        if shape[-1] < 10:
            assert_near(ops.det(a) / ops.det_by_pivots(a), np.ones(shape[:-2], dtype))
        for one, other in zip(ops.slogdet(a), ops.slogdet_by_pivots(a), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def test_lu_of_many_columns_is_blocked():
    x = matrices((2, 100, 90), "float64")
    lu, _, permutation = ops.lu(x)
    lower = np.tril(lu, -1)[..., :90] + np.eye(100, 90)
    np.testing.assert_allclose(
        lower @ np.triu(lu)[..., :90, :], np.take_along_axis(x, permutation[..., None].astype(int), axis=-2), atol=1e-12
    )


def test_decompositions_nan_where_one_matrix_fails():
    """A matrix without a decomposition gives NaN and does not affect the rest of the batch."""
    good, bad = 2 * np.eye(2), np.array([[1.0, np.nan], [0.0, 1.0]])
    x = np.stack([good, bad, -good])
    assert np.isnan(ops.cholesky(x)).all((-2, -1)).tolist() == [False, True, True]
    for outs in (ops.qr(x), ops.svd(x), ops.eigh(x), ops.eig(x), ops.lu(x)[:1]):
        for out in outs:
            assert np.isnan(out.reshape(3, -1)).all(-1).tolist() == [False, True, False]


@pytest.mark.parametrize("sides", [(True, False), (False, True)])
def test_eig_declares_where_the_phase_of_a_vector_may_jump(sides):
    """Rounding decides which of two largest elements is real, so that a backend may choose the other one."""
    left, right = sides
    params = {"compute_left_eigenvectors": left, "compute_right_eigenvectors": right, "enable_eigvec_derivs": True}
    (unequal,) = ops.eig_p.declaration.unequal
    tied, other, bad = np.array([[0.0, 1.0], [-1.0, 1.0]]), np.diag([1.0, 2.0]), np.full((2, 2), np.nan)
    assert [unequal.point(np.stack([x, bad]), **params) for x in (tied, other)] == [True, False]


def test_solve_of_singular_system_is_nan():
    a = np.array([[1.0, 0.0], [1.0, 0.0]])
    pair = np.stack([a, np.eye(2)])
    assert np.isnan(ops.solve(pair, np.ones((2, 2, 1)))).tolist() == [[[True]] * 2, [[False]] * 2]
    assert np.isnan(ops.solve(np.diag([np.inf, 1.0]), np.ones(2))).all()
    assert np.isnan(ops.solve(np.eye(2), np.array([[1.0, 1.0], [np.inf, 1.0]]))).tolist() == [[True, False]] * 2
    assert np.isnan(ops.triangular_solve(a, np.ones(2), left_side=True, lower=True)).all()
    assert np.array_equal(ops.triangular_solve(a, np.ones(2), left_side=True, lower=True, unit_diagonal=True), [1, 0])


@pytest.mark.parametrize("op", [ops.cholesky, ops.det, ops.eigh, ops.eig, ops.lu, ops.qr, ops.slogdet, ops.svd])
def test_decompositions_refuse_dtypes_and_shapes(op):
    for dtype in ("float16", "int64", "bool"):
        with pytest.raises(TypeError, match="expected matrices of float32"):
            op(np.ones((2, 2)).astype(dtype))
    with pytest.raises(ValueError, match="last two dimensions"):
        op(np.ones(2))
    if op in (ops.cholesky, ops.det, ops.eigh, ops.eig, ops.slogdet):
        with pytest.raises(ValueError, match="square matrices"):
            op(np.ones((2, 3)))


def test_triangular_solve_refuses_shapes():
    for left_side, shape in ((True, (3, 2)), (False, (2, 3))):
        with pytest.raises(ValueError, match="set left_side"):
            ops.triangular_solve(np.ones((2, 2)), np.ones(shape), left_side=left_side)


def test_lu_pivots_to_permutation_refuses_small_size():
    with pytest.raises(ValueError, match="permutation_size"):
        ops.lu_pivots_to_permutation(np.zeros(3, np.int32), 2)
    with pytest.raises(TypeError, match="int32"):
        ops.lu_pivots_to_permutation(np.zeros(3), 3)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_cholesky_derivative_reads_one_triangle(dtype: type) -> None:
    x = np.array([[2.0, np.nan], [0.5, 3.0]], dtype)
    tangent = np.array([[0.3, np.nan], [0.7, -0.2]], dtype)
    _, found = ops.cholesky_p.rule("jvp")((x,), (tangent,))
    whole, whole_dot = (np.where(np.isnan(y), y.T, y) for y in (x, tangent))
    _, expected = ops.cholesky_p.rule("jvp")((whole,), (whole_dot,))
    np.testing.assert_array_equal(found, expected)
    factor, _ = ops.cholesky_p.rule("jvp")((whole,), (whole_dot,))
    np.testing.assert_allclose(expected @ factor.conj().T + factor @ expected.conj().T, whole_dot, atol=1e-15)
