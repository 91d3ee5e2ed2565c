"""Traces: one is current in each thread, its parent is restored whatever happens, and constants go to the parent."""

import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lawful.core import (
    Primitive,
    Trace,
    TracerThreadError,
    UnexpectedTracerError,
    current,
    eval_trace,
    new_trace,
    set_current,
    unusable_tracer,
)


class UserError(Exception):
    pass


@pytest.fixture(autouse=True)
def _the_trace_is_restored() -> Any:
    assert current.trace is eval_trace
    yield
    assert current.trace is eval_trace, "a test left a trace behind"


def test_trace_at_the_bottom_stands_evaluation(counting: SimpleNamespace) -> None:
    assert current.trace is eval_trace
    assert eval_trace.parent is None
    assert counting.plus_p.bind(1.0, 2.0) == 3.0


def test_a_transformation_sees_its_own_tracers(counting: SimpleNamespace) -> None:
    plus = counting.plus_p.bind
    assert counting.count(lambda x: plus(plus(x, 1.0), x), 2.0) == (5.0, 2)


def test_trace_constants_are_passed_to_the_parent(counting: SimpleNamespace) -> None:
    seen = []

    def function(x: Any) -> Any:
        seen.append(counting.plus_p.bind(1.0, 1.0))
        return counting.plus_p.bind(x, seen[0])

    assert counting.count(function, 2.0) == (4.0, 1)
    assert type(seen[0]) is np.float64, "an operation on constants alone is evaluated"


def test_trace_enclosing_tracer_is_constant_inside(counting: SimpleNamespace) -> None:
    """A tracer of an enclosing transformation is a constant of the inner one."""
    plus, count = counting.plus_p.bind, counting.count
    inner = []

    def outer(x: Any) -> Any:
        # Three operations, of which the inner count sees the two on y.
        result, operations = count(lambda y: plus(plus(y, x), plus(x, x)), 10.0)
        inner.append(operations)
        return result

    value, operations = count(outer, 1.0)
    assert (value, operations, inner) == (13.0, 2, [2])


def test_the_same_transformation_twice_does_not_mix_its_tracers(counting: SimpleNamespace) -> None:
    plus, count = counting.plus_p.bind, counting.count
    value, operations = count(lambda x: count(lambda y: plus(x, x), 5.0)[0], 1.0)
    assert (value, operations) == (2.0, 1)
    value, operations = count(lambda x: count(lambda y: plus(y, y), x)[0], 1.0)
    assert (value, operations) == (2.0, 1), "an outer tracer as the inner one's value"


def test_trace_rules_run_under_the_parent(counting: SimpleNamespace) -> None:
    seen: list[Trace] = []
    primitive = Primitive("coretest_spy")

    @primitive.def_rule_as("count")
    def spy(x: Any) -> Any:
        seen.append(current.trace)
        return x

    outer: list[Trace] = []

    def function(x: Any) -> Any:
        outer.append(current.trace)
        return counting.count(lambda y: primitive.bind(y), x)[0]

    counting.count(function, 1.0)
    assert seen == outer


def test_trace_impl_that_binds_primitives_evaluates_them(counting: SimpleNamespace) -> None:
    """An implementation that applies primitives evaluates them under any current trace."""
    primitive = Primitive("coretest_twice")
    primitive.def_impl(lambda x: counting.plus_p.bind(x, x))
    under = []

    def function(x: Any) -> Any:
        under.append(primitive.bind(3.0))
        return x

    counting.count(function, 1.0)
    assert under == [6.0]


@pytest.mark.parametrize("error", [UserError, KeyboardInterrupt, RecursionError, GeneratorExit, SystemExit])
def test_trace_restores_parent_after_exception(counting: SimpleNamespace, error: type[BaseException]) -> None:
    """The parent trace is restored after an exception in the function."""
    raised = error("mine")

    def fail(x: Any) -> Any:
        raise raised

    with pytest.raises(error) as caught:
        counting.count(lambda x: counting.count(lambda y: counting.count(fail, y), x), 1.0)
    assert caught.value is raised
    assert current.trace is eval_trace


def test_trace_parent_is_restored_at_each_level(counting: SimpleNamespace) -> None:
    def fail(x: Any) -> Any:
        raise UserError

    def function(x: Any) -> Any:
        mine = current.trace
        with pytest.raises(UserError):
            counting.count(fail, x)
        assert current.trace is mine
        return counting.plus_p.bind(x, 1.0)

    assert counting.count(function, 1.0) == (2.0, 1)


@pytest.mark.parametrize("slot", ["impl", "count"])
def test_the_trace_is_restored_after_an_exception_in_a_rule(counting: SimpleNamespace, slot: str) -> None:
    primitive = Primitive("coretest_failing")
    raised = UserError("in the rule")

    @primitive.def_rule_as(slot)
    def fail(x: Any) -> Any:
        raise raised

    def function(x: Any) -> Any:
        mine = current.trace
        with pytest.raises(UserError) as caught:
            primitive.bind(x)
        assert caught.value is raised
        assert current.trace is mine
        return counting.plus_p.bind(x, 1.0)

    assert counting.count(lambda x: counting.count(function, x)[0], 1.0) == (2.0, 1)


def test_the_trace_is_restored_after_a_missing_rule(counting: SimpleNamespace) -> None:
    primitive = Primitive("coretest_empty")
    with pytest.raises(NotImplementedError):
        counting.count(lambda x: primitive.bind(x), 1.0)
    assert current.trace is eval_trace


