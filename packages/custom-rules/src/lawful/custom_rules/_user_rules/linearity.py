"""A check that a program is linear in its inputs. Transposition itself does not detect an affine program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lawful.core import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, NotLinearError, Run, Var, is_inexact
from lawful.custom_rules._user_rules.zeros import may_be_zero
from lawful.ops import broadcast_in_dim_p, convert_element_type_p

# A zero operand gives a zero result.
_ZERO_PRESERVING = frozenset({broadcast_in_dim_p, convert_element_type_p})

_FACTOR = "multiply each term of its result by the cotangent, since the rule has to be linear in it"

Mask = tuple[bool, ...]


def require_linear(program: ClosedJaxpr, constants: Sequence[Any], error: Callable[[str, str], NotLinearError]) -> None:
    """Raises an error if an equation or a result shows that a program is not linear in its inputs.

    Args:
      program: the program.
      constants: its results that do not depend on its inputs.
      error: makes the error, from a description of the program and a remedy, which may be empty.
    """
    for x in constants:
        if not may_be_zero(x):
            raise error("one that gives something else than zero for the cotangent zero", _FACTOR)
    values = dict(zip(program.jaxpr.constvars, program.consts, strict=True))
    _Check(error, values).outputs(program.jaxpr, (True,) * len(program.jaxpr.invars))


class _Check:
    """Walks through a program and its sub-jaxprs, and tracks which variables depend on the inputs."""

    def __init__(self, error: Callable[[str, str], NotLinearError], values: dict[Any, Any]) -> None:
        self._error = error
        self._values = values
        self._known: dict[tuple[int, Mask], Mask] = {}

    def outputs(self, jaxpr: Jaxpr, inputs: Mask) -> Mask:
        """Returns which outputs depend on the marked inputs; cached by jaxpr and marks."""
        key = (id(jaxpr), inputs)
        if key not in self._known:
            self._known[key] = self._walk(jaxpr, inputs)
        return self._known[key]

    def _walk(self, jaxpr: Jaxpr, inputs: Mask) -> Mask:
        depends = {var for var, marked in zip(jaxpr.invars, inputs, strict=True) if marked}
        for eqn in jaxpr.eqns:
            uses = [_is_among(atom, depends) for atom in eqn.invars]
            if any(uses):
                depends.update(
                    [var for var, marked in zip(eqn.outvars, self._results(eqn, uses), strict=True) if marked]
                )
            elif eqn.primitive in _ZERO_PRESERVING:
                self._values[eqn.outvars[0]] = self._value(eqn.invars[0])
        return tuple([_is_among(atom, depends) for atom in jaxpr.outvars])

    def _results(self, eqn: JaxprEqn, uses: list[bool]) -> list[bool]:
        """Returns which results depend on the marked operands; at least one is marked."""
        if "runs" in eqn.primitive.rules:
            return self._results_of_sub_jaxprs(eqn, uses)
        if eqn.primitive.declaration is None:
            return [is_inexact(var.aval.dtype) for var in eqn.outvars]  # its transpose rule raises the error
        if not all([is_inexact(var.aval.dtype) for var in eqn.outvars]):
            raise self._error(f"one that decides something by it, `{eqn.primitive.name}` at {eqn.source}", "")
        if not self._is_linear(eqn, uses):
            raise self._error(f"one that adds something to it, `{eqn.primitive.name}` at {eqn.source}", _FACTOR)
        return [True] * len(eqn.outvars)

    def _results_of_sub_jaxprs(self, eqn: JaxprEqn, uses: list[bool]) -> list[bool]:
        """Returns which results of a call, a cond or a loop depend on the marked operands, in any iteration."""
        runs: list[Run] = eqn.primitive.rule("runs")(eqn)
        while True:
            results, later = [False] * len(eqn.outvars), list(uses)
            for run in runs:
                outputs = self.outputs(run.jaxpr, tuple([uses[i] for i in run.operands]))
                for out, i in enumerate(run.results):
                    results[i] |= outputs[out]
                for out, i in run.fed_back.items():
                    later[i] |= outputs[out]
            if later == uses:
                return results
            uses = later

    def _is_linear(self, eqn: JaxprEqn, uses: list[bool]) -> bool:
        """Whether an equation is linear in the marked operands.

        It is if it is jointly linear in them and others that are zero. Unknown operands count as zero.
        """
        assert eqn.primitive.declaration is not None
        # A variadic primitive declares more operands than the equation may have.
        operands = set(range(len(eqn.invars)))
        marked = {i for i, used in enumerate(uses) if used}
        groups = [operands & set(group) for group in eqn.primitive.declaration.linear if marked <= set(group)]
        if not groups:
            return True  # its transpose rule raises the error
        return any(all(may_be_zero(self._value(eqn.invars[i])) for i in group - marked) for group in groups)

    def _value(self, atom: Atom) -> Any:
        """Returns the value of a constant; None if it is unknown."""
        return atom.val if type(atom) is Literal else self._values.get(atom)


def _is_among(atom: Atom, variables: set[Var]) -> bool:
    return type(atom) is Var and atom in variables
