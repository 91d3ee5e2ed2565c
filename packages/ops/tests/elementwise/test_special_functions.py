"""Special functions: known values, identities, dtypes and errors, without a reference library."""

import math
from fractions import Fraction
from functools import partial

import ml_dtypes
import numpy as np
import pytest

from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, MissingRuleError
from lawful.ops._special.error_functions.error_function import log_ndtr_derivative_p
from lawful.ops._special.gamma.densities import beta_density_p, gamma_density_p
from lawful.ops._special.gamma.digamma_derivatives import digamma_derivative_p
from lawful.ops._special.gamma.log_gamma import _zeta_of_order

ONE_ARGUMENT = ("erf", "erfc", "erf_inv", "lgamma", "digamma", "bessel_i0e", "bessel_i1e", "ndtri", "log_ndtr", "entr")
ONE_ARGUMENT += ("dawsn", "erfc_inv", "erfcx", "exp1", "expi", "gamma", "sine_integral", "spence")
ONE_ARGUMENT += ("cosine_integral", "fresnel_cosine", "fresnel_sine")
TWO_ARGUMENTS = ("zeta", "igamma", "igammac", "igamma_grad_a", "random_gamma_grad", "betaln", "xlogy", "rel_entr")
TWO_ARGUMENTS += ("boxcox", "boxcox1p", "expn", "owens_t")
DTYPES = [np.dtype(t) for t in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)]


def near(x, y, rtol=1e-13):
    np.testing.assert_allclose(x, y, rtol=rtol, atol=0)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", [*ONE_ARGUMENT, *TWO_ARGUMENTS, "polygamma", "betainc"])
def test_special_functions_keep_the_dtype(name, dtype):
    arguments = {"polygamma": (1.0, 0.5), "betainc": (1.5, 2.5, 0.25), "zeta": (2.5, 0.5)}
    default = (0.25,) if name in ONE_ARGUMENT else (1.5, 0.75)
    args = arguments.get(name, default)
    function = getattr(ops, name)
    exact = float(function(*args))
    for shape in ((), (2, 3), (0, 2)):
        out = function(*[np.full(shape, x).astype(dtype) for x in args])
        assert (np.asarray(out).dtype, np.shape(out)) == (dtype, shape)
        near(np.asarray(out).astype(float), np.full(shape, exact), rtol=2 * float(ml_dtypes.finfo(dtype).eps))


@pytest.mark.parametrize("name", ONE_ARGUMENT)
def test_special_functions_of_integers_are_float(name):
    function = getattr(ops, name)
    assert function(np.array([1, 2])).dtype == np.float64
    assert function(np.array([1, 2], np.int8)).dtype == np.exp(np.int8(1)).dtype
    assert function(True).dtype == np.exp(True).dtype
    with pytest.raises(ArgumentTypeError, match=f"{name}: expected operands of a dtype"):
        function(np.array([1j]))


@pytest.mark.parametrize("name", [*TWO_ARGUMENTS, "betainc"])
def test_special_functions_promote_and_broadcast(name):
    function = getattr(ops, name)
    count = 3 if name == "betainc" else 2
    args = [np.ones((2, 1), np.float32), np.array([1, 2, 3], np.int8), np.float32(0.5)][:count]
    out = function(*args)
    assert (out.dtype, out.shape) == (np.float32, (2, 3))
    with pytest.raises(ArgumentTypeError, match="expected operands of a dtype"):
        function(*[1j] * count)
    with pytest.raises(ArgumentValueError, match="broadcast"):
        function(*[np.ones(2), np.ones(3), 1.0][:count])


def test_special_functions_do_not_warn():
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, -1.0, 1.0, -2.5, 1e300, -1e300, 5e-324])
    for name in ONE_ARGUMENT:
        getattr(ops, name)(x)
    for name in TWO_ARGUMENTS:
        getattr(ops, name)(*np.meshgrid(x, x))
    ops.betainc(*np.meshgrid(x, x, x))
    ops.polygamma(*np.meshgrid(x, x))


