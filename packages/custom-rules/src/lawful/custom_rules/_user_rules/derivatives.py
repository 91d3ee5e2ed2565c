"""Rules of derivatives as users write them, of pytrees, made rules of flat lists; what they give is checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

from lawful import tree
from lawful.autodiff import as_tangent_of, instantiated
from lawful.core import (
    ArgumentTypeError,
    ShapedArray,
    Tracer,
    TreeStructureError,
    UndefinedPrimal,
    Zero,
    float0,
    get_aval,
    is_array,
    record,
    shorten,
)
from lawful.custom_rules._call.site import CallSite, describe_result, tree_difference
from lawful.custom_rules._user_rules.pullback import pushed_forward
from lawful.ops import convert_element_type
from lawful.staging import flatten_outputs, function_name, require_usable

Rule = Callable[..., Any]
Pairs = tuple[list[Any], list[Any]]


#: What a rule with ``symbolic_zeros=True`` meets, by its name in JAX.
SymbolicZero = Zero


@record
class CustomVJPPrimal:
    """What ``fwd`` is given with ``symbolic_zeros=True`` in the place of each leaf of an argument.

    Attributes:
      value: the leaf.
      perturbed: whether it is being differentiated by.

    Source: ``jax.custom_derivatives.CustomVJPPrimal``.
    """

    value: Any
    perturbed: bool


def jvp_by(rule: Rule, site: CallSite, symbolic_zeros: bool) -> Callable[[Sequence[Any], Sequence[Any]], Pairs]:
    """Returns a user's rule of forward mode as one of flat lists.

    Args:
      rule: ``rule(*nondiff, primals, tangents)`` gives ``(out, tangent_out)``.
      site: the call of the function.
      symbolic_zeros: whether it takes tangents that are a ``Zero``.
    """
    what = f"the jvp rule {function_name(rule)}"
    label = f"{site.function.label}, {what}"

    def derivative(primals: Sequence[Any], tangents: Sequence[Any]) -> Pairs:
        given = list(tangents[site.extra :])
        if not symbolic_zeros:
            given = [as_tangent_of(x, t) for x, t in zip(primals[site.extra :], given, strict=True)]
        directions = tree.unflatten(site.in_tree, given)
        pair = site.calling(
            lambda nondiff, leaves: rule(*nondiff, tree.unflatten(site.in_tree, leaves), directions), primals
        )
        out, tangent_out = _pair(label, "(out, tangent_out)", pair)
        outs = site.settle(what, out)
        expected = [get_aval(x).to_tangent_aval() for x in outs]
        return outs, _checked(label, "a tangent", "tangent_out", site.out_tree, expected, tangent_out)

    return derivative


def vjp_by(
    fwd: Rule, bwd: Rule, site: CallSite, symbolic_zeros: bool
) -> Callable[[Sequence[Any], Sequence[Any]], Pairs]:
    """Returns a user's rules of reverse mode as a derivative of flat lists, whose transpose is ``bwd``.

    Args:
      fwd: ``fwd(*args)`` gives ``(out, residuals)``.
      bwd: ``bwd(*nondiff, residuals, ct)`` gives a tuple, one cotangent for each argument.
      site: the call of the function.
      symbolic_zeros: whether ``fwd`` takes ``CustomVJPPrimal`` in the place of each leaf, and ``bwd`` cotangents that
        are a ``Zero``.
    """
    what = f"fwd {function_name(fwd)}"
    label = f"{site.function.label}, {what}"
    extra = site.extra

    def derivative(primals: Sequence[Any], tangents: Sequence[Any]) -> Pairs:
        given = [type(t) is not Zero for t in tangents[extra:]]
        leaves = primals[extra:]
        if symbolic_zeros:
            leaves = [CustomVJPPrimal(x, is_given) for x, is_given in zip(leaves, given, strict=True)]
        pair = site.calling(lambda nondiff, xs: fwd(*site.arguments(nondiff, xs)), [*primals[:extra], *leaves])
        out, residuals = _pair(label, "(out, residuals)", pair)
        outs = site.settle(what, out)
        kept, residual_tree = flatten_outputs(f"{label}, residuals", residuals)
        avals = [get_aval(x).to_tangent_aval() for x in primals[extra:]]
        places = [i for i, is_given in enumerate(given) if is_given]

        def pull(values: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
            found = _cotangents(bwd, site, symbolic_zeros, residual_tree, avals, values, cts)
            return [found[i] for i in places]

        tangents_out = pushed_forward(
            site.function.label, site.function.name, (site, residual_tree, tuple(given)), pull,
            [*primals[:extra], *kept], [tangents[extra + i] for i in places], outs,
        )  # fmt: skip
        return outs, tangents_out

    return derivative


def _cotangents(
    bwd: Rule, site: CallSite, symbolic_zeros: bool, residual_tree: Any, avals: Sequence[ShapedArray],
    values: Sequence[Any], cts: Sequence[Any],
) -> list[Any]:  # fmt: skip
    """Returns what ``bwd`` gives for the leaves of the arguments that are differentiated."""
    label = f"{site.function.label}, bwd {function_name(bwd)}"
    residuals = tree.unflatten(residual_tree, values[site.extra :])
    ct = tree.unflatten(site.out_tree, cts if symbolic_zeros else [*map(instantiated, cts)])
    result = site.calling(lambda nondiff, _: bwd(*nondiff, residuals, ct), values[: site.extra])
    parts = _one_each(label, "argument that is differentiated", len(site.differentiated), result)
    return _checked(label, "a cotangent", "result", site.in_tree, avals, parts, none_is_zero=True)


def transpose_by(rule: Rule, site: CallSite) -> Callable[[Sequence[Any], Sequence[Any]], list[Any]]:
    """Returns a user's rule of transposition as one of flat lists.

    Args:
      rule: ``rule(ct, *args)`` gives a tuple, one cotangent for each argument; None for those that it is not linear in.
      site: the call of the function.
    """
    label = f"{site.function.label}, the transpose rule {function_name(rule)}"

    def transposed(cts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
        ct = tree.unflatten(site.out_tree, [*map(instantiated, cts)])
        result = site.calling(lambda nondiff, leaves: rule(ct, *site.arguments(nondiff, leaves)), args)
        parts = _one_each(label, "argument", site.arity, result)
        chosen = tuple([parts[i] for i in site.differentiated])
        avals = [x.aval if type(x) is UndefinedPrimal else get_aval(x).to_tangent_aval() for x in args[site.extra :]]
        found = _checked(label, "a cotangent", "result", site.in_tree, avals, chosen, none_is_zero=True)
        return [
            found[i - site.extra] if i >= site.extra and type(x) is UndefinedPrimal else None
            for i, x in enumerate(args)
        ]

    return transposed


def _one_each(label: str, of_what: str, count: int, result: Any) -> tuple[Any, ...]:
    if isinstance(result, tuple | list) and len(result) == count:
        return tuple(result)
    raise ArgumentTypeError(
        f"{label}: expected a tuple of {count} cotangent{'s' * (count != 1)}, one for each {of_what}, got "
        f"{describe_result(result)}; return (ct,) for one argument, and None in the place of zeros"
    )


def _pair(label: str, parts: str, pair: Any) -> tuple[Any, Any]:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise ArgumentTypeError(f"{label}: expected a pair {parts}, got {describe_result(pair)}; return both")
    first, second = pair
    return first, second


def _is_none(x: Any) -> bool:
    return x is None


def _checked(
    label: str, what: str, name: str, treedef: Any, avals: Sequence[ShapedArray], value: Any, *,
    none_is_zero: bool = False,
) -> list[Any]:  # fmt: skip
    """Returns the leaves of a tree of tangents or cotangents, of exactly the types that they must have.

    Args:
      label: the rule, for messages.
      what: what a leaf is.
      name: what the tree is called.
      treedef: its structure.
      avals: the types of its leaves; float0 where there is no derivative, which gives a symbolic zero.
      value: the tree.
      none_is_zero: whether None stands for a tree of zeros, and anything may stand where there is no derivative.
    """
    leaves, have = tree.flatten(value)
    if have != treedef and none_is_zero:
        leaves, have = _with_zeros(treedef, value, avals)
    if have != treedef:
        raise ArgumentTypeError(
            f"{label}: expected {name} of the tree {treedef}, got {tree.structure(value)} "
            f"({tree_difference(treedef, value)}); build it with lawful.tree.map"
        )

    def fail(place: int, got: str) -> NoReturn:
        path = tree.leaves_with_path(tree.unflatten(treedef, leaves))[place][0]
        expected = avals[place]
        if expected.dtype == float0:
            advice = f"integers have no other; return numpy.zeros({expected.shape}, lawful.core.float0)"
        else:
            advice = "its shape and dtype must be those of the value that it belongs to"
        raise ArgumentTypeError(
            f"{label}: expected {what} of type {expected} at {name}{tree.keystr(path)}, got {got}; {advice}"
        )

    return [
        _leaf(aval, x, none_is_zero, partial(fail, place))
        for place, (aval, x) in enumerate(zip(avals, leaves, strict=True))
    ]


def _with_zeros(treedef: Any, value: Any, avals: Sequence[ShapedArray]) -> tuple[list[Any], Any]:
    """Returns the leaves of a tree in which None stands for a tree of zeros, and its structure."""
    zeros = tree.unflatten(treedef, [Zero(aval) for aval in avals])
    try:
        full = tree.map(lambda x, zero: zero if x is None else x, value, zeros, is_leaf=_is_none)
    except TreeStructureError:
        return [], None
    return tree.flatten(full)


def _leaf(expected: ShapedArray, x: Any, is_cotangent: bool, fail: Callable[[str], NoReturn]) -> Any:
    if type(x) is Zero:
        if (x.aval.shape, x.aval.dtype) != (expected.shape, expected.dtype):
            fail(str(x.aval))
        return Zero(expected)
    if expected.dtype == float0:
        if not is_cotangent and getattr(x, "dtype", None) != float0:
            fail(str(getattr(x, "dtype", type(x).__name__)))
        return Zero(expected)
    if not is_array(x):
        fail(f"{shorten(x)} of type {type(x).__name__}")
    if isinstance(x, Tracer):
        require_usable(x)
    got = get_aval(x)
    if got.weak_type and got.shape == expected.shape and (got.dtype.kind != "c" or expected.dtype.kind == "c"):
        return x if got.dtype == expected.dtype else convert_element_type(x, expected.dtype)
    if (got.shape, got.dtype) != (expected.shape, expected.dtype):
        fail(str(got))
    return x
