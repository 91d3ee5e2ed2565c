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
