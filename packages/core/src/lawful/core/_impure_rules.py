"""How often this thread ran a rule that may be impure: a cache keeps no result of a computation that did."""

from __future__ import annotations

import threading


class _Count(threading.local):
    count = 0


_impure = _Count()


def note_impure_rule() -> None:
    """Notes that a rule of a primitive without ``pure_rules`` runs in this thread."""
    _impure.count += 1


def impure_rules() -> int:
    """Returns how many rules without ``pure_rules`` ran in this thread: a pure result adds none."""
    return _impure.count
