"""Linearization: ``linearize`` runs a function once, and returns its derivative there as a linear function.

The jvp rules run with unknown tangents. Operations that do not depend on tangents are computed at once; the others are
linear, and are recorded. Linearization needs no other rule than the jvp.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Final

from lawful import tree
from lawful.autodiff._arguments import flat_function
from lawful.autodiff._dual import DualTracer, run_jvp_rule
from lawful.autodiff._linear_function import LinearFunction, constants_by_use, copy_aliased_outputs
from lawful.autodiff._transpose import backward_pass
from lawful.autodiff._zeros import zero_tangent
from lawful.core import (
    ClosedJaxpr,
    Hook,
    Primitive,
    ShapedArray,
    Trace,
    Zero,
    at_source,
    avals_of,
    current,
    eval_closed_jaxpr,
    float0,
    get_aval,
    is_inexact,
    memoize,
    new_trace,
    register_array_type,
    set_current,
    user_source,
)
from lawful.ops import broadcast_in_dim_p, with_weakness_of
from lawful.staging import (
    JaxprTrace,
    JaxprTracer,
    PartialTrace,
    consts_as_inputs,
    dce_jaxpr,
    function_name,
    in_avals,
    read_only,
    require_callable,
)


class LinearizeTracer(DualTracer):
    """A primal value with its tangent, a value of the linear part that is being recorded."""

    __slots__ = ()


register_array_type(LinearizeTracer, aval=attrgetter("aval"))


class LinearizeTrace(Trace):
    """Applies each primitive's jvp rule to primals, which the parent computes, and tangents, which are recorded.

    Attributes:
      linear: records operations on tangents; the parent computes the others.
    """

    __slots__ = ("linear",)
    parent: Trace

    def __init__(self, parent: Trace) -> None:
        super().__init__(parent, "linearize")
        self.linear = PartialTrace(parent, "the linear part of linearize", self.source)

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        primals, tangents = zip(*map(self.split, args), strict=True) if args else ((), ())
        if all(type(t) is Zero for t in tangents):
            return self.parent.process_primitive(primitive, args, params)
        with at_source(user_source()), self.linear.arguments(args if primitive.pure_rules else None):
            rule = primitive.rule_or_none("linearize")
            if rule is not None:
                outs, tangents_out = self._linearize_call(rule, primals, tangents, params)
            else:
                with set_current(self.linear):
                    outs, tangents_out = run_jvp_rule(primitive, primals, tangents, params)
            results = [self.new_tracer(x, t) for x, t in zip(outs, tangents_out, strict=True)]
        return results if primitive.multiple_results else results[0]

    def _linearize_call(
        self, rule: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], params: dict[str, Any]
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        with set_current(self.parent):
            outs, nonzeros_out, tangent_fun = rule([type(t) is not Zero for t in tangents], *primals, **params)
        with set_current(self.linear):
            given = iter(tangent_fun(*[t for t in tangents if type(t) is not Zero]) if any(nonzeros_out) else ())
            return outs, [next(given) if nz else zero_tangent(x) for x, nz in zip(outs, nonzeros_out, strict=True)]

    def new_input(self, primal: Any, aval: ShapedArray) -> Any:
        """Returns an input to differentiate by; an integer one is a constant, without a tangent."""
        return self.new_tracer(primal, self.linear.new_input(aval)) if is_inexact(aval.dtype) else primal

    def new_tracer(self, primal: Any, tangent: Any) -> Any:
        """Returns a primal with its tangent; the primal alone where the tangent is zero: it is a constant here."""
        return primal if type(tangent) is Zero else LinearizeTracer(self, primal, tangent, user_source())

    def split(self, x: Any) -> tuple[Any, Any]:
        """Returns the primal and tangent of a value, which may be a constant."""
        return (x.primal, x.tangent) if isinstance(x, LinearizeTracer) and x._trace is self else (x, zero_tangent(x))


class Linearized:
    """A function run once: its outputs, and the linear program from input tangents to output tangents.

    Args:
      function: of flat arguments; it gives a flat list.
      primals: the arguments.
      parent: the trace that computes the primals.
      instantiate: for each output, whether to give its tangent also if it is zero.
      avals: the types of the arguments.

    Attributes:
      outs: the flat outputs.
      inputs: for each flat input, whether it has a tangent.
      nonzeros: for each flat output, whether its tangent is not zero.
    """

    __slots__ = ("_in_tangents", "_jaxpr", "_linear", "_out_tangents", "inputs", "nonzeros", "outs")

    def __init__(
        self,
        function: Callable[..., Sequence[Any]],
        primals: Sequence[Any],
        parent: Trace,
        instantiate: Sequence[bool] | None = None,
        *,
        avals: Sequence[ShapedArray] | None = None,
    ) -> None:
        trace = LinearizeTrace(parent)
        self._linear = linear = trace.linear
        with new_trace(trace):
            tracers = [*map(trace.new_input, primals, avals_of(primals) if avals is None else avals)]
            results = function(*tracers)
        pairs = [trace.split(x) for x in results]
        if instantiate is not None:
            pairs = [(x, instantiated_by(linear, t) if w else t) for (x, t), w in zip(pairs, instantiate, strict=True)]
        linear.active = False
        self.outs = [x for x, _ in pairs]
        self.nonzeros = tuple([type(t) is not Zero for _, t in pairs])
        self._out_tangents = [t for _, t in pairs if type(t) is not Zero]
        self.inputs = tuple([isinstance(x, LinearizeTracer) and x._trace is trace for x in tracers])
        self._in_tangents = [x.tangent for x, has_tangent in zip(tracers, self.inputs, strict=True) if has_tangent]
        self._jaxpr: ClosedJaxpr | None = None

    @property
    def jaxpr(self) -> ClosedJaxpr:
        """The linear program from the tangents of the inputs that have them to those of the outputs in ``nonzeros``."""
        if self._jaxpr is None:
            outs = [x for x, nonzero in zip(self.outs, self.nonzeros, strict=True) if nonzero]
            with set_current(self._linear):
                avals = [get_aval(x).to_tangent_aval() for x in outs]
                tangents = [*map(with_weakness_of, self._out_tangents, avals)]
            closed = self._linear.to_jaxpr(self._in_tangents, tangents)
            self._jaxpr = constants_by_use(dce_jaxpr(closed, (True,) * len(tangents)))
            del self._linear  # with the residuals that no output needs
        return self._jaxpr

    @property
    def residuals(self) -> Sequence[Any]:
        """The residuals: values of the run that the linear program needs."""
        return self.jaxpr.consts

    def drop_known(self) -> None:
        """Replaces output tangents that depend on no input by zeros: the backward pass does not need them."""
        depends = [type(t) is JaxprTracer and t._trace is self._linear for t in self._out_tangents]
        given = iter(depends)
        self.nonzeros = tuple([nonzero and next(given) for nonzero in self.nonzeros])
        self._out_tangents = [t for t, keep in zip(self._out_tangents, depends, strict=True) if keep]

    def drop_dead(self) -> None:
        """Drops equations that no output depends on, and their residuals."""

    def pull_back(self, cts: Sequence[Any], *, last: bool = False) -> list[Any]:
        """Returns the cotangents of the inputs that have tangents from those of the outputs; zeros are symbolic.

        Args:
          cts: the cotangents.
          last: whether no pass follows, so that it may free residuals as it goes.
        """
        return backward_pass(self.jaxpr, cts)


#: The class of functions that were linearized.
linearize_hook: Final[Hook[type[Linearized]]] = Hook("linearize", Linearized)


def instantiated_by(linear: PartialTrace, tangent: Any) -> Any:
    """Returns a tangent that is no symbolic zero, unless its dtype is float0; zeros are recorded."""
    if type(tangent) is not Zero or tangent.aval.dtype == float0:
        return tangent
    return recorded_zeros(linear, tangent.aval)


def recorded_zeros(linear: PartialTrace, aval: ShapedArray) -> Any:
    """Returns zeros as an equation of the linear program, so that they are no residual.

    >>> recorded_zeros(PartialTrace(current.trace, "linearize"), ShapedArray((3,), float))
    Tracer(f64[3], linearize)
    """
    scalar = aval.dtype.type(0)
    if not aval.shape:
        return scalar.item() if aval.weak_type else scalar
    return linear.record(broadcast_in_dim_p, (scalar,), {"shape": aval.shape, "broadcast_dimensions": ()})


def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """Returns ``fun(*primals)`` and the linear function that is its derivative there.

    Args:
      fun: a function of pytrees of arrays that returns such a tree. Python control flow on values works.
      primals: its arguments.
      has_aux: whether ``fun`` returns a pair of which only the first is differentiated.

    Returns:
      ``(primals_out, f_jvp)``, and the auxiliary output as a third if ``has_aux``. ``f_jvp(*tangents)`` does none of
      the work of ``fun`` again; ``f_jvp.jaxpr`` is its program.

    Raises:
      NonArrayError: a leaf of the arguments or of the result is not an array.

    Law: ``linearize(f, x)[1](v) = jvp(f, (x,), (v,))[1]``. Source: ``jax.linearize``.

    >>> from lawful.ops import sin
    >>> out, f_jvp = linearize(lambda x: sin(x) * 2.0, 0.0)
    >>> f_jvp(1.0)
    np.float64(2.0)
    """
    require_callable("linearize", fun)
    leaves, in_tree = tree.flatten(primals)
    avals = in_avals("linearize", (primals, {}), leaves)
    flat, out = flat_function(f"linearize of {function_name(fun)}", fun, in_tree, has_aux=has_aux)
    linearized = linearize_hook.for_traces(flat, [read_only(x) for x in leaves], current.trace, avals=avals)
    aux = copy_aliased_outputs(linearized, out.aux())
    linear_function = LinearFunction.of(linearized, avals, in_tree, out.tree)
    result = (tree.unflatten(out.tree, linearized.outs), linear_function)
    return (*result, aux) if has_aux else result


@memoize
def linearize_jaxpr(
    closed: ClosedJaxpr, nonzeros: tuple[bool, ...], instantiate: tuple[bool, ...] | None = None
) -> tuple[ClosedJaxpr, ClosedJaxpr, tuple[bool, ...]]:
    """Returns a jaxpr cut into its primal part and the linear program of its derivative.

    Args:
      closed: the program.
      nonzeros: for each input, whether it has a tangent.
      instantiate: for each output, whether to give its tangent also if it is zero.

    Returns:
      The primal jaxpr, which gives the outputs and then the residuals; the linear jaxpr of the residuals and then
      the input tangents, which gives output tangents; and for each output whether that gives its tangent.

    >>> from lawful.staging import make_jaxpr
    >>> linearize_jaxpr(make_jaxpr(lambda x: x * 3.0)(1.0), (True,))[1]
    { lambda ; a:~f64[]. let b:~f64[] = mul a 3.0:~f64[] in (b,) }
    """
    outer = JaxprTrace(current.trace, "linearize")
    with new_trace(outer):
        inputs = [outer.new_input(aval) for aval in closed.in_avals]

        def function(*tracers: Any) -> list[Any]:
            rest = iter(tracers)
            return eval_closed_jaxpr(closed, *[next(rest) if nz else x for x, nz in zip(inputs, nonzeros, strict=True)])

        primals = [x for x, nz in zip(inputs, nonzeros, strict=True) if nz]
        linearized = linearize_hook.for_traces(function, primals, outer, instantiate)
        linear, residuals = consts_as_inputs(linearized.jaxpr)
        primal = outer.to_jaxpr(inputs, [*linearized.outs, *residuals], closed.jaxpr.name)
    primal = dce_jaxpr(primal, (True,) * len(primal.out_avals))
    return primal, linear, linearized.nonzeros
