"""A stage as HTML: the lines of its jaxpr, with a mark on each variable and equation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from itertools import batched
from typing import Final

from lawful.cli._show._history import Removed, Stage
from lawful.cli._usage import counted
from lawful.core import (
    Atom,
    Jaxpr,
    JaxprEqn,
    Var,
    atom_text,
    distinct_jaxprs,
    open_jaxpr,
    ordered_params,
    sub_jaxprs,
    variable_names,
)

#: How many lines the browser lays out together. It skips the groups that are out of sight.
_GROUP: Final = 50
#: A program inside of an equation with more equations is folded at first.
_FOLDED: Final = 12


class StageMarkup:
    """The markup of a stage.

    Args:
      stage: the stage.

    Attributes:
      variables: all variables, by their number in the page, each with its jaxpr: two jaxprs may share one.
    """

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._order, self._shared = distinct_jaxprs((stage.closed.jaxpr,))
        self._names = {id(jaxpr): variable_names(jaxpr) for jaxpr in self._order}
        self.variables = [(jaxpr, var) for jaxpr in self._order for var in self._names[id(jaxpr)]]
        self._numbers = {(id(jaxpr), var): number for number, (jaxpr, var) in enumerate(self.variables)}
        self._first = {key: numbers[0] for key, numbers in stage.members.items()}
        self._removed: dict[tuple[int, bool], list[Removed]] = {}
        for removed in stage.removed:
            self._removed.setdefault((removed.anchor, removed.after), []).append(removed)
        self._labels = self._labelled()

    def _labelled(self) -> dict[int, str]:
        """Returns the labels of the jaxprs that are inside of several equations, by their ``id``."""
        labels: dict[int, str] = {}
        for jaxpr in self._order:
            if id(jaxpr) in self._shared:
                name = jaxpr.name or "jaxpr"
                taken = set(labels.values())
                labels[id(jaxpr)] = next(
                    label for i in range(len(taken) + 1) if (label := f"@{name}_{i}" if i else f"@{name}") not in taken
                )
        return labels

    def number(self, jaxpr: Jaxpr, var: Var) -> int:
        """Returns the number of a variable of a jaxpr."""
        return self._numbers[id(jaxpr), var]

    def instead(self, removed: Removed) -> int | None:
        """Returns the number of the variable that stands for the result of what was removed."""
        jaxpr = self._stage.equations[removed.anchor].jaxpr
        return None if removed.instead is None else self._numbers.get((id(jaxpr), removed.instead))

    def html(self) -> str:
        """Returns the lines of the program."""
        shared = [
            f"<details class=f open><summary>{escape(self._labels[id(jaxpr)])}: {_size(jaxpr)}, shared"
            f"</summary>{self._jaxpr(jaxpr)}</details>"
            for jaxpr in self._order
            if id(jaxpr) in self._shared
        ]
        return "".join(shared) + self._jaxpr(self._stage.closed.jaxpr)

    def _jaxpr(self, jaxpr: Jaxpr) -> str:
        constants, inputs = ([self._binder(jaxpr, var) for var in x] for x in (jaxpr.constvars, jaxpr.invars))
        head = " ".join(["{ lambda", *constants, ";", *inputs]) + "."
        outs = ", ".join(self._atom(jaxpr, atom) for atom in jaxpr.outvars)
        comma = "," if len(jaxpr.outvars) == 1 else ""
        lines = [
            f"<div class=l>{head} let</div>",
            *self._equations(jaxpr),
            f"<div class=l>  in ({outs}{comma}) }}</div>",
        ]
        if len(lines) <= _GROUP:
            return "".join(lines)
        return "".join(f"<div class=g>{''.join(group)}</div>" for group in batched(lines, _GROUP))

    def _equations(self, jaxpr: Jaxpr) -> Iterator[str]:
        first = self._first.get(id(jaxpr), 0)
        for number, eqn in enumerate(jaxpr.eqns, first):
            yield from self._removed_at(number, False)
            yield f"<div class=e id=e{self._stage.number}-{number}>    {self._line(jaxpr, eqn)}</div>"
            yield self._inside(eqn)
            yield from self._removed_at(number, True)

    def _line(self, jaxpr: Jaxpr, eqn: JaxprEqn) -> str:
        binders = " ".join(self._binder(jaxpr, var) for var in eqn.outvars)
        name, bracket, rest = escape(_call(eqn), quote=False).partition("[")
        operands = "".join(f" {self._atom(jaxpr, atom)}" for atom in eqn.invars)
        return f"{binders} = <u>{name}</u>{bracket}{rest}{operands}"

    def _inside(self, eqn: JaxprEqn) -> str:
        """Returns the programs inside of an equation, which fold."""
        found = []
        for name, value in ordered_params(eqn.params) if eqn.params else ():
            jaxprs = [open_jaxpr(one) for one in sub_jaxprs((value,))]
            for i, jaxpr in enumerate(jaxprs):
                title = escape(f"{name}[{i}]" if len(jaxprs) > 1 or isinstance(value, tuple) else name)
                if id(jaxpr) in self._shared:
                    found.append(f"<div class=l>      {title} = {escape(self._labels[id(jaxpr)])}</div>")
                    continue
                opened = " open" if len(jaxpr.eqns) <= _FOLDED else ""
                found.append(
                    f"<details class=f{opened}><summary>{title}: {_size(jaxpr)}</summary>{self._jaxpr(jaxpr)}</details>"
                )
        return "".join(found)

    def _removed_at(self, anchor: int, after: bool) -> Iterator[str]:
        before = self._stage.before
        for removed in self._removed.get((anchor, after), ()):
            assert before is not None
            equation = before.equations[removed.number]
            names = self._before_names(equation.jaxpr)
            line = _plain_line(equation.eqn, names)
            number = self.instead(removed)
            instead = "" if number is None else f" {self._use(number)}"
            yield (
                f"<div class=x data-e={removed.number}>    <del>{escape(line, quote=False)}</del>"
                f" <em>{escape(removed.reason, quote=False)}{instead}</em></div>"
            )

    def _before_names(self, jaxpr: Jaxpr) -> dict[Var, str]:
        """Returns the names of a jaxpr of the stage before."""
        key = id(jaxpr)
        if key not in self._names:
            self._names[key] = variable_names(jaxpr)
        return self._names[key]

    def _use(self, number: int) -> str:
        jaxpr, var = self.variables[number]
        return f"<i data-v={number}>{self._names[id(jaxpr)][var]}</i>"

    def _binder(self, jaxpr: Jaxpr, var: Var) -> str:
        return f"<b data-v={self.number(jaxpr, var)}>{self._names[id(jaxpr)][var]}</b>:{var.aval}"

    def _atom(self, jaxpr: Jaxpr, atom: Atom) -> str:
        if isinstance(atom, Var):
            return self._use(self.number(jaxpr, atom))
        return escape(atom_text(atom, {}), quote=False)


def _plain_line(eqn: JaxprEqn, names: dict[Var, str]) -> str:
    binders = " ".join(f"{names[var]}:{var.aval}" for var in eqn.outvars)
    return " ".join([binders, "=", _call(eqn), *(atom_text(atom, names) for atom in eqn.invars)])


def _call(eqn: JaxprEqn) -> str:
    """Returns the primitive with its parameters, but for the programs among them, in one line."""
    params = {name: value for name, value in eqn.params.items() if next(sub_jaxprs((value,)), None) is None}
    text = repr(eqn.replace(invars=(), outvars=(), params=params)).removeprefix("= ")
    return re.sub(r"\n\s*", " ", re.sub(r"([\[(])\n\s*|,?\n\s*([\])])", r"\1\2", text))


def _size(jaxpr: Jaxpr) -> str:
    return counted(len(jaxpr.eqns), "equation")


def sizes(stage: Stage) -> str:
    """Returns the size of a stage in words."""
    size = counted(stage.shown.equations or 0, "equation")
    return size if stage.shown.within == stage.shown.equations else f"{size}, {stage.shown.within} with those inside"


def text_of(lines: Sequence[str], numbers: Sequence[int | None]) -> str:
    """Returns the lines of a backend's program, each with the number of its equation."""
    marked = [
        f"<div class=n{'' if number is None else f' data-e={number}'}>{escape(line, quote=False) or '&nbsp;'}</div>"
        for line, number in zip(lines, numbers, strict=True)
    ]
    # A group that is skipped has counters of its own.
    return "".join(
        f"<div class=g><div style='counter-reset:line {i * _GROUP}'>{''.join(group)}</div></div>"
        for i, group in enumerate(batched(marked, _GROUP))
    )
