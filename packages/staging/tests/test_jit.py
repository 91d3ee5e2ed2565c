"""`jit`: traced once a signature, compiled, and equal to the function in value, dtype and weakness."""

import copy
import functools
import gc
import logging
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    NonArrayError,
    UnexpectedTracerError,
    current,
    eval_trace,
    get_aval,
)
from lawful.staging import ShapeDtypeStruct, clear_caches, make_jaxpr
from lawful.staging import jit as jit_by

jit = partial(jit_by, backend="numpy")


# One trace a signature.


def test_a_function_is_traced_once_a_signature(counted: Any) -> None:
    f = counted(lambda x, y: x * y)
    g = jit(f)
    for x in (1.0, 2.0, -5.0):
        assert g(x, 3.0) == x * 3.0
    assert f.calls == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (np.ones(3), np.ones(4)),
        (np.ones(3), np.ones((3, 1))),
        (np.ones(3), np.ones(3, np.float32)),
        (np.float64(1), 1.0),
        (1, 1.0),
        (True, 1),
        (np.True_, True),
        ([1.0], (1.0,)),
        ({"a": 1.0}, {"b": 1.0}),
        (None, ()),
    ],
    ids=repr,
)
def test_each_part_of_the_signature_counts(counted: Any, first: Any, second: Any) -> None:
    f = counted(lambda x: tree.map(lambda leaf: leaf * 1, x))
    g = jit(f)
    for _ in range(2):
        g(first)
        g(second)
    assert f.calls == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (np.ones(3), np.zeros(3)),
        (np.ones((2, 3)), np.ones((3, 2)).T),
        (np.float64(2), np.array(3.0)),
        (np.ones(3), np.ones(6)[::2]),
        (np.ones(3, "<f8"), np.ones(3, ">f8")),
        (1, 7),
    ],
)
def test_values_and_layouts_do_not_count(counted: Any, first: Any, second: Any) -> None:
    f = counted(lambda x: x + x)
    g = jit(f)
    np.testing.assert_array_equal(g(first), first + first)
    np.testing.assert_array_equal(g(second), second + second)
    assert f.calls == 1


def test_two_jits_of_a_function_share_its_traces() -> None:
    calls = []

    def f(x: Any) -> Any:
        calls.append(1)
        return x + 1.0

    assert jit(f)(1.0) == jit(f)(1.0) == 2.0
    assert len(calls) == 1
    jit(f, static_argnums=0)(1.0)
    assert len(calls) == 2, "other options, other traces"


def test_an_inner_jit_is_traced_once_for_all_its_uses(counted: Any) -> None:
    inner = counted(lambda x: ops.sin(x))
    g = jit(inner)

    def outer(x: Any) -> Any:
        for _ in range(50):
            x = g(x)
        return x

    jit(outer)(np.ones(2))
    assert inner.calls == 1
    closed = make_jaxpr(outer)(np.ones(2))
    assert inner.calls == 1
    assert len({id(eqn.params["jaxpr"]) for eqn in closed.eqns}) == 1, "and its jaxpr is one object"


def test_jit_of_jit_is_jit(counted: Any, require_same: Any) -> None:
    f = counted(lambda x: ops.sin(x) * 2.0)
    g = jit(jit(jit(f)))
    require_same(g(np.ones(2)), ops.sin(np.ones(2)) * 2.0)
    assert f.calls == 1


def test_a_function_that_raises_is_traced_again(counted: Any) -> None:
    allowed = []

    @counted
    def f(x: Any) -> Any:
        if not allowed:
            raise KeyError("not yet")
        return x

    g = jit(f)
    for _ in range(2):
        with pytest.raises(KeyError, match="not yet"):
            g(1.0)
    allowed.append(True)
    assert g(1.0) == 1.0
    assert f.calls == 3


def test_clear_caches_forgets_every_trace(counted: Any) -> None:
    f, plain = counted(lambda x: x + 1.0), []

    def g(x: Any) -> Any:
        plain.append(1)
        return x

    for n in (1, 2):
        jitted = jit(f) if n == 1 else jitted  # noqa: F821
        jitted(1.0)
        jit(g)(1.0)
        assert (f.calls, len(plain)) == (n, n)
        jitted(1.0)
        assert f.calls == n
        clear_caches()


def test_clear_cache_forgets_the_traces_of_one_function(counted: Any) -> None:
    f, g = counted(lambda x: x), counted(lambda x: x)
    jf, jg = jit(f), jit(g)
    jf(1.0), jg(1.0)
    jf.clear_cache()
    jf(1.0), jg(1.0)
    assert (f.calls, g.calls) == (2, 1)


# Memory.


