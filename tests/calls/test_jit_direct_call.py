"""The direct path of `jit` gives what the path through the signature gives."""

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import ops, tree
from lawful.autodiff import grad
from lawful.batching import vmap
from lawful.core import LawfulError, float0, get_aval
from lawful.staging import clear_caches, jit, pure_callback
from lawful.staging._fast.direct_call import recent_programs
from lawful.xla_backend import Array, device_put

BACKENDS = ["numpy", "xla"]
every_backend = pytest.mark.parametrize("backend", BACKENDS)

X = np.array([0.5, -1.5, 2.0])


class Counted(np.ndarray[Any, Any]):
    """An ndarray of a class of one's own."""


class Pair(NamedTuple):
    one: Any
    other: Any


class Wrapped:
    """A node of a tree that carries a number, which is no leaf."""

    def __init__(self, child: Any, number: int) -> None:
        self.child, self.number = child, number


tree.register_node(Wrapped, lambda node: ((node.child,), node.number), lambda number, nodes: Wrapped(nodes[0], number))

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
    lambda: np.ones((3, 2)),
    lambda: X.view(Counted),
    lambda: np.arange(3),
    lambda: np.arange(3.0 * 4096).reshape(3, 4096),
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
    lambda x: (((x,),), {}),
    lambda x: (({"b": (x, None), "a": x},), {}),
    lambda x: (({"a": x, "b": (x, None), "c": x},), {}),
    lambda x: (({"a": x, "c": (x, None)},), {}),
    lambda x: ((OrderedDict(b=x, a=x),), {}),
    lambda x: ((OrderedDict(a=x, b=x),), {}),
    lambda x: ((defaultdict(int, a=x, b=x),), {}),
    lambda x: (({"a": x, "b": x},), {}),
    lambda x: ((Pair(x, x),), {}),
    lambda x: (((x, x),), {}),
    lambda x: (([x, None],), {}),
    lambda x: (([None, x],), {}),
    lambda x: ((Wrapped(x, 1),), {}),
    lambda x: ((Wrapped(x, 2),), {}),
    lambda x: ((x, 2.0), {}),
    lambda x: ((2.0, x), {}),
]


def function(*args: Any, **kwargs: Any) -> Any:
    doubled = tree.map(lambda x: ops.add(x, x), (args, kwargs))
    return doubled if kwargs or len(args) > 1 else doubled[0][0]


def types(value: Any) -> Any:
    leaves, treedef = tree.flatten(value)
    return [get_aval(leaf) for leaf in leaves], treedef


@every_backend
@given(
    calls=st.lists(st.tuples(st.sampled_from(VALUES), st.sampled_from(SHAPES), st.booleans()), min_size=2, max_size=8)
)
def test_jit_any_sequence_of_calls_gives_what_the_function_gives(backend: str, calls: list[Any]) -> None:
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
def test_jit_results_are_not_those_of_other_types(backend: str) -> None:
    traced: list[str] = []

    def double(x: Any) -> Any:
        traced.append(str(get_aval(x)))
        return x + x

    compiled = jit(double, backend=backend)
    for x in (1.0, 2.0, np.float64(1.0), 1, True, X, X[:2], 3.0):
        compiled(x)
    assert traced == ["~f64[]", "f64[]", "~i64[]", "~bool[]", "f64[3]", "f64[2]"]


@every_backend
def test_jit_what_is_forgotten_is_traced_again(backend: str) -> None:
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
def test_jit_transformations_see_function_and_not_its_program(backend: str) -> None:
    compiled = jit(lambda x: x * x * x, backend=backend)
    for _ in range(2):
        assert float(compiled(2.0)) == 8.0
        assert float(grad(compiled)(2.0)) == 12.0
        np.testing.assert_array_equal(np.asarray(vmap(compiled)(np.array([1.0, 2.0]))), [1.0, 8.0])
        assert float(grad(grad(compiled))(2.0)) == 12.0


@every_backend
def test_jit_function_that_closes_over_tracer_is_not_cached(backend: str) -> None:
    def outer(y: Any) -> Any:
        compiled = jit(lambda x: x * y, backend=backend)
        return compiled(2.0) + compiled(3.0)

    assert [float(grad(outer)(y)) for y in (1.0, 2.0)] == [5.0, 5.0]


@every_backend
def test_jit_results_are_ones_own(backend: str) -> None:
    compiled = jit(lambda x: (x, x + 0.0), backend=backend)
    for _ in range(3):
        x = X.copy()
        same, other = compiled(x)
        x[:] = 0.0
        np.testing.assert_array_equal(np.asarray(same), X)
        np.testing.assert_array_equal(np.asarray(other), X)


def test_jit_donated_arrays_are_gone_also_the_second_time() -> None:
    compiled = jit(lambda x, y: x + y, donate_argnums=0, backend="xla")
    for _ in range(3):
        x, y = device_put(X), device_put(X)
        np.testing.assert_array_equal(np.asarray(compiled(x, y)), 2 * X)
        assert x.is_deleted()
        assert not y.is_deleted()
        with pytest.raises(LawfulError, match="donated"):
            compiled(x, y)


def small(x: Any) -> Any:
    if x > 1.0:
        raise ValueError(f"{float(x)} is too large")
    return x


