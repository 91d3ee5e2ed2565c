"""Equations of one primitive that differ in a parameter, or in the dtype of a literal, are not common."""

import numpy as np

from lawful.core import Primitive, eval_closed_jaxpr, memoize
from lawful.ops import broadcast_in_dim, reduce_sum
from lawful.staging import cse_jaxpr, make_jaxpr


def test_cse_parameters():
    x = np.arange(4.0).reshape(2, 2)
    closed = cse_jaxpr(make_jaxpr(lambda x: (reduce_sum(x, (0,)), reduce_sum(x, (1,))))(x))
    columns, rows = eval_closed_jaxpr(closed, x)
    np.testing.assert_array_equal(columns, [2.0, 4.0])
    np.testing.assert_array_equal(rows, [1.0, 5.0])


def test_cse_dtypes_of_literals():
    def zeros():
        return broadcast_in_dim(np.int64(0), (2,), ()), broadcast_in_dim(np.float64(0.0), (2,), ())

    outs = eval_closed_jaxpr(cse_jaxpr(make_jaxpr(zeros)()))
    assert [x.dtype for x in outs] == [np.int64, np.float64]


def test_cse_keeps_derived_results_of_two_functions_apart():
    closed = make_jaxpr(lambda x: x)(1.0)
    assert [memoize(lambda _: 1)(closed), memoize(lambda _: 2)(closed)] == [1, 2]


def test_cse_parameters_that_are_equal():
    scale_p = Primitive("csetest_scale")
    scale_p.def_impl(lambda x, *, by: np.copysign(x, by))
    scale_p.def_abstract_eval(lambda x, *, by: x)
    closed = make_jaxpr(lambda x: (scale_p.bind(x, by=0.0), scale_p.bind(x, by=-0.0), scale_p.bind(x, by=0.0)))(1.0)
    once = cse_jaxpr(closed)
    assert len(once.eqns) == 2
    assert eval_closed_jaxpr(once, 1.0) == [1.0, -1.0, 1.0]
