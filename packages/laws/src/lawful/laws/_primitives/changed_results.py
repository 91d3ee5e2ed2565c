"""Evaluation of a jaxpr in which results of equations are changed: what backends may compute otherwise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lawful.core import ClosedJaxpr, Literal, Primitive, Var, is_inexact, map_jaxprs
from lawful.staging import make_jaxpr


def evaluate_changed(closed: ClosedJaxpr, args: Sequence[Any], change: Callable[[Primitive, Any], Any]) -> list[Any]:
    """Evaluates a jaxpr with changed results, in the jaxprs of its equations too.

    Args:
      closed: the jaxpr.
      args: its arguments.
      change: takes a primitive and a floating-point or complex result of it, and returns what takes its place.
    """

    def rewritten(inner: ClosedJaxpr) -> ClosedJaxpr:
        program: ClosedJaxpr = make_jaxpr(lambda *xs: evaluate_changed(inner, xs, change))(*inner.in_avals)
        return program

    values: dict[Var, Any] = dict(zip(closed.jaxpr.constvars, closed.consts, strict=True))
    values.update(zip(closed.jaxpr.invars, args, strict=True))

    def value(atom: Any) -> Any:
        return atom.val if isinstance(atom, Literal) else values[atom]

    for eqn in closed.eqns:
        primitive: Primitive = eqn.primitive
        outs = primitive.bind(*map(value, eqn.invars), **map_jaxprs(rewritten, eqn.params))
        outs = outs if primitive.multiple_results else [outs]
        for var, out in zip(eqn.outvars, outs, strict=True):
            values[var] = change(primitive, out) if is_inexact(var.aval.dtype) else out
    return [value(atom) for atom in closed.jaxpr.outvars]
