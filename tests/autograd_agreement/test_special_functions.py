"""Special functions of lawful.autograd under reverse mode, which has accelerators by SciPy."""

from typing import Any

import mpmath
import numpy
import pytest
import scipy.special

import lawful.autograd.numpy as np
from lawful.autograd import elementwise_grad, hessian, jacobian, make_vjp
from lawful.autograd.scipy import special
from lawful.core import plain
from lawful.staging import jit

#: Arguments of each function, without its poles.
ARGUMENTS: dict[str, list[float]] = {
    "gammaln": [1e-8, 0.3, 1.2, 1.4, 2.5, 7.0, 60.0, 1e5, -0.5, -3.7],
    "gamma": [1e-8, 0.3, 1.0, 1.4, 2.5, 7.0, 60.0, -0.5, -3.7],
    "psi": [1e-3, 0.3, 1.0, 1.5, 2.0, 7.0, 60.0, 1e5, -0.5, -3.7],
    "digamma": [1e-3, 0.3, 1.0, 1.5, 2.0, 7.0, 60.0, 1e5],
    "erf": [-6.0, -1.0, -1e-8, 0.0, 0.5, 3.0, 20.0],
    "erfc": [-6.0, -1.0, -1e-8, 0.0, 0.5, 3.0, 20.0],
    "erfinv": [-0.999, -0.5, 0.0, 1e-8, 0.7],
    "expit": [-800.0, -40.0, -1.0, 0.0, 1e-8, 3.0, 40.0, 800.0],
    "logit": [1e-10, 0.2, 0.5, 0.9, 1.0 - 1e-10],
    "i0": [-20.0, -1.0, 0.0, 1e-8, 0.5, 3.0, 30.0],
}


def derivatives(name: str, x: Any) -> list[Any]:
    f = getattr(special, name)
    first = elementwise_grad(f)
    return [first(x), elementwise_grad(first)(x), jacobian(f)(x), hessian(lambda x: np.sum(f(x)))(x)]


@pytest.mark.parametrize("name", ARGUMENTS)
def test_derivatives_agree_with_plain(name: str) -> None:
    points = numpy.array(ARGUMENTS[name])
    for x in (points, numpy.abs(points[points != 0.0]), *points, 0.5):
        with plain():
            expected = derivatives(name, x)
        for found, wanted in zip(derivatives(name, x), expected, strict=True):
            assert type(found) is type(wanted)
            numpy.testing.assert_allclose(found, wanted, rtol=2e-13, atol=1e-300)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("x", [0.0, 1.0, 1e-300, numpy.inf, numpy.nan])
def test_derivatives_of_logit_at_its_ends(x: float) -> None:
    with plain():
        expected = derivatives("logit", x)
    for given in (x, numpy.float64(x), numpy.array(x)):
        for found, wanted in zip(derivatives("logit", given), expected, strict=True):
            numpy.testing.assert_array_equal(found, wanted)


@pytest.mark.fast
@pytest.mark.parametrize("name", ARGUMENTS)
def test_value_under_grad_is_that_of_scipy(name: str) -> None:
    x = numpy.linspace(0.01, 0.99, 99)
    _, value = make_vjp(getattr(special, name))(x)
    assert numpy.array_equal(value, getattr(scipy.special, name)(x))


@pytest.mark.fast
def test_gammaln_gradient_near_its_minimum() -> None:
    x = numpy.array([1.4616, 1.46, 1.5])
    expected = [float(mpmath.psi(0, y)) for y in x.tolist()]
    numpy.testing.assert_allclose(elementwise_grad(special.gammaln)(x), expected, rtol=1e-14)


@pytest.mark.parametrize("name", ["j0", "j1", "y0", "y1"])
def test_bessel_functions_have_both_modes(name: str) -> None:
    x = numpy.array([0.5, 3.0, 10.0])
    slope = {"j0": -scipy.special.j1(x), "j1": scipy.special.jvp(1, x), "y0": -scipy.special.y1(x)}
    found = elementwise_grad(getattr(special, name))(x)
    numpy.testing.assert_allclose(found, slope.get(name, scipy.special.yvp(1, x)), rtol=1e-14)


@pytest.mark.parametrize("name", ["gammaln", "psi", "erf", "expit", "j0", "rgamma"])
def test_scipys_own_functions_of_tracers(name: str) -> None:
    """As in Autograd, SciPy's ufuncs call the functions of these names, once `autograd.scipy.special` is imported."""
    import autograd
    import autograd.scipy.special

    x = numpy.array([0.3, 0.5, 0.9])
    f = getattr(scipy.special, name)
    expected = autograd.elementwise_grad(f)(x)
    numpy.testing.assert_allclose(elementwise_grad(f)(x), expected, rtol=1e-13)
    numpy.testing.assert_array_equal(make_vjp(f)(x)[1], make_vjp(getattr(special, name))(x)[1])


def of_last(name: str, *parameters: Any) -> Any:
    return lambda x: getattr(special, name)(*parameters, x)


