"""Two values share an exact key only if no program can tell them apart."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from enum import IntEnum, StrEnum
from fractions import Fraction
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest

from lawful import tree
from lawful.core import ClosedJaxpr, Jaxpr, ShapedArray, exact_key, exact_params_key


class Pair(NamedTuple):
    first: Any
    second: Any = None


@dataclass(frozen=True)
class Frozen:
    value: Any
    note: Any = field(default=None, compare=False)


class Equal:
    """Equal to what has an equal value."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Equal) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)


class Slotted(Equal):
    __slots__ = ("__hidden",)

    def __init__(self, value: Any) -> None:
        super().__init__(None)
        self.__hidden = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Slotted) and self.__hidden == other.__hidden

    def __hash__(self) -> int:
        return hash(self.__hidden)


@dataclass(frozen=True)
class Proxy:
    """Compares as a number says; the object that it stands for has no hash."""

    of: Any
    key: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Proxy) and self.key == other.key

    def __hash__(self) -> int:
        return self.key


@dataclass(frozen=True)
class Hashed:
    """Has fields without a hash, and one of its own."""

    rows: Any

    def __hash__(self) -> int:
        return len(self.rows)


class Meters(float):
    pass


class Level(IntEnum):
    LOW = 1


class Letter(StrEnum):
    A = "a"


GROUPS: list[tuple[Any, ...]] = [
    (
        0.0,
        -0.0,
        0,
        False,
        np.float64(0.0),
        np.float32(-0.0),
        np.int64(0),
        0j,
        complex(0.0, -0.0),
        Meters(0.0),
        Decimal(0),
    ),
    (
        1,
        True,
        1.0,
        np.True_,
        np.int8(1),
        np.int32(1),
        ml_dtypes.bfloat16(1),
        Level.LOW,
        Fraction(1),
        Decimal("1.0"),
        Decimal(1),
    ),
    ("a", np.str_("a"), Letter.A),
    (math.nan, np.float64(math.nan), np.float32(math.nan), complex(0, math.nan)),
]
HOLDERS: dict[str, Callable[[Any], Any]] = {
    "itself": lambda x: x,
    "tuple": lambda x: (x,),
    "namedtuple": Pair,
    "nested": lambda x: Pair((1, Frozen(x))),
    "slice": lambda x: slice(None, x),
    "frozenset": lambda x: frozenset({x, "another"}),
    "dataclass": Frozen,
    "object": Equal,
    "slots": Slotted,
    "object_of_tuple": lambda x: Equal((x,)),
    "object_of_object": lambda x: Equal(Equal(x)),
}


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("group", range(len(GROUPS)))
def test_exact_key_tells_equal_values_apart(holder: str, group: int) -> None:
    values = [HOLDERS[holder](x) for x in GROUPS[group]]
    assert len({exact_key(value) for value in values}) == len(values)


@pytest.mark.parametrize("holder", [name for name in HOLDERS if "object" not in name and name != "slots"])
@pytest.mark.parametrize("group", range(len(GROUPS)))
def test_exact_key_of_same_value_is_equal(holder: str, group: int) -> None:
    """Also of NaN, which is not equal to itself."""
    for x in GROUPS[group]:
        copy = type(x)(repr(x)) if type(x) is float else x
        assert exact_key(HOLDERS[holder](x)) == exact_key(HOLDERS[holder](copy))
    assert exact_key(Equal(2.5)) == exact_key(Equal(2.5))


def test_exact_key_of_different_types_of_containers() -> None:
    values = [(1, 2), Pair(1, 2), range(1, 2), slice(1, 2), frozenset({1, 2}), Frozen(1)]
    assert len(set(map(exact_key, values))) == len(values)
    assert exact_key(range(0)) != exact_key(range(1, 1))


def test_exact_key_leaves_out_fields_not_compared() -> None:
    assert exact_key(Frozen(1, "x")) == exact_key(Frozen(1, "y"))


def test_exact_key_leaves_out_counters_of_objects() -> None:
    one, two = Equal(1), Equal(1)
    two.calls = 5  # type: ignore[attr-defined]
    one.calls = 0  # type: ignore[attr-defined]
    assert exact_key(one) == exact_key(two), "the class decides that such values are equal"


def test_exact_key_of_cyclic_object_ends() -> None:
    value = Equal(0.0)
    value.itself = value  # type: ignore[attr-defined]
    assert exact_key(value) == exact_key(value)


def test_exact_key_of_identities() -> None:
    def function() -> None: ...

    for value in (function, Equal, ShapedArray((2,), float), np.dtype("f4"), object()):
        assert exact_key(value) == exact_key(value)
    assert exact_key(np.dtype("f4")) != exact_key(np.dtype(">f4"))


def test_exact_key_of_unhashable_cannot_be_hashed() -> None:
    for value in ([1], {"a": 1}, (1, [2]), Frozen([1]), np.zeros(2)):
        with pytest.raises(TypeError):
            hash(exact_key(value))


def test_exact_params_key_holds_no_program() -> None:
    closed = ClosedJaxpr(Jaxpr((), (), (), ()))
    for value in (closed, closed.jaxpr, len, (closed,), Frozen(closed)):
        with pytest.raises(TypeError):
            hash(exact_params_key({"a": value}))
    assert hash(exact_params_key({"a": float})) == hash(exact_params_key({"a": float}))


def test_exact_key_of_treedef() -> None:
    keys = [1, True, 1.0, "a", Letter.A]
    assert len({exact_key(tree.structure({key: 0})) for key in keys}) == len(keys)
    assert exact_key(tree.structure({math.nan: 0})) == exact_key(tree.structure({float("nan"): 0}))
    assert tree.structure({1: 0}) == tree.structure({True: 0})


@pytest.mark.parametrize("outer", [lambda x: x, lambda x: (x, 0), lambda x: {"b": x}])
def test_exact_matcher_takes_the_same_keys_only(outer: Callable[[Any], Any]) -> None:
    keys = [1, True, 1.0, "a", Letter.A]
    for key in keys:
        treedef = tree.structure(outer({key: 0}))
        matching = [other for other in keys if treedef.exact_matcher(outer({other: 5})) is not None]
        assert [(type(other), other) for other in matching] == [(type(key), key)]


def test_exact_key_of_a_dataclass_with_its_own_equality() -> None:
    assert exact_key(Proxy([], 1)) == exact_key(Proxy([], 1))
    assert hash(exact_key(Proxy([1.0], 1))) == hash(exact_key(Proxy([1.0], 1)))
    assert exact_key(Proxy([], 1)) != exact_key(Proxy([], 2))


def test_exact_key_of_a_dataclass_with_its_own_hash() -> None:
    assert exact_key(Hashed([1, 2])) == exact_key(Hashed([1, 2]))
    assert hash(exact_key(Hashed([1, 2]))) == hash(exact_key(Hashed([1, 2])))
    assert exact_key(Hashed([1, 2])) != exact_key(Hashed([1, 3]))
    assert exact_key(Hashed([1])) != exact_key(Hashed([True]))
