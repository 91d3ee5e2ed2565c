"""Special functions at the ends of the range of their arguments: eagerly, on the NumPy backend, and compiled."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops, special
from lawful.autodiff import grad, jacfwd, jacrev, jvp
from lawful.batching import vmap
from lawful.staging import jit

INF, LARGEST = np.inf, float(np.finfo(np.float64).max)
FORMS: dict[str, Callable[[Any], Any]] = {
    "eager": lambda f: f,
    "numpy": lambda f: jit(f, backend="numpy"),
    "xla": lambda f: jit(f, backend="xla"),
}
#: Arguments and the value, by mpmath with 60 digits.
VALUES: dict[str, list[tuple[float, ...]]] = {
    "gamma": [(-709.78, 0.0), (-709.5, 0.0), (-1e5 - 0.5, 0.0), (171.6, 1.5858969096673e308), (200.0, INF)],
    "gammainc": [
        (1e8, 1e8, 0.5000132980760141), (1e10, 1e10, 0.5000013298076014), (1e16, 1e16 - 2e8, 0.02275013140826954),
        (1e100, 1e100, 0.5), (LARGEST, LARGEST, 0.5), (1e300, 1.0, 0.0), (1e7, INF, 1.0),
    ],
    "gammaincc": [
        (1e-20, 1.0, 2.1938393439552026e-21), (1e-100, 1.0, 2.193839343955203e-101),
        (1e-8, 0.5, 5.597735977099587e-09), (1e-16, 0.25, 1.0442826344437382e-16),
        (1e-200, 1e-300, 6.901983122333122e-198), (5e-3, 1e-3, 0.031181686577152937), (LARGEST, LARGEST, 0.5),
    ],
    "zeta": [
        (2.0, 1e300, 1e-300), (3.0, 1e150, 5e-301), (1.001, 1e300, 501.18723362736563),
        (4.0, 1e100, 3.333333333333333e-301), (17.0, 1.1e18, 1.36018209868843e-290),
        (1.5, LARGEST, 1.4916681462400413e-154),
    ],
    "polygamma": [
        (1.0, 1e155, 1e-155), (1.0, 1e300, 1e-300), (30.0, 1e10, -8.841762007002345e-270),
        (100.0, 1e4, -9.379363201543512e-245), (171.0, 2.5, 4.4473019163482665e240),
        (200.0, 1e3, -4.3508192705971016e-228), (200.0, 100.0, -9.125424691096223e-28), (200.0, 1e-300, -INF),
        (300.0, 1.0, -INF), (200.0, -1000.5, -3.2234238694294653e-228), (1e5, -0.25, INF), (1e5 + 1, -0.75, INF),
        (1e10, 1.0, -INF), (1e10, 1e10, 0.0),
    ],
    "poch": [
        (1e300, 1e-8, 1.0000069077791376), (-1000.0, 1e-300, 0.0), (1e-300, -1.0, -1.0), (1e-300, -3.0, -1 / 6),
        (-1000.0, 200.5, 0.0), (-20.0, 1000.0, 0.0), (1e-200, 200.5, 5.573168944801379e173), (1000.0, -1000.0, INF),
        (-10.0, 1 - 2.0**-53, 0.0),
    ],
    "comb": [
        (1e300, 1e-8, 1.000006913551334), (LARGEST, LARGEST / 2, INF), (1e300, 1.0, 1e300), (1e154, 2.0, 5e307),
        (1e10, 30.0, 3.769987464821447e267), (1e16, 1e16 - 18, 1.5619206968585987e272),
        (1000.5, 500.25, 3.8214981833637914e299), (12345.678, 85.5, 1.908704520228197e220),
    ],
    "betainc": [
        (0.5, 1e-20, 0.9, 3.6368929184641335e-20), (2.0, 1e-10, 0.98, 2.9320230050463274e-10),
        (30.0, 1e-18, 0.97, 2.6080450168960155e-19), (1e-3, 1e-300, 0.75, 1.0010972775659592e-297),
        (100.0, 0.01, 0.989, 0.001878325610126702), (0.3, 0.04, 0.6, 0.12428004851136348),
    ],
    "betaln": [
        (-0.5, 1e10, 12.778437588417374), (-0.25, 1e16, 10.799915684527368), (-10.5, 1e100, 2402.56707705303),
        (-709.78, 1e300, 486346.15390372917), (-171.5, 2.0**53, 5587.218281287936), (-0.5, INF, INF),
        (-1.5, LARGEST, 1065.5341163554524), (-0.3, -1.7, -34.35011583112486), (-3.3, 1.3, -36.2830368230825),
        (-1e-160, -3.0, INF), (-1e-160, -1e10 - 0.5, 368.4136148790473), (-0.4, -0.6, -INF),
        (-1e10 - 0.5, 1e10 + 3, 35.39882341054967), (-1e5 - 0.3, 0.3, -27.564148951226837),
    ],
    "beta": [
        (-1e-200, -1e-200, -2e200), (-1e-200, 1e-300, 1e300), (-0.5, 1e10, -354490.7701678098),
        (-0.3, -1.7, -1.2076309692209408e-15), (-3.3, 1.3, 1.747741992548398e-16), (-0.4, -0.6, 0.0),
        (-1e-160, -1e10 - 0.5, -1e160), (-1e10 - 0.5, 1e10 + 3, -2363271801827713.5),
        (-1e5 - 0.3, 0.3, 1.0691587932049584e-12), (-1e15 - 0.5, -150.5, 0.0),
    ],
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", VALUES)
def test_special_value_at_extreme_arguments(name: str, form: str) -> None:
    *args, wanted = np.array(VALUES[name]).T
    with np.errstate(all="ignore"):
        found = FORMS[form](getattr(special, name))(*args)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=0)


@pytest.mark.parametrize("form", FORMS)
def test_comb_with_repetition_of_rounded_sums(form: str) -> None:
    """The number of things is ``N + k - 1``, of which the rounded difference from k may be less than ``N - 1``."""
    n = np.array([1.0, 1.0, 1.0, 1e17, 2e17, 1e300, 500.0])
    k = np.array([1e-20, 0.15, 0.05, 0.5, 17.0, 1e-8, 40.5])
    wanted = [1, 1, 1, 356824823.2305542, 3.6850332524157634e279, 1.000006913551334, 1.8557309409052153e61]
    found = FORMS[form](lambda n, k: special.comb(n, k, repetition=True))(n, k)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("repetition", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_comb_derivatives_of_infinitely_many(form: str, repetition: bool) -> None:
    """They are the limits of those of ``n ** k / gamma(k + 1)``, of which ``n`` grows faster than its logarithm."""

    def comb(n: Any, k: Any) -> Any:
        return special.comb(n, k, repetition=repetition)

    k = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5])
    for numbers in ((0,), (1,), (0, 0), (0, 1), (1, 0), (1, 1), (0, 0, 0), (0, 1, 0), (0, 1, 1), (1, 1, 1)):
        function = comb
        for number in numbers:
            function = grad(function, number)
        order = numbers.count(0)
        wanted = np.where(k > order, INF, np.where(k == order, INF if 1 in numbers else 1.0, 0.0))
        np.testing.assert_array_equal(FORMS[form](vmap(function))(np.full_like(k, INF), k), wanted)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_comb_of_narrow_floats(dtype: Any, form: str) -> None:
    """Gamma functions of the arguments overflow, and the logarithm has not all digits of the result."""
    for n in (12, 25, 40, 60, 130, 300):
        k = np.arange(n + 1)
        exact = np.array([float(math.comb(n, int(i))) for i in k])
        with np.errstate(over="ignore"):
            wanted = exact.astype(dtype)
        found = np.asarray(FORMS[form](special.comb)(np.full(n + 1, n, dtype), k.astype(dtype)))
        assert found.dtype == dtype
        np.testing.assert_allclose(found, wanted, rtol=np.finfo(dtype).eps)


#: Arguments, the argument number and the derivative, by mpmath.
SLOPES: dict[str, list[tuple[float, ...]]] = {
    "gamma": [(-709.78, 0, 0.0), (-1e5 - 0.5, 0, 0.0)],
    "gammainc": [
        (1e8, 1e8, 0, -3.9894228073388444e-05), (1e10, 1e10, 0, -3.9894228040475715e-06),
        (LARGEST, LARGEST, 0, -2.9754474593158995e-155), (1e7, 0.0, 0, 0.0),
    ],
    "gammaincc": [(1e-20, 1.0, 0, 0.21938393439552026), (1e-20, 1.0, 1, -3.6787944117144235e-21)],
    "zeta": [
        (2.0, 1e300, 0, -6.917755278982137e-298), (2.0, 1e150, 1, -1e-300), (3.0, 1e140, 0, -1.6143095650958317e-278),
    ],
    "poch": [(1e300, 1e-8, 1, 690.7802996229941), (-1000.0, 200.5, 0, INF)],
    "betaln": [
        (-0.5, 1e16, 0, -36.80487151392615), (-10.5, 1e100, 0, -227.86027016986878),
        (-0.3, -1.7, 0, 1.8014398509481984e16), (-3.3, 1.3, 0, 4503599627370499.0),
        (-1e5 - 0.3, 0.3, 0, -343596072962.71747),
    ],
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", SLOPES)
def test_special_derivative_at_extreme_arguments(name: str, form: str) -> None:
    def slope(i: int, *xs: Any) -> Any:
        one = [np.ones(1) if i == j else np.zeros(1) for j in range(len(xs))]
        return jvp(getattr(special, name), xs, tuple(one))[1]

    # One program for each argument.
    slopes = [FORMS[form](lambda *xs, i=i: slope(i, *xs)) for i in range(len(SLOPES[name][0]) - 2)]
    for *args, number, wanted in SLOPES[name]:
        with np.errstate(all="ignore"):
            found = slopes[int(number)](*[np.array([x]) for x in args])
        np.testing.assert_allclose(found, [wanted], rtol=1e-9, err_msg=f"{args}, by argument {number}")


#: Arguments, and the derivative by both, by mpmath.
MIXED: dict[str, list[tuple[float, float, float]]] = {
    "boxcox1p": [
        (1e-12, 0.5, 9.9999999999899998e-13), (-1e-9, 12.0, -9.9999998950000011e-10), (1e-300, 3.0, 1e-300),
        (1e-12, 0.0, 9.9999999999849998e-13), (2.0, 40.0, 4452186891611918996.75),
    ],
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", MIXED)
def test_special_mixed_derivative_at_extreme_arguments(name: str, form: str) -> None:
    x, y, wanted = np.array(MIXED[name]).T
    ones = np.ones_like(x)

    def mixed(x: Any, y: Any) -> Any:
        return jvp(lambda y: jvp(lambda x: getattr(special, name)(x, y), (x,), (ones,))[1], (y,), (ones,))[1]

    with np.errstate(all="ignore"):
        np.testing.assert_allclose(FORMS[form](mixed)(x, y), wanted, rtol=1e-12)


@pytest.mark.parametrize("mode", [jacfwd, jacrev])
@pytest.mark.parametrize("form", FORMS)
def test_polygamma_derivative_of_extreme_orders(form: str, mode: Any) -> None:
    for m, x, wanted in [(1, 1e140, -1e-280), (199, 1e3, -4.3508192705971016e-228), (199, 1e-300, -INF)]:
        found = FORMS[form](mode(lambda x, m=m: special.polygamma(m, x)))(x)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_digamma_derivatives_at_negative_half_integers(form: str) -> None:
    """The cotangent in the reflected function is 0, and so are its even derivatives."""
    found: Any = special.digamma
    for wanted in (9.8695944011893577, -9.99980000274997e-11, 194.81818206800487, -5.99976000549991e-20):
        found = jacfwd(found)
        np.testing.assert_allclose(FORMS[form](found)(-1e5 - 0.5), wanted, rtol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_incomplete_gamma_of_enormous_arguments(form: str) -> None:
    """In steps of the standard deviation both functions are distribution functions, with the skewness of gamma's."""
    a = np.array([[1e6], [1e8], [1e12], [1e20]])
    steps = np.array([-6.0, -1.5, 0.0, 0.5, 3.0, 7.0])
    lower, upper = (FORMS[form](f)(a + 0 * steps, a + steps * np.sqrt(a)) for f in (ops.igamma, ops.igammac))
    np.testing.assert_allclose(lower + upper, 1.0, rtol=1e-15)
    size = np.exp(-(steps**2) / 2) / np.sqrt(2 * np.pi)
    expected = special.ndtr(steps) - size * (steps**2 - 1) / (3 * np.sqrt(a))
    np.testing.assert_allclose(lower[1:], expected[1:], rtol=1e-2, atol=1e-8)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("outer", [jacfwd, jacrev])
