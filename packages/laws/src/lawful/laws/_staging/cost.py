"""Laws of cost: derivatives are counted in equations and memory, tracing in calls of Python functions."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from lawful.autodiff import grad, vjp
from lawful.core import ClosedJaxpr, Jaxpr, JaxprEqn, jaxprs_in_params
from lawful.laws._derivatives.directions import restrict, scalarized
from lawful.laws._law.law import Claims, Fault, Trial, law
from lawful.staging import make_jaxpr

#: The largest number of equations of a gradient per equation, argument and result of the function.
GRADIENT_EQUATIONS: Final = 8
# The number of equations counted for each halving of the axis of a cumulative op.
_SCAN_STEP: Final = 8
#: The largest number of bytes of residuals per byte of the function's values and arguments.
RESIDUAL_BYTES: Final = 4
#: The largest factor beyond 2 in the calls of Python functions for a program of twice the length.
TRACING_GROWTH: Final = 1.1


def all_equations(jaxpr: Jaxpr) -> Iterator[JaxprEqn]:
    """Yields the equations of a jaxpr and of its sub-jaxprs."""
    pending = [jaxpr]
    for inner in pending:
        for eqn in inner.eqns:
            yield eqn
            pending.extend(jaxprs_in_params(eqn.params))


def equation_count(jaxpr: Jaxpr) -> int:
    """Returns the number of equations of a jaxpr, sub-jaxprs included."""
    return sum(1 for _ in all_equations(jaxpr))


def program_size(closed: ClosedJaxpr) -> int:
    """Returns the size of a program: its arguments and results, and its equations.

    A cumulative op counts as what it stands for, a tree of some equations for each halving of its axis, and so does a
    product, whose derivative has the products of all but one element; a reduction by a jaxpr counts as a tree of this
    jaxpr, and over windows as a tree for each window.
    """
    size = len(closed.in_avals) + len(closed.out_avals)
    for eqn in all_equations(closed.jaxpr):
        length, step = 1, _SCAN_STEP
        if eqn.primitive.name.startswith("cum"):
            length = max(eqn.outvars[0].aval.shape, default=1)
        elif eqn.primitive.name == "reduce_prod":
            length = eqn.invars[0].aval.size // max(eqn.outvars[0].aval.size, 1)
        elif eqn.primitive.name in ("reduce", "reduce_window"):
            window = math.prod(eqn.params.get("window_dimensions", ()))
            length = 1 + (window if window > 1 else eqn.invars[0].aval.size // max(eqn.outvars[0].aval.size, 1))
            step += equation_count(eqn.params["jaxpr"].jaxpr)
            size += len(eqn.outvars) * window
        size += 1 + step * math.ceil(math.log2(max(length, 1)))
    return size


def byte_count(jaxpr: Jaxpr) -> int:
    """Returns the size of all values of a jaxpr, with those of all jaxprs within it.

    A reduction by a jaxpr has the values of one run of it for each element that is combined.
    """
    variables = [*jaxpr.constvars, *jaxpr.invars, *(var for eqn in all_equations(jaxpr) for var in eqn.outvars)]
    size = sum(var.aval.size * var.aval.dtype.itemsize for var in variables)
    for eqn in all_equations(jaxpr):
        if eqn.primitive.name in ("reduce", "reduce_window"):
            window = math.prod(eqn.params.get("window_dimensions", ()))
            runs = max(eqn.invars[0].aval.size, eqn.outvars[0].aval.size * window)
            size += runs * byte_count(eqn.params["jaxpr"].jaxpr)
    return size


@law("cost", needs=("jaxprs", "grad"))
def law_cheap_gradient(trial: Trial) -> Claims:
    """A gradient costs a small multiple of the function.

    Equation: |make_jaxpr(grad(f))(x)| ≤ 8 (|make_jaxpr(f)(x)| + arguments + results), counted in equations, where a
    cumulative op and a product count 8 more for each halving of their axes, and a reduction by a jaxpr this jaxpr too

    Raises:
      LawViolation: it does not hold.
      Inapplicable: nothing to differentiate.

    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_cheap_gradient(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5))
    """
    restricted, leaves = restrict(trial)
    loss = scalarized(trial.system, restricted, trial.case.seed)
    primal = make_jaxpr(loss)(*leaves)
    gradient = make_jaxpr(grad(loss, tuple(range(len(leaves)))))(*leaves)
    size, count = program_size(primal), equation_count(gradient.jaxpr)
    if count > GRADIENT_EQUATIONS * size:
        yield Fault(f"the gradient has {count} equations, of a function of size {size}", str(gradient))


@law("cost", needs=("jaxprs", "vjp"))
def law_bounded_residuals(trial: Trial) -> Claims:
    """What a derivative keeps for later is at most a small multiple of what the function computes.

    The table by which a loop chooses the states that it stores does not count: its size, at most 20 KiB, depends on
    the number of these states only.

    Equation: bytes of the constants of vjp(f, x)[1] ≤ 4 (bytes of all values of make_jaxpr(f)(x))

    Raises:
      LawViolation: it does not hold.
      Inapplicable: nothing to differentiate.

    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_bounded_residuals(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5))
    """
    restricted, leaves = restrict(trial)
    primal = byte_count(make_jaxpr(restricted)(*leaves).jaxpr)
    closed: ClosedJaxpr = vjp(restricted, *leaves)[1].jaxpr
    kept = sum(x.nbytes for x in map(np.asarray, closed.consts) if not _is_schedule(x))
    if kept > RESIDUAL_BYTES * primal:
        yield Fault(f"the derivative keeps {kept} bytes, of a function whose values have {primal}", str(closed))
    used = {atom for eqn in closed.eqns for atom in eqn.invars} | set(closed.jaxpr.outvars)
    for var in closed.jaxpr.constvars:
        if var not in used:
            yield Fault(f"the derivative keeps a value that it does not use: {var.aval}", str(closed))


def _is_schedule(x: np.ndarray[Any, Any]) -> bool:
    """Whether an array is the table of binomial coefficients by which a loop stores states: C(k + t, t) at [k, t]."""
    if x.ndim != 2 or x.dtype != np.int64 or min(x.shape) < 2 or np.any(x[0] != 1) or np.any(x[:, 0] != 1):
        return False
    return np.array_equal(x[1:, 1:], x[:-1, 1:] + x[1:, :-1])


@law("cost", needs=("jaxprs", "grad"), share=1 / 16)
def law_linear_tracing(trial: Trial) -> Claims:
    """Tracing and differentiating a program that is twice as long takes twice the work.

    Equation: calls(T(fₙ) for 2n copies) − calls(for n) ≤ 1.1 · 2 (calls(for n) − calls(for n/2)), counted in calls of
    Python functions, for T among make_jaxpr and make_jaxpr of grad

    Raises:
      LawViolation: it does not hold.
      Inapplicable: nothing to differentiate.

    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_linear_tracing(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5))
    """
    restricted, leaves = restrict(trial)
    loss = scalarized(trial.system, restricted, trial.case.seed)
    numbers = tuple(range(len(leaves)))

    def repeated(count: int) -> Callable[..., Any]:
        def total(*xs: Any) -> Any:
            value = loss(*xs)
            for _ in range(count - 1):
                value = trial.system.ops.add(value, loss(*xs))
            return value

        return total

    def calls(transformation: Callable[..., Any], count: int) -> int:
        # The smaller of two counts: a cleanup or a cache insertion may happen during one.
        return min(_python_calls(lambda: make_jaxpr(transformation(repeated(count)))(*leaves)) for _ in range(2))

    for text, transformation in trial.some(
        (("make_jaxpr(f)", lambda f: f), ("make_jaxpr(grad(f))", lambda f: grad(f, numbers)))
    ):
        few, some, many = (calls(transformation, count) for count in (2, 4, 8))
        if many - some > TRACING_GROWTH * 2 * (some - few):
            yield Fault(f"{text} of 2, 4 and 8 copies takes {few}, {some} and {many} calls of Python functions")


def _python_calls(run: Callable[[], Any]) -> int:
    """Returns how many Python functions are called during a run, itself included."""
    count = 0

    def counted(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        run()
    finally:
        sys.setprofile(before)
    return count
