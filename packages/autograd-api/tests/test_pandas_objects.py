"""Objects that work as pandas' do: operands of tracers on both sides, as arrays. pandas itself is not needed."""

import operator
from collections.abc import Callable
from typing import Any, ClassVar

import numpy
import pytest

import lawful.autograd.numpy as np
from lawful.autograd import grad


def _deferring(name: str) -> Callable[[Any, Any], Any]:
    """Returns an operator that is left to objects of higher priority, as pandas' are; `Series` has no other."""

    def method(self: Any, other: Any) -> Any:
        if getattr(other, "__pandas_priority__", 0) > self.__pandas_priority__:
            return NotImplemented
        raise AssertionError(f"{name} of {type(other).__name__}")

    return method


class Series:
    """Values with an index. Its operators are pandas' own, and it has ``__array_ufunc__``."""

    __pandas_priority__: ClassVar[int] = 3000
    __array_ufunc__: Any = lambda self, *args, **kwargs: NotImplemented  # only that there is one
    __hash__ = None  # type: ignore[assignment]  # == compares elementwise

    def __init__(self, values: Any) -> None:
        self.values = numpy.asarray(values)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return numpy.asarray(self.values, dtype)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return "0    1.0\n1    2.0"

    def to_numpy(self, dtype: Any = None) -> Any:
        return self.__array__(dtype)

    def __matmul__(self, other: Any) -> Any:
        return self.values @ numpy.asarray(other)


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    setattr(Series, f"__{_name}__", _deferring(_name))
    setattr(Series, f"__r{_name}__", _deferring(_name))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Series, f"__{_name}__", _deferring(_name))
Series.__rmatmul__ = _deferring("rmatmul")  # type: ignore[attr-defined]

VALUES = numpy.array([1.0, 2.0, 3.0, 4.0])
X = numpy.array([0.5, 2.0, 2.5, 5.0])
ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.mod]
COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]


@pytest.mark.parametrize("op", ARITHMETIC)
@pytest.mark.parametrize("x", [X, 2.5])
def test_arithmetic_with_series(op: Any, x: Any) -> None:
    series = Series(VALUES)
    for by_series, by_values in (
        (lambda x: op(series, x), lambda x: op(VALUES, x)),
        (lambda x: op(x, series), lambda x: op(x, VALUES)),
    ):
        found, expected = [grad(lambda x, f=f: np.sum(f(x) ** 2))(x) for f in (by_series, by_values)]
        assert numpy.array_equal(found, expected)


@pytest.mark.parametrize("op", COMPARISONS)
def test_comparison_with_series(op: Any) -> None:
    series = Series(VALUES)
    found = grad(lambda x: np.sum(np.where(op(series, x), x, 0.0)))(X)
    assert found.tolist() == op(VALUES, X).tolist()
    found = grad(lambda x: np.sum(np.where(op(x, series), x, 0.0)))(X)
    assert found.tolist() == op(X, VALUES).tolist()


def test_matmul_with_series() -> None:
    table = Series(numpy.arange(8.0).reshape(4, 2))
    found = grad(lambda x: np.sum((x @ table) ** 2))(X)
    assert numpy.allclose(found, 2.0 * table.values @ (X @ table.values))
    with pytest.raises(TypeError, match=r"expected a NumPy array, got a tracer f64\[2\]"):
        grad(lambda x: np.sum(table @ x))(numpy.ones(2))


@pytest.mark.parametrize("others", [["a", "b"], [None, 1.0]])
def test_series_of_other_values_is_refused(others: Any) -> None:
    series = Series(numpy.array(others, object))
    for f in (lambda x: x * series, lambda x: series - x):  # type: ignore[operator]
        with pytest.raises(TypeError, match=r"operand: expected numbers, got a Series .*; convert it with to_numpy"):
            grad(lambda x, f=f: np.sum(f(x)))(X[:2])
    with pytest.raises(TypeError, match=r"array: expected numbers, got a Series of length 2 with other .* to_numpy"):
        grad(lambda x: np.dot(series, x))(X[:2])


@pytest.mark.parametrize("wrap", [lambda x: x, Series])
def test_objects_that_are_numbers(wrap: Any) -> None:
    """A table with a column of floats and one of bools has an array of objects."""
    table = numpy.array([[1.5, True], [2.5, False], [3.0, numpy.bool_(True)]], object)
    beta = numpy.array([0.5, 2.0])
    found = grad(lambda beta: np.sum(np.dot(wrap(table), beta) ** 2))(beta)
    design = table.astype(float)
    assert numpy.allclose(found, 2.0 * design.T @ (design @ beta))
    assert numpy.array_equal(grad(lambda x: np.sum(np.multiply(x, wrap(table))))(design), design)
    assert np.dot(table, beta).dtype == object  # NumPy's own, as without lawful


def test_arrays_of_objects_name_the_cure() -> None:
    table = numpy.array([[1.5, True]], object)
    for f in (lambda x: table @ x, lambda x: table * x):
        with pytest.raises(TypeError, match=r"got object; convert with astype\(float\), or with to_numpy\(float\) if"):
            grad(lambda x, f=f: np.sum(f(x)))(numpy.ones(2))
    with pytest.raises(TypeError, match="got object"):
        grad(lambda x: np.dot(numpy.array(["a", None], object), x))(numpy.ones(2))


def test_line_of_the_user_of_pandas() -> None:
    """An array that pandas asks for is an error at the user's line, with the class of pandas that asks."""
    frame = {"__name__": "pandas.core.frame", "asarray": numpy.asarray}
    exec(
        compile("class DataFrame:\n    def __matmul__(self, x):\n        return asarray(x)", "frame.py", "exec"), frame
    )
    table = frame["DataFrame"]()
    message = r"test_pandas_objects\.py:\d+ .*pandas\.DataFrame: expected .*; compute with .* data\.to_numpy\(\)"
    with pytest.raises(TypeError, match=message):
        grad(lambda x: np.sum(table @ x))(X)
