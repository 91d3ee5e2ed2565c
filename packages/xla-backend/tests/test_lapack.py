"""Decompositions compiled to LAPACK: what NumPy gives, batches, what has no decomposition."""

import re
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

from lawful import ops, tree
from lawful.staging import jit

DTYPES = ("float32", "float64", "complex64", "complex128")
SQUARE = np.random.default_rng(0).normal(size=(2, 3, 4, 4)) + 6 * np.eye(4)
COMPLEX = SQUARE + 0.4j * np.random.default_rng(1).normal(size=SQUARE.shape)
FUNCTIONS = {
    "cholesky": lambda x: ops.cholesky(x, symmetrize_input=False),  # of the lower triangle, which dominates
    "lu": ops.lu,
    "qr": ops.qr,
    "thin qr": lambda x: ops.qr(x[..., :3], full_matrices=False),
    "wide qr": lambda x: ops.qr(x[..., :3, :]),
    "eigh": ops.eigh,
    "svd": lambda x: ops.svd(x[..., :3]),
    "singular values": lambda x: ops.svd(x, compute_uv=False),
    "eig": ops.eig,
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_lapack_compiled_is_evaluated(name, dtype):
    x = (COMPLEX if dtype[0] == "c" else SQUARE).astype(dtype)
    expected, found = FUNCTIONS[name](x), jit(FUNCTIONS[name])(x)
    if not isinstance(expected, tuple | list):
        expected, found = [expected], [found]
    for y, z in zip(expected, found, strict=True):
        assert y.dtype == z.dtype
        np.testing.assert_allclose(z, y, rtol=1e-3, atol=1e-4 if dtype in ("float32", "complex64") else 1e-10)


@pytest.mark.parametrize("op", [ops.cholesky, ops.lu, ops.qr, ops.eigh, ops.svd, ops.eig, ops.det, ops.slogdet])
@pytest.mark.parametrize("shape", [(0, 0), (0, 2, 2), (2, 0, 0)])
def test_lapack_of_nothing(op, shape):
    expected, found = op(np.zeros(shape)), jit(op)(np.zeros(shape))
    for y, z in zip(*[x if isinstance(x, tuple | list) else [x] for x in (expected, found)], strict=True):
        np.testing.assert_array_equal(z, y)


def test_lapack_nan_where_one_matrix_fails():
    """A matrix without a decomposition gives NaN and does not affect the rest of the batch."""
    x = np.stack([2 * np.eye(2), np.array([[1.0, np.nan], [0.0, 1.0]]), -2 * np.eye(2)])
    assert np.isnan(jit(ops.cholesky)(x)).all((-2, -1)).tolist() == [False, True, True]
    for op in (ops.qr, ops.svd, ops.eigh, ops.eig):
        for out in jit(op)(x):
            assert np.isnan(np.asarray(out).reshape(3, -1)).all(-1).tolist() == [False, True, False]


def test_lapack_singular_system_is_nan():
    def solve(a):
        return ops.triangular_solve(a, np.ones(2), left_side=True, lower=True)

    for singular in (solve, lambda a: ops.solve(a, np.ones(2))):
        assert np.isnan(jit(singular)(np.array([[1.0, 0.0], [1.0, 0.0]]))).all()


def solve_by_lu(a, b, **flags):
    factors, _, permutation = ops.lu(a)
    return ops.solve_by_factors(factors, permutation, b, **flags)


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("conjugate_a", [False, True])
def test_lapack_systems_compiled_are_evaluated(transpose_a, conjugate_a):
    """Rows are swapped; matrices and columns without a solution are NaN and do not affect others."""
    matrices = np.roll(COMPLEX, 1, axis=-2)
    matrices[0, 0], matrices[0, 1, 1, 2], matrices[0, 2, 0, 0] = 1.0, np.inf, np.nan
    right = COMPLEX[..., :3].copy()
    right[1, 0, 2, 0], right[1, 1, 0, 1] = np.inf, np.nan
    for op in (ops.solve, solve_by_lu, lambda *args, **flags: ops.triangular_solve(*args, left_side=True, **flags)):

        def solve(a, b, op=op):
            return op(a, b, transpose_a=transpose_a, conjugate_a=conjugate_a)

        expected, found = solve(matrices, right), np.asarray(jit(solve)(matrices, right))
        np.testing.assert_allclose(found, expected, rtol=1e-8)
        unsolvable = 3 if op in (ops.solve, solve_by_lu) else 2  # the triangle of a matrix of ones is regular
        assert np.isnan(found).any(-2).sum() == unsolvable * 3 + 2


def test_lapack_system_and_its_transpose_share_the_factors():
    def both(a, b):
        return ops.solve(a, b), ops.solve(a, b, transpose_a=True)

    a, b = np.eye(3) + 0.1 * np.arange(9.0).reshape(3, 3), np.ones((3, 2))
    lowered = jit(both).lower(a, b)
    assert lowered.as_text().count("getrf") == 2
    assert len(re.findall(r'custom_call_target="\w*getrf', lowered.compile().as_text())) == 1
    for out, matrix in zip(lowered.compile()(a, b), (a, a.T), strict=True):
        np.testing.assert_allclose(matrix @ np.asarray(out), b)


@pytest.mark.parametrize("transpose_a", [False, True])
def test_lapack_factors_are_permuted_by_no_product(transpose_a):
    a, b = np.eye(3) + 0.1 * np.arange(9.0).reshape(3, 3), np.ones((3, 2))
    assert "dot_general" not in jit(partial(solve_by_lu, transpose_a=transpose_a)).lower(a, b).as_text()


@pytest.mark.parametrize("first", ["lawful", "jax"])
def test_lapack_works_beside_jax(first):
    pytest.importorskip("jax")
    mine = "import numpy as np; from lawful import ops; from lawful.staging import jit; jit(ops.lu)(np.eye(2))[0]"
    theirs = "import jax, numpy as np; jax.jit(jax.lax.linalg.lu)(np.eye(2, dtype='float32'))[0].block_until_ready()"
    lines = [mine, theirs, mine] if first == "lawful" else [theirs, mine, theirs]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True, timeout=120)


