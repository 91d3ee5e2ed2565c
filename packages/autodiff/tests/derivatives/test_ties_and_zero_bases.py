"""Derivatives at ties and at base zero: shared between equals, and finite where the function is smooth."""

import numpy as np
import pytest

from lawful.autodiff import grad, jvp
from lawful.ops import max, min, pow


@pytest.mark.parametrize("function", [max, min])
def test_equal_arguments_share_the_derivative(function):
    assert grad(function, (0, 1))(2.0, 2.0) == (0.5, 0.5)
    assert sum(grad(function, (0, 1))(2.0, 3.0)) == 1.0


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0])
def test_a_power_of_zero_does_not_change_with_its_exponent(exponent):
    assert grad(pow, 1)(0.0, exponent) == 0.0
    assert jvp(lambda y: pow(np.float64(0.0), y), (exponent,), (1.0,)) == (0.0, 0.0)
