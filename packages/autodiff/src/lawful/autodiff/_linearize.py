"""Linearization: ``linearize`` runs a function once and gives the linear map that is its derivative there.

A function is traced by its jvp rules, with tangents that are unknown: what does not depend on them is computed
at once, and the rest, which is linear, is recorded. No rule beside the jvp is needed for that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from lawful import tree
from lawful.autodiff._arguments import check_tangent, flat_function, match_tree
from lawful.autodiff._derivative_recipes import LinearRecipe, linear_recipe, linearized_recipe, run_jvp_rule
from lawful.autodiff._dual import DualTrace, DualTracer, TangentAvals, dual, follow_in_parent, parts, zero_tangent
from lawful.autodiff._tape import Known, Node, Tangent, Tape
from lawful.autodiff._transpose import backward_pass, pull_back
from lawful.core import (
    ClosedJaxpr,
    Jaxpr,
    Primitive,
    Recipe,
    ShapedArray,
    SourceLine,
    Trace,
    Var,
    Zero,
    at_source,
    avals_of,
    current,
    eval_closed_jaxpr,
    float0,
    get_aval,
    instantiate_zeros,
    is_inexact,
    memoize,
    new_trace,
    place,
    rare_collections,
    register_array_type,
    set_current,
    user_source,
)
from lawful.ops import broadcast_in_dim_p, with_weakness_of
from lawful.staging import (
    JaxprTrace,
    PartialTrace,
    consts_as_inputs,
    dce_jaxpr,
    freeze,
    function_name,
    in_avals,
    memory_owner,
    own_results,
    require_callable,
)


class LinearizeTracer(DualTracer):
    """A primal value together with its tangent, which is a variable (or number) of the linear program."""

    __slots__ = ()


register_array_type(LinearizeTracer, aval=attrgetter("aval"))


class LinearizeTrace(DualTrace[LinearRecipe]):
    """Applies each primitive's jvp rule to primals, which the parent computes, and tangents, which are recorded."""

    __slots__ = ("linear",)

    def __init__(self, parent: Trace) -> None:
        # This, `Linearized` and the transformation that makes one are not the user's.
        super().__init__(parent, "linearize", user_source(4))
        self.linear = Tape(parent, "the linear part of linearize", self.source)

    def new_inputs(self, primals: Sequence[Any], avals: Sequence[ShapedArray]) -> list[Any]:
        """Returns inputs to differentiate by; an integer one is a constant, without a tangent."""
        source = self.source
        moving = {aval for aval in set(avals) if is_inexact(aval.dtype)}  # of many leaves few types
        return [
            dual(LinearizeTracer, self, x, Var(aval), source, aval, aval) if aval in moving else x
            for x, aval in zip(primals, avals, strict=True)
        ]

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        primals, tangent_avals, given = parts(self, args)
        if not given:
            return self.parent.process_primitive(primitive, args, params)  # type: ignore[union-attr]
        recipe = linear_recipe(primitive, avals_of(args), tangent_avals, params)
        if recipe is None:
            results = self._run_rule(primitive, primals, tangent_avals, given, args, params)
        else:
            self.followed = recipe, id(args)
            # What applies a primitive is not the user's, nor are the two that follow a recipe.
            results = self.follow_derived(recipe, primals, given, args, user_source(3))
        return results if primitive.multiple_results else results[0]

    def follow(self, recipe: Recipe, args: Sequence[Any]) -> list[Any]:
        primals, tangent_avals, given = parts(self, args)
        if not given:
            return self.parent.follow(recipe, args)  # type: ignore[union-attr]
        found = recipe.remembered(linearized_recipe, tangent_avals, self)
        if found is None:
            return super().follow(recipe, args)
        exact, linearized = found
        if exact == tangent_avals:
            self.followed = linearized, id(args)
        else:
            with set_current(self.linear):
                given = [self.linear.exact(t, aval) for t, aval in zip(given, filter(None, exact), strict=True)]
        return self.follow_derived(linearized, primals, given, args, user_source(4))

    def follow_derived(
        self,
        recipe: LinearRecipe,
        primals: list[Any],
        given: list[Any],
        args: Sequence[Any],
        source: SourceLine | None,
    ) -> list[Any]:
        """Applies what was linearized before to primals and tangents."""
        if recipe.count == 1:  # as of most
            return [self.follow_one(recipe, primals, given, args, source)]
        values = follow_in_parent(self, recipe.primal, primals, source)
        tangents = self._adding(given)(recipe, values[recipe.count :], given, args, source)
        return [
            x if number is None else dual(LinearizeTracer, self, x, t := tangents[number], source, aval, t.aval)
            for number, x, aval in zip(recipe.numbers, values, recipe.out_avals, strict=False)
        ]

    def follow_one(
        self,
        recipe: LinearRecipe,
        primals: list[Any],
        given: list[Any],
        args: Sequence[Any],
        source: SourceLine | None,
    ) -> Any:
        values = follow_in_parent(self, recipe.primal, primals, source)
        x = values.pop(0)
        if not recipe.is_single:  # no tangent
            return x
        (tangent,) = self._adding(given)(recipe, values, given, args, source)
        return dual(LinearizeTracer, self, x, tangent, source, recipe.out_avals[0], tangent.aval)

    def _adding(self, given: Sequence[Tangent]) -> Callable[..., Sequence[Tangent]]:
        """Returns what records the linear part of something applied to these tangents."""
        linear = self.linear
        if linear.only_variables or {*map(type, given)} == {Var}:
            return linear.add
        return self._add_known

    def _add_known(
        self,
        recipe: LinearRecipe,
        residuals: list[Any],
        given: Sequence[Tangent],
        args: Sequence[Any],
        source: SourceLine | None,
    ) -> Sequence[Tangent]:
        """Does what the tape's ``add`` does where tangents are known: what depends on those alone is not recorded."""
        linear = self.linear
        with set_current(linear), at_source(source):
            found = linear.follow(recipe.linear, [*residuals, *map(linear.value, given)])
        return [*map(linear.tangent, found)]

    def _run_rule(
        self,
        primitive: Primitive,
        primals: list[Any],
        tangent_avals: TangentAvals,
        given: list[Any],
        args: Sequence[Any],
        params: dict[str, Any],
    ) -> list[Any]:
        """Runs the rule itself: of a call, or one that looks at values."""
        linear = self.linear
        before, before_source = current.trace, place.source
        source = place.source = user_source(3)
        linear.volatile = args
        try:
            rest = map(linear.value, given)
            tangents = [
                zero_tangent(x) if aval is None else next(rest) for x, aval in zip(primals, tangent_avals, strict=True)
            ]
            linearize_rule = primitive.rule_or_none("linearize")
            if linearize_rule is not None:
                outs, found = self._linearize_call(linearize_rule, primals, tangents, params)
            else:
                current.trace = linear
                outs, found = run_jvp_rule(primitive, primals, tangents, params)
            return [
                x
                if type(t) is Zero
                else dual(LinearizeTracer, self, x, linear.tangent(t), source, get_aval(x), get_aval(t))
                for x, t in zip(outs, found, strict=True)
            ]
        finally:
            current.trace = before
            place.source = before_source
            linear.volatile = None

    def _linearize_call(
        self, rule: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], params: dict[str, Any]
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        assert self.parent is not None
        current.trace = self.parent
        outs, nonzeros_out, tangent_fun = rule([type(t) is not Zero for t in tangents], *primals, **params)
        current.trace = self.linear
        given = iter(tangent_fun(*[t for t in tangents if type(t) is not Zero]) if any(nonzeros_out) else ())
        return outs, [
            next(given) if nonzero else zero_tangent(x) for x, nonzero in zip(outs, nonzeros_out, strict=True)
        ]