def test_incomplete_gamma_higher_derivatives_of_enormous(outer: Any, form: str) -> None:
    """The values are integrals of the density times polynomials of logarithms, by mpmath with 60 digits."""
    functions = [
        outer(jacfwd(ops.igamma)),
        outer(jacfwd(jacfwd(ops.igamma))),
        outer(jacfwd(ops.igammac)),
        outer(jacfwd(ops.igamma, 1), 0),
        outer(jacfwd(ops.igamma, 0), 1),
    ]
    derivatives = FORMS[form](lambda a, x: [f(a, x) for f in functions])  # one program for all
    for a, x, *wanted in [
        (1e6, 1e6 - 3e3, 1.3215794392405888e-08, -3.5308323182278166e-11),
        (2e7, 2e7 + 1e4, -3.6624655269687534e-09, -1.464437008758764e-12),
        (1e12, 1e12 + 2e6, -1.0798200501412149e-13, -1.6197273756649364e-19),
    ]:
        np.testing.assert_allclose(derivatives(a, x)[:3], [*wanted, -wanted[0]], rtol=1e-9)
    for a, x, mixed in [
        (1e6, 1e6, 1.9947115682330928e-10), (1e8, 1e8 - 1e4, -2.419868576485095e-09),
        (1e12, 1e12, 1.9947114020073295e-19), (1e100, 1e100, 1.9947114020071632e-151),
    ]:  # fmt: skip
        np.testing.assert_allclose(derivatives(a, x)[3:], [mixed, mixed], rtol=1e-9)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", ["acos", "acosh", "asin", "asinh", "sqrt"])
