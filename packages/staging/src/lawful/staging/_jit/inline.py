"""Inlining: calls of ``jit_p`` replaced by the equations that they call."""

from __future__ import annotations

from lawful.core import Atom, ClosedJaxpr, JaxprEqn, Literal, Var, record, require_closed
from lawful.staging._jit.primitive import jit_p


def inline_jaxpr(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns a jaxpr in which the equations of called jaxprs replace the calls.

    Calls inside calls are replaced too; calls inside branches are not.

    Laws: it means the same; doing it twice is doing it once.

    >>> from lawful.staging import jit, make_jaxpr
    >>> inline_jaxpr(make_jaxpr(jit(lambda x: x * x))(3.0))
    { lambda ; a:~f64[]. let b:~f64[] = mul a a in (b,) }
    """
    require_closed("inline_jaxpr", closed)
    eqns: list[JaxprEqn] = []
    # The atom that replaces each variable; variables of the jaxpr itself are not replaced.
    env: dict[Var, Atom] = {}
    # A stack of equations and ends of calls, so that deep nests need no recursion.
    pending: list[_Step] = [_Step(eqn, env) for eqn in reversed(closed.eqns)]
    while pending:
        step = pending.pop()
        eqn, scope = step.eqn, step.scope
        if step.called is not None:
            results = eqn.params["jaxpr"].jaxpr.outvars
            scope.update({var: _in(step.called, x) for var, x in zip(eqn.outvars, results, strict=True)})
        elif eqn.primitive is jit_p and not eqn.params["jaxpr"].consts:
            callee = eqn.params["jaxpr"].jaxpr
            called = dict(zip(callee.invars, (_in(scope, atom) for atom in eqn.invars), strict=True))
            pending.append(_Step(eqn, scope, called))
            pending.extend(_Step(each, called) for each in reversed(callee.eqns))
        else:
            invars = [_in(scope, atom) for atom in eqn.invars]
            outvars = list(eqn.outvars)
            if scope is not env:  # each call gets new variables
                outvars = [Var(var.aval) for var in eqn.outvars]
                scope.update(zip(eqn.outvars, outvars, strict=True))
            eqns.append(eqn.replace(invars=invars, outvars=outvars))
    results = [_in(env, atom) for atom in closed.jaxpr.outvars]
    return ClosedJaxpr(closed.jaxpr.replace(eqns=eqns, outvars=results), closed.consts)


@record
class _Step:
    """An equation to treat in a scope; or the end of a call, if ``called`` is the scope of its callee."""

    eqn: JaxprEqn
    scope: dict[Var, Atom]
    called: dict[Var, Atom] | None = None


def _in(scope: dict[Var, Atom], atom: Atom) -> Atom:
    return atom if type(atom) is Literal else scope.get(atom, atom)
