"""`check_primitive` with every installed backend: a lowering to another operation fails, a missing one is named."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.core import Primitive, ShapedArray, instantiate_zeros
from lawful.laws import check, check_primitive, installed_backends, quick

pytestmark = pytest.mark.skipif("xla" not in installed_backends(), reason="XLA is not installed")

x = np.array([0.5, 2.0, 1.5])


def twice(lowering: Callable[..., Any] | None) -> Primitive:
    primitive = Primitive("twice")
    primitive.def_impl(lambda x: np.add(x, x))
    primitive.def_abstract_eval(lambda x: ShapedArray(x.shape, x.dtype))
    primitive.def_jvp(lambda xs, ts: (primitive.bind(*xs), primitive.bind(instantiate_zeros(*ts))))
    primitive.def_transpose(lambda ct, x: [primitive.bind(ct)])
    primitive.def_batch(lambda args, dims: (primitive.bind(*args), dims[0]))
    if lowering is not None:
        primitive.def_lowering(lowering)
    return primitive


def test_check_primitive_right_lowering_passes() -> None:
    report = check_primitive(twice(lambda ctx, x: ctx.hlo.add(x, x)), x, effort=quick)
    assert report.ok, str(report)


def test_check_primitive_another_operation_fails() -> None:
    report = check_primitive(twice(lambda ctx, x: ctx.hlo.multiply(x, x)), x, effort=quick)
    assert {failure.law for failure in report.failures} == {"jit_is_eager", "primitive_reference"}
    [failure, _] = report.failures
    assert "twice_p.bind(np.array(1.0))" in failure.counterexample
    assert "backend='xla'" in failure.counterexample


def test_check_primitive_missing_lowering_is_named() -> None:
    report = check_primitive(twice(None), x, effort=quick, laws=["jit_is_eager"])
    assert [failure.missing_rule for failure in report.failures] == ["twice_p.def_lowering"]
    assert not check(lambda x: ops.sin(twice(None).bind(x)), x, effort=quick, laws=["jit_is_eager"]).ok
