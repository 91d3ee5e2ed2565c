"""The jaxprs of Python functions that lowering rules are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from lawful.core import Cache, ClosedJaxpr, ShapedArray
from lawful.staging import ShapeDtypeStruct, make_jaxpr


def recorded(function: Callable[..., Any], *avals: ShapedArray) -> ClosedJaxpr:
    """Returns the jaxpr of a function of arrays of some types."""
    program: ClosedJaxpr = make_jaxpr(function)(*[ShapeDtypeStruct(aval.shape, aval.dtype) for aval in avals])
    return program


# A rule may make functions in each call: their programs must not outlive them.
_programs: WeakKeyDictionary[Callable[..., Any], Cache[tuple[ShapedArray, ...], ClosedJaxpr]] = WeakKeyDictionary()


def recorded_once(function: Callable[..., Any], *avals: ShapedArray) -> ClosedJaxpr:
    """Returns the same, from a cache if the function was recorded before."""
    cache = _programs.get(function)
    if cache is None:
        cache = _programs.setdefault(function, Cache("programs of lowering rules", 64))
    program = cache.lookup(avals)
    if program is None:
        program = recorded(function, *avals)
        cache.insert(avals, program)
    return program
