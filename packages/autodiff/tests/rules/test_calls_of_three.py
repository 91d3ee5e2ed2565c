"""Eager calls of three arguments, such as `where`, whose cached rule is found by the types of the arguments."""

import sys
from types import FrameType
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, value_and_grad
from lawful.core import plain

X = np.array([0.5, -1.0, 2.0])
MASK = np.array([True, False, True])
CASES: dict[str, Any] = {
    "number": lambda x: ops.where(x > 0.1, x, 2.0),
    "other number": lambda x: ops.where(x > 0.1, x, -3.0),
    "integer": lambda x: ops.where(x > 0.1, x, 2),
    "array": lambda x: ops.where(MASK, x, X),
    "other array": lambda x: ops.where(~MASK, x, 2.0 * X),
    "scalar condition": lambda x: ops.where(np.bool_(False), x, ops.sin(x)),
    "row": lambda x: ops.where(MASK, x, np.ones((2, 1))),
    "integers": lambda x: ops.where(np.array([1, 0, 2]), x, 0.0),
    "single": lambda x: ops.where(MASK, x, X.astype(np.float32)),
    "two tracers": lambda x: ops.where(MASK, ops.sin(x), ops.cos(x)),
    "first": lambda x: ops.where(MASK, 1.0, x),
    "nested": lambda x: ops.where(MASK, grad(lambda y: ops.reduce_sum(y * x, (0,)))(x), x),
}


def total(f: Any) -> Any:
    return lambda x: ops.reduce_sum(ops.reshape(ops.square(f(x)), (-1,)), (0,))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_where_in_turns_agrees_with_plain(dtype: Any) -> None:
    x = X.astype(dtype)
    for _ in range(2):
        for name, f in CASES.items():
            found = value_and_grad(total(f))(x)
            with plain():
                expected = value_and_grad(total(f))(x)
            for one, other in zip(found, expected, strict=True):
                assert one.dtype == other.dtype, name
                np.testing.assert_allclose(one, other, rtol=1e-6 if dtype == np.float32 else 1e-15, err_msg=name)


def test_where_of_a_mask_that_is_changed_later() -> None:
    mask = MASK.copy()

    def f(x: Any) -> Any:
        y = ops.where(mask, x, 2.0)
        mask[:] = False
        return ops.reduce_sum(y, (0,))

    for _ in range(3):
        mask[:] = MASK
        assert np.array_equal(grad(f)(X), [1.0, 0.0, 1.0])


@pytest.mark.fast
def test_where_takes_few_python_calls() -> None:
    gradient = grad(lambda x: ops.reduce_sum(ops.where(x > 0.1, x, 2.0), (0,)))
    calls: list[str] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            calls.append(frame.f_code.co_qualname)

    for _ in range(3):
        gradient(X)
    sys.setprofile(note)
    try:
        gradient(X)
    finally:
        sys.setprofile(None)
    assert "_plan" not in calls  # the rule was found by the types
    assert len(calls) <= 125
