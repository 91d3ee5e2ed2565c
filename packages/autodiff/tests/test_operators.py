"""Errors of operators between a tracer and a value that is no array."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful.autodiff import grad, jvp, linearize
from lawful.core import NonArrayError, plain

ARITHMETIC = [
    *(operator.add, operator.sub, operator.truediv, operator.floordiv, operator.mod, operator.pow, operator.matmul),
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.and_, operator.or_, operator.xor, operator.lshift),
]


@pytest.mark.parametrize("op", ARITHMETIC)
@pytest.mark.parametrize("other", [None, "3.5", b"3"])
def test_operator_neither_none_nor_a_text_is_an_operand(op: Callable[[Any, Any], Any], other: Any) -> None:
    with pytest.raises(NonArrayError, match="operand: expected an array or number") as caught:
        linearize(lambda x: op(x, other), 1.0)
    assert caught.value.source is not None
    assert caught.value.source.file == __file__
    assert repr(other) in caught.value.message
    with pytest.raises(NonArrayError, match="expected an array or number"):
        linearize(lambda x: other - x if op is operator.mod else op(other, x), np.ones(2))  # a text formats by %


@pytest.mark.parametrize("op", [lambda x: x * None, lambda x: None * x])
def test_operator_none_is_no_factor(op: Callable[[Any], Any]) -> None:
    with pytest.raises(NonArrayError, match="got None; return a value where it was made"):
        linearize(op, 1.0)


@pytest.mark.parametrize("other", [None, "a", object()])
def test_operator_what_is_no_array_is_not_equal_to_one(other: Any) -> None:
    def decided(x: Any) -> Any:
        return x * 2.0 if x != other and not x == other else x  # noqa: SIM201

    assert grad(decided)(1.0) == 2.0


def test_operator_another_type_may_know_what_to_do() -> None:
    class Doubling:
        def __radd__(self, other: Any) -> Any:
            return other * 2.0

    class Text(Doubling, str):
        pass

    assert grad(lambda x: x + Doubling())(1.0) == 2.0
    assert grad(lambda x: x + Text("3"))(1.0) == 2.0
    with pytest.raises(TypeError, match="unsupported operand"):
        grad(lambda x: x + object())(1.0)


def test_operator_long_list_is_not_told_whole() -> None:
    ragged = [[1.0], *[[1.0, 2.0]] * 10_000]
    with pytest.raises(NonArrayError, match="of type list; convert it") as caught:
        grad(lambda x: x + ragged)(1.0)
    assert len(str(caught.value)) < 400


class ArrayLike:
    """An object that NumPy converts to an array."""

    def __init__(self, value: Any) -> None:
        self.value = np.asarray(value)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.value


@pytest.mark.parametrize("op", ARITHMETIC[:6])
@pytest.mark.parametrize("make", [list, tuple, ArrayLike])
def test_operator_of_array_like(op: Callable[[Any, Any], Any], make: Callable[[Any], Any]) -> None:
    x, other = np.array([1.5, 2.5]), [2.0, 3.0]
    for f, expected in [
        (lambda x: op(x, make(other)), lambda x: op(x, np.array(other))),
        (lambda x: op(make(other), x), lambda x: op(np.array(other), x)),
    ]:
        (value, f_jvp), (expected_value, expected_jvp) = linearize(f, x), linearize(expected, x)
        assert np.array_equal(value, expected_value)
        assert np.array_equal(f_jvp(np.ones(2)), expected_jvp(np.ones(2)))


@pytest.mark.parametrize("values", [["a", "b"], [None, 1.0], [object()]])
def test_operator_of_list_without_numbers(values: Any) -> None:
    with pytest.raises(NonArrayError, match="expected an array or number"):
        grad(lambda x: x + values)(1.0)
    with pytest.raises(TypeError, match="unsupported operand"):
        grad(lambda x: x + ArrayLike(values))(1.0)


@pytest.mark.parametrize("index", [ArrayLike([True, False, True]), ArrayLike([0, 2]), ArrayLike(1), (ArrayLike([1]),)])
def test_index_by_array_like(index: Any) -> None:
    plain = tuple(i.value for i in index) if isinstance(index, tuple) else index.value
    x, expected = np.array([1.0, 2.0, 3.0]), np.zeros(3)
    expected[plain] = 2.0
    assert np.array_equal(grad(lambda x: (2.0 * x[index]).sum())(x), expected)


def test_index_by_object_array_is_refused() -> None:
    with pytest.raises(IndexError, match="expected integers"):
        grad(lambda x: x[ArrayLike([None, 1])].sum())(np.ones(3))


def test_numpy_function_of_array_like() -> None:
    x = np.array([1.0, 2.0])
    for other in ([3.0, 4.0], ArrayLike([3.0, 4.0])):
        assert np.array_equal(grad(lambda x, y=other: np.dot(y, x))(x), [3.0, 4.0])
        assert np.array_equal(grad(lambda x, y=other: np.sum(np.multiply(y, x)))(x), [3.0, 4.0])


@pytest.mark.parametrize("transformation", [lambda f: jvp(f, (1.0,), (1.0,)), lambda f: linearize(f, 1.0)])
@pytest.mark.parametrize("misuse", [lambda x: setattr(x, "shape", 1), lambda x: x()])
def test_operator_of_python_names_tracers_as_plain_ones(
    transformation: Callable[[Any], Any], misuse: Callable[[Any], Any]
) -> None:
    def message() -> str:
        with pytest.raises((AttributeError, TypeError)) as caught:
            transformation(lambda x: misuse(x * 2.0))
        return str(caught.value)

    found = message()
    with plain():
        assert found == message()
