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
    Casts,
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Primitive,
    ShapedArray,
    SourceLine,
    Trace,
    Tracer,
    Var,
    applies_effects,
    current,
    holds_constants,
    new_trace,
    register_array_type,
    register_dispatch_module,
    shorten,
    user_source,
    vary_alike,
    with_axes,
)
from lawful.staging._constants import Constants
from lawful.staging._known_results import evaluated
from lawful.staging._ownership import read_only

register_dispatch_module(__name__)


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


def _result_avals(primitive: Primitive, out: Any) -> list[ShapedArray]:
    """Returns what an abstract evaluation gave as a list of types; raises ArgumentTypeError if it is none."""
    values = [out] if not primitive.multiple_results else [*out] if isinstance(out, Iterable) else out
    if isinstance(values, list) and all(type(getattr(value, "aval", value)) is ShapedArray for value in values):
        return [getattr(value, "aval", value) for value in values]
    wanted = "a list of ShapedArray" if primitive.multiple_results else "a ShapedArray"
    raise ArgumentTypeError(
        f"abstract evaluation of '{primitive.name}': expected {wanted}, got {shorten(out)} of type "
        f"{type(out).__name__}; return a ShapedArray for each result, and a list of them if and only if the primitive "
        "has multiple_results"
    )


class Recorder(Trace):
    """The base of both recording traces: equations, the constants that they use, and values cast to vary over axes."""

    __slots__ = ("casts", "constants", "eqns")

    def __init__(self, parent: Trace, transformation: str, source: SourceLine | None = None) -> None:
        super().__init__(parent, transformation, source)
        self.eqns: list[JaxprEqn] = []
        self.constants = Constants()
        self.casts: Casts = {}

    def before_looking(self) -> None:
        """Called before the error for a tracer whose value is asked for."""

    def new_input(self, aval: ShapedArray) -> JaxprTracer:
        """Returns the tracer of a new input variable."""
        return JaxprTracer(self, Var(aval), self.source)

    def record(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """Adds an equation, and returns the tracer(s) of what it binds."""
        if "stage" in primitive.rules:  # a call of a Python function, which becomes a jaxpr
            args, params = primitive.rule("stage")(self, args, params)
        if "hoist" in primitive.rules and holds_constants(params):
            args, params = primitive.rule("hoist")(args, params)
        if self.checked_axes:
            args, params = vary_alike(self, self.casts, primitive, args, params)
        constant = self.constants.atom
        atoms = [x.variable if type(x) is JaxprTracer and x._trace is self else constant(x, self) for x in args]
        out = primitive.rule("abstract_eval")(*[atom.aval for atom in atoms], **params)
        avals = [out] if type(out) is ShapedArray and not primitive.multiple_results else _result_avals(primitive, out)
        if self.checked_axes:
            avals = with_axes(primitive, atoms, params, avals)
        self.eqns.append(JaxprEqn(primitive, atoms, outvars := [*map(Var, avals)], params, source := user_source()))
        results = [JaxprTracer(self, var, source) for var in outvars]
        return results if primitive.multiple_results else results[0]

    def atom(self, x: Any) -> Atom:
        """Returns the variable or literal that stands for a value."""
        return x.variable if type(x) is JaxprTracer and x._trace is self else self.constants.atom(x, self)

    def snapshot(self, x: Any) -> Any:
        """Returns a constant that later writes into the original do not change."""
        return read_only(x)

    def to_jaxpr(self, inputs: Sequence[JaxprTracer], outputs: Sequence[Any], name: str = "") -> ClosedJaxpr:
        """Returns the program from these inputs to these outputs, with its constants."""
        self.casts.clear()  # these tracers hold the trace: a cycle would keep its constants
        invars, outvars, known = [x.variable for x in inputs], [self.atom(x) for x in outputs], self.constants
        return ClosedJaxpr(Jaxpr(known.variables, invars, self.eqns, outvars, name=name), known.values)


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

    __slots__ = ("filled", "repeated", "volatile")

    def __init__(
        self,
        parent: Trace,
        transformation: str,
        source: SourceLine | None = None,
        *,
        repeated: bool = False,
    ) -> None:
        super().__init__(parent, transformation, source)
        #: Whether what is recorded runs more often than the rest: it has all effects, and calls are not split whose
        #: derivative is a rule.
        self.repeated = repeated
        #: By variable, the equations that broadcast a literal, with its value: arrays of zeros.
        self.filled: dict[Var, tuple[JaxprEqn, Any]] = {}
        #: The arrays among the arguments of the user's call in progress: the user may write into them later.
        self.volatile: Sequence[Any] | None = None

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        if self.repeated and applies_effects(primitive, params):
            return self.record(primitive, args, params)
        unknown = [type(x) is JaxprTracer and x._trace is self for x in args]
        if not any(unknown):
            assert self.parent is not None
            return self.parent.process_primitive(primitive, args, params)
        rule = primitive.rule_or_none("partial_eval")
        if rule is None or all(unknown):
            return self.record(primitive, args, params)
        return rule(self._record_call(primitive), unknown, *args, **params)

    def record(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """Adds an equation, and returns its results; those that depend on no tracer are values."""
        results = super().record(primitive, args, params)
        known = evaluated(self, self.eqns[-1])
        return results if known is None else known

    def _record_call(self, primitive: Primitive) -> Callable[..., Any]:
        return lambda *args, **params: self.record(primitive, args, params)

    @contextmanager
    def arguments(self, args: Sequence[Any] | None) -> Iterator[None]:
        """Inside it, only arrays among ``args``, and views, are the user's; with None, and outside, any may be."""
        before, self.volatile = self.volatile, args
        try:
            yield
        finally:
            self.volatile = before

    def snapshot(self, x: Any) -> Any:
        return read_only(x) if type(x) in (np.ndarray, np.memmap) and self.may_change(x) else x

    def may_change(self, x: np.ndarray[Any, Any]) -> bool:
        """Whether an array may be written into later: the user's, or a view of one."""
        # The user has no reference to an array that a rule has just computed.
        return self.volatile is None or x.base is not None or any([x is y for y in self.volatile])


def trace_to_jaxpr(
    function: Callable[..., Sequence[Any]],
    in_avals: Sequence[ShapedArray],
    *,
    transformation: str = "make_jaxpr",
    name: str = "",
    trace_class: Callable[[Trace, str], JaxprTrace] = JaxprTrace,
) -> ClosedJaxpr:
    """Returns the jaxpr of a function of flat arguments that gives a flat list.

    Args:
      function: called once, with a tracer for each type.
      in_avals: the types of its arguments.
      transformation: its name, for messages about the tracers.
      name: of the jaxpr.
      trace_class: the class of the trace, or a function of its parent and ``transformation`` that makes it.

    The constants of the result may be tracers of enclosing transformations.
    """
    trace = trace_class(current.trace, transformation)
    with new_trace(trace):
        inputs = [trace.new_input(aval) for aval in in_avals]
        return trace.to_jaxpr(inputs, function(*inputs), name)


# A wrapper of it has no frame of this module: see `register_dispatch_module`.
trace_to_jaxpr.__module__ = "lawful.staging"
