"""The common part of fast forward mode and linearization: cached rules by the types of primals and tangents."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from threading import get_ident
from typing import Any, Final, NamedTuple

from numpy import bool_, float64, int64, ndarray

from lawful.autodiff._dual import DualTracer
from lawful.core import (
    Primitive,
    ShapedArray,
    SourceLine,
    Trace,
    Tracer,
    as_float,
    current,
    get_aval,
    register_dispatch_module,
    source_override,
    user_source,
)
from lawful.core._fast import IndexedJaxpr, Replay, definitions, insert_rule, replay_steps, replays, rule_cache

register_dispatch_module(__name__)

_NUMBER: Final = get_aval(1.0)
_SCALARS: Final = (int64, float64)
#: For each argument the type of its tangent, which may be strong where the primal is weak; None where it is zero.
TangentAvals = tuple[ShapedArray | None, ...]
#: Plans a call: ``plan(trace, context, args)`` returns a primitive or program with its operands, or None and a result.
Plan = Callable[..., tuple[Primitive | IndexedJaxpr | None, Any]]


def dual[T: DualTracer](
    cls: type[T],
    trace: Trace,
    primal: Any,
    tangent: Any,
    source: SourceLine | None,
    aval: ShapedArray,
    tangent_aval: ShapedArray,
) -> T:
    """Returns a tracer of a class without ``__init__``: each operation makes one, in half the time."""
    tracer = cls()  # type: ignore[call-arg]
    tracer._trace = trace
    tracer.primal = primal
    tracer.tangent = tangent
    tracer.source = source
    tracer.aval = aval
    tracer.tangent_aval = tangent_aval
    return tracer


class CachingTrace[R](Trace):
    """A trace of primals with tangents that replays cached rules.

    Attributes:
      evaluate: replays a program under the parent, if that is evaluation, which needs no user's line; else None.
    """

    __slots__ = ()

    evaluate: Replay | None

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        return self.apply_primitive(primitive, args, params)[0]

    def apply_primitive(
        self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]
    ) -> tuple[Any, R | None]:
        """Returns what `process_primitive` does, and the cached rule that was replayed if it had one result."""
        raise NotImplementedError(f"{type(self).__name__}.apply_primitive")

    def apply_program(self, program: IndexedJaxpr, args: Sequence[Any]) -> tuple[list[Any], R | None]:
        """Returns the results of a program, and the cached rule that was replayed if it had one result."""
        raise NotImplementedError(f"{type(self).__name__}.apply_program")

    def replay_one(
        self, rule: R, primals: list[Any], given: list[Any], args: Sequence[Any], source: SourceLine | None
    ) -> Any:
        """Replays a cached rule of one result.

        Args:
          rule: the rule.
          primals: the primals of the arguments.
          given: the tangents that are not zero, of the types that the rule is for.
          args: the arguments.
          source: the user's line.
        """
        raise NotImplementedError(f"{type(self).__name__}.replay_one")


def apply_call(trace: CachingTrace[Any], plan: Plan, call: Hashable, context: Any, args: Sequence[Any]) -> Any:
    """Applies a whole call: an elementwise op with its promotion, or a composite.

    If a call of these types was applied before, its cached rule is replayed, and nothing is planned.

    Args:
      trace: the current trace.
      plan: plans the call.
      call: a hashable key of the call.
      context: an argument of ``plan``.
      args: arrays, numbers and tracers.
    """
    # Stays None unless all are tracers of this trace, except at most one number, array or tracer of the parent. Any of
    # three or more arguments may be one of these.
    key: Hashable = None
    arrays: Sequence[Any] = ()
    parent = trace.parent
    if trace.axis_env:  # names depend on it, and the key does not contain it
        pass
    elif len(args) == 2:
        x, y = args
        has_y = isinstance(y, DualTracer) and y._trace is trace
        if isinstance(x, DualTracer) and x._trace is trace:
            if has_y:
                key = (type(trace), call, x.aval, x.tangent_aval, y.aval, y.tangent_aval)
                primals, given = [x.primal, y.primal], [x.tangent, y.tangent]
            elif (number := _number(trace, y)) is not None:
                key = (type(trace), call, x.aval, x.tangent_aval, type(y))
                primals, given = [x.primal, number], [x.tangent]
            elif _is_constant(trace, y):
                key = (type(trace), call, x.aval, x.tangent_aval, get_aval(y))
                primals, given, arrays = [x.primal, y], [x.tangent], [y]
            elif type(y) in _SCALARS and trace.evaluates_constants:  # such as the position of an index
                key = (type(trace), call, x.aval, x.tangent_aval, type(y))
                primals, given, arrays = [x.primal, y], [x.tangent], [y]
        elif has_y:
            if (number := _number(trace, x)) is not None:
                key = (type(trace), call, type(x), y.aval, y.tangent_aval)
                primals, given = [number, y.primal], [y.tangent]
            elif _is_constant(trace, x):
                key = (type(trace), call, None, get_aval(x), y.aval, y.tangent_aval)
                primals, given, arrays = [x, y.primal], [y.tangent], [x]
            elif type(x) is float64 and trace.evaluates_constants:
                key = (type(trace), call, float64, y.aval, y.tangent_aval)
                primals, given, arrays = [x, y.primal], [y.tangent], [x]
        elif isinstance(parent, CachingTrace) and (_is_of(parent, x) or _is_of(parent, y)):
            return apply_call(parent, plan, call, context, args)
    elif len(args) == 1:
        (x,) = args
        if isinstance(x, DualTracer):
            if x._trace is trace:
                key = (type(trace), call, x.aval, x.tangent_aval)
                primals, given = [x.primal], [x.tangent]
            elif x._trace is parent and isinstance(parent, CachingTrace):
                return apply_call(parent, plan, call, context, args)
    elif len(args) > 2 and trace.evaluates_constants:
        key, primals, given, arrays = _key_of_several(trace, call, args)
        if not given:
            if key is not None and isinstance(parent, CachingTrace):
                return apply_call(parent, plan, call, context, args)
            key = None
    if key is not None:
        rule = rule_cache.young.get(key)
        if rule is None:
            rule = rule_cache.lookup(key)
        else:
            rule_cache.hits += 1
        if rule is not None:
            if type(rule) is _OfConverted:
                for i in rule.positions:
                    converted = primals[i].astype(float64)
                    primals[i] = converted if converted.ndim else converted[()]
                rule = rule.rule
            return trace.replay_one(rule, primals, given, args, user_source())
    since = definitions()
    program, operands = plan(trace, context, args)
    if program is None:
        return operands
    if isinstance(program, Primitive):
        result, rule = trace.apply_primitive(program, operands, {})
    else:
        (result,), rule = trace.apply_program(program, operands)
    if rule is not None and key is not None:
        rule = _of_args(rule, args, operands, arrays)
        if rule is not None:
            insert_rule(key, rule, since)
    return result


class _OfConverted(NamedTuple):
    """A rule for floats where arguments are arrays of integers or bools, such as counts.

    Attributes:
      rule: the rule.
      positions: the numbers of these arguments.
    """

    rule: Any
    positions: Sequence[int]


def _of_args(rule: Any, args: Sequence[Any], operands: Sequence[Any], arrays: Sequence[Any]) -> Any:
    """Returns a rule of operands as one of the arguments that they were converted from; None if there is none."""
    if {*map(id, operands)}.issuperset(map(id, arrays)):
        return rule
    if len(args) != len(operands):
        return None
    positions = []
    for i, (x, y) in enumerate(zip(args, operands, strict=True)):
        if x is y or not any([x is array for array in arrays]):
            continue
        if type(x) is not ndarray or x.dtype.kind not in "biu" or y.dtype != float64 or x.shape != y.shape:
            return None
        positions.append(i)
    return _OfConverted(rule, positions)


def _key_of_several(
    trace: CachingTrace[Any], call: Hashable, args: Sequence[Any]
) -> tuple[Hashable, list[Any], list[Any], list[Any]]:
    """Returns the key of a call, the primals, the tangents and the constants; no key for other operands."""
    primals, given, arrays = list[Any](), list[Any](), list[Any]()
    types: list[Any] = [type(trace), call]
    for x in args:
        cls = type(x)
        if isinstance(x, DualTracer) and x._trace is trace:
            types += [x.aval, x.tangent_aval]
            primals.append(x.primal)
            given.append(x.tangent)
        elif cls is float:
            types.append(float)
            primals.append(x)
        elif cls is ndarray or cls is bool_ or cls is int64 or _is_of(trace.parent, x):
            types += [None, get_aval(x)]
            primals.append(x)
            arrays.append(x)
        else:
            return None, [], [], []
    return tuple(types), primals, given, arrays


def _is_of(trace: Trace | None, x: Any) -> bool:
    """Whether a value is a tracer of a trace."""
    return isinstance(x, DualTracer) and x._trace is trace


def _is_constant(trace: Trace, x: Any) -> bool:
    """Whether a value is an array that a trace does not differentiate: NumPy's, or one that its parent traces."""
    if type(x) is ndarray:
        return trace.evaluates_constants
    return isinstance(x, DualTracer) and x._trace is trace.parent


