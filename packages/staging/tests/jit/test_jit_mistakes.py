"""Errors of `jit` for wrong arguments and results; errors and threads leave it usable."""

import threading
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    LawfulError,
    NonArrayError,
    Primitive,
    ShapedArray,
    TracerBoolConversionError,
    current,
    eval_trace,
)
from lawful.staging import (
    ShapeDtypeStruct,
    clear_caches,
    make_jaxpr,
)
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
def test_jit_argument_that_is_no_array_is_named(argument: Any, words: str) -> None:
    with pytest.raises((NonArrayError, TypeError, OverflowError), match=words) as caught:
        jit(lambda x: x)(argument)
    assert str(caught.value).startswith(f"{__file__}:")


def test_jit_result_that_is_no_array_is_named() -> None:
    def f(x: Any) -> Any:
        return {"a": [x, "text"]}

    with pytest.raises(NonArrayError, match=r"jit of f: .* got 'text' of type str at result\['a'\]\[1\]; return"):
        jit(f)(1.0)


def test_jit_wrong_number_of_arguments_is_pythons_own_error() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'y'"):
        jit(lambda x, y: x)(1.0)
    assert current.trace is eval_trace


@pytest.mark.parametrize("value", [3.0, None, "f", np.ones(2)])
def test_jit_refuses_non_functions(value: Any) -> None:
    if value is None:
        return
    with pytest.raises(ArgumentTypeError, match="jit: expected a function, got"):
        jit(value)


class UserError(Exception):
    pass


def test_jit_user_exception_is_raised_unchanged() -> None:
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


def test_jit_deep_recursion_leaves_the_system_usable() -> None:
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


def test_jit_two_threads_trace_at_once() -> None:
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


def test_jit_many_threads_call_one_function() -> None:
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


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"donate_argnums": 2}, "positions of the 2 positional arguments"),
        ({"donate_argnums": (0, -3)}, "positions of the 2 positional arguments"),
        ({"donate_argnames": "z"}, "donate_argnames: expected names of arguments"),
        ({"donate_argnums": 0, "static_argnums": (0, 1)}, "0, which is both"),
        ({"donate_argnums": -1, "static_argnums": 1}, "1, which is both"),
        ({"donate_argnames": "x", "static_argnums": 0}, "0, which is both"),
    ],
)
def test_jit_donation_that_cannot_be(options: dict[str, Any], match: str) -> None:
    with pytest.raises(ArgumentValueError, match=match):
        jit(lambda x, y: x, **options)


def test_jit_donation_that_can_be() -> None:
    for options in ({"donate_argnums": 5}, {"donate_argnums": -1}, {"donate_argnames": "a"}):
        jit(lambda *args, **names: args, **options)
    for options in ({"static_argnames": (), "static_argnums": (1,)}, {"static_argnames": [], "static_argnums": [1]}):
        f = jit(lambda x, n: x if n else -x, backend="numpy", donate_argnames="x", **options)
        assert f(2.0, 0) == -2.0
        with pytest.raises(TracerBoolConversionError):  # as in JAX, neither is inferred where both are given
            f(2.0, n=0)


@pytest.mark.parametrize(
    ("shape", "dtype", "error", "match"),
    [
        ((3,), None, ValueError, "expected a dtype, got None"),
        (None, "float64", TypeError, "expected integers as shape, got None"),
        ((None,), "float64", TypeError, "expected integers as shape"),
        ((1.5,), "float64", TypeError, "expected integers as shape"),
        ((2, -1), "float64", ValueError, r"expected lengths that are not negative, got the shape \(2, -1\)"),
        (-1, "int8", ValueError, "expected lengths that are not negative"),
        ((1,) * 65, "int8", ValueError, "expected at most 64 dimensions, got 65"),
    ],
)
def test_shape_dtype_struct_refuses(shape: Any, dtype: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match) as caught:
        ShapeDtypeStruct(shape, dtype)
    assert isinstance(caught.value, LawfulError)


F64 = ShapedArray((), "float64")


@pytest.mark.parametrize("multiple", [False, True])
@pytest.mark.parametrize("given", [None, 3, "a", (3,), [None], np.float64(1.0), F64, [F64]])
def test_abstract_eval_of_the_wrong_kind(given: Any, multiple: bool) -> None:
    primitive = Primitive("wrongly_typed", multiple_results=multiple)
    primitive.def_abstract_eval(lambda x: given)
    if (given is F64 and not multiple) or (given == [F64] and multiple):
        make_jaxpr(primitive.bind)(1.0)
        return
    with pytest.raises(ArgumentTypeError, match="abstract evaluation of 'wrongly_typed': expected"):
        make_jaxpr(primitive.bind)(1.0)
