"""Each helper of the lowering context gives the values that its name says, for every dtype and shape."""

import ml_dtypes
import numpy as np
import pytest

from lawful.core import ShapedArray, supported_dtypes
from lawful.xla_backend import LoweringContext, backend

F64 = ShapedArray((3,), "float64")


def aval_of(x) -> ShapedArray:
    x = np.asarray(x)
    return ShapedArray(x.shape, x.dtype)


def run_rule(compile_program, rule, *args, out: ShapedArray):
    """Returns the result of a program of one equation, whose lowering rule is ``rule``."""
    compiled = compile_program(lambda record, *xs: record(rule, *xs, out=out), *map(aval_of, args))
    return np.asarray(compiled(*args)[0])


def same_bits(x, y) -> bool:
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()


@pytest.mark.parametrize("dtype", supported_dtypes, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 3), (9,)], ids=str)
def test_lowering_constant(compile_program, dtype, shape) -> None:
    value = np.resize(np.array([1, 0, 1, 1], dtype), shape).astype(dtype)
    assert same_bits(run_rule(compile_program, lambda ctx: ctx.constant(value), out=aval_of(value)), value)


@pytest.mark.parametrize(
    "value",
    [
        np.array([np.nan, np.inf, -np.inf, -0.0]),
        np.array([complex(np.nan, -0.0), complex(-np.inf, 1)]),
        np.array([np.nan, -np.inf, 3e38], ml_dtypes.bfloat16),
        np.array([2**63 + 1], np.uint64),
        np.array([-(2**63)]),
        np.arange(6.0).reshape(2, 3).T,
        np.arange(6, dtype=">i4"),
        3.5,
        7,
        True,
        1j,
    ],
    ids=repr,
)
def test_lowering_constant_special(compile_program, value) -> None:
    native = np.asarray(value)
    native = native.astype(native.dtype.newbyteorder("="))
    assert same_bits(run_rule(compile_program, lambda ctx: ctx.constant(value), out=aval_of(native)), native)


@pytest.mark.parametrize("dtype", supported_dtypes, ids=str)
@pytest.mark.parametrize("shape", [(), (0, 2), (2, 3)], ids=str)
def test_lowering_full_and_zeros(compile_program, dtype, shape) -> None:
    aval = ShapedArray(shape, dtype)
    full = run_rule(compile_program, lambda ctx: ctx.full(ctx.avals_out[0], 1), out=aval)
    assert same_bits(full, np.ones(shape, dtype))
    zeros = run_rule(compile_program, lambda ctx: ctx.zeros(ctx.avals_out[0]), out=aval)
    assert same_bits(zeros, np.zeros(shape, dtype))


DIRECTIONS = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
}


ORDERED = ["bool", "int8", "uint8", "int64", "uint64", "float32", "bfloat16"]


@pytest.mark.parametrize(
    ("dtype", "direction"),
    [(dtype, direction) for dtype in ORDERED for direction in DIRECTIONS] + [("complex64", "EQ"), ("complex64", "NE")],
)
def test_lowering_compare(compile_program, dtype, direction) -> None:
    dtype = np.dtype(getattr(ml_dtypes, dtype, dtype))
    values = {
        "b": [False, True],
        "i": [-128, -1, 0, 127],
        "u": [0, 1, 128, 255],
        "c": [complex(np.nan, 1), 1j, 1 + 1j],
    }.get(dtype.kind, [np.nan, -np.inf, -0.0, 0.0, 1.5])
    grid = np.array(values, dtype)
    x, y = (a.ravel() for a in np.meshgrid(grid, grid))
    with np.errstate(invalid="ignore"):
        expected = DIRECTIONS[direction](x, y)
    out = run_rule(compile_program, lambda ctx, x, y: ctx.compare(x, y, direction), x, y, out=aval_of(expected))
    assert np.array_equal(out, expected)


