"""Where equations come from: lines that know the equation of the stage before, and the rules that ran since.

A transformation applies to a copy of the jaxpr of the stage before. In it the source of each equation is a line of its
own. Interpreters pass the line of an equation on to the equations that they make of it, as they do for error messages.
So the identity of the line tells the origin, and no interpreter knows about it. Rules add their names to the line while
they run, through the hook of rule lookups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from lawful.core import (
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Primitive,
    SourceLine,
    at_source,
    distinct_jaxprs,
    map_jaxprs,
    rule_hook,
    user_source,
)
from lawful.ops import tangent_sum_hook
from lawful.staging import observation, rule_lookups

#: The code of lines that are unknown.
_UNKNOWN: Final = compile("", "<an equation without a line>", "exec")


class Origin(SourceLine):
    """The line of an equation of a stage, which tells it from all others.

    Args:
      known: the user's line, if there is one.
      stage: the number of the stage.
      number: the number of the equation in the stage.
      rules: those that ran since.
    """

    __slots__ = ("known", "number", "rules", "stage")

    def __init__(self, known: SourceLine | None, stage: int, number: int, rules: tuple[str, ...] = ()) -> None:
        super().__init__(_UNKNOWN, 0)
        self.known = known
        self.stage = stage
        self.number = number
        self.rules = rules

    def through(self, rule: str) -> Origin:
        return Origin(self.known, self.stage, self.number, (*self.rules, rule))

    @property
    def file(self) -> str:
        return super().file if self.known is None else self.known.file

    @property
    def function(self) -> str:
        return super().function if self.known is None else self.known.function

    @property
    def line(self) -> int:
        return super().line if self.known is None else self.known.line


def user_line(source: SourceLine | None) -> SourceLine | None:
    """Returns the user's line of an equation's source."""
    return source.known if isinstance(source, Origin) else source


def numbered(closed: ClosedJaxpr) -> list[tuple[Jaxpr, int]]:
    """Returns the equations of a program, those inside its distinct jaxprs first: a jaxpr and a position for each."""
    order, _ = distinct_jaxprs((closed.jaxpr,))
    return [(jaxpr, position) for jaxpr in order for position in range(len(jaxpr.eqns))]


def with_origins(closed: ClosedJaxpr, stage: int) -> ClosedJaxpr:
    """Returns a program with the same variables in which the line of each equation is an `Origin` of this stage.

    Equations that a stage made of none have no line: their source is where the command calls the stage.
    """
    order, _ = distinct_jaxprs((closed.jaxpr,))
    copies: dict[int, Jaxpr] = {}
    inner: dict[int, ClosedJaxpr] = {}  # one object that is called twice stays one
    number = 0

    def copy(one: ClosedJaxpr) -> ClosedJaxpr:
        found = inner.get(id(one))
        if found is None:
            found = inner[id(one)] = ClosedJaxpr(copies[id(one.jaxpr)], one.consts)
        return found

    for jaxpr in order:
        eqns: list[JaxprEqn] = []
        for eqn in jaxpr.eqns:
            known = user_line(eqn.source) if stage == 0 or isinstance(eqn.source, Origin) else None
            source = Origin(known, stage, number)
            eqns.append(eqn.replace(source=source, params=map_jaxprs(copy, eqn.params)))
            number += 1
        copies[id(jaxpr)] = jaxpr.replace(eqns=eqns)
    return ClosedJaxpr(copies[id(closed.jaxpr)], closed.consts)


#: What a slot's rules are called. The others make no equations.
_SLOTS: Final = {
    "jvp": "jvp rule",
    "linearize": "linearize rule",
    "transpose": "transpose rule",
    "batch": "batching rule",
    "partial_eval": "partial evaluation",
    "expand": "expansion",
}
#: The sum of the cotangents of a value that is used more than once.
SUM: Final = "sum of tangents"


def _named(primitive: Primitive, slot: str, rule: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a rule during which lines say that it is running."""

    def recorded(*args: Any, **params: Any) -> Any:
        source = user_source()
        if source is None:
            return rule(*args, **params)
        name = params["name"] if "rules" in params else primitive.name
        line = source.through(f"{_SLOTS[slot]} of {name}")
        with at_source(line):
            found = rule(*args, **params)
        if slot != "linearize":
            return found
        outs, nonzeros, tangent_fun = found
        return outs, nonzeros, _at(line, tangent_fun)

    return recorded


def _at(line: SourceLine, function: Callable[..., Any]) -> Callable[..., Any]:
    def located(*args: Any) -> Any:
        with at_source(line):
            return function(*args)

    return located


def _sum(x: Any, y: Any) -> Any:
    source = user_source()
    with at_source(source if source is None else source.through(SUM)):
        return tangent_sum_hook.plain(x, y)


@contextmanager
def recording() -> Iterator[None]:
    """Within the block, the lines of equations tell the rules that made them."""
    lookups = rule_lookups(_named, _SLOTS)
    with observation():
        rule_hook.override(lookups)
        tangent_sum_hook.override(_sum)
        try:
            yield
        finally:
            tangent_sum_hook.restore(_sum)
            rule_hook.restore(lookups)
