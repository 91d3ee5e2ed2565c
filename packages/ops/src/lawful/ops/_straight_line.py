"""Arithmetic of few numbers, written down as the source of one Python function, which does it one number at a time.

What a step of an iteration does to a number is Python's own arithmetic, behind functions, dictionaries and tuples that
are the same in each turn. Called with a `Number` for each part of the state, the step leaves only the arithmetic: a
turn takes a tenth of the time, to the same bits. An operation of NumPy on an array takes 20 to 30 times as long as one
of Python on a number, so that few numbers are done one after the other.

>>> loop = loop_of(lambda active, x: (x * 3.0 < 100.0, x * 3.0), 2)
>>> loop(True, 2.0)
(False, 162.0)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

from lawful.core import ArgumentTypeError, ArgumentValueError, shorten

#: Up to so many numbers Python is faster than NumPy: of a line, of which NumPy does much beside the operations less.
_FEW = 16
_ARRAYS = (np.ndarray, np.float64)
_DOUBLE = np.dtype(np.float64)


def few_numbers(arrays: Sequence[Any], most: int, dtypes: Sequence[np.dtype[Any]]) -> list[list[float]] | None:
    """Returns the numbers of each of some arrays of one shape; None of other values, and of shapes that differ.

    Args:
      arrays: the arrays.
      most: how many numbers each may have.
      dtypes: those that they may have. Python's integers are of any size, and its floats of 64 bits.
    """
    shape = getattr(arrays[0], "shape", None)
    for x in arrays:
        if type(x) not in _ARRAYS or x.dtype not in dtypes or x.shape != shape or not 0 < x.size <= most:
            return None
    return [x.reshape(-1).tolist() for x in arrays]


def arithmetic(function: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a function of arrays, which is arithmetic, one that does few numbers of float64 one after the other.

    Law: it gives what the function itself gives, to the same bits.

    Args:
      function: gives one array. What it is given by keyword is hashable, and the same for all numbers; where it is
        zero the sign does not matter.

    Raises:
      ArgumentTypeError: the function decides something by a number, or does something else with it.

    >>> cubed = arithmetic(lambda x, *, by: x * x * x / by)
    >>> cubed(np.array([1.0, 2.0]), by=2.0)
    array([0.5, 4. ])
    """
    lines: dict[Any, Callable[..., float]] = {}

    @wraps(function)
    def applied(*arrays: Any, **params: Any) -> Any:
        numbers = few_numbers(arrays, _FEW, (_DOUBLE,))
        if numbers is None:
            return function(*arrays, **params)
        key = (len(arrays), *params.items())
        line = lines.get(key)
        if line is None:
            line = lines[key] = line_of(lambda *args: function(*args, **params), len(arrays))
        try:
            return np.array(list(map(line, *numbers))).reshape(arrays[0].shape)
        except ZeroDivisionError:  # an infinity or NaN of NumPy's
            return function(*arrays, **params)

    return applied


def choose(condition: Any, x: Any, y: Any) -> Any:
    """Returns ``x`` where a condition holds, else ``y``: of arrays, or of what arithmetic is written down with."""
    return condition.chosen(x, y) if type(condition) is Number else np.where(condition, x, y)


class Number:
    """A number or truth value that is not known yet: what is done with it is written down, a line for each operation.

    Args:
      lines: the lines so far.
      name: the variable that has it.
    """

    __slots__ = ("_lines", "_name")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, lines: list[str], name: str) -> None:
        self._lines = lines
        self._name = name

    def __str__(self) -> str:
        return self._name

    def __bool__(self) -> bool:
        raise ArgumentTypeError(
            "arithmetic: expected the same for all numbers, got a decision by the value of one; decide by `choose`"
        )

    def _of(self, expression: str) -> Number:
        name = f"x{len(self._lines)}"
        self._lines.append(f"{name} = {expression}")
        return Number(self._lines, name)

    def chosen(self, x: Any, y: Any) -> Number:
        """Returns ``x`` where this is true, else ``y``."""
        return self._of(f"{_written(x)} if {self} else {_written(y)}")

    def __abs__(self) -> Number:
        return self._of(f"abs({self})")

    def __neg__(self) -> Number:
        return self._of(f"-{self}")