class Linearized:
    """A function run once: its outputs, and the linear part of what it applied, from input to output tangents.

    Attributes:
      outs: the flat outputs.
      inputs: for each flat input, whether it has a tangent.
      nonzeros: for each flat output, whether its tangent is not zero.
    """

    __slots__ = ("_in_tangents", "_jaxpr", "_out_tangents", "_tape", "inputs", "nonzeros", "outs")

    #: May be weak where the output is strong, and the other way round, as long as there is no jaxpr.
    _out_tangents: list[Tangent]

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
        linear = trace.linear
        with new_trace(trace):
            tracers = trace.new_inputs(primals, avals_of(primals) if avals is None else avals)
            results = function(*tracers)
        self.outs: list[Any] = []
        self._out_tangents = []
        nonzeros = []
        for i, x in enumerate(results):
            tangent: Tangent | None = None
            if type(x) is LinearizeTracer and x._trace is trace:
                x, tangent = x.primal, x.tangent
            elif instantiate is not None and instantiate[i]:
                aval = get_aval(x).to_tangent_aval()
                if aval.dtype != float0:
                    tangent = linear.atom(recorded_zeros(linear, aval))
            self.outs.append(x)
            nonzeros.append(tangent is not None)
            if tangent is not None:
                self._out_tangents.append(tangent)
        self.nonzeros = tuple(nonzeros)
        inputs: list[Any] = [x.tangent if type(x) is LinearizeTracer and x._trace is trace else None for x in tracers]
        self.inputs = (True,) * len(inputs)
        self._in_tangents = inputs
        if None in inputs:  # an integer has no tangent, and a value of an enclosing transformation none of this one
            self.inputs = tuple([t is not None for t in inputs])
            self._in_tangents = [t for t in inputs if t is not None]
        linear.active = False
        self._tape = linear
        self._jaxpr: ClosedJaxpr | None = None
        if {*map(type, linear.eqns)} - {Node}:
            self.drop_dead()  # of a call, such as a loop, much may be dead

    @property
    def jaxpr(self) -> ClosedJaxpr:
        """The linear program from the tangents of the inputs that have them to those of the outputs in ``nonzeros``."""
        if self._jaxpr is None:
            tape = self._tape
            tape.write_out()
            outs = [x for x, nonzero in zip(self.outs, self.nonzeros, strict=True) if nonzero]
            with set_current(tape):
                out_tangents = [
                    tape.settled(tape.exact(t, get_aval(x).to_tangent_aval()))
                    for x, t in zip(outs, self._out_tangents, strict=True)
                ]
            closed = ClosedJaxpr(Jaxpr(tape.constvars, self._in_tangents, tape.eqns, out_tangents), tape.constvals)
            self._jaxpr = _constants_by_use(dce_jaxpr(closed, (True,) * len(self._out_tangents)))
        return self._jaxpr

    @property
    def residuals(self) -> Sequence[Any]:
        """What is kept of the run."""
        return self._tape.residuals() if self._jaxpr is None else self._jaxpr.consts

    def drop_known(self) -> None:
        """Takes output tangents that depend on no input for zeros: backwards they give nothing, and are not kept."""
        given = iter(self._out_tangents)
        self.nonzeros = tuple([nonzero and type(next(given)) is not Known for nonzero in self.nonzeros])
        self._out_tangents = [t for t in self._out_tangents if type(t) is not Known]

    def drop_dead(self) -> None:
        """Drops what no output depends on, and its residuals with it."""
        if self._jaxpr is None:
            self._tape.drop_dead(self._out_tangents)

    def pull_back(self, cts: Sequence[Any], *, last: bool = False) -> list[Any]:
        """Returns the cotangents of the inputs that have tangents from those of the outputs; zeros are symbolic.

        Args:
          cts: the cotangents.
          last: whether nothing is run backwards again: then residuals are freed as the pass goes on.
        """
        if self._jaxpr is not None:
            return backward_pass(self._jaxpr, cts)
        tape = self._tape
        constants = dict(zip(tape.constvars, tape.constvals, strict=True))
        entries = tape.backwards(last=last)
        return pull_back(entries, self._in_tangents, self._out_tangents, constants, cts)


