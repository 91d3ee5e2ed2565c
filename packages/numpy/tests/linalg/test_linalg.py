"""`lawful.numpy.linalg`: NumPy's errors, promotion and values, its own functions of tracers, singular matrices."""

import importlib

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, hessian, jacrev, jvp
from lawful.batching import vmap
from lawful.core import Zero, get_aval
from lawful.staging import eval_shape, jit

linalg = importlib.import_module("lawful.numpy.linalg")

SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])
ONES = np.ones(2)


def values(function, *args):
    """Returns the result of a function with traced arguments."""
    return jvp(function, args, tuple(np.zeros_like(x) for x in args))[0]


@pytest.mark.parametrize("name", ["inv", "det", "slogdet", "cholesky", "eigh", "eigvalsh", "eig", "eigvals"])
@pytest.mark.parametrize("shape", [(2, 3), (3,), ()])
def test_linalg_matrices_not_square(name, shape):
    for call in (getattr(linalg, name), lambda x: eval_shape(getattr(linalg, name), x)):
        with pytest.raises(np.linalg.LinAlgError, match=f"{name}: expected square matrices"):
            call(np.ones(shape))


def test_linalg_shape_errors():
    with pytest.raises(np.linalg.LinAlgError, match="square"):
        linalg.solve(np.ones((2, 3)), ONES)
    with pytest.raises(ValueError, match="as many rows"):
        linalg.solve(np.eye(2), np.ones(3))
    with pytest.raises(ValueError, match="mode"):
        linalg.qr(np.eye(2), mode="full")
    with pytest.raises(ValueError, match="UPLO"):
        linalg.eigh(np.eye(2), "M")
    with pytest.raises(np.linalg.LinAlgError, match="as many rows of b"):
        linalg.lstsq(np.eye(2), np.ones(3))
    with pytest.raises(TypeError, match="integer exponent"):
        linalg.matrix_power(np.eye(2), 0.5)
    with pytest.raises(ValueError, match="ord of matrices"):
        linalg.norm(np.eye(2), 3)
    with pytest.raises(ValueError, match="number as ord"):
        linalg.norm(ONES, "fro")
    with pytest.raises(np.exceptions.AxisError):
        linalg.norm(ONES, axis=1)
    with pytest.raises(ValueError, match="3 elements"):
        linalg.cross(ONES, ONES)
    with pytest.raises(ValueError, match="at least two"):
        linalg.multi_dot([np.eye(2)])
    with pytest.raises(np.linalg.LinAlgError, match="matrices with elements"):
        linalg.cond(np.ones((0, 0)))


@pytest.mark.parametrize("name", ["inv", "det", "eigh", "svd", "qr", "pinv", "cholesky"])
def test_linalg_refuses_float16(name):
    with pytest.raises(TypeError, match="float16"):
        getattr(linalg, name)(np.eye(2, dtype="float16"))


def test_linalg_singular_matrices():
    """A singular matrix raises LinAlgError eagerly, and gives values that are not finite when traced."""
    for name, args in {"inv": (SINGULAR,), "solve": (SINGULAR, ONES), "cholesky": (-SINGULAR,)}.items():
        with pytest.raises(np.linalg.LinAlgError, match=f": {name}: expected matrices that NumPy accepts"):
            getattr(linalg, name)(*args)
        assert not np.isfinite(values(getattr(linalg, name), *args)).any()
    assert values(linalg.det, SINGULAR) == 0
    assert (
        values(
            linalg.cond,
            np.zeros((2, 2)),
        )
        == np.inf
    )
    sign, logabsdet = linalg.slogdet(np.zeros((4, 4)))
    assert sign == 0
    assert logabsdet == -np.inf


def test_linalg_integers_become_floats():
    x = np.array([[2, 1], [1, 3]])
    for name in ("inv", "det", "cholesky", "eigvalsh", "svdvals", "pinv", "norm", "cond"):
        assert getattr(linalg, name)(x).dtype == np.float64
        assert eval_shape(getattr(linalg, name), x).dtype == np.float64
    assert linalg.matrix_power(x, 3).dtype == np.int64