def test_trace_not_left_current_by_generator(counting: SimpleNamespace) -> None:
    """A suspended generator does not leave its trace current."""

    def function(x: Any) -> Any:
        def elements() -> Any:
            yield counting.plus_p.bind(x, 1.0)
            yield counting.plus_p.bind(x, 2.0)

        return next(iter(elements()))

    assert counting.count(function, 1.0) == (2.0, 1)


def test_set_current_restores_and_keeps_the_trace_usable(counting: SimpleNamespace) -> None:
    trace = counting.CountTrace(current.trace, "count")

    def fail() -> None:
        assert current.trace is trace
        raise UserError

    with pytest.raises(UserError), set_current(trace):
        fail()
    assert current.trace is eval_trace
    assert trace.active
    with new_trace(trace):
        pass
    assert not trace.active


def test_trace_encloses_follows_the_parents(counting: SimpleNamespace) -> None:
    outer = counting.CountTrace(eval_trace, "outer")
    inner, other = counting.CountTrace(outer, "inner"), counting.CountTrace(eval_trace, "other")
    assert outer.encloses(inner)
    assert inner.encloses(inner)
    assert eval_trace.encloses(inner)
    assert not inner.encloses(outer)
    assert not other.encloses(inner)


# Tracers that outlive their transformation, and those of another thread.


def test_leaked_tracer_error_names_line(counting: SimpleNamespace) -> None:
    """The error of a leaked tracer names the source line that made it."""
    leaked = []

    def function(x: Any) -> Any:
        leaked.append(counting.plus_p.bind(x, 1.0))  # made here
        return x

    counting.count(function, 1.0)
    made = function.__code__.co_firstlineno + 1
    with pytest.raises(UnexpectedTracerError) as caught:
        counting.plus_p.bind(leaked[0], 1.0)
    message = str(caught.value)
    assert message.startswith(f"{__file__}:"), "the user's line comes first"
    assert f"of count made at {__file__}:{made} (function)" in message
    assert "which has ended" in message
    assert "return the value" in message
    assert not isinstance(caught.value, TracerThreadError)


def test_a_leaked_tracer_is_refused_inside_other_transformations(counting: SimpleNamespace) -> None:
    leaked: list[Any] = []
    counting.count(lambda x: leaked.append(x) or x, 1.0)
    with pytest.raises(UnexpectedTracerError, match="has ended"):
        counting.count(lambda x: counting.plus_p.bind(x, leaked[0]), 1.0)


def test_leaked_tracer_inside_outer_transformation(counting: SimpleNamespace) -> None:
    """A tracer of an ended inner transformation is refused while the outer one runs."""
    leaked: list[Any] = []

    def outer(x: Any) -> Any:
        counting.count(lambda y: leaked.append(y) or y, 1.0)
        with pytest.raises(UnexpectedTracerError, match="has ended"):
            counting.plus_p.bind(x, leaked[0])
        return x

    counting.count(outer, 1.0)


def test_tracer_of_trace_that_does_not_enclose(counting: SimpleNamespace) -> None:
    """A tracer is refused where its transformation runs but does not enclose the computation."""

    def function(x: Any) -> Any:
        with set_current(eval_trace), pytest.raises(UnexpectedTracerError, match="not this computation inside it"):
            counting.plus_p.bind(x, 1.0)
        return x

    counting.count(function, 1.0)


def test_a_tracer_of_another_thread_has_its_own_error(counting: SimpleNamespace) -> None:
    caught: list[BaseException] = []

    def function(x: Any) -> Any:
        def run() -> None:
            try:
                counting.plus_p.bind(x, 1.0)
            except Exception as error:
                caught.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        return x

    counting.count(function, 1.0)
    (error,) = caught
    assert type(error) is TracerThreadError
    assert "in another thread" in str(error)
    assert str(error).startswith(f"{__file__}:")
    # Each test of the lambda line: where the tracer was made is told too.
    assert f"made at {__file__}:" in str(error)


def test_each_thread_has_its_own_current_trace(counting: SimpleNamespace) -> None:
    found: list[Any] = []

    def function(x: Any) -> Any:
        thread = threading.Thread(target=lambda: found.extend([current.trace, counting.plus_p.bind(1.0, 1.0)]))
        thread.start()
        thread.join()
        return counting.plus_p.bind(x, 1.0)

    assert counting.count(function, 1.0) == (2.0, 1)
    assert found == [eval_trace, 2.0]


def test_threads_that_trace_at_once_do_not_disturb_each_other(counting: SimpleNamespace) -> None:
    barrier = threading.Barrier(8)
    results: dict[int, Any] = {}

    def work(n: int) -> None:
        def function(x: Any) -> Any:
            for _ in range(50):
                barrier.wait(timeout=60)  # every thread is inside its own trace at each operation
                x = counting.plus_p.bind(x, float(n))
            return x

        results[n] = counting.count(function, 0.0)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: (50.0 * n, 50) for n in range(8)}


def test_unusable_tracer_tells_where_the_tracer_was_made(counting: SimpleNamespace) -> None:
    tracers: list[Any] = []
    counting.count(lambda x: tracers.append(x) or x, np.ones((2, 3), np.float32))
    assert "f32[2,3]" in str(unusable_tracer(tracers[0]))
