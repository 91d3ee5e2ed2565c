"""Special functions, distributions, convolution: what needs no SciPy."""

import math
from typing import Any

import numpy
import pytest

import lawful.autograd.numpy as np
from lawful.autograd import grad, jacobian
from lawful.autograd.scipy import linalg, special
from lawful.autograd.scipy.misc import logsumexp
from lawful.autograd.scipy.signal import convolve
from lawful.autograd.scipy.stats import beta, chi2, dirichlet, expon, gamma, multivariate_normal, norm, poisson, t
from lawful.autograd.test_util import check_grads

FUNCTIONS = [
    (special.gammainc, (2.0, 1.5)),
    (special.gammaincc, (2.0, 1.5)),
    (special.betainc, (2.0, 3.0, 0.4)),
    (special.beta, (2.0, 3.0)),
    (special.betaln, (2.0, 3.0)),
    (special.gamma, (2.5,)),
    (special.rgamma, (2.5,)),
    (special.rgamma, (-2.5,)),
    (special.rgamma, (-2.0,)),
    (special.gammaln, (2.5,)),
    (special.psi, (2.5,)),
    (special.erf, (0.5,)),
    (special.erfc, (0.5,)),
    (special.erfinv, (0.5,)),
    (special.erfcinv, (0.5,)),
    (special.expit, (0.5,)),
    (special.logit, (0.4,)),
    (special.i0, (0.5,)),
    (special.i1, (0.5,)),
    (norm.cdf, (0.5, 0.1, 2.0)),
    (norm.logsf, (0.5, 0.1, 2.0)),
    (t.cdf, (0.5, 3.0, 0.1, 2.0)),
    (t.cdf, (5.0, 3.0, 0.1, 2.0)),
    (t.logcdf, (-5.0, 3.0, 0.1, 2.0)),
    (t.logsf, (0.5, 3.0, 0.1, 2.0)),
    (t.logpdf, (0.5, 3.0, 0.1, 2.0)),
    (chi2.logpdf, (1.5, 3.0)),
    (chi2.cdf, (1.5, 3.0)),
    (gamma.cdf, (1.5, 2.0)),
    (beta.cdf, (0.4, 2.0, 3.0)),
    (expon.logpdf, (0.4, 0.1, 2.0)),
]


@pytest.mark.parametrize(("function", "args"), FUNCTIONS, ids=lambda x: getattr(x, "__name__", None))
def test_derivatives_in_every_argument(function: Any, args: tuple[float, ...]) -> None:
    check_grads(function, tuple(range(len(args))))(*args)


def test_t_cdf_at_zero() -> None:
    assert abs(grad(t.cdf)(0.0, 3.0) - t.pdf(0.0, 3.0)) < 1e-12
    assert grad(t.cdf, 1)(0.0, 3.0) == 0.0
    assert grad(grad(t.cdf))(0.0, 3.0) == 0.0
    x = numpy.array([-1e-20, 1e-8, 1e-3])
    assert numpy.allclose(jacobian(t.cdf)(x, 3.0), numpy.diag(t.pdf(x, 3.0)), rtol=1e-10)


def test_poisson_by_its_mean() -> None:
    for function in (poisson.logpmf, poisson.pmf, poisson.cdf):
        check_grads(function, 1)(3, 2.5)


def test_dirichlet() -> None:
    x, alpha = numpy.array([0.2, 0.3, 0.5]), numpy.array([1.5, 2.0, 3.0])
    assert abs(dirichlet.pdf(x, alpha) - math.exp(dirichlet.logpdf(x, alpha))) < 1e-12
    value = math.lgamma(6.5) - sum(map(math.lgamma, alpha)) + numpy.sum((alpha - 1.0) * numpy.log(x))
    assert abs(dirichlet.logpdf(x, alpha) - value) < 1e-12
    assert numpy.allclose(grad(dirichlet.logpdf)(x, alpha), (alpha - 1.0) / x)
    check_grads(dirichlet.logpdf, 1)(x, alpha)


