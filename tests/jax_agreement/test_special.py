"""`lawful.special` and its ops: values as SciPy's and JAX's, derivatives as JAX's wherever that has a number.

Over grids of ordinary and special numbers; accuracy over wide domains against SciPy; and compiled as evaluated.
"""

import itertools
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial

import jax
import jax.scipy.special as jax_special
import jax.scipy.stats as jax_stats
import numpy as np
import pytest
import scipy.special
import scipy.stats

from lawful import ops, special
from lawful.autodiff import grad
from lawful.batching import vmap
from lawful.special import stats
from lawful.staging import jit

RANDOM = np.random.default_rng(0)
EDGES = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 3.0, -2.5, 20.0, -3.0])
REAL = np.concatenate([EDGES, RANDOM.uniform(-3, 3, 20)])
POSITIVE = np.array([0.0, 1e-3, 0.5, 1.0, 2.0, 3.5, np.nan, *RANDOM.uniform(0, 5, 4)])
UNIT = np.concatenate([[0.0, 1.0, np.nan, -0.5, 1.5], RANDOM.uniform(0, 1, 15)])

# The numbers that each argument takes.
FUNCTIONS = {
    **dict.fromkeys(("expit", "logit", "gamma", "gammasgn", "digamma", "erf", "erfc", "i0e", "i1e", "ndtr"), (REAL,)),
    **dict.fromkeys(("gammaln", "log_ndtr", "entr", "i0", "i1"), (REAL,)),
    **dict.fromkeys(("erfinv", "ndtri"), (UNIT,)),
    **dict.fromkeys(("xlogy", "xlog1py", "rel_entr", "kl_div"), (REAL, REAL)),
    **dict.fromkeys(("betaln", "beta"), (POSITIVE[1:], POSITIVE[1:])),
    **dict.fromkeys(("gammainc", "gammaincc"), (POSITIVE, POSITIVE)),
    **dict.fromkeys(("erfcx", "dawsn"), (REAL,)),
    **dict.fromkeys(("exp1", "spence"), (POSITIVE[1:],)),
    "erfcinv": (UNIT,),
    "expi": (REAL[REAL != 0],),
    "factorial": (POSITIVE,),
    "boxcox": (POSITIVE[1:], np.array([-1.5, 0.5, 2.0])),
    "boxcox1p": (POSITIVE[1:], np.array([-1.5, 0.5, 2.0])),
    "comb": (np.array([3.0, 5.5, 12.0]), np.array([0.5, 1.0, 2.5])),
    "poch": (POSITIVE[1:], POSITIVE[1:]),
    "owens_t": (np.array([-2.0, 0.5, 3.0]), np.array([-1.5, 0.5, 2.0])),
    "expn": (np.array([0.0, 1.0, 2.0, 5.0]), POSITIVE[1:]),
    "zeta": (np.array([1.1, 1.5, 2.0, 3.0, 8.0]), POSITIVE[1:]),
    "betainc": (POSITIVE[::2], POSITIVE[::2], np.array([0.0, 0.1, 0.5, 0.9, 1.0, np.nan, -1.0, 2.0])),
}
SCALES, SHAPES = np.array([0.5, 2.0]), np.array([0.5, 1.0, 2.5])
LOCATED = (REAL[~np.isnan(REAL)], np.array([0.0, 0.7]), SCALES)
INSIDE = UNIT[(UNIT > 0) & (UNIT < 1)]
COUNTS = np.array([0.0, 1.0, 2.0, 7.0, -1.0])
DISTRIBUTIONS = {
    **{f"norm.{n}": LOCATED for n in ("logpdf", "pdf", "cdf", "logcdf", "sf", "logsf")},
    **{f"norm.{n}": (UNIT, *LOCATED[1:]) for n in ("ppf", "isf")},
    **{f"gamma.{n}": (LOCATED[0][LOCATED[0] != 0], SHAPES, *LOCATED[1:]) for n in ("logpdf", "pdf", "cdf", "sf")},
    **{f"beta.{n}": (INSIDE, SHAPES, SHAPES, np.zeros(1), SCALES) for n in ("logpdf", "pdf", "cdf", "sf")},
    **{f"expon.{n}": LOCATED for n in ("logpdf", "pdf", "cdf", "sf")},
    "expon.ppf": (INSIDE, *LOCATED[1:]),
    **{f"t.{n}": (LOCATED[0], np.array([1.0, 2.5, 100.0]), *LOCATED[1:]) for n in ("logpdf", "pdf")},
    **{f"uniform.{n}": LOCATED for n in ("logpdf", "pdf", "cdf")},
    "uniform.ppf": (INSIDE, *LOCATED[1:]),
    **{f"poisson.{n}": (COUNTS, np.array([0.5, 3.0, 20.0])) for n in ("logpmf", "pmf", "cdf")},
    **{f"bernoulli.{n}": (COUNTS, np.array([0.0, 0.3, 0.5, 1.0])) for n in ("logpmf", "pmf", "cdf")},
}


