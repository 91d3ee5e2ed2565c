"""The constants of a program that is being recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from lawful.core import Atom, Literal, Tracer, Var, get_aval, python_scalar_types, unusable_tracer
from lawful.staging._ownership import same_bytes

if TYPE_CHECKING:
    from lawful.staging._recorder import Recorder


class Constants:
    """The constants of a program: scalars are literals, each array has one variable.

    Attributes:
      variables: of the arrays, in the order in which they were found.
      values: snapshots of the arrays.

    >>> from lawful.staging import JaxprTrace
    >>> from lawful.core import eval_trace
    >>> constants, trace = Constants(), JaxprTrace(eval_trace, "jit")
    >>> constants.atom(2.0, trace), constants.atom(np.zeros(3), trace), constants.values
    (Literal(2.0:~f64[]), Var(f64[3]), [array([0., 0., 0.])])
    """

    __slots__ = ("_known", "values", "variables")

    def __init__(self) -> None:
        self.variables: list[Var] = []
        self.values: list[Any] = []
        # By identity. The value is kept too, so that its identity is not reused.
        self._known: dict[int, tuple[Var, Any, Any]] = {}

    def atom(self, x: Any, trace: Recorder) -> Atom:
        """Returns a literal for a scalar, and a variable, one for each array, for everything else.

        Args:
          x: a value that is no variable of the program.
          trace: the trace that records the program; it decides which value is kept.
        """
        if type(x) in python_scalar_types or isinstance(x, np.generic):
            return Literal(x)
        if type(x) is np.ndarray and not x.ndim:
            return Literal(x[()])
        return self._found(x, trace)[0]

    def value(self, x: Any, trace: Recorder) -> Any:
        """Returns a read-only copy of an array, the same one for all of its uses."""
        return self._found(x, trace)[2]

    def _found(self, x: Any, trace: Recorder) -> tuple[Var, Any, Any]:
        """Returns the variable of a constant, the value that was given, and the value that is kept."""
        known = self._known.get(id(x))
        if known is not None:
            _, original, value = known
            if value is original or same_bytes(value, original):
                return known
        if isinstance(x, Tracer) and not (x._trace.encloses(trace) and x._trace.active):
            raise unusable_tracer(x)
        aval = get_aval(x)
        var = Var(aval.update(vma=aval.vma | trace.divergent_axes) if trace.divergent_axes else aval)
        value = trace.snapshot(x)
        if value is not x and (known := self._known.get(id(value))) is not None and known[2] is value:
            found = self._known[id(x)] = (known[0], x, value)  # a trace inside this one has copied the array
            return found
        found = self._known[id(x)] = (var, x, value)
        if value is not x:
            self._known[id(value)] = (var, value, value)
        self.variables.append(var)
        self.values.append(value)
        return found

    def keep(self, is_kept: Callable[[Var, Any], bool]) -> None:
        """Removes the constants for which a predicate of the variable and the value is false."""
        kept = [pair for pair in zip(self.variables, self.values, strict=True) if is_kept(*pair)]
        self.variables = [var for var, _ in kept]
        self.values = [value for _, value in kept]
        known = set(self.variables)
        self._known = {key: found for key, found in self._known.items() if found[0] in known}
