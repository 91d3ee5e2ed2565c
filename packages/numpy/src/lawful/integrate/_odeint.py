"""Initial value problems, with derivatives by the adjoint equation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

import lawful.numpy as np
from lawful import ops, tree
from lawful.autodiff import jvp, vjp
from lawful.batching import vmap
from lawful.control_flow import scan
from lawful.core import ArgumentTypeError, ArgumentValueError, Tracer, get_aval, is_inexact, shorten, to_numpy
from lawful.custom_rules import closure_convert, custom_rule
from lawful.integrate._dormand_prince import Control, solution
from lawful.numpy._raveling import ravel_pytree
from lawful.numpy.linalg._matrices import inexact

#: A function ``slope(y, t, *args)`` of vectors.
Slope = Callable[..., Any]


def odeint(
    func: Callable[..., Any],
    y0: Any,
    t: Any,
    *args: Any,
    rtol: float = 1.4e-8,
    atol: float = 1.4e-8,
    mxstep: float = math.inf,
    hmax: float = math.inf,
) -> Any:
    """Returns the solution of ``y' = func(y, t, *args)`` from ``y0``, at times.

    Args:
      func: gives the derivative of ``y`` by time, a pytree like ``y0``. It may close over tracers.
      y0: the solution at the first time, a pytree of arrays; integers become floats.
      t: the times, of shape (n,) with n from 1. They rise throughout or fall throughout; equal ones have equal
        solutions.
      args: more arguments of ``func``, pytrees of arrays.
      rtol: the error of a step that is tolerated, relative to the solution; and
      atol: absolute.
      mxstep: how many steps are tried at most between two times.
      hmax: the longest step.

    Returns:
      A pytree like ``y0`` whose arrays have a first dimension for the times. It is NaN from the first time that is not
      reached: because of ``mxstep``, or as the solution becomes infinite; and from the first time that is NaN, or where
      times are traced, infinite or turned back. Derivatives are NaN there too.

    Reverse mode solves the adjoint equation backwards in time, with the same tolerances and in memory that does not
    depend on the number of steps. Forward mode differentiates the steps. Both have any order.

    Raises:
      ArgumentValueError: the times are not a vector; known times are infinite, or neither ascend nor descend; or the
        result of ``func`` has other shapes than ``y0``.
      ArgumentTypeError: ``func`` gives a pytree of another structure, or the times are complex.

    >>> odeint(lambda y, t: -2.0 * t * y, 1.0, np.array([0.0, 1.0, 2.0]))
    array([1.        , 0.36787944, 0.01831564])

    Source: ``jax.experimental.ode.odeint``; Chen et al. (2018), "Neural ordinary differential equations", and Fröhlich,
    Loos and Hasenauer, arXiv:1711.08079, for the adjoint equation.
    """
    [t] = inexact("odeint", np.asarray(t), linear_algebra=False)
    times = get_aval(t)
    if times.ndim != 1 or not times.size:
        raise ArgumentValueError(f"odeint: expected times of shape (n,) with n from 1, got {times}; give a vector")
    if times.dtype.kind == "c":
        raise ArgumentTypeError(f"odeint: expected real times, got {times}; take their real parts")
    known = t.concrete() if isinstance(t, Tracer) else to_numpy(t)
    steps = numpy.diff(to_numpy(known)) if known is not None else numpy.zeros(0)
    if numpy.any(steps > 0) and numpy.any(steps < 0):
        raise ArgumentValueError(
            f"odeint: expected times that rise throughout or fall throughout, got {shorten(known)}; sort them, and "
            "take the solutions in the order that you want"
        )
    if known is not None and numpy.any(numpy.isinf(known)):
        raise ArgumentValueError(f"odeint: expected finite times, got {shorten(known)}; end at a large time instead")
    is_masked = known is None or bool(numpy.any(numpy.isnan(known)))
    y0 = tree.map(lambda y: inexact("odeint", np.asarray(y), linear_algebra=False)[0], y0)
    try:
        converted, consts = closure_convert(func, y0, t[0], *args)
    except Exception as error:
        error.add_note("odeint called func(y, t, *args): y is like y0, and t is one time, a scalar")
        raise
    start, unravel = ravel_pytree(y0)
    vector = get_aval(start)

    def slope(y: Any, t: Any, args: Any, consts: Any) -> Any:
        state = unravel(y)
        out = converted(state, t, *args, *consts)
        if tree.structure(out) != tree.structure(state):
            raise ArgumentTypeError(_explain_structure(out, state))
        shapes = [[get_aval(leaf).shape for leaf in tree.leaves(x)] for x in (out, state)]
        if shapes[0] != shapes[1]:
            raise ArgumentValueError(
                f"odeint: expected func to give the shapes of y0, {shapes[1]}, got {shapes[0]}; reshape what it returns"
            )
        return ops.convert_element_type(ravel_pytree(out)[0], vector.dtype)

    control = Control(float(rtol), float(atol), float(hmax), float(mxstep))
    with numpy.errstate(all="ignore"):  # steps that go too far are taken back
        until = np.where(np.isfinite(t), t, 0.0) if is_masked else t  # no step reaches infinity
        ys = _solved(slope, control, start, until, args, tuple(consts))
        if is_masked:  # by a product, so that derivatives are NaN too
            ys = ys * ops.convert_element_type(ops.where(_turned(t), math.nan, 1.0), vector.dtype)[:, None]
    leaves, treedef = tree.flatten(y0)
    ends = numpy.cumsum([0, *[get_aval(leaf).size for leaf in leaves]]).tolist()
    rows = [
        ops.convert_element_type(
            np.reshape(ys[:, end - get_aval(leaf).size : end], (times.size, *get_aval(leaf).shape)),
            get_aval(leaf).dtype,
        )
        for leaf, end in zip(leaves, ends[1:], strict=True)
    ]
    return tree.unflatten(treedef, rows)


def _turned(t: Any) -> Any:
    """Returns for each time whether it, or one before it, is not finite or on the wrong side of the time before."""
    direction = np.where(t[-1] < t[0], -1.0, 1.0)
    is_back = np.concatenate([np.zeros(1, bool), direction * (t[1:] - t[:-1]) < 0])
    return np.cumsum(np.logical_or(is_back, np.logical_not(np.isfinite(t)))) > 0


def _explain_structure(out: Any, state: Any) -> str:
    if isinstance(out, list | tuple) and tree.structure(state) == tree.structure(0):
        return (
            f"odeint: expected func to give an array, as y0 is one, got a {type(out).__name__} of {len(out)}; "
            "make an array of it by lawful.numpy.array([...])"
        )
    return (
        f"odeint: expected func to give a pytree like y0, {tree.structure(state)}, got {tree.structure(out)}; "
        "return the derivative of each leaf"
    )


def _solve(slope: Slope, control: Control, y0: Any, ts: Any, args: Any, consts: Any) -> Any:
    return solution(lambda y, t: slope(y, t, args, consts), control, y0, ts)


_solved = custom_rule(_solve, nondiff_argnums=(0, 1))


@_solved.def_jvp
def _jvp(slope: Slope, control: Control, primals: Any, tangents: Any) -> tuple[Any, Any]:
    """Returns the derivative of the steps, but that by times by the equation itself: more exact than the steps' own."""
    (y0, ts, *args), (y0_dot, ts_dot, *args_dot) = primals, tangents

    def speed(y: Any, t: Any, t_dot: Any) -> Any:
        return ops.mul(slope(y, t, *args), ops.convert_element_type(t_dot, get_aval(y).dtype))

    start_dot = y0_dot - speed(y0, ts[0], ts_dot[0])
    ys, ys_dot = jvp(lambda y0, *args: _solve(slope, control, y0, ts, *args), (y0, *args), (start_dot, *args_dot))
    return ys, ys_dot + vmap(speed)(ys, ts, ts_dot)


