"""Cached rules: traced rules of primitives for arguments of some types, discarded when a rule is redefined."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, Final

from lawful.core._hook import traces_are_plain
from lawful.core._primitive.rules import impure_rules, note_use_of_rules, rule_observers
from lawful.core._trace.trace import current
from lawful.tree.base import Cache

#: By key: a traced rule, None where the rule cannot be traced, or SEEN_ONCE.
rule_cache: Final[Cache[Hashable, Any]] = Cache("cached rules", 8192)
#: Marks a rule that is traced at its next lookup.
SEEN_ONCE: Final[Any] = object()
_ABSENT: Final[Any] = object()

#: How many rules have been defined of primitives that results may have been derived from.
_definitions = 0
# Reentrant: a garbage collection may start while it is held, and run a finalizer that looks up a rule.
_lock = threading.RLock()


def cached_rule[R](key: Hashable, derive: Callable[..., R | None], *args: Any) -> R | None:
    """Returns the result of ``derive``, which traces rules, once for each key.

    Tracing a rule takes several times as long as running it. Where values are computed at once, and a key may never
    come again, as with arrays of another length in every call, a rule is traced at the second call. A program that is
    recorded has the same equations whatever ran before, so that there a rule is traced at the first.

    Args:
      key: everything that the result depends on beside the rules, ``derive`` included.
      derive: runs rules on types.
      args: its arguments.

    Returns:
      The result; None if it is not derived yet, if a rule looks at values or fails, so that types do not suffice, and
      inside `plain_traces`.
    """
    if traces_are_plain():
        return None
    found: R | None
    try:
        found = rule_cache.young.get(key, _ABSENT)
    except TypeError:  # a parameter is not hashable
        return None
    if found is not _ABSENT:
        rule_cache.hits += 1
    else:
        found = rule_cache.lookup(key, _ABSENT)
    if found is _ABSENT:
        if current.trace.evaluates_constants:
            insert_rule(key, SEEN_ONCE, _definitions)
            return None
        found = SEEN_ONCE
    if found is SEEN_ONCE:
        since = definitions()
        found = derived_or_none(derive, *args)
        insert_rule(key, found, since)
    return found


def derived_or_none[R](derive: Callable[..., R | None], *args: Any) -> R | None:
    """Returns the result of running rules on types; None if that fails, or a rule may be impure.

    Then the caller runs the rules on values, which they may look at, or which their errors name.
    """
    before = impure_rules()
    try:
        found = derive(*args)
    except Exception:  # a rule may raise anything, and runs again on the values
        return None
    return found if impure_rules() == before else None


def insert_rule(key: Hashable, rule: Any, since: int) -> None:
    """Caches a result of rules, unless a rule has been defined since: see `definitions`."""
    with _lock:
        if since == _definitions:
            rule_cache.insert(key, rule)


def definitions() -> int:
    """Returns how many rules have been defined, those of new primitives apart.

    A result that was derived at another count may be wrong.
    """
    note_use_of_rules()
    return _definitions


def _forget_rules() -> None:
    global _definitions
    with _lock:
        _definitions += 1
        if rule_cache.young:  # it is empty while lawful is imported, which defines a thousand rules
            rule_cache.clear()


rule_observers.append(_forget_rules)
