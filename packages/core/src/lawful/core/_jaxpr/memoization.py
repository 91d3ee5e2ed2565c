"""Memoization of transformed jaxprs (the jvp of a jaxpr, its compiled form, …), which live as long as the jaxpr.

Without it, a jaxpr would be transformed once for each use, and nesting multiplies the uses. This is no accelerator: it
makes the cost of a transformation linear.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from typing import Any, Concatenate, Final, cast
from weakref import ref

from lawful.core._errors import ArgumentTypeError, LawfulError
from lawful.core._jaxpr.arguments import require_closed
from lawful.core._jaxpr.deduplication import deduplicated
from lawful.core._jaxpr.jaxpr import ClosedJaxpr
from lawful.core._jaxpr.parameter_keys import is_known_param
from lawful.core._primitive.rules import impure_rules, note_impure_rule
from lawful.tree.base import register_cache

Memo = dict[object, object]
_MISSING: Final = object()


class TransformedJaxprs:
    """The cache of all transformed jaxprs: its entries are kept in the jaxprs themselves.

    Attributes:
      name: as `cache_report` lists it.
      limit: how many results one jaxpr keeps; when it is full, all are removed.
      hits: how many results were found.
      misses: how many were computed.
    """

    # Dead references are swept when the list has doubled: a WeakSet calls Python for each jaxpr that dies.
    __slots__ = ("__weakref__", "_lock", "_sweep_at", "_with_memo", "hits", "limit", "misses", "name")
    _FEWEST = 256

    def __init__(self) -> None:
        self.name = "transformed jaxprs"
        self.limit = 1024
        self.hits = self.misses = 0
        self._with_memo: list[ref[ClosedJaxpr]] = []
        self._sweep_at = self._FEWEST
        # Reentrant: a garbage collection may start while it is held, and run a finalizer that inserts.
        self._lock = threading.RLock()
        register_cache(self)

    def memo(self, closed: ClosedJaxpr) -> Memo:
        """Returns the results that are kept with a jaxpr."""
        memo = closed.memo
        if memo is None:
            memo = closed.memo = {}
            self._add(closed)
        elif len(memo) >= self.limit:
            memo.clear()
        return memo

    def _add(self, closed: ClosedJaxpr) -> None:
        with self._lock:
            self._with_memo.append(ref(closed))
            count = len(self._with_memo)
            if count > self._sweep_at:
                self._sweep_at = sys.maxsize  # a finalizer that inserts meanwhile only appends
                self._with_memo[:count] = [each for each in self._with_memo[:count] if each() is not None]
                self._sweep_at = max(2 * len(self._with_memo), self._FEWEST)

    def __len__(self) -> int:
        alive = [each() for each in self._with_memo]
        return sum(len(closed.memo or ()) for closed in alive if closed is not None)

    def clear(self) -> None:
        """Removes every result."""
        with self._lock:
            listed = self._with_memo[:]
            del self._with_memo[: len(listed)]
            if self._sweep_at != sys.maxsize:  # it is not called by a finalizer during a sweep
                self._sweep_at = self._FEWEST
        for each in listed:
            closed = each()
            if closed is not None:
                closed.memo = None


transformed_jaxprs: Final = TransformedJaxprs()


def memoize[**P, R](function: Callable[Concatenate[ClosedJaxpr, P], R]) -> Callable[Concatenate[ClosedJaxpr, P], R]:
    """Returns a function of a jaxpr and hashable arguments that computes each result once a jaxpr.

    The results are kept in the jaxpr, and die with it. A result for several jaxprs, such as the branches of a choice,
    is kept in the one that dies first. A result is computed in each call if rules of primitives without ``pure_rules``
    ran for it.

    >>> from lawful.core import parse_jaxpr
    >>> @memoize
    ... def operands(closed):
    ...     print("counting")
    ...     return len(closed.invars)
    >>> closed = parse_jaxpr("{ lambda ; a:f64[]. let in (a,) }")
    >>> operands(closed), operands(closed)
    counting
    (1, 1)
    """
    return _memoized(function, _computed)


def memoize_program[**P, R](
    function: Callable[Concatenate[ClosedJaxpr, P], R],
) -> Callable[Concatenate[ClosedJaxpr, P], R]:
    """Memoizes a function that compiles: every program is compiled once, as under ``jit``, also by impure rules.

    >>> from lawful.core import parse_jaxpr
    >>> @memoize_program
    ... def text(closed):
    ...     print("compiling")
    ...     return str(closed)
    >>> closed = parse_jaxpr("{ lambda ; a:f64[]. let in (a,) }")
    >>> text(closed) == text(closed)
    compiling
    True
    """
    return _memoized(function, _compiled)


def _memoized[**P, R](
    function: Callable[Concatenate[ClosedJaxpr, P], R], result_of: Callable[..., Any]
) -> Callable[Concatenate[ClosedJaxpr, P], R]:
    name = function.__name__

    @functools.wraps(function)
    def memoized(closed: ClosedJaxpr, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if type(closed) is not ClosedJaxpr:
            require_closed(name, closed)
        others = _jaxprs_in(args)
        owner = max((closed, *others), key=_transience) if others else closed
        memo = transformed_jaxprs.memo(owner)
        known = args if owner is closed else (closed, _without(owner, args))
        key = (function, known, *sorted(kwargs.items()))
        try:
            found = memo.get(key, _MISSING)
        except LawfulError:
            raise
        except TypeError as error:
            text = str(error)  # Python 3.14 adds "cannot use 'tuple' as a dict key" before
            reason = text[max(0, text.find("unhashable")) :].rstrip(")")
            raise ArgumentTypeError(
                f"{name}: expected hashable arguments, got {reason}; give tuples for lists"
            ) from error
        if found is not _MISSING:
            transformed_jaxprs.hits += 1
            return cast(R, found)
        transformed_jaxprs.misses += 1
        result = cast(R, result_of(owner, memo, key, lambda: function(closed, *args, **kwargs)))
        _lives_with(owner, result)
        return result

    return memoized


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
    """Returns how soon a jaxpr dies, compared with others of a program.

    A jaxpr that holds a user's functions is traced again for new functions. One without them may be deduplicated, and
    lives longer. A transformed jaxpr dies with the one that it was made of.
    """
    if closed.transience is not None:
        return closed.transience
    return 2 if _holds_objects(closed) else 1 if closed.consts else 0


def _lives_with(owner: ClosedJaxpr, result: object) -> None:
    """Notes in the jaxprs of a result in whose memo it is, unless they are kept elsewhere."""
    if isinstance(result, ClosedJaxpr):
        if result.transience is None and not result.is_plain:
            result.transience = _transience(owner)
        return
    fields = getattr(type(result), "__lawful_fields__", None)
    parts = fields(result) if fields else result
    if isinstance(parts, tuple):
        for part in parts:
            _lives_with(owner, part)


def _without(owner: ClosedJaxpr, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Returns arguments as a key in the memo of one of them, without a reference to it, which would be a cycle."""
    return tuple(
        [
            _OWNER if arg is owner else _without(owner, arg) if type(arg) is tuple and owner in _jaxprs_in(arg) else arg
            for arg in args
        ]
    )


