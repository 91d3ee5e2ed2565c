"""Rules for primitives that have none of their own: by linearity where it is declared, else by nested ``jvp``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product as choices
from math import factorial
from typing import Any

from lawful.autodiff import jvp
from lawful.core import Primitive, get_aval, is_inexact
from lawful.ops import full
from lawful.taylor._series import Series, constant, evaluated, moves, scaled, total

Rule = Callable[..., Any]


def linear_rule(primitive: Primitive) -> Rule | None:
    """Returns the rule of a primitive that is linear in each of some sets of arguments, None of any other.

    Coefficients of jointly linear arguments go through it together; where two sets move, it is a product.
    """
    declaration = primitive.declaration
    if declaration is None or not declaration.linear:
        return None
    sets = declaration.linear

    def rule(args: Sequence[Series], **params: Any) -> Any:
        moving = {i for i, series in enumerate(args) if moves(series)}
        touched = [places for places in sets if moving & set(places)]
        if len({place for places in touched for place in places} & moving) < len(moving):
            return general_rule(primitive)(args, **params)  # it depends on an argument in another way
        return _multilinear(primitive, args, touched, params)

    return rule


def _multilinear(
    primitive: Primitive, args: Sequence[Series], sets: Sequence[Sequence[int]], params: dict[str, Any]
) -> Any:
    order = len(args[0]) - 1
    terms: list[list[Any]] = [[] for _ in range(order + 1)]
    for orders in choices(range(order + 1), repeat=len(sets)):
        if sum(orders) > order:
            continue
        operands = [series[0] for series in args]
        zero = False
        for places, k in zip(sets, orders, strict=True):
            here = [i for i in places if i < len(args)]
            if all(args[i][k] is None for i in here):
                zero = True
                break
            for i in here:
                operands[i] = _zeros_like(args[i][0]) if args[i][k] is None else args[i][k]
        if not zero:
            terms[sum(orders)].append(primitive.bind(*operands, **params))
    if primitive.multiple_results:
        count = len(terms[0][0])
        return [[total([term[i] for term in found]) for found in terms] for i in range(count)]
    [value] = terms[0]
    if not is_inexact(get_aval(value).dtype):
        return constant(value, order)  # a conversion to integers
    return [value, *map(total, terms[1:])]


def _zeros_like(x: Any) -> Any:
    aval = get_aval(x)
    return full(aval.shape, 0, aval.dtype)


def general_rule(primitive: Primitive) -> Rule:
    """Returns the rule that differentiates ``t ↦ p(x(t))`` as often as is asked, by ``jvp`` of ``jvp``.

    It holds for every primitive that has a jvp, at a cost that doubles with each order.
    """

    def rule(args: Sequence[Series], **params: Any) -> Any:
        order = len(args[0]) - 1

        def along(t: Any) -> list[Any]:
            # Integers have no tangents, and stay where they are.
            out = primitive.bind(*[evaluated(x, t) if moves(x) else x[0] for x in args], **params)
            return list(out) if primitive.multiple_results else [out]

        towers = derivatives(along, order)
        series = [
            [tower[0], *[scaled(1 / factorial(k), x) for k, x in enumerate(tower[1:], 1)]]
            if is_inexact(get_aval(tower[0]).dtype)
            else constant(tower[0], order)
            for tower in zip(*towers, strict=True)
        ]
        return series if primitive.multiple_results else series[0]

    return rule


def derivatives(function: Callable[[Any], list[Any]], order: int) -> list[list[Any]]:
    """Returns the results of a function of a number, and their derivatives up to an order, at zero."""

    def tower(k: int) -> Callable[[Any], list[list[Any]]]:
        if k == 0:
            return lambda t: [function(t)]

        def raised(t: Any) -> list[list[Any]]:
            values, tangents = jvp(tower(k - 1), (t,), (1.0,))
            return [*values, tangents[-1]]

        return raised

    return tower(order)(0.0)
