"""The origin of a program, as Python that draws it again."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from lawful.laws._programs.choose import usual_dtypes, wide_dtypes

if TYPE_CHECKING:
    from lawful.laws._search.generation import Generation

Dtypes = tuple[np.dtype[Any], ...]


@dataclass(frozen=True, slots=True)
class Origin:
    """The settings and choices of a drawn program; ``str`` is an expression that draws it again.

    Attributes:
      seed: that of a ``RandomChoose`` which drew nothing before; None if there is none.
      choices: the integers that were drawn.
      dtypes: those of the chooser.
      settings: what programs are drawn.
    """

    seed: int | None
    choices: tuple[int, ...]
    dtypes: Dtypes
    settings: Generation

    def __str__(self) -> str:
        given = f"ReplayChoose({self.choices}" if self.seed is None else f"RandomChoose({self.seed}"
        choose = f"{given})" if self.dtypes == wide_dtypes else f"{given}, {_dtypes(self.dtypes)})"
        changes = self._changes()
        return f"draw_program({choose}, Generation({changes}))" if changes else f"draw_program({choose})"

    def _changes(self) -> str:
        usual = type(self.settings)()
        changed = {
            field.name: getattr(self.settings, field.name)
            for field in fields(self.settings)
            if getattr(self.settings, field.name) != getattr(usual, field.name)
        }
        # A catalogue has no name, so its text is an ellipsis.
        texts = {"catalogue": "...", "dtypes": _dtypes(self.settings.dtypes)}
        return ", ".join(f"{name}={texts.get(name, repr(value))}" for name, value in changed.items())


def _dtypes(dtypes: Dtypes) -> str:
    for name, known in (("usual_dtypes", usual_dtypes), ("wide_dtypes", wide_dtypes)):
        if dtypes == known:
            return name
    return f"tuple(map(core.as_dtype, {tuple(dtype.name for dtype in dtypes)}))"
