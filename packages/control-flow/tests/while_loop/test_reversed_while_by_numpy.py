"""NumPy reverses a loop by the schedule in Python, to the bits of the program that the primitive stands for."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, vjp
from lawful.control_flow import while_loop
from lawful.control_flow._loops import python_schedule
from lawful.control_flow._loops.checkpointing import distance, schedule
from lawful.control_flow._while import reversal
from lawful.core import eval_closed_jaxpr, get_aval
from lawful.staging import jit

Loop = Callable[..., Any]


def loop_of(count: int, checkpoints: int, max_iters: int | None = None) -> Loop:
    """Returns a function of a constant and a carry, which is nonlinear in both; a part of the carry is weak."""

    def f(weight: Any, x: Any, factor: Any) -> Any:
        def body(state: Any) -> Any:
            i, x, factor = state
            scale = ops.convert_element_type(factor, get_aval(x).dtype)
            return i + 1, ops.sin(x * scale) + ops.mul(weight, x), factor * 1.01

        limits = {"checkpoints": checkpoints} if max_iters is None else {"max_iters": max_iters}
        return while_loop(lambda state: state[0] < count, body, (0, x, factor), **limits)[1:]

    return f


def pulled_back(f: Loop, dtype: Any) -> list[Any]:
    rng = np.random.default_rng(0)
    weight, x = (rng.normal(size=3).astype(dtype) for _ in range(2))
    out, pull_back = vjp(f, weight, x, 1.1)
    return [*pull_back(tuple(ops.full_like(y, 0.7) for y in out))]


def assert_same(found: list[Any], expected: list[Any]) -> None:
    for one, other in zip(found, expected, strict=True):
        assert get_aval(one) == get_aval(other)
        assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


@pytest.fixture
def expanded(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], Any]:
    """Calls a function while the primitive evaluates the program that it stands for."""

    def call(function: Callable[[], Any]) -> Any:
        def impl(*args: Any, **params: Any) -> list[Any]:
            return eval_closed_jaxpr(reversal._program_for(get_aval(args[0]), **params), *args)

        with monkeypatch.context() as patch:
            patch.setitem(reversal.reversed_while_p.rules, "impl", impl)
            return function()

    return call


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 9, 20])
@pytest.mark.parametrize("checkpoints", [1, 2, 3, 32])
def test_reversed_while_of_numpy_is_its_program(
    dtype: Any, count: int, checkpoints: int, expanded: Callable[..., Any]
) -> None:
    f = loop_of(count, checkpoints)
    assert_same(pulled_back(f, dtype), expanded(lambda: pulled_back(f, dtype)))


@pytest.mark.parametrize("max_iters", [5, 8])
def test_reversed_while_of_numpy_with_max_iters(max_iters: int, expanded: Callable[..., Any]) -> None:
    f = loop_of(5, 1, max_iters)
    assert_same(pulled_back(f, np.float64), expanded(lambda: pulled_back(f, np.float64)))


def test_reversed_while_of_numpy_within_jit(expanded: Callable[..., Any]) -> None:
    f = loop_of(7, 3)
    compiled = jit(lambda *args: vjp(f, *args)[1]((args[1], args[2])), backend="numpy")
    args = np.ones(3), np.arange(3.0), np.float64(1.1)
    assert_same(compiled(*args), expanded(lambda: [*vjp(f, *args)[1]((args[1], args[2]))]))


def test_reversed_while_of_numpy_sums_are_new_arrays() -> None:
    """A result of no iterations is a zero that the caller may write into."""
    f = jit(grad(lambda w: ops.reduce_sum(loop_of(0, 2)(w, np.ones(3), 1.0)[0], (0,))), backend="numpy")
    f(np.ones(3))[:] = 5.0
    assert f(np.ones(3)).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("room", [1, 2, 3, 5, 8, 32])
def test_schedule_in_python_is_that_of_the_table(room: int) -> None:
    table = schedule(room)
    for free in range(room):
        for left in range(1, 60):
            expected = int(distance(table, np.int64(free), np.int64(left)))
            assert python_schedule.steps_to_next(free, left) == expected, (free, left)


def test_reversed_while_test_finds_a_wrong_schedule(
    monkeypatch: pytest.MonkeyPatch, expanded: Callable[..., Any]
) -> None:
    """The comparison above finds an iteration that is reversed from the state of another one."""
    f = loop_of(9, 3)
    reverse = reversal.reverse_in_python

    def wrong(n: int, start: Any, cts: Any, sums: Any, step: Any, *rest: Any, **options: Any) -> Any:
        return reverse(n, step(start), cts, sums, step, *rest, **options)

    monkeypatch.setattr(reversal, "reverse_in_python", wrong)
    with pytest.raises(AssertionError):
        assert_same(pulled_back(f, np.float64), expanded(lambda: pulled_back(f, np.float64)))
