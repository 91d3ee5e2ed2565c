"""Python functions that compiled programs call: types, order, exceptions, threads, lifetimes."""

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lawful.core import ArgumentTypeError, ClosedJaxpr, Primitive, ShapedArray
from lawful.xla_backend import LoweringError, XlaError, backend

from ._primitives import effect_p, noting, python_p

F64 = ShapedArray((3,), "float64")
SCALAR = ShapedArray((), "float64")
INDEX = ShapedArray((), "int32")
X = np.arange(3.0)

call_p = Primitive("test_calling", multiple_results=True)
case_p = Primitive("test_choosing", multiple_results=True)
while_p = Primitive("test_repeating", multiple_results=True)
call_p.def_lowering(lambda ctx, *args, jaxpr: ctx.call(jaxpr, args, name="inner"))
case_p.def_lowering(lambda ctx, index, *args, branches: ctx.case(index, branches, args))
while_p.def_lowering(lambda ctx, *args, cond, body: ctx.while_loop(cond, body, args))


# Types


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
     "complex64", "complex128", ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2],
)  # fmt: skip
@pytest.mark.parametrize("shape", [(), (0, 2), (2, 3), (2, 1, 3)], ids=str)
def test_callback_every_dtype_and_shape_goes_in_and_out(compiled_call, dtype, shape) -> None:
    aval = ShapedArray(shape, dtype)
    seen = []

    def function(x):
        seen.append(x)
        return [x[..., ::-1] if x.ndim else x, np.ones((3,), np.int8)]

    x = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    out, ones = compiled_call(function, aval, out=[aval, ShapedArray((3,), "int8")])(x)
    [got] = seen
    assert (type(got), got.shape, got.dtype) == (np.ndarray, shape, np.dtype(dtype))
    np.testing.assert_array_equal(got.astype(x.dtype), x)
    np.testing.assert_array_equal(np.asarray(out), x[..., ::-1] if x.ndim else x)
    np.testing.assert_array_equal(np.asarray(ones), 1)


def test_callback_matrices_come_by_rows_wherever_they_come_from(compile_program) -> None:
    seen = []
    matrix, transposed = ShapedArray((2, 3), "float64"), ShapedArray((3, 2), "float64")

    def function(x):
        seen.append(x.copy())
        return [np.asfortranarray(x)]

    def transpose(ctx, x):
        return ctx.hlo.transpose(x, ctx.i64_array([1, 0]))

    def build(record, x):
        [y] = record(python_p, record(transpose, x, out=transposed), out=[transposed], function=function)
        return record(transpose, y, out=matrix)

    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(np.asarray(compile_program(build, matrix)(x)[0]), x)
    np.testing.assert_array_equal(seen[0], x.T)


def test_callback_argument_outlives_the_call(compiled_call) -> None:
    kept = []
    program = compiled_call(lambda x: kept.append(x) or [x], F64, out=[F64])
    for i in range(50):
        program(X + i)
    for i, x in enumerate(kept):
        np.testing.assert_array_equal(x, X + i)


WRONG = {
    "shape": (lambda x: [np.ones(4)], "expected f64[3] as result 0 .*, got float64 of shape (4,)"),
    "dtype": (lambda x: [x.astype(np.float32)], "expected f64[3] as result 0 .*, got float32 of shape (3,)"),
    "as many bytes": (lambda x: [x.view(np.int64)], "expected f64[3] as result 0 .*, got int64 of shape (3,)"),
    "too many": (lambda x: [x, x], "expected 1 results .*, got 2"),
    "too few": (lambda x: [], "expected 1 results .*, got 0"),
    "a list": (lambda x: [[1.0, 2.0, 3.0]], "expected f64[3] as result 0 .*, got list"),
}


@pytest.mark.parametrize("case", WRONG)
def test_callback_wrong_result_is_refused(compiled_call, case) -> None:
    function, expected = WRONG[case]
    program = compiled_call(function, F64, out=[F64])
    pattern = "test_python: " + expected.replace("(", r"\(").replace(")", r"\)").replace("[", r"\[")
    with pytest.raises(ArgumentTypeError, match=pattern):
        program(X)


# Order


def test_callback_effects_are_ordered_without_dependences(compile_program) -> None:
    log: list[Any] = []

    def build(record, x):
        for i in range(100):
            record(effect_p, *[x] * (i % 3), out=[], function=noting(log, i))
        return x

    program = compile_program(build, SCALAR)
    for _ in range(5):
        log.clear()
        program(np.float64(2.0))
        assert [label for label, *_ in log] == list(range(100))


