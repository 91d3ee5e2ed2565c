"""`lawful.numpy.linalg`: NumPy's errors, promotion and values, its own functions of tracers, singular matrices."""

import importlib

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, jvp
from lawful.staging import eval_shape

linalg = importlib.import_module("lawful.numpy.linalg")

SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])
ONES = np.ones(2)


def values(function, *args):
    """Returns what a function gives where its arguments are traced."""
    return jvp(function, args, tuple(np.zeros_like(x) for x in args))[0]


@pytest.mark.parametrize("name", ["inv", "det", "slogdet", "cholesky", "eigh", "eigvalsh", "eig", "eigvals"])
@pytest.mark.parametrize("shape", [(2, 3), (3,), ()])
def test_matrices_that_are_not_square(name, shape):
    for call in (getattr(linalg, name), lambda x: eval_shape(getattr(linalg, name), x)):
        with pytest.raises(np.linalg.LinAlgError, match=f"{name}: expected square matrices"):
            call(np.ones(shape))


def test_arguments_that_do_not_fit():
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
def test_float16_is_refused_as_by_numpy(name):
    with pytest.raises(TypeError, match="float16"):
        getattr(linalg, name)(np.eye(2, dtype="float16"))


def test_singular_matrices_raise_eagerly_and_are_not_finite_traced():
    for name, args in {"inv": (SINGULAR,), "solve": (SINGULAR, ONES), "cholesky": (-SINGULAR,)}.items():
        with pytest.raises(np.linalg.LinAlgError):
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


def test_integers_become_floats():
    x = np.array([[2, 1], [1, 3]])
    for name in ("inv", "det", "cholesky", "eigvalsh", "svdvals", "pinv", "norm", "cond"):
        assert getattr(linalg, name)(x).dtype == np.float64
        assert eval_shape(getattr(linalg, name), x).dtype == np.float64
    assert linalg.matrix_power(x, 3).dtype == np.int64


def test_results_have_names():
    x = np.array([[2.0, 1.0], [1.0, 3.0]])
    assert linalg.eigh(x).eigenvalues.shape == linalg.eig(x).eigenvalues.shape == (2,)
    assert linalg.svd(x).Vh.shape == linalg.qr(x).Q.shape == (2, 2)
    assert linalg.slogdet(x).sign == 1


def test_functions_of_numpy_take_tracers():
    x = np.array([[2.0, 1.0], [1.0, 3.0]])
    np.testing.assert_allclose(grad(lambda a: np.linalg.slogdet(a)[1])(x), np.linalg.inv(x).T)
    np.testing.assert_allclose(grad(lambda a: np.sum(np.linalg.eigvalsh(a)))(x), np.eye(2), atol=1e-15)
    np.testing.assert_allclose(grad(lambda a: np.linalg.norm(a))(x), x / np.linalg.norm(x))


def test_a_batch_of_systems():
    a = np.random.default_rng(0).normal(size=(3, 1, 4, 4)) + 4 * np.eye(4)
    b = np.random.default_rng(1).normal(size=(2, 4, 5))
    np.testing.assert_allclose(values(linalg.solve, a, b), np.linalg.solve(a, b))
    np.testing.assert_allclose(values(linalg.solve, a, b[0, :, 0]), np.linalg.solve(a, b[0, :, 0]))


def test_symmetrized_or_one_triangle():
    x = np.array([[4.0, 100.0], [2.0, 5.0]])
    np.testing.assert_allclose(linalg.cholesky(x, symmetrize_input=False), np.linalg.cholesky(x))
    np.testing.assert_allclose(linalg.eigh(x, "L", False)[0], np.linalg.eigh(x, "L")[0])
    np.testing.assert_allclose(linalg.eigh(x, "U", False)[0], np.linalg.eigh(x, "U")[0])
    np.testing.assert_allclose(linalg.eigh(x)[0], np.linalg.eigvalsh((x + x.T) / 2))


def test_determinants_of_singular_matrices_have_derivatives():
    np.testing.assert_allclose(grad(linalg.det)(SINGULAR), [[4.0, -2.0], [-2.0, 1.0]])
    np.testing.assert_allclose(grad(linalg.det)(np.zeros((3, 3))), np.zeros((3, 3)))


def test_the_whole_array_api_extension_is_there():
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
