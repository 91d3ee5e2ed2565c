"""`deduplicated` returns one jaxpr for equal programs, such as a body that is traced in every call."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import checkpoint, grad, jvp
from lawful.batching import vmap
from lawful.control_flow import cond, custom_linear_solve, custom_root, scan, while_loop
from lawful.core import (
    Cache,
    ClosedJaxpr,
    Jaxpr,
    Literal,
    Primitive,
    clear_caches,
    deduplicated,
    float0,
    jaxprs_in_params,
    memoize,
)
from lawful.core._fast import deduplication
from lawful.custom_rules import custom_jvp
from lawful.staging import jit, make_jaxpr
from lawful.staging._numpy_backend import program as _program

pytestmark = pytest.mark.fast

XS = np.array([0.5, 1.5, 2.5])


@pytest.fixture(autouse=True)
def _nothing_is_remembered() -> None:
    clear_caches()


def found(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns the deduplicated jaxpr of a program after enough calls for it to be cached."""
    for _ in range(2):
        deduplicated(closed)
    return deduplicated(closed)


def traced(f: Callable[..., Any], *args: Any) -> ClosedJaxpr:
    """Traces at this line, so that all equations of a lambda have the same source line."""
    closed: ClosedJaxpr = make_jaxpr(f)(*args)
    return closed


def same(f: Callable[..., Any], g: Callable[..., Any], *args: Any) -> bool:
    """Whether two functions are one program to `deduplicated`."""
    first = found(traced(f, *args))
    return deduplicated(traced(g, *args)) is first


def times(factor: Any) -> Callable[[Any], Any]:
    return lambda x: ops.mul(x, factor)


def summed(axes: tuple[int, ...]) -> Callable[[Any], Any]:
    return lambda x: ops.reduce_sum(x, axes)


def test_deduplicated_same_program() -> None:
    assert same(times(2.0), times(2.0), XS)
    assert same(times(2.0), times(2.0), 3.0)
    assert same(summed((0,)), summed((0,)), np.ones((2, 2)))


@pytest.mark.parametrize(
    ("factor", "other"),
    [(2.0, 3.0), (0.0, -0.0), (np.float64(1.0), np.float32(1.0)), (np.nan, -np.nan), (np.inf, -np.inf)],
    ids=str,
)
def test_deduplicated_different_numbers(factor: Any, other: Any) -> None:
    assert not same(times(factor), times(other), 3.0)


def test_deduplicated_different_params_types_names_lines() -> None:
    square = np.ones((2, 2))
    assert not same(summed((0,)), summed((1,)), square)
    assert deduplicated(traced(times(2.0), 3.0)) is not found(traced(times(2.0), np.float64(3.0)))
    named: Callable[[Any], Any] = lambda x: ops.sin(x)  # noqa: E731
    other: Callable[[Any], Any] = lambda x: ops.sin(x)  # noqa: E731
    assert not same(named, other, XS)  # their source lines differ, and errors name them
    first = found(traced(times(2.0), XS))
    renamed = ClosedJaxpr(first.jaxpr.replace(name="another"))
    assert found(renamed) is renamed


def both(first: int) -> Callable[[Any], Any]:
    def pair(x: Any) -> Any:
        results = [ops.sin(x), x]
        return results[first], results[1 - first]

    return pair


def test_deduplicated_results_in_another_order() -> None:
    assert same(both(0), both(0), XS)
    assert not same(both(0), both(1), XS)


def test_deduplicated_under_other_named_axes() -> None:
    """Jaxprs derived from a program may contain the size of an axis."""
    seen: list[ClosedJaxpr] = []

    def body(x: Any) -> Any:
        seen.append(found(traced(times(2.0), 1.0)))
        return x

    for _ in range(3):
        vmap(body, axis_name="i")(np.ones(2))
    assert seen[1] is seen[2]
    vmap(body, axis_name="i")(np.ones(3))
    assert seen[3] is not seen[2]


def test_deduplicated_skips_objects_of_users() -> None:
    array = np.ones(3)
    assert not same(lambda x: x + array, lambda x: x + array, XS)
    with_rule = custom_jvp(lambda x: ops.sin(x))
    with_rule.defjvp(lambda p, t: (ops.sin(p[0]), t[0]))
    assert not same(with_rule, with_rule, XS)


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_deduplicated_releases_user_params(depth: int) -> None:
    class Setting:
        pass

    custom_p = Primitive("custom_of_test", pure_rules=True)
    custom_p.def_impl(lambda x, setting: x)
    custom_p.def_abstract_eval(lambda x, setting: x)
    settings = [Setting()]

    def apply(x: Any, level: int = depth) -> Any:
        if level == 0:
            return custom_p.bind(x, setting=settings[0])
        return scan(lambda c, _: (apply(c, level - 1), None), x, None, length=2)[0]

    closed = found(traced(apply, XS))
    assert deduplicated(traced(apply, XS)) is not closed
    gone = weakref.ref(settings.pop())
    del closed
    gc.collect()
    assert gone() is None


