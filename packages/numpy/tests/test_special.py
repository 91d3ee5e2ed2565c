"""`lawful.special`: identities, arguments, errors; derivatives where formulas meet 0 · ∞."""

import math

import numpy as np
import pytest

from lawful import special
from lawful.autodiff import grad
from lawful.batching import vmap
from lawful.core import ArgumentTypeError, ArgumentValueError
from lawful.ops import AxisError
from lawful.special import stats
from lawful.special.stats import beta, expon, gamma, multivariate_normal, norm, poisson, uniform

A = np.random.default_rng(0).normal(size=(2, 3, 4)) * 3


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), (), (-1, 0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_logsumexp_is_the_formula_over_any_axes(axis, keepdims):
    b = np.cos(A)
    near = {"rtol": 1e-13}
    out = special.logsumexp(A, axis=axis, keepdims=keepdims)
    np.testing.assert_allclose(out, np.log(np.sum(np.exp(A), axis=axis, keepdims=keepdims)), **near)
    out, sign = special.logsumexp(A, axis, b, keepdims, return_sign=True)
    total = np.sum(b * np.exp(A), axis=axis, keepdims=keepdims)
    np.testing.assert_allclose(sign * np.exp(out), total, **near)
    np.testing.assert_array_equal(sign, np.sign(total))
    where = A > 0
    out = special.logsumexp(A, axis, keepdims=keepdims, where=where)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(out, np.log(np.sum(np.exp(A), axis=axis, keepdims=keepdims, where=where)), **near)


def test_logsumexp_of_large_infinite_and_no_numbers():
    assert special.logsumexp(np.array([1e4, 1e4])) == 1e4 + math.log(2)
    assert special.logsumexp(np.array([-1e4, -1e4])) == -1e4 + math.log(2)
    for x, expected in (([-np.inf, -np.inf], -np.inf), ([np.inf, 1], np.inf), ([np.nan, 1], np.nan), ([], -np.inf)):
        np.testing.assert_array_equal(special.logsumexp(np.array(x, float)), expected)
    assert np.isnan(special.logsumexp(np.zeros(2), b=np.array([1.0, -3.0])))
    assert special.logsumexp(np.zeros(2), b=np.array([1.0, -3.0]), return_sign=True) == (math.log(2), -1.0)
    assert special.logsumexp(np.array([np.inf, 1.0]), b=np.array([0.0, 1.0])) == 1.0
    assert special.logsumexp(np.array([1, 2], np.int32)).dtype == np.float64
    z = np.array([1 + 2j, 3 - 1j])
    np.testing.assert_allclose(special.logsumexp(z), np.log(np.sum(np.exp(z))))


def test_logsumexp_refuses_bad_axes():
    with pytest.raises(AxisError, match="logsumexp"):
        special.logsumexp(A, axis=3)
    with pytest.raises(ArgumentValueError, match="different axes"):
        special.logsumexp(A, axis=(0, 0))


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2)])
def test_softmax_sums_to_one(axis):
    out = special.softmax(A * 300, axis)
    np.testing.assert_allclose(np.sum(out, axis=axis), np.ones(np.sum(A, axis=axis).shape))
    np.testing.assert_allclose(np.exp(special.log_softmax(A * 300, axis)), out, atol=1e-300)
    np.testing.assert_allclose(grad(lambda a: special.softmax(a, axis).sum())(A), np.zeros(A.shape), atol=1e-14)
    np.testing.assert_allclose(grad(lambda a: special.logsumexp(a, axis).sum())(A), special.softmax(A, axis))


def test_expit_and_logit():
    x = np.array([-800.0, -1.0, 0.0, 1.0, 30.0])
    np.testing.assert_allclose(special.logit(special.expit(x[1:])), x[1:], rtol=1e-2)
    np.testing.assert_array_equal(special.logit(np.array([0.0, 1.0, 2.0])), [-np.inf, np.inf, np.nan])
    assert grad(special.logit)(0.25) == pytest.approx(1 / (0.25 * 0.75))
    with pytest.raises(ArgumentTypeError, match="logit"):
        special.logit(1j)


