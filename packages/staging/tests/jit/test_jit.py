"""`jit`: traced once a signature, compiled, and equal to the function in value, dtype and weakness."""

import copy
import functools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.core import (
    get_aval,
)
from lawful.staging import ShapeDtypeStruct, clear_caches, make_jaxpr
from lawful.staging import jit as jit_by

jit = partial(jit_by, backend="numpy")


# One trace a signature.


def test_jit_function_is_traced_once_a_signature(counted: Any) -> None:
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
def test_jit_each_part_of_the_signature_counts(counted: Any, first: Any, second: Any) -> None:
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
def test_jit_values_and_layouts_do_not_count(counted: Any, first: Any, second: Any) -> None:
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


def test_jit_function_that_raises_is_traced_again(counted: Any) -> None:
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


def test_jit_clear_caches_forgets_every_trace(counted: Any) -> None:
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


def test_jit_clear_cache_forgets_the_traces_of_one_function(counted: Any) -> None:
    f, g = counted(lambda x: x), counted(lambda x: x)
    jf, jg = jit(f), jit(g)
    jf(1.0), jg(1.0)
    jf.clear_cache()
    jf(1.0), jg(1.0)
    assert (f.calls, g.calls) == (2, 1)


# Functions that can be compiled.


def test_jit_keyword_arguments_in_any_order(counted: Any) -> None:
    f = counted(lambda x, y, **rest: x - y * rest["z"])
    g = jit(f)
    assert g(1.0, y=2.0, z=3.0) == g(z=3.0, y=2.0, x=1.0) == -5.0
    assert g(1.0, z=3.0, y=2.0) == -5.0
    assert f.calls == 2


def test_jit_decorators_with_and_without_options() -> None:
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


def test_jit_methods() -> None:
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


def test_jit_methods_of_a_pytree() -> None:
    @dataclass
    class Point:
        x: Any
        y: Any

        @partial(jit_by, backend="numpy")
        def norm(self) -> Any:
            return self.x * self.x + self.y * self.y

    tree.register_dataclass(Point)
    assert Point(3.0, 4.0).norm() == 25.0


def test_jit_partials_and_callable_objects() -> None:
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


def test_jit_pytrees_in_and_out(require_same: Any) -> None:
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
def test_jit_no_arguments(f: Callable[[], Any], require_same: Any) -> None:
    require_same(jit(f)(), f())


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,), (1, 1)])
def test_jit_empty_and_scalar_arrays(shape: tuple[int, ...], require_same: Any) -> None:
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
def test_jit_dtype_and_weakness_are_those_of_the_function_itself(
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
def test_jit_python_boolean_is_as_weak_as_python_has_it(f: Callable[[Any], Any], require_same: Any) -> None:
    for x in (True, False):
        require_same(jit(f)(x), f(x))


@pytest.mark.parametrize("order", ["C", "F"])
def test_jit_views_and_orders_of_memory(order: Any) -> None:
    x = np.asarray(np.arange(12.0).reshape(3, 4), order=order)
    np.testing.assert_array_equal(jit(lambda x: x.T + 1.0)(x[::2, ::-1]), x[::2, ::-1].T + 1.0)


# Copies and types.


def test_a_jit_can_be_copied_and_bound() -> None:
    g = jit(lambda x: x + 1.0)
    assert copy.copy(g)(1.0) == 2.0


def test_jit_eval_shape_computes_nothing() -> None:
    g = jit(lambda x: {"a": ops.sin(x)})
    assert g.eval_shape(ShapeDtypeStruct((10**9, 10**9), float)) == {"a": ShapeDtypeStruct((10**9, 10**9), float)}


def test_jit_results_have_the_type_of_the_program() -> None:
    x = np.ones(3, np.float32)
    assert get_aval(jit(lambda x: x * 2.0)(x)) == get_aval(x)


def test_an_inlined_jit_leaves_its_equations() -> None:
    inner = jit(lambda x: ops.mul(ops.sin(x), 2.0), inline=True)
    names = [eqn.primitive.name for eqn in make_jaxpr(lambda x: inner(inner(x)))(np.float64(1.0)).eqns]
    assert names == ["sin", "mul", "sin", "mul"]
    assert float(inner(np.float64(0.5))) == 2.0 * np.sin(0.5)


def test_jit_private_name_of_jax_says_what_there_is() -> None:
    f = jit(lambda x: x)
    with pytest.raises(AttributeError, match=r"got _cache_size.*explain_cache_misses\(\).*cache_report\(\)"):
        _ = f._cache_size
    with pytest.raises(AttributeError, match="'JitFunction' object has no attribute 'foo'"):
        _ = f.foo
    assert not hasattr(copy.copy(f), "foo")
