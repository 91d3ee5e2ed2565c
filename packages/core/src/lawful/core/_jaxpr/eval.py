"""Evaluation of jaxprs: applies each equation's primitive under the current trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lawful.core._errors import ArgumentTypeError
from lawful.core._jaxpr.arguments import require_closed, require_jaxpr
from lawful.core._jaxpr.jaxpr import ClosedJaxpr, Jaxpr, Literal, Var
from lawful.tree.base import at_source, source_override


def last_uses(jaxpr: Jaxpr) -> list[list[Var]]:
    """Returns, for each equation, the variables that nothing after it uses: their values can be freed.

    >>> from lawful.core import JaxprEqn, Primitive, get_aval
    >>> x, y = Var(get_aval(1.0)), Var(get_aval(1.0))
    >>> last_uses(Jaxpr([], [x], [JaxprEqn(Primitive("negated"), [x], [y], {})], [y])) == [[x]]
    True
    """
    seen: set[Var] = {atom for atom in jaxpr.outvars if type(atom) is Var}
    result: list[list[Var]] = []
    for eqn in reversed(jaxpr.eqns):
        last = []
        for var in (*eqn.invars, *eqn.outvars):
            if type(var) is Var and var not in seen:
                seen.add(var)
                last.append(var)
        result.append(last)
    result.reverse()
    return result


def eval_jaxpr(jaxpr: Jaxpr, consts: Sequence[Any], *args: Any) -> list[Any]:
    """Returns the outputs of a jaxpr at some inputs, under whatever transformation is current.

    Args:
      jaxpr: the program.
      consts: a value for each of its ``constvars``.
      args: a value for each of its ``invars``.

    Raises:
      ArgumentTypeError: the number of arguments is wrong, or ``jaxpr`` is no jaxpr.

    Law: ``eval_jaxpr(make_jaxpr(f)(*args)) = f(*args)``. Source: ``jax.core.eval_jaxpr``.

    >>> from lawful.core import parse_jaxpr
    >>> eval_jaxpr(parse_jaxpr("{ lambda ; a:f64[]. let in (a, 2.0:f64[]) }").jaxpr, (), 3.0)
    [3.0, np.float64(2.0)]
    """
    require_jaxpr("eval_jaxpr", jaxpr)
    if len(args) != len(jaxpr.invars) or len(consts) != len(jaxpr.constvars):
        raise ArgumentTypeError(
            f"eval_jaxpr: expected {len(jaxpr.constvars)} constants and {len(jaxpr.invars)} arguments, "
            f"got {len(consts)} and {len(args)}; give one value for each variable after lambda"
        )
    env: dict[Var, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
    env.update(zip(jaxpr.invars, args, strict=True))
    with at_source(source_override.source):
        for eqn, dead in zip(jaxpr.eqns, last_uses(jaxpr), strict=True):
            source_override.source = eqn.source
            values = [env[atom] if type(atom) is Var else atom.val for atom in eqn.invars]
            out = eqn.primitive.bind(*values, **eqn.params)
            if eqn.primitive.multiple_results:
                env.update(zip(eqn.outvars, out, strict=True))
            else:
                env[eqn.outvars[0]] = out
            for var in dead:
                del env[var]
    return [atom.val if type(atom) is Literal else env[atom] for atom in jaxpr.outvars]


def eval_closed_jaxpr(closed: ClosedJaxpr, *args: Any) -> list[Any]:
    """Returns the outputs of a closed jaxpr at some inputs, under whatever transformation is current.

    >>> from lawful.core import parse_jaxpr
    >>> eval_closed_jaxpr(parse_jaxpr("{ lambda ; a:f64[]. let in (a, 2.0:f64[]) }"), 3.0)
    [3.0, np.float64(2.0)]
    """
    require_closed("eval_closed_jaxpr", closed)
    return eval_jaxpr(closed.jaxpr, closed.consts, *args)
