"""Minimization by the method of Broyden, Fletcher, Goldfarb and Shanno."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy

import lawful.numpy as np
from lawful import ops
from lawful.autodiff import stop_gradient, value_and_grad
from lawful.control_flow import while_loop
from lawful.core import ArgumentTypeError, ArgumentValueError, get_aval, shorten
from lawful.numpy import linalg
from lawful.numpy.linalg._matrices import inexact
from lawful.optimize._line_search import Point, line_search


class OptimizeResults(NamedTuple):
    """The result of `minimize`.

    Attributes:
      x: where the function is least.
      success: whether the gradient is small there.
      status: 0 for success, 1 if there were too many iterations, 5 if the line search ended without a point that
        decreases the function enough. Then raise ``line_search_maxiter``, unless there is no such point: values are
        NaN, or the decrease is below their rounding errors.
      fun: the value.
      jac: the gradient.
      hess_inv: an approximation of the inverse of the Hessian.
      nfev: how often the function was evaluated.
      njev: how often its gradient was.
      nit: how many iterations there were.

    >>> found = minimize(lambda x: np.sum((x - 1) ** 2), np.zeros(2), method="BFGS")
    >>> found.x.round(3), bool(found.success), int(found.status)
    (array([1., 1.]), True, 0)
    """

    x: Any
    success: Any
    status: Any
    fun: Any
    jac: Any
    hess_inv: Any
    nfev: Any
    njev: Any
    nit: Any


class _State(NamedTuple):
    x: Any
    value: Any
    gradient: Any
    inverse: Any
    previous: Any  # the value before, for the first step
    evaluations: Any
    iterations: Any
    failed: Any


_OPTIONS = {"gtol": 1e-5, "norm": numpy.inf, "maxiter": None, "line_search_maxiter": 30}


def minimize(
    fun: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    method: str,
    tol: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> OptimizeResults:
    """Returns a local minimum of a differentiable function of a vector.

    Args:
      fun: a function ``fun(x, *args)`` that gives a real scalar.
      x0: where to start, real, of shape (n,); integers become floats.
      args: more arguments of the function.
      method: ``"BFGS"``.
      tol: the norm of the gradient at which the iteration ends; 1e-5 if None.
      options: a dictionary: ``"gtol"``, the same; ``"norm"``, its order, ``inf`` by default; ``"maxiter"``, how many
        iterations at most, 200 n by default; ``"line_search_maxiter"``, how many points are tried in each at most,
        30 by default.

    Returns:
      An `OptimizeResults`. Nothing is raised where there is no success. Derivatives are those of the iterations.

    Raises:
      ArgumentValueError: there is no such method or option, or ``x0`` is no vector.
      ArgumentTypeError: ``args`` is no tuple, or ``x0`` is complex.

    >>> minimize(lambda x, a: np.sum((x - a) ** 4 + x), np.zeros(1), (1.0,), method="BFGS").x
    array([0.3700...])

    The signature is that of ``scipy.optimize.minimize`` without ``jac``, ``bounds`` and what other methods take:
    gradients come from lawful. JAX's ``line_search_maxiter`` is 10, with which the search ends too early where a first
    step is far too long.

    Source: ``jax.scipy.optimize.minimize``; Nocedal and Wright (2006), "Numerical optimization", algorithm 6.1.
    """
    if not isinstance(args, tuple):
        raise ArgumentTypeError(f"minimize: expected a tuple as args, got {shorten(args)}; write (a,) for one argument")
    if str(method).lower() != "bfgs":
        raise ArgumentValueError(f"minimize: expected method='BFGS', got {method!r}; there is no other one")
    given = dict(options or {})
    if unknown := sorted(given.keys() - _OPTIONS.keys()):
        raise ArgumentValueError(f"minimize: expected options of {', '.join(_OPTIONS)}, got {unknown[0]!r}")
    if tol is not None:
        given.setdefault("gtol", tol)
    given = {**_OPTIONS, **given}
    [x0] = inexact("minimize", np.asarray(x0), linear_algebra=False)
    aval = get_aval(x0)
    if aval.ndim != 1:
        raise ArgumentValueError(f"minimize: expected a vector as x0, got {aval}; flatten it")
    if aval.dtype.kind == "c":
        raise ArgumentTypeError(f"minimize: expected real numbers as x0, got {aval}; minimize over their parts")
    limit = 200 * aval.size if given["maxiter"] is None else given["maxiter"]
    with numpy.errstate(all="ignore"):  # steps that go too far are taken back
        return _minimized(lambda x: fun(x, *args), x0, given, limit)


def _minimized(fun: Callable[[Any], Any], x0: Any, options: dict[str, Any], limit: int) -> OptimizeResults:
    evaluate = value_and_grad(fun)

    def is_steep(gradient: Any) -> Any:
        return ~(linalg.norm(gradient, ord=options["norm"]) <= options["gtol"])

    def goes_on(state: _State) -> Any:
        return is_steep(state.gradient) & ~state.failed & (state.iterations < limit)

    def advance(state: _State) -> _State:
        direction = -(state.inverse @ state.gradient)
        slope = np.dot(state.gradient, direction)

        def point(step: Any) -> Point:
            value, gradient = evaluate(state.x + step * direction)
            return Point(step, value, np.dot(gradient, direction), gradient)

        # The step at which a parabola would decrease as much as the last iteration did, by Nocedal and Wright (3.60).
        guess = 2.02 * (state.value - state.previous) / slope
        guess = ops.where((guess > 0) & (guess < 1), guess, ops.convert_element_type(1.0, get_aval(slope).dtype))
        start = Point(ops.mul(slope, 0), state.value, slope, state.gradient)
        found, _, count = line_search(point, start, guess, options["line_search_maxiter"])
        move = found.step * direction
        change = found.gradient - state.gradient
        return _State(
            state.x + move,
            found.value,
            found.gradient,
            _updated(state.inverse, move, change),
            state.value,
            state.evaluations + count,
            state.iterations + 1,
            ~(found.step > 0),
        )

    value, gradient = evaluate(x0)
    count = np.asarray(0)
    identity = np.eye(get_aval(x0).size, dtype=get_aval(x0).dtype)
    previous = value + linalg.norm(stop_gradient(gradient)) / 2
    first = _State(x0, value, gradient, identity, previous, count + 1, count, np.asarray(False))
    last = while_loop(goes_on, advance, first)
    success = ~is_steep(last.gradient)
    status = ops.where(success, 0, ops.where(last.failed, 5, 1))
    counts = last.evaluations, last.evaluations, last.iterations
    return OptimizeResults(last.x, success, status, last.value, last.gradient, last.inverse, *counts)


def _updated(inverse: Any, move: Any, change: Any) -> Any:
    """Returns the approximation of the inverse of the Hessian, which stays positive definite."""
    curvature = np.dot(change, move)
    is_positive = curvature > 0
    factor = ops.where(is_positive, 1 / ops.where(is_positive, curvature, 1), 0)
    turned = inverse @ change
    both = np.outer(turned, move)
    scale = factor * (1 + factor * np.dot(change, turned))
    return inverse + scale * np.outer(move, move) - factor * (both + both.T)
