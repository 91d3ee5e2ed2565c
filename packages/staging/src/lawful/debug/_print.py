"""``debug.print``: prints values of a program when it runs."""

from __future__ import annotations

import builtins
import functools
import re
from collections.abc import Mapping, Sequence
from string import Formatter
from typing import Any

from lawful.core import ArgumentTypeError, ArgumentValueError, record
from lawful.debug._callback import call_on_host


def print(fmt: str | None = None, *args: Any, ordered: bool = False, **kwargs: Any) -> Any:
    """Prints ``fmt.format(*args, **kwargs)`` to standard output when the program runs.

    Args:
      fmt: a format string, such as ``"x is {:.3f}"`` or ``"{name}"``. Not an f-string, which would be made while the
        program is traced. Without it, the function ``print(ordered=…)`` is returned, whose keyword arguments are all
        to be formatted.
      args: pytrees of arrays, numbers or other values.
      ordered: as for :func:`lawful.debug.callback`.
      kwargs: the same as ``args``, by name.

    When it prints, and how often, is said at :func:`lawful.debug.callback`.

    Raises:
      ArgumentValueError: the format names an argument that is not given, or leaves one unused.

    Source: ``jax.debug.print``.

    >>> from lawful.staging import jit
    >>> @jit
    ... def double(x):
    ...     print("x is {:.2f}", x)
    ...     print("{what} is {x}", what="twice that", x=x + x)
    ...     return x + x
    >>> _ = double(1.5)
    x is 1.50
    twice that is 3.0
    """
    if fmt is None:
        return functools.partial(_print, ordered)
    return _print(ordered, fmt, *args, **kwargs)


def _print(ordered: bool, fmt: str, /, *args: Any, **kwargs: Any) -> None:
    if not isinstance(fmt, str):
        raise ArgumentTypeError(
            f"debug.print: expected a format string, got a {type(fmt).__name__}; write debug.print('{{}}', x)"
        )
    require_match(fmt, args, kwargs)
    call_on_host(f"debug.print of {fmt!r}", Printer(fmt), args, kwargs, ordered)


def require_match(fmt: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Raises ArgumentValueError unless a format uses all arguments, and no others."""
    _Fields().require_match(fmt, args, kwargs)


@record
class Printer:
    """The function that prints values in a format."""

    fmt: str

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        builtins.print(self.fmt.format(*args, **kwargs))  # noqa: T201  # what it is for

    @property
    def __name__(self) -> str:
        return f"print {self.fmt!r}"


class _Fields(Formatter):
    """Finds out which arguments a format uses, and looks at none of them: they need not have a value yet."""

    def require_match(self, fmt: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Raises ArgumentValueError unless the format uses all arguments, and no others."""
        try:
            self.vformat(fmt, args, kwargs)
        except (IndexError, KeyError) as error:
            missing = f"no argument {error}" if isinstance(error, KeyError) else "too few positional arguments"
            given = ", ".join([*map(str, range(len(args))), *kwargs]) or "none"
            raise ArgumentValueError(
                f"debug.print: expected all that the format {fmt!r} names, got {missing} ({given}); "
                "give what it names, by position or by name"
            ) from None
        except ValueError as error:
            raise ArgumentValueError(
                f"debug.print: expected a format of all arguments, got {fmt!r}: {error}; correct the format"
            ) from None

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, int | str]:
        first = re.split(r"[.\[]", field_name, maxsplit=1)[0]
        key: int | str = int(first) if first.isdecimal() else first
        return self.get_value(key, args, kwargs), key

    def check_unused_args(self, used_args: set[int | str], args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        unused = [f"positional argument {i}" for i in range(len(args)) if i not in used_args]
        unused += [f"argument {name!r}" for name in kwargs if name not in used_args]
        if unused:
            raise ValueError(f"it does not use {', '.join(unused)}")

    def convert_field(self, value: Any, conversion: Any) -> Any:
        return value

    def format_field(self, value: Any, format_spec: str) -> str:
        return ""
