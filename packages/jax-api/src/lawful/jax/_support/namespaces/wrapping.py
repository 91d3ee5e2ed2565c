"""The wrappers around lawful's functions: JAX's keywords in, Arrays out."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Final

import numpy

from lawful import tree
from lawful.autodiff import LinearFunction, VJPFunction
from lawful.core import ArgumentTypeError, ArgumentValueError, Tracer, shorten
from lawful.jax._support.array import Array, as_jax, placed, plain, says_nothing, weak
from lawful.jax._support.devices import DEVICE_ARRAYS
from lawful.jax._support.namespaces.number_operands import numbers_beside_arrays
from lawful.jax._support.namespaces.refusals import NEUTRAL, OWN_VALUES, REASONS
from lawful.jax._support.namespaces.weakness import keeps_weakness
from lawful.jax._support.user_functions import within
from lawful.numpy.linalg._matrices import LinAlgError, bad_matrices_give_nan

Function = Callable[..., Any]
#: JAX's parameter that lays out a result. The wrappers do it, and no function of lawful has it.
PLACE: Final = "out_sharding"
#: The functions that return a key beside the result that it lays out.
_RETURN_KEYS: Final = frozenset({"rng_bit_generator"})


def returns_arrays(function: Function, signature: inspect.Signature | None = None) -> Function:
    """Returns a function whose results are `Array`s, and which takes JAX's arguments.

    Args:
      function: a function of arrays of lawful's.
      signature: JAX's. An argument that lawful's function lacks is accepted with a value that changes nothing, and
        refused otherwise. An ``out_sharding`` is a constraint of the result.
    """
    adapt = Keywords(function, signature).adapted if signature is not None else None
    function = numbers_beside_arrays(function)
    is_placed = _is_placed(signature)
    name = getattr(function, "__name__", "")

    @functools.wraps(function, updated=())
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        place = None
        if kwargs:
            place = _take_place(name, kwargs) if is_placed else None
            if adapt is not None:
                args, kwargs = adapt(args, kwargs)
            kwargs = {name: plain(x) for name, x in kwargs.items()}
            if hasattr(kwargs.get("device"), "devices_indices_map"):
                place = kwargs.pop("device")
        with numpy.errstate(all="ignore"):
            try:
                result = function(*map(plain, args), **kwargs)
            except LinAlgError:
                with bad_matrices_give_nan():
                    result = function(*map(plain, args), **kwargs)
        result = _owned(as_jax(result), args)
        return placed(result, place)

    adapted = keeps_weakness(wrapper, name)
    if signature is not None:
        adapted.__signature__ = signature  # type: ignore[attr-defined]
    return adapted


def _is_placed(signature: inspect.Signature | None) -> bool:
    return signature is not None and PLACE in signature.parameters


def _take_place(name: str, kwargs: dict[str, Any]) -> Any:
    """Takes the layout of the results out of the arguments of a call; None says nothing."""
    place = kwargs.pop(PLACE, None)
    if says_nothing(place):
        return None
    if kwargs.get("device") is not None:
        raise ArgumentValueError(
            f"{name}: expected a device or an {PLACE}, got both, {kwargs['device']} and {place}; leave one out"
        )
    return (None, place) if name in _RETURN_KEYS else place


def _owned(result: Any, args: tuple[Any, ...]) -> Any:
    """Returns a result that shares no memory with arrays of the caller, who may overwrite them."""
    if type(result) is Array and result.base is not None:
        for x in args:
            if type(x) is numpy.ndarray and numpy.may_share_memory(x, result):
                return as_jax(numpy.array(result.view(numpy.ndarray)))
    elif type(result) in (tuple, list):
        return type(result)([_owned(part, args) for part in result])
    return result


class Keywords:
    """How keyword arguments of a function of JAX become arguments of lawful's."""

    def __init__(self, function: Function, signature: inspect.Signature) -> None:
        self.name = getattr(function, "__name__", type(function).__name__)
        known = _parameters(function)
        self.foreign = [
            (position, name, parameter.default)
            for position, (name, parameter) in enumerate(signature.parameters.items())
            if known is not None
            and name not in known
            and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        ]

    def adapted(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Returns the arguments for lawful's function: operands that have no names there by position."""
        taken = dict(kwargs)
        for position, name, default in self.foreign:
            if name not in taken:
                continue
            x = taken.pop(name)
            if default is inspect.Parameter.empty:
                if position != len(args):
                    raise ArgumentTypeError(f"{self.name}: expected one {name}, got several; give operands in order")
                args = (*args, x)
            elif not _changes_nothing(name, x, default):
                reason = REASONS.get(name, "lawful has no such argument")
                raise ArgumentValueError(f"{self.name}: expected no {name}, got {shorten(x)}; {reason}")
        return args, taken


def _changes_nothing(name: str, x: Any, default: Any) -> bool:
    if x is None or x is default or name in NEUTRAL:
        return True
    if isinstance(x, str) and x in OWN_VALUES.get(name, ()):
        return True
    if name == "_dot_general" and x is importlib.import_module("lawful.jax.lax").dot_general:
        return True
    return type(x) is type(default) and isinstance(x, bool | int | float | str | tuple) and bool(x == default)


def _parameters(function: Function) -> frozenset[str] | None:
    """Returns the names that a function takes as keywords; None if it takes all."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return frozenset()
    if any(p.kind is p.VAR_KEYWORD for p in parameters) and not any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    return frozenset(p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY))


def transforms(function: Function, signature: inspect.Signature | None = None) -> Function:
    """Returns a transformation whose results, and those of the functions among them, are trees of Arrays.

    Arguments: as for `returns_arrays`. The user's functions get their arguments as they are.
    """
    adapt = Keywords(function, signature).adapted if signature is not None else None
    is_placed = _is_placed(signature)
    name = getattr(function, "__name__", "")

    @functools.wraps(function, updated=())
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        place = _take_place(name, kwargs) if is_placed else None
        if kwargs and adapt is not None:
            args, kwargs = adapt(args, kwargs)
        if args and callable(args[0]) and not isinstance(getattr(args[0], "__name__", ""), str):
            args = (functools.partial(args[0]), *args[1:])  # without that name, which functools.wraps would refuse
        return placed(to_jax(_within_jax(function, args, kwargs)), place)

    if signature is not None:
        wrapper.__signature__ = signature  # type: ignore[attr-defined]
    return wrapper


def _within_jax(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls a transformation, within which known results of methods of tracers are Arrays."""
    before = within.active
    within.active = True
    try:
        return function(*args, **kwargs)
    finally:
        within.active = before


def to_jax(x: Any) -> Any:
    """Returns a result of a transformation with its NumPy arrays as Arrays, and functions that return such results."""
    cls = type(x)
    if cls is numpy.ndarray or cls in DEVICE_ARRAYS:
        return as_jax(x)
    if isinstance(x, Tracer | Returned | AbstractContextManager):
        return x
    if isinstance(x, VJPFunction | LinearFunction):
        return ReturnedTree(x)
    if callable(x) and not isinstance(x, type) and not tree.is_tree_node(cls):
        return Returned(x)
    if cls is tuple:
        return tuple(map(to_jax, x))
    return tree.map(_leaf, x)


def _leaf(x: Any) -> Any:
    cls = type(x)
    return weak(x) if cls is float or cls is complex else as_jax(x)


class Returned:
    """A function that a transformation returned; its results are `Array`s.

    It has the attributes of the original, and of the function that this transforms.
    """

    def __init__(self, function: Function) -> None:
        functools.update_wrapper(self, function, updated=())
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Returns what the function gives."""
        return to_jax(_within_jax(self._function, args, kwargs))

    def __getattr__(self, name: str) -> Any:
        if name == "_function":  # a copy that has no attributes yet
            raise AttributeError(name)
        if name == "__signature__":  # inspect takes an object with __get__ for a builtin
            return _signature(vars(self).get("__wrapped__", self._function))
        wrapped = getattr(self._function, "__wrapped__", None)
        if wrapped is None or name.startswith("__") or hasattr(self._function, name):
            return getattr(self._function, name)
        return getattr(wrapped, name)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return repr(self._function)


def _signature(function: Function) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise AttributeError("__signature__") from error


class ReturnedTree(Returned):
    """A returned function that is a pytree, with `Array`s as leaves."""


tree.register_node(
    ReturnedTree, lambda x: ((tree.map(_leaf, x._function),), None), lambda _, children: ReturnedTree(*children)
)
