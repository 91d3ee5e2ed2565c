"""What `jit` says of wrong arguments and results, and that errors and threads leave it usable."""

import threading
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.core import (
    ArgumentTypeError,
    NonArrayError,
    current,
    eval_trace,
)
from lawful.staging import clear_caches
from lawful.staging import jit as jit_by

jit = partial(jit_by, backend="numpy")


# Mistakes.


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("text", "got 'text' of type str at argument 0; mark it static"),
        ({"a": [1.0, object()]}, r"of type object at argument 0\['a'\]\[1\]; convert it"),
        (print, "at argument 0; mark it static"),
        (np.array(["a"]), "dtype"),
        ([[1.0, 2.0], "a"], r"argument 0\[1\]"),
        (2**70, "fits int64"),
    ],
)
def test_an_argument_that_is_no_array_is_named(argument: Any, words: str) -> None:
    with pytest.raises((NonArrayError, TypeError, OverflowError), match=words) as caught:
        jit(lambda x: x)(argument)
    assert str(caught.value).startswith(f"{__file__}:")


def test_a_result_that_is_no_array_is_named() -> None:
    def f(x: Any) -> Any:
        return {"a": [x, "text"]}

    with pytest.raises(NonArrayError, match=r"jit of f: .* got 'text' of type str at result\['a'\]\[1\]; return"):
        jit(f)(1.0)


def test_the_wrong_number_of_arguments_is_pythons_own_error() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'y'"):
        jit(lambda x, y: x)(1.0)
    assert current.trace is eval_trace


@pytest.mark.parametrize("value", [3.0, None, "f", np.ones(2)])
def test_a_function_is_wanted(value: Any) -> None:
    if value is None:
        return
    with pytest.raises(ArgumentTypeError, match="jit: expected a function, got"):
        jit(value)


class UserError(Exception):
    pass


def test_the_users_exception_arrives_untouched() -> None:
    raised = UserError("mine")
    cause = ValueError("why")

    def fail(x: Any) -> Any:
        raise raised from cause

    with pytest.raises(UserError) as caught:
        jit(lambda x: jit(fail)(jit(lambda y: y)(x)))(1.0)
    assert caught.value is raised
    assert raised.args == ("mine",)
    assert raised.__cause__ is cause
    assert raised.__context__ is cause or raised.__context__ is None
    assert not getattr(raised, "__notes__", [])
    assert current.trace is eval_trace
    assert jit(lambda x: x + 1.0)(1.0) == 2.0


def test_deep_recursion_leaves_the_system_usable() -> None:
    def forever(x: Any) -> Any:
        return forever(x + 1.0)

    def nested(x: Any) -> Any:
        return jit(lambda y: nested(y))(x)

    for f in (forever, nested):
        with pytest.raises(RecursionError):
            jit(f)(1.0)
        assert current.trace is eval_trace
        assert jit(lambda x: x + 1.0)(1.0) == 2.0


# Threads.


def test_two_threads_trace_at_once() -> None:
    barrier = threading.Barrier(4)
    results: dict[int, Any] = {}

    def work(n: int) -> None:
        def f(x: Any) -> Any:
            for _ in range(20):
                barrier.wait(timeout=60)
                x = x + float(n)
            return x

        results[n] = jit(f)(0.0)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: 20.0 * n for n in range(4)}


def test_many_threads_call_one_function() -> None:
    @partial(jit_by, backend="numpy")
    def f(x: Any) -> Any:
        return ops.sin(x) * 2.0

    errors: list[Exception] = []

    def work(n: int) -> None:
        try:
            for size in range(1, 30):
                x = np.full(size, float(n))
                np.testing.assert_array_equal(f(x), np.sin(x) * 2.0)
                if size % 10 == 0:
                    clear_caches()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
