"""Helpers of the tests of staging: counts of calls of a function, and comparison of values with their types."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import tree
from lawful.core import current, eval_trace, get_aval


class Counted:
    """A function that counts its calls in Python."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.calls = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        return self.function(*args, **kwargs)


@pytest.fixture
def counted() -> type[Counted]:
    return Counted


@pytest.fixture
def require_same() -> Callable[[Any, Any], None]:
    """Checks trees for the same structure, and leaves of the same type (weakness included) and value."""

    def require(got: Any, expected: Any) -> None:
        assert tree.structure(got) == tree.structure(expected)
        for x, y in zip(tree.leaves(got), tree.leaves(expected), strict=True):
            assert get_aval(x) == get_aval(y)
            np.testing.assert_array_equal(np.asarray(x), np.asarray(y))

    return require


@pytest.fixture(autouse=True)
def _the_trace_is_restored() -> Any:
    yield
    assert current.trace is eval_trace, "a test left a trace behind"
