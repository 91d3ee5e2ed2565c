"""Results derived from a jaxpr (its jvp, its compiled form, ...), remembered for as long as the jaxpr lives."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Concatenate, cast
from weakref import WeakSet

from lawful.core._jaxpr import ClosedJaxpr
from lawful.core._recipe_book import forget_recipes

# Which jaxprs hold a memo, so that all can be emptied.
_with_memo: WeakSet[ClosedJaxpr] = WeakSet()
# A set that another thread adds to cannot be iterated over.
_lock = threading.Lock()


def memoize[**P, R](function: Callable[Concatenate[ClosedJaxpr, P], R]) -> Callable[Concatenate[ClosedJaxpr, P], R]:
    """Returns a function of a jaxpr and hashable arguments that computes each result once a jaxpr.

    The results are kept in the jaxpr itself: nothing outlives it, and there is no table to search.
    """

    @functools.wraps(function)
    def remembered(closed: ClosedJaxpr, /, *args: P.args, **kwargs: P.kwargs) -> R:
        memo = closed.memo
        if memo is None:
            memo = closed.memo = {}
            with _lock:
                _with_memo.add(closed)
        key = (function, args, *sorted(kwargs.items()))
        try:
            return cast(R, memo[key])
        except KeyError:
            result = memo[key] = function(closed, *args, **kwargs)
            return result

    return remembered


def clear_memos() -> None:
    """Forgets every remembered result, and what was derived of the rules of primitives."""
    forget_recipes()
    with _lock:
        for closed in list(_with_memo):
            closed.memo = None
        _with_memo.clear()
