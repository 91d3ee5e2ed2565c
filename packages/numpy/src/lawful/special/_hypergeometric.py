"""The hypergeometric functions 1F1 and 2F1 of real numbers, with derivatives of any order in all arguments.

The derivatives by ``x`` are functions of the same kind, with raised parameters. Those by the parameters are forward
derivatives of the algorithms, which are analytic in the parameters: no formula has a pole where the function has none.
Where a series begins and ends, and how long the steps are, counts as constant: the function does not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from lawful import ops
from lawful.autodiff import jvp, zero_tangent
from lawful.core import Zero, cached_function, get_aval
from lawful.custom_rules import custom_jvp
from lawful.numpy._loops import traced_once
from lawful.special._arguments import floats, silent
from lawful.special._confluent import confluent
from lawful.special._gauss import gauss
from lawful.special._hypergeometric_loops import ends_sum

Algorithm = Callable[..., Any]


@silent
def hyp1f1(a: Any, b: Any, x: Any) -> Any:
    """Returns Kummer's function 1F1, the sum of ``(a)ₖ / (b)ₖ xᵏ / k!`` over ``k = 0, 1, …``.

    It has derivatives in all arguments, of any order.

    Args:
      a: real numbers.
      b: real numbers; the result is infinite where one is 0 or a negative integer.
      x: real numbers.

    Raises:
      ArgumentTypeError: an argument is complex.
      ArgumentValueError: the shapes do not broadcast together.

    >>> hyp1f1(1.0, 2.0, numpy.array([-1.0, 0.0, 1.0]))
    array([0.63212056, 1.        , 1.71828183])

    Source: ``scipy.special.hyp1f1``, ``jax.scipy.special.hyp1f1``.
    """
    return _in_double(confluent, *floats("hyp1f1", a, b, x))


@silent
def hyp2f1(a: Any, b: Any, c: Any, x: Any) -> Any:
    """Returns Gauss' function 2F1, the sum of ``(a)ₖ (b)ₖ / (c)ₖ xᵏ / k!`` over ``k = 0, 1, …``, for ``x < 1``.

    It has derivatives in all arguments, of any order.

    Args:
      a: real numbers.
      b: real numbers.
      c: real numbers; the result is infinite where one is 0 or a negative integer, unless the sum ends before.
      x: real numbers; the result is infinite above 1, and at 1 where the sum diverges, unless the sum is finite.

    Raises:
      ArgumentTypeError: an argument is complex.
      ArgumentValueError: the shapes do not broadcast together.

    >>> hyp2f1(1.0, 1.0, 2.0, numpy.array([-1.0, 0.0, 0.5]))
    array([0.69314718, 1.        , 1.38629436])

    Source: ``scipy.special.hyp2f1``, ``jax.scipy.special.hyp2f1``.
    """
    return _in_double(gauss, *floats("hyp2f1", a, b, c, x))


def _in_double(algorithm: Algorithm, *args: Any) -> Any:
    dtype = get_aval(args[0]).dtype
    wide = [ops.convert_element_type(x, numpy.dtype(float)) for x in args]
    return ops.convert_element_type(_derivative(algorithm, (0,) * len(args))(*wide), dtype)


@cached_function("derivatives of hypergeometric functions", 256)
def _derivative(algorithm: Algorithm, orders: tuple[int, ...]) -> Algorithm:
    """Returns a derivative of a function of parameters and ``x``, whose own derivatives are further ones.

    Its loops are traced once for each type of the arguments, and not at each call.

    Args:
      algorithm: ``algorithm(*parameters, x, constant=)``, given which parameters it is not differentiated by; the
        last of the parameters is that of the denominator.
      orders: how often to differentiate by each argument.
    """
    *by_parameters, by_x = orders
    constant = tuple([not order for order in by_parameters])

    def value(*args: Any) -> Any:
        *parameters, x = args

        def raised(*parameters: Any) -> Any:
            factor: Any = 1.0
            for k in range(by_x):
                for p in parameters[:-1]:
                    factor = factor * (p + float(k))
                factor = factor / (parameters[-1] + float(k))
            if not by_x:
                return algorithm(*parameters, x, constant=constant)
            out = algorithm(*[p + float(by_x) for p in parameters], x, constant=constant)
            # Beyond the degree of a polynomial the other factor may be infinite.
            is_zero = ops.bitwise_and(_are_beyond_degree(by_x, parameters, constant), ops.eq(out, out))
            return ops.where(is_zero, 0.0, out * factor)

        return _differentiated(raised, by_parameters)(*parameters)

    function = custom_jvp(traced_once()(value))

    def rule(primals: Any, tangents: Any) -> tuple[Any, Any]:
        total: Any = None
        for i, tangent in enumerate(tangents):
            if type(tangent) is not Zero:
                raised = tuple([order + (i == j) for j, order in enumerate(orders)])
                term = ops.mul(tangent, _derivative(algorithm, raised)(*primals))
                total = term if total is None else ops.add(total, term)
        return function(*primals), zero_tangent(primals[0]) if total is None else total

    function.defjvp(rule, symbolic_zeros=True)

    return function


def _are_beyond_degree(order: int, parameters: Sequence[Any], constant: Sequence[bool]) -> Any:
    """Returns where a function is a polynomial in ``x`` whose degree is lower than the order."""
    beyond: Any = numpy.False_
    for p, is_constant in zip(parameters[:-1], constant[:-1], strict=True):
        if is_constant:
            beyond = ops.bitwise_or(beyond, ops.bitwise_and(ends_sum(p), ops.gt(p, -float(order))))
    return beyond


def _differentiated(function: Algorithm, orders: list[int]) -> Algorithm:
    for argnum, order in enumerate(orders):
        for _ in range(order):
            function = _along(function, argnum)
    return function


def _along(function: Algorithm, argnum: int) -> Algorithm:
    def derivative(*args: Any) -> Any:
        def of_one(x: Any) -> Any:
            return function(*args[:argnum], x, *args[argnum + 1 :])

        return jvp(of_one, (args[argnum],), (ops.full_like(args[argnum], 1.0),))[1]

    return derivative
