"""Traces: the interpreters of primitives.

A thread has one current trace. A transformation makes a trace that holds its parent, sets it current while
it calls the user's function, and restores the parent whatever happens. ``Primitive.bind`` hands the call to
the current trace. A trace that finds none of its own tracers among the arguments passes the call to its
parent: a value of an enclosing transformation is a constant to the inner one. At the bottom is evaluation.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from threading import get_ident
from typing import TYPE_CHECKING, Any, Final

from lawful.core._garbage_collection import no_collections
from lawful.core._hook import Hook
from lawful.core._trace.recursion import refuse_nesting
from lawful.core._trace.tracer import Tracer, unusable_tracer
from lawful.core._types.arrays import to_numpy
from lawful.tree.base import SourceLine, around_imports, register_dispatch_module, user_source

if TYPE_CHECKING:
    from lawful.core._primitive.primitive import Primitive

register_dispatch_module(__name__)


class Trace:
    """One application of a transformation: decides what its tracers do under each primitive.

    Args:
      parent: the trace that was current outside. It processes operations on other values than this trace's tracers.
      transformation: the transformation's name, for error messages.
      source: the user's line that applies it; by default found on the stack.

    A subclass defines ``process_primitive``, and makes the parent current while it runs rules.

    >>> eval_trace.encloses(Trace(eval_trace, "counting"))
    True
    """

    __slots__ = (
        "__weakref__",
        "active",
        "axis_env",
        "checked_axes",
        "divergent_axes",
        "evaluates_constants",
        "parent",
        "source",
        "thread",
        "transformation",
    )

    def __init__(self, parent: Trace | None, transformation: str, source: SourceLine | None = None) -> None:
        self.parent = parent
        self.transformation = transformation
        self.active = True
        self.thread = get_ident()
        self.source = source or user_source()
        #: Whether what is applied to constants alone is evaluated at once, by NumPy itself too, and no trace sees it.
        self.evaluates_constants: bool = parent is None or parent.evaluates_constants
        #: The named axes of enclosing `vmap`s and meshes with their sizes.
        self.axis_env: tuple[tuple[Hashable, int], ...] = parent.axis_env if parent is not None else ()
        #: The axes that types record, as a mesh's in ``shard_map``, and the axes along which devices diverge.
        self.checked_axes: frozenset[Hashable] = parent.checked_axes if parent is not None else frozenset()
        self.divergent_axes: frozenset[Hashable] = parent.divergent_axes if parent is not None else frozenset()

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """Applies a primitive to arguments of which any may be tracers of this trace or constants."""
        raise NotImplementedError(f"{type(self).__name__}.process_primitive")

    def encloses(self, other: Trace) -> bool:
        """Whether this trace is ``other`` or one of its parents."""
        trace: Trace | None = other
        while trace is not None and trace is not self:
            trace = trace.parent
        return trace is self


class EvalTrace(Trace):
    """The bottom of every stack of transformations: applies the primitive's NumPy implementation.

    >>> from lawful.core import Primitive
    >>> half_p = Primitive("half")
    >>> rule = half_p.def_impl(lambda x: x / 2)
    >>> EvalTrace().process_primitive(half_p, [3.0], {})
    1.5
    """

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(None, "evaluation")

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        values = [concrete_value(x, primitive.impl_takes_any_array) for x in args]
        impl = primitive.rule("impl")
        # An implementation may apply primitives itself: those are evaluated, not traced again.
        with set_current(self):
            return impl(*values, **params)


def concrete_value(x: Any, any_array: bool = False) -> Any:
    """Returns an argument of an implementation: as a NumPy value, or unchanged if the implementation takes any array.

    Raises:
      UnexpectedTracerError: it is a tracer of a transformation that has ended.
    """
    if isinstance(x, Tracer):
        raise unusable_tracer(x)
    return x if any_array else to_numpy(x)


class _Current(threading.local):
    """The current trace of each thread, and its context: what else tracing may depend on, part of ``jit``'s keys."""

    trace: Trace
    context: Hashable

    def __init__(self) -> None:
        self.trace = eval_trace
        self.context = None


def _switch_evaluation(cls: type[EvalTrace]) -> None:
    eval_trace.__class__ = cls


eval_trace = EvalTrace()
#: The class of the one trace that evaluates.
evaluation_hook: Final[Hook[type[EvalTrace]]] = Hook("evaluation", EvalTrace, _switch_evaluation)
current = _Current()


class set_current:  # a generator would be 3× slower
    """Makes a trace current, and restores the one before it, also after an error.

    >>> with set_current(Trace(eval_trace, "counting")):
    ...     current.trace.transformation
    'counting'
    """

    __slots__ = ("_before", "_trace")

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    def __enter__(self) -> None:
        self._before = current.trace
        current.trace = self._trace

    def __exit__(self, *error: object) -> None:
        current.trace = self._before


class new_trace(set_current):
    """Makes the trace of a new transformation current; afterwards its tracers are unusable.

    >>> with new_trace(trace := Trace(eval_trace, "counting")):
    ...     trace.active
    True
    >>> trace.active
    False
    """

    __slots__ = ()

    def __exit__(self, *raised: Any) -> None:
        current.trace = self._before
        self._trace.active = False
        if raised[1] is not None and self._before is eval_trace:  # the stack is free again
            refuse_nesting(raised[1], raised[2], self._trace.transformation)


# A lazy import evaluates its computations, and makes no garbage.
around_imports.extend([lambda: set_current(eval_trace), no_collections])
