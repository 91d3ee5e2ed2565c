"""Derivatives where a formula that is right almost everywhere would be wrong: branch cuts, zeros, complex signs."""

import numpy as np
import pytest

from lawful.autodiff import grad, jvp, vjp
from lawful.ops import abs, acosh, cbrt, cummax, cummin, max, min, pow, sign

_STEP = 1e-6


@pytest.mark.parametrize("z", [0.3 + 0.4j, -1.5 + 0.2j, -1.5 - 0.7j])
@pytest.mark.parametrize("function", [acosh, sign, grad(abs)], ids=["acosh", "sign", "grad_of_abs"])
def test_a_complex_derivative_agrees_with_finite_differences(function, z):
    direction = 0.7 - 0.2j
    _, derivative = jvp(function, (z,), (direction,))
    difference = (function(z + _STEP * direction) - function(z - _STEP * direction)) / (2 * _STEP)
    np.testing.assert_allclose(derivative, difference, rtol=1e-6)


def test_the_sign_of_a_real_number_has_the_derivative_zero():
    assert grad(sign)(2.0) == 0.0


def test_power_derivative_by_base_is_zero_only_at_exponent_zero():
    assert grad(pow)(0.0, 0.0) == 0.0
    assert grad(pow)(np.inf, 0.0) == 0.0
    # The derivative of y * x ** (y - 1) by y, at y = 0, is 1 / x.
    assert grad(grad(pow), 1)(2.0, 0.0) == 0.5 == grad(grad(pow, 1), 0)(2.0, 0.0)


@pytest.mark.parametrize("function", [cummax, cummin])
def test_cummax_tangent_from_a_nan_on(function):
    """No operand is the extremum there: the tangent is 0, as the cotangent is."""
    for first in range(4):
        x = np.ones(3)
        x[first:] = [np.nan, 2.0, 0.0][: 3 - first]
        _, derivative = jvp(function, (x,), (np.ones(3),))
        np.testing.assert_array_equal(derivative, np.arange(3) < first)


def test_derivative_cube_root_is_steep_at_zero():
    with np.errstate(divide="ignore"):
        assert grad(cbrt)(0.0) == np.inf
    np.testing.assert_allclose(grad(cbrt)(-8.0), 1 / 12)


@pytest.mark.parametrize("extremum", [max, min])
def test_an_infinite_complex_tangent_of_an_extremum_is_kept(extremum):
    x, y = np.array([1 + 1j, 4j]), np.array([2 + 0j, 3j])
    infinite = np.array([complex(np.inf, 0), complex(0, np.inf)])
    with np.errstate(invalid="ignore"):  # of the half that an equal operand would get
        out, tangent = jvp(extremum, (x, y), (infinite, infinite))
        _, f_vjp = vjp(extremum, x, y)
        cotangents = f_vjp(infinite)
    np.testing.assert_array_equal(tangent, infinite)
    np.testing.assert_array_equal(cotangents, [np.where(out == x, infinite, 0), np.where(out == y, infinite, 0)])