def _constants_by_use(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns a jaxpr with its constants in the order in which they are used.

    They come as they are kept: in another order where a rule was run than where what is remembered of it was followed.
    """
    jaxpr = closed.jaxpr
    values = dict(zip(jaxpr.constvars, closed.consts, strict=True))
    atoms = [atom for eqn in jaxpr.eqns for atom in eqn.invars] + [*jaxpr.outvars]
    constvars = [atom for atom in dict.fromkeys(atoms) if atom in values]
    return ClosedJaxpr(jaxpr.replace(constvars=constvars), [values[var] for var in constvars])


def recorded_zeros(linear: PartialTrace, aval: ShapedArray) -> Any:
    """Returns zeros as an equation of the linear program: they need not be kept as a residual."""
    scalar = aval.dtype.type(0)
    if not aval.shape:
        return scalar.item() if aval.weak_type else scalar
    return linear.record(broadcast_in_dim_p, (scalar,), {"shape": aval.shape, "broadcast_dimensions": ()})


def own_residuals(linearized: Linearized, aux: Any) -> Any:
    """Copies outputs that share memory with a residual: the user may write into them, and call the map later.

    Args:
      linearized: the function, whose ``outs`` are replaced.
      aux: a tree of other values that the user gets.

    Returns:
      ``aux``, copied in the same way.
    """
    linearized.drop_dead()
    residuals = {id(memory_owner(x)) for x in linearized.residuals if type(x) is np.ndarray}

    def own(x: Any) -> Any:
        is_kept = type(x) is np.ndarray and (not x.flags.writeable or id(memory_owner(x)) in residuals)
        return x.copy() if is_kept else x

    linearized.outs = [own(x) for x in linearized.outs]
    return tree.map(own, aux)


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
    flat, out = flat_function(f"linearize of {function_name(fun)}", fun, in_tree, has_aux=has_aux)
    with rare_collections():
        linearized = Linearized(flat, [freeze(x) for x in leaves], current.trace, avals=avals)
        aux = own_residuals(linearized, out.aux())
        linear_function = LinearFunction(linearized, avals, in_tree, out.tree)
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
