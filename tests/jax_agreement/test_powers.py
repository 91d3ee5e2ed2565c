"""Derivatives of powers, to the second order, at bases and exponents where a formula meets 0 · ∞ or log(0)."""

import itertools

import jax
import numpy as np
import pytest

from lawful.autodiff import grad
from lawful.ops import pow

BASES = (0.0, -0.0, 1.0, 2.0, -1.5, np.inf)
EXPONENTS = (0.0, -0.0, 0.5, 1.0, 2.0, 3.0, -1.0, np.inf)
POINTS = list(itertools.product(BASES, EXPONENTS))


def derivatives_of(grad, power):
    """Returns the first derivatives by base and exponent, and the four second ones."""
    first = [grad(power, i) for i in (0, 1)]
    return [*first, *(grad(f, i) for f in first for i in (0, 1))]


@pytest.mark.parametrize("order", range(6), ids=["x", "y", "xx", "xy", "yx", "yy"])
def test_power_derivatives_agree_wherever_jax_has_a_number(order):
    x, y = (np.array(column) for column in zip(*POINTS, strict=True))
    expected = np.asarray(jax.vmap(derivatives_of(jax.grad, jax.lax.pow)[order])(x, y))
    with np.errstate(all="ignore"):
        got = np.array([derivatives_of(grad, pow)[order](a, b) for a, b in POINTS])
    known = ~np.isnan(expected)
    if order in (3, 4):  # JAX has 1 in one order and 0 in the other; the true one is infinite
        known &= ~((x == 0) & (y == 1))
    np.testing.assert_allclose(got[known], expected[known], rtol=1e-14)


def test_power_derivatives_at_zero_base_and_exponent():
    # jax has NaN: 0 · 0⁻¹.
    for x, y in itertools.product((0.0, -0.0), repeat=2):
        assert [f(x, y) for f in derivatives_of(grad, pow)] == [0.0] * 6
