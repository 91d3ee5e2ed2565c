"""Laws of forward mode: against finite differences, linearity in the tangent.

Finite differences are taken in the precision of the program: lawful has no longer floats than 64 bits, and the complex
step needs every op to be one of complex numbers. Central differences over a step h and over half of it give a
derivative whose error is of order h⁴ f⁽⁵⁾, with h = 2⁻¹³ far below rounding, which is of order ε |f| / h ≈ 10⁻¹² |f|:
the law asks for 10⁻⁶. Two things are seen before anything is claimed, each with the same bound. The two differences
agree: no kink or jump lies within h beside the point. The second differences are as 4 to 1: none lies at the point
itself, where central differences agree on the mean of both sides. ``tests/test_finite_differences.py`` shows it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lawful import tree
from lawful.laws._derivatives.directions import combine, differentiable, is_wide, require_range, restrict, tangents_of
from lawful.laws._law.comparison import find_difference
from lawful.laws._law.law import Claim, Claims, Inapplicable, Trial, law
from lawful.laws._law.smooth import moved

# The step of finite differences.
_STEP = 2.0**-13


@law("tangents", needs=("jvp",), smooth=True)
def law_jvp_finite_differences(trial: Trial) -> Claims:
    """Forward mode agrees with finite differences along a random direction.

    Equation: jvp(f, x, v) = lim (f(x + h v) − f(x − h v)) / 2h

    It says nothing where differences show that a kink or jump is near. Arguments
    and results of fewer than 64 bits are constants.

    Raises:
      LawViolation: it does not hold.
      Inapplicable: nothing to differentiate, or not smooth here.

    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_jvp_finite_differences(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5))
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
      Inapplicable: there is a kink or jump, or the function changes too fast to tell.
    """

    def at(step: float) -> list[Any]:
        outs = function(*[moved(x, v, step) for x, v in zip(leaves, direction, strict=True)])
        return [np.asarray(trial.system.numpy(x)) for x in outs]

    lines = zip(*[at(step * _STEP) for step in (-1.0, -0.5, 0.0, 0.5, 1.0)], strict=True)
    halves, wholes, bent, slopes = [], [], [], []
    for far_left, left, middle, right, far_right in lines:
        whole, half = (far_right - far_left) / (2 * _STEP), (right - left) / _STEP
        bend = ((far_left - 2 * middle + far_right) - 4 * (left - 2 * middle + right)) / _STEP
        halves.append(np.asarray(half))
        wholes.append(np.asarray(whole))
        bent.append(np.asarray(half + bend))
        slopes.append(np.asarray((4 * half - whole) / 3))
    for others in (wholes, bent):
        if find_difference(others, halves, "differences") is not None:
            raise Inapplicable("finite differences: expected a smooth function here, got one with a kink or jump")
    return slopes


@law("tangents", needs=("jvp",))
def law_jvp_linear(trial: Trial) -> Claims:
    """Forward mode gives the value, and a derivative that is linear in the tangent, also argument by argument.

    Equation: jvp(f, x, a v + b w) = a jvp(f, x, v) + b jvp(f, x, w), and jvp(f, x, v) = Σᵢ jvp(f, x, vᵢ eᵢ)

    Raises:
      LawViolation: it does not hold.
      Inapplicable: numbers on the way overflow float16.

    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_jvp_linear(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5))
    """
    for part in trial.some([_along_combinations, _along_multiples, _argument_by_argument]):
        yield from part(trial)


def _pushed(trial: Trial, function: Callable[..., Any], args: Any, direction: Any) -> tuple[Any, Any]:
    out, tangent = trial.system.jvp(function, args, direction)
    return out, tree.map(trial.system.numpy, tangent)


def _along_combinations(trial: Trial) -> Claims:
    function, args = differentiable(trial)
    v, w = tangents_of(trial, args), tangents_of(trial, args)
    out, along_v = _pushed(trial, function, args, v)
    yield Claim("the primal output of jvp", out, "f(x)", trial.value(function, args))
    along_w = _pushed(trial, function, args, w)[1]
    along_both = _pushed(trial, function, args, combine(1.5, v, -0.5, w))[1]
    require_range(trial.system, (args, out), along_v, along_w, along_both)
    yield Claim("jvp along 1.5 v − 0.5 w", along_both, "1.5 jvp(v) − 0.5 jvp(w)", combine(1.5, along_v, -0.5, along_w))


def _along_multiples(trial: Trial) -> Claims:
    function, args = differentiable(trial)
    v = tangents_of(trial, args)
    along_v = _pushed(trial, function, args, v)[1]
    along_zero = _pushed(trial, function, args, combine(0.0, v, 0.0, v))[1]
    yield Claim("jvp along 0", along_zero, "0", combine(0.0, along_zero, 0.0, along_zero), "nothing")
    scale = 8.0  # a power of two is exact
    scaled = _pushed(trial, function, args, combine(scale, v, 0.0, v))[1]
    require_range(trial.system, (args, along_v), along_v, scaled)
    yield Claim("jvp along 8 v, divided by 8", combine(1 / scale, scaled, 0.0, scaled), "jvp along v", along_v)


def _argument_by_argument(trial: Trial) -> Claims:
    restricted, leaves = restrict(trial)
    given = tangents_of(trial, leaves)
    whole = tree.map(trial.system.numpy, trial.system.jvp(restricted, leaves, given)[1])
    total = combine(0.0, whole, 0.0, whole)
    for i, (x, t) in enumerate(zip(leaves, given, strict=True)):
        # The other arguments are constants, so their tangents are symbolic zeros.
        _, part = trial.system.jvp(lambda y, i=i: restricted(*leaves[:i], y, *leaves[i + 1 :]), (x,), (t,))
        total = combine(1.0, total, 1.0, tree.map(trial.system.numpy, part))
    yield Claim("the sum over arguments of jvp along each", total, "jvp along all", whole)
