"""Rules of elementwise primitives: recurrences between coefficients, from differential equations of the functions.

If ``f' = g(x) x'``, the coefficients of f follow from those of g and of x. If g depends on f, as in ``exp' = exp x'``,
they follow from those of lower order.

Source: Griewank and Walther, "Evaluating Derivatives", 2nd ed., SIAM 2008, chapter 13.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from lawful import ops
from lawful.core import Primitive, get_aval, is_complex, is_float
from lawful.taylor._general_rule import general_rule
from lawful.taylor._series import (
    Series,
    chained,
    constant,
    convolved,
    divided,
    moves,
    plus,
    product,
    scaled,
    times,
    total,
    with_derivative,
)

#: From this exponent on, products lose more digits than a power.
_MANY_PRODUCTS = 64


def unary(primitive: Primitive) -> Callable[[Callable[[Any, Series], Series]], Any]:
    """Returns the decorator that registers ``rule(value, x)`` for a primitive of one operand."""

    def define(rule: Callable[[Any, Series], Series]) -> Any:
        def jet(args: Sequence[Series], **params: Any) -> Series:
            return rule(primitive.bind(args[0][0], **params), args[0])

        primitive.def_rule("jet", jet)
        return rule

    return define


def order_of(x: Series) -> int:
    """Returns the highest order of a series."""
    return len(x) - 1


def minus(x: Any) -> Any:
    """Returns a coefficient, negated."""
    return None if x is None else -x


def one_plus(sign: int, x: Series) -> Series:
    """Returns the series of ``1 + sign x``."""
    rest = x[1:] if sign > 0 else [minus(c) for c in x[1:]]
    return [ops.add(1.0, x[0]) if sign > 0 else ops.sub(1.0, x[0]), *rest]


def integral(value: Any, derivative: Series, x: Series) -> Series:
    """Returns the series of f from its first coefficient and the series of ``f'(x)``, by the chain rule."""
    return with_derivative(value, lambda _, k: chained(derivative, x, k), order_of(x))


# Powers


def quotient(a: Series, b: Series) -> Series:
    """Returns the series of ``a / b``."""
    found: Series = []
    for k in range(len(a)):
        known = total([times(found[j], b[k - j]) for j in range(k)])
        rest = plus(a[k], minus(known))
        found.append(divided(rest, b[0]))
    return found


def reciprocal(x: Series) -> Series:
    """Returns the series of ``1 / x``."""
    return quotient([ops.full_like(x[0], 1), *[None] * order_of(x)], x)


def power(value: Any, x: Series, exponent: float) -> Series:
    """Returns the series of ``x ** exponent``, away from zero."""
    found: Series = [value]
    for k in range(1, len(x)):
        term = total([scaled(exponent * j - (k - j), times(x[j], found[k - j])) for j in range(1, k + 1)])
        found.append(scaled(1 / k, divided(term, x[0])))
    return found


def whole_power(x: Series, exponent: int) -> Series:
    """Returns the series of an integer power, by multiplication; valid at zero too."""
    if exponent < 0:
        return reciprocal(whole_power(x, -exponent))
    found = None
    base = x
    while exponent:
        if exponent & 1:
            found = base if found is None else product(found, base)
        exponent >>= 1
        if exponent:
            base = product(base, base)
    return [ops.full_like(x[0], 1), *[None] * order_of(x)] if found is None else found


def _integer_pow(args: Sequence[Series], y: int) -> Series:
    if abs(y) >= _MANY_PRODUCTS and is_float(get_aval(args[0][0]).dtype):
        found: Series = general_rule(ops.integer_pow_p)(args, y=y)
        return found
    return whole_power(args[0], y)


ops.div_p.def_rule("jet", lambda args: quotient(*args))
ops.square_p.def_rule("jet", lambda args: product(args[0], args[0]))
ops.integer_pow_p.def_rule("jet", _integer_pow)
unary(ops.rsqrt_p)(lambda value, x: power(value, x, -0.5))


@unary(ops.sqrt_p)
def square_root(value: Any, x: Series) -> Series:
    """Returns the series of ``sqrt(x)``, from ``f² = x``; infinite at zero, like its derivative."""
    found: Series = [value]
    for k in range(1, len(x)):
        known = convolved(found, found, k, 1, k - 1, lambda _: 1)
        found.append(scaled(0.5, divided(plus(x[k], minus(known)), value)))
    return found