#: Replaces the jaxpr that holds a memo, in the keys of the memo.
_OWNER: Final = object()


def _compiled(closed: ClosedJaxpr, memo: Memo, key: object, compute: Callable[[], object]) -> object:
    """Returns a result, and keeps it."""
    result = memo[key] = compute()
    return result


class _Unkept(threading.local):
    """Results of impure rules during the outermost computation, by the identity of the jaxpr."""

    results: dict[object, tuple[ClosedJaxpr, object]] | None = None


_unkept = _Unkept()


def _computed(closed: ClosedJaxpr, memo: Memo, key: object, compute: Callable[[], object]) -> object:
    """Returns a result, and keeps it if no impure rule ran; otherwise until the outermost computation ends.

    Without that, a result would be computed once for each use, and nesting multiplies the uses.
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
        result = _deduplicated(result)
        results[id(closed), key] = closed, result
    return result


def _deduplicated(result: object) -> object:
    """Returns a result with deduplicated jaxprs, whose compiled programs are cached."""
    if isinstance(result, ClosedJaxpr):
        return deduplicated(result)
    return tuple(map(_deduplicated, result)) if type(result) is tuple else result


@memoize
def _holds_objects(closed: ClosedJaxpr) -> bool:
    return any([any(map(_is_object, eqn.params.values())) for eqn in closed.eqns])


def _is_object(param: Any) -> bool:
    """Whether a parameter is or holds a function or another object of the user."""
    if isinstance(param, ClosedJaxpr):
        return _holds_objects(param)
    return any(map(_is_object, param)) if type(param) is tuple else not is_known_param(param)
