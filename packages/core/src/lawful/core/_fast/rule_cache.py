"""Cached rules: what rules of primitives do for arguments of some types, until a rule is redefined."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, Final

from lawful.core._primitive.rules import impure_rules, rule_observers
from lawful.core._trace.trace import current
from lawful.tree.base import Cache

#: By key: a traced rule, None where the rule cannot be traced, or SEEN_ONCE.
rule_cache: Final[Cache[Hashable, Any]] = Cache("cached rules", 8192)
#: Stands for a rule that is traced if it is asked for again.
SEEN_ONCE: Final[Any] = object()
_ABSENT: Final[Any] = object()

#: How many rules have been defined.
_definitions = 0
# A collection of garbage may start while it is held, and run a finalizer that asks for a rule.
_lock = threading.RLock()


def cached_rule[R](key: Hashable, derive: Callable[..., R | None], *args: Any) -> R | None:
    """Returns what ``derive`` makes of rules, once for each key.

    Tracing a rule takes several times as long as running it. Where values are computed at once, and a key may never
    come again, as with arrays of another length in every call, a rule is traced at the second call. A program that is
    recorded has the same equations whatever ran before, so that there a rule is traced at the first.

    Args:
      key: all that the result depends on beside the rules, ``derive`` included.
      derive: runs rules on types.
      args: its arguments.

    Returns:
      The result; None where it is not derived yet, or cannot be on types alone, because a rule looks at values or
      fails.
    """
    found: R | None
    try:
        found = rule_cache.lookup(key, _ABSENT)
    except TypeError:  # a parameter is not hashable
        return None
    if found is _ABSENT:
        if current.trace.evaluates_constants:
            insert_rule(key, SEEN_ONCE, _definitions)
            return None
        found = SEEN_ONCE
    if found is SEEN_ONCE:
        since = _definitions
        found = derived_or_none(derive, *args)
        insert_rule(key, found, since)
    return found


def derived_or_none[R](derive: Callable[..., R | None], *args: Any) -> R | None:
    """Returns what running rules on types gives; None where that fails, or a rule may be impure.

    Then the rules run on the values: they look at them, or they raise the error, and of which values.
    """
    before = impure_rules()
    try:
        found = derive(*args)
    except Exception:  # of a rule, which may raise anything, and runs again on the values
        return None
    return found if impure_rules() == before else None


def insert_rule(key: Hashable, rule: Any, since: int) -> None:
    """Keeps what was derived of rules, unless one has been defined since: see `definitions`."""
    with _lock:
        if since == _definitions:
            rule_cache.insert(key, rule)


def definitions() -> int:
    """Returns how many rules have been defined: what was derived at another count may be wrong now."""
    return _definitions


def _forget_rules() -> None:
    global _definitions
    with _lock:
        _definitions += 1
        if rule_cache.young:  # it is empty while lawful is imported, which defines a thousand rules
            rule_cache.clear()


rule_observers.append(_forget_rules)
