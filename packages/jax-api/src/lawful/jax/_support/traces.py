"""The current trace, as libraries ask for it that keep state of their own while a program is traced."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator
from typing import Any

from lawful.core import Trace, current, eval_trace, set_current

set_current_trace = set_current


@contextlib.contextmanager
def take_current_trace() -> Iterator[Trace]:
    """Gives the current trace, and evaluates operations meanwhile.

    >>> with take_current_trace() as trace:
    ...     trace is current.trace
    True
    """
    taken = current.trace
    with set_current(eval_trace):
        yield taken


class OpaqueTraceState:
    """Which trace is current: equal to another state as long as no transformation has begun or ended."""

    __slots__ = ("_trace",)

    def __init__(self, trace: Trace) -> None:
        self._trace = weakref.ref(trace)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpaqueTraceState) and self._trace() is other._trace() is not None

    def __hash__(self) -> int:
        return id(self._trace())


def get_opaque_trace_state(convention: Any = None) -> OpaqueTraceState:
    """Returns which trace is current, to be compared later.

    >>> from lawful.staging import make_jaxpr
    >>> state = get_opaque_trace_state()
    >>> state == get_opaque_trace_state()
    True
    >>> def f(x):
    ...     assert state != get_opaque_trace_state()
    ...     return x
    >>> _ = make_jaxpr(f)(1.0)
    """
    return OpaqueTraceState(current.trace)


class DropVar:
    """The class of JAX's variables of unused results: variables of lawful's jaxprs are all of one class.

    >>> from lawful.staging import make_jaxpr
    >>> isinstance(make_jaxpr(abs)(1.0).jaxpr.outvars[0], DropVar)
    False
    """