def test_erf_and_ndtri_values():
    x = np.linspace(-5, 5, 101)
    near(ops.erf(x) + ops.erfc(x), np.ones(101))
    near(ops.erf_inv(ops.erf(x[25:76])), x[25:76], rtol=1e-11)
    # A tail: erfc(x) ~ exp(-x²) / (x √π) (1 - 1/(2x²) + 3/(4x⁴)).
    near(ops.erfc(20.0), math.exp(-400) / (20 * math.sqrt(math.pi)) * (1 - 1 / 800 + 3 / 640000), rtol=1e-7)
    np.testing.assert_array_equal(ops.erf_inv(np.array([-1.0, 0.0, 1.0, 1.5])), [-np.inf, 0.0, np.inf, np.nan])
    np.testing.assert_array_equal(ops.ndtri(np.array([0.0, 0.5, 1.0, -1.0])), [-np.inf, 0.0, np.inf, np.nan])
    p = np.array([1e-300, 1e-10, 0.02, 0.3])
    near(ops.log_ndtr(ops.ndtri(p)), np.log(p))


def test_lgamma_and_digamma_values():
    n = np.arange(1.0, 20.0)
    near(ops.lgamma(n), [math.lgamma(k) for k in n], rtol=1e-15)
    np.testing.assert_array_equal(ops.lgamma(np.array([0.0, -0.0, -1.0, -7.0, np.inf, -np.inf])), np.inf)
    euler = -ops.digamma(1.0)
    near(euler, 0.57721566490153286061)
    near(ops.digamma(n[1:]), np.cumsum(1 / n[:-1]) - euler)
    x = np.array([0.3, 1.7, 12.3])
    near(ops.digamma(1 - x) - ops.digamma(x), math.pi / np.tan(math.pi * x))
    edges = np.array([0.0, -0.0, -1.0, np.inf, -np.inf])
    np.testing.assert_array_equal(ops.digamma(edges), [-np.inf, -np.inf, np.nan, np.inf, np.nan])


def test_zeta_and_polygamma_values():
    near(ops.zeta(np.array([2.0, 4.0]), 1.0), [math.pi**2 / 6, math.pi**4 / 90])
    q = np.array([0.25, 3.5, 1e6])
    near(ops.zeta(3.0, q) - ops.zeta(3.0, q + 1), q**-3.0, rtol=1e-9)
    near(ops.zeta(3.0, -0.25), ops.zeta(3.0, 0.75) - 0.25**-3.0)
    s, q = np.array([1.0, 0.5, 2.0, 2.5, 2.0, np.inf]), np.array([2.0, 2.0, -1.0, -0.5, np.inf, 1.0])
    np.testing.assert_array_equal(ops.zeta(s, q), [np.inf, np.nan, np.inf, np.nan, 0.0, 1.0])
    near(ops.polygamma(1, 1.0), math.pi**2 / 6)
    near(ops.polygamma(2, 1.0), -2 * 1.2020569031595942)
    x = np.array([0.3, 1.7])
    near(ops.polygamma(1, 1 - x) + ops.polygamma(1, x), (math.pi / np.sin(math.pi * x)) ** 2)
    np.testing.assert_array_equal(ops.polygamma(0, x), ops.digamma(x))
    np.testing.assert_array_equal(ops.polygamma(np.array([0.5, -1.0, np.nan]), 1.0), np.nan)
    assert ops.polygamma(1, np.float32(2)).dtype == ops.polygamma(1.0, np.float32(2)).dtype == np.float32


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_digamma_derivatives_equal_polygamma(order):
    x = np.array([1e-20, 0.3, 1.7, 25.0, 1e20, -0.3, -7.2, 0.0, -0.0, -3.0, np.inf, -np.inf, np.nan])
    near(digamma_derivative_p.bind(x, order=order), ops.polygamma(order, x))


@pytest.mark.parametrize("order", [1, 2, 3])
def test_zeta_derivatives_equal_differences(order):
    s, q, step = np.array([1.5, 2.0, 3.7]), np.array([0.4, 1.0, 6.0]), 1e-4
    below, above = (_zeta_of_order(s + sign * step, q, order - 1) for sign in (-1, 1))
    near(_zeta_of_order(s, q, order), (above - below) / (2 * step), rtol=1e-6)


