"""Traces: what happens when a primitive is applied.

A thread has one current trace. A transformation makes a trace that holds its parent, sets it current while
it calls the user's function, and restores the parent whatever happens. ``Primitive.bind`` hands the call to
the current trace. A trace that finds none of its own tracers among the arguments passes the call to its
parent: a value of an enclosing transformation is a constant to the inner one. At the bottom stands evaluation.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from threading import get_ident
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from lawful.core import _collector
from lawful.core._arrays import python_scalar_types, to_numpy
from lawful.core._errors import TracerThreadError, UnexpectedTracerError
from lawful.tree.base import SourceLine, around_imports, user_source

if TYPE_CHECKING:
    from lawful.core._primitive import Primitive
    from lawful.core._recipe import Recipe
    from lawful.core._recipe_book import RecipeBook
    from lawful.core._tracer import Tracer


class Trace:
    """One application of a transformation: decides what its tracers do under each primitive.

    Args:
      parent: the trace that was current outside, which everything that this one does not know is passed to.
      transformation: the transformation's name, for error messages.
      source: the user's line that it is applied at; by default looked for on the stack.

    A subclass defines ``process_primitive``, and makes the parent current while it runs rules.

    It may also define ``recall``, with ``note``: a function that applies one primitive, or follows one recipe, asks by
    the book that it keeps for these and a name for what it does. It gives the result, or None where nothing is known
    of arguments of these types. Law: what is recalled is what ``process_primitive`` or ``follow`` gives.
    """

    recall: Callable[[RecipeBook, Hashable, Sequence[Any]], Any] | None = None

    __slots__ = (
        "__weakref__",
        "active",
        "axis_env",
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
        self.source = source or user_source(2)
        #: Whether a primitive applied to constants alone is evaluated at once, and not recorded.
        self.evaluates_constants: bool = parent is None or parent.evaluates_constants
        #: The named axes of the enclosing `vmap`s with their sizes, which tracing may depend on.
        self.axis_env: tuple[tuple[Hashable, int], ...] = parent.axis_env if parent is not None else ()

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """Applies a primitive to arguments of which any may be tracers of this trace or constants."""
        raise NotImplementedError(f"{type(self).__name__}.process_primitive")

    def follow(self, recipe: Recipe, args: Sequence[Any]) -> list[Any]:
        """Applies what a recipe says to arguments of the types that it is for; returns its results.

        Law: it is what applying its primitives one after the other gives.
        """
        values = [*args, *recipe.scalars]
        for primitive, params, operands, _ in recipe.steps:
            out = self.process_primitive(primitive, [values[i] for i in operands], params)
            if primitive.multiple_results:
                values += out
            else:
                values.append(out)
        return [values[i] for i in recipe.results]

    def note(self, book: RecipeBook, operands: Sequence[Any], since: int) -> None:
        """Notes what was just done, to be recalled when ``recall`` is asked again for what it was asked for last.

        Args:
          book: where.
          operands: the very ones that ``process_primitive`` or ``follow`` was given last, whose one result it is: the
            arguments, in which a Python number may be another one of its value.
          since: what ``definitions()`` gave before.
        """

    def encloses(self, other: Trace) -> bool:
        """Whether this trace is ``other`` or one of its parents."""
        trace: Trace | None = other
        while trace is not None:
            if trace is self:
                return True
            trace = trace.parent
        return False


class EvalTrace(Trace):
    """The bottom of every stack of transformations: applies the primitive's NumPy implementation."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(None, "evaluation")

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        for x in args:
            if (kind := type(x)) not in _scalar_types and not (kind is ndarray and x.dtype.isnative):
                args = [_concrete(x, primitive.impl_takes_any_array) for x in args]
                break
        impl = primitive.rules.get("impl")
        if impl is None:
            impl = primitive.rule("impl")
        trace = current.trace
        if trace is self:
            return impl(*args, **params)
        # An implementation may apply primitives itself: those are evaluated, not traced again.
        current.trace = self
        try:
            return impl(*args, **params)
        finally:
            current.trace = trace

    def follow(self, recipe: Recipe, args: Sequence[Any]) -> list[Any]:
        function = recipe.function
        if function is not None and recipe.is_numpy and _numpy_types.issuperset(map(type, args)):
            return function(*args)  # NumPy takes arrays of any byte order, and gives native ones
        for x in args:
            if not (x.dtype.isnative if (kind := type(x)) is ndarray else kind in _scalar_types):
                return super().follow(recipe, args)
        trace = current.trace
        if function is not None and trace is self:
            return function(*args)
        current.trace = self
        try:
            if function is not None:
                return function(*args)
            recipe.count_evaluation()
            values = [*args, *recipe.scalars]
            for primitive, params, operands, _ in recipe.steps:
                impl = primitive.rules.get("impl") or primitive.rule("impl")
                out = impl(*[values[i] for i in operands], **params)
                if primitive.multiple_results:
                    values += out
                else:
                    values.append(out)
            return [values[i] for i in recipe.results]
        finally:
            current.trace = trace


_scalar_types = frozenset(
    {*python_scalar_types, *(np.dtype(code).type for code in np.typecodes["All"] if code not in "OSUVMmgG")}
    - {int}  # whose values must be looked at: they may not fit
)
_numpy_types = _scalar_types | {ndarray}


def _concrete(x: Any, any_array: bool) -> Any:
    if isinstance(x, _tracer_class()):
        raise unusable_tracer(x)
    return x if any_array else to_numpy(x)


def _tracer_class() -> type[Tracer]:
    from lawful.core._tracer import Tracer

    return Tracer


def unusable_tracer(tracer: Tracer) -> UnexpectedTracerError:
    """Returns the error that says why a tracer that is not of an enclosing transformation cannot be used."""
    trace = tracer._trace
    made = f"the tracer {tracer.aval} of {trace.transformation}"
    if tracer.source is not None:
        made += f" made at {tracer.source}"
    if trace.thread != get_ident():
        return TracerThreadError(
            f"tracer: expected a value of this thread, got {made} in another thread; "
            "return values from the traced function and start threads outside of it"
        )
    return UnexpectedTracerError(
        f"tracer: expected a value of a transformation that is still running, got {made}, which has "
        f"{'ended' if not trace.active else 'not this computation inside it'}; "
        "return the value from the traced function instead of storing it elsewhere"
    )


class _Current(threading.local):
    """The current trace of each thread."""

    trace: Trace

    def __init__(self) -> None:
        self.trace = eval_trace


eval_trace = EvalTrace()
current = _Current()


class set_current:  # a class, of which entering and leaving cost a third of a generator's
    """Makes a trace current, and restores the one before it whatever happens."""

    __slots__ = ("_before", "_trace")

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    def __enter__(self) -> None:
        before = self._before = current.trace
        if before.parent is None:  # the outermost one
            _collector.hold_back()
        current.trace = self._trace

    def __exit__(self, *error: object) -> None:
        before = current.trace = self._before
        if before.parent is None:
            _collector.let_go()


class new_trace(set_current):
    """Makes the trace of a new transformation current; afterwards its tracers are unusable."""

    __slots__ = ()

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self._trace.active = False


# A lazy import evaluates what it computes, and its objects are no garbage.
around_imports.extend([lambda: set_current(eval_trace), _collector.no_collections])
