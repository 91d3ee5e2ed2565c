"""A function of a namespace: the library's own for values, lawful's for tracers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from operator import is_
from typing import Any

import numpy

import lawful.numpy as np
from lawful import tree
from lawful.autograd._primitive.function import call_hook
from lawful.autograd._primitive.rules import Rules
from lawful.core import ArgumentTypeError, NonArrayError, Tracer, TracerArrayConversionError
from lawful.ops import from_array_like

Function = Callable[..., Any]


class OfTracers:
    """The function that a namespace applies to tracers under a name, which a user's derivatives may replace.

    Args:
      name: the function's name.
      of_values: the library's function.
      of_tracers: lawful's function.

    Attributes:
      apply: lawful's function; once a user has defined derivatives, the library's function with these.
    """

    def __init__(self, name: str, of_values: Function, of_tracers: Function) -> None:
        self._of_values = of_values
        self._rules = Rules(name)
        self.apply = of_tracers

    def own_rules(self) -> Rules:
        """Returns the rules that a user defines, which are used from now on."""
        self.apply = lambda *args, **kwargs: call_hook.use(self._of_values, self._rules, args, kwargs)
        return self._rules


def dispatched(name: str, of_values: Function, of_tracers: Function) -> Function:
    """Returns the function that a namespace has under a name.

    Args:
      name: the name.
      of_values: the library's function, for arguments without tracers.
      of_tracers: lawful's function.

    A list with tracers in it is an array to both, and so is anything that NumPy converts. A user may define derivatives
    by ``defvjp`` and ``defjvp``, which then are used in place of lawful's.
    """
    traced = OfTracers(name, of_values, of_tracers)

    def function(*args: Any, **kwargs: Any) -> Any:
        for x in args:
            if isinstance(x, Tracer):
                try:
                    return traced.apply(*args, **kwargs)
                except (ArgumentTypeError, NonArrayError):
                    converted, named = _as_arrays(args), _as_arrays(kwargs)
                    if all(map(is_, (*args, *kwargs.values()), (*converted, *named.values()))):
                        raise
                    return traced.apply(*converted, **named)
        try:
            return of_values(*args, **kwargs)
        except TracerArrayConversionError:
            return traced.apply(*_as_arrays(args), **_as_arrays(kwargs))

    named: Any = wraps(of_values, updated=())(function) if hasattr(of_values, "__name__") else function
    named.__name__ = named.__qualname__ = name
    named.fun = of_values
    named.own_rules = traced.own_rules
    for method in ("reduce", "accumulate", "reduceat", "outer", "at"):
        if isinstance(of_values, numpy.ufunc) and hasattr(of_tracers, method):
            setattr(named, method, getattr(of_tracers, method))
    return named  # type: ignore[no-any-return]


def _as_arrays(arguments: Any) -> Any:
    """Returns arguments with arrays for lists that hold tracers and for objects that NumPy converts."""
    if isinstance(arguments, dict):
        return {name: as_array(x) for name, x in arguments.items()}
    return [as_array(x) for x in arguments]


def as_array(x: Any) -> Any:
    """Returns a list or tuple of numbers, arrays and tracers, or an object with ``__array__``, as an array."""
    if isinstance(x, list | tuple) and any([isinstance(leaf, Tracer) for leaf in tree.leaves(x)]):
        return np.array(x)
    found = from_array_like(x)
    if found is not x or isinstance(x, Tracer) or not hasattr(type(x), "__array__"):
        return found
    values = numpy.asarray(x)
    return _numbers(x, values) if values.dtype == object else found


def _numbers(x: Any, values: Any) -> Any:
    """Returns objects that are numbers as an array of numbers, as the values of columns of floats and bools are.

    Args:
      x: what they are the values of.
      values: the array of objects.

    Raises:
      ArgumentTypeError: others are among them, and ``x`` is of pandas.
    """
    numbers = values.ravel().tolist()
    if all([isinstance(number, int | float | complex | numpy.bool_ | numpy.number) for number in numbers]):
        found = numpy.array(numbers)
        if found.dtype.kind in "biufc":
            return found.reshape(values.shape)
    if hasattr(x, "to_numpy"):
        raise ArgumentTypeError(
            f"array: expected numbers, got a {type(x).__name__} of length {len(x)} with other values; leave these out, "
            "and convert it with to_numpy(float)"
        )
    return x