def test_gamma_has_signs_and_poles():
    x = np.array([-2.5, -1.5, -0.5, 0.5, 4.0])
    np.testing.assert_allclose(special.gamma(x), [math.gamma(z) for z in x], rtol=1e-13)
    np.testing.assert_array_equal(special.gamma(np.array([0.0, -0.0, -1.0, np.inf])), [np.inf, -np.inf, np.nan, np.inf])
    np.testing.assert_allclose(special.beta(-1.5, 2.25), math.gamma(-1.5) * math.gamma(2.25) / math.gamma(0.75))
    assert special.gamma(np.float32(3)).dtype == np.float32
    np.testing.assert_allclose(grad(special.gamma)(3.0), 2 * special.digamma(3.0))


def test_multigammaln():
    a = np.array([2.5, 4.0])
    expected = 1.5 * math.log(math.pi) + sum(special.gammaln(a - j / 2) for j in range(3))
    np.testing.assert_allclose(special.multigammaln(a, 3), expected)
    with pytest.raises(ArgumentValueError, match="positive dimension, got 0"):
        special.multigammaln(a, 0)
    with pytest.raises(ArgumentTypeError, match=r"static integer as d, got 1\.5"):
        special.multigammaln(a, 1.5)


def test_bessel_functions_are_smooth_at_zero():
    assert [grad(special.i0)(0.0), grad(special.i1)(0.0)] == [0.0, 0.5]
    assert special.i0(np.inf) == np.inf
    assert special.i1(-np.inf) == -np.inf
    np.testing.assert_allclose(special.i0(np.array([0.0, 2.0])), np.i0([0.0, 2.0]))


def test_special_derivatives_without_zero_times_infinity():
    assert grad(special.xlogy)(0.0, 2.0) == math.log(2)
    assert grad(special.xlogy, 1)(0.0, 2.0) == 0.0
    assert grad(special.kl_div)(0.0, 2.0) == 0.0
    assert grad(special.kl_div, 1)(0.0, 2.0) == 1.0
    assert grad(special.rel_entr)(0.0, 2.0) == 0.0
    assert grad(gamma.logpdf)(-1.0, 2.0) == grad(gamma.logpdf, 1)(-1.0, 2.0) == 0.0
    assert grad(poisson.logpmf, 1)(0, 2.0) == -1.0
    assert grad(lambda a: beta.logpdf(0.0, a, 2.0))(1.0) == -np.inf


def test_stats_pdf_integrates_to_cdf():
    x = np.linspace(0.01, 0.99, 25)
    for pdf, cdf in (
        (norm.pdf, norm.cdf),
        (lambda y: norm.pdf(y, 0.3, 0.5), lambda y: norm.cdf(y, 0.3, 0.5)),
        (lambda y: gamma.pdf(y, 2.5, 0.0, 0.5), lambda y: gamma.cdf(y, 2.5, 0.0, 0.5)),
        (lambda y: beta.pdf(y, 2.5, 0.7), lambda y: beta.cdf(y, 2.5, 0.7)),
        (expon.pdf, expon.cdf),
        (lambda y: uniform.pdf(y, 0.0, 3.0), lambda y: uniform.cdf(y, 0.0, 3.0)),
    ):
        np.testing.assert_allclose(vmap(grad(cdf))(x), pdf(x), rtol=1e-10)


def test_stats_tails_are_exact():
    np.testing.assert_allclose(norm.logcdf(-50.0), norm.logsf(50.0))
    np.testing.assert_allclose(norm.isf(norm.sf(30.0)), 30.0)
    np.testing.assert_allclose(norm.ppf(1e-300, 1.0, 2.0), 1 + 2 * -37.0470964)
    np.testing.assert_allclose(expon.cdf(1e-20), 1e-20)
    np.testing.assert_allclose(gamma.sf(800.0, 1.0), 0.0, atol=1e-300)