@pytest.mark.parametrize("axes", [(), (0,), (1,), (0, 2), (0, 1, 2)], ids=str)
@pytest.mark.parametrize(
    ("dtype", "body", "unit", "reference"),
    [
        ("float64", "add", 0, np.sum),
        ("int32", "multiply", 1, np.prod),
        ("float32", "maximum", -np.inf, np.max),
        ("bool", "or_", False, np.any),
        ("complex128", "add", 0, np.sum),
    ],
)
def test_lowering_reduce(compile_program, rng, axes, dtype, body, unit, reference) -> None:
    x = rng.integers(0, 3, (2, 3, 4)).astype(dtype)
    expected = reference(x, axis=axes).astype(dtype) if axes else x
    out = run_rule(compile_program, lambda ctx, x: ctx.reduce(x, unit, axes, body), x, out=aval_of(expected))
    assert np.allclose(out, expected)


def test_lowering_reduce_with_a_function_and_a_unit_of_its_own(compile_program) -> None:
    def rule(ctx: LoweringContext, x, unit):
        return ctx.reduce(x, unit, [0], lambda a, b: ctx.hlo.add(a, b))

    out = run_rule(compile_program, rule, np.arange(4.0), np.array(10.0), out=ShapedArray((), "float64"))
    assert out == 16.0


def test_lowering_reduce_of_nothing_is_the_unit(compile_program) -> None:
    out = run_rule(
        compile_program,
        lambda ctx, x: ctx.reduce(x, 7.0, [0], "add"),
        np.zeros((0, 2)),
        out=ShapedArray((2,), "float64"),
    )
    assert out.tolist() == [7.0, 7.0]


def test_lowering_broadcast_scalar(compile_program) -> None:
    out = run_rule(
        compile_program,
        lambda ctx, x: ctx.broadcast_scalar(x, ctx.avals_out[0]),
        np.array(2.0),
        out=ShapedArray((2, 2), "float64"),
    )
    assert out.tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_lowering_attributes_and_avals(compile_program) -> None:
    def rule(ctx: LoweringContext, x):
        assert ctx.avals_in == [ShapedArray((2, 3), "int8")]
        assert ctx.avals_out == [ShapedArray((3, 2), "int8")]
        assert ctx.platform == "cpu"
        assert str(ctx.i64_array([1, 0])) == "array<i64: 1, 0>"
        assert str(ctx.bool_array([True])) == "array<i1: true>"
        assert str(ctx.i64(3)) == "3 : i64"
        assert str(ctx.string("a")) == '"a"'
        assert str(ctx.element_type("bfloat16")) == "bf16"
        assert str(ctx.tensor_type(ctx.avals_in[0])) == "tensor<2x3xi8>"
        return ctx.hlo.transpose(x, ctx.i64_array([1, 0]))

    x = np.arange(6, dtype=np.int8).reshape(2, 3)
    assert np.array_equal(run_rule(compile_program, rule, x, out=ShapedArray((3, 2), "int8")), x.T)


def test_lowering_operation_by_its_name_is_that_of_the_dialect(program) -> None:
    def by_name(ctx: LoweringContext, x):
        return ctx.op("add", ctx.op("cosine", x), x)

    def by_dialect(ctx: LoweringContext, x):
        return ctx.hlo.add(ctx.hlo.cosine(x), x)

    def text_of(rule) -> str:
        return backend.lower(program(lambda record, x: record(rule, x, out=F64), F64), name="f").as_text()

    assert text_of(by_name) == text_of(by_dialect)
    assert "stablehlo.cosine" in text_of(by_name)


def test_lowering_chlo_is_at_hand(compile_program) -> None:
    out = run_rule(compile_program, lambda ctx, x: ctx.chlo.tan(x), np.array([0.0, 1.0]), out=ShapedArray((2,), float))
    assert np.allclose(out, np.tan([0.0, 1.0]))


def test_lowering_rule_may_return_a_list(compile_program) -> None:
    def rule(ctx: LoweringContext, x):
        return [ctx.hlo.negate(x), x]

    compiled = compile_program(lambda record, x: record(rule, x, out=[F64, F64]), F64)
    negated, same = compiled(np.arange(3.0))
    assert np.array_equal(negated, -np.arange(3.0))
    assert np.array_equal(same, np.arange(3.0))
