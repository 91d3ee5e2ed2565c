"""Traces that record equations: a whole program, or the part of it that depends on unknown values.

:class:`JaxprTrace` records every primitive applied while it is current, also to constants alone, and makes a
jaxpr. :class:`PartialTrace` records only what depends on its own tracers and passes the rest to its parent,
which evaluates it or records it in its own way: this is partial evaluation while tracing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import Any

import numpy as np

from lawful.core import (
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
    new_trace,
    register_array_type,
    register_dispatch_module,
    user_source,
    with_axes,
)
from lawful.staging._constants import Constants
from lawful.staging._equations import operands_of, result_avals
from lawful.staging._known_results import evaluated
from lawful.staging._ownership import read_only

register_dispatch_module(__name__)


class JaxprTracer(Tracer):
    """A variable of the program being recorded. Only its type is known.

    >>> JaxprTrace(current.trace, "make_jaxpr").new_input(ShapedArray((3,), float))
    Tracer(f64[3], make_jaxpr)
    """

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
        args, params = operands_of(self, primitive, args, params)
        atoms = [self.atom(x) for x in args]
        out = primitive.rule("abstract_eval")(*[atom.aval for atom in atoms], **params)
        avals = [out] if type(out) is ShapedArray and not primitive.multiple_results else result_avals(primitive, out)
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
    """Records every primitive applied while it is current (omnistaging).

    >>> from lawful.ops import mul
    >>> with new_trace(JaxprTrace(current.trace, "make_jaxpr")):
    ...     mul(2.0, 3.0)
    Tracer(f64[], make_jaxpr)
    """

    __slots__ = ()

    def __init__(self, parent: Trace, transformation: str) -> None:
        super().__init__(parent, transformation)
        self.evaluates_constants = False

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        return self.record(primitive, args, params)


class PartialTrace(Recorder):
    """Records the primitives that depend on its tracers, and passes the others to its parent.

    >>> from lawful.ops import mul
    >>> with new_trace(PartialTrace(current.trace, "linearize")):
    ...     mul(2.0, 3.0)
    np.float64(6.0)
    """

    __slots__ = ("filled", "repeated", "volatile")

    def __init__(
        self, parent: Trace, transformation: str, source: SourceLine | None = None, *, repeated: bool = False
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

    >>> from lawful.core import ShapedArray
    >>> trace_to_jaxpr(lambda x: [x, 2.0], [ShapedArray((3,), float)])
    { lambda ; a:f64[3]. let in (a, 2.0:~f64[]) }
    """
    trace = trace_class(current.trace, transformation)
    with new_trace(trace):
        inputs = [trace.new_input(aval) for aval in in_avals]
        return trace.to_jaxpr(inputs, function(*inputs), name)


# A wrapper of it has no frame of this module: see `register_dispatch_module`.
trace_to_jaxpr.__module__ = "lawful.staging"
