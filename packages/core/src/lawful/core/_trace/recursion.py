"""The error for transformations and programs that are nested more deeply than Python's stack."""

from __future__ import annotations

import sys
from collections import Counter
from types import TracebackType

from lawful.core._errors import NestingError


def refuse_nesting(error: BaseException | None, traceback: TracebackType | None, where: str) -> None:
    """Raises NestingError for a RecursionError that nested transformations, calls, branches or loops caused.

    A RecursionError of the user's own functions is not replaced.

    >>> refuse_nesting(ValueError("not nested"), None, "jit") is None
    True
    """
    if not isinstance(error, RecursionError) or isinstance(error, NestingError):
        return
    modules: Counter[str] = Counter()
    frames = 0
    while traceback is not None:
        modules[str(traceback.tb_frame.f_globals.get("__name__", ""))] += 1
        frames += 1
        traceback = traceback.tb_next
    inner = {name: count for name, count in modules.items() if name.startswith("lawful.")}
    if 2 * sum(inner.values()) < frames:
        return
    deepest = sorted(inner, key=lambda name: (-inner[name], name))[:3]
    raise NestingError(
        f"{where}: expected calls, branches and loops nested less deeply than Python's recursion limit of "
        f"{sys.getrecursionlimit()} allows, got more levels (most frames are of {', '.join(deepest)}); nest fewer "
        "levels, use scan for repeated ones, or raise the limit with sys.setrecursionlimit"
    ) from error
