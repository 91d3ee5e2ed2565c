"""`explain_cache_misses`: why `jit` traced or compiled again."""

import functools
import operator
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.core import ArgumentTypeError
from lawful.debug import CacheMiss, blame_nan, explain_cache_misses, set_explain_cache_misses
from lawful.staging import clear_caches, disable_jit, jit

X, Y = np.ones(2), np.ones(3)


def traces(misses: list[CacheMiss]) -> list[tuple[str, ...]]:
    return [miss.reasons for miss in misses if miss.event == "traced"]


def test_explain_cache_misses_first_trace_and_compilation() -> None:
    def square(x: Any) -> Any:
        return ops.mul(x, x)

    with explain_cache_misses(show=False) as misses:
        for _ in range(3):
            jit(square, backend="numpy")(X)  # here
    assert [(miss.event, miss.name, miss.reasons) for miss in misses] == [
        ("traced", "square", ()), ("compiled", "square", ()),
    ]  # fmt: skip
    assert misses[0].source is not None
    assert misses[0].source.file == __file__
    assert misses[0].defined == f"{__file__}:{square.__code__.co_firstlineno}"
    assert "traced for the first time at " in str(misses[0])
    assert all(0 < miss.seconds < 60 for miss in misses)


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        (X, Y, "x is f64[3], was f64[2]: another shape"),
        (X, np.float32(1.0), "x is f32[], was f64[2]: another rank, another dtype"),
        (np.float64(1.0), 1.0, "x is ~f64[], was f64[]: a Python number now"),
        ({"a": X}, {"a": X, "b": X}, "the tree of the arguments differs: x['b'] is new"),
        ((X, X), [X, X], "the tree of the arguments is"),
    ],
)
def test_explain_cache_misses_arguments(first: Any, second: Any, reason: str) -> None:
    function = jit(lambda x: x, backend="numpy")
    with explain_cache_misses(show=False) as misses:
        function(first)
        function(second)
        function(first)
    assert len(traces(misses)) == 2
    assert traces(misses)[1][0].startswith(reason)


def test_explain_cache_misses_static_arguments_and_names() -> None:
    @functools.partial(jit, static_argnums=0, static_argnames="mode", backend="numpy")
    def power(n: int, x: Any, *, mode: str = "slow") -> Any:
        return x**n

    with explain_cache_misses(show=False) as misses:
        power(2, X)
        power(3, X)
        power(3, Y)
        power(3, Y, mode="fast")
    assert traces(misses)[1:] == [
        ("the static argument n is 3, was 2",),
        ("x is f64[3], was f64[2]: another shape",),
        ("the static argument mode is 'fast', was not given",),
    ]


def test_explain_cache_misses_arguments_given_by_name() -> None:
    power = jit(lambda x, n: x["a"] ** n, static_argnums=1, backend="numpy")
    with explain_cache_misses(show=False) as misses:
        power({"a": X, "b": X}, 2)
        power({"a": X, "b": X}, n=2)
        power(x={"a": X}, n=3)
    assert traces(misses)[1:] == [
        ("n is given by name, was by position",),
        (
            "x is given by name, was by position",
            "the tree of the arguments differs: x['b'] is missing",
            "the static argument n is 3, was 2",
        ),
    ]


def test_explain_cache_misses_new_function_object() -> None:
    def scaled_by(n: float) -> Any:
        return jit(lambda x: x * n, backend="numpy")

    with explain_cache_misses(show=False) as misses:
        for n in (2.0, 3.0, 3.0):
            scaled_by(n)(X)
    first, second, third = traces(misses)
    assert first == ()
    assert second[0].startswith("it is a new function object each time, so call jit once, outside of the loop")
    assert second[0].endswith("; n is 3.0, was 2.0: pass it as an argument")
    assert third[0].endswith("outside of the loop")
    # The third program equals the second one.
    assert len([miss for miss in misses if miss.event == "compiled"]) <= 3


def test_explain_cache_misses_variable_of_a_loop() -> None:
    """Both functions close over one variable, which has another value by the time of the second call."""
    with explain_cache_misses(show=False) as misses:
        for n in (2.0, 3.0):
            jit(lambda x: x * n, backend="numpy")(X)  # noqa: B023
    assert traces(misses)[1][0].endswith("; n is 3.0, was 2.0: pass it as an argument")


