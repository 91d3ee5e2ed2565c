"""Jaxprs in indexed form: values are numbered, so that a trace replays the program without an environment.

A rule of a transformation is Python, and applies the same primitives to all arguments of the same types. They are
traced once, kept in this form, and replayed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lawful.core._jaxpr.jaxpr import ClosedJaxpr, Literal
from lawful.core._primitive.primitive import Primitive
from lawful.core._types.aval import ShapedArray

#: A primitive with its parameters, the numbers of its operands, and the types of its results.
Step = tuple[Primitive, dict[str, Any], tuple[int, ...], tuple[ShapedArray, ...]]

#: Makes a Python function of NumPy values from a jaxpr.
Compile = Callable[[ClosedJaxpr], Callable[..., list[Any]]]
#: A program that was evaluated more often is compiled, which costs as much as 100 evaluations.
_OFTEN = 30


class IndexedJaxpr:
    """A jaxpr without array constants, in indexed form.

    Values are numbered: the arguments first, then the scalars of ``literals``, then the results of each step.

    Args:
      closed: the jaxpr.
      compile: makes a Python function of it.

    Attributes:
      literals: the scalars that stand inline.
      scalars: their values.
      steps: what to apply, in order.
      results: the numbers of the outputs.
      out_avals: their types.
      closed: the jaxpr.
      function: the program as one Python function of NumPy values, once it has been evaluated often.
      is_numpy: whether that function calls NumPy alone.
    """

    __slots__ = (
        "_compile", "_evaluated", "closed", "function", "is_numpy", "literals", "out_avals", "results", "scalars",
        "steps",
    )  # fmt: skip

    def __init__(self, closed: ClosedJaxpr, compile: Compile | None = None) -> None:
        self._compile = compile
        self._evaluated = 0
        self.function: Callable[..., list[Any]] | None = None
        self.is_numpy = False
        self.closed = closed
        jaxpr = closed.jaxpr
        assert not jaxpr.constvars, "an indexed jaxpr has no array constants"
        atoms = [atom for eqn in jaxpr.eqns for atom in eqn.invars] + list(jaxpr.outvars)
        # One literal may be used several times.
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
        """Counts an evaluation step by step; compiles the program when there were many."""
        self._evaluated += 1
        if self._evaluated > _OFTEN and self._compile is not None:
            function = self._compile(self.closed)
            self.is_numpy = getattr(function, "is_numpy", False)
            self.function = function  # last: another thread that sees it also sees ``is_numpy``
