"""`value_and_grad` by one array or number gives what the plain interpreters give."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.autodiff import grad, value_and_grad
from lawful.core import LawfulError, get_aval, plain

VECTOR = np.array([0.5, -1.5, 2.0])


def total(x: Any) -> Any:
    return ops.reduce_sum(x, tuple(range(len(get_aval(x).shape))))


def by_name(x: Any, *, scale: Any) -> Any:
    return total(x * scale)


FUNCTIONS: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = [
    (lambda x: ops.sin(x) * x, (0.5,), {}),
    (lambda x: ops.sin(x) * x, (np.float64(0.5),), {}),
    (lambda x: ops.sin(x) * x, (np.array(0.5),), {}),
    (lambda x: ops.sin(x) * x, (np.float32(0.5),), {}),
    (lambda x: x * x, (3,), {}),
    (lambda x: x, (0.5,), {}),
    (lambda x: x, (VECTOR,), {}),
    (lambda x: 2.0, (0.5,), {}),
    (lambda x: np.float32(2.0), (VECTOR,), {}),
    (lambda x: "none", (0.5,), {}),
    (lambda x: (x,), (0.5,), {}),
    (lambda x: x > 0.0, (0.5,), {}),
    (lambda x: total(x * VECTOR), (VECTOR,), {}),
    (total, (VECTOR.astype(np.float32),), {}),
    (total, (VECTOR.astype(">f8"),), {}),
    (total, (VECTOR.astype(np.longdouble),), {}),
    (total, (VECTOR.astype(np.float16),), {}),
    (total, (VECTOR[::2],), {}),
    (total, ([0.5, 1.5],), {}),
    (lambda x: x[0] * x[1], ([0.5, 1.5],), {}),
    (lambda x: total(ops.real(x * x)), (VECTOR * (1 + 2j),), {}),
    (lambda x: total(x * x), (VECTOR * (1 + 2j),), {}),
    (lambda x, y: total(x * y), (VECTOR, 2.0), {}),
    (lambda x, y: total(x * y), (VECTOR, VECTOR), {}),
    (by_name, (VECTOR,), {"scale": 3.0}),
    (lambda: 1.0, (), {}),
    (lambda x: grad(lambda y: y * x * y)(x), (0.5,), {}),
    (lambda x: grad(lambda y: x * x)(x), (0.5,), {}),
]


def found(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], argnums: Any) -> Any:
    try:
        value, gradient = value_and_grad(function, argnums)(*args, **kwargs)
    except LawfulError as error:
        return type(error), str(error)
    leaves = tree.leaves(gradient)
    flags = [x.flags.writeable and not any(np.shares_memory(x, y) for y in args) for x in leaves if np.ndim(x)]
    return get_aval(value), repr(value), [get_aval(x) for x in leaves], repr(gradient), flags


@pytest.mark.parametrize("argnums", [0, (0,), -1, 1])
@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_value_and_grad_agrees_with_the_plain_layer(number: int, argnums: Any) -> None:
    with plain():
        expected = found(*FUNCTIONS[number], argnums)
    for _ in range(3):
        assert found(*FUNCTIONS[number], argnums) == expected