def _written(x: Any) -> str:
    """Returns what stands for a number in the source."""
    if type(x) is Number:
        return str(x)
    if not isinstance(x, int | float):
        raise ArgumentTypeError(
            f"arithmetic: expected Python's numbers beside those that it is of, got {shorten(x)}; make it an argument"
        )
    if not isinstance(x, float):
        return repr(x)
    return repr(float(x)) if math.isfinite(x) else f"float('{x}')"


def _operator(symbol: str) -> Callable[[Number, Any], Number]:
    return lambda x, y: x._of(f"{_written(x)} {symbol} {_written(y)}")


def _reflected(symbol: str) -> Callable[[Number, Any], Number]:
    return lambda x, y: x._of(f"{_written(y)} {symbol} {_written(x)}")


for _name, _symbol in (("add", "+"), ("sub", "-"), ("mul", "*"), ("truediv", "/"), ("and", "&"), ("or", "|")):
    setattr(Number, f"__{_name}__", _operator(_symbol))
    setattr(Number, f"__r{_name}__", _reflected(_symbol))
for _name, _symbol in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="), ("eq", "=="), ("ne", "!=")):
    setattr(Number, f"__{_name}__", _operator(_symbol))


def loop_of(step: Callable[..., Sequence[Any]], size: int) -> Callable[..., tuple[Any, ...]]:
    """Returns a function from a first state to the last: ``while state[0]: state = step(*state)``, of Python's numbers.

    Args:
      step: made of arithmetic, comparisons, ``abs`` and `choose`.
      size: how many numbers are in a state.

    Raises:
      ArgumentTypeError: the step decides something by a number, or does something else with it.
      ArgumentValueError: it changes nothing, and so would not end.
    """
    state, lines, following = _recorded(step, size)
    # What stays as it is needs no assignment.
    changed = [(name, x) for name, x in zip(state, following, strict=True) if name != x]
    if not changed:
        raise ArgumentValueError("iteration: expected a step that changes its state, got one that gives it back")
    targets, values = zip(*changed, strict=True)
    body = [f"while {state[0]}:", *[f"    {line}" for line in lines]]
    body += [f"    {', '.join(targets)} = {', '.join(values)}", f"return {', '.join(state)}"]
    return _function(state, body)


def line_of(function: Callable[..., Any], size: int) -> Callable[..., Any]:
    """Returns a function of Python's numbers that does what another one does with `Number`s.

    Args:
      function: made of the same as a step; it gives one number.
      size: how many numbers it is given.

    Raises:
      ArgumentTypeError: as `arithmetic`.

    >>> line_of(lambda x, y: sum([x / k for k in (1, 2)], start=y), 2)(3.0, 0.5)
    5.0
    """
    arguments, lines, (result,) = _recorded(lambda *args: [function(*args)], size)
    return _function(arguments, [*lines, f"return {result}"])


def _recorded(function: Callable[..., Sequence[Any]], size: int) -> tuple[list[str], list[str], list[str]]:
    """Returns the names of the arguments, the lines, and what stands for the results."""
    lines: list[str] = []
    arguments = [f"s{i}" for i in range(size)]
    results = function(*[Number(lines, name) for name in arguments])
    return arguments, lines, [_written(x) for x in results]


def _function(arguments: Sequence[str], body: Sequence[str]) -> Callable[..., Any]:
    source = "\n    ".join([f"def function({', '.join(arguments)}):", *body])
    scope: dict[str, Any] = {}
    exec(compile(source, "<lawful arithmetic>", "exec"), scope)
    function: Callable[..., Any] = scope["function"]
    return function
