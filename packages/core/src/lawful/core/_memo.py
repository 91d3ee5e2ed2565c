"""Results derived from a jaxpr (its jvp, its compiled form, ...), remembered for as long as the jaxpr lives."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from typing import Any, Concatenate, Final, cast
from weakref import ref

from lawful.core._impure_rules import impure_rules, note_impure_rule
from lawful.core._jaxpr import ClosedJaxpr
from lawful.core._recipe_book import forget_recipes
from lawful.core._shared_jaxprs import forget_shared_jaxprs, is_known, shared_jaxpr

# Which jaxprs hold a memo, so that all can be emptied. Those that are gone are taken out when there are twice as many
# again: a WeakSet calls Python for each that goes, which takes longer than all else that is done to remember.
_with_memo: list[ref[ClosedJaxpr]] = []
_most = _FEWEST = 256
# A collection of garbage may start while it is held, and run a finalizer that remembers something.
_lock = threading.RLock()


def memoize[**P, R](function: Callable[Concatenate[ClosedJaxpr, P], R]) -> Callable[Concatenate[ClosedJaxpr, P], R]:
    """Returns a function of a jaxpr and hashable arguments that computes each result once a jaxpr.

    The results are kept in the jaxpr itself: nothing outlives it, and there is no table to search. A result for several
    jaxprs, as the branches of a choice, is kept in the one that is gone first. A result that rules of primitives
    without ``pure_rules`` were run for is computed anew in each call.
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
        others = _jaxprs_in(args)
        owner = max((closed, *others), key=_transience) if others else closed
        memo = owner.memo
        if memo is None:
            memo = owner.memo = {}
            _note(owner)
        known = args if owner is closed else (closed, _without(owner, args))
        key = (function, known, *sorted(kwargs.items()))
        try:
            return cast(R, memo[key])
        except KeyError:
            return cast(R, result_of(owner, memo, key, lambda: function(closed, *args, **kwargs)))

    return remembered


def _jaxprs_in(args: tuple[Any, ...]) -> list[ClosedJaxpr]:
    """Returns the jaxprs among arguments, and among those that are tuples of jaxprs."""
    found: list[ClosedJaxpr] = []
    for arg in args:
        if type(arg) is ClosedJaxpr:
            found.append(arg)
        elif type(arg) is tuple and arg and type(arg[0]) is ClosedJaxpr:
            found += arg
    return found


def _transience(closed: ClosedJaxpr) -> int:
    """Returns how soon a jaxpr is gone, compared with others that a program is made of.

    One that holds functions of the user's is traced anew with new functions. One without them may be shared, and what
    is derived of a shared jaxpr lives as long.
    """
    return 2 if _holds_objects(closed) else 1 if closed.consts else 0


def _without(owner: ClosedJaxpr, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Returns arguments as a key in the memo of one of them, which does not refer to that: there would be a cycle."""
    return tuple(
        [
            _OWNER if arg is owner else _without(owner, arg) if type(arg) is tuple and owner in _jaxprs_in(arg) else arg
            for arg in args
        ]
    )


#: Stands for the jaxpr that holds a memo in the keys of the memo.
_OWNER: Final = object()


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


@memoize
def _holds_objects(closed: ClosedJaxpr) -> bool:
    return any([any(map(_is_object, eqn.params.values())) for eqn in closed.eqns])


def _is_object(param: Any) -> bool:
    """Whether a parameter is or holds a function, or whatever else a user may have made."""
    if isinstance(param, ClosedJaxpr):
        return _holds_objects(param)
    return any(map(_is_object, param)) if type(param) is tuple else not is_known(param)


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
