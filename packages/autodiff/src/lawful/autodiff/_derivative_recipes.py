"""The derivative rules of primitives as recipes: run for arguments of some types, and followed afterwards.

What a jvp rule does, cut into the part that depends on primals only and the linear rest, is the same at all values of
the same types. So are the jvp itself, the transpose of a linear equation, and each of these for a whole recipe.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful.autodiff._dual import TangentAvals
from lawful.core import (
    ClosedJaxpr,
    Jaxpr,
    Primitive,
    Recipe,
    ShapedArray,
    UndefinedPrimal,
    Zero,
    current,
    derived_or_none,
    exact_params_key,
    get_aval,
    has_effects,
    new_trace,
    pair_of_rule,
    remembered,
)
from lawful.staging import JaxprTrace, PartialTrace, consts_as_inputs, cse_jaxpr, dce_jaxpr, numpy_function

Avals = tuple[ShapedArray, ...]
Mask = tuple[bool, ...]
#: The type of Python's floats.
_NUMBER = get_aval(0.0)


class NonzeroRecipe:
    """A recipe for values of which some are zero.

    Attributes:
      steps: from the arguments to outputs that are no tangents, and then the values that are not zero.
      count: how many outputs stand before those values.
      numbers: for each value, its number among the results of ``steps``; None if it is zero.
      all_nonzero: whether none of them is zero.
    """

    __slots__ = ("all_nonzero", "count", "numbers", "steps")

    def __init__(self, closed: ClosedJaxpr, count: int, nonzeros: Sequence[bool]) -> None:
        self.steps = Recipe(closed, numpy_function)
        self.count = count
        self.numbers = _numbers(nonzeros, count)
        self.all_nonzero = all(nonzeros)


class LinearRecipe:
    """A primitive, or a recipe of several, linearized at some types.

    Attributes:
      primal: from the primals to the outputs, and then the residuals: what the linear part needs of them.
      program: the linear part: from the residuals and then the tangents to those output tangents that are not zero.
      linear: that as a recipe.
      count: how many outputs there are.
      out_avals: their types, and then those of the residuals.
      numbers: for each output, the number of its tangent among those that ``linear`` gives; None if it is zero.
      is_single: whether there is one output, with a tangent.
      is_plain: whether each tangent that ``linear`` gives is computed, once; none is an argument or a scalar.
      pulled_back: what `transposed` found, by the types of cotangents.
      usual: of that, the steps for one array or number that give no zero, after its Python type, shape and dtype.
    """

    __slots__ = (
        "count", "is_plain", "is_single", "linear", "numbers", "out_avals", "primal", "program", "pulled_back", "usual",
    )  # fmt: skip

    def __init__(self, primal: ClosedJaxpr, program: ClosedJaxpr, count: int, nonzeros: Sequence[bool]) -> None:
        self.primal = Recipe(primal, numpy_function)
        self.program = program
        self.linear = Recipe(program)
        self.count = count
        self.out_avals = self.primal.out_avals
        self.numbers = _numbers(nonzeros, 0)
        self.is_single = self.numbers == (0,)
        results = self.linear.results
        known = len(program.in_avals) + len(self.linear.literals)
        self.is_plain = len(set(results)) == len(results) and all(number >= known for number in results)
        self.pulled_back: dict[tuple[ShapedArray | None, ...], NonzeroRecipe | None] = {}
        self.usual: tuple[type, tuple[int, ...], np.dtype[Any], Recipe] | None = None

    def transposed(self, cts: tuple[ShapedArray | None, ...]) -> NonzeroRecipe | None:
        """Returns the linear part backwards: from the residuals and then the cotangents to those of its tangents.

        Args:
          cts: the types of the cotangents of what ``linear`` gives; None for a zero.

        Returns:
          None where a transpose rule looks at values.
        """
        if cts not in self.pulled_back:
            found = self.pulled_back[cts] = derived_or_none(lambda: self._transpose(cts))
            if found is not None and found.all_nonzero and len(cts) == 1:
                self._note_usual(cts[0], found.steps)
        return self.pulled_back[cts]

    def _note_usual(self, aval: ShapedArray | None, steps: Recipe) -> None:
        """Notes the steps for a cotangent of a type, where a value's Python type, shape and dtype tell that type."""
        if aval is _NUMBER:
            self.usual = float, aval.shape, aval.dtype, steps
        elif aval is not None and not aval.weak_type:
            self.usual = np.ndarray if aval.shape else aval.dtype.type, aval.shape, aval.dtype, steps

    def _transpose(self, cts: Sequence[ShapedArray | None]) -> NonzeroRecipe | None:
        from lawful.autodiff._transpose import backward_pass

        jaxpr = self.program.jaxpr
        count = len(self.primal.results) - self.count
        opened = Jaxpr(jaxpr.invars[:count], jaxpr.invars[count:], jaxpr.eqns, jaxpr.outvars)

        def pull_back(*args: Any) -> tuple[list[Any], Sequence[Any]]:
            given = iter(args[count:])
            return [], backward_pass(
                ClosedJaxpr(opened, args[:count]), [None if aval is None else next(given) for aval in cts]
            )

        residuals = [var.aval for var in opened.constvars]
        return _traced(pull_back, [*residuals, *[aval for aval in cts if aval is not None]])


