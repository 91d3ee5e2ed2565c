"""Threads that call programs that call Python."""

import gc
import threading
import weakref

import numpy as np
import pytest

from lawful.core import ShapedArray
from lawful.staging import jit, pure_callback
from lawful.xla_backend import XlaError, backend
from lawful.xla_backend._callbacks import executable

from ._primitives import python_p

F64 = ShapedArray((3,), "float64")
X = np.arange(3.0)


class Mine(Exception):
    pass


# Threads


def test_callback_threads_get_their_own_results_and_exceptions(compiled_call) -> None:
    def function(x):
        if int(x[0]) % 3 == 0:
            raise Mine(int(x[0]))
        return [x * 2.0]

    program = compiled_call(function, F64, out=[F64])
    wrong = []

    def work(start):
        for i in range(start, start + 60):
            try:
                [out] = program(np.full(3, float(i)))
                if i % 3 == 0 or np.asarray(out)[0] != 2.0 * i:
                    wrong.append(i)
            except Mine as error:
                if i % 3 or error.args != (i,):
                    wrong.append((i, error.args))

    threads = [threading.Thread(target=work, args=(100 * k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


WAITING = """
import faulthandler, threading
import numpy as np
from lawful.ops import dot_general
from lawful.staging import jit, pure_callback

faulthandler.dump_traceback_later(120, exit=True)
SIZE = 128

def square(x):
    return dot_general(x, x, (((1,), (0,)), ((), ())))

power = jit(square)
threads_seen = set()

def level(n):
    inner = level(n - 1) if n else None

    def python(x):
        threads_seen.add((threading.get_ident(), mine.ident))
        return np.asarray(inner(x)) if inner else x

    return jit(lambda x: square(pure_callback(python, x, square(x))))

nested = level(3)
mine = threading.local()

def work():
    mine.ident = threading.get_ident()
    x = np.eye(SIZE)
    for _ in range(5):
        y = power(power(power(power(x))))  # still being computed when the next program asks for it
        assert np.array_equal(np.asarray(nested(y)), x)

threads = [threading.Thread(target=work) for _ in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert all(a == b for a, b in threads_seen), "a function ran on another thread than the call"
print("done")
"""


def test_callback_functions_that_run_programs_do_not_deadlock(run_python) -> None:
    """The runtime has few threads; were functions to occupy them, programs in functions would wait for ever."""
    done = run_python(WAITING)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


@jit
def factorial(n):
    return pure_callback(lambda n: n * np.asarray(factorial(n - 1)) if n > 1 else n, n, n)


def test_callback_function_may_call_the_program_that_calls_it() -> None:
    assert int(factorial(np.int64(15))) == 1307674368000


def test_pure_callback_nested_too_deep() -> None:
    """Nesting that would deadlock is an error."""

    @jit
    def count(n):
        return pure_callback(lambda n: 1 + np.asarray(count(n - 1)) if n else n, n, n)

    if executable._limit is None:
        assert int(count(np.int64(40))) == 40
    else:
        with pytest.raises(XlaError, match="expected fewer than 32 programs that call Python at a time"):
            count(np.int64(40))
    assert int(count(np.int64(20))) == 20


def test_callback_of_many_threads_waits_for_a_slot() -> None:
    found = []
    threads = [threading.Thread(target=lambda: found.append(int(factorial(np.int64(2))))) for _ in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [2] * 64


# Lifetimes


def test_callback_function_lives_as_long_as_its_program(compile_program, program) -> None:
    class Function:
        def __call__(self, x):
            return [x]

    def fresh():
        function = Function()
        closed = program(lambda record, x: record(python_p, x, out=[F64], function=function), F64)
        compiled = backend.lower(closed, name="test").compile()
        return weakref.ref(function), compiled

    reference, compiled = fresh()
    gc.collect()
    assert reference() is not None
    np.testing.assert_array_equal(np.asarray(compiled(X)[0]), X)
    del compiled
    gc.collect()
    assert reference() is None
