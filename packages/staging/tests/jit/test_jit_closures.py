"""Functions given to `jit` that close over arrays and over tracers of transformations around it."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.core import (
    UnexpectedTracerError,
    current,
    eval_trace,
)
from lawful.staging import jit as jit_by
from lawful.staging import make_jaxpr

jit = partial(jit_by, backend="numpy")


def test_jit_arrays_closed_over_are_constants(counted: Any) -> None:
    table = np.arange(3.0)
    f = counted(lambda x: x + table)
    g = jit(f)
    np.testing.assert_array_equal(g(1.0), [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(g(np.ones(3)), [1.0, 2.0, 3.0])


def test_jit_what_was_closed_over_is_what_it_was_when_traced() -> None:
    table = np.arange(3.0)
    g = jit(lambda x: x + table)
    g(np.zeros(3))
    table[:] = 100.0
    np.testing.assert_array_equal(g(np.zeros(3)), [0.0, 1.0, 2.0])


def test_tracers_of_an_enclosing_jit_are_closed_over(require_same: Any) -> None:
    def f(x: Any) -> Any:
        @partial(jit_by, backend="numpy")
        def inner(y: Any) -> Any:
            return jit(lambda z: x * y + z)(y)

        return inner(x) + inner(2.0)

    require_same(jit(f)(np.ones(2)), f(np.ones(2)))


def test_jit_closed_over_tracer_in_next_transformation() -> None:
    """A jit that closed over a tracer is traced again in the next transformation."""
    box: list[Any] = []

    def inner(y: Any) -> Any:
        return box[-1] * y

    def outer(x: Any) -> Any:
        box.append(x)
        return jit(inner)(10.0)

    assert jit(outer)(2.0) == 20.0
    assert jit(lambda x: outer(x) + 1.0)(3.0) == 31.0
    box.append(7.0)
    assert jit(inner)(10.0) == 70.0


def test_jit_closed_over_tracer_in_another_thread() -> None:
    """A jit that closed over a tracer is traced again in another thread."""
    box: list[Any] = []

    def inner(y: Any) -> Any:
        return box[-1] * y

    def outer(x: Any) -> Any:
        box.append(x)
        first = jit(inner)(10.0)
        box.append(7.0)
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(jit(inner), 10.0).result() == 70.0
        return first

    assert jit(outer)(2.0) == 20.0


def test_jit_tracer_that_is_kept_error() -> None:
    kept: list[Any] = []

    def f(x: Any) -> Any:
        kept.append(x * 2.0)
        return x

    jit(f)(1.0)
    line = f.__code__.co_firstlineno + 1
    uses = [
        lambda: kept[0] + 1.0,
        lambda: ops.sin(kept[0]),
        lambda: jit(lambda x: x + kept[0])(1.0),
        lambda: jit(lambda x: kept[0])(1.0),
        lambda: jit(lambda x: x)(kept[0]),
        lambda: make_jaxpr(lambda: kept[0])(),
    ]
    for use in uses:
        with pytest.raises(
            UnexpectedTracerError, match=f"made at {__file__}:{line} \\(f\\), which has ended"
        ) as caught:
            use()
        assert str(caught.value).startswith(f"{__file__}:")
        assert current.trace is eval_trace
