"""Classes of plain data that are fast to create: the import of lawful creates dozens of them.

>>> @record
... class Interval:
...     low: float
...     high: float = 1.0
>>> Interval(0.0), Interval(0.0) == Interval(0.0, 1.0)
(Interval(low=0.0, high=1.0), True)
"""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from functools import cache
from operator import attrgetter
from types import CodeType, FunctionType
from typing import Any, NoReturn, dataclass_transform


@dataclass_transform(frozen_default=True)
def record[C](cls: type[C], /) -> type[C]:
    """Returns an immutable class of values with the annotated fields.

    It behaves like ``dataclasses.dataclass(frozen=True, slots=True)``, but generates only ``__init__``; all other
    methods are common to all records. So classes are faster to create. Other features, such as keyword-only fields or
    ``replace``, need a dataclass.

    Args:
      cls: a class with annotated fields, some with defaults. A method that it defines itself stays.

    Law: two values are equal if they are of one class and have equal fields; equal values have equal hashes.

    >>> @record
    ... class Point:
    ...     x: float
    ...     y: float = 0.0
    >>> Point(1.0), Point(1.0) == Point(1.0, 0.0)
    (Point(x=1.0, y=0.0), True)
    """
    names = tuple(cls.__annotations__)
    namespace = {name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__")}
    defaults = {name: namespace.pop(name) for name in names if name in namespace}
    namespace = {
        **_SHARED,
        **namespace,
        "__slots__": names,
        "__match_args__": names,
        "__init__": _init(cls, names, defaults),
        # A tuple also for one field, so that a NaN is equal to itself, as in a dataclass.
        "__lawful_fields__": attrgetter(*names, *names[: len(names) == 1]),
    }
    metaclass: Any = type(cls)
    made: type[C] = metaclass(cls.__name__, cls.__bases__, namespace)
    return made


def _init(cls: type, names: tuple[str, ...], defaults: dict[str, Any]) -> Any:
    if tuple(defaults) != names[len(names) - len(defaults) :]:
        raise TypeError(f"{cls.__qualname__}: expected defaults of the last fields only, got {', '.join(defaults)}")
    code = _init_code(len(names))
    field_of = dict(zip(code.co_varnames[1:], names, strict=True))
    # The constants are the names, and None before or after them.
    consts = tuple([field_of.get(const, const) for const in code.co_consts])
    code = code.replace(co_varnames=("self", *names), co_consts=consts, co_qualname=f"{cls.__qualname__}.__init__")
    init = FunctionType(code, {"assign": object.__setattr__}, "__init__", tuple(defaults.values()))
    init.__module__ = cls.__module__
    return init


@cache
def _init_code(count: int) -> CodeType:
    """Returns the code of ``__init__`` for a number of fields, compiled once; each class replaces the names."""
    names = tuple([f"field_{i}" for i in range(count)])
    lines = "".join([f"\n    assign(self, {name!r}, {name})" for name in names])
    namespace: dict[str, Any] = {}
    exec(f"def __init__(self, {', '.join(names)}):{lines}", namespace)
    code: CodeType = namespace["__init__"].__code__
    assert code.co_varnames == ("self", *names), "the names of the parameters, in their order"
    assert set(code.co_consts) - {None} == set(names), "the names of the fields"
    return code


# Methods that all records share


def _eq(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    fields = self.__class__.__lawful_fields__
    return fields(self) == fields(other)


def _hash(self: Any) -> int:
    return hash(type(self).__lawful_fields__(self))


def _repr(self: Any) -> str:
    fields = ", ".join([f"{name}={getattr(self, name)!r}" for name in self.__match_args__])
    return f"{type(self).__qualname__}({fields})"


def _setattr(self: Any, name: str, value: object) -> NoReturn:
    raise FrozenInstanceError(
        f"{type(self).__name__}: expected to stay as it is, got {name} = {value!r}; make another one"
    )


def _delattr(self: Any, name: str) -> NoReturn:
    raise FrozenInstanceError(f"{type(self).__name__}: expected to stay as it is, got del {name}; make another one")


def _reduce(self: Any) -> tuple[object, ...]:
    return type(self), tuple([getattr(self, name) for name in self.__match_args__])


_SHARED = {
    "__eq__": _eq,
    "__hash__": _hash,
    "__repr__": _repr,
    "__setattr__": _setattr,
    "__delattr__": _delattr,
    "__reduce__": _reduce,
}
