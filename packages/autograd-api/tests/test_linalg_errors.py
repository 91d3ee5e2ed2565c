"""Functions of matrices that raise LinAlgError for values, and so for tracers whose values are known."""

from typing import Any

import numpy
import pytest

import lawful.autograd.numpy as np
from lawful.autograd import grad, hessian, jacobian, make_jvp, make_vjp, value_and_grad
from lawful.autograd.scipy import linalg
from lawful.autograd.scipy.stats import multivariate_normal
from lawful.core import LawfulError, plain
from lawful.staging import jit

SINGULAR = numpy.array([[1.0, 2.0], [2.0, 4.0]])
NEGATIVE = -numpy.eye(2)
NAN = numpy.full((3, 3), numpy.nan)
B = numpy.array([1.0, 2.0])

BAD: dict[str, tuple[Any, Any]] = {
    "cholesky": (np.linalg.cholesky, NEGATIVE),
    "inv": (np.linalg.inv, SINGULAR),
    "solve": (lambda a: np.linalg.solve(a, B), SINGULAR),
    "solve of a traced vector": (lambda a: np.linalg.solve(SINGULAR, a[0]), SINGULAR),
    "tensorinv": (lambda a: np.linalg.tensorinv(a, ind=1), SINGULAR),
    "tensorsolve": (lambda a: np.linalg.tensorsolve(a, B), SINGULAR),
    "matrix_power": (lambda a: np.linalg.matrix_power(a, -1), SINGULAR),
    "eigh": (lambda a: np.linalg.eigh(a)[0], NAN),
    "eigvals": (lambda a: np.real(np.linalg.eigvals(a)), NAN),
    "eig": (lambda a: np.real(np.linalg.eig(a)[0]), NAN),
    "svd": (lambda a: np.linalg.svd(a)[1], NAN),
    "svdvals": (lambda a: np.linalg.svd(a, compute_uv=False), NAN),
    "pinv": (np.linalg.pinv, NAN),
    "norm": (lambda a: np.linalg.norm(a, 2), NAN),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("f", "matrix"), BAD.values(), ids=BAD)
def test_linalg_error_of_known_values(f: Any, matrix: Any) -> None:
    def number(a: Any) -> Any:
        return np.sum(f(a))

    with pytest.raises(numpy.linalg.LinAlgError):
        number(matrix)
    for operator in (grad, value_and_grad, jacobian, hessian, make_vjp):
        with pytest.raises(numpy.linalg.LinAlgError) as error:
            operator(number)(matrix)
        assert not isinstance(error.value, LawfulError)
    with pytest.raises(numpy.linalg.LinAlgError):
        make_jvp(number)(matrix)(matrix)
    with plain(), pytest.raises(numpy.linalg.LinAlgError):
        grad(number)(matrix)
    assert numpy.isnan(jit(grad(number), backend="numpy")(matrix)).any()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_linalg_error_of_scipys_functions() -> None:
    pytest.importorskip("scipy")  # without it there is nothing that raises
    for f, matrix in [
        (linalg.cholesky, NEGATIVE),
        (linalg.inv, SINGULAR),
        (lambda a: linalg.solve(a, B), SINGULAR),
        (lambda a: linalg.solve_triangular(a, B), numpy.array([[1.0, 2.0], [0.0, 0.0]])),
        (lambda a: multivariate_normal.logpdf(B, B, a), NEGATIVE),
    ]:
        with pytest.raises(ValueError):  # noqa: PT011  # LinAlgError, or its base class: the words are SciPy's
            grad(lambda a, f=f: np.sum(f(a)))(matrix)


def test_linalg_fallback_of_a_program() -> None:
    def f(a: Any) -> Any:
        try:
            return np.sum(np.linalg.cholesky(a))
        except numpy.linalg.LinAlgError:
            return np.sum(a * a)

    assert grad(f)(NEGATIVE).tolist() == (2 * NEGATIVE).tolist()


def test_linalg_of_infinite_results_without_an_error() -> None:
    b = numpy.array([numpy.inf, 1.0])
    value, gradient = value_and_grad(lambda b: np.linalg.solve(np.eye(2), b)[1])(b)
    expected = numpy.linalg.solve(numpy.eye(2), b)[1]
    numpy.testing.assert_array_equal(value, expected)
    assert gradient.shape == (2,)