def test_complex_inverse_next_to_branch_points(name: str, dtype: str) -> None:
    """The square of the distance from the branch point underflows."""
    info = np.finfo(dtype)
    distance = np.array([1.5 * info.tiny, info.tiny**0.75, info.tiny**0.5, info.eps**2, info.eps])
    z = np.concatenate([x + 1j * s * distance for x in (1, -1, 0) for s in (1, -1)])
    z = np.concatenate([z, 1j * z]).astype(dtype)
    found, wanted = np.asarray(jit(getattr(ops, name), backend="xla")(z)), getattr(ops, name)(z)
    for part in ("real", "imag"):
        np.testing.assert_allclose(getattr(found, part), getattr(wanted, part), rtol=8 * info.eps, atol=info.tiny)


@pytest.mark.parametrize("form", FORMS)
def test_complex_gamma_next_to_poles(form: str) -> None:
    """Next to a pole p of residue r: ``gamma(p + z) = r / z``, ``digamma(p + z) = -1 / z``."""
    z = np.array([1e-160, 1e-200 + 1e-200j, -1e-200 + 1e-170j, 1e-300j, 2e-305 - 1e-305j])
    log = np.log(np.abs(z)) + 1j * np.angle(z)
    np.testing.assert_allclose(FORMS[form](special.loggamma)(z), -log, rtol=1e-14)
    np.testing.assert_allclose(FORMS[form](special.digamma)(z), -1 / z, rtol=1e-14)
    np.testing.assert_allclose(FORMS[form](special.gamma)(z), 1 / z, rtol=1e-12)
    np.testing.assert_allclose(FORMS[form](special.gamma)(-3 + 1e-200j), -1 / 6 / 1e-200j, rtol=1e-12)


