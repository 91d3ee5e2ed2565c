"""Rules of primitives without a rule of their own: by linearity if it is declared, otherwise by nested ``jvp``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product as choices
from math import factorial
from typing import Any

from lawful.autodiff import jvp_flat
from lawful.core import Primitive, Zero, get_aval, is_inexact
from lawful.ops import full
from lawful.taylor._series import Series, constant, dense, moves, scaled, total

Rule = Callable[..., Any]


def linear_rule(primitive: Primitive) -> Rule | None:
    """Returns the rule of a primitive that is linear in each of several sets of arguments; None for other primitives.

    Coefficients of jointly linear arguments are operands of one call. If two sets vary, the primitive is a product.
    """
    declaration = primitive.declaration
    if declaration is None or not declaration.linear:
        return None
    sets = declaration.linear

    def rule(args: Sequence[Series], **params: Any) -> Any:
        moving = {i for i, series in enumerate(args) if moves(series)}
        touched = [numbers for numbers in sets if moving & set(numbers)]
        if len({number for numbers in touched for number in numbers} & moving) < len(moving):
            return general_rule(primitive)(args, **params)  # not linear in this argument
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
        for numbers, k in zip(sets, orders, strict=True):
            here = [i for i in numbers if i < len(args)]
            if all(args[i][k] is None for i in here):
                zero = True
                break
            for i in here:
                operands[i] = _zeros_like(args[i][0]) if args[i][k] is None else args[i][k]
        if not zero:
            terms[sum(orders)].append(primitive.bind(*operands, **params))
    if primitive.multiple_results:
        count = len(terms[0][0])
        return [_series([[term[i] for term in found] for found in terms], order) for i in range(count)]
    return _series(terms, order)


def _series(terms: Sequence[Sequence[Any]], order: int) -> Series:
    """Returns the sums of the terms of each order; no derivatives of integers and booleans."""
    value = total(terms[0])
    return [value, *map(total, terms[1:])] if is_inexact(get_aval(value).dtype) else constant(value, order)


def _zeros_like(x: Any) -> Any:
    aval = get_aval(x)
    return full(aval.shape, 0, aval.dtype)


def general_rule(primitive: Primitive) -> Rule:
    """Returns the rule that differentiates along the curve by nested ``jvp``, one for each order.

    It is valid for every primitive with a jvp rule. The cost doubles with each order.
    """

    def rule(args: Sequence[Series], **params: Any) -> Any:
        order = len(args[0]) - 1
        moving = [i for i, x in enumerate(args) if moves(x)]

        def along(*xs: Any) -> list[Any]:
            operands = [x[0] for x in args]
            for i, x in zip(moving, xs, strict=True):
                operands[i] = x
            out = primitive.bind(*operands, **params)
            return list(out) if primitive.multiple_results else [out]

        curve = [[scaled(factorial(k), x) for k, x in enumerate(args[i])] for i in moving]
        towers = derivatives(along, curve, order)
        series = [
            [tower[0], *[scaled(1 / factorial(k), x) for k, x in enumerate(tower[1:], 1)]]
            if is_inexact(get_aval(tower[0]).dtype)
            else constant(tower[0], order)
            for tower in zip(*towers, strict=True)
        ]
        return series if primitive.multiple_results else series[0]

    return rule


def derivatives(function: Callable[..., list[Any]], curve: Sequence[Series], order: int) -> list[list[Any]]:
    """Returns the results of a function and their derivatives along a curve; None for those that are zero everywhere.

    The derivative of ``g(x, x′, …)`` along the curve is ``jvp(g, (x, x′, …), (x′, x″, …))``: no parameter of the curve
    is added to ``x``, where it would lose the sign of a zero, and with it the side of a branch cut.

    Args:
      function: of some arrays, to a list of arrays.
      curve: for each argument its derivatives by order, from 0 on.
      order: the highest order.
    """
    given = [dense(_without_last_zeros(x)) for x in curve]
    # Arguments are grouped by order. The derivative of an argument's last coefficient is a symbolic zero.
    layout = [[i for i, x in enumerate(given) if k < len(x)] for k in range(order + 1)]

    def tower(k: int) -> Callable[..., list[list[Any]]]:
        if k == 0:
            return lambda *xs: [function(*xs)]
        lower = tower(k - 1)
        numbers = [(j, i) for j in range(k + 1) for i in layout[j]]

        def raised(*xs: Any) -> list[list[Any]]:
            values = dict(zip(numbers, xs, strict=True))
            primals = [values[number] for number in numbers if number[0] < k]
            tangents = [
                values.get((j + 1, i), Zero(get_aval(values[j, i]).to_tangent_aval())) for j, i in numbers if j < k
            ]
            rows: list[list[Any]] = []

            def flat(*ys: Any) -> list[Any]:
                rows[:] = lower(*ys)
                return [y for row in rows for y in row if y is not None]

            pairs = zip(*jvp_flat(flat, primals, tangents), strict=True)
            full = [[(None, None) if y is None else next(pairs) for y in row] for row in rows]
            last = [None if type(t) is Zero else t for _, t in full[-1]]
            return [*[[y for y, _ in row] for row in full], last]

        return raised

    return tower(order)(*[given[i][j] for j in range(order + 1) for i in layout[j]])


def _without_last_zeros(series: Series) -> Series:
    last = max(k for k, x in enumerate(series) if x is not None)
    return series[: last + 1]
