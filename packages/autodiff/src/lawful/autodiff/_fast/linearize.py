"""Linearization by cached rules: the linear part is a tape of rules and residuals, written out only on demand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from lawful.autodiff._fast.dual import CachingTrace, apply_call, dual, evaluation_under, parts, replay_in_parent
from lawful.autodiff._fast.tape import Known, Tangent, Tape
from lawful.autodiff._fast.traced_rules import LinearizedRule, linearized_program, linearized_rule
from lawful.autodiff._fast.transpose import pull_back
from lawful.autodiff._linear_function import constants_by_use
from lawful.autodiff._linearize import Linearized, LinearizeTrace, LinearizeTracer, instantiated_by
from lawful.autodiff._transpose import backward_pass
from lawful.core import (
    ClosedJaxpr,
    Jaxpr,
    Primitive,
    ShapedArray,
    SourceLine,
    Trace,
    Var,
    Zero,
    at_source,
    avals_of,
    get_aval,
    is_inexact,
    new_trace,
    register_array_type,
    register_dispatch_module,
    set_current,
    user_source,
)
from lawful.core._fast import (
    IndexedJaxpr,
    cached_rule,
    register_calls,
    register_replay,
    replay,
    replay_steps,
    rule_cache,
)
from lawful.staging import dce_jaxpr

register_dispatch_module(__name__)


class FastLinearizeTracer(LinearizeTracer):
    """A `LinearizeTracer` that `dual` makes."""

    __slots__ = ()

    __init__ = object.__init__


FastLinearizeTracer.__name__ = FastLinearizeTracer.__qualname__ = LinearizeTracer.__name__  # in Python's errors
register_array_type(FastLinearizeTracer, aval=attrgetter("aval"))


class FastLinearizeTrace(CachingTrace[LinearizedRule], LinearizeTrace):
    """Replays the linearized rules of pure primitives; runs those of others. Tangents are on a tape."""

    __slots__ = ("evaluate",)

    linear: Tape

    def __init__(self, parent: Trace) -> None:
        Trace.__init__(self, parent, "linearize")
        self.evaluate = evaluation_under(parent)
        self.linear = Tape(self)

    def new_inputs(self, primals: Sequence[Any], avals: Sequence[ShapedArray]) -> list[Any]:
        """Returns inputs to differentiate by; an integer one is a constant, without a tangent."""
        source = self.source
        inexact = {aval for aval in set(avals) if is_inexact(aval.dtype)}  # many leaves share few avals
        return [
            dual(FastLinearizeTracer, self, x, Var(aval), source, aval, aval) if aval in inexact else x
            for x, aval in zip(primals, avals, strict=True)
        ]

    def new_input(self, primal: Any, aval: ShapedArray) -> Any:
        """Returns an input to differentiate by."""
        return dual(FastLinearizeTracer, self, primal, Var(aval), self.source, aval, aval)

    def apply_primitive(
        self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]
    ) -> tuple[Any, LinearizedRule | None]:
        """Returns what `process_primitive` does, and the cached rule that was replayed if it had one result."""
        primals, tangent_avals, given = parts(self, args)
        if not given:
            return self.parent.process_primitive(primitive, args, params), None
        rule = linearized_rule(primitive, avals_of(args), tangent_avals, params)
        if rule is None:
            return LinearizeTrace.process_primitive(self, primitive, args, params), None
        results = self._replay_rule(rule, primals, given, args, user_source())
        return (results, None) if primitive.multiple_results else (results[0], rule)

    def apply_program(self, program: IndexedJaxpr, args: Sequence[Any]) -> tuple[list[Any], LinearizedRule | None]:
        """Returns the results of a program, and the cached rule that was replayed if it had one result."""
        primals, tangent_avals, given = parts(self, args)
        if not given:
            return replay(self.parent, program, args), None
        key = (linearized_program, program, tangent_avals)
        found = rule_cache.young.get(key)
        if type(found) is tuple:  # the common case
            rule_cache.hits += 1
        else:
            found = cached_rule(key, linearized_program, program, tangent_avals)
        if found is None:
            return replay_steps(self, program, args), None
        exact, rule = found
        source = user_source()
        if exact == tangent_avals:
            if rule.is_single:  # the common case
                return [self.replay_one(rule, primals, given, args, source)], rule
            return self._replay_rule(rule, primals, given, args, source), rule if rule.count == 1 else None
        with set_current(self.linear):
            given = [self.linear.exact(t, aval) for t, aval in zip(given, filter(None, exact), strict=True)]
        return self._replay_rule(rule, primals, given, args, source), None

    def _replay_rule(
        self, rule: LinearizedRule, primals: list[Any], given: list[Any], args: Sequence[Any], source: SourceLine | None
    ) -> list[Any]:
        if rule.is_single:  # the common case
            return [self.replay_one(rule, primals, given, args, source)]
        values = replay_in_parent(self, rule.primal, primals, source)
        tangents = self._adding(given)(rule, values[rule.count :], given, args, source)
        return [
            x
            if number is None
            else dual(FastLinearizeTracer, self, x, tangents[number], source, aval, tangents[number].aval)
            for x, aval, number in zip(values, rule.out_avals, rule.numbers, strict=False)
        ]

    def replay_one(
        self, rule: LinearizedRule, primals: list[Any], given: list[Any], args: Sequence[Any], source: SourceLine | None
    ) -> Any:
        """Replays a cached rule of one result; see `CachingTrace`."""
        if not rule.is_single:
            if self.evaluate is not None and rule.numbers == (None,):  # such as a comparison
                return self.evaluate(self.parent, rule.primal, primals)[0]
            return self._replay_rule(rule, primals, given, args, source)[0]
        if self.evaluate is not None:  # the common case
            values = self.evaluate(self.parent, rule.primal, primals)
        else:
            values = replay_in_parent(self, rule.primal, primals, source)
        add = self.linear.add if self.linear.only_variables else self._adding(given)
        (tangent,) = add(rule, values[1:], given, args, source)
        tracer = FastLinearizeTracer()  # as `dual`, with a call less
        tracer._trace = self
        tracer.primal = values[0]
        tracer.tangent = tangent
        tracer.source = source
        tracer.aval = rule.out_avals[0]
        tracer.tangent_aval = tangent.aval
        return tracer

    def _adding(self, given: Sequence[Tangent]) -> Callable[..., Sequence[Tangent]]:
        """Returns the function that records the linear part of a rule for these tangents."""
        return self.linear.add if {*map(type, given)} == {Var} else self._add_known

    def _add_known(
        self,
        rule: LinearizedRule,
        residuals: list[Any],
        given: Sequence[Tangent],
        args: Sequence[Any],
        source: SourceLine | None,
    ) -> Sequence[Tangent]:
        """As the tape's ``add``, where tangents are known: what depends on those alone is not recorded."""
        linear = self.linear
        with set_current(linear), at_source(source):
            found = replay_steps(linear, rule.linear, [*residuals, *map(linear.value, given)])
        return [*map(linear.tangent, found)]

    # The plain interpreter runs rules that are not cached. Its tangents are values; those here are on the tape.

    def new_tracer(self, primal: Any, tangent: Any) -> Any:
        if type(tangent) is Zero:
            return primal
        aval = get_aval(primal)
        return dual(
            FastLinearizeTracer, self, primal, self.linear.tangent(tangent), user_source(), aval, get_aval(tangent)
        )

    def split(self, x: Any) -> tuple[Any, Any]:
        primal, tangent = super().split(x)
        return primal, tangent if type(tangent) is Zero else self.linear.value(tangent)


