"""Calls, branches and loops: a jaxpr inside a jaxpr is lowered once, with its constants, to any depth."""

import numpy as np
import pytest

from lawful.core import ClosedJaxpr, Jaxpr, Literal, Primitive, ShapedArray
from lawful.xla_backend import backend, device_put

F64 = ShapedArray((3,), "float64")
INDEX = ShapedArray((), "int32")
X = np.arange(3.0)

call_p = Primitive("test_call", multiple_results=True)
inline_p = Primitive("test_inline", multiple_results=True)
case_p = Primitive("test_case", multiple_results=True)
while_p = Primitive("test_while", multiple_results=True)
call_p.def_lowering(lambda ctx, *args, jaxpr, name="inner": ctx.call(jaxpr, args, name=name))
inline_p.def_lowering(lambda ctx, *args, jaxpr: ctx.inline(jaxpr, args))
case_p.def_lowering(lambda ctx, index, *args, branches: ctx.case(index, branches, args))


@while_p.def_lowering
def _lower_while(ctx, *args, cond, body, cond_count, body_count):
    cond_consts, rest = args[:cond_count], args[cond_count:]
    return ctx.while_loop(cond, body, rest[body_count:], cond_consts=cond_consts, body_consts=rest[:body_count])


def add(ctx, x, y):
    return ctx.hlo.add(x, y)


def multiply(ctx, x, y):
    return ctx.hlo.multiply(x, y)


@pytest.fixture
def double(program) -> ClosedJaxpr:
    return program(lambda record, x: record(add, x, x, out=F64), F64)


def test_lowering_nested_jaxpr_called_often_is_one_function(program, double) -> None:
    def build(record, x):
        for _ in range(50):
            [x] = record(call_p, x, out=[F64], jaxpr=double, name="double")
        return x

    lowered = backend.lower(program(build, F64), name="outer")
    text = lowered.as_text()
    assert text.count("func.func private @double(") == 1
    assert text.count("func.func") == 2
    assert text.count("call @double") == 50
    assert "module @jit_outer" in text
    assert np.array_equal(lowered.compile()(X)[0], X * 2.0**50)


@pytest.mark.parametrize("name", ["main", "two words", "<lambda>", "", "été"])
def test_lowering_nested_any_name_makes_functions_of_their_own(program, name: str) -> None:
    def build(record, x):
        for _ in range(3):
            inner = program(lambda record, x: record(add, x, x, out=F64), F64)
            [x] = record(call_p, x, out=[F64], jaxpr=inner, name=name)
        return x

    lowered = backend.lower(program(build, F64), name=name)
    assert lowered.as_text().count("func.func private") == 3
    assert np.array_equal(lowered.compile()(X)[0], 8 * X)


def test_lowering_nested_inlined_equations_stand_in_the_caller(program, double, compile_program) -> None:
    def build(record, x):
        return record(inline_p, x, out=[F64], jaxpr=double)

    assert "call" not in backend.lower(program(build, F64), name="f").as_text()
    assert np.array_equal(compile_program(build, F64)(X)[0], 2 * X)


def test_lowering_nested_array_constants_are_arguments(program) -> None:
    big = np.arange(100_000.0)
    aval = ShapedArray(big.shape, "float64")

    def build_inner(record, x):
        return record(add, x, record.const(big), out=aval)

    inner = program(build_inner, aval)

    def build(record, x):
        [y] = record(call_p, x, out=[aval], jaxpr=inner)
        [z] = record(call_p, y, out=[aval], jaxpr=inner)
        return record(multiply, z, record.const(big), out=aval)

    closed = program(build, aval)
    lowered = backend.lower(closed, name="f")
    text = lowered.as_text()
    assert len(text) < 2000
    assert text.partition("@main(")[2].partition(")")[0].count("%arg") == 2  # the same constant three times, and x
    compiled = lowered.compile()
    assert np.array_equal(compiled(big)[0], 3 * big * big)
    before = big.copy()
    big += 1
    assert np.array_equal(compiled(before)[0], 3 * before * before)


@pytest.mark.parametrize("shape", [(3,), (2, 0), (2, 3), (128,)])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "bfloat16", "float32", "float64", "complex128"])
def test_lowering_nested_small_array_constants_are_text(program, dtype: str, shape: tuple[int, ...]) -> None:
    small = np.asfortranarray(np.arange(np.prod(shape)).reshape(shape) % 3).astype(dtype)
    aval = ShapedArray(small.shape, small.dtype)
    closed = program(lambda record, x: record(add, x, record.const(small), out=aval), aval)
    lowered = backend.lower(closed, name="f")
    is_large = small.nbytes > 1024
    assert lowered.as_text().partition("@main(")[2].partition(")")[0].count("%arg") == 1 + is_large
    [out] = lowered.compile()(np.zeros_like(small))
    np.testing.assert_array_equal(out, small)


