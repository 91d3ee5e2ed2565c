"""The law of rerolling: an unrolled loop and the scan made from it have the same meaning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, Final

import numpy as np

from lawful import tree
from lawful.autodiff import jvp, vjp
from lawful.control_flow import reroll
from lawful.core import ClosedJaxpr, alpha_equivalent, check_jaxpr, eval_closed_jaxpr, float0, get_aval, has_effects
from lawful.laws._composition.loop_bodies import first_carry, loop_body, stacked
from lawful.laws._derivatives.directions import tangents_of
from lawful.laws._law.law import Claim, Claims, Fault, Trial, law
from lawful.laws._staging.cost import equation_count
from lawful.laws._staging.passes import require_idempotent
from lawful.staging import consts_as_inputs, make_jaxpr

_ITERATIONS: Final = 4
#: The slices of the loop: rows of an array in either order, literals, or separate arguments.
_KINDS: Final = ("rows", "rows backwards", "literals", "arguments")


@law("loops", needs=("jaxprs", "scan"), share=1 / 16)
def law_rerolling(trial: Trial) -> Claims:
    """A loop of Python, and its pullback, mean the same once their repeated equations are a scan.

    The scan has as many iterations as the loop, up to the first and the last, which may be special. Effects are not
    repeated otherwise than before: a program that has some is only held to its results. So is one that is another each
    time it is traced: the rules of its calls differ.

    Equation: eval(reroll(j))(x) = eval(j)(x), with its jvp and vjp, and reroll(reroll(j)) = reroll(j), for j the jaxpr
    of c, y₀ = f(c, x₀), c, y₁ = f(c, x₁), … ↦ c, [y₀, y₁, …], and that of its pullback

    Raises:
      LawViolation: it does not hold.
      Inapplicable: the function has no floating argument or result.

    >>> from lawful import ops
    >>> from lawful.laws import Case, quick
    >>> from lawful.laws.systems import lawful
    >>> law_rerolling(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5), effort=quick)
    """
    for kind, pulled in trial.some(product(_KINDS, (False, True))):
        function, args = _unrolled(trial, kind)
        said = f"a loop over {kind}"
        if pulled:
            said, (function, args) = f"the pullback of {said}", _pullback(trial, function, args)
        closed = make_jaxpr(function)(*args)
        rolled = reroll(closed, min_trip_count=_ITERATIONS - 2)
        check_jaxpr(rolled)
        leaves = tree.leaves(args)
        expected = eval_closed_jaxpr(closed, *leaves)
        yield Claim(f"{said}, rolled", eval_closed_jaxpr(rolled, *leaves), "unrolled", expected, weakness=True)
        yield from require_idempotent("reroll", reroll(rolled, min_trip_count=_ITERATIONS - 2), rolled)
        # A rule that calls a function with rules which it makes itself makes others in each iteration.
        if (found := _not_rolled(said, closed, rolled)) and alpha_equivalent(closed, make_jaxpr(function)(*args)):
            yield found
        if not pulled:
            yield from _same_derivatives(trial, said, closed, rolled, leaves)


def _unrolled(trial: Trial, kind: str) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Returns a Python loop whose iterations have the same equations, and its arguments.

    It carries two Python numbers: one stays a number, the other is an array after the first iteration.
    """
    body, parts = loop_body(trial)
    first = first_carry(parts)
    slices = np.linspace(-0.03, 0.02, _ITERATIONS)
    closed_body, consts = consts_as_inputs(make_jaxpr(body)(np.float64(1.0), first, slices[0]))
    count = len(first)

    def loop(factor: Any, number: Any, parts: Sequence[Any], xs: Any) -> tuple[Any, Any, Any, Any]:
        carry, rows, array = first_carry(parts), [], number
        for i in range(_ITERATIONS):
            number = number * 0.5 + 1.0
            array = np.sin(array * 0.5) * factor
            x = slices[i] if kind == "literals" else xs[-1 - i if kind == "rows backwards" else i]
            outs = eval_closed_jaxpr(closed_body, *consts, factor, *carry, x)
            carry = outs[:count]
            rows.append(outs[count:])
        return number, array, carry, [stacked(trial, results) for results in zip(*rows, strict=True)]

    return loop, (np.float64(1.0), 0.25, parts, list(slices) if kind == "arguments" else slices)


def _pullback(
    trial: Trial, function: Callable[..., Any], args: tuple[Any, ...]
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Returns the pullback of a function, as a function of cotangents and primals."""
    cotangents = tangents_of(trial, function(*args))

    def pulled(cotangents: Any, *args: Any) -> Any:
        return [x for x in tree.leaves(vjp(function, *args)[1](cotangents)) if get_aval(x).dtype != float0]

    return pulled, (cotangents, *args)


def _not_rolled(said: str, closed: ClosedJaxpr, rolled: ClosedJaxpr) -> Fault | None:
    if has_effects(closed):
        return None
    lengths = [eqn.params["length"] for eqn in rolled.eqns if eqn.primitive.name == "scan"]
    if max(lengths, default=0) < _ITERATIONS - 2:
        return Fault(
            f"{said} of {_ITERATIONS} iterations is not rolled: its scans have {lengths} iterations", str(rolled)
        )
    before, after = equation_count(closed.jaxpr), equation_count(rolled.jaxpr)
    if after >= before:
        return Fault(f"{said} has {before} equations, and {after} once it is rolled", str(rolled))
    return None


def _same_derivatives(
    trial: Trial, said: str, closed: ClosedJaxpr, rolled: ClosedJaxpr, leaves: Sequence[Any]
) -> Claims:
    def function(program: ClosedJaxpr) -> Callable[..., Any]:
        return lambda *xs: eval_closed_jaxpr(program, *xs)

    which = trial.some(("jvp", "vjp"))
    if "jvp" in which:
        v = tangents_of(trial, list(leaves))
        found, expected = (jvp(function(program), tuple(leaves), tuple(v))[1] for program in (rolled, closed))
        yield Claim(f"jvp of {said}, rolled", found, "unrolled", expected)
    if "vjp" in which:
        out, pull = vjp(function(closed), *leaves)
        w = tangents_of(trial, out)
        yield Claim(f"vjp of {said}, rolled", vjp(function(rolled), *leaves)[1](w), "unrolled", pull(w))
