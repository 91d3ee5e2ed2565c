"""Laws of passes over jaxprs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from lawful import tree
from lawful.autodiff import vjp
from lawful.core import (
    Atom,
    ClosedJaxpr,
    Var,
    applies_effects,
    check_jaxpr,
    eval_closed_jaxpr,
    explain_difference,
    float0,
    get_aval,
    is_inexact,
)
from lawful.laws._derivatives.directions import tangents_of
from lawful.laws._law.law import Claim, Claims, Fault, Trial, law
from lawful.ops import mul
from lawful.staging import (
    cse_jaxpr,
    dce_jaxpr,
    inline_jaxpr,
    jit,
    kept,
    make_jaxpr,
    merge_lists,
    partial_eval_jaxpr,
    used_inputs,
)


def _masks(trial: Trial, count: int) -> list[tuple[bool, ...]]:
    return trial.some(product((True, False), repeat=count))


@law("passes", needs=("jaxprs",))
def law_passes(trial: Trial) -> Claims:
    """Passes over jaxprs and partial evaluation keep meaning and types, and doing them again changes nothing.

    They are held to the function, to two calls of it compiled, or to its pullback.

    Equation: eval(p(j))(x) = eval(j)(x) and p(p(j)) = p(j) for p among dead-code and common-subexpression elimination
    and inlining, and unknown(known(x₁), x₂) = eval(j)(x₁, x₂)

    Raises:
      LawViolation: it does not hold.

    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_passes(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5))
    """
    for function_of in trial.some((_itself, _calling_twice, _pulling_back)):
        yield from _passes(trial, make_jaxpr(function_of(trial))(*trial.args))


def _passes(trial: Trial, closed: ClosedJaxpr) -> Claims:
    leaves = tree.leaves(trial.args)
    expected = eval_closed_jaxpr(closed, *leaves)
    for name, rewritten in (("cse", cse_jaxpr), ("inlining", inline_jaxpr)):
        once = rewritten(closed)
        check_jaxpr(once)
        found = eval_closed_jaxpr(once, *leaves)
        yield Claim(name, found, "the jaxpr", expected, weakness=True)
        yield from require_idempotent(name, rewritten(once), once)
    for used in _masks(trial, len(expected)):
        yield from _dead_code(closed, leaves, expected, used)
    for unknown in _masks(trial, len(leaves)):
        yield from _partial(closed, leaves, expected, unknown)
        # Once more with another mask: the cached result of one mask must not be used for another.
        other = (not unknown[0], *unknown[1:]) if unknown else unknown
        yield from _partial(closed, leaves, expected, other)


def _itself(trial: Trial) -> Callable[..., Any]:
    return trial.function


def _calling_twice(trial: Trial) -> Callable[..., Any]:
    """Returns a function of two calls of the compiled function, with different arguments."""
    compiled = jit(trial.function, backend="numpy")

    def halved(x: Any) -> Any:
        aval = get_aval(x)
        return mul(x, 0.5) if is_inexact(aval.dtype) and not aval.weak_type else x

    return lambda *xs: (compiled(*xs), compiled(*tree.map(halved, xs)))


def _pulling_back(trial: Trial) -> Callable[..., Any]:
    """Returns the pullback at fixed cotangents, as a function of the primals."""
    cotangents = tangents_of(trial, trial.function(*trial.args))
    return lambda *xs: [x for x in tree.leaves(vjp(trial.function, *xs)[1](cotangents)) if get_aval(x).dtype != float0]


def _dead_code(closed: ClosedJaxpr, leaves: list[Any], expected: list[Any], used: tuple[bool, ...]) -> Claims:
    smaller = dce_jaxpr(closed, used)
    check_jaxpr(smaller)
    found = eval_closed_jaxpr(smaller, *leaves)
    yield Claim(f"dce, of outputs {used}", found, "the jaxpr", kept(expected, used), "nothing", weakness=True)
    yield from require_idempotent("dce", dce_jaxpr(smaller, (True,) * len(found)), smaller)
    fewer = dce_jaxpr(closed, used, keep_inputs=False)
    check_jaxpr(fewer)
    found = eval_closed_jaxpr(fewer, *kept(leaves, used_inputs(closed, used)))
    yield Claim("dce without unused inputs", found, "the jaxpr", kept(expected, used), "nothing", weakness=True)
    alive: set[Atom] = set()
    for eqn in reversed(smaller.eqns):
        used_later = any(var in alive or var in smaller.jaxpr.outvars for var in eqn.outvars)
        if not used_later and not applies_effects(eqn.primitive, eqn.params):
            yield Fault(f"dce keeps a dead equation: `{eqn}`", str(smaller))
        alive.update(var for var in eqn.invars)


def _partial(closed: ClosedJaxpr, leaves: list[Any], expected: list[Any], unknown: tuple[bool, ...]) -> Claims:
    split = partial_eval_jaxpr(closed, unknown)
    check_jaxpr(split.known)
    check_jaxpr(split.unknown)
    known_in = kept(leaves, [not is_unknown for is_unknown in unknown])
    known_out = eval_closed_jaxpr(split.known, *known_in)
    count = len(known_out) - split.residual_count
    unknown_out = eval_closed_jaxpr(split.unknown, *known_out[count:], *kept(leaves, unknown))
    found = merge_lists(split.unknown_out, known_out[:count], unknown_out)
    yield Claim(f"partial evaluation with unknown inputs {unknown}", found, "the jaxpr", expected, weakness=True)
    if not any(unknown) and any(split.unknown_out):
        yield Fault(f"partial evaluation of known inputs only leaves outputs unknown: {split.unknown_out}", str(closed))
    again = partial_eval_jaxpr(split.known, (False,) * len(known_in))
    yield from require_idempotent("partial evaluation of the known part", again.known, split.known)
    again = partial_eval_jaxpr(split.unknown, (True,) * len(split.unknown.in_avals))
    # An effect is known, too, once dead code has taken its unknown operands away: a scan of which the effect is left.
    if not again.residual_count and not again.known.eqns and all(again.unknown_out):
        yield from require_idempotent("partial evaluation of the unknown part", again.unknown, split.unknown)


def require_idempotent(what: str, again: ClosedJaxpr, once: ClosedJaxpr) -> Iterator[Fault]:
    difference = explain_difference(_ordered(again), _ordered(once))
    if difference is not None:
        yield Fault(f"{what} is not idempotent: {difference}", f"once:\n{once}\nagain:\n{again}")


def _ordered(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns a jaxpr with its constants in the order of first use, because their order has no meaning."""
    jaxpr = closed.jaxpr
    uses = [atom for eqn in jaxpr.eqns for atom in eqn.invars] + list(jaxpr.outvars)
    order = {atom: index for index, atom in reversed(list(enumerate(uses))) if type(atom) is Var}
    pairs = sorted(zip(jaxpr.constvars, closed.consts, strict=True), key=lambda pair: order.get(pair[0], len(uses)))
    return ClosedJaxpr(jaxpr.replace(constvars=[var for var, _ in pairs]), [const for _, const in pairs])