# Functions of one square matrix that call routines of LAPACK, some of them the same routine with other options.
SHARED = {
    "cholesky": lambda x: ops.cholesky(x, symmetrize_input=False),
    "det": ops.det,
    "eig": lambda x: ops.eig(x)[0],
    "eigh": ops.eigh,
    "eigh of the upper triangle": lambda x: ops.eigh(x, lower=False, symmetrize_input=False),
    "eigh of the lower triangle": lambda x: ops.eigh(x, lower=True, symmetrize_input=False),
    "hessenberg": ops.hessenberg,
    "lu": ops.lu,
    "qr": ops.qr,
    "schur": lambda x: ops.schur(x)[0],
    "singular values": lambda x: ops.svd(x, compute_uv=False),
    "slogdet": ops.slogdet,
    "solve": lambda x: ops.solve(x, np.arange(8.0).reshape(4, 2)),
    "solve of the transpose": lambda x: ops.solve(x, np.arange(8.0).reshape(4, 2), transpose_a=True),
    "svd": lambda x: ops.svd(x, full_matrices=False)[1],
    "triangular_solve": lambda x: ops.triangular_solve(x, np.eye(4), left_side=True, lower=True),
    "triangular_solve by the upper triangle": lambda x: ops.triangular_solve(x, np.eye(4), left_side=True),
    "triangular_solve on the right": lambda x: ops.triangular_solve(x, np.eye(4), lower=True, transpose_a=True),
    "tridiagonal": ops.tridiagonal,
}


def test_lapack_calls_of_one_matrix_are_told_apart():
    """XLA computes equal calls once, and does not compare the layouts of their results."""
    x = SQUARE[0, 0]
    found = jit(lambda x: {name: function(x) for name, function in SHARED.items()})(x)
    for name, function in SHARED.items():
        for y, z in zip(tree.leaves(jit(function)(x)), tree.leaves(found[name]), strict=True):
            np.testing.assert_allclose(z, y, rtol=1e-9, atol=1e-10, err_msg=name)