# Programs that take more than their arguments, or give other than one array.
PROGRAMS: dict[str, Callable[..., Any]] = {
    "one result": lambda x: x + 1.0,
    "two results": lambda x: (x + 1.0, x),
    "no result": lambda x: (),
    "a large constant": lambda x: x + np.arange(1000.0),
    "a gradient of integers": grad(lambda n, x: n * x, argnums=(0, 1), allow_int=True),
    "only a gradient of integers": lambda x: grad(lambda n: n * x, allow_int=True)(3),
    "a Python function": lambda x: pure_callback(small, x, x),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_jit_calls_with_arrays_again_and_again(name: str) -> None:
    function = PROGRAMS[name]
    compiled = jit(function, backend="xla")
    count = 2 if name == "a gradient of integers" else 1
    for number in (0.5, 0.25, -1.0):
        args = [device_put(2)] * (count - 1) + [device_put(number)]
        found, wanted = compiled(*args), function(*[2] * (count - 1), np.float64(number))
        assert tree.structure(found) == tree.structure(wanted)
        for x, y in zip(tree.leaves(found), tree.leaves(wanted), strict=True):
            assert get_aval(x).dtype == get_aval(y).dtype
            assert get_aval(x).shape == get_aval(y).shape
            if get_aval(x).dtype != float0:
                np.testing.assert_array_equal(np.asarray(x), y)


def test_jit_what_a_python_function_raises_in_a_later_call() -> None:
    compiled = jit(lambda x: pure_callback(small, x, x), backend="xla")
    for number in (0.5, 0.25, 2.0, 0.5, 3.0):
        x = device_put(number)
        if number < 1.0:
            assert float(compiled(x)) == number
        else:
            with pytest.raises(ValueError, match=f"^{number} is too large"):
                compiled(x)


@every_backend
def test_jit_mistakes_stay_mistakes(backend: str) -> None:
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
def test_jit_threads_that_call_it_get_each_their_own(backend: str) -> None:
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


@pytest.mark.fast
def test_jit_program_says_what_it_takes() -> None:
    """The law of ``run_exact``: where it gives something, that is what a call gives."""
    for backend in BACKENDS:
        for value in VALUES:
            program = jit(lambda x: x + x, backend=backend)
            x = value()
            program(x)
            direct = recent_programs(program)[0]
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


@pytest.mark.fast
def test_jit_program_of_one_array_says_what_it_takes() -> None:
    """The law of ``run_one``, which is that of ``run_exact``."""
    arrays = [make() for make in VALUES if type(make()) is Array]
    for x in arrays:
        program = jit(lambda x: x + x, backend="xla")
        want = program(x)
        run_one = recent_programs(program)[0].run_one
        assert run_one is not None
        for other in [*arrays, *[make() for make in VALUES], "a", (x,), None]:
            found = run_one(other)
            if type(other) is Array and other.aval is x.aval:
                assert type(found) is Array
                assert found.aval is want.aval
                assert found.device is want.device
                np.testing.assert_array_equal(np.asarray(found), np.asarray(want))
            else:
                assert found is None


def test_jit_one_array_with_other_output_type() -> None:
    """A program of one array may return another type or structure."""
    a = device_put(X)
    functions: list[Callable[[Any], Any]] = [
        lambda x: x > 0.0, lambda x: x[:2], lambda x: (x + 1.0,), lambda x: {"a": x}, lambda x: np.zeros(3, float0),
        lambda x: np.arange(3e5).reshape(-1, 3) + x, lambda x: pure_callback(np.sin, x, x),
    ]  # fmt: skip
    for function in functions:
        compiled = jit(function, backend="xla")
        want = function(X)
        for _ in range(3):
            found = compiled(a)
            assert tree.structure(found) == tree.structure(want)
            for one, other in zip(tree.leaves(found), tree.leaves(want), strict=True):
                assert get_aval(one) is get_aval(other)
                np.testing.assert_array_equal(np.asarray(one), np.asarray(other))


def test_jit_value_that_is_given_on_is_ones_own() -> None:
    """A staging buffer is written to again in the next call; no result of an earlier one may be in it."""
    programs = [lambda x: x, lambda x: (x, x), lambda x: (x + x, x), lambda x: x.reshape(-1), lambda x: [x.T, x]]
    for function in programs:
        compiled = jit(function, backend="xla")
        for make in (float, lambda i: np.full(3, i), lambda i: np.full((2, 3), i), lambda i: np.float32(i), int):
            kept = [(compiled(make(i)), function(np.asarray(make(i)))) for i in range(5)]
            for found, want in kept:
                for x, y in zip(tree.leaves(found), tree.leaves(want), strict=True):
                    np.testing.assert_array_equal(np.asarray(x), y)


def test_jit_callback_may_keep_what_it_gets() -> None:
    kept = []

    def keep(x: Any) -> Any:
        kept.append(x)
        return x

    compiled = jit(lambda x: pure_callback(keep, x, x), backend="xla")
    for i in range(4):
        assert float(compiled(np.float64(i))) == i
    assert [float(x) for x in kept] == [0.0, 1.0, 2.0, 3.0]


def test_jit_threads_do_not_share_staging_buffers() -> None:
    compiled = jit(lambda x, y: x * 2.0 + y, backend="xla")
    wrong: list[Any] = []

    def call(number: int) -> None:
        for i in range(300):
            x = np.full(8, number * 1000.0 + i)
            found = np.asarray(compiled(x, float(number)))
            if np.any(found != 2 * x + number):
                wrong.append(found)

    threads = [threading.Thread(target=call, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