def test_deduplicated_programs_of_derived_bodies() -> None:
    """A branch that has the derivative of a deduplicated body is found again, so that no call keeps another branch."""

    def differentiate() -> int:
        f = custom_jvp(lambda x: scan(lambda y, _: (y * x, None), x, None, length=2)[0])
        f.defjvp(lambda primals, tangents: jvp(f.fun, primals, tangents))
        grad(lambda x: scan(lambda c, _: (f(c), None), x, None, length=2, checkpoints=2)[0].sum())(np.array([0.3, 0.5]))
        gc.collect()
        return sum(type(x) is ClosedJaxpr for x in gc.get_objects())

    counts = [differentiate() for _ in range(6)]
    assert counts[2:] == counts[2:3] * 4


def test_deduplicated_uses_redefined_rules() -> None:
    twice_p = Primitive("twice_of_test", pure_rules=True)
    twice_p.def_impl(lambda x: 2.0 * x)
    twice_p.def_abstract_eval(lambda x: x)

    def f(x: Any) -> Any:
        return scan(lambda c, _: (twice_p.bind(c), None), x, None, length=2)[0]

    for factor in (2.0, 5.0):
        twice_p.def_jvp(lambda p, t, k=factor: (twice_p.bind(p[0]), t[0] * k))
        assert [jvp(f, (1.0,), (1.0,))[1] for _ in range(4)] == [factor**2] * 4


def derivations(f: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> int:
    """Returns the number of derived jaxprs in the tenth call of a function."""
    for _ in range(9):
        f()
    count = 0
    original = ClosedJaxpr.__init__

    def counted(self: Any, *args: Any) -> None:
        nonlocal count
        count += 1
        original(self, *args)

    monkeypatch.setattr(ClosedJaxpr, "__init__", counted)
    f()
    monkeypatch.undo()
    return count


def solve(x: Any) -> Any:
    return custom_linear_solve(lambda v: ops.mul(v, x), ops.sin(x), lambda mv, b: ops.div(b, x), symmetric=True)


def root(x: Any) -> Any:
    return custom_root(lambda y: ops.sub(y, x), 0.0, lambda f, y: ops.sub(y, f(y)), lambda g, y: ops.div(y, g(1.0)))


CONSTRUCTS: dict[str, Callable[[Any], Any]] = {
    "scan": lambda x: scan(lambda c, y: (ops.sin(c * y), None), x, XS)[0],
    "while_loop": lambda x: while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, ops.sin(c[1])), (0, x), max_iters=4)[1],
    "cond": lambda x: cond(True, lambda y: ops.sin(y), lambda y: ops.cos(y), x),
    "checkpoint": lambda x: checkpoint(lambda y: ops.sin(ops.sin(y)))(x),
    "nested": lambda x: scan(lambda c, y: (cond(y > 1.0, ops.sin, lambda z: z * 2.0, c), None), x, XS)[0],
    "solve": solve,
    "root": root,
}


