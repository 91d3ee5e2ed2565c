"""The logarithm of the gamma function, its derivatives, and the Hurwitz zeta function.

>>> lgamma(np.array([1.0, 5.0]))
array([0.        , 3.17805383])
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from lawful.core import ArgumentTypeError, Call, Choose, Interval, MissingRuleError, ShapedArray, get_aval, is_float
from lawful.ops._elementwise.arithmetic.arithmetic import add, mul, neg
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise
from lawful.ops._special.gamma import taylor
from lawful.ops._special.gamma.digamma_derivatives import BERNOULLI, digamma_derivative_p
from lawful.ops._support.double import (
    REAL_PROMOTION,
    Algorithm,
    EvaluatedInDouble,
    each,
    is_nowhere,
    is_staged,
    lowered_in_double,
    polynomial,
    weighted_sum,
)
from lawful.ops._support.promotion import (
    OfKinds,
    broadcast_arrays_to,
    broadcast_shapes,
    convert,
    promote,
    require_equal,
)
from lawful.ops._support.structural import strong

__all__ = [
    "digamma",
    "digamma_p",
    "lgamma",
    "lgamma_p",
    "polygamma",
    "polygamma_p",
    "zeta",
    "zeta_derivative_p",
    "zeta_p",
]

# Above this the logarithm of the gamma function overflows float64.
_LARGEST = 2.5e305
# The function at 0 to 1023: a table for arrays of more than `_FEW_COUNTS` integers, such as counts.
_OF_COUNTS = np.array([math.inf, *[math.lgamma(n) for n in range(1, 1024)]])
_FEW_COUNTS = 16
_SHIFT = 10
_SHIFTS = np.arange(float(_SHIFT))
# Up to this many elements, fewer calls of NumPy weigh more than the memory that they need.
_FEW = 4096
_EULER_MACLAURIN = tuple([b / math.factorial(2 * n) for n, b in enumerate(BERNOULLI, 1)])
# Where the exponent is larger than this many times the start, the terms that are left out underflow.
_LARGEST_RATIO = 1e15
# From here on all terms but the integral vanish beside it, unless they underflow with it.
_FAR = 1e18
# Polygamma of these is by `digamma_derivative_p`, where the order is known.
_KNOWN_ORDERS = range(1, 7)
# Up to this order polygamma is a factorial times a zeta function.
_FEW_FACTORS = 10


def _numpy_lgamma(x: Any) -> Any:
    whole = x == np.floor(x)
    if type(x) is np.ndarray and x.size > _FEW_COUNTS and whole.all() and x.min() >= 1 and x.max() < len(_OF_COUNTS):
        return _OF_COUNTS.take(x.astype(np.intp))
    infinite = ((x <= 0) & whole) | (x > _LARGEST)
    return np.where(infinite, np.inf, each(math.lgamma, np.where(infinite, 1.0, x)))


def numpy_digamma(x: Any) -> Any:
    """Returns the digamma function: reflected (DLMF 5.5.4), shifted up, and there by its series (DLMF 5.11.2)."""
    reflected = x < 0.5
    z = np.where(reflected, 1 - x, x)
    w = z + _SHIFT
    coefficients = tuple([b / (2 * n) for n, b in enumerate(BERNOULLI[:8], 1)])
    tail = polynomial(1 / (w * w), coefficients=coefficients) / (w * w)
    out = np.log(w) - 0.5 / w - np.where(z == np.inf, 0.0, tail) - _sum_of_inverses(z)
    if is_nowhere(reflected):
        return out
    # tan(π x) has period 1 in x, and is exact near 0 only.
    cotangent = math.pi / np.tan(math.pi * (x - np.rint(x)))
    out = np.where(reflected, out - cotangent, out)
    pole = (x < 0) & (x == np.floor(x))
    return np.where(x == 0, -np.inf, np.where(pole, np.nan, out))


def _sum_of_inverses(z: Any) -> Any:
    if not is_staged(z) and 1 < z.size <= _FEW:  # a sum over the first axis adds in the same order
        return np.add.reduce(1 / (z + _SHIFTS.reshape((_SHIFT,) + (1,) * z.ndim)), axis=0)
    total = 0.0
    for k in range(_SHIFT):
        total = total + 1 / (z + k)
    return total


def _zeta_of_positive(s: Any, q: Any, order: int, scale: Any = None) -> Any:
    """Returns a derivative by ``s`` of the zeta function of ``s > 1, q > 0``: Euler and Maclaurin, DLMF 25.11.9.

    A ``scale`` divides what is raised to powers, so that the value is multiplied by ``scale ** s``.
    """

    def scaled(base: Any) -> Any:
        return base if scale is None else base / scale

    def series(power: Any, base: Any) -> taylor.Series:
        out = {(0, 0): power}
        for i in range(1, order + 1):
            out[i, 0] = out[i - 1, 0] * -np.log(base) / i
        return out

    a = q + _SHIFT
    # The power would underflow before its product with a large number.
    far = a > _FAR
    first, exponent = scaled(a), -(s - np.where(far, 1.0, 0.0))
    # NumPy's power with the exponent -1 rounds differently for one number and for many.
    last = series(np.where(exponent == -1, 1 / first, first**exponent), a)
    if is_staged(q):  # one longer array, so that the program is short
        starts = q + np.arange(float(_SHIFT)).reshape((_SHIFT,) + (1,) * q.ndim)
        before = series(scaled(starts) ** -s, starts)[order, 0].sum(0)
    else:
        terms = [series(scaled(q + k) ** -s, q + k)[order, 0] for k in range(_SHIFT)]
        before = sum(terms[1:], start=terms[0])
    start = np.where(far, 1.0 if scale is None else scale, a)
    integral = taylor.over(taylor.times(last, start, (0, 0)), s - 1, (1, 0))[order, 0]
    rest = taylor.product(last, _corrections(s, 1 / a, order))[order, 0]
    # Scaled powers may overflow, in which the sum of the rest may be negative.
    dropped = far if scale is None else far | (before == np.inf)
    return math.factorial(order) * (before + integral + np.where(dropped, 0.0, rest))


def _corrections(s: Any, inverse: Any, order: int) -> taylor.Series:
    """Returns the half and the terms with Bernoulli numbers, over the first term that is left out."""
    ratio = np.minimum(s * inverse, _LARGEST_RATIO)
    total = taylor.constant(_EULER_MACLAURIN[-1], (order, 0))
    for j in range(len(_EULER_MACLAURIN) - 1, 0, -1):
        for k in (2 * j, 2 * j - 1):
            total = taylor.times(total, ratio + k * inverse, (inverse, 0))
        total[0, 0] = total[0, 0] + _EULER_MACLAURIN[j - 1]
    total = taylor.times(total, ratio, (inverse, 0))
    total[0, 0] = total[0, 0] + 0.5
    return total


def numpy_zeta(s: Any, q: Any, scale: Any = None, *, order: int = 0) -> Any:
    """Returns the derivative by ``s`` of the Hurwitz zeta function, 0 for ``q = ∞``, NaN where it is not defined.

    The function itself is multiplied by ``scale ** s`` if that is given.
    """
    inside = (s > 1) & (s < np.inf) & (np.abs(q) < np.inf)
    if is_staged(s):  # each selection would be a function to compile
        t, p = s, q
    else:
        t, p = np.where(inside, s, 2.0), np.where(inside, q, 1.0)
    negative = p < 0
    # For a negative q the terms before its fractional part are a difference of two zeta functions.
    below = np.floor(p)
    pole = (p <= 0) & (p == below)
    fraction = np.where(negative, p - below, p)
    if not is_staged(s):
        fraction = np.where(pole, 1.0, fraction)
    if order or is_nowhere(negative):
        out = _zeta_of_positive(t, fraction, order, scale)
    else:
        sign = np.where(negative, np.where(t - 2 * np.floor(t / 2) == 1, -1.0, 1.0), 0.0)
        if not is_staged(s):
            p = np.where(negative, p, 0.0)
        terms = (1, fraction), (sign, below + 1 - p), (-sign, 1 - p)
        out = weighted_sum(lambda q: _zeta_of_positive(t, q, 0, scale), *terms)
        out = np.where(negative & (t != np.floor(t)), np.nan, out)
    out = np.where(pole, np.inf, out) if order == 0 else np.where(p <= 0, np.nan, out)
    out = np.where(inside, out, np.nan)
    far = (q == np.inf) & (s > 1) | (s == np.inf) & (q > 1)
    out = np.where(far, 0.0, out)
    if order == 0:
        out = np.where((s == np.inf) & (q == 1), 1.0, np.where((s == np.inf) & (q > 0) & (q < 1), np.inf, out))
        out = np.where((s == 1) & (q == q), np.inf, out)
    return out


def _numpy_polygamma(m: Any, x: Any) -> Any:
    n = np.where((m > 0) & (m < np.inf), np.minimum(m, _LARGEST), 1.0)
    odd = n - 2 * np.floor(n / 2) == 1
    distance = np.abs(x - np.rint(x))
    # The terms on both sides of 0 cancel.
    x = np.where((x < 0) & (distance == 0.5) & ~odd, 1 - x, x)
    # The factorial may overflow where the zeta function underflows: its root divides all that is raised to powers. Of a
    # negative number the largest power may overflow, which the distance from the nearest pole divides.
    is_few, is_positive = n <= _FEW_FACTORS, x > 0
    log_factorial = lgamma(n + 1)
    pole_distance = np.where(distance > 0, distance, 1.0)
    exponent = np.where(is_positive, log_factorial / (n + 1), log_factorial - (n + 1) * np.log(pole_distance))
    power = np.exp(np.where(is_few, log_factorial, exponent))
    is_root = is_positive & ~is_few
    scale = np.where(is_root, power, np.where(is_few, 1.0, pole_distance))
    size = np.where(is_root, 1.0, power) * numpy_zeta(n + 1, x, scale)
    out = np.where(odd, size, -size)
    defined = (m >= 0) & (m == np.floor(m)) & (m < np.inf)
    return np.where(defined, np.where(m == 0, numpy_digamma(x), out), np.nan)


lgamma: Elementwise = elementwise(
    "lgamma",
    """Returns the logarithm of the absolute value of the gamma function: infinite at 0, -1, -2, … and at ±∞.

    >>> lgamma(np.array([0.5, 5.0, -1.0]))
    array([0.57236494, 3.17805383,        inf])

    Source: ``jax.lax.lgamma``; ``scipy.special.gammaln``, which is -∞ at -∞.
    """,
    EvaluatedInDouble("lgamma", _numpy_lgamma),
    lambda ctx, x: ctx.chlo.lgamma(x),
    promote_as=REAL_PROMOTION[1],
    derivatives=(lambda t, ans, x: mul(t, digamma(x)),),
    domain=(Interval(0.3, 4.0),),
)
digamma: Elementwise = elementwise(
    "digamma",
    """Returns the derivative of `lgamma`: -∞ at 0, NaN at the negative integers and -∞, as ``scipy.special.digamma``.

    At -0.0 it is -∞ as well, as in XLA; SciPy gives ∞ there.

    >>> digamma(np.array([1.0, 2.0]))
    array([-0.57721566,  0.42278434])

    Source: ``jax.lax.digamma``.
    """,
    EvaluatedInDouble("digamma", numpy_digamma),
    lambda ctx, x: ctx.chlo.digamma(x),
    promote_as=REAL_PROMOTION[1],
    derivatives=(lambda t, ans, x: mul(t, digamma_derivative_p.bind(x, order=1)),),
    domain=(Interval(0.3, 4.0),),
)


def _zeta_by_exponent(t: Any, ans: Any, x: Any, q: Any, *, order: int = 0) -> Any:
    return mul(t, zeta_derivative_p.bind(x, q, order=order + 1))


def _zeta_by_start(t: Any, ans: Any, x: Any, q: Any, *, order: int = 0) -> Any:
    following = add(x, 1)
    slope = mul(x, _zeta_of_order(following, q, order))
    if order:
        slope = add(slope, mul(_zeta_of_order(following, q, order - 1), order))
    return neg(mul(t, slope))


def _zeta_of_order(x: Any, q: Any, order: int) -> Any:
    return zeta_derivative_p.bind(x, q, order=order) if order else zeta_p.bind(x, q)


def _declare_zeta(name: str, doc: str, algorithm: Algorithm, **options: Any) -> Elementwise:
    return elementwise(
        name,
        doc,
        EvaluatedInDouble(name, algorithm),
        lowered_in_double(algorithm, inlined=False),
        arity=2,
        promote_as=REAL_PROMOTION[2],
        derivatives=(_zeta_by_exponent, _zeta_by_start),
        domain=(Interval(1.3, 4.0), Interval(0.3, 4.0)),
        **options,
    )


zeta: Elementwise = _declare_zeta(
    "zeta",
    """Returns the Hurwitz zeta function: the sum of ``(q + k) ** -x`` over ``k = 0, 1, …``.

    It is infinite at ``x = 1`` and where ``q`` is 0 or a negative integer, NaN for ``x < 1``, and for another negative
    ``q`` unless ``x`` is an integer. It has derivatives in both arguments, of any order; JAX's has none.

    >>> zeta(2.0, np.array([1.0, 2.0]))
    array([1.64493407, 0.64493407])

    Source: ``jax.lax.zeta``, ``scipy.special.zeta``.
    """,
    numpy_zeta,
)
zeta_p = zeta.primitive
zeta_derivative_p = _declare_zeta("zeta_derivative", "", numpy_zeta, params=lambda choose: {"order": 1}).primitive


def polygamma(m: Any, x: Any) -> Any:
    """Returns the derivative of order ``m`` of `digamma`, which is order 0, elementwise.

    Args:
      m: numbers; NaN comes of those that are not integers from 0 on. By these there is no derivative.
      x: real numbers; the result has their dtype, promoted with that of ``m`` where it is float. It is infinite at
        0, -1, -2, … for ``m > 0``.

    Raises:
      ArgumentTypeError: an argument is complex.
      ArgumentValueError: the shapes do not broadcast together.

    >>> polygamma(1, np.array([1.0, 2.0]))
    array([1.64493407, 0.64493407])

    Source: ``jax.lax.polygamma``, where ``m`` has to be float; ``scipy.special.polygamma``.
    """
    order = get_aval(m)
    if order.dtype.kind in "biu" or order.weak_type:
        (x,) = promote("polygamma", np.cbrt, (x,))
        if isinstance(m, int | float | np.integer) and m in _KNOWN_ORDERS:  # products are shorter programs than powers
            return digamma_derivative_p.bind(strong(x), order=int(m))
        dtype = np.dtype(np.int64) if order.dtype.kind in "biu" else get_aval(x).dtype
        m = strong(convert(m, dtype))
    else:
        m, x = promote("polygamma", np.arctan2, (m, x))
    shape = broadcast_shapes("polygamma", get_aval(m).shape, get_aval(x).shape)
    return polygamma_p.bind(*broadcast_arrays_to((m, strong(x)), shape))


def _no_derivative(t: Any, ans: Any, m: Any, x: Any) -> Any:
    raise MissingRuleError(
        "JVP rule for 'polygamma' by its first argument does not exist: the order of a derivative is an integer; "
        "give it as integers, or as a constant"
    )


def _next(t: Any, ans: Any, m: Any, x: Any) -> Any:
    return mul(t, polygamma_p.bind(add(m, 1), x))


class _Polygamma(EvaluatedInDouble):
    """Polygamma; the dtype of the order does not affect that of the result."""

    def __call__(self, m: Any, x: Any) -> Any:
        x = np.asarray(x)
        _polygamma_type(get_aval(m), get_aval(x))
        return super().__call__(np.asarray(m), x).astype(x.dtype)[()]


polygamma_p = elementwise(
    "polygamma",
    "",
    _Polygamma("polygamma", _numpy_polygamma),
    lowered_in_double(_numpy_polygamma),
    arity=2,
    derivatives=(_no_derivative, _next),
    promote_as=OfKinds("if"),
    domain=(Interval(0.0, 3.0), Interval(0.3, 4.0)),
).primitive


@polygamma_p.def_abstract_eval
def _polygamma_type(m: ShapedArray, x: ShapedArray) -> ShapedArray:
    if m.dtype not in (np.dtype(np.int64), x.dtype) or not is_float(x.dtype):
        raise ArgumentTypeError(
            f"polygamma_p: expected orders of dtype int64 or that of the floats, got {m} and {x}; "
            "call lawful.ops.polygamma, which promotes and broadcasts"
        )
    return require_equal("polygamma", (m.update(dtype=x.dtype), x), scalars=True)


def _sample_polygamma(choose: Choose) -> Call:
    shape = choose.shape()
    return (ShapedArray(shape, np.dtype(np.int64)), ShapedArray(shape, choose.dtype("f"))), {}


assert polygamma_p.declaration is not None
polygamma_p.declaration = replace(polygamma_p.declaration, sample=_sample_polygamma, kinds="i")

lgamma_p, digamma_p = lgamma.primitive, digamma.primitive
