"""The text of argument types: ``f64[3], (i32[], {'a': bool[2]})``; values stand for what is given as it is."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from lawful.cli._usage import UsageError
from lawful.core import ShapedArray, short_name, storage_dtypes, supported_dtypes
from lawful.staging import declared_statics, function_name

_ALL_DTYPES: Final = (*supported_dtypes, *storage_dtypes)
_DTYPES: Final = {name: dtype for dtype in _ALL_DTYPES for name in (dtype.name, short_name(dtype))}
_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<type>(?P<weak>~?)(?P<dtype>\w+)\[(?P<shape>[^\[\](){}]*)\])
    |(?P<value>(?:True|False)\b|-?(?:\d+\.\d*|\.\d+)(?:e[+-]?\d+)?)
    |(?P<key>'[^'\n]*'|"[^"\n]*"|-?\d+) | (?P<none>None\b) | (?P<mark>[()\[\]{},:]) | (?P<end>\Z) | (?P<other>\S))""",
    re.VERBOSE,
)
_WORD: Final = re.compile(r"~?(?P<dtype>\w+)")


@dataclass(frozen=True, slots=True, repr=False)
class Value:
    """A Python value among the types of arguments: a static argument, say."""

    value: Any

    def __repr__(self) -> str:
        return repr(self.value)


def parse_types(text: str) -> tuple[Any, ...]:
    """Returns the types of a function's arguments: trees of ``ShapedArray``, or a `Value`.

    Args:
      text: types between commas, as jaxprs have them, in tuples, lists and dicts as Python has them. A type with a
        ``~`` before it is that of a Python scalar. A number, a string, True or False is given as it is.

    Raises:
      UsageError: the text is not of this form; the message points at the error.

    >>> parse_types("f64[3], (i32[], ~f64[])")
    (ShapedArray(f64[3]), (ShapedArray(i32[]), ShapedArray(~f64[])))
    """
    return _Types(text).arguments()