def test_polygamma_has_no_derivative_by_its_order():
    with pytest.raises(MissingRuleError, match="by its first argument does not exist"):
        ops.polygamma_p.rule("jvp")([np.array(1.0), np.array(2.0)], [np.array(1.0), np.array(0.0)])


def test_bessel_values():
    x = np.array([0.0, 0.5, 3.0, 24.9, 25.1, 700.0])
    angle = (np.arange(2000) + 0.5) * math.pi / 2000
    # The integral of exp(x (cos θ - 1)) is that of a periodic function: the midpoint rule is exact.
    density = np.exp(np.outer(x, np.cos(angle) - 1))
    near(ops.bessel_i0e(x), density.mean(1))
    near(ops.bessel_i1e(x)[1:], (density * np.cos(angle)).mean(1)[1:], rtol=1e-12)
    np.testing.assert_array_equal(ops.bessel_i1e(-x), -ops.bessel_i1e(x))
    np.testing.assert_array_equal(ops.bessel_i0e(np.array([np.inf, -np.inf])), 0.0)
    np.testing.assert_array_equal(ops.bessel_i1e(np.array([np.inf, -np.inf, np.nan, 0.0])), [0.0, 0.0, np.nan, 0.0])
    assert np.signbit(ops.bessel_i1e(-0.0))


def test_igamma_and_igammac_values():
    x = np.array([0.0, 1e-3, 0.5, 1.0, 3.0, 50.0, np.inf])
    near(ops.igamma(1.0, x), -np.expm1(-x))
    near(ops.igammac(1.0, x), np.exp(-x))
    near(ops.igamma(0.5, x), [math.erf(math.sqrt(y)) for y in x])
    a = np.array([0.3, 2.0, 40.0, 1e4])[:, None]
    y = a * np.array([0.5, 0.99, 1.01, 1.5])
    near(ops.igamma(a, y) + ops.igammac(a, y), np.ones((4, 4)))
    # One step of the recurrence in a.
    near(ops.igamma(a, y) - ops.igamma(a + 1, y), np.exp(a * np.log(y) - y - ops.lgamma(a + 1)), rtol=1e-8)
    undefined = [(-1.0, 1.0), (1.0, -1.0), (0.0, 0.0), (np.nan, 1.0), (1.0, np.nan), (np.inf, np.inf)]
    for function in (ops.igamma, ops.igammac):
        np.testing.assert_array_equal(function(*np.transpose(undefined)), np.nan)


def test_betainc_values():
    x = np.array([0.0, 0.1, 0.5, 0.9, 1.0])
    near(ops.betainc(1.0, 3.0, x), 1 - (1 - x) ** 3)
    near(ops.betainc(2.0, 1.0, x), x**2)
    near(ops.betainc(0.5, 0.5, x), 2 / math.pi * np.arcsin(np.sqrt(x)))
    a, b = np.array([0.3, 5.0, 300.0])[:, None], np.array([2.0, 0.7, 250.0])[:, None]
    near(ops.betainc(a, b, x) + ops.betainc(b, a, 1 - x), np.ones((3, 5)))
    undefined = [(-1.0, 1.0, 0.5), (1.0, -1.0, 0.5), (1.0, 1.0, -0.5), (1.0, 1.0, 1.5), (0.0, 0.0, 0.5)]
    np.testing.assert_array_equal(ops.betainc(*np.transpose(undefined)), np.nan)
    near(ops.betaln(2.0, np.array([3.0, 1e15])), [-math.log(12), -2 * math.log(1e15)])


@pytest.mark.parametrize(("a", "b", "x"), [(52, 2, 1.2e-5), (72, 12, 1e-3), (8, 1, 2e-45), (12, 60, 1.5e-30)])
def test_densities_keep_digits_at_underflow(a, b, x):
    """The density and its derivative by x are larger than a factor of them that underflows."""
    exact, one = Fraction(x), math.factorial
    gamma = Fraction(math.exp(-x)) * exact ** (a - 1) / one(a - 1)
    beta = exact ** (a - 1) * (1 - exact) ** (b - 1) * Fraction(one(a + b - 1), one(a - 1) * one(b - 1))
    slope = Fraction(a - 1) / exact
    gammas = [gamma, gamma * (slope - 1)]
    betas = [beta, beta * (slope - (b - 1) / (1 - exact))]
    for order in (0, 1):
        for out, wanted in (
            (gamma_density_p.bind(float(a), x, orders=(0, order)), gammas[order]),
            (beta_density_p.bind(float(a), float(b), x, orders=(0, 0, order)), betas[order]),
        ):
            assert abs(out - float(wanted)) <= 1e-323 + 1e-12 * float(wanted)


