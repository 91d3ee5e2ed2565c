"""Labels: small integers, equal for equations that do the same to operands of the same types."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Final

import numpy as np

from lawful.core import (
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Literal,
    ShapedArray,
    alpha_equivalent,
    applies_effects,
    exact_key,
    float0,
    format_jaxpr,
)

# Of so many programs that print alike and differ (in their constants), a further one is compared with none.
_MOST_ALIKE: Final = 8


def labels_of(eqns: Sequence[JaxprEqn]) -> list[int]:
    """Returns the labels of equations.

    Equal labels mean: the same primitive, parameters, types of operands and of results, all but for their weakness: a
    loop often begins with a Python number, and goes on with arrays. Programs among the parameters are the same if they
    differ in the names of variables only. The label of an equation with effects is its own.
    """
    labels = _Labels()
    return [labels.of(eqn) for eqn in eqns]


class _Labels:
    """The labels that were given so far."""

    def __init__(self) -> None:
        self._labels: dict[Hashable, int] = {}
        # Of equations without parameters, by primitive and types as they are: most come again and again.
        self._plain: dict[Hashable, int] = {}
        self._programs: dict[int, int] = {}
        self._printed: dict[str, list[tuple[Any, int]]] = {}

    def of(self, eqn: JaxprEqn) -> int:
        """Returns the label of an equation; that of one which must not be repeated is its own."""
        params = eqn.params
        types = (tuple([atom.aval for atom in eqn.invars]), tuple([var.aval for var in eqn.outvars]))
        known = None if params else self._plain.get((eqn.primitive, types))
        if known is not None:
            return known
        if eqn.primitive.effectful or (params and applies_effects(eqn.primitive, params)):
            return self._new()
        operands, results = [tuple(map(_strong, avals)) for avals in types]
        if any([aval.dtype == float0 for aval in (*operands, *results)]):
            return self._new()  # there are no stacks of them
        values = tuple([(name, self._key(params[name])) for name in sorted(params)])
        label = self._labels.setdefault((eqn.primitive, operands, results, values), len(self._labels))
        if not params:
            self._plain[eqn.primitive, types] = label
        return label

    def _new(self) -> int:
        number = len(self._labels)
        self._labels[object()] = number
        return number

    def _key(self, value: Any) -> Hashable:
        """Returns what tells the values of a parameter apart."""
        kind = type(value)
        if kind is tuple or kind is list:
            return (kind, *map(self._key, value))
        if isinstance(value, Jaxpr | ClosedJaxpr):
            return (kind, self._program(value))
        if isinstance(value, np.ndarray):
            return (kind, value.dtype, value.shape, value.tobytes())
        key = exact_key(value)
        try:
            hash(key)
        except TypeError:
            return ("object", id(value))
        return key

    def _program(self, program: Jaxpr | ClosedJaxpr) -> int:
        """Returns a number of a program that is equal for those that are the same up to names."""
        known = self._programs.get(id(program))
        if known is None:
            text = format_jaxpr(program.jaxpr if isinstance(program, ClosedJaxpr) else program)
            alike = self._printed.setdefault(text, [])
            known = next((number for other, number in alike if alpha_equivalent(other, program)), None)
            if known is None:
                known = len(self._programs)
                if len(alike) < _MOST_ALIKE:
                    alike.append((program, known))
            self._programs[id(program)] = known
        return known


def literal_key(literal: Literal) -> Hashable:
    """Returns what tells literals apart: type and bits."""
    return (_strong(literal.aval), np.asarray(literal.val).tobytes())


def _strong(aval: ShapedArray) -> ShapedArray:
    return aval.update(weak_type=False) if aval.weak_type else aval
