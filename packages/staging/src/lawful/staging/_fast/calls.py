"""Calls of elementwise ops under a trace that records: the equations of an earlier call at the same types."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from lawful.core import (
    Atom,
    JaxprEqn,
    Literal,
    Primitive,
    ShapedArray,
    Var,
    get_aval,
    register_dispatch_module,
    user_source,
)
from lawful.core._fast import IndexedJaxpr, definitions, insert_rule, register_calls, replay, rule_cache
from lawful.ops._fast import convert
from lawful.staging._fast.replay import add_equations
from lawful.staging._recorder import JaxprTrace, JaxprTracer

register_dispatch_module(__name__)

_FLOAT64: Final = np.dtype(np.float64)


class _Recorded(NamedTuple):
    """The equations of a call with one result.

    Attributes:
      program: from the operands to the result; or a primitive without parameters.
      aval: the type of the result.
      number: the type of the operand that a Python float becomes; None if all arguments are tracers.
    """

    program: IndexedJaxpr | Primitive
    aval: ShapedArray
    number: ShapedArray | None


def _apply_call(trace: JaxprTrace, plan: Callable[..., Any], call: Hashable, context: Any, args: Sequence[Any]) -> Any:
    """Records a call; see `register_calls`. Nothing is planned if one of these types was recorded before."""
    key = _key(trace, call, args)
    found: _Recorded | None = None
    if key is not None:
        found = rule_cache.young.get(key)
        if found is None:
            found = rule_cache.lookup(key)
        else:
            rule_cache.hits += 1
    if found is not None:
        return _record(trace, found, args)
    since = definitions()
    program, operands = plan(trace, context, args)
    if program is None:
        return operands
    is_primitive = isinstance(program, Primitive)
    result = trace.process_primitive(program, operands, {}) if is_primitive else replay(trace, program, operands)[0]
    if key is not None and type(result) is JaxprTracer and (program.pure_rules if is_primitive else program.steps):
        numbers = [get_aval(x) for x, arg in zip(operands, args, strict=True) if type(arg) is float]
        insert_rule(key, _Recorded(program, result.aval, numbers[0] if numbers else None), since)
    return result


def _key(trace: JaxprTrace, call: Hashable, args: Sequence[Any]) -> Hashable:
    """Returns a key of the arguments' types; None unless all are tracers of this trace, except at most one float."""
    if trace.axis_env:  # types depend on it, and the key does not contain it
        return None
    if len(args) == 1:
        (x,) = args
        if type(x) is JaxprTracer and x._trace is trace:
            return JaxprTrace, call, x.aval
    elif len(args) == 2:
        x, y = args
        if type(x) is JaxprTracer and x._trace is trace:
            if type(y) is JaxprTracer and y._trace is trace:
                return JaxprTrace, call, x.aval, y.aval
            if type(y) is float:
                return JaxprTrace, call, x.aval, float
        elif type(x) is float and type(y) is JaxprTracer and y._trace is trace:
            return JaxprTrace, call, float, y.aval
    return None


def _record(trace: JaxprTrace, recorded: _Recorded, args: Sequence[Any]) -> JaxprTracer:
    program, aval, number = recorded
    source = user_source()
    atoms: list[Atom]
    if number is None:
        atoms = [x.variable for x in args]
    else:
        atoms = [_literal(x, number) if type(x) is float else x.variable for x in args]
    if type(program) is IndexedJaxpr:
        (var,) = add_equations(trace, program, atoms, source)
    else:
        var = Var(aval)
        trace.eqns.append(JaxprEqn(program, atoms, [var], {}, source))  # type: ignore[arg-type]
    return JaxprTracer(trace, var, source)  # type: ignore[arg-type]


def _literal(x: float, aval: ShapedArray) -> Literal:
    if aval.dtype is _FLOAT64:  # the common case
        return Literal(x if aval.weak_type else np.float64(x), aval)
    return Literal(convert(x, aval.dtype, aval.weak_type), aval)


register_calls(JaxprTrace, _apply_call)