def test_stats_impossible_values_have_probability_zero():
    assert poisson.logpmf(np.array([-1.0, 0.5]), 2.0).tolist() == [-np.inf] * 2
    assert stats.bernoulli.logpmf(np.array([2, -1]), 0.5).tolist() == [-np.inf] * 2
    assert beta.logpdf(np.array([-0.1, 1.1]), 2.0, 2.0).tolist() == [-np.inf] * 2
    assert np.isnan(poisson.logpmf(np.nan, 2.0))
    assert np.isnan(stats.bernoulli.pmf(0, 1.5))


def test_multivariate_normal():
    random = np.random.default_rng(0)
    root = random.normal(size=(3, 3))
    cov, mean, x = root @ root.T + np.eye(3), random.normal(size=3), random.normal(size=(4, 2, 3))
    d = x - mean
    expected = (
        -0.5 * np.einsum("...i,ij,...j", d, np.linalg.inv(cov), d)
        - 0.5 * np.linalg.slogdet(cov)[1]
        - 1.5 * math.log(2 * math.pi)
    )
    np.testing.assert_allclose(multivariate_normal.logpdf(x, mean, cov), expected)
    np.testing.assert_allclose(multivariate_normal.logpdf(x, np.zeros((2, 3)), np.stack([cov, np.eye(3)]))[:, 1],
                               norm.logpdf(x[:, 1]).sum(-1))  # fmt: skip
    np.testing.assert_allclose(multivariate_normal.logpdf(0.5, 0.0, 4.0), norm.logpdf(0.5, 0.0, 2.0))
    np.testing.assert_allclose(multivariate_normal.pdf(mean, mean, 2.0), (4 * math.pi) ** -1.5)
    with pytest.raises(ArgumentValueError, match=r"shape \(..., 3, 3\), got \(2, 2\)"):
        multivariate_normal.logpdf(x, mean, np.eye(2))
    with pytest.raises(ArgumentValueError, match="allow_singular"):
        multivariate_normal.logpdf(x, mean, cov, True)


def test_special_derivatives_of_any_order():
    """The mixed second derivatives agree, in arguments for which JAX has none too."""
    for function, point in (
        (special.betainc, (2.0, 3.0, 0.4)),
        (special.gammainc, (2.0, 1.5)),
        (special.gammaincc, (2.0, 3.5)),
        (special.zeta, (2.5, 1.5)),
    ):
        n = len(point)
        hessian = np.array([[grad(grad(function, i), j)(*point) for j in range(n)] for i in range(n)])
        np.testing.assert_allclose(hessian, hessian.T, rtol=1e-11)
        h = 1e-5
        for i in range(n):
            up, down = ([z + s * h * (k == i) for k, z in enumerate(point)] for s in (1, -1))
            differences = [(grad(function, j)(*up) - grad(function, j)(*down)) / (2 * h) for j in range(n)]
            np.testing.assert_allclose(hessian[i], differences, rtol=1e-6, atol=1e-8)


# These take integers, or a keyword: `tests/derivatives/special/test_special_functions.py` has their dtypes.
OF_OTHER_ARGUMENTS = {"bernoulli", "bessel_jn", "sph_harm_y"}
OF_FLOATS = {name for name in special.__all__ if callable(getattr(special, name))} - OF_OTHER_ARGUMENTS


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("name", sorted(OF_FLOATS))
def test_special_functions_keep_the_dtype(name, dtype):
    """Also beside Python numbers."""
    x = np.array([0.25, 0.75], dtype)
    function = getattr(special, name)
    tried = 0
    for args in ((x,), (x, x), (x, x, x), (x, x, x, x), (2, x), (x, 2), (x, 2, 2), (2, 2, x), (2, 2, 2, x)):
        try:
            results = function(*args)
        except (TypeError, ValueError):  # it takes other arguments
            continue
        tried += 1
        for result in results if isinstance(results, tuple) else (results,):
            assert result.dtype.kind != "f" or result.dtype == dtype, args
    assert tried
