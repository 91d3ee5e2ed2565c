"""Calls of users' primitives in reverse mode: one equation on the tape, with the user's rule as its transpose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy

from lawful.autodiff._fast import FastLinearizeTrace, FastLinearizeTracer, PulledEqn
from lawful.autograd._primitive.bind import Linear, autograd_call_p, autograd_linear_p, densified
from lawful.autograd._primitive.call import Call, fitted, is_traced
from lawful.autograd._primitive.function import call_hook
from lawful.autograd._primitive.rules import Rules
from lawful.core import (
    ShapedArray,
    Tracer,
    Var,
    at_source,
    current,
    get_aval,
    register_dispatch_module,
    user_source,
)

register_dispatch_module(__name__)

Function = Callable[..., Any]

ndarray, float64 = numpy.ndarray, numpy.float64
_NUMBER: Final = get_aval(1.0)
_FLOAT64: Final = get_aval(float64(1.0))
#: Types of arguments that hold no tracer.
_VALUES: Final = frozenset([ndarray, float, float64, int, bool, str, type(None)])


def call(function: Function, rules: Rules, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Calls a primitive; see `call_hook`."""
    trace = current.trace
    if type(trace) is not FastLinearizeTrace:
        if _VALUES.issuperset(map(type, args)):
            return function(*args, **kwargs)
        return call_hook.plain(function, rules, args, kwargs)
    makers = rules.makers
    primals: list[Any] = []
    argnums: list[int] = []
    tangents: list[Any] = []
    avals: list[ShapedArray] = []
    for x in args:
        cls = type(x)
        if cls is FastLinearizeTracer and x._trace is trace:
            argnums.append(len(primals))
            primals.append(x.primal)
            tangents.append(x.tangent)
            avals.append(x.aval)
        elif cls in _VALUES or not is_traced(x):
            primals.append(x)
        else:
            return call_hook.plain(function, rules, args, kwargs)
    if not argnums:
        return function(*args, **kwargs)
    if (
        rules.pullback is None
        or (makers is not None and not makers.keys() >= {*argnums})
        or not (trace.linear.only_variables or {*map(type, tangents)} == {Var})
    ):
        return call_hook.plain(function, rules, args, kwargs)
    source = user_source()
    parent = trace.parent
    current.trace = parent
    try:
        if parent.parent is None:  # evaluation: it does not look for the line
            ans, aval, pullback = _run(function, rules, primals, argnums, kwargs)
        else:
            with at_source(source):
                ans, aval, pullback = _run(function, rules, primals, argnums, kwargs)
    finally:
        current.trace = trace
    if aval is None:
        other = Call(function, rules, args, kwargs)
        other.evaluated = other.leaves_of(ans)
        return other.result(autograd_call_p.bind(*other.operands(), call=other))
    eqn = _CallEqn()
    eqn.primitive = autograd_linear_p
    eqn.invars = tangents
    eqn.outvars = (Var(aval),)
    eqn.source = source
    eqn.of = function, rules, primals, kwargs, argnums, ans
    eqn.avals = avals
    eqn.pullback = pullback
    eqn.kept = None
    trace.linear.eqns.append(eqn)
    tracer = FastLinearizeTracer()
    tracer._trace = trace
    tracer.primal = ans
    tracer.tangent = eqn.outvars[0]
    tracer.source = source
    tracer.aval = tracer.tangent_aval = aval
    return tracer


def _run(
    function: Function, rules: Rules, primals: list[Any], argnums: list[int], kwargs: dict[str, Any]
) -> tuple[Any, ShapedArray | None, Any]:
    """Returns the result of a call, its type, and what the rule returns; no type if it is no array of floats."""
    ans = call(function, rules, primals, kwargs)
    cls = type(ans)
    if cls is float:
        aval = _NUMBER
    elif cls is float64:
        aval = _FLOAT64
    elif cls is ndarray or isinstance(ans, Tracer):
        aval = get_aval(ans)
        if aval.dtype.kind not in "fc":
            return ans, None, None
    else:
        return ans, None, None
    makers = rules.makers
    if makers is None:
        return ans, aval, rules.pullback(tuple(argnums), ans, primals, kwargs)  # type: ignore[misc]
    return ans, aval, [None if (make := makers[i]) is None else make(ans, *primals, **kwargs) for i in argnums]


class _CallEqn(PulledEqn):
    """The derivative of a call whose operands are arguments, and whose result is an array.

    Attributes:
      of: the function, its rules, its arguments, those by name, the numbers of operands, and the result.
      avals: the types of the operands.
      pullback: what the rule of reverse mode has returned: a function, or one for each operand.
      kept: the parameters, once they have been asked for.
    """

    __slots__ = ("avals", "kept", "of", "pullback")

    of: tuple[Function, Rules, list[Any], dict[str, Any], list[int], Any]
    avals: list[ShapedArray]
    pullback: Any
    kept: dict[str, Any] | None

    @property
    def params(self) -> dict[str, Any]:  # type: ignore[override]  # made when they are asked for
        if self.kept is None:
            self.kept = {"linear": self._linear()}
        return self.kept

    def pull(self, ct: Any) -> list[Any]:
        cls = type(ct)
        g = float64(ct) if cls is float else numpy.complex128(ct) if cls is complex else ct
        pullback = self.pullback
        if type(pullback) is list:
            derivatives = [None if vjp is None else vjp(g) for vjp in pullback]
        else:
            derivatives = [x for x, _ in zip(pullback(g), self.avals, strict=True)]
        for i, aval in enumerate(self.avals):
            x = derivatives[i]
            cls = type(x)
            if not (
                aval is _NUMBER or aval is _FLOAT64
                if cls is float64 or cls is float
                else x is None or (cls is ndarray and x.dtype == aval.dtype and x.shape == aval.shape)
            ):
                derivatives[i] = fitted(f"VJP of {self.of[1].name}", densified(x), aval)
        return derivatives

    def _linear(self) -> Linear:
        function, rules, args, kwargs, argnums, ans = self.of
        pullback = self.pullback
        if type(pullback) is list:
            vjps, pullback = pullback, lambda g: [None if vjp is None else vjp(g) for vjp in vjps]
        operands = [args[i] for i in argnums]
        made = Call.at(argnums, function, rules, args, kwargs)
        return Linear(made, operands, [True] * len(operands), [ans], reverse=True, pull_back=pullback)