def test_linalg_results_are_named_tuples():
    x = np.array([[2.0, 1.0], [1.0, 3.0]])
    assert linalg.eigh(x).eigenvalues.shape == linalg.eig(x).eigenvalues.shape == (2,)
    assert linalg.svd(x).Vh.shape == linalg.qr(x).Q.shape == (2, 2)
    assert linalg.slogdet(x).sign == 1


def test_numpy_linalg_functions_take_tracers():
    x = np.array([[2.0, 1.0], [1.0, 3.0]])
    np.testing.assert_allclose(grad(lambda a: np.linalg.slogdet(a)[1])(x), np.linalg.inv(x).T)
    np.testing.assert_allclose(grad(lambda a: np.sum(np.linalg.eigvalsh(a)))(x), np.eye(2), atol=1e-15)
    np.testing.assert_allclose(grad(lambda a: np.linalg.norm(a))(x), x / np.linalg.norm(x))


def test_solve_batches():
    a = np.random.default_rng(0).normal(size=(3, 1, 4, 4)) + 4 * np.eye(4)
    b = np.random.default_rng(1).normal(size=(2, 4, 5))
    np.testing.assert_allclose(values(linalg.solve, a, b), np.linalg.solve(a, b))
    np.testing.assert_allclose(values(linalg.solve, a, b[0, :, 0]), np.linalg.solve(a, b[0, :, 0]))


def test_eigh_cholesky_symmetrized_or_one_triangle():
    x = np.array([[4.0, 100.0], [2.0, 5.0]])
    np.testing.assert_allclose(linalg.cholesky(x, symmetrize_input=False), np.linalg.cholesky(x))
    np.testing.assert_allclose(linalg.eigh(x, "L", False)[0], np.linalg.eigh(x, "L")[0])
    np.testing.assert_allclose(linalg.eigh(x, "U", False)[0], np.linalg.eigh(x, "U")[0])
    np.testing.assert_allclose(linalg.eigh(x)[0], np.linalg.eigvalsh((x + x.T) / 2))


def cofactors(a):
    """Returns the derivative of the determinant, by determinants of minors."""
    n = len(a)
    minors = [[np.delete(np.delete(a, i, 0), j, 1) for j in range(n)] for i in range(n)]
    return np.array([[(-1) ** (i + j) * np.linalg.det(minors[i][j]) for j in range(n)] for i in range(n)])


def of_rank(rank, n, seed=0):
    """Returns a matrix of integers of some rank, at most."""
    random = np.random.default_rng(seed)
    return (random.integers(-2, 3, (n, rank)) @ random.integers(-2, 3, (rank, n))).astype(float)


