"""Dead-code elimination: removes the equations, constants and inputs that nothing uses.

An equation with effects is live, and so are its operands, even if nothing uses its results.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_
from typing import Any

from lawful.core import (
    ArgumentValueError,
    Atom,
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    applies_effects,
    has_effects,
    map_jaxprs,
    memoize,
    require_closed,
)
from lawful.staging._liveness import live_equation


def dce_jaxpr(closed: ClosedJaxpr, used_outputs: Sequence[bool], *, keep_inputs: bool = True) -> ClosedJaxpr:
    """Returns a jaxpr that computes the used outputs only, and has all of its effects.

    Args:
      closed: the program.
      used_outputs: for each output, whether to keep it.
      keep_inputs: whether to keep inputs that become unused; ``used_inputs`` tells which they are.

    Raises:
      ArgumentTypeError: ``closed`` is no closed jaxpr.
      ArgumentValueError: there is not one used output for each output.

    Laws: it means the same; doing it twice is doing it once.

    >>> from lawful.staging import make_jaxpr
    >>> dce_jaxpr(make_jaxpr(lambda x: (x * x, x + 1.0))(3.0), [False, True])
    { lambda ; a:~f64[]. let b:~f64[] = add a 1.0:~f64[] in (b,) }

    Source: ``jax.interpreters.partial_eval.dce_jaxpr``.
    """
    require_closed("dce_jaxpr", closed)
    jaxpr = closed.jaxpr
    if len(used_outputs) != len(jaxpr.outvars):
        raise ArgumentValueError(
            f"dce_jaxpr: expected {len(jaxpr.outvars)} used_outputs, got {len(used_outputs)}; give one for each output"
        )
    outvars = [atom for atom, used in zip(jaxpr.outvars, used_outputs, strict=True) if used]
    live: set[Atom] = set(outvars)  # with literals, which no equation defines
    eqns: list[JaxprEqn] = []
    for eqn in reversed(jaxpr.eqns):
        needed = live_equation(eqn, live)
        if needed is not None:
            eqns.append(needed)
            live.update(needed.invars)
    eqns.reverse()
    consts: list[Any] = []
    constvars = []
    for var, const in zip(jaxpr.constvars, closed.consts, strict=True):
        if var in live:
            constvars.append(var)
            consts.append(const)
    invars = list(jaxpr.invars) if keep_inputs else [var for var in jaxpr.invars if var in live]
    if len(consts) + len(invars) + len(outvars) == len(closed.consts) + len(jaxpr.invars) + len(jaxpr.outvars) and (
        len(eqns) == len(jaxpr.eqns) and all(map(is_, eqns, jaxpr.eqns))
    ):
        return closed  # nothing was dead: keep the jaxpr, and with it its transformed jaxprs
    return ClosedJaxpr(Jaxpr(constvars, invars, eqns, outvars, name=jaxpr.name), consts)


def used_inputs(closed: ClosedJaxpr, used_outputs: Sequence[bool]) -> list[bool]:
    """Returns, for each input, whether the used outputs or an effect depend on it.

    >>> from lawful.staging import make_jaxpr
    >>> used_inputs(make_jaxpr(lambda x, y: (x * x, y + 1.0))(3.0, 4.0), [False, True])
    [False, True]
    """
    kept = dce_jaxpr(closed, used_outputs, keep_inputs=False).jaxpr.invars
    live = set(kept)
    return [var in live for var in closed.jaxpr.invars]


@memoize
def dce_call(closed: ClosedJaxpr, used_outputs: tuple[bool, ...]) -> tuple[ClosedJaxpr, tuple[bool, ...]]:
    """Returns a jaxpr with the used outputs and the inputs that they need, and which inputs these are.

    Calls of one jaxpr that use the same outputs call one jaxpr afterwards too.

    >>> from lawful.staging import make_jaxpr
    >>> dce_call(make_jaxpr(lambda x, y: (x * x, y + 1.0))(3.0, 4.0), (False, True))
    ({ lambda ; a:~f64[]. let b:~f64[] = add a 1.0:~f64[] in (b,) }, (False, True))
    """
    used = used_inputs(closed, used_outputs)
    return dce_jaxpr(closed, used_outputs, keep_inputs=False), tuple(used)


@memoize
def without_effects(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns a jaxpr without the equations that have effects and no results, also in its sub-jaxprs.

    A program that recomputes values must not repeat the effects.

    >>> from lawful import debug
    >>> from lawful.staging import make_jaxpr
    >>> without_effects(make_jaxpr(lambda x: (debug.print("{}", x), x * x)[1])(3.0))
    { lambda ; a:~f64[]. let b:~f64[] = mul a a in (b,) }
    """
    if not has_effects(closed):
        return closed
    eqns = [
        eqn.replace(params=map_jaxprs(without_effects, eqn.params))
        for eqn in closed.eqns
        if eqn.outvars or not applies_effects(eqn.primitive, eqn.params)
    ]
    return ClosedJaxpr(closed.jaxpr.replace(eqns=eqns), closed.consts)


def kept(items: Sequence[Any], mask: Sequence[bool]) -> list[Any]:
    """Returns the items that a mask marks.

    >>> kept(["a", "b", "c"], [True, False, True])
    ['a', 'c']
    """
    return [item for item, keep in zip(items, mask, strict=True) if keep]


def merge_lists(choice: Sequence[bool], if_false: Sequence[Any], if_true: Sequence[Any]) -> list[Any]:
    """Returns one list of the items of two, taken in the order that ``choice`` gives.

    >>> merge_lists([False, True, False], ["a", "c"], ["b"])
    ['a', 'b', 'c']
    """
    false, true = iter(if_false), iter(if_true)
    return [next(true) if take else next(false) for take in choice]
