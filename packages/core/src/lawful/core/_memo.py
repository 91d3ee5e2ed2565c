"""Results derived from a jaxpr (its jvp, its compiled form, ...), remembered for as long as the jaxpr lives."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from typing import Concatenate, cast
from weakref import ref

from lawful.core._jaxpr import ClosedJaxpr
from lawful.core._recipe_book import forget_recipes
from lawful.core._shared_jaxprs import forget_shared_jaxprs

# Which jaxprs hold a memo, so that all can be emptied. Those that are gone are taken out when there are twice as many
# again: a WeakSet calls Python for each that goes, which takes longer than all else that is done to remember.
_with_memo: list[ref[ClosedJaxpr]] = []
_most = _FEWEST = 256
# A collection of garbage may start while it is held, and run a finalizer that remembers something.
_lock = threading.RLock()


def memoize[**P, R](function: Callable[Concatenate[ClosedJaxpr, P], R]) -> Callable[Concatenate[ClosedJaxpr, P], R]:
    """Returns a function of a jaxpr and hashable arguments that computes each result once a jaxpr.

    The results are kept in the jaxpr itself: nothing outlives it, and there is no table to search.
    """

    @functools.wraps(function)
    def remembered(closed: ClosedJaxpr, /, *args: P.args, **kwargs: P.kwargs) -> R:
        memo = closed.memo
        if memo is None:
            memo = closed.memo = {}
            _note(closed)
        key = (function, args, *sorted(kwargs.items()))
        try:
            return cast(R, memo[key])
        except KeyError:
            result = memo[key] = function(closed, *args, **kwargs)
            return result

    return remembered


def _note(closed: ClosedJaxpr) -> None:
    global _most
    with _lock:
        _with_memo.append(ref(closed))
        count = len(_with_memo)
        if count > _most:
            _most = sys.maxsize  # a finalizer that remembers something adds to the list, and does no more
            _with_memo[:count] = [each for each in _with_memo[:count] if each() is not None]
            _most = max(2 * len(_with_memo), _FEWEST)


def clear_memos() -> None:
    """Forgets every remembered result, and what was derived of the rules of primitives."""
    forget_recipes()
    forget_shared_jaxprs()
    with _lock:
        noted = _with_memo[:]
        del _with_memo[: len(noted)]
    for each in noted:
        closed = each()
        if closed is not None:
            closed.memo = None