def _replay(trace: FastLinearizeTrace, program: IndexedJaxpr, args: Sequence[Any]) -> list[Any]:
    return trace.apply_program(program, args)[0]


register_replay(FastLinearizeTrace, _replay)
register_calls(FastLinearizeTrace, apply_call)


class TapeLinearized(Linearized):
    """A function run once, with a tape as its linear part, which becomes a program when that is asked for."""

    __slots__ = ()

    _linear: Tape
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
        trace = FastLinearizeTrace(parent)
        with new_trace(trace):
            tracers = trace.new_inputs(primals, avals_of(primals) if avals is None else avals)
            results = function(*tracers)
        self._finish(trace, tracers, results, instantiate)

    @classmethod
    def of_run(cls, trace: FastLinearizeTrace, tracers: Sequence[Any], results: Sequence[Any]) -> TapeLinearized:
        """Returns a function that was run already.

        Args:
          trace: its trace, which has ended.
          tracers: its arguments.
          results: its results.
        """
        linearized = cls.__new__(cls)
        linearized._finish(trace, tracers, results, None)
        return linearized

    def _finish(
        self,
        trace: FastLinearizeTrace,
        tracers: Sequence[Any],
        results: Sequence[Any],
        instantiate: Sequence[bool] | None,
    ) -> None:
        linear = trace.linear
        self.outs: list[Any] = []
        self._out_tangents = []
        nonzeros = []
        for i, x in enumerate(results):
            tangent: Tangent | None = None
            if type(x) is FastLinearizeTracer and x._trace is trace:
                x, tangent = x.primal, x.tangent
            elif instantiate is not None and instantiate[i]:
                zero = instantiated_by(linear, Zero(get_aval(x).to_tangent_aval()))
                tangent = None if type(zero) is Zero else linear.atom(zero)
            self.outs.append(x)
            nonzeros.append(tangent is not None)
            if tangent is not None:
                self._out_tangents.append(tangent)
        self.nonzeros = tuple(nonzeros)
        inputs: list[Any] = [
            x.tangent if type(x) is FastLinearizeTracer and x._trace is trace else None for x in tracers
        ]
        self.inputs = (True,) * len(inputs)
        self._in_tangents = inputs
        if None in inputs:  # integers and values of enclosing transformations have no tangent
            self.inputs = tuple([t is not None for t in inputs])
            self._in_tangents = [t for t in inputs if t is not None]
        linear.active = False
        self._linear = linear
        self._jaxpr: ClosedJaxpr | None = None

    @property
    def jaxpr(self) -> ClosedJaxpr:
        if self._jaxpr is None:
            tape = self._linear
            tape.write_out()
            outs = [x for x, nonzero in zip(self.outs, self.nonzeros, strict=True) if nonzero]
            with set_current(tape):
                out_tangents = [
                    tape.instantiated(tape.exact(t, get_aval(x).to_tangent_aval()))
                    for x, t in zip(outs, self._out_tangents, strict=True)
                ]
            constants = tape.constants
            jaxpr = Jaxpr(constants.variables, self._in_tangents, tape.eqns, out_tangents)
            closed = ClosedJaxpr(jaxpr, constants.values)
            self._jaxpr = constants_by_use(dce_jaxpr(closed, (True,) * len(self._out_tangents)))
        return self._jaxpr

    @property
    def residuals(self) -> Sequence[Any]:
        return self._linear.residuals() if self._jaxpr is None else self._jaxpr.consts

    def drop_known(self) -> None:
        given = iter(self._out_tangents)
        self.nonzeros = tuple([nonzero and type(next(given)) is not Known for nonzero in self.nonzeros])
        self._out_tangents = [t for t in self._out_tangents if type(t) is not Known]

    def drop_dead(self) -> None:
        if self._jaxpr is None:
            self._linear.drop_dead(self._out_tangents)

    def pull_back(self, cts: Sequence[Any], *, last: bool = False) -> list[Any]:
        if self._jaxpr is not None:
            return backward_pass(self._jaxpr, cts)
        tape = self._linear
        if last and tape.may_be_dead():
            self.drop_dead()  # most of a call, such as a loop, may be dead
        return pull_back(tape.backwards(last=last), self._in_tangents, self._out_tangents, tape.values(), cts)
