"""Composites as cached programs.

If an array is differentiated or batched eagerly, a composite is traced once for its types and settings, and the program
is replayed in later calls. That saves the Python code of the function, and most of the transformation's work for each
primitive. If it cannot be traced, the function is called.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from lawful import tree
from lawful.core import (
    ClosedJaxpr,
    ShapedArray,
    Trace,
    Tracer,
    array_types,
    avals_of,
    current,
    exact_params_key,
    get_aval,
    has_effects,
    jaxprs_in_params,
    python_scalar_types,
    register_dispatch_module,
)
from lawful.core._fast import IndexedJaxpr, cached_rule, calls, replay
from lawful.ops._composite import Composite

register_dispatch_module(__name__)


class Tracing(Protocol):
    """Returns the jaxpr of a function of flat arguments that gives a flat list, at some types.

    It raises an exception if the operations depend on anything else, such as whether a value is known.
    """

    def __call__(
        self, function: Callable[..., Sequence[Any]], in_avals: Sequence[ShapedArray], *, transformation: str
    ) -> ClosedJaxpr:
        """Calls the function once, with tracers."""


_tracing: Tracing | None = None


def register_tracing(tracing: Tracing) -> None:
    """Registers the function that traces composites. Without it, a composite is a call of its function."""
    global _tracing
    _tracing = tracing


class _Traced(NamedTuple):
    """A composite as a program.

    Attributes:
      program: from its arrays to the leaves of its result.
      out_tree: the tree of its result; None if that is an array.
    """

    program: IndexedJaxpr
    out_tree: Any

    def replayed(self, operands: Sequence[Any]) -> Any:
        """Returns the result of the composite for its arrays."""
        results = replay(current.trace, self.program, operands)
        return results[0] if self.out_tree is None else tree.unflatten(self.out_tree, results)


def call_composite(composite: Composite, args: tuple[Any, ...], kwargs: dict[str, Any], of_integers: bool) -> Any:
    """Calls a composite, by its cached program if an array is traced and there is a program."""
    trace = current.trace
    if of_integers:
        call = calls.get(type(trace)) if trace.evaluates_constants else None
        if call is not None:
            return call(trace, _plan_of_integers, (composite.key, args[1:]), (composite, args[1:]), args[0])
        found = _traced_of_integers(trace, composite, args[0], args[1:])
        return composite.function(*args) if found is None else found.replayed(args[0])
    # A program is recorded once, so that replay would not be faster.
    if not trace.evaluates_constants:
        return composite.function(*args, **kwargs)
    count = composite.arrays
    call = calls.get(type(trace))
    if call is None:
        return _call(composite, args, kwargs)
    if composite.sequence:
        if len(args) == 1 and not kwargs and type(args[0]) in (list, tuple):
            return call(trace, _plan_of_sequence, composite.key, composite, args[0])
    elif len(args) >= count:
        if len(args) == count and not kwargs:
            return call(trace, _plan, composite.key, composite, args)
        key = _settings_key(args[count:], kwargs)
        if key is not None:
            context = composite, args[count:], kwargs
            return call(trace, _plan_with_settings, (composite.key, key), context, args[:count])
    return _call(composite, args, kwargs)


def _plan(trace: Trace, composite: Composite, args: Sequence[Any]) -> tuple[IndexedJaxpr | None, Any]:
    """Returns the program of a call and its operands, or None and the result of the call if there is no program."""
    found, operands = _traced(composite, args, {})
    if found is not None and found.out_tree is None:
        return found.program, operands
    return None, composite.function(*args) if found is None else found.replayed(operands)


def _plan_of_sequence(trace: Trace, composite: Composite, args: Sequence[Any]) -> tuple[IndexedJaxpr | None, Any]:
    found, operands = _traced(composite, (args,), {})
    if found is not None and found.out_tree is None:
        return found.program, operands
    return None, composite.function(args) if found is None else found.replayed(operands)


def _plan_with_settings(
    trace: Trace, context: tuple[Composite, tuple[Any, ...], dict[str, Any]], args: Sequence[Any]
) -> tuple[IndexedJaxpr | None, Any]:
    composite, rest, kwargs = context
    found, operands = _traced(composite, (*args, *rest), kwargs)
    if found is not None and found.out_tree is None:
        return found.program, operands
    return None, composite.function(*args, *rest, **kwargs) if found is None else found.replayed(operands)


def _plan_of_integers(
    trace: Trace, context: tuple[Composite, tuple[Any, ...]], args: Sequence[Any]
) -> tuple[IndexedJaxpr | None, Any]:
    composite, rest = context
    found = _traced_of_integers(trace, composite, args, rest)
    if found is not None and found.out_tree is None:
        return found.program, args
    return None, composite.function(args, *rest) if found is None else found.replayed(args)


def _traced_of_integers(
    trace: Trace, composite: Composite, operands: Sequence[Any], rest: tuple[Any, ...]
) -> _Traced | None:
    key: Hashable = (_trace, composite.key, trace.axis_env, avals_of(operands), rest)
    return cached_rule(key, _trace, composite, operands, rest, {})


def _call(composite: Composite, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    found, operands = _traced(composite, args, kwargs)
    return composite.function(*args, **kwargs) if found is None else found.replayed(operands)


def _traced(composite: Composite, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[_Traced | None, Any]:
    """Returns the program of a call, or None, and its operands."""
    operands = _operands(composite, args)
    if operands is None:
        return None, None
    rest = tuple(args[1 if composite.sequence else composite.arrays :])
    key = _key(composite, operands, rest, kwargs)
    return None if key is None else cached_rule(key, _trace, composite, operands, rest, kwargs), operands


def _operands(composite: Composite, args: Sequence[Any]) -> Sequence[Any] | None:
    """Returns the arrays among the arguments; None if none is traced, or some are missing."""
    if not composite.sequence:
        operands: Sequence[Any] = args[: composite.arrays]
    elif args and type(args[0]) in (list, tuple):
        operands = args[0]
    else:
        return None
    traced = [isinstance(x, Tracer) for x in operands]
    if not (all(traced) if composite.looks else any(traced)):
        return None
    return operands if composite.sequence or len(operands) == composite.arrays else None


def _trace(composite: Composite, operands: Sequence[Any], rest: tuple[Any, ...], kwargs: Any) -> _Traced | None:
    if _tracing is None:
        return None
    out_tree = None

    def flat(*xs: Any) -> Sequence[Any]:
        nonlocal out_tree
        leaves, out_tree = tree.flatten(composite.function(*((xs,) if composite.sequence else xs), *rest, **kwargs))
        return leaves

    closed = _tracing(flat, [get_aval(x) for x in operands], transformation=composite.function.__name__)
    is_program = closed.eqns and not closed.consts and not has_effects(closed) and not _holds_jaxprs(closed)
    return _Traced(IndexedJaxpr(closed), None if out_tree == _LEAF else out_tree) if is_program else None


_LEAF = tree.structure(0)
_INTEGERS = frozenset([int])
#: Python numbers whose value may decide the operations, as an exponent does. Any float is an array of its type.
_STATIC_SCALARS = python_scalar_types - {float}


def _key(composite: Composite, operands: Sequence[Any], rest: tuple[Any, ...], kwargs: dict[str, Any]) -> Hashable:
    """Returns the cache key of a call, of types and settings: None, or unhashable, if values may decide operations."""
    for x in operands:
        if type(x) in _STATIC_SCALARS or not (type(x) in array_types or isinstance(x, Tracer)):
            return None
    axis_env = current.trace.axis_env
    if not (rest or kwargs):
        return _trace, composite.key, axis_env, avals_of(operands)
    if any([_varies(value) for value in (*rest, *kwargs.values())]):
        return None
    # Arrays and lists among the settings are not hashable.
    settings = exact_params_key(dict(enumerate(rest))), exact_params_key(kwargs)
    return _trace, composite.key, axis_env, avals_of(operands), settings


def _settings_key(rest: tuple[Any, ...], kwargs: dict[str, Any]) -> Hashable:
    """Returns the key of settings that are integers, bools, None and tuples of integers, such as axes; else None."""
    key: list[Any] = []
    for value in (*rest, *kwargs.values()):
        cls = type(value)
        if not (
            value is None or cls is int or cls is bool or (cls is tuple and _INTEGERS.issuperset(map(type, value)))
        ):
            return None
        key += [cls, value]
    return len(rest), *kwargs, *key


def _varies(value: Any) -> bool:
    """Whether a setting probably differs in the next call, so that tracing would not pay off."""
    if type(value) is tuple:
        return any([_varies(x) for x in value])
    return isinstance(value, float | complex | np.inexact)


def _holds_jaxprs(closed: ClosedJaxpr) -> bool:
    # A cached program must not keep the user's programs alive.
    return any([True for eqn in closed.eqns for _ in jaxprs_in_params(eqn.params)])