def test_callback_order_goes_through_calls_branches_and_loops(program, compile_program) -> None:
    log: list[Any] = []
    less_p = Primitive("test_less")
    less_p.def_lowering(lambda ctx, x, y: ctx.compare(x, y, "LT"))
    more_p = Primitive("test_more")
    more_p.def_lowering(lambda ctx, x: ctx.hlo.add(x, ctx.constant(np.float64(1.0))))
    bools = ShapedArray((), "bool")

    def noted(label, then=lambda record, x: x):
        def build(record, x):
            record(effect_p, x, out=[], function=noting(log, f"{label} begins"))
            y = then(record, x)
            record(effect_p, y, out=[], function=noting(log, f"{label} ends"))
            return [y]

        return build

    def below(label, limit):
        def build(record, x):
            record(effect_p, x, out=[], function=noting(log, label))
            return [record(less_p, x, np.float64(limit), out=bools)]

        return program(build, SCALAR)

    def call(inner):
        return lambda record, x: record(call_p, x, out=[SCALAR], jaxpr=inner)[0]

    def choose(*branches):
        def then(record, x):
            index = record(lambda ctx, x: ctx.hlo.convert(ctx.tensor_type(INDEX), x), x, out=INDEX)
            return record(case_p, index, x, out=[SCALAR], branches=branches)[0]

        return then

    def repeat(label, limit, body):
        return lambda record, x: record(while_p, x, out=[SCALAR], cond=below(label, limit), body=body)[0]

    more = program(noted("more", lambda record, x: record(more_p, x, out=SCALAR)), SCALAR)
    silent = program(lambda record, x: [record(more_p, x, out=SCALAR)], SCALAR)
    branch = choose(program(noted("zero", call(more)), SCALAR), silent, program(noted("two"), SCALAR), more)
    turn = program(noted("turn", lambda record, x: call(more)(record, branch(record, x))), SCALAR)

    def build(record, x):
        record(effect_p, out=[], function=noting(log, "first"))
        x = call(more)(record, x)
        x = repeat("outer", 4.0, turn)(record, x)
        x = branch(record, x)
        record(effect_p, x, out=[], function=noting(log, "last"))
        return x

    def expected(x):
        yield ("first",)

        def more():
            nonlocal x
            yield "more begins", x
            x += 1
            yield "more ends", x

        def branch():
            nonlocal x
            index = min(int(x), 3)
            if index == 0:
                yield "zero begins", x
                yield from more()
                yield "zero ends", x
            elif index == 1:
                x += 1
            elif index == 2:
                yield "two begins", x
                yield "two ends", x
            else:
                yield from more()

        yield from more()
        while True:
            yield "outer", x
            if not x < 4:
                break
            yield "turn begins", x
            yield from branch()
            yield from more()
            yield "turn ends", x
        yield from branch()
        yield "last", x

    compiled = compile_program(build, SCALAR)
    for start in (-3.0, -1.0, 0.0, 1.0, 7.0):
        log.clear()
        compiled(np.float64(start))
        assert log == list(expected(start))


def test_callback_effect_in_a_reduction_is_refused(program) -> None:
    def reduce(ctx, x):
        def add(a, b):
            ctx.callback(list, [], [])
            return ctx.hlo.add(a, b)

        return ctx.reduce(x, 0.0, (0,), add)

    reduce_p = Primitive("test_reduction", effectful=True)
    reduce_p.def_lowering(reduce)
    closed = program(lambda record, x: record(reduce_p, x, out=SCALAR), F64)
    with pytest.raises(LoweringError, match="expected effects in functions, branches and loops only"):
        backend.lower(closed, name="test")


def test_callback_dead_code_pure_and_effectful(compile_program) -> None:
    """An unused pure callback is dropped; a callback with effects is kept."""
    calls = []

    def build(record, x):
        record(python_p, x, out=[F64], function=lambda x: calls.append("pure") or [x])
        record(effect_p, x, out=[], function=lambda x: calls.append("effect") or [])
        return x

    compile_program(build, F64)(X)
    assert calls == ["effect"]


def test_callback_has_ended_when_the_call_returns(compiled_call) -> None:
    done = []
    program = compiled_call(lambda x: done.append(1) or [], F64, out=[], primitive=effect_p)
    for i in range(1, 20):
        assert program(X) == []
        assert len(done) == i


def test_callback_program_that_calls_python_is_not_stored(compiled_call) -> None:
    program = compiled_call(lambda x: [x], F64, out=[F64])
    with pytest.raises(XlaError, match="serialize: expected a program that calls no Python function"):
        program._executable.serialize()


def test_callback_functions_of_equal_text_are_told_apart(program) -> None:
    def compiled(factor) -> Any:
        closed: ClosedJaxpr = program(
            lambda record, x: record(python_p, x, out=[F64], function=lambda x: [x * factor]), F64
        )
        return backend.lower(closed, name="test")

    lowered = [compiled(2.0), compiled(3.0)]
    assert lowered[0].as_text() == lowered[1].as_text()
    for factor, one in zip((2.0, 3.0), lowered, strict=True):
        np.testing.assert_array_equal(np.asarray(one.compile()(X)[0]), X * factor)


# Processes and devices


def test_callback_another_device_and_a_forked_process(run_python) -> None:
    script = """
import os
import numpy as np
from lawful.staging import jit, pure_callback
from lawful.xla_backend import ForkedProcessError, device_put, devices
f = jit(lambda x: pure_callback(lambda x: x + 1.0, x, x))
for device in devices():
    out = f(device_put(np.arange(3.0), device))
    assert out.device == device and np.asarray(out).tolist() == [1.0, 2.0, 3.0]
child = os.fork()
if not child:
    try:
        f(np.arange(3.0))
    except ForkedProcessError:
        os._exit(7)
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
print(len(devices()))
"""
    done = run_python(script, LAWFUL_CPU_DEVICES="2")
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr


def test_callback_counting_is_enough_calls(compiled_call) -> None:
    """A program is called often, with many alive: numbers of functions are its own."""
    programs = [compiled_call(lambda x, i=i: [x + i], F64, out=[F64]) for i in range(10)]
    for i, program in itertools.product(range(10), programs):
        np.testing.assert_array_equal(np.asarray(program(X + i)[0]), X + i + programs.index(program))
