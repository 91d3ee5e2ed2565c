"""Calls of several jaxprs on the same operands, inside ``shard_map``: all vary over the same axes of a mesh."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lawful.core import AxisNames, ClosedJaxpr, common_axes, eval_closed_jaxpr, get_aval, memoize, vary
from lawful.staging._recorder import trace_to_jaxpr


def with_common_axes(
    args: Sequence[Any], jaxprs: Mapping[str, ClosedJaxpr | None]
) -> tuple[Sequence[Any], Mapping[str, ClosedJaxpr | None]]:
    """Returns operands that vary over the axes that any of them varies over, and the jaxprs of such operands.

    Derivatives and zeros need not vary over the axes of the values that they belong to.

    >>> with_common_axes([1.0, 2.0], {"body": None})
    ([1.0, 2.0], {'body': None})
    """
    vma = common_axes([get_aval(x) for x in args])
    if not vma:
        return args, jaxprs
    varying = {name: None if jaxpr is None else _of_varying(jaxpr, vma) for name, jaxpr in jaxprs.items()}
    return [vary(x, vma - get_aval(x).vma) for x in args], varying


@memoize
def _of_varying(closed: ClosedJaxpr, vma: AxisNames) -> ClosedJaxpr:
    wanted = [aval.update(vma=aval.vma | vma) for aval in closed.in_avals]
    if wanted == closed.in_avals:
        return closed

    def function(*args: Any) -> list[Any]:
        return eval_closed_jaxpr(closed, *args)

    return trace_to_jaxpr(function, wanted, transformation="shard_map", name=closed.jaxpr.name)