def linear_recipe(
    primitive: Primitive, avals: Avals, tangents: TangentAvals, params: dict[str, Any]
) -> LinearRecipe | None:
    """Returns a primitive linearized at some types; None if its jvp rule does not follow from them.

    Args:
      primitive: an operation.
      avals: the types of its arguments.
      tangents: the types of their tangents; None for those that are zero.
      params: its parameters.

    Law: following it gives what the jvp rule gives, and none of the primal work is in its linear part.
    """
    known = _known(primitive, "jvp", params) if params else ()
    key = ("linearize", known, current.trace.axis_env, avals, tangents)
    return remembered(primitive, key, _linearize_rule, avals, tangents, params)


def _linearize_rule(
    primitive: Primitive, avals: Avals, tangents: TangentAvals, params: dict[str, Any]
) -> LinearRecipe | None:
    if not _follows_from_types(primitive, "jvp"):
        return None
    outer = JaxprTrace(current.trace, "linearize")
    with new_trace(outer):
        linear = PartialTrace(outer, "the linear part of linearize")
        primals = [outer.new_input(aval) for aval in avals]
        all_tangents: list[Any] = [
            Zero(aval.to_tangent_aval()) if tangent is None else linear.new_input(tangent)
            for aval, tangent in zip(avals, tangents, strict=True)
        ]
        with new_trace(linear):
            outs, found = run_jvp_rule(primitive, primals, all_tangents, params)
        given = [t for t in all_tangents if type(t) is not Zero]
        program = linear.to_jaxpr(given, [t for t in found if type(t) is not Zero])
        program, residuals = consts_as_inputs(dce_jaxpr(program, (True,) * len(program.out_avals)))
        primal = outer.to_jaxpr(primals, [*outs, *residuals])
    primal = dce_jaxpr(primal, (True,) * len(primal.out_avals))
    if not (_is_recipe(primal) and _is_recipe(program)):
        return None
    return LinearRecipe(primal, program, len(outs), [type(t) is not Zero for t in found])


def linearized_recipe(recipe: Recipe, tangents: TangentAvals) -> tuple[TangentAvals, LinearRecipe] | None:
    """Derives what `linear_recipe` gives, of a whole recipe, with the types that tangents must have for it.

    Args:
      recipe: for arguments of some types.
      tangents: the types of their tangents, which may be strong where they are weak; None for those that are zero.

    Returns:
      None if a rule within the recipe does not follow from types.
    """
    from lawful.autodiff._linearize import linearize_jaxpr

    primal, program, nonzeros_out = linearize_jaxpr(recipe.closed, tuple([t is not None for t in tangents]))
    primal = cse_jaxpr(primal)  # what is computed of a value and of its derivative is often the same
    if not (_is_recipe(primal) and _is_recipe(program)):
        return None
    return _exact_tangents(recipe, tangents), LinearRecipe(primal, program, len(recipe.results), nonzeros_out)


def _exact_tangents(recipe: Recipe, tangents: TangentAvals) -> TangentAvals:
    """Returns the types that tangents of a recipe's arguments must have."""
    avals = recipe.closed.in_avals
    return tuple([None if t is None else aval.to_tangent_aval() for aval, t in zip(avals, tangents, strict=True)])


def jvp_recipe(
    primitive: Primitive, avals: Avals, tangents: TangentAvals, params: dict[str, Any]
) -> NonzeroRecipe | None:
    """Returns what a jvp rule does, from the primals and then the tangents that are given; None as `linear_recipe`."""
    known = _known(primitive, "jvp", params) if params else ()
    key = ("jvp", known, current.trace.axis_env, avals, tangents)
    return remembered(primitive, key, _trace_jvp, avals, tangents, params)


def _trace_jvp(
    primitive: Primitive, avals: Avals, tangents: TangentAvals, params: dict[str, Any]
) -> NonzeroRecipe | None:
    if not _follows_from_types(primitive, "jvp"):
        return None

    def rule(*args: Any) -> tuple[Sequence[Any], Sequence[Any]]:
        given = iter(args[len(avals) :])
        all_tangents = [
            Zero(aval.to_tangent_aval()) if tangent is None else next(given)
            for aval, tangent in zip(avals, tangents, strict=True)
        ]
        return run_jvp_rule(primitive, args[: len(avals)], all_tangents, params)

    return _traced(rule, [*avals, *[tangent for tangent in tangents if tangent is not None]])