@pytest.mark.parametrize("name", CONSTRUCTS)
def test_deduplicated_derives_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gradient traces the bodies of a construct, which makes a few jaxprs, and reuses their derived jaxprs."""
    f = CONSTRUCTS[name]
    expected = grad(f)(0.7)
    bodies = derivations(lambda: f(0.7), monkeypatch)
    with_gradient = derivations(lambda: grad(f)(0.7), monkeypatch)
    assert grad(f)(0.7) == expected
    assert with_gradient <= bodies + 4, (bodies, with_gradient)


def test_deduplicated_jit_in_each_call_compiles_once() -> None:
    def f(x: Any) -> Any:
        return jit(lambda y: ops.sin(y) * 2.0, backend="numpy")(x)

    compiled = 0
    original = _program.PythonProgram.__init__

    def counted(self: Any, *args: Any) -> None:
        nonlocal compiled
        compiled += 1
        original(self, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_program.PythonProgram, "__init__", counted)
        results = [float(f(number)) for number in np.arange(6.0)]
    np.testing.assert_array_equal(results, np.sin(np.arange(6.0)) * 2.0)
    assert compiled <= 2


def test_deduplicated_skips_long_programs() -> None:
    def long(x: Any) -> Any:
        for _ in range(1_001):
            x = ops.sin(x)
        return x

    assert not same(long, long, 1.0)


def test_deduplicated_float0_literals() -> None:
    def zero() -> ClosedJaxpr:
        return ClosedJaxpr(Jaxpr((), (), (), (Literal(np.zeros((), float0)[()]),)))

    first = found(zero())
    assert deduplicated(zero()) is first


def test_deduplicated_jaxprs_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    jaxprs, seen = Cache[Any, Any]("deduplicated in a test", 20), Cache[Any, Any]("traced once in a test", 10)
    monkeypatch.setattr(deduplication, "_jaxprs", jaxprs)
    monkeypatch.setattr(deduplication, "_seen_once", seen)
    kept = [found(traced(times(float(number)), 1.0)) for number in range(30)]
    assert 10 <= len(jaxprs) <= 20
    assert deduplicated(traced(times(25.0), 1.0)) is kept[25]
    assert deduplicated(traced(times(5.0), 1.0)) is not kept[5]
    for number in range(100):
        deduplicated(traced(times(number + 0.5), 1.0))
        assert len(seen) <= 10
    clear_caches()
    assert (len(jaxprs), len(seen)) == (0, 0)


@memoize
def derived(closed: ClosedJaxpr, given: object) -> object:
    return object()


def test_deduplicated_derives_few_jaxprs() -> None:
    class Given:
        pass

    gone = []
    for _ in range(300):
        given = Given()
        derived(deduplicated(traced(times(2.0), 1.0)), given)
        gone.append(weakref.ref(given))
    del given
    gc.collect()
    assert sum(each() is not None for each in gone) <= deduplication._MOST_RESULTS + 1


def test_deduplicated_does_not_hold_policies() -> None:
    policies = []

    def f(x: Any) -> Any:
        def policy(*args: Any, **params: Any) -> bool:
            return False

        policies.append(weakref.ref(policy))
        return checkpoint(lambda y: ops.sin(ops.sin(y)), policy=policy)(x)

    for _ in range(10):
        grad(f)(1.5)
    gc.collect()
    assert not any(policy() for policy in policies)


def test_deduplicated_unhashable_params() -> None:
    tagged_p = Primitive("tagged_of_test", pure_rules=True)
    tagged_p.def_impl(lambda x, tag: x)
    tagged_p.def_abstract_eval(lambda x, tag: x)
    for tag in (np.zeros((), "V3")[()], np.zeros(3), [1], {1: 2}):
        closed = traced(lambda x, tag=tag: tagged_p.bind(x, tag=tag), 1.0)
        assert found(closed) is closed
    pairs = [(-1, -2), (1, True), (0.0, -0.0), (ml_dtypes.bfloat16(0.0), ml_dtypes.bfloat16(-0.0)), (1, 1.0)]
    for one, other in pairs:
        first, second = [found(traced(tagging(tagged_p, tag), 1.0)) for tag in (one, other)]
        assert deduplicated(traced(tagging(tagged_p, one), 1.0)) is first is not second


def tagging(primitive: Primitive, tag: Any) -> Callable[[Any], Any]:
    return lambda x: primitive.bind(x, tag=tag)


def test_deduplicated_hash_collisions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deduplication, "hash", lambda key: 0, raising=False)
    assert not same(times(2.0), times(3.0), XS)
    assert same(times(2.0), times(2.0), XS)
    assert len(deduplication._jaxprs) == 1


def test_deduplicated_jaxprs_do_not_depend_on_history() -> None:
    def f(x: Any) -> Any:
        for _ in range(3):
            x = scan(lambda c, _: (ops.sin(c), None), x, None, length=2)[0]
        return x

    first = str(make_jaxpr(f)(1.0))
    clear_caches()
    f(1.0)
    assert str(make_jaxpr(f)(1.0)) == first
    assert first.count("sin") == 1


def test_deduplicated_different_sub_jaxprs() -> None:
    def outer(factor: float) -> Callable[[Any], Any]:
        return lambda x: scan(lambda c, _: (c * factor, None), x, None, length=3)[0]

    assert same(outer(2.0), outer(2.0), 1.0)
    assert not same(outer(2.0), outer(3.0), 1.0)
    inner = next(jaxprs_in_params(traced(outer(2.0), 1.0).eqns[-1].params))
    assert inner.eqns
