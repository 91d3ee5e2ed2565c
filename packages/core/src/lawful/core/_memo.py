"""Results derived from a jaxpr (its jvp, its compiled form, ...), remembered for as long as the jaxpr lives."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from typing import Any, Concatenate, cast
from weakref import ref

from lawful.core._impure_rules import impure_rules, note_impure_rule
from lawful.core._jaxpr import ClosedJaxpr
from lawful.core._recipe_book import forget_recipes
from lawful.core._shared_jaxprs import forget_shared_jaxprs, shared_jaxpr

# Which jaxprs hold a memo, so that all can be emptied. Those that are gone are taken out when there are twice as many
# again: a WeakSet calls Python for each that goes, which takes longer than all else that is done to remember.
_with_memo: list[ref[ClosedJaxpr]] = []
_most = _FEWEST = 256
# A collection of garbage may start while it is held, and run a finalizer that remembers something.
_lock = threading.RLock()


def memoize[**P, R](function: Callable[Concatenate[ClosedJaxpr, P], R]) -> Callable[Concatenate[ClosedJaxpr, P], R]:
    """Returns a function of a jaxpr and hashable arguments that computes each result once a jaxpr.

    The results are kept in the jaxpr itself: nothing outlives it, and there is no table to search. A result that rules
    of primitives without ``pure_rules`` were run for is computed anew in each call.
    """
    return _memoized(function, _computed)


def memoize_program[**P, R](
    function: Callable[Concatenate[ClosedJaxpr, P], R],
) -> Callable[Concatenate[ClosedJaxpr, P], R]:
    """Returns what `memoize` returns, of a function that compiles: every program is compiled once, as under ``jit``."""
    return _memoized(function, _compiled)


def _memoized[**P, R](
    function: Callable[Concatenate[ClosedJaxpr, P], R], result_of: Callable[..., Any]
) -> Callable[Concatenate[ClosedJaxpr, P], R]:
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
            return cast(R, result_of(closed, memo, key, lambda: function(closed, *args, **kwargs)))

    return remembered


Memo = dict[object, object]


def _compiled(closed: ClosedJaxpr, memo: Memo, key: object, compute: Callable[[], object]) -> object:
    """Returns a result, and keeps it."""
    result = memo[key] = compute()
    return result


class _Unkept(threading.local):
    """What impure rules gave since the outermost computation in progress began, by the identity of the jaxpr."""

    results: dict[object, tuple[ClosedJaxpr, object]] | None = None


_unkept = _Unkept()


def _computed(closed: ClosedJaxpr, memo: Memo, key: object, compute: Callable[[], object]) -> object:
    """Returns a result, and keeps it if no impure rule ran; otherwise until the outermost computation ends.

    A result that is not kept at all would be computed once for each use, which nested jaxprs multiply.
    """
    outer = _unkept.results
    results: dict[object, tuple[ClosedJaxpr, object]] = {} if outer is None else outer
    known = results.get((id(closed), key))
    if known is not None:
        note_impure_rule()
        return known[1]
    _unkept.results = results
    before = impure_rules()
    try:
        result = compute()
    finally:
        _unkept.results = outer
    if impure_rules() == before:
        memo[key] = result
    else:
        result = _interned(result)
        results[id(closed), key] = closed, result
    return result


def _interned(result: object) -> object:
    """Returns a result with its jaxprs replaced by equal ones from before, whose compiled programs are kept."""
    if isinstance(result, ClosedJaxpr):
        return shared_jaxpr(result)
    return tuple(map(_interned, result)) if type(result) is tuple else result


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
