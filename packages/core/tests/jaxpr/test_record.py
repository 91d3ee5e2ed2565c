"""A record is a frozen, slotted dataclass in all that it has."""

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.core import record


@record
class Interval:
    """An interval."""

    low: Any
    high: Any = 1.0

    def width(self) -> Any:
        """Returns the width."""
        return self.high - self.low

    @property
    def middle(self) -> Any:
        return (self.low + self.high) / 2


@record
class One:
    value: Any


@record
class Odd:
    value: Any
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return "odd"


class Dataclass:
    @dataclass(frozen=True, slots=True)
    class Interval:
        low: Any
        high: Any = 1.0


# Cases that equality and hashes have to tell apart, or not.
values = st.none() | st.integers(-1, 1) | st.floats(-1, 1) | st.tuples(st.booleans()) | st.just(float("nan"))


@given(values, values, values, values)
def test_record_equality_hash_and_text_are_those_of_a_dataclass(a: Any, b: Any, c: Any, d: Any) -> None:
    x, y = Interval(a, b), Interval(c, d)
    p, q = Dataclass.Interval(a, b), Dataclass.Interval(c, d)
    assert (x == y) == (p == q)
    assert (x != y) == (p != q)
    assert hash(x) == hash(p)
    assert repr(p) == f"Dataclass.{x!r}"
    assert (One(a) == One(c)) == ((a,) == (c,))
    if x == y:
        assert hash(x) == hash(y)


def test_record_another_class_is_not_equal() -> None:
    assert One(1.0) != 1.0
    assert Interval(0.0) != Dataclass.Interval(0.0)
    assert Interval(0.0).__eq__(0.0) is NotImplemented


def test_record_arguments_are_by_position_or_name() -> None:
    assert Interval(0.0) == Interval(low=0.0, high=1.0) == Interval(0.0, high=1.0)
    assert list(inspect.signature(Interval).parameters) == ["low", "high"]
    for wrong in (lambda: Interval(), lambda: Interval(1, 2, 3), lambda: Interval(1, width=3)):
        with pytest.raises(TypeError, match=r"Interval\.__init__"):
            wrong()


def test_record_nothing_can_be_changed_or_added() -> None:
    x = Interval(0.0)
    with pytest.raises(
        FrozenInstanceError, match=r"Interval: expected to stay as it is, got low = 1\.0; make another one"
    ):
        x.low = 1.0  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="got del low"):
        del x.low  # type: ignore[misc]
    with pytest.raises(AttributeError):
        x.other = 1.0  # type: ignore[attr-defined]
    assert not hasattr(x, "__dict__")
    assert x == Interval(0.0)


def test_record_copies_are_equal() -> None:
    x = Interval([1.0], (2.0,))
    for other in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert other == x
        assert type(other) is Interval
    assert copy.copy(x).low is x.low
    assert copy.deepcopy(x).low is not x.low


def test_record_methods_names_and_documentation_stay() -> None:
    x = Interval(0.0, 2.0)
    assert (x.width(), x.middle) == (2.0, 1.0)
    assert (Interval.__doc__, Interval.__name__, Interval.__module__) == ("An interval.", "Interval", __name__)
    assert (repr(Odd(1)), Odd(1) == Odd(1), len({Odd(1), Odd(1)})) == ("odd", False, 2)


def test_record_fields_match_by_position() -> None:
    match Interval(0.0, 2.0):
        case Interval(low, high):
            assert (low, high) == (0.0, 2.0)
