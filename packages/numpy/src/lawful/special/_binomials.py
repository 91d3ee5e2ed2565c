"""Binomial coefficients of many things, by their logarithm.

A derivative is the coefficient times a factor, which may be finite where the coefficient is not: a root of the
coefficient is multiplied by the factor, and by the root again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy

from lawful import ops
from lawful.autodiff import jvp
from lawful.custom_rules import SymbolicZero, custom_jvp

# Up to here the logarithm of the gamma function is finite.
_MOST = 2.5e305
# From this number of things on, and below its inverse as slope, the coefficient is a power of the number of things over
# a gamma function. Differences of the derivatives of the digamma function would underflow.
_VAST = 1e50

Function = Callable[[Any, Any], Any]
#: A function of the numbers of things, of those chosen, and of the rest.
_OfParts = Callable[[Any, Any, Any], Any]


def _ways(parts: Callable[[Any, Any], tuple[Any, Any, Any]], logarithms: Sequence[Sequence[_OfParts]]) -> Function:
    """Returns the number of ways to choose things, as a function of two numbers with derivatives.

    They are one factor each: a sum of terms may overflow to infinities of both signs.

    Args:
      parts: of the two numbers: how many things there are, are chosen, and are left.
      logarithms: the derivatives of the logarithm, of orders 1 to 3; of each order, by the second number 0 times first.
    """

    def factor(numbers: tuple[int, ...], *p: Any) -> Any:
        count = sum(numbers)
        slopes = {i: logarithms[0][i](*p) for i in set(numbers)}
        out = slopes[numbers[0]]
        for i in numbers[1:]:
            out = ops.mul(out, slopes[i])
        if len(numbers) == 3:
            changes = {i: logarithms[1][count - i](*p) for i in slopes}
            for i in numbers:
                out = ops.add(out, ops.mul(slopes[i], changes[i]))
        return out if len(numbers) == 1 else ops.add(out, logarithms[len(numbers) - 1][count](*p))

    def of_vast(numbers: tuple[int, ...], root: Any, n: Any, k: Any, rest: Any) -> Any:
        """Returns a derivative twice or more by the first number, of the power."""
        part, below = ops.div(root, n), ops.sub(k, 1)
        falling = ops.mul(k, below)
        if numbers == (0, 0, 1):
            falling = ops.add(ops.mul(falling, logarithms[0][1](n, k, rest)), ops.add(k, below))
        out = ops.mul(ops.mul(part, falling), part)
        return ops.mul(out, ops.div(ops.sub(k, 2), n)) if numbers == (0, 0, 0) else out

    def multiplied(numbers: tuple[int, ...], factor: Function) -> Function:
        """Returns the number of ways times a factor, which makes it the derivative by these of the two numbers."""

        def product(x: Any, y: Any) -> Any:
            n, k, rest = parts(x, y)
            root, value = ops.exp(ops.mul(_logarithm(n, k, rest), 0.5)), factor(x, y)
            out = ops.mul(ops.mul(root, value), root)
            if 0 in numbers or len(numbers) % 2 == 0:
                return out
            # By symmetry it is 0 in the middle, where the number of ways may be infinite.
            return ops.where(ops.bitwise_and(ops.eq(value, 0), ops.eq(k, rest)), 0, out)

        def raised(i: int) -> Function:
            def of_product(x: Any, y: Any) -> Any:
                slope = ops.mul(factor(x, y), logarithms[0][i](*parts(x, y)))
                return ops.add(slope, _slope(factor, i)(x, y))

            return lambda x, y: multiplied((*numbers, i), of_product)(x, y)

        return _with_derivatives(product, [raised(0), raised(1)])

    def derivative(numbers: tuple[int, ...]) -> Function:
        def product(x: Any, y: Any) -> Any:
            return ops.where(_are_many(x, y), _of_infinitely_many(numbers, y), of_numbers(x, y))

        def of_numbers(x: Any, y: Any) -> Any:
            n, k, rest = parts(x, y)
            out = multiplied(numbers, lambda x, y: factor(numbers, *parts(x, y)))(x, y)
            if numbers[:2] != (0, 0):
                return out
            root = ops.exp(ops.mul(_logarithm(n, k, rest), 0.5))
            is_vast = ops.bitwise_and(ops.gt(n, _VAST), ops.lt(logarithms[0][0](n, k, rest), 1 / _VAST))
            return ops.where(is_vast, of_vast(numbers, root, n, k, rest), out)

        if len(numbers) == 3:
            return product
        return _with_derivatives(product, [derivatives[tuple(sorted((*numbers, i)))] for i in (0, 1)])

    derivatives: dict[tuple[int, ...], Function] = {}
    for order in (3, 2, 1):
        for numbers in combinations_with_replacement((0, 1), order):
            derivatives[numbers] = derivative(numbers)
    return _with_derivatives(lambda x, y: ops.exp(_logarithm(*parts(x, y))), [derivatives[i,] for i in (0, 1)])


def _with_derivatives(function: Function, derivatives: Sequence[Function]) -> Function:
    """Returns a function with its derivatives by both arguments."""
    ruled = custom_jvp(function)

    def rule(primals: tuple[Any, Any], tangents: tuple[Any, Any]) -> tuple[Any, Any]:
        # The derivative by an argument without a tangent may be infinite.
        terms = [
            ops.mul(derivative(*primals), t)
            for derivative, t in zip(derivatives, tangents, strict=True)
            if type(t) is not SymbolicZero
        ]
        return ruled(*primals), terms[0] if len(terms) == 1 else ops.add(*terms)

    ruled.defjvp(rule, symbolic_zeros=True)
    return ruled


def _slope(function: Function, argnum: int) -> Function:
    """Returns the derivative by one of two numbers."""

    def slope(x: Any, y: Any) -> Any:
        of_one = (lambda t: function(t, y)) if argnum == 0 else (lambda t: function(x, t))
        point = (x, y)[argnum]
        return jvp(of_one, (point,), (ops.full_like(point, 1),))[1]

    return slope


def _logarithm(n: Any, k: Any, rest: Any) -> Any:
    lesser = ops.le(k, rest)
    least, most = ops.where(lesser, k, rest), ops.where(lesser, rest, k)
    divisor = ops.lgamma(ops.min(ops.add(least, 1), _MOST))
    logarithm = ops.sub(ops.log_gamma_quotient(ops.add(most, 1), least), divisor)
    is_one_of_many = ops.bitwise_and(ops.eq(least, 0), ops.eq(most, numpy.inf))
    return ops.where(is_one_of_many, 0, logarithm)


def _are_many(n: Any, k: Any) -> Any:
    """Returns where some of infinitely many things are chosen."""
    return ops.bitwise_and(ops.eq(n, numpy.inf), ops.lt(k, numpy.inf))


def _of_infinitely_many(numbers: tuple[int, ...], k: Any) -> Any:
    """Returns the limit of a derivative by numbers of things and of those chosen: of ``n ** k / gamma(k + 1)``."""
    order = numbers.count(0)
    tie = numpy.inf if 1 in numbers else 1.0
    return ops.where(ops.gt(k, order), numpy.inf, ops.where(ops.eq(k, order), tie, ops.full_like(k, 0.0)))


def _rise(x: Any, h: Any, order: int = 0) -> Any:
    """Returns a derivative of the digamma function at ``x + 1 + h``, less that at ``x + 1``."""
    return ops.neg(ops.digamma_difference_p.bind(ops.add(x, 1), h, order=order))


def _rise_between(k: Any, rest: Any, order: int = 0) -> Any:
    """Returns a derivative of the digamma function at ``rest + 1``, less that at ``k + 1``."""
    lesser, step = ops.le(k, rest), ops.sub(rest, k)
    rise = _rise(ops.where(lesser, k, rest), ops.where(lesser, step, ops.neg(step)), order)
    return ops.where(lesser, rise, ops.neg(rise))


def _polygamma(x: Any, order: int = 1) -> Any:
    """Returns a derivative of the digamma function at ``x + 1``."""
    return ops.digamma_derivative_of_sum_p.bind(x, ops.full_like(x, 1), order=order)


#: The number of ways to choose the second number of things of the first.
many_ways: Function = _ways(
    lambda n, k: (n, k, ops.sub(n, k)),
    [
        [lambda n, k, rest: _rise(rest, k), lambda n, k, rest: _rise_between(k, rest)],
        [
            lambda n, k, rest: _rise(rest, k, 1),
            lambda n, k, rest: _polygamma(rest),
            lambda n, k, rest: ops.neg(ops.add(_polygamma(rest), _polygamma(k))),
        ],
        [
            lambda n, k, rest: _rise(rest, k, 2),
            lambda n, k, rest: _polygamma(rest, 2),
            lambda n, k, rest: ops.neg(_polygamma(rest, 2)),
            lambda n, k, rest: _rise_between(k, rest, 2),
        ],
    ],
)
#: The same of the number that is left and the number that is chosen.
many_ways_of_rest: Function = _ways(
    lambda rest, k: (ops.add(rest, k), k, rest),
    [
        [lambda n, k, rest: _rise(rest, k), lambda n, k, rest: _rise(k, rest)],
        [
            lambda n, k, rest: _rise(rest, k, 1),
            lambda n, k, rest: _polygamma(n),
            lambda n, k, rest: _rise(k, rest, 1),
        ],
        [
            lambda n, k, rest: _rise(rest, k, 2),
            lambda n, k, rest: _polygamma(n, 2),
            lambda n, k, rest: _polygamma(n, 2),
            lambda n, k, rest: _rise(k, rest, 2),
        ],
    ],
)