def with_values(function: Callable[..., Any], types: Sequence[Any]) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Returns a function of the arguments that have types, with the values of the others, and these types.

    Raises:
      UsageError: a static argument has a type instead of a value.

    >>> power, types = with_values(pow, parse_types("f64[3], 2"))
    >>> types, power(3)
    ((ShapedArray(f64[3]),), 9)
    """
    for i in declared_statics(function).argnums:
        if -len(types) <= i < len(types) and not isinstance(types[i], Value):
            raise UsageError(
                f"--args: expected the value of the static argument {i} of {function_name(function)}, such as 3 or "
                f"'relu', got the type {text_of_types([types[i]])}"
            )
    if not any(isinstance(each, Value) for each in types):
        return function, tuple(types)

    @functools.wraps(function, updated=())
    def called(*args: Any) -> Any:
        rest = iter(args)
        return function(*[each.value if isinstance(each, Value) else next(rest) for each in types])

    del vars(called)["__wrapped__"]  # which has other arguments
    with suppress(ValueError, TypeError):  # it has no signature
        signature = inspect.signature(function)
        given = {i for i, each in enumerate(types) if isinstance(each, Value)}
        parameters = [p for i, p in enumerate(signature.parameters.values()) if i not in given]
        vars(called)["__signature__"] = signature.replace(parameters=parameters)
    return called, tuple([each for each in types if not isinstance(each, Value)])


def text_of_types(types: Sequence[Any]) -> str:
    """Returns the text of argument types.

    >>> text_of_types(parse_types("f64[3], (i32[], {'a': ~f64[]})"))
    "f64[3], (i32[], {'a': ~f64[]})"
    """
    return re.sub(rf"{ShapedArray.__name__}\((.*?)\)", r"\1", ", ".join(map(repr, types)))


class _Types:
    """A text being parsed."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.offset = 0
        self.trailing_comma = False
        self.depth = -1
        self.advance()

    def advance(self) -> None:
        found = _TOKEN.match(self.text, self.offset)
        assert found is not None  # the last alternatives match any text
        self.token, self.offset = found, found.end()

    def at(self, mark: str) -> bool:
        return self.token["mark"] == mark

    def arguments(self) -> tuple[Any, ...]:
        return tuple(self.sequence(None))

    def sequence(self, closing: str | None) -> list[Any]:
        """Returns the values up to a closing token, or up to the end of the text."""
        values: list[Any] = []
        self.trailing_comma = False
        self.depth += 1
        while not self.closes(closing):
            values.append(self.value())
            self.trailing_comma = not self.closes(closing)
            if self.trailing_comma:
                self.take(",", f"',' or {_name(closing)}")
        self.depth -= 1
        self.advance()
        return values

    def closes(self, closing: str | None) -> bool:
        return self.token["end"] is not None if closing is None else self.at(closing)

    def value(self) -> Any:
        token = self.token
        if token["type"] is not None:
            self.advance()
            return self.aval(token)
        if token["none"] is not None:
            self.advance()
            return None
        if not self.depth and (token["value"] or token["key"]) is not None:
            self.advance()
            return Value(ast.literal_eval(token["value"] or token["key"]))
        if self.at("("):
            return self.tuple_or_value()
        if self.at("["):
            self.advance()
            return self.sequence("]")
        if self.at("{"):
            self.advance()
            return self.dictionary()
        word = _WORD.match(self.text, token.start(token.lastgroup or 0))
        scalar = f"; write {word[0]}[] for a scalar" if word is not None and word["dtype"] in _DTYPES else ""
        self.fail("a type such as f64[3], or a tuple, list or dict of them", scalar)

    def tuple_or_value(self) -> Any:
        self.advance()
        values = self.sequence(")")
        # As in Python, one value in parentheses is a tuple only with a trailing comma.
        return values[0] if len(values) == 1 and not self.trailing_comma else tuple(values)

    def dictionary(self) -> dict[Any, Any]:
        values: dict[Any, Any] = {}
        self.depth += 1
        while not self.at("}"):
            if self.token["key"] is None:
                self.fail("a key such as 'a', or '}'")
            key = ast.literal_eval(self.token["key"])
            self.advance()
            self.take(":", "':'")
            values[key] = self.value()
            if not self.at("}"):
                self.take(",", "',' or '}'")
        self.depth -= 1
        self.advance()
        return values

    def aval(self, token: re.Match[str]) -> ShapedArray:
        dtype = _DTYPES.get(token["dtype"])
        if dtype is None:
            known = ", ".join(short_name(dtype) for dtype in _ALL_DTYPES)
            self.fail("a dtype that there is", f"; there are {known}", at=token.start("dtype"))
        sizes = token["shape"].strip()
        if not re.fullmatch(r"(\d+(\s*,\s*\d+)*)?", sizes):
            self.fail("sizes between commas, such as [3,4]", at=token.start("shape"))
        shape = tuple(int(size) for size in sizes.split(",")) if sizes else ()
        if token["weak"] and (shape or dtype.name not in ("bool", "int64", "float64", "complex128")):
            self.fail("a type of a Python scalar: ~bool[], ~i64[], ~f64[] or ~c128[]", at=token.start("weak"))
        return ShapedArray(shape, dtype, bool(token["weak"]))

    def take(self, mark: str, expected: str) -> None:
        if not self.at(mark):
            self.fail(expected)
        self.advance()

    def fail(self, expected: str, advice: str = "", *, at: int | None = None) -> NoReturn:
        offset = self.token.start(self.token.lastgroup or 0) if at is None else at
        got = self.text[offset : offset + 12] or "the end"
        raise UsageError(
            f"--args, column {offset + 1}: expected {expected}, got {got}{advice}\n  {self.text}\n  {' ' * offset}^"
        )


def _name(closing: str | None) -> str:
    return "the end" if closing is None else f"'{closing}'"
