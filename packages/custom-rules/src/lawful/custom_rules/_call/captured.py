"""What functions close over: the tracers in their variables, as operands of a call that are transformed with the rest.

A rule of the user's is run under another trace than the one in which the function was called, where a tracer that it
closes over has no meaning. So the call takes that tracer as an operand, and while a function of the call runs, the
variable holds what the operand is there.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

from lawful import tree
from lawful.core import Tracer, TreeTypeError, current, record

# Where a variable is: a cell of a function, or the attributes of an object or module with a name among them.
_Holder = tuple[CellType, None] | tuple[dict[str, Any], str]


def _get(holder: _Holder) -> Any:
    place, name = holder
    return place.cell_contents if name is None else place[name]  # type: ignore[union-attr,index]


def _set(holder: _Holder, value: Any) -> None:
    place, name = holder
    if name is None:
        place.cell_contents = value  # type: ignore[union-attr]
    else:
        place[name] = value  # type: ignore[index]


@record
class Variable:
    """A variable whose value, a pytree, has tracers in it.

    Attributes:
      holder: where it is.
      treedef: the structure of its value.
      leaves: the leaves, with None in the place of the tracers.
      places: where these are.
    """

    holder: _Holder
    treedef: Any
    leaves: tuple[Any, ...]
    places: tuple[int, ...]

    def holding(self, values: Sequence[Any]) -> Any:
        """Returns the value with others in place of its tracers."""
        leaves = list(self.leaves)
        for place, value in zip(self.places, values, strict=True):
            leaves[place] = value
        return tree.unflatten(self.treedef, leaves)


@record
class Captured:
    """The variables of some functions that hold tracers of transformations that are running."""

    variables: tuple[Variable, ...] = ()

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells it from others, apart from the tracers themselves."""
        return tuple([(id(v.holder[0]), v.holder[1], v.places) for v in self.variables])

    @contextmanager
    def holding(self, values: Sequence[Any]) -> Iterator[None]:
        """Puts a value into the place of each tracer, and restores the variables whatever happens."""
        given = iter(values)
        before = [(variable.holder, _get(variable.holder)) for variable in self.variables]
        try:
            for variable in self.variables:
                _set(variable.holder, variable.holding([next(given) for _ in variable.places]))
            yield
        finally:
            for holder, value in before:
                _set(holder, value)


NOTHING = Captured()


def captured_by(functions: Sequence[Callable[..., Any]], *, deep: bool = False) -> tuple[Captured, list[Any]]:
    """Returns what functions, and those that they close over in turn, hold of transformations that are running.

    Args:
      functions: the functions.
      deep: whether to look also at globals, and into the attributes of objects that are no pytrees.

    Returns:
      The variables; and the tracers in them, in the order in which ``Captured.holding`` takes their values.
    """
    if not deep and not any([_may_close_over(function) for function in functions]):
        return NOTHING, []
    search = _Search(deep)
    search.look_at(functions)
    return Captured(tuple(search.variables)), search.tracers


def _may_close_over(function: Any) -> bool:
    return type(function) is not FunctionType or function.__closure__ is not None


class _Search:
    def __init__(self, deep: bool) -> None:
        self.deep = deep
        self.variables: list[Variable] = []
        self.tracers: list[Any] = []
        self._seen: set[int | tuple[int, str | None]] = set()

    def look_at(self, objects: Sequence[Any]) -> None:
        pending = list(objects)
        while pending:
            item = pending.pop()
            if id(item) in self._seen:
                continue
            self._seen.add(id(item))
            pending += getattr(item, "carried_functions", ())
            for holder in self._holders(item):
                place = (id(holder[0]), holder[1])
                if place not in self._seen:
                    self._seen.add(place)
                    pending += self._look_into(holder)

    def _holders(self, item: Any) -> list[_Holder]:
        """Returns the variables that a function uses, and with ``deep`` the attributes of an object."""
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

    def _look_into(self, holder: _Holder) -> list[Any]:
        """Remembers a variable if it holds tracers; returns what else in it to look at."""
        try:
            leaves, treedef = tree.flatten(_get(holder))
        except (ValueError, TreeTypeError):  # the variable has no value yet, or one that is no pytree
            return []
        places = tuple([i for i, leaf in enumerate(leaves) if isinstance(leaf, Tracer) and _is_running(leaf)])
        if places:
            others = tuple([None if i in places else x for i, x in enumerate(leaves)])
            self.variables.append(Variable(holder, treedef, others, places))
            self.tracers += [leaves[i] for i in places]
        return [leaf for leaf in leaves if callable(leaf) or (self.deep and not isinstance(leaf, Tracer))]


def _unwrapped(item: Any) -> tuple[FunctionType | None, Any]:
    """Returns the Python function within partials, bound methods and decorated functions, and whose it is."""
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


def _is_running(tracer: Tracer) -> bool:
    return tracer._trace.active and tracer._trace.encloses(current.trace)
