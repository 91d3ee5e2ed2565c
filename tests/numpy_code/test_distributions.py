"""Distributions beside SciPy's, out to the ends of the tails, and the laws of their derivatives."""

import inspect

import numpy as np
import pytest
import scipy.stats

from lawful.autodiff import grad
from lawful.laws import Case, check, law_jit_is_eager, quick
from lawful.laws.systems import Lawful
from lawful.special import stats
from lawful.staging import jit

NUMBERS = np.array(
    [-np.inf, -1e3, -50, -8, -2.5, -1, -1e-9, 0, 1e-9, 0.3, 1, 2, 3.7, 9, 60, 1e4, 1e200, np.inf, np.nan]
)
COUNTS = np.array([-1, 0, 1, 2, 3, 5, 9, 10, 11, 2.5, np.nan])
PROBABILITIES = np.array([-0.1, 0, 1e-300, 1e-20, 1e-5, 0.1, 0.25, 0.5, 0.6, 0.75, 0.9, 1 - 1e-10, 1, 1.1, np.nan])

#: The shapes of each distribution.
SHAPES = {
    "bernoulli": [(0.3,), (0.0,), (1.0,)],
    "beta": [(2.0, 3.0), (0.5, 0.5)],
    "betabinom": [(10, 2.0, 3.0), (10, 0.3, 0.4)],
    "binom": [(10, 0.3), (10, 0.0), (10, 1.0), (0, 0.4)],
    "cauchy": [()],
    "chi2": [(0.7,), (3.0,), (40.0,)],
    "expon": [()],
    "gamma": [(2.0,), (0.3,)],
    "gennorm": [(0.5,), (1.0,), (2.0,), (3.3,)],
    "geom": [(0.3,), (1.0,)],
    "gumbel_l": [()],
    "gumbel_r": [()],
    "laplace": [()],
    "logistic": [()],
    "nbinom": [(3, 0.4), (2.5, 0.9)],
    "norm": [()],
    "pareto": [(0.5,), (3.0,)],
    "truncnorm": [(-1.0, 1.0), (-2.0, 5.0), (3.0, 6.0), (-9.0, -7.0), (-40.0, 2.0), (0.5, 100.0), (-100.0, 100.0)],
    "uniform": [()],
    "vonmises": [(0.5,), (4.0,)],
    "wrapcauchy": [(0.2,), (0.9,)],
}


def methods(name: str) -> dict[str, object]:
    module = getattr(stats, name)
    return {
        key: function
        for key, function in vars(module).items()
        if inspect.isfunction(function) and function.__module__ == module.__name__ and key[0] != "_"
    }


METHODS = [(name, method) for name in SHAPES for method in methods(name)]


def numbers_for(name: str, method: str) -> np.ndarray:
    if method in ("ppf", "isf"):
        return PROBABILITIES
    return COUNTS if "pmf" in method or name == "bernoulli" else NUMBERS


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "method"), METHODS)
def test_distribution_agrees_with_scipy(name: str, method: str) -> None:
    function, x = methods(name)[method], numbers_for(name, method)
    if (name, method) == ("bernoulli", "ppf"):
        x = x[(x != 0) & (x != 1)]  # there JAX has other values than SciPy, and so have we
    takes_location = "loc" in inspect.signature(function).parameters
    for shapes in SHAPES[name]:
        for extra in ((), (0.5, 2.0)) if takes_location and "pmf" not in method else ((),):
            found = np.asarray(function(x, *shapes, *extra))
            expected = getattr(getattr(scipy.stats, name), method)(x, *shapes, *extra)
            if name.startswith("gumbel") and method in ("pdf", "logpdf"):
                expected = np.where(np.isinf(x), -np.inf if method == "logpdf" else 0, expected)  # SciPy has NaN
            if method.startswith("log"):  # far out, SciPy takes the logarithm of an underflow
                expected = np.where(np.isneginf(expected) & (found < -700), found, expected)
            np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-300, err_msg=str((shapes, extra)))


#: Shapes that no distribution has; those of the others have no such end, or are checked elsewhere.
NO_SHAPES = {
    "beta": [(-1.1, 2.0), (2.0, 0.0)],
    "gamma": [(-0.5,), (0.0,)],
    "chi2": [(-1.0,)],
    "pareto": [(-1.0,)],
    "t": [(-2.0,), (0.0,)],
}
IN_DOUBT = ["cauchy", "expon", "gumbel_l", "gumbel_r", "laplace", "logistic", "norm", "uniform", *NO_SHAPES]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", IN_DOUBT)
def test_distribution_of_wrong_parameters_is_nan(name: str) -> None:
    shapes = SHAPES[name][0] if name in SHAPES else (3.0,)
    wrong = [(*shapes, 0.5, -2.0), (*shapes, 0.5, 0.0), *[(*found, 0.5, 2.0) for found in NO_SHAPES.get(name, [])]]
    for method, function in methods(name).items():
        for parameters in wrong:
            x = numbers_for(name, method)
            assert np.isnan(getattr(getattr(scipy.stats, name), method)(x, *parameters)).all()
            assert np.isnan(np.asarray(function(x, *parameters))).all(), (method, parameters)
            assert np.isnan(np.asarray(jit(function)(x, *parameters))).all(), (method, parameters)


