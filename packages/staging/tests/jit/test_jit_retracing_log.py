"""Why `jit` has traced a function again, as the logger says."""

import logging
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful.staging import jit as jit_by

jit = partial(jit_by, backend="numpy")


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ((1.0, 2.0), (1.0, np.ones(2)), "y is f64[2], was ~f64[]: another rank, a Python number before"),
        ((1.0, 2.0), ((1.0, 1.0), 2.0), "the tree of the arguments differs: x[0], x[1] is new; x is missing"),
        (
            (1.0, 2.0),
            (np.float32(1), 2),
            "x is f32[], was ~f64[]: another dtype, a Python number before",
        ),
    ],
)
def test_jit_second_trace_is_explained(first: Any, second: Any, words: str, caplog: pytest.LogCaptureFixture) -> None:
    def f(x: Any, y: Any) -> Any:
        return y

    g = jit(f)
    with caplog.at_level(logging.DEBUG, "lawful.jit"):
        g(*first)
        g(*first)
        assert not caplog.records, "the first trace needs no explanation"
        g(*second)
    (record,) = caplog.records
    assert record.getMessage().startswith("jit of f is traced again: ")
    assert words in record.getMessage()


def test_jit_new_static_argument_is_explained(caplog: pytest.LogCaptureFixture) -> None:
    g = jit(lambda x, n: x * n, static_argnums=1)
    g(1.0, 2)
    with caplog.at_level(logging.DEBUG, "lawful.jit"):
        g(1.0, 3)
    assert "the static argument n is 3, was 2" in caplog.text


def test_jit_nothing_is_logged_unless_somebody_listens(caplog: pytest.LogCaptureFixture) -> None:
    g = jit(lambda x: x)
    g(1.0)
    g(1)
    assert not caplog.records


def test_jit_difference_is_told_from_the_most_similar_signature(caplog: pytest.LogCaptureFixture) -> None:
    g = jit(lambda x, y, z: x)
    g(1.0, 2.0, 3.0)
    g(np.ones(2), np.ones(2), np.ones(2))
    with caplog.at_level(logging.DEBUG, "lawful.jit"):
        g(np.ones(2), np.ones(2), np.ones(3))
    assert caplog.messages == ["jit of <lambda> is traced again: z is f64[3], was f64[2]: another shape"]
