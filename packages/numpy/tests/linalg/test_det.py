"""The value of a determinant of many rows: one decomposition."""

import numpy

from lawful.core import sub_jaxprs
from lawful.numpy.linalg import det
from lawful.staging import jit, make_jaxpr


def test_det_value_decomposes_once() -> None:
    """Only matrices whose pivots are extreme are decomposed again, in the other branch of a condition."""
    (call,) = make_jaxpr(det)(numpy.eye(4)).jaxpr.eqns
    inner = next(sub_jaxprs(call.params.values())).jaxpr
    assert [eqn.primitive.name for eqn in inner.eqns].count("lu") == 1
    (condition,) = [eqn for eqn in inner.eqns if eqn.primitive.name == "cond"]
    assert min(len(branch.jaxpr.eqns) for branch in sub_jaxprs(condition.params.values())) == 0


def test_det_value_of_extreme_pivots() -> None:
    f = jit(det, backend="numpy")
    for pivots, expected in (
        ((1e300, 1e300, 1e-300, 1e-300), 1.0), ((1e300, 1e300, 0.0, 1.0), 0),
        ((1e200, 1e200, -1.0, 1.0), -numpy.inf), ((numpy.nan, 1.0, 1.0, 1.0), numpy.nan),
    ):  # fmt: skip
        numpy.testing.assert_allclose(f(numpy.diag(pivots)), expected, rtol=1e-14)