@unary(ops.cbrt_p)
def _cube_root(value: Any, x: Series) -> Series:
    # From 3 f² f' = x'.
    found, squares = [value], [ops.square(value)]
    for k in range(1, len(x)):
        known = convolved(found, squares, k, 1, k - 1, lambda j: 3 * j)
        found.append(scaled(1 / (3 * k), divided(plus(scaled(k, x[k]), minus(known)), squares[0])))
        squares.append(convolved(found, found, k, 0, k, lambda _: 1))
    return found


# Exponentials and logarithms


def exponential(value: Any, x: Series) -> Series:
    """Returns the series of ``exp(x)``."""
    return with_derivative(value, lambda found, k: chained(found, x, k), order_of(x))


def logarithm(value: Any, x: Series) -> Series:
    """Returns the series of ``log(x)``."""
    return integral(value, reciprocal(x), x)


unary(ops.exp_p)(exponential)
unary(ops.log_p)(logarithm)
unary(ops.log1p_p)(lambda value, x: integral(value, reciprocal(one_plus(1, x)), x))


@unary(ops.expm1_p)
def _expm1(value: Any, x: Series) -> Series:
    return [value, *exponential(ops.exp(x[0]), x)[1:]]


@unary(ops.exp2_p)
def _exp2(value: Any, x: Series) -> Series:
    return exponential(value, [scaled(math.log(2.0), c) for c in x])


# Circular and hyperbolic functions


def _pair(first: Any, second: Any, x: Series, sign: int) -> tuple[Series, Series]:
    """Returns the series of two functions with ``f' = g x'`` and ``g' = sign f x'``."""
    f, g = [first], [second]
    for k in range(1, len(x)):
        f_k, g_k = chained(g, x, k), chained(f, x, k)
        f.append(scaled(1 / k, f_k))
        g.append(scaled(sign / k, g_k))
    return f, g


unary(ops.sin_p)(lambda value, x: _pair(value, ops.cos(x[0]), x, -1)[0])
unary(ops.cos_p)(lambda value, x: _pair(ops.sin(x[0]), value, x, -1)[1])
unary(ops.sinh_p)(lambda value, x: _pair(value, ops.cosh(x[0]), x, 1)[0])
unary(ops.cosh_p)(lambda value, x: _pair(ops.sinh(x[0]), value, x, 1)[1])


def _tangent(primitive: Primitive, sign: int) -> Callable[[Any, Series], Series]:
    """Returns the rule of a function with ``f' = g x'`` and ``g' = 2 sign f g x'``, where ``g = 1 + sign f²``.

    The first coefficient of g is that of the jvp rule: the sum cancels where ``f²`` is near ``-sign``.
    """

    def rule(value: Any, x: Series) -> Series:
        if not moves(x):
            return constant(value, order_of(x))
        slope = general_rule(primitive)([[x[0], ops.full_like(x[0], 1)]])[1]
        f, g = [value], [slope]
        for k in range(1, len(x)):
            g_k = chained(product(f, g), x, k)
            f.append(scaled(1 / k, chained(g, x, k)))
            g.append(scaled(2 * sign / k, g_k))
        return f

    return rule


_tanh = _tangent(ops.tanh_p, -1)
unary(ops.tan_p)(_tangent(ops.tan_p, 1))
unary(ops.tanh_p)(_tanh)


@unary(ops.logistic_p)
def _logistic(value: Any, x: Series) -> Series:
    # (1 + tanh(x / 2)) / 2
    half = [scaled(0.5, c) for c in x]
    return [value, *[scaled(0.5, c) for c in _tanh(ops.tanh(half[0]), half)[1:]]]


def _inverse(primitive: Primitive, derivative: Callable[[Series], Series]) -> None:
    """Defines the rule of a function whose derivative is algebraic: by a recurrence for real numbers.

    Complex squares overflow to NaN, and lose the sign of a zero part, which selects the side of a branch cut.
    """
    of_complex = general_rule(primitive)

    @unary(primitive)
    def rule(value: Any, x: Series) -> Series:
        if is_complex(get_aval(x[0]).dtype):
            found: Series = of_complex([x])
            return found
        return integral(value, derivative(x), x)


def _root_of(x: Series) -> Series:
    root: Series = square_root(ops.sqrt(x[0]), x)
    return root


def _squared(x: Series) -> Series:
    return product(x, x)


def _one_minus_square(x: Series) -> Series:
    return [ops.one_minus_square(x[0]), *[minus(c) for c in _squared(x)[1:]]]  # exact beside 1


def _hypot_one(x: Series) -> Series:
    # From f f' = x x': the square of a large x overflows.
    found: Series = [ops.hypot(x[0], ops.full_like(x[0], 1))]
    for k in range(1, len(x)):
        known = convolved(found, found, k, 1, k - 1, lambda j: j)
        found.append(scaled(1 / k, divided(plus(chained(x, x, k), minus(known)), found[0])))
    return found


