"""Hoisting: constants of the jaxprs in an equation become operands of the equation.

Only the outermost jaxpr of a program has constants. A derived jaxpr may have some of its own, such as an array that a
user's rule closes over. A primitive with jaxprs among its parameters says in the slot ``"hoist"`` how they become
operands: ``f(args, params)`` returns the operands and parameters of the same call without nested constants.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import islice
from typing import Any

import numpy as np

from lawful.core import ClosedJaxpr, Jaxpr, ShapedArray, Var, deduplicated, memoize, require_closed

#: The operands and the parameters of a call.
Call = tuple[Sequence[Any], dict[str, Any]]


def consts_as_inputs(closed: ClosedJaxpr) -> tuple[ClosedJaxpr, Sequence[Any]]:
    """Returns a jaxpr whose constants have become its first inputs, and the constants.

    >>> from lawful.staging import make_jaxpr
    >>> consts_as_inputs(make_jaxpr(lambda x: x + np.ones(2))(np.zeros(2)))
    ({ lambda ; a:f64[2] b:f64[2]. let c:f64[2] = add b a in (c,) }, [array([1., 1.])])
    """
    require_closed("consts_as_inputs", closed)
    jaxpr = closed.jaxpr
    opened = Jaxpr((), [*jaxpr.constvars, *jaxpr.invars], jaxpr.eqns, jaxpr.outvars, name=jaxpr.name)
    return ClosedJaxpr(opened), closed.consts


@memoize
def _opened(closed: ClosedJaxpr) -> ClosedJaxpr:
    return deduplicated(consts_as_inputs(closed)[0])


def hoist_groups(
    args: Sequence[Any], jaxprs: Sequence[ClosedJaxpr | None], counts: Sequence[int]
) -> tuple[list[Any], list[ClosedJaxpr | None], list[int]]:
    """Returns operands, jaxprs and counts of a call, with the constants of each jaxpr as its first operands.

    Args:
      args: the operands: a group for each jaxpr, of its own first inputs, and then any others.
      jaxprs: the jaxprs; None for one that the call does not have.
      counts: the number of operands in each group.

    >>> from lawful.staging import make_jaxpr
    >>> closed = make_jaxpr(lambda x: x + np.ones(2))(np.zeros(2))
    >>> hoist_groups(["x"], [closed], [1])
    ([array([1., 1.]), 'x'], [{ lambda ; a:f64[2] b:f64[2]. let c:f64[2] = add b a in (c,) }], [2])
    """
    rest = iter(args)
    operands: list[Any] = []
    opened: list[ClosedJaxpr | None] = []
    totals = []
    for jaxpr, count in zip(jaxprs, counts, strict=True):
        consts: Sequence[Any] = jaxpr.consts if jaxpr is not None else ()
        operands += [*consts, *islice(rest, count)]
        opened.append(_opened(jaxpr) if jaxpr is not None and consts else jaxpr)
        totals.append(count + len(consts))
    return [*operands, *rest], opened, totals


def hoist_call(args: Sequence[Any], params: dict[str, Any]) -> Call:
    """Hoists the constants of a call of a jaxpr with all operands: a rule in the slot ``"hoist"``.

    >>> from lawful.staging import make_jaxpr
    >>> hoist_call(["x"], {"jaxpr": make_jaxpr(lambda x: x + np.ones(2))(np.zeros(2))})
    ([array([1., 1.]), 'x'], {'jaxpr': { lambda ; a:f64[2] b:f64[2]. let c:f64[2] = add b a in (c,) }})
    """
    operands, [jaxpr], _ = hoist_groups(args, [params["jaxpr"]], [0])
    return operands, {**params, "jaxpr": jaxpr}


def hoist_common(closed: Sequence[ClosedJaxpr]) -> tuple[list[ClosedJaxpr], list[Any]]:
    """Returns jaxprs that all take the constants of all as first inputs, and these constants, each once.

    >>> from lawful.staging import make_jaxpr
    >>> both, consts = hoist_common([make_jaxpr(f)(2.0) for f in (lambda x: x * np.ones(2), lambda x: x + np.ones(2))])
    >>> consts, both[0]
    ([array([1., 1.])], { lambda ; a:f64[2] b:~f64[]. let c:f64[2] = mul b a in (c,) })
    """
    position: dict[Hashable, int] = {}
    consts: list[Any] = []
    avals: list[ShapedArray] = []
    # Branches can take one constant with types that differ in the mesh axes over which they vary.
    keys = [[*zip(_identities(one.consts), (v.aval for v in one.jaxpr.constvars), strict=True)] for one in closed]
    for one, own_keys in zip(closed, keys, strict=True):
        for key, const, var in zip(own_keys, one.consts, one.jaxpr.constvars, strict=True):
            if position.setdefault(key, len(consts)) == len(consts):
                consts.append(const)
                avals.append(var.aval)
    result = []
    for one, own_keys in zip(closed, keys, strict=True):
        own = {position[key]: var for key, var in zip(own_keys, one.jaxpr.constvars, strict=True)}
        invars = [own.get(i) or Var(aval) for i, aval in enumerate(avals)]
        jaxpr = one.jaxpr
        opened = Jaxpr((), [*invars, *jaxpr.invars], jaxpr.eqns, jaxpr.outvars, name=jaxpr.name)
        result.append(deduplicated(ClosedJaxpr(opened)))
    return result, consts


def _identities(consts: Sequence[Any]) -> list[Hashable]:
    """Returns a key of each constant of a jaxpr: of arrays their contents, of which each jaxpr has a snapshot.

    Equal arrays within one jaxpr are told apart by number, because each has a variable of its own.
    """
    found: Counter[Hashable] = Counter()
    keys: list[Hashable] = []
    for const in consts:
        key = (const.shape, const.dtype, const.tobytes()) if type(const) is np.ndarray else id(const)
        keys.append((key, found[key]))
        found[key] += 1
    return keys
