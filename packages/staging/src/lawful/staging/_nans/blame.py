"""What `blame_nan` finds: the equation that made a NaN or an infinity, and its text."""

from __future__ import annotations

import linecache
from dataclasses import dataclass
from typing import Any

import numpy as np

from lawful.core import SourceLine, get_aval, is_inexact
from lawful.staging._ownership import read_only


@dataclass(frozen=True, slots=True, eq=False)
class Blame:
    """The equation that made a NaN or an infinity. ``str(blame)`` describes it for people.

    Attributes:
      kind: ``"NaN"`` or ``"infinity"``.
      primitive: the name of the primitive; ``""`` where no equation made it: it was given.
      source: the user's line; None if it is unknown. For a line in a user's rule, ``source.caller`` is that of the
        equation that the rule is applied to.
      rules: the rules through which the equation came from that line, the first one first: ``("jvp rule of log",
        "transpose rule of mul")``. Empty where the user's own code applies the primitive.
      within: the calls, branches and iterations that the equation is in, the outermost first.
      operands: the values of the equation's operands.
      result: the value that has the NaN or the infinity.
      index: the position of the first such element.
      pointwise: whether an element of the result depends only on the elements of the operands at its position.
      given: what the value was if no equation made it: ``"the argument x['w']"``.
      result_name: which result of the function it reaches, as ``"result[0]"``; ``""`` if that is unknown.
      cause: what made the infinity, if a NaN came from infinite operands.
      note: a remark for people.

    >>> print(Blame("NaN", "log", None, (), (), (-1.0,), np.float64("nan"), ()))
    NaN was made by log...
    """

    kind: str
    primitive: str
    source: SourceLine | None
    rules: tuple[str, ...]
    within: tuple[str, ...]
    operands: tuple[Any, ...]
    result: Any
    index: tuple[int, ...]
    pointwise: bool = False
    given: str = ""
    result_name: str = ""
    cause: Blame | None = None
    note: str = ""

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> list[str]:
        reached = f" in {self.result_name}" if self.result_name else ""
        if self.given:
            lines = [f"{self.kind}{reached} was given: {self.given}, {_summary(self.result)}"]
        else:
            at = "" if self.source is None else f" at {self.source}"
            lines = [f"{self.kind}{reached} was made by {self.primitive}{at}"]
            text = "" if self.source is None else linecache.getline(self.source.file, self.source.line).strip()
            lines += [f"    {text}"] if text else []
            lines += [f"  {self._equation()}"]
            lines += [f"  by the {', the '.join(self.rules)}"] * bool(self.rules)
            caller = None if self.source is None else self.source.caller
            while caller is not None:
                lines.append(f"  in a rule for the call at {caller}")
                caller = caller.caller
        lines += [f"  in {part}" for part in reversed(self.within)]
        if self.cause is not None:
            lines += ["  from:", *[f"    {line}" for line in self.cause._lines()]]
        return [*lines, *[f"  {self.note}"] * bool(self.note)]

    def _equation(self) -> str:
        """Returns the operands and the result: the elements at the position if these decide, else whole arrays."""
        if self.pointwise:
            elements = " ".join([_element(x, self.index) for x in self.operands])
            where = f", element {list(self.index)} of {_summary(self.result)}" if self.index else ""
            return f"{self.primitive} {elements} = {_element(self.result, self.index)}{where}"
        operands = ", ".join(map(_summary, self.operands)) or "no operands"
        where = f", first at {list(self.index)}" if self.index else ""
        return f"{self.primitive} of {operands} gives {_summary(self.result)}{where}"


def _element(x: Any, index: tuple[int, ...]) -> str:
    found = np.asarray(x)
    return str(found[index] if found.shape else found[()])


def _summary(x: Any) -> str:
    """Returns the type of a value, and its value or what is special about its elements."""
    found = np.asarray(x)
    if found.size == 1:
        return f"{get_aval(x)} {found.reshape(())[()]}"
    nans, infs = special_masks(found)
    masks = (nans, "NaN"), (infs, "infinite")
    counts = [f"{mask.sum()} {name}" for mask, name in masks if mask is not None and mask.any()]
    if counts:
        return f"{get_aval(x)} with {' and '.join(counts)} of {found.size} elements"
    if found.size and found.dtype.kind not in "cV" and is_inexact(found.dtype):
        return f"{get_aval(x)} from {found.min()} to {found.max()}"
    return str(get_aval(x))


def special_masks(x: Any) -> tuple[Any, Any]:
    """Returns where an array is NaN and where it is infinite; a pair of None if its dtype has neither."""
    found = np.asarray(x)
    return (np.isnan(found), np.isinf(found)) if is_inexact(found.dtype) else (None, None)


def first_index(mask: Any) -> tuple[int, ...]:
    """Returns the position of the first true element of a mask."""
    return tuple([int(i) for i in np.argwhere(mask)[0]])


def snapshot(x: Any) -> Any:
    """Returns a value that later writes of the user do not change."""
    return read_only(np.asarray(x)) if np.ndim(x) else x
