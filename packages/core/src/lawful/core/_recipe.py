"""Recipes: what a rule does with arguments of known types, written down once and followed many times.

A rule of a transformation is Python, and costs some microseconds an operation; for arguments of the same types it
applies the same primitives every time. A recipe is the jaxpr of that, with values numbered in place of variables.
It stands beside the rule: a trace that follows the recipe does what the rule would.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

from lawful.core._aval import ShapedArray
from lawful.core._jaxpr import ClosedJaxpr, Literal
from lawful.core._primitive import Primitive
from lawful.core._recipe_book import NOTED, derived_or_none

if TYPE_CHECKING:
    from lawful.core._trace import Trace

#: A primitive with its parameters, the numbers of its operands, and the types of its results.
Step = tuple[Primitive, dict[str, Any], tuple[int, ...], tuple[ShapedArray, ...]]

#: Makes a Python function of NumPy values of a jaxpr.
Compile = Callable[[ClosedJaxpr], Callable[..., list[Any]]]
#: A recipe that was evaluated more often is compiled.
_OFTEN = 30


def of_numpy[F: Callable[..., Any]](function: F) -> F:
    """Says of a function that it calls NumPy alone: it asks nothing of the current trace, and knows any byte order."""
    function.is_numpy = True  # type: ignore[attr-defined]
    return function


class Recipe:
    """A jaxpr without array constants, in the form that a trace goes through fastest.

    Values are numbered: the arguments first, then the scalars of ``literals``, then the results of each step.

    Attributes:
      literals: the scalars that stand inline.
      scalars: their values.
      steps: what to apply, in order.
      results: the numbers of the outputs.
      out_avals: their types.
      closed: the jaxpr.
      derived: what transformations derived of the recipe, by what derives it and for which types.
      function: the recipe as one Python function of NumPy values, once it has been evaluated often.
      is_numpy: whether that calls NumPy alone, and so asks nothing of the current trace.
    """

    __slots__ = (
        "_compile", "_evaluated", "closed", "derived", "function", "is_numpy", "literals", "out_avals", "results",
        "scalars", "steps",
    )  # fmt: skip

    def __init__(self, closed: ClosedJaxpr, compile: Compile | None = None) -> None:
        """Makes the recipe of a jaxpr.

        Args:
          closed: the jaxpr.
          compile: makes a Python function of it.
        """
        self._compile = compile
        self._evaluated = 0
        self.function: Callable[..., list[Any]] | None = None
        self.is_numpy = False
        self.closed = closed
        self.derived: dict[Hashable, dict[Any, Any]] = {}
        jaxpr = closed.jaxpr
        assert not jaxpr.constvars, "a recipe has no array constants"
        atoms = [atom for eqn in jaxpr.eqns for atom in eqn.invars] + list(jaxpr.outvars)
        # Each once: one literal may stand in several places.
        self.literals = tuple(dict.fromkeys([atom for atom in atoms if type(atom) is Literal]))
        self.scalars = tuple([literal.val for literal in self.literals])
        number: dict[Any, int] = {}
        for value in (*jaxpr.invars, *self.literals, *[var for eqn in jaxpr.eqns for var in eqn.outvars]):
            number[value] = len(number)
        self.steps: tuple[Step, ...] = tuple(
            [
                (
                    eqn.primitive,
                    eqn.params,
                    tuple([number[x] for x in eqn.invars]),
                    tuple([var.aval for var in eqn.outvars]),
                )
                for eqn in jaxpr.eqns
            ]
        )
        self.results = tuple([number[x] for x in jaxpr.outvars])
        self.out_avals = tuple([x.aval for x in jaxpr.outvars])

    def count_evaluation(self) -> None:
        """Notes that the steps were evaluated one by one. What is done often is compiled: that costs as much as 100."""
        self._evaluated += 1
        if self._evaluated > _OFTEN and self._compile is not None:
            function = self._compile(self.closed)
            self.is_numpy = getattr(function, "is_numpy", False)
            self.function = function  # last: another thread that sees it sees what it is

    def remembered[K: Hashable, R](self, derive: Callable[[Recipe, K], R | None], types: K, trace: Trace) -> R | None:
        """Returns what a transformation derives of the recipe for some types, once.

        As with what is derived of rules, it is only noted the first time where a trace computes at once.

        Args:
          derive: is given the recipe and the types.
          types: those of the arguments, as the transformation tells them apart.
          trace: the one that follows the recipe.

        Returns:
          What was derived; None where it is not yet, or cannot be.
        """
        try:
            found: R | None = self.derived[derive][types]
        except KeyError:
            known = self.derived.setdefault(derive, {})
            if trace.evaluates_constants:
                known[types] = NOTED
                return None
            found = NOTED
        if found is NOTED:
            found = self.derived[derive][types] = derived_or_none(lambda: derive(self, types))
        return found
