"""Laws of forward mode: against finite differences, and linearity in the tangent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lawful import tree
from lawful.laws._comparison import find_difference
from lawful.laws._directions import combine, differentiable, is_wide, restrict, tangents_of
from lawful.laws._law import Claim, Claims, Inapplicable, Trial, law
from lawful.laws._smooth import moved

# The step of finite differences: their error is of order step ** 4, and rounding / step.
_STEP = 2.0**-12


@law("tangents", needs=("jvp",), smooth=True)
def law_jvp_finite_differences(trial: Trial) -> Claims:
    """Forward mode agrees with finite differences along a random direction.

    Equation: jvp(f, x, v) = lim (f(x + h v) − f(x − h v)) / 2h

    It says nothing where differences over one step and over half of it disagree: a kink or jump is near. Arguments
    and results of fewer than 64 bits are constants.

    Raises:
      LawViolation: it does not hold.
      Inapplicable: nothing to differentiate, or not smooth here.
    """
    restricted, leaves = restrict(trial, is_wide)
    direction = tangents_of(trial, leaves)
    _, tangents = trial.system.jvp(restricted, leaves, direction)
    differences = finite_differences(trial, restricted, leaves, direction)
    yield Claim("jvp(f, x, v)", tangents, "finite differences", differences, "differences")


def finite_differences(
    trial: Trial, function: Callable[..., list[Any]], leaves: list[Any], direction: list[Any]
) -> list[Any]:
    """Returns the derivative of a function of leaves along a direction, by central differences of fourth order.

    Raises:
      Inapplicable: differences over one step and over half of it disagree.
    """

    def at(step: float) -> list[Any]:
        outs = function(*[moved(x, v, step) for x, v in zip(leaves, direction, strict=True)])
        return [np.asarray(trial.system.numpy(x)) for x in outs]

    points = {factor: at(factor * _STEP) for factor in (-2.0, -1.0, -0.5, 0.5, 1.0, 2.0)}

    def over(factor: float) -> list[Any]:
        corners = zip(*[points[place * factor] for place in (-2.0, -1.0, 1.0, 2.0)], strict=True)
        return [np.asarray((8 * (c - b) - (d - a)) / (12 * factor * _STEP)) for a, b, c, d in corners]

    if find_difference(over(1.0), over(0.5), "differences") is not None:
        raise Inapplicable("finite differences: expected a function that is smooth here, got one with a kink or jump")
    return over(0.5)


@law("tangents", needs=("jvp",))
def law_jvp_linear(trial: Trial) -> Claims:
    """Forward mode gives the value, and a derivative that is linear in the tangent, also argument by argument.

    Equation: jvp(f, x, a v + b w) = a jvp(f, x, v) + b jvp(f, x, w), and jvp(f, x, v) = Σᵢ jvp(f, x, vᵢ eᵢ)

    Raises:
      LawViolation: it does not hold.
    """
    for part in trial.some([_along_combinations, _argument_by_argument]):
        yield from part(trial)


def _along_combinations(trial: Trial) -> Claims:
    function, args = differentiable(trial)

    def along(direction: Any) -> tuple[Any, Any]:
        out, tangent = trial.system.jvp(function, args, direction)
        return out, tree.map(trial.system.numpy, tangent)

    v, w = tangents_of(trial, args), tangents_of(trial, args)
    out, along_v = along(v)
    yield Claim("the primal output of jvp", out, "f(x)", function(*args))
    along_w = along(w)[1]
    along_both = along(combine(1.5, v, -0.5, w))[1]
    yield Claim("jvp along 1.5 v − 0.5 w", along_both, "1.5 jvp(v) − 0.5 jvp(w)", combine(1.5, along_v, -0.5, along_w))
    along_zero = along(combine(0.0, v, 0.0, w))[1]
    yield Claim("jvp along 0", along_zero, "0", combine(0.0, along_zero, 0.0, along_zero), "nothing")
    scale = 8.0  # a power of two rounds nothing, and a small one overflows no float16
    scaled = along(combine(scale, v, 0.0, v))[1]
    yield Claim("jvp along 8 v, divided by 8", combine(1 / scale, scaled, 0.0, scaled), "jvp along v", along_v)


def _argument_by_argument(trial: Trial) -> Claims:
    restricted, leaves = restrict(trial)
    given = tangents_of(trial, leaves)
    whole = tree.map(trial.system.numpy, trial.system.jvp(restricted, leaves, given)[1])
    total = combine(0.0, whole, 0.0, whole)
    for i, (x, t) in enumerate(zip(leaves, given, strict=True)):
        # The others are constants, so that their tangents are symbolic zeros.
        _, part = trial.system.jvp(lambda y, i=i: restricted(*leaves[:i], y, *leaves[i + 1 :]), (x,), (t,))
        total = combine(1.0, total, 1.0, tree.map(trial.system.numpy, part))
    yield Claim("the sum over arguments of jvp along each", total, "jvp along all", whole)