def _forward(slope: Slope, control: Control, y0: Any, ts: Any, args: Any, consts: Any) -> tuple[Any, Any]:
    ys = _solve(slope, control, y0, ts, args, consts)
    return ys, (ys, ts, args, consts)


def _backward(slope: Slope, control: Control, residuals: Any, ys_bar: Any) -> tuple[Any, Any, Any, Any]:
    """Returns the cotangents by the adjoint equation.

    The cotangent a of y obeys ``a' = -a·∂f/∂y`` backwards in time. At the time of an output it jumps by the cotangent c
    of that output. The cotangent of that time is ``c·f``, and the cotangent of the arguments is the integral of
    ``a·∂f/∂args``.
    """
    ys, ts, args, consts = residuals
    leaves, treedef = tree.flatten((args, consts))
    free = [i for i, leaf in enumerate(leaves) if is_inexact(get_aval(leaf).dtype)]
    flat, unravel = ravel_pytree([leaves[i] for i in free])
    size = get_aval(ys).shape[1]

    def pulled(y: Any, t: Any, flat: Any, others: Any) -> tuple[Any, Callable[[Any], Any]]:
        def f(y: Any, flat: Any) -> Any:
            whole = list(others)
            for i, leaf in zip(free, unravel(flat), strict=True):
                whole[i] = leaf
            return slope(y, t, *tree.unflatten(treedef, whole))

        out: tuple[Any, Callable[[Any], Any]] = vjp(f, y, flat)
        return out

    def adjoint(state: Any, t: Any, args: Any, consts: Any) -> Any:
        flat, others = args
        value, pull = pulled(state[:size], t, flat, others)
        y_bar, flat_bar = pull(state[size : 2 * size])
        parts = [value, ops.neg(y_bar), ops.neg(flat_bar)]
        return np.concatenate([ops.convert_element_type(part, get_aval(state).dtype) for part in parts])

    def value_times(y: Any, t: Any, y_bar: Any) -> Any:
        product = np.sum(slope(y, t, args, consts) * y_bar)
        return ops.convert_element_type(np.real(product), get_aval(ts).dtype)

    def interval(carry: tuple[Any, Any], given: Any) -> tuple[Any, Any]:
        y_bar, flat_bar = carry
        y, previous, t, t_before, y_bar_here, y_bar_before = given
        state = np.concatenate([ops.convert_element_type(x, joined) for x in (y, y_bar, flat_bar)])
        times = np.stack([t, t_before])
        state = _solved(adjoint, control, state, times, (flat, leaves), ())[1]
        y_bar, flat_bar = (
            ops.convert_element_type(x, get_aval(like).dtype)
            for x, like in ((state[size : 2 * size], ys), (state[2 * size :], flat))
        )
        t_bar = value_times(y, t, y_bar_here)
        first = ops.neg(value_times(previous, t_before, y_bar))
        return (y_bar + y_bar_before, flat_bar), (t_bar, first)

    joined = np.result_type(ys, flat)
    before, after = slice(None, -1), slice(1, None)
    rows = ys[after], ys[before], ts[after], ts[before], ys_bar[after], ys_bar[before]
    (y_bar, flat_bar), (later, firsts) = scan(interval, (ys_bar[-1], ops.mul(flat, 0)), rows, reverse=True)
    # The solution depends on the first time as the start is that of an earlier or later one.
    t_bar = np.concatenate([firsts[:1] if get_aval(ts).size > 1 else np.zeros(1, get_aval(ts).dtype), later])
    cotangents: list[Any] = [None] * len(leaves)
    for i, leaf in zip(free, unravel(flat_bar), strict=True):
        cotangents[i] = leaf
    args_bar, consts_bar = tree.unflatten(treedef, cotangents)
    return y_bar, t_bar, args_bar, consts_bar


_solved.def_vjp(_forward, _backward)
