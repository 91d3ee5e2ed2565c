"""Functions of few numbers, evaluated one number at a time by Python, where most of NumPy's time is overhead.

An operation of Python on a number is 20× to 30× faster than one of NumPy on an array. A function of arrays that
consists of elementwise ops, `where` and iterations is called once with a `Number` for each argument, and its operations
are recorded as source. The function of that source returns the same bits, for one number at a time.

>>> def reciprocal_or_zero(x):
...     return np.where(x == 0, 0.0, 1 / np.where(x == 0, 1.0, x))
>>> OneByOne(reciprocal_or_zero)(np.array([0.0, 2.0]))
array([0. , 0.5])
>>> print(source_of(reciprocal_or_zero, 1))
def function(x0):
    x1 = x0 == 0.0
    if x1:
        x4 = 0.0
    else:
        x2 = 1.0 if x1 else x0
        x3 = 1.0 / x2
        x4 = x3
    return x4
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    Cache,
    Primitive,
    ShapedArray,
    eval_trace,
    get_aval,
    new_trace,
    record,
    shorten,
)
from lawful.ops._fast.number_source import Assignment, Choice, Line, Loop, block_of
from lawful.ops._support.double import Evaluated, evaluated_hook
from lawful.ops._support.number import Number, NumberTrace

#: After this many evaluations of few numbers by NumPy, source is expression_of, which costs as much as ten evaluations.
_OFTEN = 8
#: The largest count of numbers that are evaluated one by one.
_MOST = 64
_ARRAYS = (np.ndarray, np.float64)
_DOUBLE = np.dtype(np.float64)


@record
class OfNumbers:
    """A function of arrays as a function of one number for each.

    Attributes:
      function: a function of Python's floats.
      most: the largest count of numbers for which it is faster than NumPy.
    """

    function: Callable[..., float]
    most: int


class OneByOne:
    """A function of arrays of float64 that evaluates few numbers one by one.

    Law: it returns the same as the function, bit for bit, unless NumPy itself differs: its power with a scalar exponent
    of -1 or 1/2 rounds differently from that with an array of exponents.

    Args:
      function: consists of elementwise ops, `where` and iterations, and returns one array. Its keyword arguments are
        hashable, and the sign of a zero among them does not matter.

    Raises:
      ConcretizationTypeError: the function's operations depend on the value of a number.
      ArgumentTypeError: it contains other operations.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self._found: Cache[Any, OfNumbers] = Cache("functions of numbers", 256)
        self._called: Cache[Any, int] = Cache("calls of functions of numbers", 256)

    def __call__(self, *arrays: Any, **params: Any) -> Any:
        numbers = few_numbers(arrays)
        if numbers is None:
            return self.function(*arrays, **params)
        if not numbers[0]:
            return np.empty(arrays[0].shape)
        key = (len(arrays), *params.items())
        found = self._found.lookup(key)
        if found is None:
            calls = self._called.lookup(key, 0) + 1
            self._called.insert(key, calls)
            if calls <= _OFTEN:
                return self.function(*arrays, **params)
            found = self.of_numbers(len(arrays), **params)
        if len(numbers[0]) > found.most:
            return self.function(*arrays, **params)
        try:
            return np.array(list(map(found.function, *numbers))).reshape(arrays[0].shape)
        except ArithmeticError:  # NumPy returns infinity or NaN
            return self.function(*arrays, **params)

    def known(self, key: tuple[Any, ...]) -> OfNumbers | None:
        """Returns the function of numbers for a count of arguments and settings, if it is compiled."""
        return self._found.lookup(key)

    def of_numbers(self, count: int, **params: Any) -> OfNumbers:
        """Returns the function of one number for each of ``count`` arguments."""
        key = (count, *params.items())
        found = self._found.lookup(key)
        if found is None:
            found = _compiled(*_source(self.function, count, params))
            self._found.insert(key, found)
        return found


_functions: Final[Cache[Callable[..., Any], OneByOne]] = Cache("functions of few numbers", 512)


def one_by_one(algorithm: Callable[..., Any]) -> OneByOne:
    """Returns an algorithm that evaluates few numbers one at a time."""
    found: OneByOne | None = _functions.lookup(algorithm)
    if found is None:
        found = OneByOne(algorithm)
        _functions.insert(algorithm, found)
    return found


