"""Programs that call Python: their exceptions, order, threads and lifetimes."""

import contextlib
import gc
import io
import threading
import weakref
from typing import Any

import numpy as np
import pytest

from lawful import debug
from lawful.autodiff import grad, vjp
from lawful.batching import vmap
from lawful.control_flow import cond, fori_loop, scan, while_loop
from lawful.staging import ShapeDtypeStruct, clear_caches, jit, pure_callback
from lawful.xla_backend import Array

F64 = ShapeDtypeStruct((), "float64")


class Mine(Exception):
    pass


def refuse(x: Any) -> Any:
    if x > 2.0:
        raise Mine(f"too large: {float(x)}")  # the line that a user expects
    return x


PLACES = {
    "alone": lambda call: lambda x: call(x * 1.0),
    "in a call": lambda call: lambda x: jit(call)(x) + 1.0,
    "in a branch": lambda call: lambda x: cond(x > 0.0, call, lambda x: x, x),
    "in a loop": lambda call: lambda x: fori_loop(0, 3, lambda i, c: call(c), x),
    "in a scan": lambda call: lambda x: scan(lambda c, y: (call(c) + y, c), x, np.zeros(3))[0],
    "in a predicate": lambda call: lambda x: while_loop(lambda c: call(c) < 1.0, lambda c: c + 1.0, x),
    "in a batch": lambda call: lambda x: vmap(call)(x * np.ones(3)).sum(),
}


def by_pure_callback(x: Any) -> Any:
    return pure_callback(refuse, F64, x, vmap_method="sequential")


def by_debug_callback(x: Any) -> Any:
    debug.callback(refuse, x)
    return x


@pytest.mark.parametrize("backend", ["eager", "numpy", "xla"])
@pytest.mark.parametrize("call", [by_pure_callback, by_debug_callback])
@pytest.mark.parametrize("place", PLACES)
def test_callback_exception_is_users_own_and_everything_goes_on(place: str, call: Any, backend: str) -> None:
    function = PLACES[place](call)
    f = function if backend == "eager" else jit(function, backend=backend)
    fine = float(f(np.float64(1.0)))
    for _ in range(2):
        with pytest.raises(Mine) as caught:
            f(np.float64(3.0))
        assert caught.value.args == ("too large: 3.0",)
        assert caught.traceback[-1].name == "refuse"
        assert caught.traceback[-1].path.name == "test_callbacks.py"
        assert any("callback of refuse at " in note for note in caught.value.__notes__)
        assert float(f(np.float64(1.0))) == fine
    assert float(jit(lambda x: x + 1.0)(1.0)) == 2.0


def test_callback_exception_in_the_middle_of_a_derivative() -> None:
    f = jit(grad(lambda x: by_debug_callback(x) ** 2))
    assert float(f(1.5)) == 3.0
    with pytest.raises(Mine):
        f(2.5)
    assert float(f(1.5)) == 3.0


def test_callback_all_is_printed_when_the_call_returns() -> None:
    """Also where the values that are printed are still being computed when the program is asked for."""
    product = jit(lambda x: x @ x)
    f = jit(lambda x: fori_loop(0, 5, lambda i, c: (debug.print("{}", i), c @ c)[1], x))
    x = product(product(np.eye(200)))
    for _ in range(5):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            result = f(x)
        assert out.getvalue() == "0\n1\n2\n3\n4\n"
        assert isinstance(result, Array)


def test_callback_calls_of_one_thread_are_made_in_its_order() -> None:
    log: list[Any] = []
    f = jit(lambda x: debug.callback(lambda x: log.append(int(x)), x))
    for i in range(100):
        f(i)
    assert log == list(range(100))


def test_callback_threads_do_not_mix_up_their_programs() -> None:
    logs: dict[int, list[int]] = {k: [] for k in range(6)}

    def body(k: Any, x: Any) -> Any:
        debug.callback(lambda k, x: logs[int(k)].append(int(x)), k, x)
        return pure_callback(lambda x: x + 1, x, x)

    f = jit(lambda k, x: fori_loop(0, 20, lambda i, x: body(k, x), x))

    def work(k: int) -> None:
        for start in (0, 100, 200):
            assert int(f(k, np.int64(start))) == start + 20

    threads = [threading.Thread(target=work, args=(k,)) for k in logs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = [start + i for start in (0, 100, 200) for i in range(20)]
    assert all(log == expected for log in logs.values())


class Function:
    def __call__(self, x: Any) -> Any:
        return x


WAYS = {
    "pure_callback": lambda f: lambda x: pure_callback(f, F64, x, vmap_method="sequential"),
    "debug.callback": lambda f: lambda x: (debug.callback(f, x), x)[1],
    "in loops": lambda f: lambda x: fori_loop(0, 2, lambda i, c: (debug.callback(f, c), c)[1], x),
    "in a batch": lambda f: lambda x: vmap(lambda x: (debug.callback(f, x), x)[1])(x * np.ones(2)).sum(),
    "in a derivative": lambda f: grad(lambda x: (debug.callback(f, x), x)[1]),
}


@pytest.mark.parametrize("backend", ["numpy", "xla"])
@pytest.mark.parametrize("way", WAYS)
def test_callback_function_goes_with_the_program_that_calls_it(way: str, backend: str) -> None:
    def fresh() -> weakref.ref[Any]:
        function = Function()
        jit(WAYS[way](function), backend=backend)(np.float64(1.0))
        return weakref.ref(function)

    refs = [fresh() for _ in range(5)]
    gc.collect()
    assert not any(ref() for ref in refs)


def test_callback_clearing_the_caches_lets_functions_go() -> None:
    function = Function()
    f = jit(WAYS["debug.callback"](function))
    f(1.0)
    reference = weakref.ref(function)
    clear_caches()
    gc.collect()
    assert not any(referrer for referrer in gc.get_referrers(function) if type(referrer).__name__ == "HostFunction")
    assert float(f(2.0)) == 2.0
    del f, function
    gc.collect()
    assert reference() is None


def test_callback_pullback_keeps_nothing_of_what_was_printed() -> None:
    """The values printed are no residuals."""

    def f(x: Any) -> Any:
        debug.print("{}", x * 2.0)
        return x * 3.0

    with contextlib.redirect_stdout(io.StringIO()):
        _, pull_back = vjp(f, np.arange(1000.0))
    _, silent = vjp(lambda x: x * 3.0, np.arange(1000.0))
    assert len(pull_back.jaxpr.consts) == len(silent.jaxpr.consts)


def test_callback_arguments_may_be_arrays_on_a_device() -> None:
    x = jit(lambda x: x + 1.0)(np.arange(3.0))
    assert isinstance(x, Array)
    seen: list[Any] = []
    debug.callback(seen.append, x)
    out = pure_callback(lambda x: x * 2.0, x, x)
    assert [type(value) for value in (*seen, out)] == [np.ndarray, np.ndarray]
    np.testing.assert_array_equal(out, [2.0, 4.0, 6.0])
    assert pure_callback(lambda: x, x) is not x


def test_callback_program_traced_but_not_run_calls_nothing() -> None:
    calls: list[Any] = []
    f = jit(lambda x: (debug.callback(calls.append, x), x)[1])
    lowered = f.lower(1.0)
    assert "xla_ffi_python_cpu_callback" in lowered.as_text()
    compiled = lowered.compile()
    assert calls == []
    assert float(compiled(2.0)) == 2.0
    assert [float(x) for x in calls] == [2.0]
