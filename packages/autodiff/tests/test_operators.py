"""What an operator between a tracer and something that is no array says, and where."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful.autodiff import grad, linearize
from lawful.core import NonArrayError

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
    with pytest.raises(NonArrayError, match="of type list; convert it") as caught:
        grad(lambda x: x + [1.0] * 10_000)(1.0)
    assert len(str(caught.value)) < 400