def test_ten_thousand_fresh_closures_leave_nothing_behind() -> None:
    class Token:
        pass

    def fresh() -> weakref.ref[Any]:
        token = Token()
        array = np.ones(2)

        def f(x: Any) -> Any:
            assert token
            return x * array

        jit(f)(np.ones(2))
        return weakref.ref(token)

    for _ in range(50):  # what is kept once, however often
        fresh()
    gc.collect()
    before = len(gc.get_objects())
    refs = [fresh() for _ in range(10_000)]
    gc.collect()
    assert not any(ref() for ref in refs)
    del refs
    assert len(gc.get_objects()) - before < 500


def test_a_closure_is_freed_without_the_collector_of_cycles() -> None:
    class Token:
        pass

    gc.collect()
    gc.disable()
    try:
        token = Token()
        ref = weakref.ref(token)

        def f(x: Any, token: Any = token) -> Any:
            return x

        g = jit(f)
        g(1.0)
        del f, g, token
        assert ref() is None
    finally:
        gc.enable()


def test_the_signatures_of_one_function_are_bounded(monkeypatch: pytest.MonkeyPatch, counted: Any) -> None:
    monkeypatch.setattr("lawful.staging._jit._MOST_SIGNATURES", 8)
    f = counted(lambda n: n)
    g = jit(f, static_argnums=0)
    for n in range(100):
        assert g(n) == n
    assert len(g._cache) == 8
    g(99)
    assert f.calls == 100, "the last ones are kept"
    g(0)
    assert f.calls == 101, "the first ones are not"


# Static arguments.


def test_a_static_argument_arrives_as_it_is(counted: Any) -> None:
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
def test_positions_and_names_are_inferred_from_each_other(options: dict[str, Any]) -> None:
    def f(x: Any, n: int) -> Any:
        assert type(n) is int
        return x * n

    g = jit(f, **options)
    assert g(2.0, 3) == 6.0
    assert g(2.0, n=3) == 6.0
    assert g(x=2.0, n=3) == 6.0


def test_a_static_argument_may_stay_at_its_default() -> None:
    def f(x: Any, mode: str = "double") -> Any:
        return x * 2.0 if mode == "double" else x

    g = jit(f, static_argnames="mode")
    assert g(3.0) == 6.0
    assert g(3.0, "single") == 3.0
    assert g(3.0, mode="single") == 3.0


def test_a_keyword_only_argument_is_static_by_name() -> None:
    def f(x: Any, *, n: int, **rest: Any) -> Any:
        return x * n * rest["scale"]

    assert jit(f, static_argnames=("n", "scale"))(1.0, n=3, scale=2) == 6.0


def test_static_arguments_among_many() -> None:
    def f(*args: Any) -> Any:
        assert [type(x) is str for x in args] == [False, True, False, True]
        return args[0] - args[2]

    assert jit(f, static_argnums=(1, 3))(5.0, "a", 2.0, "b") == 3.0
    assert jit(f, static_argnums=(-1, 1))(5.0, "a", 2.0, "b") == 3.0


@pytest.mark.parametrize(("first", "second"), [(1, 1.0), (1, True), (0, False), (2, np.int64(2)), (0.0, 0j)])
def test_equal_static_arguments_of_different_types_differ(first: Any, second: Any, require_same: Any) -> None:
    def f(x: Any) -> Any:
        return ops.mul(np.ones(2, np.int8), x) if type(x) is not np.int64 else ops.mul(np.ones(2), 3.0)

    g = jit(f, static_argnums=0)
    for x in (first, second):
        require_same(g(x), f(x))


def test_the_hash_and_equality_of_a_static_argument_are_its_own(counted: Any) -> None:
    @dataclass(frozen=True)
    class Settings:
        n: int

    f = counted(lambda x, settings: x * settings.n)
    g = jit(f, static_argnums=1)
    assert g(2.0, Settings(3)) == g(2.0, Settings(3)) == 6.0
    assert f.calls == 1


@pytest.mark.parametrize("value", [[1], {"a": 1}, np.ones(2), {1}, ([],)])
def test_an_unhashable_static_argument_explains_itself(value: Any) -> None:
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
def test_a_static_argument_that_does_not_exist_explains_itself(options: dict[str, Any], words: str) -> None:
    def f(x: Any, n: int) -> Any:
        return x

    with pytest.raises(ArgumentValueError, match=words):
        jit(f, **options)


def test_options_that_are_no_numbers_explain_themselves() -> None:
    for options in ({"static_argnums": 1.5}, {"static_argnums": "x"}, {"static_argnames": 1}, {"donate_argnums": "x"}):
        with pytest.raises(TypeError) as caught:
            jit(lambda x, y: x, **options)
        assert str(caught.value).startswith(f"{__file__}:"), options


