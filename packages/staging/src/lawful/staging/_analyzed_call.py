"""Calls that tools analyze: static arguments of ``jit``, and objects that are no arrays, are given as they are."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from types import FunctionType, MethodType
from typing import Any

from lawful import tree
from lawful.core import ArgumentTypeError, ShapedArray, is_array
from lawful.staging._signature import Statics, argument_names, function_name, has_type, in_avals


def declare_statics(function: Any, statics: Statics) -> None:
    """Notes which arguments of a function are static, for those who trace it.

    >>> def f(x, n): ...
    >>> declare_statics(f, Statics((1,), ("n",)))
    >>> declared_statics(f)
    Statics(argnums=(1,), argnames=('n',))
    """
    function._statics = statics


def declared_statics(function: Any) -> Statics:
    """Returns the static arguments of a function of `jit`, also of a method, a partial, or a function that wraps it.

    A wrapper of any arguments that says so, by ``functools.wraps``, has those of the wrapped function. Of a wrapper
    with parameters of its own those are static that have the names of static ones.

    >>> from lawful.staging import jit
    >>> declared_statics(functools.partial(jit(lambda x, n: x, static_argnums=1), 1.0))
    Statics(argnums=(0,), argnames=('n',))
    """
    if isinstance(function, functools.partial):
        return _after(len(function.args), declared_statics(function.func))
    if isinstance(function, MethodType):
        return _after(1, declared_statics(function.__func__))
    found = getattr(function, "_statics", None)  # functools.wraps copies it
    if not isinstance(found, Statics):
        wrapped = getattr(function, "__wrapped__", None)
        found = Statics() if wrapped is None else declared_statics(wrapped)
    return _among_parameters(function, found) if found and isinstance(function, FunctionType) else found


def _among_parameters(function: FunctionType, statics: Statics) -> Statics:
    """Returns those of the static arguments of a wrapped function that the wrapper has too, by their names."""
    code = function.__code__
    if code.co_flags & inspect.CO_VARARGS:
        return statics
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    positions = [i for i, name in enumerate(names[: code.co_argcount]) if name in statics.argnames]
    takes_any = code.co_flags & inspect.CO_VARKEYWORDS
    return Statics(tuple(positions), tuple([name for name in statics.argnames if takes_any or name in names]))


def _after(count: int, statics: Statics) -> Statics:
    """Returns the static arguments when the first ones are given."""
    return Statics(tuple([i - count if i >= 0 else i for i in statics.argnums if not 0 <= i < count]), statics.argnames)


class StaticArgument:
    """A static argument as a leaf, whatever it is.

    >>> tree.leaves(mark_statics(Statics((1,)), (2.0, ("relu",)), {}))[1].value
    ('relu',)
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def mark_statics(
    statics: Statics, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Returns the arguments of a call with a StaticArgument in place of each one that is static."""
    positions = {i % len(args) if i < 0 and args else i for i in statics.argnums}
    return (
        tuple([StaticArgument(x) if i in positions else x for i, x in enumerate(args)]),
        {name: StaticArgument(x) if name in statics.argnames else x for name, x in kwargs.items()},
    )


def called(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Returns the result of a function.

    Raises:
      ArgumentTypeError: it does not take these arguments.

    >>> called("cost of f", lambda x, y: x, (2.0,), {})
    Traceback (most recent call last):
    lawful.core._errors.ArgumentTypeError: ...: cost of f: expected arguments for (x, y): missing a required ...
    """
    try:
        return function(*args, **kwargs)
    except TypeError as error:
        # Without a frame below this one, the call itself failed.
        if error.__traceback__ is not None and error.__traceback__.tb_next is None:
            _require_arguments(name, function, args, kwargs)
        raise


def _require_arguments(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # a builtin has none
        return
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        raise ArgumentTypeError(
            f"{name}: expected arguments for {signature}: {error}; give those that the function takes"
        ) from None


class AnalyzedCall:
    """A call as a function of its arrays. Other objects, and static arguments, are given as they are.

    Args:
      tool: who analyzes it, for messages.
      function: the function.
      args: its arguments; ``ShapeDtypeStruct`` may stand for arrays.
      kwargs: the same, by name.

    Attributes:
      arrays: the leaves that are arrays, numbers, or have a shape and a dtype.
      avals: their types.
      names: their names, as the user writes them: ``params['w']``.

    Raises:
      NonArrayError: there are leaves and none is an array, or one is an iterator, which can be read only once.

    >>> call = AnalyzedCall("cost", lambda x, name, n: (x, name, n), (2.0, "relu"), {"n": 3})
    >>> call.arrays, call.names, call(5.0, 6)
    ([2.0, 3], ['x', 'n'], (5.0, 'relu', 6))
    """

    def __init__(self, tool: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._function = function
        self.__name__ = function_name(function)
        self._leaves, self._tree = tree.flatten(mark_statics(declared_statics(function), args, kwargs))
        is_input = [is_array(x) or has_type(x) for x in self._leaves]
        self._positions = [i for i, known in enumerate(is_input) if known]
        # A number stands for what is given as it is.
        checked = [
            x if known or _is_refused(x, bool(self._positions)) else 0
            for x, known in zip(self._leaves, is_input, strict=True)
        ]
        self._label = f"{tool} of {self.__name__}"
        avals = in_avals(self._label, self._tree.unflatten(checked), checked, values=False)
        self.arrays = [self._leaves[i] for i in self._positions]
        self.avals: tuple[ShapedArray, ...] = tuple([avals[i] for i in self._positions])

    @property
    def names(self) -> list[str]:
        names = argument_names(self._function, self._tree)
        return [names[i] for i in self._positions]

    def __call__(self, *arrays: Any) -> Any:
        """Returns the result for other arrays."""
        leaves = [x.value if isinstance(x, StaticArgument) else x for x in self._leaves]
        for position, x in zip(self._positions, arrays, strict=True):
            leaves[position] = x
        args, kwargs = self._tree.unflatten(leaves)
        return called(self._label, self._function, args, kwargs)


def _is_refused(x: Any, has_arrays: bool) -> bool:
    """Whether a leaf that is no array must be one: an iterator can be read only once."""
    return not isinstance(x, StaticArgument) and (not has_arrays or isinstance(x, Iterator))