def _number(trace: CachingTrace[Any], x: Any) -> float | None:
    """Returns the operand for a number. In a program that is recorded it is converted at once."""
    if trace.evaluates_constants:
        return x if type(x) is float else as_float(x)
    return None


def floating_aval(x: Any) -> ShapedArray | None:
    """Returns the type of a floating array or number, or of a tracer of one that is usable here; else None."""
    cls = type(x)
    if cls is float:
        return _NUMBER
    if cls is ndarray or cls is float64:
        return get_aval(x) if x.dtype.char in "fdFD" else None
    if isinstance(x, Tracer) and x._trace.active and x._trace.encloses(current.trace) and x.aval.dtype.kind in "fc":
        return x.aval
    return None


def parts(trace: Trace, args: Sequence[Any]) -> tuple[list[Any], TangentAvals, list[Any]]:
    """Returns the primals of arguments, the types of the tangents that they have in a trace, and these tangents."""
    count = len(args)
    if count == 1:
        (x,) = args
        if isinstance(x, DualTracer) and x._trace is trace:
            return [x.primal], (x.tangent_aval,), [x.tangent]
        return [x], (None,), []
    if count == 2:  # the common case, 2× faster than the loop below
        x, y = args
        has_y = isinstance(y, DualTracer) and y._trace is trace
        if not (isinstance(x, DualTracer) and x._trace is trace):
            return ([x, y.primal], (None, y.tangent_aval), [y.tangent]) if has_y else ([x, y], (None, None), [])
        if has_y:
            return [x.primal, y.primal], (x.tangent_aval, y.tangent_aval), [x.tangent, y.tangent]
        return [x.primal, y], (x.tangent_aval, None), [x.tangent]
    primals = []
    tangent_avals: list[ShapedArray | None] = []
    given = []
    for x in args:
        if isinstance(x, DualTracer) and x._trace is trace:
            primals.append(x.primal)
            tangent_avals.append(x.tangent_aval)
            given.append(x.tangent)
        else:
            primals.append(x)
            tangent_avals.append(None)
    return primals, tuple(tangent_avals), given


def replay_in_parent(trace: Trace, program: IndexedJaxpr, args: Sequence[Any], source: SourceLine | None) -> list[Any]:
    """Returns the results of a program under the parent of a trace, at a user's line."""
    parent: Trace = trace.parent  # type: ignore[assignment]  # evaluation differentiates nothing
    overrides, thread = source_override.by_thread, get_ident()
    before = overrides.get(thread)
    overrides[thread] = source
    try:
        function: Replay = replays.get(type(parent), replay_steps)
        return function(parent, program, args)
    finally:
        if before is None:
            overrides.pop(thread, None)
        else:
            overrides[thread] = before


def evaluation_under(parent: Trace) -> Replay | None:
    """Returns what `CachingTrace.evaluate` is for a parent."""
    return replays.get(type(parent), replay_steps) if parent.parent is None else None