def member(module, name):
    for part in name.split("."):
        module = getattr(module, part)
    return module


def grid(axes):
    return [axis.ravel() for axis in np.meshgrid(*axes)]


def assert_near(got, expected, known=True, rtol=1e-9, atol=1e-12):
    got, expected = np.asarray(got), np.asarray(expected)
    known = np.broadcast_to(known, expected.shape)
    np.testing.assert_allclose(got[known], expected[known], rtol=rtol, atol=atol)


def check_values_and_derivatives(function, scipys, jaxs, args, differs):
    """Compares; ``differs(*args)`` says where JAX or SciPy is known to be wrong or to choose otherwise."""
    with np.errstate(all="ignore"):
        compared = ~np.asarray(differs(*args))
        out = function(*args)
        assert_near(out, scipys(*args), compared)
        values, derivatives = jax.jit(partial(values_and_derivatives, jaxs))(*args)
        assert_near(out, values, compared, rtol=1e-7)
        assert_near(jit(function, backend="xla")(*args), out, rtol=1e-12)
        for i, expected in enumerate(derivatives):
            if expected is not None:
                known = compared & np.isfinite(expected)
                assert_near(vmap(grad(function, i))(*args), expected, known, rtol=1e-7)


def values_and_derivatives(jaxs, *args):
    """Returns JAX's values, and its derivatives by each argument, to be compiled at once: op by op it takes longer."""
    everywhere = range(len(args))
    try:
        return jax.vmap(jax.value_and_grad(jaxs, tuple(everywhere)))(*args)
    except ValueError as error:
        assert "not supported" in str(error)  # noqa: PT017  # JAX has no derivative of betainc by a and b
        return jaxs(*args), [derivative_if_supported(jaxs, i, args) for i in everywhere]


def derivative_if_supported(jaxs, i, args):
    try:
        return jax.vmap(jax.grad(jaxs, i))(*args)
    except ValueError as error:
        assert "not supported" in str(error)  # noqa: PT017


# Where JAX or SciPy has another value, or JAX another derivative.
DIFFERS = {
    "i0": lambda x: np.isinf(x),  # JAX: ∞ · 0
    "i1": lambda x: np.isinf(x),
    "gammasgn": lambda x: np.isnan(x),  # JAX's derivative of NaN is 0
    "i1e": lambda x: np.isnan(x),
    "gammaln": lambda x: x == -np.inf,  # SciPy: -∞
    "digamma": lambda x: (x == 0) & np.signbit(x),  # SciPy: ∞
    "log_ndtr": lambda x: x == -np.inf,
    "kl_div": lambda p, q: np.isinf(p) | np.isinf(q),
    "gammainc": lambda a, x: a == 0,  # JAX: NaN
    "gammaincc": lambda a, x: a == 0,
    "expi": lambda x: x == np.inf,  # JAX: NaN
    "spence": lambda x: x == 1,  # JAX's derivative is 0
    "uniform.cdf": lambda x, loc, scale: (x == loc) | (x == loc + scale),  # JAX shares the derivative of its ends
    "uniform.logpdf": lambda x, *_: np.isinf(x),
    "uniform.pdf": lambda x, *_: np.isinf(x),
}


def nowhere(*args):
    return np.zeros(args[0].shape, bool)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_functions(name):
    args = grid(FUNCTIONS[name])
    functions = [getattr(module, name) for module in (special, scipy.special, jax_special)]
    check_values_and_derivatives(*functions, args, DIFFERS.get(name, nowhere))


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_special_distributions(name):
    args = grid(DISTRIBUTIONS[name])
    functions = [member(module, name) for module in (stats, scipy.stats, jax_stats)]
    check_values_and_derivatives(*functions, args, DIFFERS.get(name, nowhere))


