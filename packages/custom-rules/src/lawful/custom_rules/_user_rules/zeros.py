"""Which values are zero, also of those that are being recorded or batched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

import numpy as np

from lawful.batching import BatchTrace
from lawful.core import Atom, JaxprEqn, Literal, NotLinearError, ShapedArray, Tracer, Var, Zero, get_aval, is_inexact
from lawful.custom_rules._user_rules.dependence import Analysis, Dependence, sets_of_zeros
from lawful.staging import JaxprTracer

# How many equations, one after another, are looked through.
_DEPTH: Final = 64
# How many equations before a call its residuals are looked for in: those of a long program are not all read each time.
_RECENT: Final = 16
# The tangent of a value without one.
_NO_TANGENT: Final = Zero(ShapedArray((), np.float64))


class Zeros:
    """Says whether a value is known to be zero for all values of what it depends on, so that its tangent is zero too.

    A variable of a program being recorded is zero if its equations show it.

    Args:
      known: values that are zero, whatever their traces know of them.
      recent: how many of the last equations of a program to look for its variables in, and not in calls; None for all.

    >>> Zeros()(np.zeros(2)), Zeros()(2.0)
    (True, False)
    """

    def __init__(self, known: Iterable[Any] = (), *, recent: int | None = None) -> None:
        self._variables = {x.variable for x in _parts(known) if isinstance(x, JaxprTracer)}
        self._recent = recent
        self._values: dict[Atom, Any] = {}
        # By trace, the equations that were read, by the variables that they define, and the others.
        self._read: dict[Any, tuple[dict[Atom, JaxprEqn], Iterator[Any]]] = {}

    def __call__(self, x: Any) -> bool:
        while isinstance(x, Tracer):
            if isinstance(x, JaxprTracer):
                return self._is_zero(x._trace, x.variable, {}, _DEPTH)
            if not self._is_tangent_zero(x):
                return False  # it is zero at this point only
            tracer: Any = x  # of a batch, which is all of its elements, or of a value under the enclosing trace
            x = tracer.val if isinstance(tracer._trace, BatchTrace) else tracer.parent_value()
        return x is not None and not np.any(np.asarray(x))

    def _is_tangent_zero(self, x: Any) -> bool:
        tangent = getattr(x, "tangent", _NO_TANGENT)
        if type(tangent) is Var:  # of the linear part that is being recorded
            return self._is_zero(x._trace.linear, tangent, {}, _DEPTH)
        return type(tangent) is Zero or self(tangent)

    def _is_zero(self, trace: Any, atom: Atom, found: dict[Atom, bool], depth: int) -> bool:
        """Whether recorded equations show that a variable is zero; ``found`` holds what is known of others."""
        if isinstance(atom, Literal):
            return self(atom.val)
        if atom in self._variables:
            return True
        if atom in self._values:
            return self(self._values[atom])
        if atom not in found:
            known = trace.constants
            values = [x for var, x in zip(known.variables, known.values, strict=True) if var is atom]
            found[atom] = self(values[0]) if values else self._is_result_zero(trace, atom, found, depth)
        return found[atom]

    def _is_result_zero(self, trace: Any, atom: Atom, found: dict[Atom, bool], depth: int) -> bool:
        eqn = self._definition(trace, atom) if depth else None
        if eqn is None:
            return False

        def is_operand_zero(i: int) -> bool:
            return self._is_zero(trace, eqn.invars[i], found, depth - 1)

        groups = sets_of_zeros(eqn)
        if groups is None:
            if self._recent is not None:
                return False  # all equations of a call would have to be read
            zeros = [Dependence.ZERO if is_operand_zero(i) else Dependence.CONSTANT for i in range(len(eqn.invars))]
            results = Analysis(self, lambda got, _: NotLinearError(got)).results(eqn, tuple(zeros))
            return results[[var is atom for var in eqn.outvars].index(True)] is Dependence.ZERO
        return any(all(map(is_operand_zero, group)) for group in groups)

    def _definition(self, trace: Any, atom: Atom) -> JaxprEqn | None:
        """Returns the equation that defines a variable; equations are read backwards, each once."""
        read, rest = self._read.setdefault(trace, ({}, islice(reversed(trace.eqns), self._recent)))
        while atom not in read:
            entry = next(rest, None)
            if entry is None:
                return None
            if isinstance(entry, JaxprEqn):
                eqns = [entry]
            else:  # a node of a tape
                eqns, values = trace.written_out(entry)
                self._values.update(values)
            for eqn in eqns:
                for var in eqn.outvars:
                    read[var] = eqn
        return read[atom]


def zero_residuals(residuals: Iterable[Any]) -> tuple[bool, ...]:
    """Returns for each residual whether it is known to be zero, as far as that is found in little time.

    >>> zero_residuals([np.zeros(2), 2.0, None, np.zeros(2, int)])
    (True, False, False, False)
    """
    is_zero = Zeros(recent=_RECENT)
    return tuple([_may_be_zero(x) and is_zero(x) for x in residuals])


def _may_be_zero(x: Any) -> bool:
    """Whether a value may be zero, as far as its first element says it, so that most arrays are not read."""
    if isinstance(x, Tracer):
        return is_inexact(get_aval(x).dtype)
    if isinstance(x, np.ndarray | np.generic):
        return is_inexact(x.dtype) and not (x.size and x.item(0))
    return isinstance(x, float | complex) and not x


def _parts(values: Iterable[Any]) -> Iterator[Any]:
    """Gives values, and the values that they have in the enclosing traces, with their tangents."""
    for x in values:
        yield x
        if isinstance(x, Tracer) and not isinstance(x, JaxprTracer):
            tracer: Any = x
            value = tracer.val if isinstance(tracer._trace, BatchTrace) else tracer.parent_value()
            yield from _parts([value, getattr(x, "tangent", None)])
