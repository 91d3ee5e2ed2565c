"""Forward mode along one array or number: without pytrees, and without lists of one element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from numpy import float64, ndarray

from lawful import tree
from lawful.autodiff._fast.dual import dual, floating_aval
from lawful.autodiff._fast.jvp import FastJVPTrace, FastJVPTracer
from lawful.autodiff._jvp import forward_hook, jvp_hook, owned_results
from lawful.core import current, new_trace, register_dispatch_module
from lawful.staging import flatten_outputs, function_name

register_dispatch_module(__name__)

_LEAF: Final = tree.structure(0)


def value_and_tangent(
    fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool
) -> tuple[Any, ...]:
    """Returns what `jvp` does; see `forward_hook`."""
    if not (type(primals) is type(tangents) is tuple and len(primals) == len(tangents) == 1) or has_aux:
        return forward_hook.plain(fun, primals, tangents, has_aux)
    (x,), (x_dot,) = primals, tangents
    aval = floating_aval(x)
    if aval is None or floating_aval(x_dot) is not aval or jvp_hook.for_traces is not FastJVPTrace:
        return forward_hook.plain(fun, primals, tangents, has_aux)
    trace = FastJVPTrace(current.trace)
    with new_trace(trace):
        result = fun(dual(FastJVPTracer, trace, x, x_dot, trace.source, aval, aval))
        if type(result) is FastJVPTracer and result._trace is trace:
            leaves, out_tree = [result], _LEAF
        else:
            leaves, out_tree = flatten_outputs(f"jvp of {function_name(fun)}", result)
    if out_tree is _LEAF:
        primal, tangent = trace.split(leaves[0])
        cls = type(primal)
        if cls is type(tangent) and (
            cls is float
            or cls is float64
            or (cls is ndarray and _is_new(primal, x, x_dot) and _is_new(tangent, primal, x, x_dot))
        ):
            return primal, tangent
    pairs = [trace.split(leaf) for leaf in leaves]
    return owned_results([primal for primal, _ in pairs], [tangent for _, tangent in pairs], [x, x_dot], out_tree)


def _is_new(array: Any, *others: Any) -> bool:
    """Whether an array can be written into, and shares no memory with others."""
    return array.base is None and array.flags.writeable and not any([array is x for x in others])