def evaluate(algorithm: Callable[..., Any], arrays: Sequence[Any], params: dict[str, Any]) -> Any:
    """Evaluates an algorithm of special functions."""
    return one_by_one(algorithm)(*arrays, **params)


def evaluate_number(self: Evaluated, *args: Any, **params: Any) -> Any:
    """Returns what `Evaluated` returns; a function of single numbers is called without arrays, once it is compiled."""
    for x in args:
        if type(x) is not float and type(x) is not np.float64:
            return evaluated_hook.plain(self, *args, **params)
    found = one_by_one(self.algorithm).known((len(args), *params.items()))
    if found is None:
        return evaluated_hook.plain(self, *args, **params)
    try:
        return np.float64(found.function(*map(float, args)))
    except ArithmeticError:  # NumPy returns infinity or NaN
        return evaluated_hook.plain(self, *args, **params)


def few_numbers(arrays: Sequence[Any]) -> list[list[float]] | None:
    """Returns the numbers in arrays of float64 and of one shape; None for other values, or for many numbers."""
    shape = getattr(arrays[0], "shape", None)
    for x in arrays:
        if type(x) not in _ARRAYS or x.dtype != _DOUBLE or x.shape != shape or x.size > _MOST:
            return None
    return [x.reshape(-1).tolist() for x in arrays]