@pytest.mark.parametrize("order", range(4))
def test_polygamma(order):
    x = np.array([1e-3, 0.5, 1.0, 2.0, 30.0, -0.5, -2.3])
    functions = [lambda x, m=m: m.polygamma(order, x) for m in (special, scipy.special, jax_special)]
    check_values_and_derivatives(*functions, [x], nowhere)


def test_multigammaln():
    a = np.array([1.5, 2.0, 7.5])
    functions = [lambda a, m=m: m.multigammaln(a, 3) for m in (special, jax_special, jax_special)]
    check_values_and_derivatives(*functions, [a], nowhere)


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
@pytest.mark.parametrize("name", ["logsumexp", "softmax", "log_softmax"])
def test_special_sums_of_exponentials(name, axis):
    x = RANDOM.normal(size=(3, 4)) * 5
    weights = np.cos(np.arange(4.0))
    function, reference = getattr(special, name), getattr(scipy.special, name)
    assert_near(function(x, axis), reference(x, axis), rtol=1e-13)
    jaxs = jax_special.logsumexp if name == "logsumexp" else getattr(jax.nn, name)
    axes = (0, 1) if axis is None else axis
    if np.size(axis) < 2 and axis not in (None, 1):
        got = grad(lambda x: (function(x, axis) * weights).sum())(x)
        assert_near(got, jax.jit(jax.grad(lambda x: (jaxs(x, axes) * weights).sum()))(x), rtol=1e-10)
    whole = grad(lambda x: (function(x, axis) ** 2).sum())(x)
    assert_near(whole, jax.jit(jax.grad(lambda x: (jaxs(x, axes) ** 2).sum()))(x), rtol=1e-10)


def test_logsumexp_with_factors_and_signs():
    a, b = RANDOM.normal(size=(2, 3, 4))
    for axis, keepdims, sign in itertools.product((None, 0, 1), (False, True), (False, True)):
        got = special.logsumexp(a, axis, b, keepdims, sign)
        with np.errstate(invalid="ignore"):
            expected = scipy.special.logsumexp(a, axis, b, keepdims, sign)
        for x, y in zip(got, expected, strict=True) if sign else [(got, expected)]:
            assert_near(x, y)
            assert np.shape(x) == np.shape(y)

    def total(module, a, b):
        return module.logsumexp(a, 0, b, return_sign=True)[0].sum()

    for i in (0, 1):
        expected = jax.grad(lambda *z: total(jax_special, *z), i)(a, b)
        assert_near(grad(lambda *z: total(special, *z), i)(a, b), expected)


def test_special_normal_vectors():
    root = RANDOM.normal(size=(3, 3))
    args = RANDOM.normal(size=(5, 3)), RANDOM.normal(size=3), root @ root.T + np.eye(3)
    logpdf, jaxs = stats.multivariate_normal.logpdf, jax_stats.multivariate_normal.logpdf
    expected = scipy.stats.multivariate_normal.logpdf(*args)
    for out in (logpdf(*args), jit(logpdf, backend="xla")(*args)):
        assert_near(out, expected, rtol=1e-12)
    for i in range(3):
        assert_near(grad(lambda *z: logpdf(*z).sum(), i)(*args), jax.grad(lambda *z: jaxs(*z).sum(), i)(*args))


def wide(low, high, count=4000):
    return 10 ** np.random.default_rng(1).uniform(low, high, count)


A, B = wide(-3, 5), np.random.default_rng(2).permutation(wide(-3, 5))
X = A * np.random.default_rng(3).uniform(0.5, 1.6, A.size)
Y = np.clip(A / (A + B) * np.random.default_rng(4).uniform(0.5, 1.5, A.size), 0, 1)