def jvp_of_recipe(recipe: Recipe, tangents: TangentAvals) -> tuple[TangentAvals, NonzeroRecipe] | None:
    """Derives what `jvp_recipe` gives, of a whole recipe, as `linearized_recipe` does."""
    from lawful.autodiff._jvp import jvp_jaxpr

    closed, nonzeros_out = jvp_jaxpr(recipe.closed, tuple([t is not None for t in tangents]), False)
    closed = cse_jaxpr(closed)
    if not _is_recipe(closed):
        return None
    return _exact_tangents(recipe, tangents), NonzeroRecipe(closed, len(recipe.results), nonzeros_out)


def transpose_recipe(
    primitive: Primitive, avals: Avals, linear: Mask, cts: Avals, nonzeros: Mask, params: dict[str, Any]
) -> NonzeroRecipe | None:
    """Returns what a transpose rule does, from the other arguments and then the cotangents that are not zero.

    Args:
      primitive: an operation.
      avals: the types of its arguments.
      linear: which of these it is transposed by.
      cts: the types of the cotangents of its results.
      nonzeros: which of these are given; the others are zero.
      params: its parameters.
    """
    known = _known(primitive, "transpose", params) if params else ()
    key = ("transpose", known, current.trace.axis_env, avals, linear, cts, nonzeros)
    return remembered(primitive, key, _trace_transpose, avals, linear, cts, nonzeros, params)


def _trace_transpose(
    primitive: Primitive, avals: Avals, linear: Mask, cts: Avals, nonzeros: Mask, params: dict[str, Any]
) -> NonzeroRecipe | None:
    if not _follows_from_types(primitive, "transpose"):
        return None

    def rule(*args: Any) -> tuple[Sequence[Any], Sequence[Any]]:
        rest = iter(args)
        operands = [UndefinedPrimal(aval) if lin else next(rest) for aval, lin in zip(avals, linear, strict=True)]
        given = [next(rest) if nonzero else Zero(aval) for aval, nonzero in zip(cts, nonzeros, strict=True)]
        found = primitive.rule("transpose")(given if primitive.multiple_results else given[0], *operands, **params)
        return [], _marked(found, linear)

    return _traced(rule, [*_marked(avals, [not lin for lin in linear]), *_marked(cts, nonzeros)])


def _known(primitive: Primitive, slot: str, params: dict[str, Any]) -> Any:
    """Returns the parameters that a recipe of a rule depends on, as a key. Of a call, which has none, it holds none."""
    return exact_params_key(params) if _follows_from_types(primitive, slot) else ()


def _follows_from_types(primitive: Primitive, slot: str) -> bool:
    """Whether what a rule does may follow from types: it is pure, and not that of a call, which runs a program."""
    rules = primitive.rules
    return (
        slot in rules
        and "abstract_eval" in rules
        and primitive.pure_rules
        and not primitive.effectful
        and not ("linearize" in rules or "partial_eval" in rules or "stage" in rules)
    )


def run_jvp_rule(
    primitive: Primitive, primals: Sequence[Any], tangents: Sequence[Any], params: dict[str, Any]
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Returns the lists of outputs and of their tangents that the jvp rule gives."""
    result = primitive.rule("jvp")(primals, tangents, **params)
    out, tangent = pair_of_rule(primitive, "jvp", "(out, tangent)", result)
    return (out, tangent) if primitive.multiple_results else ([out], [tangent])


def _traced(
    rule: Callable[..., tuple[Sequence[Any], Sequence[Any]]], avals: Sequence[ShapedArray]
) -> NonzeroRecipe | None:
    trace = JaxprTrace(current.trace, "rule")
    with new_trace(trace):
        inputs = [trace.new_input(aval) for aval in avals]
        outs, found = rule(*inputs)
        nonzeros = [t is not None and type(t) is not Zero for t in found]
        closed = trace.to_jaxpr(inputs, [*outs, *_marked(found, nonzeros)])
    closed = dce_jaxpr(closed, (True,) * len(closed.out_avals))
    return NonzeroRecipe(closed, len(outs), nonzeros) if _is_recipe(closed) else None


def _marked(items: Sequence[Any], mask: Sequence[bool]) -> list[Any]:
    return [item for item, marked in zip(items, mask, strict=True) if marked]


def _numbers(nonzeros: Sequence[bool], start: int) -> tuple[int | None, ...]:
    """Returns for each value its number among those that are not zero, from ``start``."""
    return tuple([start + sum(nonzeros[:i]) if nonzero else None for i, nonzero in enumerate(nonzeros)])


def _is_recipe(closed: ClosedJaxpr) -> bool:
    return not closed.consts and not has_effects(closed)
