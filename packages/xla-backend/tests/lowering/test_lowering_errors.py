"""A rule that is missing or wrong is named, with the user's line, and leaves the system usable."""

import re

import numpy as np
import pytest

from lawful.core import MissingRuleError, Primitive, ShapedArray
from lawful.xla_backend import LoweringError, backend

F64 = ShapedArray((3,), "float64")


def _wrong_operand(ctx, x):
    return ctx.hlo.add(x, ctx.constant(np.float32(1)))


def _wrong_attribute(ctx, x):
    return ctx.hlo.transpose(x, ctx.i64_array([0, 0]))


def _wrong_result(ctx, x):
    return ctx.constant(np.zeros(4))


def _wrong_result_beside_a_right_one(ctx, x):
    ctx.op("sine", x)
    return ctx.constant(np.zeros(4))


def _not_a_value(ctx, x):
    return None


def _python_mistake(ctx, x):
    return ctx.no_such_attribute


def _wrong_count(ctx, x):
    return [x, x]


def _invalid(ctx, x):
    # Only the verifier sees that there is no axis 1 to broadcast to.
    return ctx.hlo.broadcast_in_dim(ctx.tensor_type(ctx.avals_out[0]), x, ctx.i64_array([1]))


def _wrong_operand_by_name(ctx, x):
    return ctx.op("add", x, ctx.constant(np.float32(1)))


def _unknown_name(ctx, x):
    return ctx.op("ad", x, x)


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        (_wrong_operand_by_name, "to build StableHLO, got MLIRError"),
        (_unknown_name, "stablehlo.ad"),
        (_wrong_operand, "MLIRError"),
        (_wrong_attribute, "permutation"),
        (_wrong_result, "to give f64[3], got a value of type tensor<4xf64>"),
        (_wrong_result_beside_a_right_one, "to give f64[3], got a value of type tensor<4xf64>"),
        (_not_a_value, "to give f64[3], got None"),
        (_python_mistake, "AttributeError"),
        (_wrong_count, "ValueError"),
        (_invalid, "broadcast_dimensions contains invalid value 1"),
    ],
)
def test_lowering_wrong_rule_is_named(program, rule, reason: str) -> None:
    def good(ctx, x):
        return ctx.hlo.negate(x)

    def build(record, x):
        return record(good, record(rule, record(good, x, out=F64), out=F64), out=F64)

    with pytest.raises(LoweringError, match=re.escape(reason)) as caught:
        backend.lower(program(build, F64), name="f")
    message = str(caught.value)
    assert message.startswith(__file__)
    assert "(build): lowering: expected the rule of" in message
    assert f"test_{rule.__name__}_p.def_lowering" in message
    compiled = backend.lower(program(lambda record, x: record(good, x, out=F64), F64), name="f").compile()
    assert np.array_equal(compiled(np.ones(3))[0], -np.ones(3))


def test_lowering_missing_rule_is_named(program) -> None:
    bare_p = Primitive("test_bare")
    with pytest.raises(MissingRuleError, match=r"define it with test_bare_p\.def_lowering") as caught:
        backend.lower(program(lambda record, x: record(bare_p, x, out=F64), F64), name="f")
    assert str(caught.value).startswith(__file__)
    assert 'jit(..., backend="numpy")' in caught.value.__notes__[0]


def test_lowering_of_dead_code_needs_no_rule(program) -> None:
    def build(record, x):
        record(Primitive("test_bare"), x, out=F64)
        return x

    lowered = backend.lower(program(build, F64), name="f")
    assert "test_bare" not in lowered.as_text()
    assert np.array_equal(lowered.compile()(np.ones(3))[0], np.ones(3))


def test_lowering_rule_for_the_platform_comes_first(compile_program) -> None:
    platform_p = Primitive("test_platform")
    platform_p.def_lowering(lambda ctx, x: x)
    platform_p.def_lowering(lambda ctx, x: ctx.hlo.negate(x), platform="cpu")
    compiled = compile_program(lambda record, x: record(platform_p, x, out=F64), F64)
    assert np.array_equal(compiled(np.ones(3))[0], -np.ones(3))
