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
    """Returns a value's text, shortened for an error message.

    >>> shorten("a" * 100), shorten(2**3000)
    ("'aaaaaaaaaaaaaaaaaaaaaaaaaaa...aaaaaaaaaaaaaaaaaaaaaaaaaaaa'", 'an integer of 3,001 bits')
    """
    return _repr.repr(x)


class LawfulError(Exception):
    """The root of all errors raised for a user's mistake. Its message begins with the user's line.

    >>> LawfulError("sqrt: expected a number, got 'a'").message
    "sqrt: expected a number, got 'a'"
    """

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
    """An argument has the right type and a value that the function cannot use.

    >>> from lawful import tree
    >>> tree.transpose(tree.structure([]), None, [])
    Traceback (most recent call last):
    lawful.tree.base.errors.ArgumentValueError: ...: transpose: expected an inner_treedef with the outer structure ...
    """


class NestingError(LawfulError, RecursionError):
    """A tree, or control flow, is nested more deeply than Python's stack is.

    Cure: nest less deeply: flat lists for chains, ``scan`` for repeated choices; or ``sys.setrecursionlimit``.

    >>> from lawful import tree
    >>> nested = 1
    >>> for _ in range(100_000):
    ...     nested = [nested]
    >>> tree.leaves(nested)
    Traceback (most recent call last):
    lawful.tree.base.errors.NestingError: ...
    """


class TreeStructureError(LawfulError, ValueError):
    """Pytrees that should have the same structure differ.

    >>> from lawful import tree
    >>> tree.map(lambda x, y: x + y, [1, 2], [3])
    Traceback (most recent call last):
    lawful.tree.base.errors.TreeStructureError: ...
    """


class TreeTypeError(LawfulError, TypeError):
    """A pytree, or a function that flattens or rebuilds one, is not as it should be.

    >>> from lawful import tree
    >>> tree.reduce(lambda x, y: x + y, [])
    Traceback (most recent call last):
    lawful.tree.base.errors.TreeTypeError: ...: reduce: expected a tree with leaves, got one without; ...
    """


class TreeNodeError(TreeTypeError, ArgumentValueError):
    """A value is no node, or its type flattens or compares in a way that trees cannot use. JAX raises ValueError.

    >>> from lawful import tree
    >>> class Pair: ...
    >>> tree.register_node(Pair, lambda pair: [1, 2, 3], lambda aux, children: Pair())
    >>> tree.leaves(Pair())
    Traceback (most recent call last):
    lawful.tree.base.errors.TreeNodeError: ...: expected a pair (children, aux_data), got [1, 2, 3]; ...
    """


class TreeTransposeError(TreeStructureError, TreeTypeError):
    """A tree of trees has another structure than the one to transpose it by. JAX raises TypeError.

    >>> from lawful import tree
    >>> tree.transpose(tree.structure([0, 0]), tree.structure((0, 0)), [(1, 2), [3, 4]])
    Traceback (most recent call last):
    lawful.tree.base.errors.TreeTransposeError: ...
    """
