"""Exceptions raised in a traced function arrive unchanged; threads trace concurrently, each with its own traces."""

import contextlib
import sys
import threading
import traceback

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, jvp, linearize, vjp
from lawful.batching import vmap
from lawful.control_flow import cond
from lawful.core import TracerThreadError, current, eval_trace
from lawful.staging import jit


class Mine(Exception):
    """A user's exception."""


@pytest.mark.parametrize("cls", [Mine, KeyError, StopIteration, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_the_very_same_exception_arrives(under, usable, cls):
    mine = cls("mine")

    def boom(x):
        ops.sin(x)
        raise mine

    with pytest.raises(cls) as caught:
        under(boom)
    assert caught.value is mine
    assert mine.args == ("mine",)
    assert mine.__cause__ is None
    assert mine.__context__ is None
    assert not hasattr(mine, "__notes__")
    assert traceback.extract_tb(mine.__traceback__)[-1].name == "boom"
    usable()


def test_an_exception_caught_inside(under, usable):
    def boom(x):
        raise Mine

    def careful(x):
        outside = current.trace
        for transformed in (
            lambda: grad(boom)(x),
            lambda: jit(boom)(x),
            lambda: jit(lambda: boom(x))(),
            lambda: jvp(boom, (x,), (x,)),
            lambda: vjp(boom, x),
            lambda: linearize(boom, x),
            lambda: vmap(boom)(np.ones(2)),
            lambda: vmap(lambda y: boom(x))(np.ones(2)),
            lambda: cond(True, boom, boom, x),
        ):
            with pytest.raises(Mine):
                transformed()
            assert current.trace is outside
        return x * 2.0

    under(careful)
    usable()


def test_exceptions_failed_call_is_no_cached_one(usable):
    fail = True

    @jit
    def sometimes(x):
        if fail:
            raise Mine
        return x + 1.0

    for _ in range(2):
        with pytest.raises(Mine):
            sometimes(1.0)
    fail = False
    assert float(sometimes(1.0)) == 2.0
    assert float(grad(sometimes)(1.0)) == 1.0
    usable()


def test_an_exception_of_a_generator_closed_late(under, usable):
    def values(x):
        try:
            yield x * 2.0
        finally:
            left.append(True)

    left = []
    kept = []

    def boom(x):
        kept.append(values(x))
        next(kept[-1])
        raise Mine

    with pytest.raises(Mine):
        under(boom)
    kept.pop().close()
    assert left
    usable()


def test_deep_recursion(under, usable):
    def deeper(x):
        return deeper(x * 2.0)

    with pytest.raises(RecursionError) as caught:
        under(deeper)
    assert type(caught.value) is RecursionError
    usable()


def transformed_by(name):
    def deeper(x):
        return {
            "grad": lambda: grad(deeper)(x),
            "jit": lambda: jit(deeper)(x),
            "jvp": lambda: jvp(deeper, (x,), (1.0,))[1],
            "vjp": lambda: vjp(deeper, x)[1](1.0)[0],
            "linearize": lambda: linearize(deeper, x)[1](1.0),
            "vmap": lambda: vmap(lambda y: deeper(x))(np.ones(2))[0],
            "cond": lambda: cond(True, deeper, deeper, x),
        }[name]()

    return deeper


@pytest.mark.parametrize("name", ["grad", "jit", "jvp", "vjp", "linearize", "vmap", "cond"])
def test_recursion_through_a_transformation(name, usable):
    with pytest.raises(RecursionError):
        transformed_by(name)(1.0)
    usable()
    with pytest.raises(RecursionError):
        jit(transformed_by(name))(1.0)
    usable()


def deep_down(levels, call):
    return deep_down(levels - 1, call) if levels > 0 else call()


@pytest.mark.parametrize("room", range(10, 130, 8))
def test_exceptions_stack_ends_at_any_place(room, usable):
    """Wherever in lawful's code the stack is exhausted, the state is restored."""

    def program(x):
        return jit(vmap(grad(lambda x: cond(x > 0.0, lambda: ops.sin(x * x), lambda: x))))(x * np.ones(2)).sum()

    frame, depth = sys._getframe(), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    # The stack is filled instead of lowering the limit, which would affect the threads of the test runner too.
    with contextlib.suppress(RecursionError):
        deep_down(sys.getrecursionlimit() - depth - room, lambda: grad(program)(1.0))
    usable()
    np.testing.assert_allclose(program(1.0), 4 * np.cos(1.0))


def in_thread(call):
    """Runs a call in another thread; returns its result or raises its exception."""
    found = []

    def run():
        try:
            found.append((call(), None))
        except BaseException as error:
            found.append((None, error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    value, error = found[0]
    if error is not None:
        raise error
    return value


USES = {
    "op": lambda x: ops.sin(x),
    "operator": lambda x: x * 2.0,
    "bool": lambda x: x * bool(x),
    "asarray": lambda x: np.asarray(x),
    "jit": lambda x: jit(lambda y: y + x)(1.0),
    "jit's argument": lambda x: jit(lambda y: y)(x),
    "grad": lambda x: grad(lambda y: y * x)(1.0),
    "grad's argument": lambda x: grad(lambda y: y * y)(x),
    "vmap": lambda x: vmap(lambda y: y * x)(np.ones(2)),
    "cond": lambda x: cond(True, lambda: x, lambda: 1.0),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_tracer_of_another_thread(under, refused, use):
    def starts_a_thread(x):
        return in_thread(lambda: use(x))

    refused(TracerThreadError, "start threads outside of it", lambda: under(starts_a_thread), at=use)


def test_a_tracer_given_back_by_another_thread(under, usable):
    """It comes back as it was: passing it through is no use of it."""
    under(lambda x: in_thread(lambda: x) * 2.0)
    usable()


def test_a_thread_inside_a_traced_function_starts_with_no_trace(under, usable):
    def starts_a_thread(x):
        assert in_thread(lambda: current.trace) is eval_trace
        return x * in_thread(lambda: grad(lambda y: y * y * y)(2.0))

    under(starts_a_thread)
    usable()


def test_two_threads_trace_at_once(under, usable):
    """Each of two threads is inside the traced function while the other enters and leaves it."""
    meet = threading.Barrier(2, timeout=60)
    results, errors = {}, []

    def work(name):
        seen = []

        def function(x):
            if not seen:
                meet.wait()
            seen.append(current.trace)
            y = ops.sin(x * 2.0)
            if len(seen) == 1:
                meet.wait()
            return y * x

        try:
            results[name] = under(function)
            assert current.trace is eval_trace
        except BaseException as error:
            errors.append(error)
            meet.abort()

    threads = [threading.Thread(target=work, args=(name,)) for name in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert repr(results[0]).replace("\n", "") == repr(results[1]).replace("\n", "") or callable(results[0][1])
    usable()


def test_one_thread_fails_while_another_traces(under, usable):
    inside, failed = threading.Event(), threading.Event()

    def waits(x):
        inside.set()
        assert failed.wait(60)
        return ops.sin(x) * x

    def boom(x):
        raise Mine

    def fail():
        assert inside.wait(60)
        try:
            with pytest.raises(Mine):
                under(boom)
        finally:
            failed.set()

    thread = threading.Thread(target=fail)
    thread.start()
    under(waits)
    thread.join()
    usable()


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_many_threads_call_one_jitted_function(backend, usable):
    shared = jit(lambda x: ops.sin(x).sum() * x.shape[0], backend=backend)
    errors = []

    def work(number):
        try:
            for size in range(1, 9):
                x = np.full(size, float(number))
                np.testing.assert_allclose(shared(x), size * size * np.sin(number))
                np.testing.assert_allclose(grad(shared)(x), size * np.cos(x))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    usable()
