"""Joining of tracers with constants: one cached program, as of tracers alone."""

import sys
from types import FrameType
from typing import Any

import numpy
import pytest

import lawful.numpy as np
from lawful.autodiff import value_and_grad
from lawful.core import plain

X = numpy.array([0.5, 1.0, 2.0])
FUNCTIONS: dict[str, Any] = {
    "array": lambda x: np.array([x[0], 2.0, x[1]]),
    "array of integer": lambda x: np.array([x[0], 2, x[1]]),
    "stack": lambda x: np.stack([x, X, numpy.arange(3)]),
    "stack along axis": lambda x: np.stack([X, x], axis=1),
    "stack of dtype": lambda x: np.stack([X, x], dtype=numpy.float32, casting="unsafe"),
    "concatenate": lambda x: np.concatenate([x, X[:2], numpy.arange(2)]),
    "concatenate flat": lambda x: np.concatenate([x, numpy.ones((2, 2))], axis=None),
    "vstack": lambda x: np.vstack([x, X]),
    "hstack": lambda x: np.hstack([1.0, x]),
    "column_stack": lambda x: np.column_stack([x, X]),
    "dstack": lambda x: np.dstack([X, x]),
}


@pytest.mark.parametrize("dtype", [numpy.float64, numpy.float32])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_joining_with_constants_agrees_with_plain(name: str, dtype: Any) -> None:
    def f(x: Any) -> Any:
        joined = FUNCTIONS[name](x)
        return np.sum(joined * joined)

    x = X.astype(dtype)
    with plain():
        expected = value_and_grad(f)(x)
    for _ in range(2):
        for found, wanted in zip(value_and_grad(f)(x), expected, strict=True):
            assert found.dtype == wanted.dtype
            assert numpy.allclose(found, wanted, rtol=1e-6 if "float32" in str(found.dtype) else 1e-14)


@pytest.mark.fast
def test_stack_with_constants_takes_few_python_calls() -> None:
    both = value_and_grad(lambda x: np.sum(np.stack([x, X, x])))
    calls: list[str] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            calls.append(frame.f_code.co_qualname)

    for _ in range(3):
        both(X)
    sys.setprofile(note)
    try:
        both(X)
    finally:
        sys.setprofile(None)
    assert "expand_dims" not in calls  # the program is replayed