def test_special_functions_are_elementwise():
    a, x = np.array([0.3, 5.0, 1e5, 7.0]), np.array([0.2, 9.0, 1e5, 6.0])
    for function in (ops.igamma, ops.igammac, ops.igamma_grad_a):
        np.testing.assert_array_equal(function(a, x), [function(*pair) for pair in zip(a, x, strict=True)])
    b, y = a[::-1], np.array([0.1, 0.4, 0.9, 0.6])
    np.testing.assert_array_equal(ops.betainc(a, b, y), [ops.betainc(*z) for z in zip(a, b, y, strict=True)])


def test_xlogy_of_zero_factor_is_zero():
    y = np.array([0.0, -1.0, np.inf, 2.0, np.nan])
    np.testing.assert_array_equal(ops.xlogy(0.0, y), [0.0, 0.0, 0.0, 0.0, np.nan])
    np.testing.assert_array_equal(ops.xlog1py(0.0, y - 1), [0.0, 0.0, 0.0, 0.0, np.nan])
    np.testing.assert_array_equal(ops.entr(np.array([0.0, -1.0, np.inf, np.nan])), [0.0, -np.inf, -np.inf, np.nan])
    np.testing.assert_array_equal(
        ops.rel_entr(np.array([0.0, 1.0, -1.0]), np.array([0.0, 0.0, 1.0])), [0, np.inf, np.inf]
    )


@pytest.mark.parametrize("length", [1, 2, 3, 17, 4096, 5000])
def test_digamma_of_elements_is_that_of_any_array(length: int) -> None:
    """Arrays of some lengths are computed by other calls of NumPy, which add in the same order."""
    x = np.random.default_rng(0).uniform(0.5, 20.0, length)
    expected = [ops.digamma(number) for number in x[:20]]
    assert ops.digamma(x)[:20].tolist() == expected
    assert ops.digamma(x[:, None, None])[:20, 0, 0].tolist() == expected


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_lgamma_of_many_natural_numbers_is_that_of_each(dtype) -> None:
    numbers = np.arange(1.0, 200.0).astype(dtype)
    each = np.array([ops.lgamma(n) for n in numbers])
    np.testing.assert_array_equal(ops.lgamma(numbers), each)
    for other in (0.0, -3.0, 0.5, 1023.0, 1024.0, 6e4, np.nan, np.inf):
        beside = np.append(numbers, dtype.type(other))
        expected = np.append(each, ops.lgamma(dtype.type(other))).astype(float)  # NaN of bfloat16 equals none
        np.testing.assert_array_equal(ops.lgamma(beside).astype(float), expected)
    counts = np.arange(1.0, 1030.0)
    np.testing.assert_array_equal(ops.lgamma(counts), [math.lgamma(n) for n in counts])


@pytest.mark.parametrize("x", [-5.5, -5.0, np.nan, np.inf, -np.inf])
def test_log_ndtr_of_elements_is_that_of_any_array(x: float) -> None:
    """An element in the tail changes no other, and neither do its derivatives."""
    near = np.linspace(-5.0, 9.0, 40)
    beside = np.append(near, x)
    np.testing.assert_array_equal(ops.log_ndtr(beside)[:-1], ops.log_ndtr(near))
    np.testing.assert_array_equal(ops.log_ndtr(beside)[-1:], ops.log_ndtr(np.array([x])))
    for order in (1, 2):
        derivative = partial(log_ndtr_derivative_p.bind, order=order)
        np.testing.assert_array_equal(derivative(beside)[:-1], derivative(near))
        np.testing.assert_array_equal(derivative(beside)[-1:], derivative(np.array([x])))
