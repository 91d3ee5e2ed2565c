"""Users' rules of forward mode, reverse mode and transposition, as rules on flat lists of operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful import tree
from lawful.autodiff import as_tangent_of, instantiated
from lawful.core import ShapedArray, UndefinedPrimal, Zero, get_aval, record
from lawful.custom_rules._call.rules import Derivative, Transpose
from lawful.custom_rules._call.site import CallSite
from lawful.custom_rules._user_rules.checks import checked_leaves, one_cotangent_each, pair_of
from lawful.custom_rules._user_rules.pullback import push_forward
from lawful.staging import flatten_outputs, function_name

Rule = Callable[..., Any]
Pairs = tuple[list[Any], list[Any]]


#: The zeros that a rule with ``symbolic_zeros=True`` gets, by their name in JAX.
SymbolicZero = Zero


@record
class CustomVJPPrimal:
    """The argument of ``fwd`` for each leaf of an argument, with ``symbolic_zeros=True``.

    Attributes:
      value: the leaf.
      perturbed: whether it is being differentiated by.

    >>> CustomVJPPrimal(2.0, perturbed=True)
    CustomVJPPrimal(value=2.0, perturbed=True)

    Source: ``jax.custom_derivatives.CustomVJPPrimal``.
    """

    value: Any
    perturbed: bool


def jvp_by(rule: Rule, site: CallSite, symbolic_zeros: bool) -> Derivative:
    """Returns a user's rule of forward mode as a rule on flat lists.

    Args:
      rule: ``rule(*nondiff, primals, tangents)`` returns ``(out, tangent_out)``.
      site: the call of the function.
      symbolic_zeros: whether the rule takes tangents that are a ``Zero``.
    """
    origin = f"the jvp rule {function_name(rule)}"
    label = f"{site.function.label}, {origin}"

    def derivative(primals: Sequence[Any], tangents: Sequence[Any]) -> Pairs:
        given = list(tangents[site.extra :])
        if not symbolic_zeros:
            given = [as_tangent_of(x, t) for x, t in zip(primals[site.extra :], given, strict=True)]
        directions = tree.unflatten(site.in_tree, given)
        pair = site.apply(
            lambda nondiff, leaves: rule(*nondiff, tree.unflatten(site.in_tree, leaves), directions), primals
        )
        out, tangent_out = pair_of(label, "(out, tangent_out)", pair)
        outs = site.flat_result(origin, out)
        expected = [get_aval(x).to_tangent_aval() for x in outs]
        return outs, checked_leaves(label, "a tangent", "tangent_out", site.out_tree, expected, tangent_out)

    return derivative


def vjp_by(fwd: Rule, bwd: Rule, site: CallSite, symbolic_zeros: bool) -> Derivative:
    """Returns a user's rules of reverse mode as a derivative on flat lists, whose transpose is ``bwd``.

    Args:
      fwd: ``fwd(*args)`` returns ``(out, residuals)``.
      bwd: ``bwd(*nondiff, residuals, ct)`` returns a tuple, one cotangent for each differentiated argument.
      site: the call of the function.
      symbolic_zeros: whether ``fwd`` takes a ``CustomVJPPrimal`` in place of each leaf, and ``bwd`` cotangents that are
        a ``Zero``.
    """
    origin = f"fwd {function_name(fwd)}"
    label = f"{site.function.label}, {origin}"
    extra = site.extra

    def derivative(primals: Sequence[Any], tangents: Sequence[Any]) -> Pairs:
        given = [type(t) is not Zero for t in tangents[extra:]]
        leaves = primals[extra:]
        if symbolic_zeros:
            leaves = [CustomVJPPrimal(x, is_given) for x, is_given in zip(leaves, given, strict=True)]
        pair = site.apply(lambda nondiff, xs: fwd(*site.arguments(nondiff, xs)), [*primals[:extra], *leaves])
        out, residuals = pair_of(label, "(out, residuals)", pair)
        outs = site.flat_result(origin, out)
        residual_leaves, residual_tree = flatten_outputs(f"{label}, residuals", residuals)
        avals = [get_aval(x).to_tangent_aval() for x in primals[extra:]]
        positions = [i for i, is_given in enumerate(given) if is_given]

        def pullback(values: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
            found = _cotangents(bwd, site, symbolic_zeros, residual_tree, avals, values, cts)
            return [found[i] for i in positions]

        tangents_out = push_forward(
            site.function.label, site.function.name, (site, residual_tree, tuple(given)), pullback,
            [*primals[:extra], *residual_leaves], [tangents[extra + i] for i in positions], outs,
        )  # fmt: skip
        return outs, tangents_out

    return derivative


def _cotangents(
    bwd: Rule, site: CallSite, symbolic_zeros: bool, residual_tree: Any, avals: Sequence[ShapedArray],
    values: Sequence[Any], cts: Sequence[Any],
) -> list[Any]:  # fmt: skip
    """Returns the cotangents of the leaves of the differentiated arguments, by ``bwd``."""
    label = f"{site.function.label}, bwd {function_name(bwd)}"
    residuals = tree.unflatten(residual_tree, values[site.extra :])
    given, of_number = as_scalars(cts, bwd)
    ct = tree.unflatten(site.out_tree, given if symbolic_zeros else [*map(instantiated, given)])
    result = site.apply(lambda nondiff, _: bwd(*nondiff, residuals, ct), values[: site.extra])
    parts = one_cotangent_each(label, "argument that is differentiated", len(site.differentiated), result)
    return checked_leaves(
        label, "a cotangent", "result", site.in_tree, avals, parts, none_is_zero=True, of_number=of_number
    )


def takes_numbers(rule: Rule) -> Rule:
    """Notes that a reverse rule takes the cotangents of Python numbers as such numbers, and returns the rule.

    >>> as_scalars([2.0], takes_numbers(lambda residuals, ct: (ct,)))
    ([2.0], True)
    """
    vars(rule)["_takes_numbers"] = True
    return rule


def as_scalars(cts: Sequence[Any], rule: Rule) -> tuple[list[Any], bool]:
    """Returns cotangents with Python numbers as NumPy's scalars, and whether there is such a number.

    A rule divides by zero and reads shapes and dtypes as it does where the cotangent is traced.

    >>> as_scalars([2.0, np.float32(1.0)], lambda residuals, ct: (ct,))
    ([np.float64(2.0), np.float32(1.0)], True)
    """
    of_number = not _SCALARS.keys().isdisjoint(map(type, cts))
    if not of_number or getattr(rule, "_takes_numbers", False):
        return [*cts], of_number
    return [_SCALARS.get(type(x), _itself)(x) for x in cts], of_number


_SCALARS: dict[type, Callable[[Any], Any]] = {float: np.float64, complex: np.complex128}


def _itself(x: Any) -> Any:
    return x


def transpose_by(rule: Rule, site: CallSite) -> Transpose:
    """Returns a user's transpose rule as a rule on flat lists.

    Args:
      rule: ``rule(ct, *args)`` returns a tuple, one cotangent for each argument; None for the arguments that the
        function is not linear in.
      site: the call of the function.
    """
    label = f"{site.function.label}, the transpose rule {function_name(rule)}"

    def transpose(cts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
        given, of_number = as_scalars(cts, rule)
        ct = tree.unflatten(site.out_tree, [*map(instantiated, given)])
        result = site.apply(lambda nondiff, leaves: rule(ct, *site.arguments(nondiff, leaves)), args)
        parts = one_cotangent_each(label, "argument", site.arity, result)
        chosen = tuple([parts[i] for i in site.differentiated])
        avals = [x.aval if type(x) is UndefinedPrimal else get_aval(x).to_tangent_aval() for x in args[site.extra :]]
        found = checked_leaves(
            label, "a cotangent", "result", site.in_tree, avals, chosen, none_is_zero=True, of_number=of_number
        )
        return [
            found[i - site.extra] if i >= site.extra and type(x) is UndefinedPrimal else None
            for i, x in enumerate(args)
        ]

    return transpose