def test_explain_cache_misses_arguments_of_partial() -> None:
    def scaled(n: float, x: Any, *, shift: float) -> Any:
        return x * n + shift

    with explain_cache_misses(show=False) as misses:
        for n in (2.0, 3.0):
            jit(functools.partial(scaled, n, shift=-n), backend="numpy")(X)
    changes = "argument 0 of partial is 3.0, was 2.0, shift is -3.0, was -2.0"
    assert traces(misses)[1][0].endswith(f"; {changes}: pass it as an argument")


def test_explain_cache_misses_compares_with_the_most_similar() -> None:
    function = jit(lambda x: x, backend="numpy")
    with explain_cache_misses(show=False) as misses:
        for x in ({"a": 1.0}, {"a": 1.0, "b": 1.0}, {"a": X, "b": 1.0}, {"a": Y, "b": 1.0}):
            function(x)
    assert [reason for [reason] in traces(misses)[2:]] == [
        "x['a'] is f64[2], was ~f64[]: another rank, a Python number before",
        "x['a'] is f64[3], was f64[2]: another shape",
    ]


def test_explain_cache_misses_tells_functions_apart() -> None:
    with explain_cache_misses(show=False) as misses:
        jit(functools.partial(ops.mul, 2.0))(X)
        jit(lambda x: x)(X)
        jit(lambda x: ops.neg(x))(X)
        jit(abs)(X)
        jit(operator.neg)(X)
    assert traces(misses) == [(), (), (), (), ()]


def test_explain_cache_misses_options_and_cleared_caches() -> None:
    def function(x: Any) -> Any:
        return x

    with explain_cache_misses(show=False) as misses:
        jit(function)(X)
        jit(function, donate_argnums=0)(X)
        clear_caches()
        jit(function)(X)
    assert "other options" in traces(misses)[1][0]
    assert "removed from the cache, by clear_caches" in traces(misses)[2][0]


def test_explain_cache_misses_observed() -> None:
    function = jit(ops.neg)
    function(X)
    with explain_cache_misses(show=False) as misses:
        blame_nan(function)(X)
    assert traces(misses) == [("it is called within debug_nans or blame_nan",)]


def test_explain_cache_misses_ends_and_nests(capsys: pytest.CaptureFixture[str]) -> None:
    function = jit(ops.neg, backend="numpy")
    with explain_cache_misses() as outer, explain_cache_misses(show=False) as inner:
        function(X)
    function(Y)
    assert traces(outer) == traces(inner) == [()]
    shown = capsys.readouterr().err.splitlines()
    assert len(shown) == 2
    assert shown[0].startswith("jit of neg")
    assert "compiled" in shown[1]


def test_explain_cache_misses_of_errors_and_disabled_jit() -> None:
    with explain_cache_misses(show=False) as misses:
        with pytest.raises(ZeroDivisionError):
            jit(lambda x: 1 / 0)(X)
        with disable_jit():
            jit(ops.neg)(X)
    assert misses == []


def test_set_explain_cache_misses(capsys: pytest.CaptureFixture[str]) -> None:
    set_explain_cache_misses(True)
    set_explain_cache_misses(True)
    jit(lambda x: x, backend="numpy")(X)
    set_explain_cache_misses(False)
    jit(lambda x: x, backend="numpy")(X)
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_explain_cache_misses_by_environment() -> None:
    program = "from lawful.staging import jit\nf = jit(lambda x: x, backend='numpy')\nf(1.0), f(1)"
    done = subprocess.run(
        [sys.executable, "-c", program], env={"LAWFUL_EXPLAIN_CACHE_MISSES": "1"}, capture_output=True, text=True
    )
    assert "traced again at <string>:3" in done.stderr
    assert "x is ~i64[], was ~f64[]: another dtype" in done.stderr
    for word in ("", "False"):
        off = {"LAWFUL_EXPLAIN_CACHE_MISSES": word}
        done = subprocess.run([sys.executable, "-c", program], env=off, capture_output=True, text=True)
        assert done.stderr == ""


@pytest.mark.parametrize("given", [len, True])
def test_explain_cache_misses_positional_argument_is_an_error(given: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"write @explain_cache_misses\(\), with parentheses"):
        explain_cache_misses(given)


def test_explain_cache_misses_show_is_no_switch() -> None:
    with pytest.raises(ArgumentTypeError, match="expected show=True or show=False, got show='x'"):
        explain_cache_misses(show="x")  # type: ignore[arg-type]
