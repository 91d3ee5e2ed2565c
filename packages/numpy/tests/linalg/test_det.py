"""The value and the gradient of a determinant of many rows: one decomposition."""

import numpy

from lawful.autodiff import grad
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


def test_det_gradient_decomposes_once() -> None:
    """XLA takes the decompositions of the pivots and of the system for one; the gradient is all that a branch gives."""
    calls = make_jaxpr(grad(det))(numpy.eye(4)).jaxpr.eqns
    (call,) = [eqn for eqn in calls if eqn.primitive.name == "custom_jvp_call" and eqn.outvars[0].aval.ndim == 2]
    inner = next(sub_jaxprs(call.params.values())).jaxpr
    names = [eqn.primitive.name for eqn in inner.eqns]
    assert [names.count(name) for name in ("lu", "solve", "cond")] == [1, 1, 1]
    condition = inner.eqns[names.index("cond")]
    assert len(condition.outvars) == 1
    assert min(len(branch.jaxpr.eqns) for branch in sub_jaxprs(condition.params.values())) == 0


def test_det_value_of_extreme_pivots() -> None:
    f = jit(det, backend="numpy")
    for pivots, expected in (
        ((1e300, 1e300, 1e-300, 1e-300), 1.0), ((1e300, 1e300, 0.0, 1.0), 0),
        ((1e200, 1e200, -1.0, 1.0), -numpy.inf), ((numpy.nan, 1.0, 1.0, 1.0), numpy.nan),
    ):  # fmt: skip
        numpy.testing.assert_allclose(f(numpy.diag(pivots)), expected, rtol=1e-14)