class TestDerivativesOfDeterminants:
    def test_det_derivatives_of_few_rows(self):
        np.testing.assert_allclose(grad(linalg.det)(SINGULAR), [[4.0, -2.0], [-2.0, 1.0]])
        np.testing.assert_allclose(grad(linalg.det)(np.zeros((3, 3))), np.zeros((3, 3)))

    @pytest.mark.parametrize("seed", range(2))
    @pytest.mark.parametrize(("n", "rank"), [(n, rank) for n in (4, 6) for rank in range(n + 1)])
    def test_det_derivatives_of_any_rank(self, n, rank, seed):
        a = of_rank(rank, n, seed)
        want = cofactors(a)
        scale = np.linalg.norm(a, 2) ** (n - 1) + 1.0  # the error from rounding of the matrix
        runs = grad(linalg.det), jit(grad(linalg.det), backend="numpy"), lambda a: vmap(grad(linalg.det))(a[None])[0]
        for run in runs:
            np.testing.assert_allclose(run(a), want, atol=1e-13 * scale)
        # In a stack with a regular matrix, which takes the other branch.
        pair = vmap(grad(linalg.det))(np.stack([a, np.eye(n)]))
        np.testing.assert_allclose(pair, [want, np.eye(n)], atol=1e-13 * scale)

    @pytest.mark.parametrize("rank", range(5))
    def test_det_derivatives_of_higher_order(self, rank):
        """The determinant along a line is a polynomial; its coefficients give the derivatives."""
        a, direction = of_rank(rank, 4), np.random.default_rng(1).normal(size=(4, 4))
        points = np.linspace(-1, 1, 5)
        want = np.polyfit(points, [np.linalg.det(a + t * direction) for t in points], 4)[::-1]
        scale = np.abs(want).max()

        def along(t):
            return linalg.det(a + t * direction)

        def tangent(t):
            return jvp(along, (t,), (1.0,))[1]

        assert grad(along)(0.0) == pytest.approx(want[1], abs=1e-11 * scale)
        for second in (grad(grad(along)), grad(tangent), lambda t: jvp(tangent, (t,), (1.0,))[1]):
            assert second(0.0) / 2 == pytest.approx(want[2], abs=1e-11 * scale)
        assert grad(grad(grad(along)))(0.0) / 6 == pytest.approx(want[3], abs=1e-11 * scale)

    def test_det_derivatives_of_complex_matrices(self):
        random = np.random.default_rng(0)
        left, right = random.normal(size=(2, 5, 4)), random.normal(size=(2, 4, 5))
        a = (left[0] + 1j * left[1]) @ (right[0] + 1j * right[1])
        direction = random.normal(size=(5, 5)) + 1j * random.normal(size=(5, 5))
        tangent = jvp(linalg.det, (a,), (direction,))[1]
        np.testing.assert_allclose(tangent, np.sum(cofactors(a) * direction), rtol=1e-11)

    @pytest.mark.filterwarnings("ignore::RuntimeWarning")
    def test_slogdet_derivatives_of_singular_matrices(self):
        assert not np.isfinite(grad(lambda a: linalg.slogdet(a)[1])(SINGULAR)).any()


ROTATION = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 5)))[0]
MATRICES = {
    "repeated singular values": ROTATION[:, :4] @ np.diag([2.0, 2.0, 2.0, 1.0]),
    "orthonormal columns": ROTATION[:, :4],
    "one singular value of zero": ROTATION[:, :4] @ np.diag([2.0, 2.0, 1.0, 0.0]),
    "three singular values of zero": ROTATION[:, :4] @ np.diag([3.0, 0.0, 0.0, 0.0]),
    "the identity": np.eye(4),
    "a projection": np.diag([1.0, 1.0, 0.0, 0.0]),
    "zero": np.zeros((3, 4)),
}


def golub_pereyra(a, a_dot):
    """Returns the derivative of the pseudo-inverse where the rank stays the same (Golub and Pereyra 1973, 4.12)."""
    p = np.linalg.pinv(a)
    (m, n), a_star, p_star = a.shape, a_dot.conj().T, p.conj().T
    return -p @ a_dot @ p + p @ p_star @ a_star @ (np.eye(m) - a @ p) + (np.eye(n) - p @ a) @ a_star @ p_star @ p


