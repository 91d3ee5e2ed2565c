"""Linearization: ``linearize`` runs a function once and gives the linear map that is its derivative there.

A function is traced by its jvp rules, with tangents that are unknown: what does not depend on them is computed
at once, and the rest, which is linear, is recorded. No rule beside the jvp is needed for that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful import tree
from lawful.autodiff._arguments import check_tangent, flat_function, match_tree
from lawful.autodiff._jvp import as_tangent_of, zero_tangent
from lawful.core import (
    ClosedJaxpr,
    Primitive,
    ShapedArray,
    SourceLine,
    Trace,
    Tracer,
    Zero,
    current,
    eval_closed_jaxpr,
    float0,
    get_aval,
    instantiate_zeros,
    memoize,
    new_trace,
    place,
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
    freeze,
    in_avals,
    own_results,
    require_callable,
)


class LinearizeTracer(Tracer):
    """A primal value together with its tangent, which is a variable of the linear program being recorded."""

    __slots__ = ("aval", "primal", "source", "tangent")

    def __init__(self, trace: Trace, primal: Any, tangent: JaxprTracer, source: SourceLine | None) -> None:
        self._trace = trace
        self.primal = primal
        self.tangent = tangent
        self.source = source
        self.aval = get_aval(primal)

    def concrete(self) -> Any:
        primal = self.primal
        return primal.concrete() if isinstance(primal, Tracer) else primal


register_array_type(LinearizeTracer, aval=lambda x: x.aval)


class LinearizeTrace(Trace):
    """Applies each primitive's jvp rule to primals, which the parent computes, and tangents, which are recorded."""

    __slots__ = ("linear",)

    def __init__(self, parent: Trace) -> None:
        super().__init__(parent, "linearize")
        self.linear = PartialTrace(parent, "the linear part of linearize")

    def new_input(self, primal: Any) -> Any:
        """Returns an input to differentiate by; an integer one is a constant."""
        aval = get_aval(primal).to_tangent_aval()
        if aval.dtype == float0:
            return primal
        return LinearizeTracer(self, primal, self.linear.new_input(aval), self.source)

    def split(self, x: Any) -> tuple[Any, Any]:
        """Returns the primal and tangent of a value, which may be a constant."""
        return (x.primal, x.tangent) if type(x) is LinearizeTracer and x._trace is self else (x, zero_tangent(x))

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        parent = self.parent
        assert parent is not None
        primals = []
        tangents: list[Any] = []
        depends = False
        for x in args:
            if type(x) is LinearizeTracer and x._trace is self:
                depends = True
                primals.append(x.primal)
                tangents.append(x.tangent)
            else:
                primals.append(x)
                tangents.append(zero_tangent(x))
        if not depends:
            return parent.process_primitive(primitive, args, params)
        linearize_rule = primitive.rules.get("linearize")
        before, before_source = current.trace, place.source
        source = place.source = user_source(2)
        self.linear.volatile = args
        try:
            if linearize_rule is None:
                current.trace = self.linear
                out, tangent = primitive.rule("jvp")(primals, tangents, **params)
            else:
                out, tangent = self._linearize_call(linearize_rule, primals, tangents, params)
        finally:
            current.trace = before
            place.source = before_source
            self.linear.volatile = None
        if primitive.multiple_results:
            return [
                x if type(t) is Zero else LinearizeTracer(self, x, t, source) for x, t in zip(out, tangent, strict=True)
            ]
        return out if type(tangent) is Zero else LinearizeTracer(self, out, tangent, source)

    def _linearize_call(
        self, rule: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], params: dict[str, Any]
    ) -> tuple[Any, list[Any]]:
        assert self.parent is not None
        current.trace = self.parent
        outs, nonzeros_out, tangent_fun = rule([type(t) is not Zero for t in tangents], *primals, **params)
        current.trace = self.linear
        given = iter(tangent_fun(*[t for t in tangents if type(t) is not Zero]) if any(nonzeros_out) else ())
        return outs, [
            next(given) if nonzero else zero_tangent(x) for x, nonzero in zip(outs, nonzeros_out, strict=True)
        ]


