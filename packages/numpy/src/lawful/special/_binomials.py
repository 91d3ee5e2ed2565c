"""Binomial coefficients of many things, by their logarithm.

A derivative is the coefficient times a factor, which may be finite where the coefficient is not: a root of the
coefficient is multiplied by the factor, and by the root again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lawful import ops
from lawful.custom_rules import SymbolicZero, custom_jvp

# Up to here the logarithm of the gamma function is finite.
_MOST = 2.5e305
# Below this slope the logarithm is that of a power of the number of things: differences of trigamma functions underflow
_FLAT = 1e-100

Function = Callable[[Any, Any], Any]
#: A function of the numbers of things, of those chosen, and of the rest.
_OfParts = Callable[[Any, Any, Any], Any]


def _ways(
    parts: Callable[[Any, Any], tuple[Any, Any, Any]], slopes: Sequence[_OfParts], changes: Sequence[_OfParts]
) -> Function:
    """Returns the number of ways to choose things, as a function of two numbers with derivatives.

    Args:
      parts: of the two numbers: how many things there are, are chosen, and are left.
      slopes: the derivatives of the logarithm by the first number and by the second.
      changes: its second derivatives: by the first twice, by both, by the second twice.
    """

    def of_factor(factor: _OfParts) -> Function:
        def product(x: Any, y: Any) -> Any:
            root = ops.exp(ops.mul(_logarithm(*parts(x, y)), 0.5))
            return ops.mul(ops.mul(root, factor(*parts(x, y))), root)

        return product

    def second(i: int, j: int) -> Function:
        return of_factor(lambda *p: ops.add(ops.mul(slopes[i](*p), slopes[j](*p)), changes[i + j](*p)))

    def by_first_twice(x: Any, y: Any) -> Any:
        n, k, rest = parts(x, y)
        slope, root = slopes[0](n, k, rest), ops.exp(ops.mul(_logarithm(n, k, rest), 0.5))
        far = ops.mul(ops.mul(root, slope), ops.mul(root, ops.sub(slope, ops.div(1, n))))
        return ops.where(ops.lt(slope, _FLAT), far, second(0, 0)(x, y))

    by_first = _with_derivatives(of_factor(slopes[0]), [by_first_twice, second(0, 1)])
    by_second = _with_derivatives(of_factor(slopes[1]), [second(0, 1), second(1, 1)])
    return _with_derivatives(lambda x, y: ops.exp(_logarithm(*parts(x, y))), [by_first, by_second])


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


def _logarithm(n: Any, k: Any, rest: Any) -> Any:
    lesser = ops.le(k, rest)
    least, most = ops.where(lesser, k, rest), ops.where(lesser, rest, k)
    divisor = ops.lgamma(ops.min(ops.add(least, 1), _MOST))
    return ops.sub(ops.log_gamma_quotient(ops.add(most, 1), least), divisor)


def _rise(x: Any, h: Any, order: int = 0) -> Any:
    """Returns a derivative of the digamma function at ``x + 1 + h``, less that at ``x + 1``."""
    return ops.neg(ops.digamma_difference_p.bind(ops.add(x, 1), h, order=order))


def _rise_between(k: Any, rest: Any) -> Any:
    """Returns the digamma function at ``rest + 1``, less that at ``k + 1``."""
    lesser, step = ops.le(k, rest), ops.sub(rest, k)
    rise = _rise(ops.where(lesser, k, rest), ops.where(lesser, step, ops.neg(step)))
    return ops.where(lesser, rise, ops.neg(rise))


def _trigamma(x: Any) -> Any:
    return ops.digamma_derivative_of_sum_p.bind(x, ops.full_like(x, 1), order=1)


#: The number of ways to choose the second number of things of the first.
many_ways: Function = _ways(
    lambda n, k: (n, k, ops.sub(n, k)),
    [lambda n, k, rest: _rise(rest, k), lambda n, k, rest: _rise_between(k, rest)],
    [
        lambda n, k, rest: _rise(rest, k, 1),
        lambda n, k, rest: _trigamma(rest),
        lambda n, k, rest: ops.neg(ops.add(_trigamma(rest), _trigamma(k))),
    ],
)
#: The same of the number that is left and the number that is chosen.
many_ways_of_rest: Function = _ways(
    lambda rest, k: (ops.add(rest, k), k, rest),
    [lambda n, k, rest: _rise(rest, k), lambda n, k, rest: _rise(k, rest)],
    [
        lambda n, k, rest: _rise(rest, k, 1),
        lambda n, k, rest: _trigamma(n),
        lambda n, k, rest: _rise(k, rest, 1),
    ],
)
