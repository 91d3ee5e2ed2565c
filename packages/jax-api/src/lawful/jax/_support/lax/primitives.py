"""Primitives, with the methods that JAX's have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

from lawful import core
from lawful.core import ClosedJaxpr, array_types, eval_jaxpr, primitives_by_name
from lawful.jax._support.array import as_jax

JaxprEqn = core.JaxprEqn
__all__ = ["Rules", "array_types", "call_p", "closed_call_p", "jaxpr_as_fun"]
#: Calls in jaxprs of JAX. In those of lawful all calls are ``jit``; tables of rules by primitive have these as keys.
call_p = core.Primitive("call", multiple_results=True)
closed_call_p = core.Primitive("closed_call", multiple_results=True)


def jaxpr_as_fun(closed_jaxpr: ClosedJaxpr, *args: Any) -> Callable[..., list[Any]]:
    """Returns the function of a closed jaxpr, which gives a list; ``args`` are its first arguments.

    >>> from lawful.staging import make_jaxpr
    >>> jaxpr_as_fun(make_jaxpr(lambda x: x * 2.0)(1.0))(3.0)
    [6.0]
    """

    def function(*rest: Any) -> list[Any]:
        found: list[Any] = as_jax(eval_jaxpr(closed_jaxpr.jaxpr, closed_jaxpr.consts, *args, *rest))
        return found

    return function


class Rules(MutableMapping[Any, Callable[..., Any]]):
    """The rules of all primitives in one slot, as JAX's table of a transformation: ``rules[primitive] = rule``."""

    def __init__(self, slot: str, define: str) -> None:
        self.slot = slot
        self.define = define

    def __getitem__(self, primitive: Any) -> Callable[..., Any]:
        rule: Callable[..., Any] = primitive.rules[self.slot]
        return rule

    def __setitem__(self, primitive: Any, rule: Callable[..., Any]) -> None:
        getattr(primitive, self.define)(rule)

    def __delitem__(self, primitive: Any) -> None:
        del primitive.rules[self.slot]

    def __iter__(self) -> Iterator[Any]:
        return (p for p in primitives_by_name.values() if self.slot in p.rules)

    def __len__(self) -> int:
        return sum(1 for _ in self)