class Linearized:
    """A function run once: its outputs, and the linear program from input to output tangents.

    Attributes:
      outs: the flat outputs.
      jaxpr: from the tangents of the inputs that have them, to those of the outputs that are not zero.
      inputs: for each flat input, whether it has a tangent.
      nonzeros: for each flat output, whether its tangent is not zero.
    """

    __slots__ = ("inputs", "jaxpr", "nonzeros", "outs")

    def __init__(
        self,
        function: Callable[..., Sequence[Any]],
        primals: Sequence[Any],
        parent: Trace,
        instantiate: Sequence[bool] | None = None,
    ) -> None:
        trace = LinearizeTrace(parent)
        linear = trace.linear
        with new_trace(trace):
            tracers = [trace.new_input(x) for x in primals]
            results = function(*tracers)
        pairs = [trace.split(x) for x in results]
        wanted = (False,) * len(pairs) if instantiate is None else instantiate
        self.outs = [x for x, _ in pairs]
        self.nonzeros = tuple(
            type(t) is not Zero or (want and t.aval.dtype != float0) for (_, t), want in zip(pairs, wanted, strict=True)
        )
        with set_current(linear):
            tangents = [
                recorded_zeros(linear, t) if type(t) is Zero else as_tangent_of(x, t)
                for (x, t), nonzero in zip(pairs, self.nonzeros, strict=True)
                if nonzero
            ]
        self.inputs = tuple(type(x) is LinearizeTracer and x._trace is trace for x in tracers)
        closed = linear.to_jaxpr([x.tangent for x, has in zip(tracers, self.inputs, strict=True) if has], tangents)
        linear.active = False
        self.jaxpr = dce_jaxpr(closed, (True,) * len(tangents))


def recorded_zeros(linear: PartialTrace, zero: Zero) -> Any:
    """Returns zeros as an equation of the linear program: they need not be kept as a residual."""
    scalar = zero.aval.dtype.type(0)
    if not zero.aval.shape:
        return scalar.item() if zero.aval.weak_type else scalar
    return linear.record(broadcast_in_dim_p, (scalar,), {"shape": zero.aval.shape, "broadcast_dimensions": ()})


def own_residuals(linearized: Linearized) -> None:
    """Copies outputs that share memory with a residual: the user may write into them, and call the map later."""
    residuals = {id(_owner(x)) for x in linearized.jaxpr.consts}
    linearized.outs = [
        x.copy() if type(x) is np.ndarray and (not x.flags.writeable or id(_owner(x)) in residuals) else x
        for x in linearized.outs
    ]


def _owner(x: Any) -> Any:
    while getattr(x, "base", None) is not None:
        x = x.base
    return x


class LinearFunction:
    """The derivative of a function at a point: a linear function of tangents.

    ``jaxpr`` is its program: from the tangents of floating inputs to those output tangents that are not zero.
    """

    def __init__(self, linearized: Linearized, in_types: Sequence[ShapedArray], in_tree: Any, out_tree: Any) -> None:
        self.jaxpr = linearized.jaxpr
        self._inputs = linearized.inputs
        self._nonzeros = linearized.nonzeros
        self._out_types = [get_aval(x).to_tangent_aval() for x in linearized.outs]
        self._in_types = in_types
        self._in_tree = in_tree
        self._out_tree = out_tree

    def __call__(self, *tangents: Any) -> Any:
        leaves = match_tree("linearized function", "tangents", "primals", self._in_tree, tangents)
        paths = [path for path, _ in tree.leaves_with_path(tangents)]
        checked = [
            check_tangent("linearized function", "tangent", path, aval, t)
            for path, aval, t in zip(paths, self._in_types, leaves, strict=True)
        ]
        given = [t for t, has in zip(checked, self._inputs, strict=True) if has]
        outs = iter(eval_closed_jaxpr(self.jaxpr, *given))
        results = [
            with_weakness_of(next(outs) if nonzero else instantiate_zeros(Zero(aval)), aval)
            for nonzero, aval in zip(self._nonzeros, self._out_types, strict=True)
        ]
        return tree.unflatten(self._out_tree, own_results(results, [*checked, *self.jaxpr.consts]))

    def __repr__(self) -> str:
        return f"LinearFunction({self.jaxpr})"


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
    flat, out = flat_function("linearize", fun, in_tree, has_aux=has_aux)
    linearized = Linearized(flat, [freeze(x) for x in leaves], current.trace)
    own_residuals(linearized)
    result = (tree.unflatten(out.tree, linearized.outs), LinearFunction(linearized, avals, in_tree, out.tree))
    return (*result, out.aux()) if has_aux else result


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
    """
    outer = JaxprTrace(current.trace, "linearize")
    with new_trace(outer):
        inputs = [outer.new_input(aval) for aval in closed.in_avals]

        def function(*tracers: Any) -> list[Any]:
            rest = iter(tracers)
            return eval_closed_jaxpr(closed, *[next(rest) if nz else x for x, nz in zip(inputs, nonzeros, strict=True)])

        linearized = Linearized(function, [x for x, nz in zip(inputs, nonzeros, strict=True) if nz], outer, instantiate)
        linear, residuals = consts_as_inputs(linearized.jaxpr)
        primal = outer.to_jaxpr(inputs, [*linearized.outs, *residuals], closed.jaxpr.name)
    primal = dce_jaxpr(primal, (True,) * len(primal.out_avals))
    return primal, linear, linearized.nonzeros