# What can be compiled.


def test_keyword_arguments_in_any_order(counted: Any) -> None:
    f = counted(lambda x, y, **rest: x - y * rest["z"])
    g = jit(f)
    assert g(1.0, y=2.0, z=3.0) == g(z=3.0, y=2.0, x=1.0) == -5.0
    assert g(1.0, z=3.0, y=2.0) == -5.0
    assert f.calls == 2


def test_decorators_with_and_without_options() -> None:
    @jit_by
    def plain(x: Any) -> Any:
        """Adds."""
        return x

    @jit_by(static_argnames="n", backend="numpy")
    def with_options(x: Any, n: int) -> Any:
        return x * n

    @partial(jit_by, static_argnums=1, backend="numpy")
    def by_partial(x: Any, n: int) -> Any:
        return x * n

    assert with_options(2.0, n=3) == by_partial(2.0, 3) == 6.0
    assert (plain.__name__, plain.__doc__) == ("plain", "Adds.")
    assert plain.__wrapped__(5) == 5
    assert repr(with_options) == "<jit of with_options>"


def test_methods() -> None:
    class Model:
        def __init__(self, scale: float) -> None:
            self.scale = scale

        @partial(jit_by, static_argnums=0, backend="numpy")
        def apply(self, x: Any) -> Any:
            return x * self.scale

        @staticmethod
        @partial(jit_by, backend="numpy")
        def double(x: Any) -> Any:
            return x * 2.0

        @classmethod
        def triple(cls, x: Any) -> Any:
            return x * 3.0

        def plain(self, x: Any) -> Any:
            return x + self.scale

    one, two = Model(3.0), Model(5.0)
    assert (one.apply(2.0), two.apply(2.0), one.apply(2.0)) == (6.0, 10.0, 6.0)
    assert Model.double(2.0) == one.double(2.0) == 4.0
    assert jit(Model.triple)(2.0) == 6.0
    assert jit(one.plain)(2.0) == 5.0
    assert jit(two.plain)(2.0) == 7.0


def test_methods_of_a_pytree() -> None:
    @dataclass
    class Point:
        x: Any
        y: Any

        @partial(jit_by, backend="numpy")
        def norm(self) -> Any:
            return self.x * self.x + self.y * self.y

    tree.register_dataclass(Point)
    assert Point(3.0, 4.0).norm() == 25.0


def test_partials_and_callable_objects() -> None:
    class Scale:
        __hash__ = None  # type: ignore[assignment]

        def __init__(self, factor: float) -> None:
            self.factor = factor

        def __call__(self, x: Any) -> Any:
            return x * self.factor

        def __eq__(self, other: object) -> bool:
            return True

    assert jit(partial(ops.sub, 10.0))(np.float64(3.0)) == 7.0
    assert jit(partial(lambda x, *, y: x - y, y=2.0))(3.0) == 1.0
    assert jit(Scale(3.0))(2.0) == 6.0
    assert jit(Scale(5.0))(2.0) == 10.0, "objects that are equal are not the same function"
    assert jit(ops.sin)(0.0) == 0.0
    assert jit(functools.lru_cache(lambda x: x + 1))


def test_pytrees_in_and_out(require_same: Any) -> None:
    def f(d: Any) -> Any:
        return {"sum": d["a"] + d["b"][0], "none": None, "list": [d["b"], ()]}

    d = {"a": np.ones(2), "b": (np.float32(2), 3)}
    require_same(jit(f)(d), f(d))


@pytest.mark.parametrize(
    "f",
    [
        lambda: (),
        lambda: 3.0,
        lambda: {"a": np.arange(3.0)},
        lambda: None,
        lambda: ops.sin(1.0),
        lambda: (1, 2.0, True, 3j, np.float32(4)),
    ],
)
def test_no_arguments(f: Callable[[], Any], require_same: Any) -> None:
    require_same(jit(f)(), f())


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,), (1, 1)])
def test_empty_and_scalar_arrays(shape: tuple[int, ...], require_same: Any) -> None:
    x = np.ones(shape)
    require_same(jit(lambda x: (x, x * 2.0, ops.sin(x)))(x), (x, x * 2.0, np.sin(x)))