_inverse(ops.atan_p, lambda x: reciprocal(one_plus(1, _squared(x))))
_inverse(ops.atanh_p, lambda x: reciprocal(_one_minus_square(x)))
_inverse(ops.asin_p, lambda x: reciprocal(_root_of(_one_minus_square(x))))
_inverse(ops.asinh_p, lambda x: reciprocal(_hypot_one(x)))
_inverse(ops.acos_p, lambda x: [minus(c) for c in reciprocal(_root_of(_one_minus_square(x)))])
# Not a root of the square, which overflows.
_inverse(ops.acosh_p, lambda x: reciprocal(product(_root_of([ops.sub(x[0], 1.0), *x[1:]]), _root_of(one_plus(1, x)))))


# Other functions


@unary(ops.erf_p)
def _erf(value: Any, x: Series) -> Series:
    return integral(value, _gaussian(x, 1), x)


@unary(ops.erfc_p)
def _erfc(value: Any, x: Series) -> Series:
    return integral(value, _gaussian(x, -1), x)


def _gaussian(x: Series, sign: int) -> Series:
    """Returns the series of the derivative of erf, or of erfc."""
    inner = [minus(c) for c in _squared(x)]
    bell = exponential(ops.exp(inner[0]), inner)
    return [scaled(sign * 2 / math.sqrt(math.pi), c) for c in bell]


def _pow(args: Sequence[Series], **params: Any) -> Series:
    base, exponent = args
    if moves(exponent):
        moving: Series = general_rule(ops.pow_p)(args, **params)
        return moving
    order = order_of(base)
    value = ops.pow_p.bind(base[0], exponent[0], **params)
    # composed() needs the derivatives of x ** y at the first coefficient: x ** y, y x ** (y - 1), … They are exact at a
    # zero base, by which the recurrence divides.
    if is_float(get_aval(value).dtype):
        x, y = (ops.convert_element_type(z[0], get_aval(value).dtype) for z in args)
        derivative = partial(ops.pow_derivative_p.bind, x, y, by_exponent=0)
        return composed([value, *[derivative(by_base=k) for k in range(1, order + 1)]], base)
    down = ops.convert_element_type(exponent[0], get_aval(value).dtype)
    outer, factor = [value], ops.full_like(value, 1)
    for _ in range(order):
        factor = factor * down
        down = ops.sub(down, 1.0)
        vanishes = factor == 0
        power_below = ops.pow(ops.select(vanishes, ops.full_like(value, 1), base[0]), down)
        outer.append(ops.select(vanishes, ops.full_like(value, 0), factor * power_below))
    return composed(outer, base)


ops.pow_p.def_rule("jet", _pow)


def composed(derivatives: Sequence[Any], x: Series) -> Series:
    """Returns the series of f at a series, from the derivatives of f at its first coefficient."""
    step = [None, *x[1:]]
    found: Series = [derivatives[0], *[None] * order_of(x)]
    power_of: Series = step
    for k in range(1, len(derivatives)):
        outer = scaled(1 / math.factorial(k), derivatives[k])
        found = [plus(a, times(outer, b)) for a, b in zip(found, power_of, strict=True)]
        power_of = product(power_of, step)
    return found


def _piecewise_constant(primitive: Primitive) -> None:
    def jet(args: Sequence[Series], **params: Any) -> Series:
        return constant(primitive.bind(*[x[0] for x in args], **params), order_of(args[0]))

    primitive.def_rule("jet", jet)


for _primitive in (ops.floor_p, ops.ceil_p, ops.round_nearest_even_p):
    _piecewise_constant(_primitive)


# Not analytic for complex operands; at zero, the jvp rules define the derivatives.
_moved_modulus, _moved_sign = general_rule(ops.abs_p), general_rule(ops.sign_p)


@unary(ops.abs_p)
def _abs(value: Any, x: Series) -> Series:
    if is_complex(get_aval(x[0]).dtype):
        modulus: Series = _moved_modulus([x])
        return modulus
    rises = ops.ge(x[0], 0.0)  # also at zero, as its derivative is by convention
    return [value, *[None if c is None else ops.select(rises, c, -c) for c in x[1:]]]


@unary(ops.sign_p)
def _sign(value: Any, x: Series) -> Series:
    if is_complex(get_aval(x[0]).dtype):
        sign: Series = _moved_sign([x])
        return sign
    return constant(value, order_of(x))
