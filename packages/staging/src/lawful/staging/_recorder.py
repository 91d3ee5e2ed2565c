"""Traces that record equations: a whole program, or the part of it that depends on unknown values.

:class:`JaxprTrace` records every primitive applied while it is current, also to constants alone, and makes a
jaxpr. :class:`PartialTrace` records only what depends on its own tracers and passes the rest to its parent,
which evaluates it or records it in its own way: this is partial evaluation while tracing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import Any

import numpy as np

from lawful.core import (
    ArgumentTypeError,
    Atom,
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Literal,
    Primitive,
    ShapedArray,
    SourceLine,
    Trace,
    Tracer,
    Var,
    applies_effects,
    current,
    get_aval,
    new_trace,
    note_impure_rule,
    python_scalar_types,
    register_array_type,
    shorten,
    unusable_tracer,
    user_source,
)
from lawful.staging._ownership import freeze, same_bytes


class JaxprTracer(Tracer):
    """A variable of the program being recorded. Only its type is known."""

    __slots__ = ("aval", "source", "variable")

    _trace: Recorder

    def __init__(self, trace: Recorder, var: Var, source: SourceLine | None) -> None:
        self._trace = trace
        self.variable = var
        self.aval = var.aval
        self.source = source

    def concrete(self) -> None:
        self._trace.before_looking()


register_array_type(JaxprTracer, aval=attrgetter("aval"))


def _result_types(primitive: Primitive, out: Any) -> Any:
    """Returns the result of an abstract evaluation as types; raises ArgumentTypeError if it is none."""
    given = [*out] if primitive.multiple_results and isinstance(out, Iterable) else out
    values = given if primitive.multiple_results else [given]
    if isinstance(values, list) and all(type(getattr(value, "aval", value)) is ShapedArray for value in values):
        avals = [getattr(value, "aval", value) for value in values]
        return avals if primitive.multiple_results else avals[0]
    wanted = "a list of ShapedArray" if primitive.multiple_results else "a ShapedArray"
    raise ArgumentTypeError(
        f"abstract evaluation of '{primitive.name}': expected {wanted}, got {shorten(out)} of type "
        f"{type(out).__name__}; return a ShapedArray for each result, and a list of them if and only if the primitive "
        "has multiple_results"
    )


class Recorder(Trace):
    """The base of both recording traces: equations, and the constants that they use."""

    __slots__ = ("_constants", "constvals", "constvars", "eqns")

    def __init__(self, parent: Trace, transformation: str, source: SourceLine | None = None) -> None:
        super().__init__(parent, transformation, source)
        self.eqns: list[JaxprEqn] = []
        self.constvars: list[Var] = []
        self.constvals: list[Any] = []
        # By identity. The value is kept too, so that its identity is not reused.
        self._constants: dict[int, tuple[Var, Any, Any]] = {}

    def before_looking(self) -> None:
        """Called before the error for a tracer whose value is asked for."""

    def new_input(self, aval: ShapedArray) -> JaxprTracer:
        """Returns the tracer of a new input variable."""
        return JaxprTracer(self, Var(aval), self.source)

    def record(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """Adds an equation, and returns the tracer(s) of what it binds."""
        if not primitive.pure_rules:
            note_impure_rule()
        rules = primitive.rules
        stage = rules.get("stage")
        if stage is not None:  # a call that carries a Python function, which becomes a jaxpr
            args, params = stage(self, args, params)
        source = user_source()
        atoms: list[Atom] = []
        avals = []
        for x in args:
            if type(x) is JaxprTracer and x._trace is self:
                atoms.append(x.variable)
                avals.append(x.aval)
            else:
                atom = self.constant(x)
                atoms.append(atom)
                avals.append(atom.aval)
        abstract_eval = rules.get("abstract_eval") or primitive.rule("abstract_eval")
        out = abstract_eval(*avals, **params)
        is_list = type(out) is list or type(out) is tuple
        if is_list is not primitive.multiple_results or {*map(type, out if is_list else (out,))} - {ShapedArray}:
            out = _result_types(primitive, out)
        if primitive.multiple_results:
            outvars = [Var(aval) for aval in out]
            self.eqns.append(JaxprEqn(primitive, atoms, outvars, params, source))
            return [JaxprTracer(self, var, source) for var in outvars]
        var = Var(out)
        self.eqns.append(JaxprEqn(primitive, atoms, [var], params, source))
        return JaxprTracer(self, var, source)

    def atom(self, x: Any) -> Atom:
        """Returns the variable or literal that stands for a value."""
        return x.variable if type(x) is JaxprTracer and x._trace is self else self.constant(x)

    def constant(self, x: Any) -> Atom:
        """Returns a literal for a scalar, and a constvar, one for each array, for everything else."""
        if type(x) in python_scalar_types or isinstance(x, np.generic):
            return Literal(x)
        if type(x) is np.ndarray and not x.ndim:
            return Literal(x[()])
        return self._constant(x)[0]

    def constant_value(self, x: Any) -> Any:
        """Returns a read-only copy of an array, the same one for all of its uses."""
        return self._constant(x)[2]

    def _constant(self, x: Any) -> tuple[Var, Any, Any]:
        """Returns the variable of a constant, the value that was given, and the value that is kept."""
        known = self._constants.get(id(x))
        if known is not None:
            _, original, value = known
            if value is original or same_bytes(value, original):
                return known
        if isinstance(x, Tracer) and not (x._trace.encloses(self) and x._trace.active):
            raise unusable_tracer(x)
        var = Var(get_aval(x))
        value = self.snapshot(x)
        found = self._constants[id(x)] = (var, x, value)
        if value is not x:
            self._constants[id(value)] = (var, value, value)
        self.constvars.append(var)
        self.constvals.append(value)
        return found

    def keep_constants(self, is_kept: Callable[[Var, Any], bool]) -> None:
        """Removes the constants for which a predicate of the variable and the value is false."""
        kept = [pair for pair in zip(self.constvars, self.constvals, strict=True) if is_kept(*pair)]
        self.constvars = [var for var, _ in kept]
        self.constvals = [value for _, value in kept]
        known = set(self.constvars)
        self._constants = {key: found for key, found in self._constants.items() if found[0] in known}

    def snapshot(self, x: Any) -> Any:
        """Returns a constant that later writes into the original do not change."""
        return freeze(x)

    def to_jaxpr(self, inputs: Sequence[JaxprTracer], outputs: Sequence[Any], name: str = "") -> ClosedJaxpr:
        """Returns the program from these inputs to these outputs, with its constants."""
        outvars = [self.atom(x) for x in outputs]
        invars = [tracer.variable for tracer in inputs]
        jaxpr = Jaxpr(self.constvars, invars, self.eqns, outvars, name=name)
        return ClosedJaxpr(jaxpr, self.constvals)


class JaxprTrace(Recorder):
    """Records every primitive applied while it is current (omnistaging)."""

    __slots__ = ()

    def __init__(self, parent: Trace, transformation: str) -> None:
        super().__init__(parent, transformation)
        self.evaluates_constants = False

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        return self.record(primitive, args, params)


class PartialTrace(Recorder):
    """Records the primitives that depend on its tracers, and passes the others to its parent."""

    __slots__ = ("effects_unknown", "volatile")

    def __init__(
        self,
        parent: Trace,
        transformation: str,
        source: SourceLine | None = None,
        *,
        effects_unknown: bool = False,
    ) -> None:
        super().__init__(parent, transformation, source)
        #: Whether primitives with effects are recorded also if they do not depend on the tracers.
        self.effects_unknown = effects_unknown
        #: The arrays among the arguments of the user's call in progress: the user may write into them later.
        self.volatile: Sequence[Any] | None = None

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        if self.effects_unknown and applies_effects(primitive, params):
            return self.record(primitive, args, params)
        unknown = [type(x) is JaxprTracer and x._trace is self for x in args]
        if not any(unknown):
            assert self.parent is not None
            return self.parent.process_primitive(primitive, args, params)
        rule = primitive.rule_or_none("partial_eval")
        if rule is None or all(unknown):
            return self.record(primitive, args, params)
        return rule(self._record_call(primitive), unknown, *args, **params)

    def _record_call(self, primitive: Primitive) -> Callable[..., Any]:
        def record(*args: Any, **params: Any) -> Any:
            return self.record(primitive, args, params)

        return record

    @contextmanager
    def arguments(self, args: Sequence[Any]) -> Iterator[None]:
        """Inside it, only the arrays among ``args`` and their views are the user's; outside, every array may be."""
        before, self.volatile = self.volatile, args
        try:
            yield
        finally:
            self.volatile = before

    def snapshot(self, x: Any) -> Any:
        return freeze(x) if type(x) is np.ndarray and self.may_change(x) else x

    def may_change(self, x: np.ndarray[Any, Any]) -> bool:
        """Whether an array may be written into later: the user's, or a view of one."""
        # Nobody else holds an array that a rule has just computed.
        return self.volatile is None or x.base is not None or any([x is y for y in self.volatile])


def trace_to_jaxpr(
    function: Callable[..., Sequence[Any]],
    in_avals: Sequence[ShapedArray],
    *,
    transformation: str = "make_jaxpr",
    name: str = "",
    trace_class: type[JaxprTrace] = JaxprTrace,
) -> ClosedJaxpr:
    """Returns the jaxpr of a function of flat arguments that gives a flat list.

    Args:
      function: called once, with a tracer for each type.
      in_avals: the types of its arguments.
      transformation: its name, for messages about the tracers.
      name: of the jaxpr.
      trace_class: the class of the trace.

    The constants of the result may be tracers of enclosing transformations.
    """
    trace = trace_class(current.trace, transformation)
    with new_trace(trace):
        inputs = [trace.new_input(aval) for aval in in_avals]
        return trace.to_jaxpr(inputs, function(*inputs), name)
