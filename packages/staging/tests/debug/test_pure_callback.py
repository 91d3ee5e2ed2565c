"""`pure_callback`: what the Python function is given, what it must give, and how programs contain it."""

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from lawful.core import ArgumentTypeError, ArgumentValueError, MissingRuleError, NonArrayError, bfloat16, check_jaxpr
from lawful.ops import add, mul
from lawful.staging import (
    ShapeDtypeStruct,
    cse_jaxpr,
    dce_jaxpr,
    eval_shape,
    jit,
    make_jaxpr,
    pure_callback,
    pure_callback_p,
)

F64 = ShapeDtypeStruct((), "float64")


def compiled(function: Any) -> Any:
    return jit(function, backend="numpy")


HOW = pytest.mark.parametrize("how", [lambda f: f, compiled], ids=["eager", "compiled"])


@HOW
def test_pure_callback_trees_go_in_and_out(how: Any) -> None:
    def python(x: Any, *, scale: Any) -> Any:
        return {"sum": x["a"] + x["b"], "scaled": (x["a"] * scale, 3)}

    def f(a: Any, b: Any) -> Any:
        struct = ShapeDtypeStruct((2,), "float64")
        shapes = {"sum": struct, "scaled": (struct, ShapeDtypeStruct((), "int8"))}
        return pure_callback(python, shapes, {"a": a, "b": b}, scale=2.0)

    out = how(f)(np.array([1.0, 2.0]), np.array([10.0, 20.0]))
    np.testing.assert_array_equal(out["sum"], [11.0, 22.0])
    np.testing.assert_array_equal(out["scaled"][0], [2.0, 4.0])
    assert (out["scaled"][1], out["scaled"][1].dtype) == (3, np.int8)


@HOW
@pytest.mark.parametrize(
    "x",
    [2.5, 3, True, 1j, np.float32(1.5), np.int8(4), np.zeros((0, 2)), np.ones((2, 3), bfloat16), np.array(7.0)],
    ids=repr,
)
def test_pure_callback_function_is_given_numpy_arrays(how: Any, x: Any) -> None:
    seen = []

    def python(x: Any) -> Any:
        seen.append(x)
        return x

    struct = ShapeDtypeStruct(np.shape(x), np.asarray(x).dtype)
    out = how(lambda x: pure_callback(python, struct, x))(x)
    [got] = seen
    assert type(got) is np.ndarray
    assert (got.shape, got.dtype) == (np.shape(x), np.asarray(x).dtype)
    np.testing.assert_array_equal(got, x)
    np.testing.assert_array_equal(out, x)
    assert out.dtype == got.dtype


@HOW
def test_pure_callback_nothing_function_keeps_or_changes_shows(how: Any) -> None:
    kept = []

    def python(x: Any) -> Any:
        kept.append(x)
        x += 1.0
        result = x * 2.0
        kept.append(result)
        return result

    x = np.array([1.0, 2.0])
    out = how(lambda x: pure_callback(python, x, x))(x)
    np.testing.assert_array_equal(x, [1.0, 2.0])
    before = out.copy()
    kept[1] += 100.0
    np.testing.assert_array_equal(out, before)
    x[:] = -1.0
    np.testing.assert_array_equal(kept[0], [2.0, 3.0])


@HOW
def test_pure_callback_python_number_stands_for_a_scalar(how: Any) -> None:
    out = how(lambda: pure_callback(lambda: 3, ShapeDtypeStruct((), "float32")))()
    assert (out, out.dtype) == (3.0, np.float32)


def half(x: Any) -> Any:
    return x * 0.5


WRONG = {
    "shape": (F64, lambda x: np.ones(3), "expected f64[] at result, got f64[3]"),
    "dtype": (F64, lambda x: np.float32(1), "expected f64[] at result, got f32[]"),
    "a leaf of a tree": (
        {"a": (F64, F64)}, lambda x: {"a": (x, np.ones(2))}, "expected f64[] at result['a'][1], got f64[2]"
    ),
    "number of another kind": (ShapeDtypeStruct((), "int32"), lambda x: 1.5, "expected i32[] at result, got ~f64[]"),
    "a tree for a leaf": (F64, lambda x: (x, x), "expected f64[] at result, got (array(2.), array(2.)) of type tuple"),
    "no array": (F64, lambda x: "two", "expected f64[] at result, got 'two' of type str"),
    "a leaf for a tree": ((F64, F64), lambda x: x, "expected a result of the tree PyTreeDef((*, *)), got PyTreeDef(*)"),
    "too few": ((F64, F64), lambda x: (x,), "expected a result of the tree PyTreeDef((*, *)), got PyTreeDef((*,))"),
    "nothing": (F64, lambda x: None, "expected f64[] at result, got None of type NoneType"),
}  # fmt: skip


@HOW
@pytest.mark.parametrize("case", WRONG)
def test_pure_callback_wrong_result_says_what_was_expected_where(how: Any, case: str) -> None:
    shapes, python, expected = WRONG[case]

    def name_of_it(x: Any) -> Any:
        return python(x)

    def f(x: Any) -> Any:
        return pure_callback(name_of_it, shapes, x)  # the line that the message names

    with pytest.raises(ArgumentTypeError) as caught:
        how(f)(np.float64(2.0))
    assert "pure_callback of name_of_it: " in str(caught.value)
    assert expected in str(caught.value)
    line = f.__code__.co_firstlineno + 1
    assert str(caught.value).startswith(f"{__file__}:{line} (f): ")


