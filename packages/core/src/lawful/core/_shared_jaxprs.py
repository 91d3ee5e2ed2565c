"""Programs that are traced again: one that was traced of late with the same equations stands for all of them.

The body of a loop, a branch or a checkpointed function is traced in each call of what contains it, and mostly gives the
same program. What was derived of a jaxpr, its derivatives and its compiled form, is remembered in the jaxpr itself, and
takes many times as long as to trace it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from enum import Enum
from typing import Any, Final

import numpy as np

from lawful.core._aval import ShapedArray
from lawful.core._dtypes import float0
from lawful.core._jaxpr import Atom, ClosedJaxpr, Literal, Var
from lawful.core._recipe_book import definitions
from lawful.core._trace import current
from lawful.tree.base import PLAIN, exact_key

#: A longer program is traced seldom.
_MOST_EQUATIONS: Final = 1_000
#: So many programs are kept, ...
_MOST_KEPT: Final = 128
#: ... and each until so much was derived of it: there may be objects of the user's among what that was derived for.
_MOST_DERIVED: Final = 64
_MOST_NOTED: Final = 4_096

# A collection of garbage may start while it is held, and run a finalizer that traces.
_lock = threading.RLock()
#: What is given, by the hash of what only the same program has, the latest last.
_kept: OrderedDict[int, tuple[Hashable, ClosedJaxpr]] = OrderedDict()
#: Hashes of programs that were there once.
_noted: set[int] = set()


def shared_jaxpr(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the jaxpr that is the same program and was given before, if there is one; else the jaxpr itself.

    Two are the same where they have the same name, and each equation the same primitive, parameters, operands, types
    and line of the user's. Those are never found again that have constants, that hold functions or whatever else a user
    may have made in their parameters, that were traced under other named axes, or before a rule was defined.

    Where values are computed at once, and a program may never come again, as one with another number in each call, it
    is only noted the first time. A program that is recorded is the same whatever came before.

    Law: what is given is alpha-equivalent to what comes.

    >>> from lawful.core import Jaxpr
    >>> programs = [ClosedJaxpr(Jaxpr((), (), (), ())) for _ in range(3)]
    >>> first, second, third = [shared_jaxpr(closed) for closed in programs]
    >>> third is second
    True
    """
    key = _structure(closed)
    if key is None:
        return closed
    key = (current.trace.axis_env, definitions(), key)
    try:
        number = hash(key)
    except TypeError:  # of a parameter of the user's
        return closed
    closed.is_plain = True
    with _lock:
        known, found = _kept.get(number, (None, None))
        if found is not None and known == key and len(found.memo or ()) <= _MOST_DERIVED:
            _kept.move_to_end(number)
            return found
        if number in _noted or not current.trace.evaluates_constants:
            _keep(number, key, closed)
        else:
            if len(_noted) >= _MOST_NOTED:
                _noted.clear()
            _noted.add(number)
    return closed


def _keep(number: int, key: Hashable, closed: ClosedJaxpr) -> None:
    _noted.discard(number)
    _kept[number] = key, closed
    _kept.move_to_end(number)
    if len(_kept) > _MOST_KEPT:
        _kept.popitem(last=False)


def forget_shared_jaxprs() -> None:
    """Forgets all programs."""
    with _lock:
        _kept.clear()
        _noted.clear()


class _UnknownError(Exception):
    """A parameter may be anything."""


def _structure(closed: ClosedJaxpr) -> Hashable:
    """Returns what only the same program has; None if that cannot be told."""
    jaxpr = closed.jaxpr
    if closed.consts or len(jaxpr.eqns) > _MOST_EQUATIONS:
        return None
    number: dict[Var, int] = {var: i for i, var in enumerate(jaxpr.invars)}

    def known(atom: Atom) -> Hashable:
        return number[atom] if isinstance(atom, Var) else _literal(atom)

    equations: list[Hashable] = []
    try:
        for eqn in jaxpr.eqns:
            operands = tuple([known(atom) for atom in eqn.invars])
            results = tuple([var.aval for var in eqn.outvars])
            equations.append((eqn.primitive, _params(eqn.params), operands, results, eqn.source))
            for var in eqn.outvars:
                number[var] = len(number)
    except _UnknownError:
        return None
    inputs = tuple([var.aval for var in jaxpr.invars])
    return jaxpr.name, inputs, tuple(equations), tuple([known(atom) for atom in jaxpr.outvars])


def _literal(literal: Literal) -> Hashable:
    if literal.aval.dtype == float0:  # which has one value, that cannot be hashed
        return literal.aval
    return literal.aval, exact_key(literal.val)


def _params(params: dict[str, Any]) -> Hashable:
    return tuple([(name, _known(value)) for name, value in params.items()]) if params else ()


def is_known(value: Any) -> bool:
    """Whether a parameter is made of numbers, types and shared programs, so that it holds nothing that a user made."""
    try:
        _known(value)
    except _UnknownError:
        return False
    return True


def _known(value: Any) -> Hashable:
    """Returns a parameter as what only the same one is equal to; raises _UnknownError where that cannot be told."""
    cls = type(value)
    if cls in PLAIN:
        return cls, value, value == -1  # which has the hash of -2
    if cls is tuple:
        return tuple([_known(x) for x in value])
    if isinstance(value, ClosedJaxpr):
        # Itself: it was shared when it was traced. To compare programs within programs could take exponential time.
        if value.is_plain:
            return value
    elif isinstance(value, float | complex | np.generic):
        return exact_key(value)
    elif isinstance(value, np.dtype | Enum | ShapedArray):
        return cls, value
    elif fields := getattr(cls, "__lawful_fields__", None):
        return cls, _known(fields(value))
    raise _UnknownError
