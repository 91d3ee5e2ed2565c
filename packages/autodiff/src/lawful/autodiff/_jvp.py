"""Forward mode: ``jvp``, which computes a function and its derivative along a direction in one go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Final

import numpy as np

from lawful import tree
from lawful.autodiff._arguments import check_tangents, flat_function
from lawful.autodiff._dual import DualTracer, run_jvp_rule
from lawful.autodiff._zeros import as_tangent_of, zero_tangent
from lawful.core import (
    ClosedJaxpr,
    Hook,
    Primitive,
    Trace,
    Zero,
    at_source,
    current,
    eval_closed_jaxpr,
    float0,
    get_aval,
    memoize,
    new_trace,
    register_array_type,
    set_current,
    user_source,
)
from lawful.staging import copy_aliased, function_name, require_callable, trace_to_jaxpr


class JVPTracer(DualTracer):
    """A primal value with its tangent."""

    __slots__ = ()


register_array_type(JVPTracer, aval=attrgetter("aval"))


class JVPTrace(Trace):
    """Applies each primitive's jvp rule, under the parent, to primals and tangents."""

    __slots__ = ()
    parent: Trace

    def __init__(self, parent: Trace) -> None:
        super().__init__(parent, "jvp")

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        primals, tangents = zip(*map(self.split, args), strict=True) if args else ((), ())
        if all(type(t) is Zero for t in tangents):
            return self.parent.process_primitive(primitive, args, params)
        with at_source(user_source()):
            with set_current(self.parent):
                outs, tangents_out = run_jvp_rule(primitive, primals, tangents, params)
            results = [self.new_tracer(x, t) for x, t in zip(outs, tangents_out, strict=True)]
        return results if primitive.multiple_results else results[0]

    def new_tracer(self, primal: Any, tangent: Any) -> Any:
        """Returns a primal with its tangent; the primal alone where the tangent is zero: it is a constant here."""
        return primal if type(tangent) is Zero else JVPTracer(self, primal, tangent, user_source())

    def split(self, x: Any) -> tuple[Any, Any]:
        """Returns the primal and tangent of a value, which may be a constant."""
        return (x.primal, x.tangent) if isinstance(x, JVPTracer) and x._trace is self else (x, zero_tangent(x))


#: The class of the traces of `jvp`.
jvp_hook: Final[Hook[type[JVPTrace]]] = Hook("jvp", JVPTrace)


def jvp_flat(
    function: Callable[..., Sequence[Any]], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
    """Returns the flat outputs of a flat function, and their tangents, in which zeros are symbolic.

    >>> jvp_flat(lambda x, y: [x * y, y], [3.0, 2.0], [1.0, zero_tangent(2.0)])
    ([6.0, 2.0], [2.0, Zero(~f64[])])
    """
    trace = jvp_hook.for_traces(current.trace)
    with new_trace(trace):
        outs = function(*map(trace.new_tracer, primals, tangents))
    pairs = [trace.split(x) for x in outs]
    return [primal for primal, _ in pairs], [tangent for _, tangent in pairs]


def jvp(
    fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False
) -> tuple[Any, ...]:
    """Returns ``fun(*primals)`` and its derivative at ``primals`` along ``tangents``.

    Args:
      fun: a function of pytrees of arrays that returns such a tree. Python control flow on values works.
      primals: a tuple or list of the arguments.
      tangents: for each argument a tree of the same structure, shapes and dtypes; of dtype ``float0`` where the
        argument has integers or booleans.
      has_aux: whether ``fun`` returns a pair of which only the first is differentiated.

    Returns:
      ``(primals_out, tangents_out)``, and the auxiliary output as a third if ``has_aux``.

    Raises:
      ArgumentTypeError: primals and tangents differ in structure, shape or dtype.

    Laws: linear in ``tangents``; the chain rule; agrees with finite differences. Source: ``jax.jvp``.

    >>> from lawful.ops import sin
    >>> jvp(lambda x: sin(x) * x, (0.0,), (1.0,))
    (np.float64(0.0), np.float64(0.0))
    """
    require_callable("jvp", fun)
    return forward_hook.use(fun, primals, tangents, has_aux)


def _value_and_tangent(
    fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool
) -> tuple[Any, ...]:
    flat_primals, flat_tangents, in_tree = check_tangents("jvp", primals, tangents)
    flat, out = flat_function(f"jvp of {function_name(fun)}", fun, in_tree, has_aux=has_aux)
    primals_out, tangents_out = jvp_flat(flat, flat_primals, flat_tangents)
    result = owned_results(primals_out, tangents_out, [*flat_primals, *flat_tangents], out.tree)
    return (*result, out.aux()) if has_aux else result


#: Returns what `jvp` does, for its arguments.
forward_hook: Final[Hook[Callable[..., tuple[Any, ...]]]] = Hook("forward mode", _value_and_tangent)


def owned_results(
    primals: list[Any], tangents: Sequence[Any], arguments: Sequence[Any], out_tree: Any
) -> tuple[Any, Any]:
    """Returns trees of outputs and of their tangents, which share no memory with each other or with arguments."""
    if np.ndarray in map(type, primals):  # only an array can share memory
        primals = copy_aliased(primals, arguments)
    tangents = copy_aliased([*map(as_tangent_of, primals, tangents)], [*arguments, *primals])
    return tree.unflatten(out_tree, primals), tree.unflatten(out_tree, tangents)


@memoize
def jvp_jaxpr(
    closed: ClosedJaxpr, nonzeros: tuple[bool, ...], instantiate: bool | tuple[bool, ...]
) -> tuple[ClosedJaxpr, tuple[bool, ...]]:
    """Returns the jaxpr of the derivative of a jaxpr, and which output tangents it gives.

    Args:
      closed: the program.
      nonzeros: for each input, whether a tangent is given; the others are zero.
      instantiate: whether to give also output tangents that are zero, for all outputs or for each.

    Returns:
      A jaxpr of the primals and then the given tangents, which gives the outputs and then those of their tangents
      that the second result marks.

    >>> from lawful.staging import make_jaxpr
    >>> jvp_jaxpr(make_jaxpr(lambda x, y: (x, y))(1.0, 2.0), (True, False), False)
    ({ lambda ; a:~f64[] b:~f64[] c:~f64[]. let in (a, b, c) }, (True, False))
    """
    avals = closed.in_avals
    given = [aval.to_tangent_aval() for aval, nonzero in zip(avals, nonzeros, strict=True) if nonzero]
    wanted = (instantiate,) * len(closed.out_avals) if isinstance(instantiate, bool) else instantiate
    nonzeros_out: tuple[bool, ...] = ()

    def differentiated(*args: Any) -> list[Any]:
        nonlocal nonzeros_out
        primals = args[: len(avals)]
        rest = iter(args[len(avals) :])
        tangents = [next(rest) if nonzero else zero_tangent(x) for x, nonzero in zip(primals, nonzeros, strict=True)]
        outs, tangents_out = jvp_flat(lambda *xs: eval_closed_jaxpr(closed, *xs), primals, tangents)
        nonzeros_out = tuple(
            (want and get_aval(x).to_tangent_aval().dtype != float0) or type(t) is not Zero
            for x, t, want in zip(outs, tangents_out, wanted, strict=True)
        )
        kept = [as_tangent_of(x, t) for x, t, keep in zip(outs, tangents_out, nonzeros_out, strict=True) if keep]
        return [*outs, *kept]

    jaxpr = trace_to_jaxpr(differentiated, [*avals, *given], transformation="jvp", name=f"jvp_{closed.jaxpr.name}")
    return jaxpr, nonzeros_out