@pytest.mark.parametrize("name", ["cauchy", "expon", "gumbel_l", "gumbel_r", "logistic", "norm", "pareto", "uniform"])
def test_quantile_is_as_exact_as_its_dtype(name: str) -> None:
    q, shapes = np.array([0.1, 0.3, 0.93], np.float32), SHAPES[name][0]
    for method in {"ppf", "isf"} & {*methods(name)}:
        found = methods(name)[method](q, *shapes, np.float64(0.5), np.float64(2.0))
        expected = getattr(getattr(scipy.stats, name), method)(q.astype(float), *shapes, 0.5, 2.0)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, expected, rtol=1e-13)
        assert methods(name)[method](q, *shapes).dtype == np.float32


def test_distributions_of_vectors_agree_with_scipy() -> None:
    shares, alpha = np.array([[0.2, 0.5], [0.3, 0.25], [0.5, 0.25]]), np.array([0.5, 2.0, 3.0])
    for given in (shares, shares[:2]):
        found = stats.dirichlet.logpdf(given, alpha)
        np.testing.assert_allclose(found, [scipy.stats.dirichlet.logpdf(column, alpha) for column in shares.T])
    np.testing.assert_allclose(stats.dirichlet.pdf(shares[:, 0], alpha), scipy.stats.dirichlet.pdf(shares[:, 0], alpha))
    assert stats.dirichlet.logpdf(np.array([0.5, 0.6, -0.1]), alpha) == -np.inf
    assert stats.dirichlet.logpdf(np.array([0.5, 0.6, 0.2]), alpha) == -np.inf
    counts, p = np.array([[1, 2, 3], [0, 0, 6], [1, 1, 1]]), np.array([0.2, 0.3, 0.5])
    np.testing.assert_allclose(stats.multinomial.logpmf(counts, 6, p), scipy.stats.multinomial.logpmf(counts, 6, p))
    np.testing.assert_allclose(stats.multinomial.pmf(counts[0], 6, p), scipy.stats.multinomial.pmf(counts[0], 6, p))


def test_dirichlet_shapes_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match=r"expected alpha of shape \(n,\).*got \(3,\) and \(5,\)"):
        stats.dirichlet.logpdf(np.ones(5) / 5, np.ones(3))


LAWS = ["jit_is_eager", "jvp_finite_differences", "vjp_transpose", "second_order", "vmap_is_loop", "special_values"]
INSIDE = {"vonmises": [0.7, 2.0], "wrapcauchy": [0.7, 2.0], "pareto": [4.1, 7.7], "truncnorm": [0.1, 0.3]}


@pytest.mark.parametrize("name", sorted(set(SHAPES) - {"bernoulli", "binom", "betabinom", "geom", "nbinom", "uniform"}))
def test_distribution_keeps_the_laws(name: str) -> None:
    """By all arguments at once: derivatives, batches, compilation. The other methods are made of these.

    XLA compiles the first method for all variations of the arguments, the others for 64 and 32 bits.
    """
    shapes = (-1.0, 1.5) if name == "truncnorm" else SHAPES[name][0]
    for method in sorted({"logpdf", "cdf", "logcdf", "ppf"} & set(methods(name)), key="logpdf".__ne__):
        function = methods(name)[method]
        x = [0.2, 0.8] if method in ("ppf", "isf") else INSIDE.get(name, [0.31, 0.83])
        takes_location = "loc" in inspect.signature(function).parameters
        extra = (np.float64(0.01), np.float64(1.3)) if takes_location and name != "truncnorm" else ()
        args = np.array(x), *map(np.float64, shapes), *extra
        system = None if method == "logpdf" else Lawful("numpy")
        check(function, *args, system=system, effort=quick, laws=LAWS, raise_on_failure=True)
        if system:
            for dtype in (np.float64, np.float32):
                case = Case.of(function, *[x.astype(dtype) for x in args])
                law_jit_is_eager(Lawful(backends=["xla"]), case, effort=quick)


@pytest.mark.parametrize(
    ("name", "shapes"),
    [("binom", (0.3,)), ("betabinom", (2.0, 3.0)), ("geom", (0.3,)), ("nbinom", (2.5, 0.4))],
)
def test_counting_distribution_keeps_the_laws_of_its_shapes(name: str, shapes: tuple[float, ...]) -> None:
    leading = (np.array(7.0),) if "binom" in name and name != "nbinom" else ()

    def log_probability(*shapes):
        return getattr(stats, name).logpmf(np.array([1.0, 4.0]), *leading, *shapes)

    check(log_probability, *map(np.float64, shapes), effort=quick, laws=LAWS, raise_on_failure=True)


@pytest.mark.parametrize(
    ("function", "x", "expected"),
    [
        (stats.cauchy.logpdf, 1e300, -2e-300),  # the square overflows
        (stats.cauchy.logpdf, 0.0, 0.0),
        (stats.logistic.logpdf, 800.0, -1.0),
        (stats.gumbel_l.logcdf, -800.0, 1.0),  # the exponential underflows
        (stats.gumbel_r.logsf, 800.0, -1.0),
        (stats.laplace.logpdf, -3.0, 1.0),
        (lambda x: stats.vonmises.logpdf(x, 2.0), 1e-9, -2e-9),
        (lambda x: stats.truncnorm.logpdf(x, 30.0, 31.0), 30.5, -30.5),
        (lambda x: stats.pareto.logsf(x, 3.0), 1e200, -3e-200),
        (lambda x: stats.wrapcauchy.logpdf(x, 0.3), -1.0, 0.0),
    ],
)
def test_distribution_derivatives_far_out(function, x: float, expected: float) -> None:
    for derivative in (grad(function), jit(grad(function)), jit(grad(function), backend="numpy")):
        np.testing.assert_allclose(derivative(x), expected, rtol=1e-12)