#: ``a``, ``b``, ``x``, and the value by mpmath with 60 digits, which integrates the density.
BETAINC: list[tuple[float, ...]] = [
    (10000000000.0, 10000000000.0, 0.4999964644660941, 0.15865525393243618),
    (1000000000000.0, 1000000000000.0, 0.4999996464466094, 0.15865525391344037),
    (1000000000000.0, 3000000000000.0, 0.2500001082531755, 0.6914625121003227),
    (100000000000000.0, 100000000000000.0, 0.5, 0.5),
    (100000000000000.0, 100000000000000.0, 0.4999998939339828, 0.0013498980299441595),
    (1e16, 1e16, 0.5, 0.5),
    (1e16, 2e16, 0.3333333360549886, 0.8413447462254584),
    (100000000000.0, 300000000000000.0, 0.0003332212056811911, 0.15865525393312005),
    (5.0, 1000000000000.0, 6.11803398871651e-12, 0.7304319696817965),
    (1000000000000.0, 5.0, 0.9999999999927639, 0.15252179112446176),
    (1000000000000.0, 1000000.0, 0.9999989970010045, 0.001361740520790718),
    (1000000.0, 1000000000000.0, 9.99999000001e-07, 0.5001329805614264),
    (1e-20, 100.0, 0.001, 1.0),
    (1e-10, 1000000000000000.0, 1e-16, 0.9999999998177076),
    (0.5, LARGEST, 0.5, 1.0),
    (LARGEST, 0.5, 0.5, 0.0),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("row", BETAINC, ids=str)
def test_betainc_of_large_arguments(row: tuple[float, ...], form: str) -> None:
    """The error is at most that of a rounding of ``x``, or of ``1 - x``."""
    a, b, x, expected = row
    found = float(FORMS[form](ops.betainc)(a, b, x))
    np.testing.assert_allclose(found, expected, rtol=1e-13 + 4e-16 * math.sqrt(min(a, b)))


@pytest.mark.parametrize("form", FORMS)
def test_betainc_of_tiny_parameters_is_a_probability(form: str) -> None:
    """The mass is at an end: nothing is left for the other one, and no less."""
    for a, b, x in [(2.0, 1e-20, 0.99999), (1e15, 1e-20, 1 - 2.0**-53), (1e-20, 1e-300, 0.5), (1e-20, 9.0, 0.9)]:
        found = FORMS[form](ops.betainc)(np.array([a, b]), np.array([b, a]), np.array([x, 1 - x]))
        np.testing.assert_allclose(found, np.round(found), atol=3e-15)
        assert ((found >= 0) & (found <= 1)).all()


@pytest.mark.parametrize("form", FORMS)
def test_betainc_of_enormous_arguments_is_a_step(form: str) -> None:
    for a, b, step in [(LARGEST, LARGEST, 0.5), (1e300, 1e300, 0.5), (3e250, 1e250, 0.75), (1e15, 1e300, 1e-285)]:
        found = FORMS[form](ops.betainc)(a, b, np.array([step * 0.99, step * 1.01]))
        np.testing.assert_allclose(found, [0.0, 1.0], atol=1e-300)


@pytest.mark.parametrize("form", FORMS)
def test_betainc_of_one_enormous_parameter_is_igamma(form: str) -> None:
    """Poisson's limit of the binomial distribution: large ``b`` at a fixed mean ``b * x``."""
    for a, b, x in [
        (9.9e9, 1.7e308, 5.8235e-299),
        (9.9e9, 1e300, 9.9e-291),
        (5.0, 1e308, 1e-307),
        (0.5, 1e300, 1e-300),
    ]:
        found = float(FORMS[form](ops.betainc)(a, b, x))
        np.testing.assert_allclose(found, ops.igamma(a, b * x), rtol=1e-11)
    assert FORMS[form](ops.betainc)(9.9e9, 1.7e308, 1e-300) == 0.0


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("order", range(9))
def test_polygamma_of_a_known_order_is_that_of_an_array(form: str, order: int) -> None:
    """Small known orders have a program of their own, also for derivatives."""
    x = np.array([-2.3, -0.5, 0.1, 1.0, 2.5, 30.0, 1e5])
    orders = np.full(x.shape, order)
    for known in (order, float(order), np.int64(order)):
        found, tangent = jvp(FORMS[form](lambda x, known=known: ops.polygamma(known, x)), (x,), (np.ones_like(x),))
        np.testing.assert_allclose(found, ops.polygamma(orders, x), rtol=2e-13)
        np.testing.assert_allclose(tangent, ops.polygamma(orders + 1, x), rtol=2e-13)