def test_lowering_nested_constants_reach_every_depth(program, compile_program) -> None:
    consts = [np.full(3, float(i)) for i in range(6)]

    def level(i: int) -> ClosedJaxpr:
        def build(record, x):
            x = record(add, x, record.const(consts[i]), out=F64)
            if i + 1 == len(consts):
                return x
            inner = level(i + 1)
            if i % 2:
                return record(case_p, np.int32(i), x, out=[F64], branches=(inner, inner))[0]
            return record(call_p, x, out=[F64], jaxpr=inner)[0]

        return program(build, F64)

    compiled = compile_program(lambda record, x: record(call_p, x, out=[F64], jaxpr=level(0)), F64)
    assert np.array_equal(compiled(X)[0], X + 15)


def test_lowering_nested_jaxpr_with_other_constants(program, compile_program) -> None:
    one = program(lambda record, x: record(add, x, record.const(np.ones(3)), out=F64), F64)
    two = ClosedJaxpr(one.jaxpr, [np.full(3, 2.0)])

    def build(record, x):
        [y] = record(call_p, x, out=[F64], jaxpr=one)
        return record(call_p, y, out=[F64], jaxpr=two)

    assert np.array_equal(compile_program(build, F64)(X)[0], X + 3)


def test_lowering_nested_constant_on_device_is_used_where_it_is(compile_program) -> None:
    const = device_put(np.ones(3))
    compiled = compile_program(lambda record, x: record(add, x, record.const(const), out=F64), F64)
    assert np.array_equal(compiled(X)[0], X + 1)
    assert compiled._consts[0] is const._buffer


@pytest.mark.parametrize("index", [-1, 0, 1, 2, 5])
def test_lowering_nested_case(program, compile_program, index: int) -> None:
    def branch(factor):
        return program(lambda record, x: record(multiply, x, x, out=F64) if factor == 2 else x, F64)

    branches = (branch(1), branch(2), branch(1))
    compiled = compile_program(lambda record, i, x: record(case_p, i, x, out=[F64], branches=branches), INDEX, F64)
    assert np.array_equal(compiled(np.int32(index), X)[0], X * X if index == 1 else X)


def test_lowering_nested_case_of_nothing(program, compile_program) -> None:
    constant = program(lambda record: Literal(1.5))
    other = program(lambda record: Literal(2.5))
    scalar = ShapedArray((), "float64", weak_type=True)
    compiled = compile_program(lambda r, i: r(case_p, i, out=[scalar], branches=(constant, other)), INDEX)
    [out] = compiled(np.int32(1))
    assert out.item() == 2.5
    assert out.weak_type

    empty = program(lambda record: [])

    def build(record, i):
        record(case_p, i, out=[], branches=(empty, empty))
        return []

    assert compile_program(build, INDEX)(np.int32(0)) == []


def test_lowering_nested_literals_of_a_branch_stay_in_it(program, compile_program) -> None:
    scalar = ShapedArray((), "float64")
    branches = tuple(
        program(lambda record, x, k=k: record(add, record(add, x, 2.0, out=scalar), k, out=scalar), scalar)
        for k in (2.0, 3.0)
    )

    def build(record, i, x):
        [y] = record(case_p, i, x, out=[scalar], branches=branches)
        return record(add, y, 2.0, out=scalar)

    assert compile_program(build, INDEX, scalar)(np.int32(1), np.float64(1.0))[0].item() == 8.0


def test_lowering_nested_while_loop(program, compile_program) -> None:
    i64 = ShapedArray((), "int64")

    def less(ctx, x, y):
        return ctx.compare(x, y, "LT")

    cond = program(lambda record, n, i, x: record(less, i, n, out=ShapedArray((), bool)), i64, i64, F64)
    body = program(
        lambda record, step, i, x: [record(add, i, np.int64(1), out=i64), record(add, x, step, out=F64)], F64, i64, F64
    )

    def build(record, n, step, x):
        params = {"cond": cond, "body": body, "cond_count": 1, "body_count": 1}
        return record(while_p, n, step, np.int64(0), x, out=[i64, F64], **params)

    count, x = compile_program(build, i64, F64, F64)(np.int64(5), X, X)
    assert count.item() == 5
    assert np.array_equal(x, 6 * X)


def test_lowering_nested_deep_nesting(program, compile_program) -> None:
    closed = program(lambda record, x: record(add, x, x, out=F64), F64)
    for _ in range(50):
        inner = closed
        closed = program(lambda record, x, inner=inner: record(call_p, x, out=[F64], jaxpr=inner), F64)
    assert np.array_equal(compile_program(lambda r, x: r(call_p, x, out=[F64], jaxpr=closed), F64)(X)[0], 2 * X)


def test_lowering_nested_open_jaxpr_in_parameter(program, compile_program, double) -> None:
    const = device_put(np.ones(3))
    closed = program(lambda record, x: record(add, x, record.const(const), out=F64), F64)
    wrapped = program(lambda record, x: record(call_p, x, out=[F64], jaxpr=closed), F64)
    open_p = Primitive("test_open", multiple_results=True)
    open_p.def_lowering(lambda ctx, *args, jaxpr: ctx.inline(ClosedJaxpr(jaxpr), args))
    assert type(wrapped.jaxpr) is Jaxpr
    compiled = compile_program(lambda record, x: record(open_p, x, out=[F64], jaxpr=wrapped.jaxpr), F64)
    assert len(compiled._consts) == 1
    assert np.array_equal(compiled(X)[0], X + 1)
