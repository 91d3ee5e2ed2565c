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

# Stop comparing after this many programs with the same text (they differ in their constants).
_MAX_COMPARED: Final = 8


def labels_of(eqns: Sequence[JaxprEqn]) -> list[int]:
    """Returns the labels of equations.

    Equal labels mean: the same primitive, the same parameters, and the same types of operands and results up to
    weakness, since a loop often starts with a Python number. Jaxprs in parameters are compared up to names of
    variables. An equation with effects has a unique label.
    """
    labels = _Labels()
    return [labels.of(eqn) for eqn in eqns]


class _Labels:
    """The labels assigned so far."""

    def __init__(self) -> None:
        self._labels: dict[Hashable, int] = {}
        # The labels of equations without parameters, by primitive and exact types: the fast path.
        self._plain: dict[Hashable, int] = {}
        self._programs: dict[int, int] = {}
        self._printed: dict[str, list[tuple[Any, int]]] = {}

    def of(self, eqn: JaxprEqn) -> int:
        """Returns the label of an equation, which is unique if the equation must not be in a loop."""
        params = eqn.params
        types = (tuple([atom.aval for atom in eqn.invars]), tuple([var.aval for var in eqn.outvars]))
        known = None if params else self._plain.get((eqn.primitive, types))
        if known is not None:
            return known
        if eqn.primitive.effectful or (params and applies_effects(eqn.primitive, params)):
            return self._new()
        operands, results = [tuple(map(_strong, avals)) for avals in types]
        if any([aval.dtype == float0 for aval in (*operands, *results)]):
            return self._new()  # float0 arrays cannot be stacked
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
        """Returns a key that is equal for equal values of a parameter."""
        cls = type(value)
        if cls is tuple or cls is list:
            return (cls, *map(self._key, value))
        if isinstance(value, Jaxpr | ClosedJaxpr):
            return (cls, self._program(value))
        if isinstance(value, np.ndarray):
            return (cls, value.dtype, value.shape, value.tobytes())
        key = exact_key(value)
        try:
            hash(key)
        except TypeError:
            return ("object", id(value))
        return key

    def _program(self, program: Jaxpr | ClosedJaxpr) -> int:
        """Returns a number that is equal for programs that are equal up to names."""
        known = self._programs.get(id(program))
        if known is None:
            text = format_jaxpr(program)
            same_text = self._printed.setdefault(text, [])
            known = next((number for other, number in same_text if alpha_equivalent(other, program)), None)
            if known is None:
                known = len(self._programs)
                if len(same_text) < _MAX_COMPARED:
                    same_text.append((program, known))
            self._programs[id(program)] = known
        return known


def literal_key(literal: Literal) -> Hashable:
    """Returns a key of a literal: its strong type and its bits."""
    return (_strong(literal.aval), np.asarray(literal.val).tobytes())


def _strong(aval: ShapedArray) -> ShapedArray:
    return aval.update(weak_type=False) if aval.weak_type else aval