def test_multivariate_normal() -> None:
    x, mean = numpy.array([0.3, -0.2]), numpy.array([0.1, 0.4])
    root = numpy.array([[1.0, 0.0], [0.5, 2.0]])
    f = lambda x, mean, root: multivariate_normal.logpdf(x, mean, root @ root.T)  # noqa: E731
    check_grads(f, (0, 1, 2))(x, mean, root)
    check_grads(lambda root: multivariate_normal.entropy(mean, root @ root.T))(root)
    singular = numpy.array([[1.0, 1.0], [1.0, 1.0]])
    by_x = grad(lambda x: multivariate_normal.logpdf(x, mean, singular, allow_singular=True))
    assert numpy.allclose(by_x(mean + 2.0), numpy.linalg.pinv(singular) @ [-2.0, -2.0])
    assert multivariate_normal.logpdf(x, mean, singular, allow_singular=True) == -math.inf
    regular = root @ root.T
    found = multivariate_normal.logpdf(x, mean, regular, allow_singular=True)
    assert abs(found - multivariate_normal.logpdf(x, mean, regular)) < 1e-12
    with pytest.raises(ValueError, match="expected a covariance matrix that is not differentiated"):
        grad(lambda c: multivariate_normal.logpdf(x, mean, c, allow_singular=True))(singular)
    assert abs(multivariate_normal.logpdf(0.5, 0.2, 4.0) - norm.logpdf(0.5, 0.2, 2.0)) < 1e-12


def test_linalg_of_tracers() -> None:
    matrix = numpy.array([[4.0, 1.0], [0.5, 3.0]])
    b = numpy.array([1.0, 2.0])
    check_grads(lambda a: linalg.solve_triangular(a, b, lower=True))(matrix)
    check_grads(lambda a: linalg.solve_triangular(a, b[:, None], trans="T"))(matrix)
    check_grads(lambda a: linalg.cholesky(a @ a.T))(matrix)
    check_grads(lambda a: linalg.inv(a))(matrix)
    check_grads(lambda a: linalg.det(a))(matrix)
    check_grads(lambda a, b: linalg.solve(a, b), (0, 1))(matrix, b)
    assert numpy.allclose(linalg.solve_triangular(matrix, b, lower=True)[0], 0.25)


@pytest.mark.parametrize("mode", ["full", "valid", "same"])
@pytest.mark.parametrize(
    ("shape_a", "shape_b", "axes", "dot_axes"),
    [
        ((5,), (3,), None, None),
        ((3,), (5,), None, None),
        ((4, 5), (2, 3), None, None),
        ((2, 5, 3), (4, 3, 2), ([1], [1]), ([0], [2])),
        ((2, 3, 6), (3, 4), ([2], [1]), ([1], [0])),
        ((2, 3), (3, 2), ([], []), ([0], [1])),
    ],
)
def test_convolve(mode: str, shape_a: Any, shape_b: Any, axes: Any, dot_axes: Any) -> None:
    a = numpy.arange(1.0, 1.0 + math.prod(shape_a)).reshape(shape_a)
    b = numpy.arange(2.0, 2.0 + math.prod(shape_b)).reshape(shape_b) ** 0.5
    value = convolve(a, b, axes, dot_axes, mode)
    if len(shape_a) == 1 and len(shape_b) == 1 and (mode != "same" or len(a) >= len(b)):
        assert numpy.allclose(value, numpy.convolve(a, b, mode))
    check_grads(lambda a, b: convolve(a, b, axes, dot_axes, mode), (0, 1), order=1)(a, b)


def test_convolve_refuses_unknown_modes() -> None:
    with pytest.raises(ValueError, match="convolve: expected the mode"):
        convolve(numpy.ones(3), numpy.ones(2), mode="circular")
    with pytest.raises(ValueError, match="expected one array inside of the other"):
        convolve(numpy.ones((3, 2)), numpy.ones((2, 3)), mode="valid")


def test_logsumexp() -> None:
    x = numpy.array([[1.0, 2.0], [3.0, 4.0]])
    check_grads(lambda x: logsumexp(x, axis=1))(x)
    assert numpy.allclose(special.logsumexp(x), np.log(np.sum(np.exp(x))))
