"""The root of all errors, and those of pytrees.

Every message begins with the line of the user's program that is running. All classes derive from
:class:`LawfulError` and from the built-in class that fits, so that ``except TypeError`` works as in NumPy.
"""

from __future__ import annotations

import reprlib
from typing import Final

from lawful.tree.base.source import SourceLine, user_source

# Python refuses to print integers of many digits; its limit is 4,300 by default and at least 640.
_MOST_BITS: Final = 2000


class _Short(reprlib.Repr):
    def repr_int(self, x: int, level: int) -> str:
        bits = x.bit_length()
        return f"an integer of {bits:,} bits" if bits > _MOST_BITS else super().repr_int(x, level)


_repr = _Short(maxother=60, maxstring=60)


def shorten(x: object) -> str:
    """Returns a value's text, shortened for an error message."""
    return _repr.repr(x)


class LawfulError(Exception):
    """The root of all errors raised for a user's mistake. Its message begins with the user's line."""

    def __init__(self, message: str, *, source: SourceLine | None = None) -> None:
        source = user_source() if source is None else source
        self.source = source
        #: The text without the line, for quotation in another error.
        self.message = message
        super().__init__(message if source is None else f"{source.with_callers()}: {message}")

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), str(self))


def _rebuild(cls: type[LawfulError], message: str) -> LawfulError:
    """Unpickles an error: its text already begins with a line, and code objects cannot be pickled."""
    error = cls.__new__(cls)
    Exception.__init__(error, message)
    error.source = None
    error.message = message
    return error


class ArgumentValueError(LawfulError, ValueError):
    """An argument has the right type and a value that the function cannot use."""


class NestingError(LawfulError, RecursionError):
    """A tree, or control flow, is nested more deeply than Python's stack is.

    Cure: nest less deeply: flat lists for chains, ``scan`` for repeated choices; or ``sys.setrecursionlimit``.
    """


class TreeStructureError(LawfulError, ValueError):
    """Pytrees that should have the same structure differ."""


class TreeTypeError(LawfulError, TypeError):
    """A pytree, or a function that flattens or rebuilds one, is not as it should be."""


class TreeNodeError(TreeTypeError, ArgumentValueError):
    """A value is no node, or its type flattens or compares in a way that trees cannot use. JAX raises ValueError."""


class TreeTransposeError(TreeStructureError, TreeTypeError):
    """A tree of trees has another structure than the one to transpose it by. JAX raises TypeError."""
