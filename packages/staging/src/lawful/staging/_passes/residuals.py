"""Calls of derived jaxprs whose last outputs are residuals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lawful.core import ClosedJaxpr, Var, memoize
from lawful.staging._passes.dce import dce_jaxpr


def with_residuals(
    call: Callable[..., list[Any]], closed: ClosedJaxpr, args: Sequence[Any], count: int, **params: Any
) -> tuple[list[Any], list[Any]]:
    """Calls a derived jaxpr; returns its first ``count`` outputs, and the others, the residuals.

    A residual that is an argument is that argument, and no output of the call. Nothing is called if nothing is left.
    """
    closed, sources = forward_inputs(closed, count)
    outs = call(closed, args, **params) if closed.jaxpr.eqns or closed.jaxpr.outvars else []
    rest = iter(outs[count:])
    return outs[:count], [next(rest) if source is None else args[source] for source in sources]


@memoize
def forward_inputs(closed: ClosedJaxpr, count: int) -> tuple[ClosedJaxpr, tuple[int | None, ...]]:
    """Returns a jaxpr without those outputs after the first ``count`` that are inputs: a call need not copy them.

    Returns also, for each of the outputs after the first ``count``, which input it is; None for those that stay.
    """
    jaxpr = closed.jaxpr
    numbers = {var: i for i, var in enumerate(jaxpr.invars)}
    sources = tuple([numbers.get(atom) if isinstance(atom, Var) else None for atom in jaxpr.outvars[count:]])
    if sources.count(None) == len(sources):
        return closed, sources
    return dce_jaxpr(closed, [*(True,) * count, *[source is None for source in sources]]), sources