#: Python's operators for primitives, for floats and truth values.
_EXPRESSIONS: Final = {
    **{name: f"{{}} {sign} {{}}" for name, sign in (("add", "+"), ("sub", "-"), ("mul", "*"), ("div", "/"))},
    **{name: f"{{}} {sign} {{}}" for name, sign in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="))},
    **{name: f"{{}} {sign} {{}}" for name, sign in (("eq", "=="), ("ne", "!="), ("and", "and"), ("or", "or"))},
    "neg": "-{}",
    "not": "not {}",
    "abs": "abs({})",
    "square": "{0} * {0}",
    # The result is NaN if either operand is.
    "max": "{0} if {0} >= {1} or {0} != {0} else {1}",
    "min": "{0} if {0} <= {1} or {0} != {0} else {1}",
}


class SourceTrace(NumberTrace):
    """Records operations on numbers as source.

    Attributes:
      lines: the recorded lines.
      scope: the functions that they call, by name.
    """

    __slots__ = ("_calls", "_count", "_known", "lines", "scope")

    def __init__(self) -> None:
        super().__init__(eval_trace, "one by one")
        self.lines: list[Line] = []
        self.scope: dict[str, Callable[..., Any]] = {}
        self._count = self._calls = 0
        self._known: dict[str, Number] = {}

    @property
    def most(self) -> int:
        """The largest count of numbers for which the source is faster than NumPy."""
        if any([isinstance(line, Loop) for line in self.lines]):
            return _MOST  # arrays take as many iterations as their slowest number
        # Measured in microseconds: NumPy takes 0.7 for an operation; Python, for each number, 0.3 for the call of the
        # function, 0.03 for an operation, and 0.45 more for one that is a call.
        operations = len(self.lines)
        return min(_MOST, int(0.7 * operations / (0.3 + 0.03 * operations + 0.45 * self._calls)))

    def number(self, dtype: Any = _DOUBLE) -> Number:
        """Returns a new symbolic number."""
        self._count += 1
        return Number(self, f"x{self._count - 1}", ShapedArray((), np.dtype(dtype)))

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        if not any([type(x) is Number for x in args]):
            return eval_trace.process_primitive(primitive, args, params)
        aval = primitive.rule("abstract_eval")(*map(get_aval, args), **params)
        if primitive.name in _CHANGING_TYPES:
            return self._converted(args[0], aval)
        if primitive.name == "select_n" and len(args) == 3:
            which, no, yes = args
            return self._chosen(which, yes, no)
        expression = _EXPRESSIONS.get(primitive.name)
        if aval.shape:
            raise _unwritable(f"{primitive!r} of {aval}")
        if expression is None or any([get_aval(x).dtype not in (_DOUBLE, np.dtype(bool)) for x in args]):
            return self.call(_function_of(primitive, len(args), params), *args, dtype=aval.dtype)
        return self._assigned(expression.format(*map(expression_of, args)), args, aval.dtype)

    def call(self, function: Callable[..., Any], *args: Any, dtype: Any = _DOUBLE) -> Number:
        self._calls += 1
        name = next((name for name, known in self.scope.items() if known is function), f"f{len(self.scope)}")
        self.scope[name] = function
        scalar_type = "bool" if dtype == np.dtype(bool) else "float"
        return self._assigned(f"{scalar_type}({name}({', '.join(map(expression_of, args))}))", args, dtype)

    def loop(self, state: Sequence[Any], step: Callable[..., Sequence[Any]]) -> list[Number]:
        targets = [self.number(get_aval(x).dtype) for x in state]
        # Numbers of a step are unknown outside of it, also those that no step changes.
        before, known = self.lines, self._known
        self.lines, self._known = [], {}
        updated = [expression_of(x) for x in step(*targets)]
        lines, self.lines, self._known = self.lines, before, known
        names = [x.name for x in targets]
        if updated == names:
            raise ArgumentValueError("iteration: expected a step that changes its state, got one that gives it back")
        self.lines.append(Loop(names, [expression_of(x) for x in state], lines, updated))
        return targets

    def _assigned(self, expression: str, args: Sequence[Any], dtype: Any) -> Number:
        out = self._known.get(expression)
        if out is None:
            out = self._known[expression] = self.number(dtype)
            self.lines.append(Assignment(out.name, _names(args), expression))
        return out

    def _converted(self, x: Number, aval: ShapedArray) -> Number:
        if aval.shape or aval.dtype not in (_DOUBLE, np.dtype(bool)):
            raise _unwritable(f"an array of type {aval}")
        return x if x.dtype == aval.dtype else self.call(bool if aval.dtype.kind == "b" else float, x, dtype=aval.dtype)

    def _chosen(self, condition: Any, yes: Any, no: Any) -> Any:
        if type(condition) is not Number:
            return yes if condition else no
        out = self.number(get_aval(yes).dtype)
        self.lines.append(Choice(out.name, condition.name, expression_of(yes), expression_of(no)))
        return out


#: Primitives that change types alone.
_CHANGING_TYPES = frozenset({"convert_element_type", "broadcast_in_dim", "reshape"})


def _names(args: Sequence[Any]) -> list[str]:
    return [x.name for x in args if type(x) is Number]


def _function_of(primitive: Primitive, count: int, params: dict[str, Any]) -> Callable[..., Any]:
    """Returns the function of numbers for a primitive."""
    reference = primitive.declaration and primitive.declaration.reference
    if isinstance(reference, Evaluated):
        return one_by_one(reference.algorithm).of_numbers(count, **params).function
    rule = primitive.rules.get("numpy")
    if rule is None:
        raise _unwritable(primitive.name)
    function: Callable[..., Any] = rule([ShapedArray((), _DOUBLE)] * count, None, **params)
    return function


def _unwritable(what: str) -> ArgumentTypeError:
    return ArgumentTypeError(
        f"one by one: expected a function made of elementwise ops, where and iterations, got {what}; leave it to arrays"
    )


def expression_of(x: Any) -> str:
    """Returns the variable or literal of a number in the source."""
    if type(x) is Number:
        return x.name
    if not isinstance(x, bool | int | float | np.generic | np.ndarray) or np.shape(x):
        raise _unwritable(shorten(x))
    number = np.asarray(x).item()
    if isinstance(number, bool):
        return repr(number)
    number = float(number)
    return repr(number) if math.isfinite(number) else f"float('{number}')"


def source_of(function: Callable[..., Any], count: int, **params: Any) -> str:
    """Returns the source of the function of one number for each of ``count`` arguments."""
    return _source(function, count, params)[0]


def _source(function: Callable[..., Any], count: int, params: dict[str, Any]) -> tuple[str, SourceTrace]:
    trace = SourceTrace()
    arguments = [trace.number() for _ in range(count)]
    with new_trace(trace):
        result = expression_of(function(*arguments, **params))
    body = [*block_of(trace.lines, [result]), f"return {result}"]
    head = f"def function({', '.join([x.name for x in arguments])}):"
    return "\n    ".join([head, *body]), trace


def _compiled(source: str, trace: SourceTrace) -> OfNumbers:
    scope: dict[str, Any] = dict(trace.scope)
    exec(compile(source, "<lawful numbers>", "exec"), scope)
    return OfNumbers(scope["function"], trace.most)
