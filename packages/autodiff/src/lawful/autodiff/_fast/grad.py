"""The gradient by one array or number: without pytrees, and without lists of one element."""

from __future__ import annotations

from typing import Any, Final

from numpy import ndarray

from lawful import tree
from lawful.autodiff._fast.dual import floating_aval
from lawful.autodiff._fast.linearize import FastLinearizeTrace, FastLinearizeTracer, TapeLinearized
from lawful.autodiff._fast.transpose import pull_back
from lawful.autodiff._grad import Differentiated, checked_output, gradient_hook, one_of, pulled_back
from lawful.autodiff._linearize import linearize_hook
from lawful.autodiff._vjp import materialized
from lawful.core import current, new_trace, register_dispatch_module
from lawful.staging import copy_aliased, flatten_outputs, read_only

register_dispatch_module(__name__)

_LEAF: Final = tree.structure(0)


def value_and_gradient(of: Differentiated, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Returns the value of a function and its gradient for the arguments of a call; see `gradient_hook`."""
    position = of.by_one
    if position is None or not -len(args) <= position < len(args):
        return gradient_hook.plain(of, args, kwargs)
    x = args[position]
    aval = floating_aval(x)
    if aval is None or linearize_hook.for_traces is not TapeLinearized:
        return gradient_hook.plain(of, args, kwargs)
    parent = current.trace
    owner = parent.linear if isinstance(parent, FastLinearizeTrace) else None
    if owner is not None and type(x) is ndarray:
        x = read_only(x)  # the parent keeps what the backward pass here reads
    trace = FastLinearizeTrace(parent)
    with new_trace(trace):
        tracer = trace.new_input(x, aval)
        if len(args) == 1 and not kwargs:
            result = of.fun(tracer)
        else:
            full = [*args]
            full[position] = tracer
            result = of.fun(*full, **kwargs)
        is_tracer = type(result) is FastLinearizeTracer and result._trace is trace
        leaves, out_tree = ([result], _LEAF) if is_tracer else flatten_outputs(of.name, result)
    tape = trace.linear
    if not is_tracer or result.aval.shape or result.aval.dtype.kind != "f" or tape.may_be_dead():
        linearized = TapeLinearized.of_run(trace, [tracer], leaves)
        out_aval = checked_output(of, linearized.outs, leaves, out_tree)
        value, gradients = pulled_back(linearized, out_aval, [x], (aval,))
        return value, tuple(gradients) if of.several else gradients[0]
    tape.active = False
    (gradient,) = pull_back(
        tape.backwards(last=True),
        [tracer.tangent],
        [result.tangent],
        tape.values(),
        [one_of(result.aval)],
        owner=owner if tape.has_only_nodes() else None,
    )
    if type(gradient) is not ndarray or aval.weak_type:
        gradient = materialized(gradient, aval)
    if type(gradient) is ndarray:
        if gradient is x or gradient.base is not None or not gradient.flags.writeable:
            gradient = gradient.copy()
        elif tape.constants.values:  # the nodes are dropped, so that nothing else may share its memory
            (gradient,) = copy_aliased([gradient], tape.constants.values)
    return result.primal, (gradient,) if of.several else gradient
