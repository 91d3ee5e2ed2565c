"""The trace: each tracer is a value of the parent, and its unit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from lawful.core import (
    LawfulError,
    Primitive,
    Trace,
    Tracer,
    current,
    get_aval,
    new_trace,
    register_array_type,
    set_current,
    user_source,
)

SLOT = "units"


class Unit(dict[str, int]):
    """A product of powers of base units: ``Unit(m=1, s=-2)``. ``Unit()`` is that of a number."""

    def __mul__(self, other: Unit) -> Unit:
        powers = {name: self.get(name, 0) + other.get(name, 0) for name in (*self, *other)}
        return Unit({name: power for name, power in powers.items() if power})

    def __pow__(self, power: int) -> Unit:
        return Unit({name: power * each for name, each in self.items() if power})

    def __truediv__(self, other: Unit) -> Unit:
        return self * other**-1


class UnitError(LawfulError, TypeError):
    """An operation of values whose units do not fit: convert one of them."""


class UnitTracer(Tracer):
    """A value with a unit."""

    __slots__ = ("aval", "source", "unit", "val")

    def __init__(self, trace: Trace, val: Any, unit: Unit) -> None:
        self._trace = trace
        self.val = val
        self.unit = unit
        self.aval = get_aval(val)
        self.source = user_source()

    def parent_value(self) -> Any:
        return self.val


register_array_type(UnitTracer, aval=attrgetter("aval"))


class UnitTrace(Trace):
    """Computes under the parent, and asks the rule in the slot ``units`` for the unit of each result."""

    def __init__(self, parent: Trace) -> None:
        super().__init__(parent, "with_units")

    def split(self, x: Any) -> tuple[Any, Unit]:
        """Returns the value and unit of what may be a constant."""
        return (x.val, x.unit) if type(x) is UnitTracer and x._trace is self else (x, Unit())

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        assert self.parent is not None
        if not any([type(x) is UnitTracer and x._trace is self for x in args]):
            return self.parent.process_primitive(primitive, args, params)
        if SLOT not in primitive.rules and "expand" in primitive.rules:
            with set_current(self):
                return primitive.rule("expand")(*args, **params)
        vals, units = zip(*map(self.split, args), strict=True)
        unit = primitive.rule(SLOT)(*units, **params)
        out = self.parent.process_primitive(primitive, vals, params)
        if primitive.multiple_results:
            return [UnitTracer(self, x, each) for x, each in zip(out, unit, strict=True)]
        return UnitTracer(self, out, unit)


def with_units(function: Callable[..., Any], *units: Unit) -> Callable[..., tuple[Any, Unit]]:
    """Returns a function that gives the result of ``function``, an array, and its unit.

    Args:
      function: of arrays.
      units: of its arguments.

    Raises:
      UnitError: an operation adds or compares values of different units, or has no meaning for its units.
    """

    def checked(*args: Any) -> tuple[Any, Unit]:
        trace = UnitTrace(current.trace)
        with new_trace(trace):
            out = function(*[UnitTracer(trace, x, unit) for x, unit in zip(args, units, strict=True)])
        return trace.split(out)

    return checked
