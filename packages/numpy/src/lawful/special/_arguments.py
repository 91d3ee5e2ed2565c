"""Conversion of arguments to real or complex numbers of one floating dtype."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import unwrap
from typing import Any, cast

import numpy

from lawful.core import ArgumentTypeError, Tracer, get_aval, is_inexact
from lawful.ops import Composite, promote

#: Floats are exact up to here.
_EXACT = 2**53


def floats(name: str, *args: Any, keep_scalars: bool = False) -> list[Any]:
    """Returns arguments broadcast to one shape, and promoted to one real floating dtype.

    Args:
      name: the function, for error messages.
      args: arrays, numbers or tracers.
      keep_scalars: whether scalars beside arrays stay scalars, so that a function of them alone is computed once.

    Raises:
      ArgumentTypeError: one of them is complex.
      ArgumentValueError: their shapes do not broadcast together.
    """
    return [promote(name, numpy.cbrt, (x,))[0] for x in promote(name, None, args, keep_scalars=keep_scalars)]


def inexact(name: str, x: Any) -> Any:
    """Returns an array, converted to floats if it has integers or booleans."""
    if is_inexact(get_aval(x).dtype):
        return promote(name, None, (x,))[0]
    return floats(name, x)[0]


def _plain(out: Any) -> Any:
    """Returns NumPy's scalar for a zero-dimensional array."""
    if isinstance(out, tuple):
        return tuple(map(_plain, out))
    return out[()] if isinstance(out, numpy.ndarray) and not out.ndim else out


def silent[F: Callable[..., Any]](function: F) -> F:
    """Returns a function that does not warn about infinity and NaN: these are valid results, as in SciPy."""

    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with numpy.errstate(all="ignore"):
            return _plain(function(*args, **kwargs))

    return cast(F, wrapper)


def composed[F: Callable[..., Any]](function: F) -> F:
    """Returns a `silent` function whose positional arguments, arrays and numbers, are those of a composite.

    Args:
      function: computes in floats: an integer of Python beside a traced float may be a float.
    """
    code = unwrap(function).__code__
    names = code.co_varnames[: code.co_argcount]
    defaults = dict(zip(names[::-1], (function.__defaults__ or ())[::-1], strict=False))
    composites = [Composite(function, count) for count in range(len(names) + 1)]

    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with numpy.errstate(all="ignore"):
            given = _positional(names, defaults, args, kwargs) if kwargs else args
            if given is None or not any([isinstance(x, Tracer) and is_inexact(x.dtype) for x in given]):
                return _plain(function(*args, **kwargs))
            if len(given) > len(names):
                return function(*args, **kwargs)  # raises the error
            operands = [float(x) if type(x) is int and abs(x) <= _EXACT else x for x in given]
            return _plain(composites[len(operands)](*operands))

    return cast(F, wrapper)


def _positional(
    names: tuple[str, ...], defaults: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...] | None:
    """Returns arguments by position; None if one of a name is unknown, given twice, or missing."""
    rest = names[len(args) :]
    last = max([rest.index(name) if name in rest else len(rest) for name in kwargs])
    found = [kwargs.get(name, defaults.get(name)) for name in rest[: last + 1]]
    return None if last == len(rest) or any([x is None for x in found]) else (*args, *found)


def static_integer(name: str, argument: str, value: Any) -> int:
    """Returns an argument that has to be an integer; raises ArgumentTypeError if it is none."""
    if isinstance(value, int | numpy.integer) and not isinstance(value, bool):
        return int(value)
    raise ArgumentTypeError(f"{name}: expected a static integer as {argument}, got {value!r}; give a Python integer")
