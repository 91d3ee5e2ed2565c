"""Arguments of users' functions: `Array`s, where the packages of lawful pass NumPy arrays."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Collection
from typing import Any, Final

import numpy

from lawful import tree
from lawful.core import Tracer, define_array_methods
from lawful.custom_rules import CustomVJPPrimal
from lawful.jax._support.array import Array, as_jax, weak
from lawful.jax._support.devices import DEVICE_ARRAYS
from lawful.staging import is_jit_disabled

Function = Callable[..., Any]

_NUMBERS: Final = (float, complex, int, bool)
#: The functions that call functions of users with arrays.
_CALLING: Final = frozenset(
    ["apply_along_axis", "apply_over_axes", "associative_scan", "bicgstab", "cg", "fromfunction", "gmres", "piecewise"]
)
#: Those that trace functions of users, unless ``jit`` is disabled.
_TRACING: Final = frozenset({"cond", "fori_loop", "map", "scan", "switch", "while_loop"})


class KnownNumber:
    """A Python number among the residuals of a reverse rule: part of their structure, and no array, as in JAX."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


tree.register_node(
    KnownNumber, lambda x: ((), (type(x.value), repr(x.value), x.value)), lambda aux, _: KnownNumber(aux[2])
)


def keeps_known_numbers(fwd: Function) -> Function:
    """Returns a forward rule whose residuals that are Python numbers reach the backward rule as they are."""

    @functools.wraps(fwd, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        pair = fwd(*args, **kwargs)
        if type(pair) not in (tuple, list) or len(pair) != 2:
            return pair
        out, residuals = pair
        return out, tree.map(lambda x: KnownNumber(x) if type(x) in _NUMBERS else x, residuals)

    return call


def given(x: Any) -> Any:
    """Returns an argument of a function of a user: a pytree whose arrays and numbers are `Array`s."""
    cls = type(x)
    if cls is numpy.ndarray or cls in DEVICE_ARRAYS or isinstance(x, numpy.generic):
        return as_jax(x)
    if cls in _NUMBERS:
        return weak(x)
    if cls is Array or x is None or isinstance(x, Tracer):
        return x
    if cls is KnownNumber:
        return x.value
    if cls is CustomVJPPrimal:
        return CustomVJPPrimal(given(x.value), x.perturbed)
    return tree.map(given, x, is_leaf=_is_known_number) if tree.is_tree_node(cls) else x


def _is_known_number(x: Any) -> bool:
    return type(x) is KnownNumber


def receives_arrays(function: Function, kept: Collection[int] = ()) -> Function:
    """Returns a function of a user whose arguments are `Array`s, apart from those at some positions."""

    @functools.wraps(function, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        taken = [x if i in kept else given(x) for i, x in enumerate(args)]
        return function(*taken, **{name: given(x) for name, x in kwargs.items()})

    return call


def gives_arrays(wrapper: Function, name: str) -> Function:
    """Returns JAX's function of a name, of which arguments that are functions get `Array`s."""
    if name not in _CALLING and name not in _TRACING:
        return wrapper

    @functools.wraps(wrapper, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        if name in _TRACING and not is_jit_disabled():
            return wrapper(*args, **kwargs)
        return wrapper(*map(_receiving, args), **{key: _receiving(x) for key, x in kwargs.items()})

    return call


def _receiving(x: Any) -> Any:
    cls = type(x)
    if cls is list or cls is tuple:
        return cls(map(_receiving, x))
    return receives_arrays(x) if callable(x) and not isinstance(x, type | Tracer) else x


class _Within(threading.local):
    """Whether this thread is in a transformation of `lawful.jax`."""

    active = False


within = _Within()


def _known(method: Function) -> Function:
    """Returns a method of tracers whose results that are known are `Array`s within a transformation of `lawful.jax`."""

    @functools.wraps(method)
    def call(self: Tracer, *args: Any, **kwargs: Any) -> Any:
        result = method(self, *args, **kwargs)
        return as_jax(result) if within.active and not isinstance(result, Tracer) else result

    return call


_METHODS: Final = (
    *("__eq__", "__ge__", "__gt__", "__le__", "__lt__", "__ne__", "__round__", "all", "any", "argmax", "argmin"),
    *("argpartition", "argsort", "astype", "byteswap", "nonzero", "round", "searchsorted", "view"),
)
define_array_methods(type("Known", (), {name: _known(getattr(Tracer, name)) for name in _METHODS}))
