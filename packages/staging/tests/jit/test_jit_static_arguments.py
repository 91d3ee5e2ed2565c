"""Static arguments of `jit`: positions and names, equality and hash."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.core import ArgumentValueError, Tracer
from lawful.staging import jit as jit_by

jit = partial(jit_by, backend="numpy")


def test_jit_static_argument_arrives_as_it_is(counted: Any) -> None:
    f = counted(lambda x, n: x**n if isinstance(n, int) else None)
    g = jit(f, static_argnums=1)
    assert g(3.0, 2) == 9.0
    assert g(3.0, 3) == 27.0
    assert g(4.0, 2) == 16.0
    assert f.calls == 2


@pytest.mark.parametrize(
    "options",
    [{"static_argnums": 1}, {"static_argnums": (1,)}, {"static_argnums": -1}, {"static_argnames": "n"},
     {"static_argnames": ["n"]}, {"static_argnums": 1, "static_argnames": "n"}],
)  # fmt: skip
def test_jit_positions_and_names_are_inferred_from_each_other(options: dict[str, Any]) -> None:
    def f(x: Any, n: int) -> Any:
        assert type(n) is int
        return x * n

    g = jit(f, **options)
    assert g(2.0, 3) == 6.0
    assert g(2.0, n=3) == 6.0
    assert g(x=2.0, n=3) == 6.0


def test_jit_static_argument_may_stay_at_its_default() -> None:
    def f(x: Any, mode: str = "double") -> Any:
        return x * 2.0 if mode == "double" else x

    g = jit(f, static_argnames="mode")
    assert g(3.0) == 6.0
    assert g(3.0, "single") == 3.0
    assert g(3.0, mode="single") == 3.0


def test_jit_keyword_only_argument_is_static_by_name() -> None:
    def f(x: Any, *, n: int, **rest: Any) -> Any:
        return x * n * rest["scale"]

    assert jit(f, static_argnames=("n", "scale"))(1.0, n=3, scale=2) == 6.0


def test_jit_static_arguments_among_many() -> None:
    def f(*args: Any) -> Any:
        assert [type(x) is str for x in args] == [False, True, False, True]
        return args[0] - args[2]

    assert jit(f, static_argnums=(1, 3))(5.0, "a", 2.0, "b") == 3.0
    assert jit(f, static_argnums=(-1, 1))(5.0, "a", 2.0, "b") == 3.0


@pytest.mark.parametrize(("first", "second"), [(1, 1.0), (1, True), (0, False), (2, np.int64(2)), (0.0, 0j)])
def test_jit_equal_static_arguments_of_different_types_differ(first: Any, second: Any, require_same: Any) -> None:
    def f(x: Any) -> Any:
        return ops.mul(np.ones(2, np.int8), x) if type(x) is not np.int64 else ops.mul(np.ones(2), 3.0)

    g = jit(f, static_argnums=0)
    for x in (first, second):
        require_same(g(x), f(x))


def test_jit_hash_and_equality_of_a_static_argument_are_its_own(counted: Any) -> None:
    @dataclass(frozen=True)
    class Settings:
        n: int

    f = counted(lambda x, settings: x * settings.n)
    g = jit(f, static_argnums=1)
    assert g(2.0, Settings(3)) == g(2.0, Settings(3)) == 6.0
    assert f.calls == 1


@pytest.mark.parametrize("value", [[1], {"a": 1}, np.ones(2), {1}, ([],)])
def test_jit_unhashable_static_argument_error(value: Any) -> None:
    g = jit(lambda x, n: x, static_argnums=1)
    with pytest.raises(ArgumentValueError, match="expected a hashable static argument 1, got") as caught:
        g(1.0, value)
    assert str(caught.value).startswith(f"{__file__}:")
    assert "make it a tuple or a frozen dataclass" in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert g(1.0, 2) == 1.0
    with pytest.raises(ArgumentValueError, match="static argument 'n'"):
        jit(lambda x, *, n: x, static_argnames="n")(1.0, n=value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"static_argnums": 2}, "expected positions of the 2 positional arguments of f, got 2"),
        ({"static_argnums": -3}, "got -3"),
        ({"static_argnames": "m"}, r"expected names of arguments of f \(n, x\), got 'm'"),
    ],
)
def test_jit_static_argument_that_does_not_exist_error(options: dict[str, Any], words: str) -> None:
    def f(x: Any, n: int) -> Any:
        return x

    with pytest.raises(ArgumentValueError, match=words):
        jit(f, **options)


def test_jit_options_that_are_no_numbers_error() -> None:
    wrong: list[dict[str, Any]] = [{"static_argnums": x} for x in (1.5, "x", True, (0, True))]
    wrong += [{"donate_argnums": x} for x in ("x", True)] + [{"static_argnames": 1}]
    for options in wrong:
        with pytest.raises(TypeError) as caught:
            jit(lambda x, y: x, **options)
        assert str(caught.value).startswith(f"{__file__}:"), options


def test_jit_static_argnums_and_argnames_infer_nothing() -> None:
    def is_traced(x: Any, y: Any) -> None:
        traced.append((isinstance(x, Tracer), isinstance(y, Tracer)))

    traced: list[tuple[bool, bool]] = []
    f = jit(is_traced, static_argnums=1, static_argnames=(), backend="numpy")
    f(1.0, 2.0)
    f(1.0, y=2.0)
    g = jit(is_traced, static_argnums=(), static_argnames="y", backend="numpy")
    g(1.0, 2.0)
    g(1.0, y=2.0)
    assert traced == [(True, False), (True, True), (True, True), (True, False)]