@pytest.mark.parametrize("x", [3, 3.0, 3j, np.float32(3), np.int8(3), np.array(3.0), np.ones(2, np.float16)])
@pytest.mark.parametrize(
    "f",
    [
        lambda x: x,
        lambda x: x + x,
        lambda x: x * 2,
        lambda x: x * 2.5,
        lambda x: 2j * x,
        lambda x: x**2,
        lambda x: x / 3,
        lambda x: (-x, +x, abs(x)),
        lambda x: x == x,
        ops.cos,
        lambda x: ops.add(x, x),
        lambda x: x * np.float32(2),
        lambda x: x * np.ones(2, np.int16),
        lambda x: (x, 1, 2.0),
        lambda x: ops.convert_element_type(x, np.complex64),
    ],
)
def test_dtype_and_weakness_are_those_of_the_function_itself(
    x: Any, f: Callable[[Any], Any], require_same: Any
) -> None:
    require_same(jit(f)(x), f(x))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x,
        lambda x: (x & x, x | False, x ^ True, x == x, x != True),  # noqa: E712
        lambda x: (x + 1, x * 2.0, 3 - x),
        lambda x: ops.where(x, 1.0, np.float32(2)),
        lambda x: x + np.int8(1),
    ],
)
def test_a_python_boolean_is_as_weak_as_python_has_it(f: Callable[[Any], Any], require_same: Any) -> None:
    for x in (True, False):
        require_same(jit(f)(x), f(x))


@pytest.mark.parametrize("order", ["C", "F"])
def test_views_and_orders_of_memory(order: Any) -> None:
    x = np.asarray(np.arange(12.0).reshape(3, 4), order=order)
    np.testing.assert_array_equal(jit(lambda x: x.T + 1.0)(x[::2, ::-1]), x[::2, ::-1].T + 1.0)


# Closures.


def test_arrays_closed_over_are_constants(counted: Any) -> None:
    table = np.arange(3.0)
    f = counted(lambda x: x + table)
    g = jit(f)
    np.testing.assert_array_equal(g(1.0), [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(g(np.ones(3)), [1.0, 2.0, 3.0])


def test_what_was_closed_over_is_what_it_was_when_traced() -> None:
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


def test_a_jit_that_closed_over_a_tracer_is_traced_anew_in_the_next_transformation() -> None:
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


def test_a_jit_that_closed_over_a_tracer_is_traced_anew_in_another_thread() -> None:
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


def test_a_tracer_that_is_kept_explains_itself() -> None:
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


# Why it was traced again.


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ((1.0, 2.0), (1.0, np.ones(2)), "leaf 1 is f64[2], was ~f64[]"),
        ((1.0, 2.0), ((1.0, 1.0), 2.0), "the tree of the arguments is"),
        ((1.0, 2.0), (np.float32(1), 2), "leaf 0 is f32[], was ~f64[]; leaf 1 is ~i64[], was ~f64[]"),
    ],
)
def test_a_second_trace_is_explained(first: Any, second: Any, words: str, caplog: pytest.LogCaptureFixture) -> None:
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


def test_a_new_static_argument_is_explained(caplog: pytest.LogCaptureFixture) -> None:
    g = jit(lambda x, n: x * n, static_argnums=1)
    g(1.0, 2)
    with caplog.at_level(logging.DEBUG, "lawful.jit"):
        g(1.0, 3)
    assert "static arguments are {1: 3}, were {1: 2}" in caplog.text


def test_nothing_is_logged_unless_somebody_listens(caplog: pytest.LogCaptureFixture) -> None:
    g = jit(lambda x: x)
    g(1.0)
    g(1)
    assert not caplog.records


def test_the_difference_is_told_from_the_most_similar_signature(caplog: pytest.LogCaptureFixture) -> None:
    g = jit(lambda x, y, z: x)
    g(1.0, 2.0, 3.0)
    g(np.ones(2), np.ones(2), np.ones(2))
    with caplog.at_level(logging.DEBUG, "lawful.jit"):
        g(np.ones(2), np.ones(2), np.ones(3))
    assert caplog.messages == ["jit of <lambda> is traced again: leaf 2 is f64[3], was f64[2]"]


# Copies and types.


def test_a_jit_can_be_copied_and_bound() -> None:
    g = jit(lambda x: x + 1.0)
    assert copy.copy(g)(1.0) == 2.0


def test_eval_shape_computes_nothing() -> None:
    g = jit(lambda x: {"a": ops.sin(x)})
    assert g.eval_shape(ShapeDtypeStruct((10**9, 10**9), float)) == {"a": ShapeDtypeStruct((10**9, 10**9), float)}


def test_results_have_the_type_of_the_program() -> None:
    x = np.ones(3, np.float32)
    assert get_aval(jit(lambda x: x * 2.0)(x)) == get_aval(x)


def test_an_inlined_jit_leaves_its_equations() -> None:
    inner = jit(lambda x: ops.mul(ops.sin(x), 2.0), inline=True)
    names = [eqn.primitive.name for eqn in make_jaxpr(lambda x: inner(inner(x)))(np.float64(1.0)).eqns]
    assert names == ["sin", "mul", "sin", "mul"]
    assert float(inner(np.float64(0.5))) == 2.0 * np.sin(0.5)
