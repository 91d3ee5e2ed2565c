"""Conversion of arguments to real or complex numbers of one floating dtype."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

import numpy

from lawful.core import ArgumentTypeError, get_aval, is_inexact
from lawful.ops import promote


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


def static_integer(name: str, argument: str, value: Any) -> int:
    """Returns an argument that has to be an integer; raises ArgumentTypeError if it is none."""
    if isinstance(value, int | numpy.integer) and not isinstance(value, bool):
        return int(value)
    raise ArgumentTypeError(f"{name}: expected a static integer as {argument}, got {value!r}; give a Python integer")