class TestDerivativesOfPseudoInverses:
    @pytest.mark.parametrize("name", MATRICES)
    @pytest.mark.parametrize("turned", [1.0, np.exp(0.3j)])
    def test_pinv_derivatives_with_repeated_singular_values(self, name, turned):
        for a in (MATRICES[name] * turned, MATRICES[name].T * turned):
            a_dot = np.random.default_rng(1).normal(size=a.shape) * turned**2
            value, tangent = jvp(linalg.pinv, (a,), (a_dot,))
            np.testing.assert_allclose(value, np.linalg.pinv(a), atol=1e-14)
            np.testing.assert_allclose(tangent, golub_pereyra(a, a_dot), atol=1e-13)

    def test_pinv_second_derivatives(self):
        random = np.random.default_rng(0)
        left, right = random.normal(size=(2, 5, 3)), random.normal(size=(2, 3, 4))

        def along(t):  # of rank 3 throughout
            return linalg.pinv((left[0] + t * left[1]) @ (right[0] + t * right[1]), rcond=1e-8)

        h = 1e-3
        quotient = (along(h) - 2 * along(0.0) + along(-h)) / h**2
        second = jvp(lambda t: jvp(along, (t,), (1.0,))[1], (0.0,), (1.0,))[1]
        np.testing.assert_allclose(second, quotient, rtol=1e-3, atol=1e-3 * np.abs(quotient).max())

    def test_lstsq_derivatives(self):
        a, b = np.eye(4)[:, :3], np.arange(4.0)
        a_dot = np.random.default_rng(0).normal(size=a.shape)
        solution, tangent = jvp(lambda a: linalg.lstsq(a, b)[0], (a,), (a_dot,))
        np.testing.assert_allclose(solution, [0.0, 1.0, 2.0])
        np.testing.assert_allclose(tangent, golub_pereyra(a, a_dot) @ b, atol=1e-15)


def test_linalg_has_the_array_api_extension():
    names = [
        "cholesky",
        "cross",
        "det",
        "diagonal",
        "eigh",
        "eigvalsh",
        "inv",
        "matmul",
        "matrix_norm",
        "matrix_power",
        "matrix_rank",
        "matrix_transpose",
        "outer",
        "pinv",
        "qr",
        "slogdet",
        "solve",
        "svd",
        "svdvals",
        "tensordot",
        "trace",
        "vecdot",
        "vector_norm",
    ]
    assert set(names) <= set(linalg.__all__)
    assert set(np.linalg.__all__) <= set(linalg.__all__)
    assert ops.qr is not linalg.qr


def minor(a, rows, columns):
    """Returns the determinant of a matrix without some rows and columns."""
    return np.linalg.det(np.delete(np.delete(a, rows, 0), columns, 1))


def second_minors(a):
    """Returns the second derivatives of the determinant."""
    size = len(a)
    out = np.zeros((size,) * 4)
    for i, j, k, m in np.ndindex(out.shape):
        if i != k and j != m:
            sign = (-1) ** (i + j + k + m) * (1 if (i < k) == (j < m) else -1)
            out[i, j, k, m] = sign * minor(a, [i, k], [j, m])
    return out


# Compiled once, and by NumPy: other compilers take 10 s; tests/derivatives/test_extreme_matrices.py has them.
of_first_order = (grad(np.linalg.det), jit(grad(np.linalg.det), backend="numpy"))
of_second_order = (
    hessian(np.linalg.det),
    jit(hessian(np.linalg.det), backend="numpy"),
    jacrev(grad(np.linalg.det)),
)


@pytest.mark.parametrize("smallest", [1.0, 1e-2, 1e-4, 1e-7, 1e-10, 1e-13, 0.0])
def test_det_derivatives_near_a_singular_matrix(smallest):
    u, _, vh = np.linalg.svd(np.random.default_rng(0).normal(size=(5, 5)))
    a = u @ np.diag([2.0, 1.5, 1.0, 1.0, smallest]) @ vh
    first = np.array([[(-1) ** (i + j) * minor(a, [i], [j]) for j in range(5)] for i in range(5)])
    for derivative in of_first_order:
        np.testing.assert_allclose(derivative(a), first, rtol=1e-10, atol=1e-10)
    second = second_minors(a)
    for derivative in of_second_order:
        np.testing.assert_allclose(derivative(a), second, rtol=1e-8, atol=1e-8)


def test_slogdet_sign_has_a_zero_tangent():
    """Nothing is recorded for it."""
    x = np.array([[2.0, 1.0], [0.5, 3.0]])
    primals, tangents = ops.slogdet_p.rule("jvp")((x,), (np.ones((2, 2)),))
    assert type(tangents[0]) is Zero
    assert tangents[0].aval == get_aval(primals[0]).to_tangent_aval()
    np.testing.assert_allclose(tangents[1], np.trace(np.linalg.solve(x, np.ones((2, 2)))))
