"""`jit` finds the program of a call like the last one faster than that of others: it gives the same."""

import threading
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import ops, tree
from lawful.autodiff import grad
from lawful.batching import vmap
from lawful.core import LawfulError, get_aval
from lawful.staging import clear_caches, jit
from lawful.xla_backend import Array, device_put

BACKENDS = ["numpy", "xla"]
every_backend = pytest.mark.parametrize("backend", BACKENDS)

X = np.array([0.5, -1.5, 2.0])
# Values that a small function takes, of which many are equal and of different types.
VALUES: list[Callable[[], Any]] = [
    lambda: 2.0,
    lambda: 2,
    lambda: True,
    lambda: 2j,
    lambda: np.float64(2.0),
    lambda: np.float32(2.0),
    lambda: np.int8(2),
    lambda: np.bool_(True),
    lambda: np.array(2.0),
    lambda: X.copy(),
    lambda: X[::-1],
    lambda: X.astype(">f8"),
    lambda: X.astype("float32"),
    lambda: X.astype(ml_dtypes.bfloat16),
    lambda: np.zeros((0, 3)),
    lambda: np.ones((2, 3)).T,
    lambda: device_put(X),
    lambda: device_put(2.0),
    lambda: device_put(np.float32(2.0)),
    lambda: jit(lambda x: x + 1, backend="xla")(2),
]
# How a value is given to the function.
SHAPES: list[Callable[[Any], tuple[tuple[Any, ...], dict[str, Any]]]] = [
    lambda x: ((x,), {}),
    lambda x: ((x, x), {}),
    lambda x: (([x],), {}),
    lambda x: (({"a": x, "b": (x, None)},), {}),
    lambda x: ((), {"x": x}),
    lambda x: ((x,), {"x": x}),
]


def function(*args: Any, **kwargs: Any) -> Any:
    doubled = tree.map(lambda x: ops.add(x, x), (args, kwargs))
    return doubled if kwargs or len(args) > 1 else doubled[0][0]


def types(value: Any) -> Any:
    return tree.map(get_aval, value)


@every_backend
@given(
    calls=st.lists(st.tuples(st.sampled_from(VALUES), st.sampled_from(SHAPES), st.booleans()), min_size=2, max_size=8)
)
def test_any_sequence_of_calls_gives_what_the_function_gives(backend: str, calls: list[Any]) -> None:
    compiled = jit(lambda *args, **kwargs: function(*args, **kwargs), backend=backend)
    for value, shape, forget in calls:
        args, kwargs = shape(value())
        found, want = compiled(*args, **kwargs), function(*args, **kwargs)
        assert types(found) == types(want)
        for x, y in zip(tree.leaves(found), tree.leaves(want), strict=True):
            np.testing.assert_array_equal(np.asarray(x), np.asarray(y))
        if forget:
            clear_caches()


@every_backend
def test_results_are_not_those_of_other_types(backend: str) -> None:
    traced: list[str] = []

    def double(x: Any) -> Any:
        traced.append(str(get_aval(x)))
        return x + x

    compiled = jit(double, backend=backend)
    for x in (1.0, 2.0, np.float64(1.0), 1, True, X, X[:2], 3.0):
        compiled(x)
    assert traced == ["~f64[]", "f64[]", "~i64[]", "~bool[]", "f64[3]", "f64[2]"]


@every_backend
def test_what_is_forgotten_is_traced_again(backend: str) -> None:
    count = 0

    def double(x: Any) -> Any:
        nonlocal count
        count += 1
        return x + x

    compiled = jit(double, backend=backend)
    for forget in (compiled.clear_cache, clear_caches):
        before = count
        compiled(1.0), compiled(1.0), compiled([1.0][0])
        assert count == before + (not before)
        forget()
        compiled(2.0)
        assert count == before + (not before) + 1


@every_backend
def test_transformations_see_the_function_and_not_its_program(backend: str) -> None:
    compiled = jit(lambda x: x * x * x, backend=backend)
    for _ in range(2):
        assert float(compiled(2.0)) == 8.0
        assert float(grad(compiled)(2.0)) == 12.0
        np.testing.assert_array_equal(np.asarray(vmap(compiled)(np.array([1.0, 2.0]))), [1.0, 8.0])
        assert float(grad(grad(compiled))(2.0)) == 12.0


@every_backend
def test_a_function_that_closes_over_a_tracer_is_not_remembered(backend: str) -> None:
    def outer(y: Any) -> Any:
        compiled = jit(lambda x: x * y, backend=backend)
        return compiled(2.0) + compiled(3.0)

    assert [float(grad(outer)(y)) for y in (1.0, 2.0)] == [5.0, 5.0]


@every_backend
def test_results_are_ones_own(backend: str) -> None:
    compiled = jit(lambda x: (x, x + 0.0), backend=backend)
    for _ in range(3):
        x = X.copy()
        same, other = compiled(x)
        x[:] = 0.0
        np.testing.assert_array_equal(np.asarray(same), X)
        np.testing.assert_array_equal(np.asarray(other), X)


def test_donated_arrays_are_gone_also_the_second_time() -> None:
    compiled = jit(lambda x, y: x + y, donate_argnums=0, backend="xla")
    for _ in range(3):
        x, y = device_put(X), device_put(X)
        np.testing.assert_array_equal(np.asarray(compiled(x, y)), 2 * X)
        assert x.is_deleted()
        assert not y.is_deleted()
        with pytest.raises(LawfulError, match="donated"):
            compiled(x, y)


@every_backend
def test_mistakes_stay_mistakes(backend: str) -> None:
    compiled = jit(lambda x, y=1.0: x + y, backend=backend)
    for _ in range(2):
        assert float(compiled(1.0, 2.0)) == 3.0
        with pytest.raises((LawfulError, TypeError)):
            compiled("a", 2.0)
        with pytest.raises(TypeError):
            compiled(1.0, 2.0, 3.0)
        with pytest.raises((LawfulError, OverflowError)):
            compiled(2**80, 2)
        assert float(compiled(1.0)) == 2.0
        assert float(compiled(1.0, y=4.0)) == 5.0


@every_backend
def test_threads_that_call_it_get_each_their_own(backend: str) -> None:
    compiled = jit(lambda x: x * 2, backend=backend)
    wrong: list[Any] = []

    def call(x: Any) -> None:
        want = get_aval(x * 2)
        for _ in range(200):
            out = compiled(x)
            if get_aval(out) != want or np.any(np.asarray(out) != np.asarray(x) * 2):
                wrong.append(out)

    threads = [threading.Thread(target=call, args=(x,)) for x in (1.0, X, X.astype("float32"), 3, np.ones((2, 2)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_program_says_what_it_takes() -> None:
    """The law of ``run_exact``: where it gives something, that is what a call gives."""
    for backend in BACKENDS:
        for value in VALUES:
            program = jit(lambda x: x + x, backend=backend)
            x = value()
            program(x)
            direct = program._cache.flat
            assert direct is not None
            for other in VALUES:
                y = other()
                found = direct.run((y,))
                if found is None:
                    continue
                assert get_aval(y) == get_aval(x)
                np.testing.assert_array_equal(np.asarray(found[0]), np.asarray(y + y))
                assert type(found[0]) is Array or backend == "numpy"
            assert direct.run((x, x)) is None
            assert direct.run(()) is None
            assert direct.run(("a",)) is None
