"""``jax.debug``: printing and callbacks in traced programs, and pictures of shardings."""

import functools as _functools
import typing as _typing
from collections.abc import Callable as _Callable
from typing import Any as _Any

from lawful import debug as _debug
from lawful.core import ArgumentValueError as _ArgumentValueError
from lawful.debug._print import Printer as _Printer
from lawful.debug._print import require_match as _require_match
from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.jax._support.user_functions import given as _given


class _ArrayPrinter(_Printer):
    """Prints arrays as `Array`s, also those in pytrees."""

    def __call__(self, *args: _Any, **kwargs: _Any) -> None:
        super().__call__(*map(_given, args), **_given(kwargs))


def print(
    fmt: str | None = None,
    *args: _Any,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    **kwargs: _Any,
) -> _Any:
    """Prints values of a program when it runs; see `lawful.debug.print`.

    Args:
      fmt: a format string.
      args: pytrees, whose arrays print as `Array`s.
      ordered: as for `lawful.debug.callback`.
      partitioned: False: values are printed as a whole.
      skip_format_check: whether the format need not use all arguments.
      kwargs: the same as ``args``, by name.

    >>> import lawful.jax.numpy as jnp
    >>> print("{}", {"x": jnp.arange(2)})
    {'x': Array([0, 1], dtype=int64)}
    """
    _require_whole("print", partitioned)
    if fmt is None:
        return _functools.partial(print, ordered=ordered, skip_format_check=skip_format_check)
    if not isinstance(fmt, str):
        return _debug.print(fmt)
    if not skip_format_check:
        _require_match(fmt, args, kwargs)
    return _debug.callback(ordered=ordered)(_ArrayPrinter(fmt), *args, **kwargs)


def callback(
    callback: _Callable[..., _Any] | None = None,
    *args: _Any,
    ordered: bool = False,
    partitioned: bool = False,
    **kwargs: _Any,
) -> _Any:
    """Calls a function when a program runs; see `lawful.debug.callback`.

    >>> callback(lambda x, y: print("{}", x + y), 1.0, y=2.0)
    3.0
    """
    _require_whole("callback", partitioned)
    return _debug.callback(callback, *args, ordered=ordered, **kwargs)


def _require_whole(name: str, partitioned: bool) -> None:
    if partitioned:
        raise _ArgumentValueError(
            f"debug.{name}: expected partitioned=False, got {partitioned!r}; a callback gets whole arrays"
        )


if _typing.TYPE_CHECKING:
    from lawful.jax._typed.debug import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _debug, "lawful.jax._support.sharded_arrays", wrap=None)
