"""Exact keys: the keys of caches for parameters, static arguments and the keys of dicts.

``==`` is not enough: ``1 == True == 1.0`` and ``0.0 == -0.0`` mean different programs, and NaN is not equal to itself.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from enum import Enum
from math import copysign
from numbers import Number
from typing import Any

#: Types whose equal values are the same.
PLAIN = frozenset({int, bool, str, type(None)})
#: Returns the key of a value that is neither a number nor a container.
type KeyOf = Callable[[Any], Any]


#: Scalar types of other libraries, each with the function that returns the bits of a value.
_scalar_types: dict[type, Callable[[Any], Hashable]] = {}


def register_scalar_type(cls: type, bits_of: Callable[[Any], Hashable]) -> None:
    """Registers a type of numbers, and its subclasses, with `exact_key`; ``bits_of`` tells values of one type apart.

    >>> from decimal import Decimal
    >>> class Money(Decimal): ...
    >>> register_scalar_type(Money, str)
    >>> Money("1.0") == Money("1.00"), exact_key(Money("1.0")) == exact_key(Money("1.00"))
    (True, False)
    """
    _scalar_types[cls] = bits_of


def exact_key(value: Any, key_of_object: KeyOf | None = None) -> Hashable:
    """Returns a key that two values share only if no program can tell them apart.

    Numbers differ by type, sign of zero and bits; NaN is itself. So do those in tuples of any type, slices, ranges,
    frozensets and dataclasses. Values of a class that defines ``__eq__`` itself share a key if they are equal, and
    their attributes are of the same types, with zeros of the same signs. Only what can be hashed has a key that can.

    Args:
      value: any value.
      key_of_object: gives the key of a value that is no number and no container; by default as said above.

    >>> exact_key((1, 0.0)) == exact_key((True, 0.0)), exact_key((1, 0.0)) == exact_key((1, -0.0))
    (False, False)
    >>> exact_key(slice(float("nan"))) == exact_key(slice(float("nan")))
    True
    """
    key: Hashable = _key(value, key_of_object or object_key)
    return key


def _key(value: Any, other: KeyOf) -> Any:
    cls: Any = type(value)
    if cls in PLAIN:
        return cls, value
    if cls is tuple:
        types = tuple(map(type, value))
        return (value, types) if PLAIN.issuperset(types) else (cls, *[_key(x, other) for x in value])
    if cls is float or cls is complex:
        return cls, _bits(value)
    for scalar_type, bits_of in _scalar_types.items():
        if isinstance(value, scalar_type):
            return cls, bits_of(value)
    if isinstance(value, Enum):
        return cls, value
    if isinstance(value, float | complex):
        return cls, _bits(value), *_attribute_keys(value, ())
    if isinstance(value, tuple):
        return (cls, *[_key(x, other) for x in value], *_attribute_keys(value, ()))
    if cls is slice or cls is range:
        return cls, *[_key(x, other) for x in (value.start, value.stop, value.step)]
    if cls is frozenset:
        return cls, frozenset([_key(x, other) for x in value])
    if hasattr(cls, "__lawful_exact_key__"):
        return cls, value.__lawful_exact_key__
    if hasattr(cls, "__lawful_fields__") and cls.__eq__ is not object.__eq__:
        return cls, _key(cls.__lawful_fields__(value), other)
    names = _compared_fields(cls)
    if names is not None:
        return cls, *[_key(getattr(value, name), other) for name in names]
    return other(value)


def _bits(number: Any) -> Hashable:
    """Returns a key that tells floats, or complex numbers, of one type apart."""
    if isinstance(number, complex):
        return number.real.hex(), number.imag.hex()
    return float.hex(number)


def _compared_fields(cls: Any) -> tuple[str, ...] | None:
    """Returns the names of the fields that a dataclass compares; None for a class with its own ``==``."""
    if not is_dataclass(cls):
        return None
    own_hash: Any = cls.__hash__  # None where instances have no hash
    if not _is_generated(cls.__eq__) or not (own_hash is None or _is_generated(own_hash)):
        return None
    return tuple([field.name for field in dataclass_fields(cls) if field.compare])


def _is_generated(method: Any) -> bool:
    """Whether ``dataclass`` wrote a method, from a text."""
    return hasattr(method, "__code__") and method.__code__.co_filename == "<string>"


def object_key(value: Any) -> Any:
    """Returns the exact key of a value that is neither a number nor a container.

    >>> object_key("a") == object_key("a"), object_key("a") == object_key("b")
    (True, False)
    """
    cls: Any = type(value)
    if cls.__eq__ is object.__eq__:  # equal to itself only
        return cls, value
    return cls, value, *_attribute_keys(value, ())


def contents_key(value: Any) -> Any:
    """Returns the exact key of a value as `object_key` does, but of dicts, lists and sets by their items.

    Dicts with the same items in another order have different keys.
    """
    cls = type(value)
    if cls is dict:
        return cls, *[(_key(key, contents_key), _key(x, contents_key)) for key, x in value.items()]
    if cls is list:
        return cls, *[_key(x, contents_key) for x in value]
    if cls is set:
        return cls, frozenset([_key(x, contents_key) for x in value])
    return object_key(value)


# Equal objects may have attributes that differ, such as 1 and True. The key of an attribute tells these apart.


def _attribute_key(value: Any, inside: tuple[int, ...]) -> Any:
    """Returns the key of an attribute; ``inside`` has the ids of the objects that contain it."""
    cls: Any = type(value)
    if cls in PLAIN:
        return cls
    if isinstance(value, float | complex):
        return cls, _signs(value)
    for scalar_type, bits_of in _scalar_types.items():
        if isinstance(value, scalar_type):
            return cls, bits_of(value)
    if isinstance(value, tuple | list):
        return (cls, *[_attribute_key(x, inside) for x in value])
    if isinstance(value, dict):
        return (cls, *[(_attribute_key(key, inside), _attribute_key(x, inside)) for key, x in value.items()])
    if cls is slice or cls is range or cls is frozenset:
        return exact_key(value)
    if cls.__eq__ is object.__eq__ or isinstance(value, Enum | type):
        return cls
    return (cls, *_attribute_keys(value, inside))


def _signs(number: Any) -> tuple[bool, ...]:
    """Returns the signs of those parts of a number that are zero."""
    return tuple([copysign(1.0, part) < 0 for part in (number.real, number.imag) if part == 0])


def _attribute_keys(value: Any, inside: tuple[int, ...]) -> Iterator[Hashable]:
    """Yields the keys of an object's attributes; for a number without attributes, such as a Decimal, its text."""
    if id(value) in inside:
        return
    inside = (*inside, id(value))
    names = [*getattr(value, "__dict__", ()), *_slots(type(value))]
    for name in names:
        if hasattr(value, name):
            yield name, _attribute_key(getattr(value, name), inside)
    if not names and isinstance(value, Number) and not isinstance(value, float | complex):
        yield str(value)


def _slots(cls: type) -> Iterator[str]:
    for base in cls.__mro__:
        declared = base.__dict__.get("__slots__", ())
        for name in (declared,) if isinstance(declared, str) else declared:
            is_private = name.startswith("__") and not name.endswith("__")
            yield f"_{base.__name__.lstrip('_')}{name}" if is_private else name
