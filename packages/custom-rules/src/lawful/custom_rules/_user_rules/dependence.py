"""How values of a program depend on its inputs: linearly, or not at all, or they are zero."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import IntFlag
from typing import Any, Final

from lawful.autodiff import stop_gradient_p
from lawful.core import Atom, Jaxpr, JaxprEqn, Literal, NotLinearError, Run, is_inexact, runs_of_call
from lawful.custom_rules._call.rules import CallRules
from lawful.custom_rules._linear_call import linear_call_p
from lawful.ops import abs_p, max_p, min_p, sort_p, sqrt_p


class Dependence(IntFlag):
    """How a value depends on the inputs of a program. Sums and choices of two values have the union of theirs.

    >>> Dependence.ZERO | Dependence.LINEAR, Dependence.LINEAR | Dependence.CONSTANT
    (<Dependence.LINEAR: 1>, <Dependence.AFFINE: 3>)
    """

    #: It is zero.
    ZERO = 0
    #: It is linear in the inputs.
    LINEAR = 1
    #: It does not depend on the inputs, and may be something else than zero.
    CONSTANT = 2
    #: It may be the sum of both.
    AFFINE = 3


FACTOR: Final = "multiply each term of its result by the cotangent, since the rule has to be linear in it"

# Primitives that are not linear and give zeros of zeros.
_KEEPS_ZEROS: Final = frozenset({abs_p, max_p, min_p, sort_p, sqrt_p, stop_gradient_p})

Dependences = tuple[Dependence, ...]


class Analysis:
    """Finds how the values of programs depend on inputs.

    Args:
      is_zero: whether a constant is zero; an unknown one is not.
      error: makes the error for a program that is not linear, from a description of the program and a remedy, which
        may be empty.
    """

    def __init__(self, is_zero: Callable[[Any], bool], error: Callable[[str, str], NotLinearError]) -> None:
        self._is_zero = is_zero
        self._error = error
        self._known: dict[tuple[int, Dependences], Dependences] = {}

    def constant(self, x: Any) -> Dependence:
        """Returns the dependence of a value that no input changes."""
        return Dependence.ZERO if self._is_zero(x) else Dependence.CONSTANT

    def outputs(self, jaxpr: Jaxpr, inputs: Dependences, consts: Sequence[Any] = ()) -> Dependences:
        """Returns the dependences of the outputs; cached by jaxpr and inputs. Constants that are not given may be any.

        Raises:
          NotLinearError: a value is not linear in the inputs.
        """
        key = (id(jaxpr), inputs)
        if key not in self._known:
            found: dict[Atom, Dependence] = dict(zip(jaxpr.invars, inputs, strict=True))
            found.update(zip(jaxpr.constvars, map(self.constant, consts), strict=False))
            for eqn in jaxpr.eqns:
                found.update(zip(eqn.outvars, self.results(eqn, self._of_all(eqn.invars, found)), strict=True))
            self._known[key] = self._of_all(jaxpr.outvars, found)
        return self._known[key]

    def _of_all(self, atoms: Iterable[Atom], found: dict[Atom, Dependence]) -> Dependences:
        return tuple(
            [
                self.constant(atom.val) if type(atom) is Literal else found.get(atom, Dependence.CONSTANT)
                for atom in atoms
            ]
        )

    def results(self, eqn: JaxprEqn, operands: Dependences) -> Dependences:
        """Returns the dependences of the results of an equation."""
        if _fills(eqn):
            if Dependence.LINEAR in operands:
                raise self._adds(eqn)
            return (Dependence.CONSTANT,) * len(eqn.outvars)
        groups = linear_operands(eqn)
        if groups is None:
            runs = _runs(eqn)
            return self._of_unknown(eqn, operands) if runs is None else self._of_runs(eqn, runs, operands)
        if Dependence.LINEAR not in operands:
            is_zero = any([not any([operands[i] for i in group]) for group in sets_of_zeros(eqn) or ()])
            return (Dependence.ZERO if is_zero else Dependence.CONSTANT,) * len(eqn.outvars)
        if not all([is_inexact(var.aval.dtype) for var in eqn.outvars]):
            raise self._error(f"one that decides something by it, `{eqn.primitive.name}` at {eqn.source}", "")
        # Linear operands that no group has: the transpose rule raises the error.
        joint = [[operands[i] for i in group] for group in groups]
        within = [group for group in joint if group.count(Dependence.LINEAR) == operands.count(Dependence.LINEAR)]
        if within and all([Dependence.CONSTANT in group for group in within]):
            raise self._adds(eqn)
        return (Dependence.LINEAR,) * len(eqn.outvars)

    def _of_unknown(self, eqn: JaxprEqn, operands: Dependences) -> Dependences:
        """Returns the dependences of the results of a primitive without a declaration: its transpose rule decides."""
        if Dependence.LINEAR not in operands:
            return (Dependence.CONSTANT,) * len(eqn.outvars)
        return tuple([Dependence.LINEAR if is_inexact(var.aval.dtype) else Dependence.CONSTANT for var in eqn.outvars])

    def _of_runs(self, eqn: JaxprEqn, runs: Sequence[Run], operands: Dependences) -> Dependences:
        """Returns the dependences of the results of a call, a cond or a loop, after any number of iterations."""
        while True:
            results, later = [Dependence.ZERO] * len(eqn.outvars), [*operands]
            for run in runs:
                outputs = self.outputs(run.jaxpr, tuple([operands[i] for i in run.operands]))
                for out, i in run.fed_back.items():
                    later[i] |= outputs[out]
                for out, i in enumerate(run.results):
                    results[i] |= later[run.fed_back[out]] if out in run.fed_back else outputs[out]
            if Dependence.AFFINE in (*results, *later):
                raise self._adds(eqn)
            if tuple(later) == operands:
                return tuple(results)
            operands = tuple(later)

    def _adds(self, eqn: JaxprEqn) -> NotLinearError:
        return self._error(f"one that adds something to it, `{eqn.primitive.name}` at {eqn.source}", FACTOR)


def linear_operands(eqn: JaxprEqn) -> list[list[int]] | None:
    """Returns sets of operands in which an equation is jointly linear; None if they are not declared."""
    count = len(eqn.invars)
    if eqn.primitive is linear_call_p:
        return [[*range(eqn.params["num_res"], count)]]
    rules = eqn.params.get("rules")
    if isinstance(rules, CallRules) and rules.transpose is not None:  # a user's rule, which is taken at its word
        return [[i for i, is_linear in enumerate(rules.linear) if is_linear]]
    if "runs" in eqn.primitive.rules or eqn.primitive.declaration is None:
        return None
    # A variadic primitive declares more operands than the equation may have.
    return [[i for i in group if i < count] for group in eqn.primitive.declaration.linear]


def sets_of_zeros(eqn: JaxprEqn) -> list[list[int]] | None:
    """Returns sets of operands of which an equation gives zeros if all of one are zero; None if they are not known."""
    groups = linear_operands(eqn)
    if groups is None or _fills(eqn):
        return None
    return [[*range(len(eqn.invars))]] if eqn.primitive in _KEEPS_ZEROS else [group for group in groups if group]


def _fills(eqn: JaxprEqn) -> bool:
    """Whether the equation gives a number of its own, not zero, for what it reads outside of an array.

    None stands for NaN, the default, which marks an error.
    """
    return bool(eqn.params.get("fill_value"))


def _runs(eqn: JaxprEqn) -> list[Run] | None:
    """Returns what an equation runs; None for a primitive that runs nothing known."""
    if "runs" in eqn.primitive.rules:
        runs: list[Run] = eqn.primitive.rule("runs")(eqn)
        return runs
    if not isinstance(eqn.params.get("rules"), CallRules):
        return None
    params = eqn.primitive.rule("untyped")([atom.aval for atom in eqn.invars], eqn.params)
    return runs_of_call(eqn.replace(params=params))