def density(name: str, parameters: Any, x: float) -> float:
    with mpmath.workdps(60):
        a, y = mpmath.mpf(float(parameters[0])), mpmath.mpf(float(x))
        if name == "betainc":
            b = mpmath.mpf(float(parameters[1]))
            return float(y ** (a - 1) * (1 - y) ** (b - 1) / mpmath.beta(a, b))
        found = y ** (a - 1) * mpmath.exp(-y) / mpmath.gamma(a)
        return float(found if name == "gammainc" else -found)


#: Functions, with arguments for the formula, and those for lawful's density; and the number of parameters.
BY_LAST = {
    "gammainc": ([1e-29, 1e-5, 0.3, 2.0, 9.0, 31.0, 590.0], [0.0, 1e-40, 700.0, 1e3, numpy.inf], 1),
    "gammaincc": ([1e-29, 1e-5, 0.3, 2.0, 9.0, 31.0, 590.0], [0.0, 1e-40, 700.0, 1e3, numpy.inf], 1),
    "betainc": ([1e-8, 1e-5, 0.3, 0.5, 0.97, 1.0 - 1e-8], [0.0, 1e-40, 1.0 - 1e-12, 1.0], 2),
}


def by_last(name: str, a: Any) -> list[tuple[Any, ...]]:
    return [(a,)] if name != "betainc" else [(a, 0.7), (a, 13.0), (3, a)]


@pytest.mark.parametrize("name", BY_LAST)
@pytest.mark.parametrize("a", [1e-20, 0.5, 1.0, 2, 2.5, 11.0, 29.9])
def test_derivative_by_the_last_argument(name: str, a: Any) -> None:
    points = BY_LAST[name][0]
    for parameters in by_last(name, a):
        f = of_last(name, *parameters)
        expected = [density(name, parameters, x) for x in points]
        for given in (numpy.array(points), *points):
            found = elementwise_grad(f)(given)
            wanted = expected if numpy.ndim(given) else expected[points.index(given)]
            numpy.testing.assert_allclose(found, wanted, rtol=1e-14, atol=1e-307)
            with plain():
                second = elementwise_grad(elementwise_grad(f))(given)
            numpy.testing.assert_allclose(elementwise_grad(elementwise_grad(f))(given), second, rtol=2e-13, atol=1e-300)


@pytest.mark.parametrize("name", BY_LAST)
@pytest.mark.parametrize("a", [1e-40, 0.5, 2, 31.0, 1e6])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_derivative_by_the_last_argument_at_ends(name: str, a: Any) -> None:
    inside, points, _ = BY_LAST[name]
    for parameters in by_last(name, a):
        f = of_last(name, *parameters)
        for given in (numpy.array(points), *points, *(inside if a in (31.0, 1e6) else ())):
            with plain():
                expected = elementwise_grad(f)(given)
            found = elementwise_grad(f)(given)
            assert type(found) is type(expected)
            numpy.testing.assert_array_equal(found, expected)


@pytest.mark.fast
@pytest.mark.parametrize("name", BY_LAST)
def test_value_under_grad_by_the_last_argument(name: str) -> None:
    x = numpy.linspace(0.01, 0.99, 99)
    shape = numpy.linspace(0.5, 4.0, 99)
    parameters = (shape,) if BY_LAST[name][2] == 1 else (shape, 2)
    pull, value = make_vjp(of_last(name, *parameters))(x)
    assert numpy.array_equal(value, getattr(scipy.special, name)(*parameters, x))
    with plain():
        expected = make_vjp(of_last(name, *parameters))(x)[0](numpy.ones(99))
    numpy.testing.assert_allclose(pull(numpy.ones(99)), expected, rtol=1e-14)


@pytest.mark.parametrize("name", BY_LAST)
def test_derivatives_beside_other_arguments(name: str) -> None:
    """Parameters of other shapes, traced ones, and a program that is recorded have lawful's functions."""
    f = getattr(special, name)
    more = (2.0,) * (BY_LAST[name][2] - 1)
    a, x = numpy.array([[0.5], [2.0]]), numpy.array([0.2, 0.5, 0.9])
    for run in (
        lambda: jacobian(lambda x: f(a, *more, x))(x),
        lambda: jacobian(lambda a: f(a, *more, x))(a),
        lambda: jacobian(lambda a: f(a[0, 0], *more, a[1, 0] / 3.0))(a),
        lambda: jacobian(lambda y: jacobian(lambda x: f(y, *more, x))(0.5))(0.7),
        lambda: jit(jacobian(lambda x: f(2.0, *more, x)), backend="numpy")(x),
        lambda: jacobian(lambda x: f(2.0, *more, x))(x.astype(numpy.float32)),
        lambda: jacobian(lambda x: f(2.0, *more, x))(numpy.zeros(0)),
    ):
        with plain():
            expected = run()
        found = run()
        assert found.dtype == expected.dtype
        numpy.testing.assert_allclose(found, expected, rtol=1e-6 if found.dtype == numpy.float32 else 1e-13)