@HOW
def test_pure_callback_exception_comes_out_as_it_is(how: Any) -> None:
    class Mine(Exception):
        pass

    def python(x: Any) -> Any:
        raise Mine("no")

    f = how(lambda x: pure_callback(python, F64, x))
    for _ in range(2):
        with pytest.raises(Mine) as caught:
            f(2.0)
        assert caught.value.args == ("no",)
    assert caught.traceback[-1].name == "python"
    assert "in the pure_callback of python at " in caught.value.__notes__[0]


def test_pure_callback_mistakes_in_the_call() -> None:
    with pytest.raises(ArgumentTypeError, match="pure_callback: expected a function, got 3"):
        pure_callback(3, F64)
    with pytest.raises(
        ArgumentValueError, match=r"pure_callback of half: expected vmap_method 'sequential', .*'maybe'"
    ):
        pure_callback(half, F64, 1.0, vmap_method="maybe")
    with pytest.raises(NonArrayError, match=r"pure_callback of half: .*'text'"):
        pure_callback(half, F64, "text")
    with pytest.raises(ArgumentTypeError, match="expected result_shape_dtypes of leaves with a shape and a dtype, got"):
        pure_callback(half, object(), 1.0)


def test_pure_callback_what_has_a_shape_and_a_dtype_says_type() -> None:
    class Struct:
        shape = (2,)
        dtype = "float32"

    out = eval_shape(lambda x: pure_callback(half, Struct(), x), np.ones(2, np.float32))
    assert (out.shape, out.dtype) == ((2,), np.float32)


def test_pure_callback_called_when_the_program_runs() -> None:
    calls = []

    def python(x: Any) -> Any:
        calls.append(float(x))
        return x

    f = compiled(lambda x: pure_callback(python, F64, x))
    closed = make_jaxpr(f)(F64)
    eval_shape(f, F64)
    check_jaxpr(closed)
    assert calls == []
    assert "pure_callback[callback=<python> vmap_method=None] a" in str(closed)
    f(1.0)
    f(2.0)
    assert calls == [1.0, 2.0]


def test_pure_callback_program_need_not_call_it() -> None:
    closed = make_jaxpr(lambda x: (pure_callback(half, F64, x), x)[1])(F64)
    assert not dce_jaxpr(closed, [True]).eqns
    assert not pure_callback_p.effectful


def test_pure_callback_cse() -> None:
    """CSE merges two calls of one function, and keeps calls of two functions apart."""

    def twice(f: Any, g: Any) -> Any:
        return lambda x: add(pure_callback(f, F64, x), pure_callback(g, F64, x))

    def other(x: Any) -> Any:
        return x * 0.25

    same = cse_jaxpr(make_jaxpr(twice(half, half))(F64))
    assert [eqn.primitive.name for eqn in same.eqns] == ["pure_callback", "add"]
    different = cse_jaxpr(make_jaxpr(twice(half, other))(F64))
    assert [eqn.primitive.name for eqn in different.eqns] == ["pure_callback", "pure_callback", "add"]
    assert compiled(twice(half, other))(4.0) == 3.0


def test_pure_callback_two_functions_share_no_program() -> None:
    def f(python: Any) -> Any:
        return compiled(lambda x: pure_callback(python, F64, x))

    assert (f(half)(4.0), f(lambda x: x * 0.25)(4.0)) == (2.0, 1.0)


def test_pure_callback_may_call_jit_and_ops() -> None:
    inner = compiled(lambda x: mul(x, 10.0))

    def python(x: Any) -> Any:
        return add(inner(x), 1.0)

    f = compiled(lambda x: pure_callback(python, F64, x))
    assert f(2.0) == 21.0
    assert make_jaxpr(f)(2.0).eqns  # not traced into


@pytest.mark.frees
def test_pure_callback_function_lives_no_longer_than_the_program() -> None:
    class Python:
        def __call__(self, x: Any) -> Any:
            return x

    def fresh() -> weakref.ref[Any]:
        python = Python()
        assert compiled(lambda x: pure_callback(python, F64, x))(2.0) == 2.0
        return weakref.ref(python)

    refs = [fresh() for _ in range(20)]
    gc.collect()
    assert not any(ref() for ref in refs)


@pytest.mark.frees
def test_pure_callback_function_referring_to_its_caller() -> None:
    """The Python function may refer to the compiled function that calls it, and both are freed."""

    class Token:
        pass

    def fresh() -> weakref.ref[Any]:
        token = Token()

        @compiled
        def countdown(n: Any) -> Any:
            assert token
            return pure_callback(lambda n: countdown(n - 1) if n else n, n, n)

        assert countdown(np.int64(3)) == 0
        return weakref.ref(token)

    refs = [fresh() for _ in range(20)]
    gc.collect()
    assert not any(ref() for ref in refs)


def test_pure_callback_missing_derivative_says_how_to_give_one() -> None:
    with pytest.raises(MissingRuleError, match=r"JVP rule for 'pure_callback' does not exist: .*custom_jvp"):
        pure_callback_p.rule("jvp")
