"""The method of Dormand and Prince of order 5, whose steps an estimate of order 4 controls.

Source: Dormand and Prince (1980), "A family of embedded Runge-Kutta formulae"; Hairer, Nørsett and Wanner (1993),
"Solving ordinary differential equations I", sections II.4 to II.6, for the control of steps and the values between.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

import lawful.numpy as np
from lawful import ops
from lawful.autodiff import stop_gradient
from lawful.control_flow import scan, while_loop
from lawful.core import get_aval
from lawful.tree.base import record

Slope = Callable[[Any, Any], Any]

#: When each stage is, and what it takes of the slopes before it; the last row is the solution of order 5.
_TIMES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
_STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
#: The difference between the solutions of order 5 and 4.
_ERROR = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
#: The term of order 4 of the values between.
_BETWEEN = (
    *(-12715105075 / 11282082432, 0.0, 87487479700 / 32700410799, -10690763975 / 1880347072),
    *(701980252875 / 199316789632, -1453857185 / 822651844, 69997945 / 29380423),
)


@record
class Control:
    """How steps are chosen: the tolerances, the longest step, and how many there are before each time at most."""

    rtol: float
    atol: float
    hmax: float
    mxstep: float


class _State(NamedTuple):
    t: Any
    y: Any
    slope: Any
    h: Any  # the length of the next step, positive
    before: Any  # the time at which the last step began
    between: Any  # the coefficients of the polynomial in that step


def solution(slope: Slope, control: Control, y0: Any, ts: Any) -> Any:
    """Returns the solutions of ``y' = slope(y, t)`` at times, which rise or fall, as rows; the first one is ``y0``.

    The solution is NaN from the first time that is not reached. The choice of steps is no part of derivatives: it
    changes the solution by no more than the tolerance.
    """
    direction = ops.where(ops.lt(ts[-1], ts[0]), -1.0, 1.0)
    direction = ops.convert_element_type(direction, get_aval(ts).dtype)
    first = slope(y0, ts[0])
    h = stop_gradient(_first_step(slope, control, y0, first, ts[0], direction))
    state = _State(ts[0], y0, first, h, ts[0], ops.mul(np.stack([y0] * 5), 0))

    def is_before(state: _State, target: Any) -> Any:
        return direction * (target - state.t) > 0

    def to_next(state: _State, target: Any) -> tuple[_State, Any]:
        def goes_on(carry: tuple[_State, Any]) -> Any:
            state, count = carry
            # A step of NaN, as from a start or cotangent of NaN, does not go on either.
            more = is_before(state, target) & (direction * (state.t + direction * state.h) > direction * state.t)
            return more if math.isinf(control.mxstep) else more & (count < control.mxstep)

        def advance(carry: tuple[_State, Any]) -> tuple[_State, Any]:
            state, count = carry
            return _step(slope, control, state, direction), count + 1

        state, _ = while_loop(goes_on, advance, (state, np.asarray(0)))
        length = state.t - state.before
        is_start = length == 0
        position = ops.where(is_start, 0.0, (target - state.before) / ops.where(is_start, 1.0, length))
        value = ops.where(is_start, state.y, _value_between(state.between, _like(position, state.y)))
        return state, ops.where(is_before(state, target), math.nan, value)

    _, ys = scan(to_next, state, ts[1:])
    return np.concatenate([y0[None], ys])


def _like(x: Any, y: Any) -> Any:
    """Returns a real number in the precision of ``y``."""
    return ops.convert_element_type(x, np.finfo(get_aval(y).dtype).dtype)


def _combined(factors: tuple[float, ...], slopes: list[Any]) -> Any:
    total: Any = None
    for factor, k in zip(factors, slopes, strict=True):
        if factor:
            total = k * factor if total is None else total + k * factor
    return total


def _step(slope: Slope, control: Control, state: _State, direction: Any) -> _State:
    """Returns the state after an attempt: the solution only advances if the error is small."""
    y, dt = state.y, direction * state.h
    h = _like(dt, y)
    slopes = [state.slope]
    for time, row in zip(_TIMES, _STAGES, strict=True):
        after = y + h * _combined(row, slopes)
        slopes.append(slope(after, state.t + time * dt))
    error = h * _combined(_ERROR, slopes)
    ratio = stop_gradient(_size(error, control, ops.max(ops.abs(y), ops.abs(after))))
    good = ratio <= 1.0
    rise = after - y
    bend = h * slopes[0] - rise
    between = np.stack([y, rise, bend, rise - h * slopes[-1] - bend, h * _combined(_BETWEEN, slopes)])
    # NaN, of a step out of the domain, makes it shorter.
    factor = ops.where(np.isnan(ratio), 0.2, np.clip(0.9 * ops.max(ratio, 1e-10) ** -0.2, 0.2, 10.0))
    length = stop_gradient(ops.min(state.h * ops.convert_element_type(factor, get_aval(state.h).dtype), control.hmax))
    taken = _State(state.t + dt, after, slopes[-1], length, state.t, between)
    return _State(*(ops.where(good, new, old) for new, old in zip(taken, state._replace(h=length), strict=True)))


def _value_between(between: Any, position: Any) -> Any:
    """Returns the solution at a position of a step, from 0 to 1."""
    rest = 1 - position
    inner = between[2] + position * (between[3] + rest * between[4])
    return between[0] + position * (between[1] + rest * inner)


def _size(x: Any, control: Control, scale: Any) -> Any:
    """Returns the root mean square of elements relative to what is tolerated."""
    tiny = float(np.finfo(get_aval(x).dtype).tiny)
    return np.sqrt(np.mean(np.square(ops.abs(x) / ops.max(control.atol + control.rtol * scale, tiny))))


def _first_step(slope: Slope, control: Control, y0: Any, first: Any, t0: Any, direction: Any) -> Any:
    """Returns the length of a step whose error is about the tolerance."""
    scale = ops.abs(y0)
    size, speed = _size(y0, control, scale), _size(first, control, scale)
    guess = ops.where((size < 1e-5) | (speed < 1e-5), 1e-6, 0.01 * size / ops.where(speed == 0, 1.0, speed))
    h = ops.convert_element_type(guess, get_aval(t0).dtype)
    second = slope(y0 + _like(direction * h, y0) * first, t0 + direction * h)
    bend = _size(second - first, control, scale) / _like(h, y0)
    most = ops.max(speed, bend)
    longer = ops.where(most <= 1e-15, ops.max(guess * 1e-3, 1e-6), (0.01 / ops.where(most == 0, 1.0, most)) ** 0.2)
    longer = ops.where(np.isnan(longer), guess, longer)
    h = ops.min(100 * h, ops.convert_element_type(longer, get_aval(t0).dtype))
    return ops.min(h, numpy.inf if math.isinf(control.hmax) else control.hmax)
