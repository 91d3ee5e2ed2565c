"""Forward mode by cached rules."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from threading import get_ident
from typing import Any

from lawful.autodiff._fast.dual import CachingTrace, apply_call, dual, evaluation_under, parts, replay_in_parent
from lawful.autodiff._fast.traced_rules import TracedRule, jvp_of_program, traced_jvp
from lawful.autodiff._jvp import JVPTrace, JVPTracer
from lawful.core import (
    Primitive,
    SourceLine,
    Trace,
    Zero,
    avals_of,
    get_aval,
    register_array_type,
    register_dispatch_module,
    set_current,
    source_override,
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
from lawful.ops import with_weakness_of

register_dispatch_module(__name__)


class FastJVPTracer(JVPTracer):
    """A `JVPTracer` that `dual` makes."""

    __slots__ = ()

    __init__ = object.__init__


FastJVPTracer.__name__ = FastJVPTracer.__qualname__ = JVPTracer.__name__  # in Python's errors
register_array_type(FastJVPTracer, aval=attrgetter("aval"))


class FastJVPTrace(CachingTrace[TracedRule], JVPTrace):
    """Replays the traced jvp rules of pure primitives; runs those of others."""

    __slots__ = ("evaluate",)

    def __init__(self, parent: Trace) -> None:
        super().__init__(parent)
        self.evaluate = evaluation_under(parent)

    def apply_primitive(
        self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]
    ) -> tuple[Any, TracedRule | None]:
        """Returns what `process_primitive` does, and the cached rule that was replayed if it had one result."""
        primals, tangent_avals, given = parts(self, args)
        if not given:
            return self.parent.process_primitive(primitive, args, params), None
        rule = traced_jvp(primitive, avals_of(args), tangent_avals, params)
        if rule is None:
            return JVPTrace.process_primitive(self, primitive, args, params), None
        results = self._replay_rule(rule, primals, given, user_source())
        return (results, None) if primitive.multiple_results else (results[0], rule)

    def apply_program(self, program: IndexedJaxpr, args: Sequence[Any]) -> tuple[list[Any], TracedRule | None]:
        """Returns the results of a program, and the cached rule that was replayed if it had one result."""
        primals, tangent_avals, given = parts(self, args)
        if not given:
            return replay(self.parent, program, args), None
        key = (jvp_of_program, program, tangent_avals)
        found = rule_cache.young.get(key)
        if type(found) is tuple:  # the common case
            rule_cache.hits += 1
        else:
            found = cached_rule(key, jvp_of_program, program, tangent_avals)
        if found is None:
            return replay_steps(self, program, args), None
        exact, rule = found
        source = user_source()
        if exact == tangent_avals:
            return self._replay_rule(rule, primals, given, source), rule if rule.count == 1 else None
        with set_current(self.parent):
            given = [*map(with_weakness_of, given, filter(None, exact))]
        return self._replay_rule(rule, primals, given, source), None

    def _replay_rule(
        self, rule: TracedRule, primals: list[Any], given: list[Any], source: SourceLine | None
    ) -> list[Any]:
        if rule.count == 1:  # the common case
            return [self.replay_one(rule, primals, given, (), source)]
        values = replay_in_parent(self, rule.program, primals + given, source)
        avals = rule.program.out_avals
        return [
            x if number is None else dual(FastJVPTracer, self, x, values[number], source, aval, avals[number])
            for x, aval, number in zip(values, avals, rule.numbers, strict=False)
        ]

    def replay_one(
        self, rule: TracedRule, primals: list[Any], given: list[Any], args: Sequence[Any], source: SourceLine | None
    ) -> Any:
        """Replays a cached rule of one result; see `CachingTrace`."""
        if self.evaluate is not None:  # the common case
            values = self.evaluate(self.parent, rule.program, primals + given)
        else:
            values = replay_in_parent(self, rule.program, primals + given, source)
        if not rule.all_nonzero:  # no tangent
            return values[0]
        tracer = FastJVPTracer()  # as `dual`, with a call less
        tracer._trace = self
        tracer.primal, tracer.tangent = values
        tracer.source = source
        tracer.aval, tracer.tangent_aval = rule.program.out_avals
        return tracer

    def new_tracer(self, primal: Any, tangent: Any) -> Any:
        if type(tangent) is Zero:
            return primal
        # Rules run at their caller's line; otherwise it is an input, which has the line of the transformation.
        source = user_source() if get_ident() in source_override.by_thread else self.source
        return dual(FastJVPTracer, self, primal, tangent, source, get_aval(primal), get_aval(tangent))


def _replay(trace: FastJVPTrace, program: IndexedJaxpr, args: Sequence[Any]) -> list[Any]:
    return trace.apply_program(program, args)[0]


register_replay(FastJVPTrace, _replay)
register_calls(FastJVPTrace, apply_call)