@pytest.mark.parametrize(
    ("name", "reference", "args"),
    [
        ("igamma", scipy.special.gammainc, (A, X)),
        ("igamma", scipy.special.gammainc, (A, B)),
        ("igammac", scipy.special.gammaincc, (A, X)),
        ("betainc", scipy.special.betainc, (A, B, Y)),
        ("zeta", scipy.special.zeta, (1 + wide(-5, 2), B)),
        ("digamma", scipy.special.digamma, (wide(-10, 10),)),
        ("bessel_i0e", scipy.special.i0e, (wide(-10, 5),)),
        ("bessel_i1e", scipy.special.i1e, (wide(-10, 5),)),
        ("erf_inv", scipy.special.erfinv, (1 - wide(-16, 0),)),
        ("ndtri", scipy.special.ndtri, (wide(-300, -0.01),)),
        ("log_ndtr", scipy.special.log_ndtr, (-wide(-5, 10),)),
    ],
)
def test_special_ten_digits_over_wide_domains(name, reference, args):
    expected = reference(*args)
    known = (np.abs(expected) > 1e-250) & np.isfinite(expected)
    function = getattr(ops, name)
    assert_near(function(*args), expected, known, rtol=1e-10, atol=0 if name != "digamma" else 1e-13)
    rounding = {"rtol": 1e-9, "atol": 1e-13}  # CHLO's own digits of the inverse error function near 1
    assert_near(jit(function, backend="xla")(*args), expected, known, **rounding)


def exact_lgamma(x):
    """Returns the logarithm of the gamma function to 40 digits, by Stirling's series."""
    bernoulli = [Fraction(1, 6), Fraction(-1, 30), Fraction(1, 42), Fraction(-1, 30), Fraction(5, 66)]
    pi = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")
    shift = Decimal(1)
    while x < 10**3:
        shift, x = shift * x, x + 1
    out = (x - Decimal("0.5")) * x.ln() - x + (2 * pi).ln() / 2 - shift.ln()
    for n, b in enumerate(bernoulli, 1):
        out += Decimal(b.numerator) / b.denominator / (2 * n * (2 * n - 1)) / x ** (2 * n - 1)
    return out


def test_betaln_has_all_digits_where_scipy_has_nine():
    some = slice(0, 40)
    with localcontext(prec=60):
        pairs = [(Decimal(a), Decimal(b)) for a, b in zip(A[some].tolist(), B[some].tolist(), strict=True)]
        expected = [float(exact_lgamma(a) + exact_lgamma(b) - exact_lgamma(a + b)) for a, b in pairs]
    assert_near(ops.betaln(A[some], B[some]), expected, rtol=1e-13)
    assert_near(jit(ops.betaln, backend="xla")(A[some], B[some]), expected, rtol=1e-12)


def test_betaln_of_the_largest_float():
    """The quotient of the arguments is subnormal, which XLA flushes to 0."""
    a, b = np.array([2.53, 0.7]), np.array([np.finfo(float).max, 1e307])
    expected = scipy.special.gammaln(a) - a * np.log(b)
    assert_near(ops.betaln(a, b), expected, rtol=1e-14)
    assert_near(jit(ops.betaln, backend="xla")(a, b), expected, rtol=1e-14)


@pytest.mark.parametrize("name", ["igamma_grad_a", "random_gamma_grad"])
def test_special_derivatives_by_shape_are_those_of_jax(name):
    a = wide(-2, 3, 500)
    x = a * np.random.default_rng(5).uniform(0.3, 2.0, 500)
    expected = np.asarray(getattr(jax.lax, name)(a, x))
    known = np.isfinite(expected) & (np.abs(expected) > 1e-200) & (scipy.stats.gamma.pdf(x, a) > 1e-250)
    assert_near(getattr(ops, name)(a, x), expected, known, rtol=1e-9, atol=0)


@pytest.mark.parametrize("place", [0, 1])
def test_betainc_derivatives_by_parameters(place):
    """JAX lacks the derivatives by the parameters; they agree with finite differences."""
    a, b = wide(-1, 2, 200), np.random.default_rng(6).permutation(wide(-1, 2, 200))
    x = np.random.default_rng(7).uniform(0, 1, 200)

    def moved(h):
        steps = [0.0, 0.0]
        steps[place] = h
        return scipy.special.betainc(a * (1 + steps[0]), b * (1 + steps[1]), x)

    h = 1e-3
    expected = (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h * (a, b)[place])
    assert_near(vmap(grad(ops.betainc, place))(a, b, x), expected, rtol=1e-7, atol=1e-9)
