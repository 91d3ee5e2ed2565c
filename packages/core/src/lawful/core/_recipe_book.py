"""What was derived of the rules of primitives, remembered until a rule is defined anew, or much else came meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, Concatenate
from weakref import WeakSet

from lawful.core._impure_rules import impure_rules
from lawful.core._trace import current


class RecipeBook:
    """Remembers what was derived of the rules of primitives, by key: see `remembered`.

    Attributes:
      recipes: what was derived or asked for of late.
      older: what was so before; what is not asked for until there is much else again is forgotten.
    """

    __slots__ = ("__weakref__", "older", "recipes")

    def __init__(self) -> None:
        self.recipes: dict[Hashable, Any] = {}
        self.older: dict[Hashable, Any] = {}


#: Those that remember something.
_with_recipes: WeakSet[RecipeBook] = WeakSet()
#: How much of late is remembered by all of them together, at most and now.
_MOST_RECENT = 4096
_recent = 0
#: How often a rule has been defined.
_definitions = 0
# A collection of garbage may start while it is held, and run a finalizer that asks for a recipe.
_lock = threading.RLock()
#: Stands for what is derived the next time, and for what is not remembered.
NOTED: Any = object()
_ABSENT: Any = object()


def remembered[B: RecipeBook, R](
    book: B, key: Hashable, derive: Callable[Concatenate[B, ...], R | None], *args: Any
) -> R | None:
    """Returns what was derived of the rules of primitives, once for each key.

    To derive it takes several times as long as what it is derived for. Where values are computed at once, and a key
    may never come again, as with arrays of another length in every call, it is only noted the first time. A program
    that is recorded has the same equations whatever came before, so that there it is derived the first time.

    Args:
      book: keeps what is remembered, and forgets it when a rule is defined: the primitive whose rule it is, or one
        of a function.
      key: all that the result depends on beside the rules.
      derive: runs rules on types. It is called again only after `clear_memos`, and where thousands of others came
        since.
      args: what ``derive`` is given after the book.

    Returns:
      The result; None where it is not derived yet, or cannot be on types alone, because something looks at values or
      fails.
    """
    found: R | None
    try:
        found = book.recipes[key]
    except KeyError:
        found = _asked_again(book, key)
        if found is _ABSENT:
            if current.trace.evaluates_constants:
                remember(book, key, NOTED, _definitions)
                return None
            found = NOTED
    except TypeError:  # a parameter is not hashable
        return None
    return _derived(book, key, derive, args) if found is NOTED else found


def _asked_again(book: RecipeBook, key: Hashable) -> Any:
    """Returns what is remembered of before, which is of late then."""
    with _lock:
        found = book.older.get(key, _ABSENT)
        if found is not _ABSENT:
            _keep(book, key, found)
        return found


def _derived[R](book: RecipeBook, key: Hashable, derive: Callable[..., R | None], args: Any) -> R | None:
    since = _definitions
    found = derived_or_none(lambda: derive(book, *args))
    remember(book, key, found, since)
    return found


def derived_or_none[R](derive: Callable[[], R | None]) -> R | None:
    """Returns what running rules on types gives; None where that fails, or a rule may be impure.

    The rules themselves are asked then: they look at values, or they say what is wrong, and of which values.
    """
    before = impure_rules()
    try:
        found = derive()
    except Exception:  # of a rule, which is anybody's, and is run again
        return None
    return found if impure_rules() == before else None


def remember(book: RecipeBook, key: Hashable, recipe: Any, since: int) -> None:
    """Keeps what was derived of rules, unless one has been defined since: see `definitions`."""
    with _lock:
        if since == _definitions:
            _keep(book, key, recipe)


def _keep(book: RecipeBook, key: Hashable, recipe: Any) -> None:
    global _recent
    if _recent >= _MOST_RECENT:
        _recent = 0
        for other in list(_with_recipes):
            other.older, other.recipes = other.recipes, {}
    _with_recipes.add(book)
    _recent += 1
    book.recipes[key] = recipe


def forget_recipes() -> None:
    """Forgets all that was derived of the rules of primitives."""
    with _lock:
        _forget()


def definitions() -> int:
    """Returns how often a rule has been defined: what was derived before the last time may be another one now."""
    return _definitions


def note_definition() -> None:
    """Notes that a rule is defined: what was derived of rules may be another one now."""
    global _definitions
    with _lock:
        _definitions += 1
        _forget()


def _forget() -> None:
    global _recent
    _recent = 0
    if not _with_recipes:  # as while lawful is imported, which defines a thousand rules
        return
    for book in list(_with_recipes):
        book.recipes, book.older = {}, {}
    _with_recipes.clear()
