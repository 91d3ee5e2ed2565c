"""The direct call of jit, with arrays that are donated, deleted or changed, and within other traces."""

from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.control_flow import fori_loop
from lawful.core import LawfulError, Trace, current, is_plain, new_trace, set_current
from lawful.staging import jit, make_jaxpr
from lawful.staging._fast.direct_call import recent_programs
from lawful.xla_backend import device_put

BACKENDS = ["numpy", "xla"]
every_backend = pytest.mark.parametrize("backend", BACKENDS)

X = np.array([0.5, -1.5, 2.0])


def test_jit_program_of_one_array_is_not_that_of_another_call() -> None:
    def called(x: Any = 1.0, y: Any = 2.0) -> Any:
        return x[0] * 100.0 + y if type(x) is list else x * 10.0 + y

    a, b = device_put(2.0), device_put(3.0)
    vector = device_put(X[:1])
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((a,), {}), ((a, b), {}), ((a,), {"y": b}), ((), {"y": a}), ((), {"x": a}), (([a],), {}), ((vector,), {}),
        (([vector],), {}), ((), {}),
    ]  # fmt: skip
    compiled = jit(called, backend="xla")
    for one in calls:
        for other in calls:
            for args, kwargs in (one, other, other, one):
                np.testing.assert_array_equal(
                    np.asarray(compiled(*args, **kwargs)), np.asarray(called(*args, **kwargs))
                )


@pytest.mark.fast
def test_jit_one_array_tries_last_program_first() -> None:
    """The cache lookup tries the program that ran last first."""
    compiled = jit(lambda x: x + 1.0, backend="xla")
    a, b = device_put(2.0), device_put(X)
    compiled(a), compiled(b)
    of_b, of_a = recent_programs(compiled)
    compiled(a)
    assert recent_programs(compiled) == (of_a, of_b)


def test_jit_single_array_that_is_donated_is_gone() -> None:
    compiled = jit(lambda x: x + 1.0, backend="xla", donate_argnums=0)
    for _ in range(3):
        a = device_put(X)
        np.testing.assert_array_equal(np.asarray(compiled(a)), X + 1.0)
        assert a.is_deleted()


def test_jit_value_may_change_while_its_program_runs() -> None:
    """A program that outlasts its call has copies."""
    compiled = jit(lambda x, y: fori_loop(0, 300, lambda _, z: ops.dot(z, y), x) + x, backend="xla")
    # Each is a permutation, so that the powers of one are exact.
    rng, y = np.random.default_rng(0), np.eye(40)[np.random.default_rng(1).permutation(40)]
    x, given, found = np.empty((40, 40)), [], []
    for _ in range(30):
        x[:] = rng.normal(size=x.shape)
        given.append(x.copy())
        found.append(compiled(x, y))
        x[:] = np.nan
    power = np.linalg.matrix_power(y, 300)
    for z, value in zip(found, given, strict=True):
        np.testing.assert_array_equal(np.asarray(z), value @ power + value)


def test_jit_small_program_may_have_to_wait() -> None:
    """It outlasts its call if what it is given is still being computed."""
    permutation = np.eye(100)[np.random.default_rng(1).permutation(100)]
    slow = jit(lambda x: fori_loop(0, 50, lambda _, z: ops.dot(z, x), x), backend="xla")
    add = jit(lambda x, y, z: x + y[0, 0] * 0.0 + z, backend="xla")
    x, found = np.empty(8), []
    ready = slow(permutation).block_until_ready()
    for i in range(40):
        x[:] = i
        found.append(add(x, slow(permutation) if i % 3 else ready, 0.5))
        x[:] = np.nan
    for i, y in enumerate(found):
        np.testing.assert_array_equal(np.asarray(y), np.full(8, i + 0.5))


def test_jit_array_that_is_gone_says_so() -> None:
    compiled = jit(lambda xs, y: xs["a"] + y, backend="xla")
    x = device_put(X)
    for y in (device_put(X), X):
        for _ in range(2):
            compiled({"a": device_put(X)}, y)
    x.delete()
    for y in (device_put(X), X):
        with pytest.raises(LawfulError, match="deleted"):
            compiled({"a": x}, y)


def test_jit_single_array_that_is_gone_says_so() -> None:
    compiled = jit(lambda x: x + 1.0, backend="xla")
    x = device_put(X)
    for _ in range(3):
        compiled(x)
    assert is_plain() or recent_programs(compiled)[0].run_one is not None
    x.delete()
    with pytest.raises(LawfulError, match=r"deleted with delete\(\)"):
        compiled(x)
    np.testing.assert_array_equal(np.asarray(compiled(device_put(X))), X + 1.0)


def test_jit_values_in_a_donated_place() -> None:
    compiled = jit(lambda x, y: (x + y, y), donate_argnums=(0, 1), backend="xla")
    for i in range(4):
        x, y = np.full(3, float(i)), device_put(X)
        added, same = compiled(x, y)
        x[:] = np.nan
        np.testing.assert_array_equal(np.asarray(added), X + i)
        np.testing.assert_array_equal(np.asarray(same), X)


@every_backend
def test_jit_call_within_a_trace_is_traced(backend: str) -> None:
    compiled = jit(lambda x: x * 3.0, backend=backend)
    assert float(compiled(2.0)) == 6.0
    outer = jit(lambda x: compiled(2.0) + compiled(x), backend=backend)
    for _ in range(2):
        assert float(outer(1.0)) == 9.0
        assert make_jaxpr(lambda: compiled(2.0))().jaxpr.eqns[0].primitive.name == "jit"


class Noting(Trace):
    """A transformation of one's own, which notes what is applied under it."""

    __slots__ = ("names",)

    def __init__(self) -> None:
        super().__init__(current.trace, "noting")
        self.names: list[str] = []

    def process_primitive(self, primitive: Any, args: Any, params: Any) -> Any:
        self.names.append(primitive.name)
        assert self.parent is not None
        with set_current(self.parent):
            return self.parent.process_primitive(primitive, args, params)


@pytest.mark.parametrize("enter", [new_trace, set_current])
@every_backend
def test_jit_call_under_a_transformation_of_ones_own(backend: str, enter: Any) -> None:
    compiled = jit(lambda x: x * 3.0, backend=backend)
    for _ in range(3):
        assert float(compiled(2.0)) == 6.0
        trace = Noting()
        with enter(trace):
            assert float(compiled(2.0)) == 6.0
        assert trace.names == ["jit"]
