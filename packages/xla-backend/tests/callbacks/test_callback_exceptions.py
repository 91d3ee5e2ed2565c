"""Exceptions in Python functions that compiled programs call."""

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from lawful.core import ArgumentTypeError, ShapedArray
from lawful.xla_backend import device_put

from ._primitives import effect_p, noting

F64 = ShapedArray((3,), "float64")
X = np.arange(3.0)


# Exceptions


class Mine(Exception):
    pass


def test_callback_exception_is_raised_unchanged(compiled_call) -> None:
    fails = True
    cause = ValueError("the cause")

    def function(x):
        if fails:
            raise Mine("no", 3) from cause
        return [x + 1.0]

    program = compiled_call(function, F64, out=[F64])
    for _ in range(3):
        fails = True
        with pytest.raises(Mine) as caught:
            program(X)
        assert caught.value.args == ("no", 3)
        assert caught.value.__cause__ is cause
        assert caught.value.__context__ is cause or caught.value.__context__ is None
        assert caught.traceback[-1].name == "function"
        fails = False
        np.testing.assert_array_equal(np.asarray(program(X)[0]), X + 1.0)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit, StopIteration, MemoryError])
def test_callback_exceptions_of_every_kind(compiled_call, kind) -> None:
    def function(x):
        raise kind("text")

    program = compiled_call(function, F64, out=[F64])
    with pytest.raises(kind) as caught:
        program(X)
    assert caught.value.args == ("text",)


def test_callback_what_a_failed_call_raised_is_let_go(compiled_call) -> None:
    class Big:
        pass

    refs = []

    def function(x):
        big = Big()
        refs.append(weakref.ref(big))
        raise Mine(big)

    program = compiled_call(function, F64, out=[F64])
    for _ in range(10):
        with pytest.raises(Mine):
            program(X)
    gc.collect()
    assert not any(ref() for ref in refs)


def test_callback_after_an_exception_no_more_effects_are_had(compile_program) -> None:
    log: list[Any] = []

    def fail():
        raise Mine

    def build(record, x):
        record(effect_p, out=[], function=noting(log, "before"))
        record(effect_p, out=[], function=fail)
        record(effect_p, out=[], function=noting(log, "after"))
        return x

    program = compile_program(build, F64)
    with pytest.raises(Mine):
        program(X)
    assert log == [("before",)]


def test_callback_array_donated_to_a_failed_call_says_so(compiled_call) -> None:
    def function(x):
        raise Mine

    program = compiled_call(function, F64, out=[F64], donated=[0])
    x = device_put(X)
    with pytest.raises(Mine):
        program(x)
    with pytest.raises(Exception, match=r"donated|deleted"):
        program(x)


def test_callback_other_failures_are_told_as_before(compiled_call) -> None:
    program = compiled_call(lambda x: [x], F64, out=[F64])
    x = device_put(X)
    x.delete()
    with pytest.raises(Exception, match="deleted"):
        program(x)
    with pytest.raises(ArgumentTypeError, match="expected f64"):
        program(np.arange(3))
