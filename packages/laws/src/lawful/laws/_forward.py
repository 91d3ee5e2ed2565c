"""Laws of forward mode: against finite differences, and linearity in the tangent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lawful import tree
from lawful.autodiff import jvp
from lawful.laws._comparison import find_difference
from lawful.laws._directions import combine, is_floating, is_wide, restrict, tangents_of
from lawful.laws._law import Claim, Claims, Inapplicable, law
from lawful.laws._smooth import moved

# The step of finite differences: their error is of order step ** 4, and rounding / step.
_STEP = 2.0**-12


@law
def law_jvp_finite_differences(function: Callable[..., Any], *args: Any, seed: int = 0) -> Claims:
    """Forward mode agrees with finite differences along a random direction.

    Equation: jvp(f, x, v) = lim (f(x + h v) − f(x − h v)) / 2h

    It says nothing where differences over one step and over half of it disagree: a kink or jump is near. Arguments
    and results of fewer than 64 bits are constants.

    Raises:
      LawViolation: it does not hold.
      Inapplicable: nothing to differentiate, or not smooth here.
    """
    restricted, leaves = restrict(function, args, is_wide)
    direction = tangents_of(np.random.default_rng(seed), leaves)
    _, tangents = jvp(restricted, leaves, direction)

    yield Claim(
        "jvp(f, x, v)", tangents, "finite differences", finite_differences(restricted, leaves, direction), "differences"
    )


def finite_differences(function: Callable[..., list[Any]], leaves: list[Any], direction: list[Any]) -> list[Any]:
    """Returns the derivative of a function of leaves along a direction, by central differences of fourth order.

    Raises:
      Inapplicable: differences over one step and over half of it disagree.
    """

    def at(step: float) -> list[Any]:
        return [np.asarray(x) for x in function(*[moved(x, v, step) for x, v in zip(leaves, direction, strict=True)])]

    points = {factor: at(factor * _STEP) for factor in (-2.0, -1.0, -0.5, 0.5, 1.0, 2.0)}

    def over(factor: float) -> list[Any]:
        corners = zip(*[points[place * factor] for place in (-2.0, -1.0, 1.0, 2.0)], strict=True)
        return [np.asarray((8 * (c - b) - (d - a)) / (12 * factor * _STEP)) for a, b, c, d in corners]

    if find_difference(over(1.0), over(0.5), "differences") is not None:
        raise Inapplicable("finite differences: expected a function that is smooth here, got one with a kink or jump")
    return over(0.5)


@law
def law_jvp_linear(function: Callable[..., Any], *args: Any, seed: int = 0) -> Claims:
    """Forward mode gives the value, and a derivative that is linear in the tangent, also argument by argument.

    Equation: jvp(f, x, a v + b w) = a jvp(f, x, v) + b jvp(f, x, w), and jvp(f, x, v) = Σᵢ jvp(f, x, vᵢ eᵢ)

    Raises:
      LawViolation: it does not hold.
    """
    random = np.random.default_rng(seed)
    v, w = tangents_of(random, args), tangents_of(random, args)
    out, along_v = jvp(function, args, v)
    yield Claim("the primal output of jvp", out, "f(x)", function(*args))
    _, along_w = jvp(function, args, w)
    _, along_both = jvp(function, args, combine(1.5, v, -0.5, w))
    yield Claim("jvp along 1.5 v − 0.5 w", along_both, "1.5 jvp(v) − 0.5 jvp(w)", combine(1.5, along_v, -0.5, along_w))
    _, along_zero = jvp(function, args, combine(0.0, v, 0.0, w))
    yield Claim("jvp along 0", along_zero, "0", combine(0.0, along_zero, 0.0, along_zero), "nothing")

    restricted, leaves = restrict(function, args)
    given = [t for x, t in zip(tree.leaves(args), tree.leaves(v), strict=True) if is_floating(x)]
    _, whole = jvp(restricted, leaves, given)
    total = combine(0.0, whole, 0.0, whole)
    for i, (x, t) in enumerate(zip(leaves, given, strict=True)):
        # The others are constants, so that their tangents are symbolic zeros.
        _, part = jvp(lambda y, i=i: restricted(*leaves[:i], y, *leaves[i + 1 :]), (x,), (t,))
        total = combine(1.0, total, 1.0, part)
    yield Claim("the sum over arguments of jvp along each", total, "jvp along all", whole)
