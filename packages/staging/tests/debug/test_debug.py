"""`debug.print` and `debug.callback` in programs that NumPy runs: when, how often, with what, and what is refused."""

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from lawful import debug
from lawful.core import ArgumentTypeError, ArgumentValueError, check_jaxpr
from lawful.ops import mul
from lawful.staging import ShapeDtypeStruct, eval_shape, jit, make_jaxpr

F64 = ShapeDtypeStruct((), "float64")


def compiled(function: Any) -> Any:
    return jit(function, backend="numpy")


HOW = pytest.mark.parametrize("how", [lambda f: f, compiled], ids=["eager", "compiled"])


@HOW
def test_debug_prints_at_each_call_of_the_program(how: Any, capsys: pytest.CaptureFixture[str]) -> None:
    @how
    def f(x: Any) -> Any:
        debug.print("x = {}", x)
        debug.print("{y} is twice {x:.1f}", x=x, y=mul(x, 2.0))
        return x

    f(1.5)
    f(2.5)
    assert capsys.readouterr().out == "x = 1.5\n3.0 is twice 1.5\nx = 2.5\n5.0 is twice 2.5\n"


@HOW
def test_debug_prints_trees_strings_and_numbers(how: Any, capsys: pytest.CaptureFixture[str]) -> None:
    @how
    def f(x: Any) -> Any:
        debug.print("{} {} {} {} {!r}", 3, 0.5, "text", True, None)
        debug.print("{a[k]} {b.shape} {b[1]} {{}}", a={"k": x}, b=x)
        debug.print("nothing")

    assert f(np.array([1.0, 2.0])) is None
    assert capsys.readouterr().out == "3 0.5 text True None\n[1. 2.] (2,) 2.0 {}\nnothing\n"


@HOW
def test_debug_callback_gets_arrays_and_other_values_unchanged(how: Any) -> None:
    seen: list[Any] = []

    def python(*args: Any, **kwargs: Any) -> None:
        seen.append((args, kwargs))

    marker = object()
    x = np.array([1.0, 2.0])
    how(lambda x: debug.callback(python, x, 3, "s", [marker, 2.5], key={"x": x, "n": None}))(x)
    [((array, number, text, [thing, half]), kwargs)] = seen
    assert all(type(value) is np.ndarray for value in (array, number, half, kwargs["key"]["x"]))
    assert (number, number.dtype, half) == (3, np.int64, 2.5)
    assert (text, thing, kwargs["key"]["n"]) == ("s", marker, None)
    x[:] = 0.0
    array += 1.0
    np.testing.assert_array_equal(array, [2.0, 3.0])
    np.testing.assert_array_equal(kwargs["key"]["x"], [1.0, 2.0])


@HOW
def test_debug_what_the_function_returns_does_not_count(how: Any) -> None:
    assert how(lambda x: debug.callback(lambda x: "whatever", x))(1.0) is None


@HOW
def test_debug_options_may_be_given_first(how: Any, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[Any] = []

    @how
    def f(x: Any) -> Any:
        debug.print(ordered=True)("{ordered} {fmt}", ordered=x, fmt="f")
        debug.callback(ordered=True)(lambda **kwargs: seen.append(sorted(kwargs)), callback=x, ordered=x)
        debug.print("{}", x, ordered=True)
        return x

    f(1.0)
    assert capsys.readouterr().out == "1.0 f\n1.0\n"
    assert seen == [["callback", "ordered"]]
    assert str(make_jaxpr(f)(1.0)).count("ordered=True") == 3


def test_debug_print_is_an_equation(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        debug.print("x = {}", x)
        debug.callback(lambda: None)
        return x

    closed = make_jaxpr(f)(F64)
    check_jaxpr(closed)
    eval_shape(f, F64)
    compiled(f).lower(1.0)
    assert capsys.readouterr().out == ""
    first, second = closed.eqns
    assert str(first) == "= debug_callback[callback=<print 'x = {}'> ordered=False] a"
    assert str(second) == "= debug_callback[callback=<lambda> ordered=False]"


FORMATS = {
    "too few": ("{} {}", (1.0,), {}, "got too few positional arguments (0)"),
    "too many": ("{}", (1.0, 2.0), {}, "got '{}': it does not use positional argument 1"),
    "an unknown name": ("{x} {y}", (), {"x": 1.0}, "got no argument 'y' (x)"),
    "an unused name": ("{x}", (), {"x": 1.0, "y": 2.0}, "it does not use argument 'y'"),
    "a brace": ("{", (), {}, "got '{': Single '{' encountered in format string"),
    "both numbered and not": ("{} {0}", (1.0,), {}, "cannot switch"),
}


@HOW
@pytest.mark.parametrize("case", FORMATS)
def test_debug_format_does_not_fit_is_refused_where_it_stands(how: Any, case: str) -> None:
    fmt, args, kwargs, expected = FORMATS[case]
    with pytest.raises(ArgumentValueError) as caught:
        how(lambda: debug.print(fmt, *args, **kwargs))()
    assert str(caught.value).startswith(__file__)
    assert expected in str(caught.value)


def test_debug_other_mistakes() -> None:
    with pytest.raises(ArgumentTypeError, match=r"debug\.print: expected a format string, got a float; write .*'\{\}'"):
        debug.print(1.0)
    with pytest.raises(ArgumentTypeError, match=r"debug\.callback: expected a function, got 3"):
        debug.callback(3)


def test_debug_format_may_hold_another(capsys: pytest.CaptureFixture[str]) -> None:
    compiled(lambda x: debug.print("{x:{width}.{digits}f}|", x=x, width=6, digits=1))(1.25)
    assert capsys.readouterr().out == "   1.2|\n"


@HOW
def test_debug_exception_comes_out_as_it_is(how: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def python(x: Any) -> None:
        raise LookupError("mine")

    @how
    def f(x: Any) -> Any:
        debug.print("before")
        debug.callback(python, x)
        debug.print("after")
        return x

    for _ in range(2):
        with pytest.raises(LookupError) as caught:
            f(1.0)
        assert caught.value.args == ("mine",)
    assert capsys.readouterr().out == "before\nbefore\n"


@pytest.mark.frees
def test_debug_function_lives_no_longer_than_the_program() -> None:
    class Python:
        def __call__(self, *args: Any) -> None:
            pass

    def fresh() -> weakref.ref[Any]:
        python = Python()
        compiled(lambda x: debug.callback(python, x, python))(2.0)
        return weakref.ref(python)

    refs = [fresh() for _ in range(20)]
    gc.collect()
    assert not any(ref() for ref in refs)
