"""Tracers in the variables that functions close over, as operands of a call.

A user's rule runs under another trace than the one in which the function was called, where a tracer that it closes over
has no meaning. So the call takes that tracer as an operand. While a function of the call runs, the variable holds the
value of that operand.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

from lawful.core import Tracer, TreeTypeError, current, record
from lawful.custom_rules._call.template import Template

# A cell of a function; or the namespace of an object or module, and a name in it.
_Holder = tuple[CellType, None] | tuple[dict[str, Any], str]


def _get(holder: _Holder) -> Any:
    container, name = holder
    return container.cell_contents if name is None else container[name]  # type: ignore[union-attr,index]


def _set(holder: _Holder, value: Any) -> None:
    container, name = holder
    if name is None:
        container.cell_contents = value  # type: ignore[union-attr]
    else:
        container[name] = value  # type: ignore[index]


@record
class Captured:
    """The variables of some functions that hold tracers of active transformations.

    Attributes:
      variables: the variables, each with its value, a pytree, whose tracers are taken out.
    """

    variables: tuple[tuple[_Holder, Template], ...] = ()

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for the same variables with tracers at the same positions, whatever the tracers."""
        return tuple([(id(holder[0]), holder[1], template.holes) for holder, template in self.variables])

    @contextmanager
    def assigned(self, values: Sequence[Any]) -> Iterator[None]:
        """Assigns a value in place of each tracer, and restores the variables on exit."""
        rest = iter(values)
        before = [(holder, _get(holder)) for holder, _ in self.variables]
        try:
            for holder, template in self.variables:
                _set(holder, template.fill([next(rest) for _ in template.holes]))
            yield
        finally:
            for holder, value in before:
                _set(holder, value)


NOTHING = Captured()


def captured_by(functions: Sequence[Callable[..., Any]], *, deep: bool = False) -> tuple[Captured, list[Any]]:
    """Finds the tracers of active transformations that functions close over, directly or through other functions.

    Args:
      functions: the functions.
      deep: whether to search globals, and the attributes of objects that are not pytrees, too.

    Returns:
      The variables; and the tracers in them, in the order in which ``Captured.assigned`` takes their values.
    """
    if not deep and not any([_may_close_over(function) for function in functions]):
        return NOTHING, []
    search = _Search(deep)
    search.visit(functions)
    return Captured(tuple(search.variables)), search.tracers


def _may_close_over(function: Any) -> bool:
    return type(function) is not FunctionType or function.__closure__ is not None


class _Search:
    """A search for variables that hold tracers, through closures and, if ``deep``, globals and attributes."""

    def __init__(self, deep: bool) -> None:
        self.deep = deep
        self.variables: list[tuple[_Holder, Template]] = []
        self.tracers: list[Any] = []
        self._seen: set[int | tuple[int, str | None]] = set()

    def visit(self, objects: Sequence[Any]) -> None:
        pending = list(objects)
        while pending:
            item = pending.pop()
            if id(item) in self._seen:
                continue
            self._seen.add(id(item))
            pending += getattr(item, "carried_functions", ())
            for holder in self._holders(item):
                key = (id(holder[0]), holder[1])
                if key not in self._seen:
                    self._seen.add(key)
                    pending += self._visit_variable(holder)

    def _holders(self, item: Any) -> list[_Holder]:
        """Returns the variables that a function uses; with ``deep``, also the attributes of an object."""
        function, owner = _unwrapped(item)
        holders: list[_Holder] = []
        if function is not None:
            holders += [(cell, None) for cell in function.__closure__ or ()]
            if self.deep:
                names = function.__globals__
                holders += [(names, name) for name in function.__code__.co_names if name in names]
        if self.deep:
            attributes = getattr(owner, "__dict__", None)
            if type(attributes) is dict and not isinstance(owner, ModuleType | FunctionType):
                holders += [(attributes, name) for name in attributes]
        return holders

    def _visit_variable(self, holder: _Holder) -> list[Any]:
        """Records a variable that holds tracers; returns the other objects in it that are to be searched."""
        try:
            template, tracers = Template.of(_get(holder), _is_active_tracer)
        except (ValueError, TreeTypeError):  # an empty cell, or a value that is not a pytree
            return []
        if tracers:
            self.variables.append((holder, template))
            self.tracers += tracers
        return [leaf for leaf in template.leaves if callable(leaf) or (self.deep and not isinstance(leaf, Tracer))]


def _unwrapped(item: Any) -> tuple[FunctionType | None, Any]:
    """Returns the Python function inside partials, bound methods and decorated functions, and its owner."""
    owner = item
    while type(item) is not FunctionType:
        if isinstance(item, functools.partial):
            item = item.func
        elif isinstance(item, MethodType):
            item, owner = item.__func__, item.__self__
        else:
            item = getattr(item, "__wrapped__", None)
            if item is None:
                return None, owner
    return item, owner


def _is_active_tracer(x: Any) -> bool:
    return isinstance(x, Tracer) and x._trace.active and x._trace.encloses(current.trace)
