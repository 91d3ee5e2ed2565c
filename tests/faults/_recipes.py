"""Faults in what is remembered of the derivative rules of primitives, and in the tape that it is recorded on."""

from __future__ import annotations

from typing import Any

from lawful.autodiff import _derivative_recipes, _jvp, _linearize, _tape
from lawful.core import Primitive, Recipe, Trace, _deduplicateds, _memo
from lawful.ops import _promotion_recipe

from ._fault import Rule, local_fault, method_fault


def _found_first(right: Rule) -> Rule:
    """Remembers by the primitive and the types alone."""
    known: dict[Any, Any] = {}

    def found(primitive: Any, avals: Any, tangents: Any, params: Any) -> Any:
        key = (primitive, avals, len(tangents) - tangents.count(None), _derivative_recipes.exact_params_key(params))
        if key not in known:
            known[key] = right(primitive, avals, tangents, params)
        return known[key]

    return found


def _without_parameters(right: Rule) -> Rule:
    """Remembers by the names of the parameters."""
    return lambda params: tuple(params)


def _all_pure(right: Rule) -> Rule:
    def init(self: Any, *args: Any, **options: Any) -> None:
        right(self, *args, **{**options, "pure_rules": True})

    return init


def _first_pulled_back(right: Rule) -> Rule:
    def transposed(self: Any, cts: Any) -> Any:
        return next(iter(self.pulled_back.values())) if self.pulled_back else right(self, cts)

    return transposed


def _with_residuals_in_turn(right: Rule) -> Rule:
    def add(self: Any, recipe: Any, residuals: Any, inputs: Any, args: Any, source: Any) -> Any:
        avals = recipe.program.in_avals[: len(residuals)]
        return right(self, recipe, residuals[::-1] if avals == avals[::-1] else residuals, inputs, args, source)

    return add


def _first_result_twice(right: Rule) -> Rule:
    def follow(self: Any, recipe: Recipe, args: Any) -> Any:
        found = right(self, recipe, args)
        return [found[0] if aval == recipe.out_avals[0] else x for x, aval in zip(found, recipe.out_avals, strict=True)]

    return follow


recipe_faults = (
    local_fault(
        "a cached rule of low-precision arrays and a number is that of float64",
        "wrong dtype",
        _promotion_recipe,
        "is_inexact",
        lambda right: lambda dtype: dtype.kind in "fc",
        sources=("every dtype",),
    ),
    local_fault(
        "a body that is traced again may have other numbers",
        "stale cache",
        _deduplicateds,
        "_literal",
        lambda right: lambda literal: literal.aval,
    ),
    local_fault(
        "a body that is traced again may have other parameters",
        "stale cache",
        _deduplicateds,
        "_params",
        _without_parameters,
    ),
    local_fault(
        "a linearized rule is remembered whichever argument has a tangent",
        "stale cache",
        _linearize,
        "linear_recipe",
        _found_first,
    ),
    local_fault(
        "a jvp rule is remembered whichever argument has a tangent", "stale cache", _jvp, "jvp_recipe", _found_first
    ),
    local_fault(
        "a rule is remembered whatever its parameters are",
        "stale cache",
        _derivative_recipes,
        "exact_params_key",
        _without_parameters,
    ),
    local_fault(
        "a rule is remembered for parameters that are equal",
        "stale cache",
        _derivative_recipes,
        "exact_params_key",
        lambda right: lambda params: tuple(params.items()),
    ),
    method_fault("the rules of all primitives are taken for pure", "stale cache", Primitive, "__init__", _all_pure),
    local_fault(
        "a transformed jaxpr is kept that impure rules had a part in",
        "stale cache",
        _memo,
        "impure_rules",
        lambda right: lambda: 0,
    ),
    method_fault(
        "a pullback is remembered whichever cotangents are zero",
        "stale cache",
        _derivative_recipes.LinearRecipe,
        "transposed",
        _first_pulled_back,
    ),
    method_fault("residuals of a node are in turn", "operands swapped", _tape.Tape, "add", _with_residuals_in_turn),
    method_fault(
        "a trace follows a recipe and gives its first result for all",
        "wrong operand",
        Trace,
        "follow",
        _first_result_twice,
    ),
    method_fault(
        "a tape keeps the user's arrays themselves",
        "shared memory",
        _tape.Tape,
        "may_change",
        lambda right: lambda self, x: False,
    ),
)
