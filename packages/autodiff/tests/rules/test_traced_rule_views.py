"""A constant of a rule that shares memory with a user's array keeps its values."""

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import linearize, vjp
from lawful.core import Primitive, ShapedArray

times_transposed_p = Primitive("times_transposed")
times_transposed_p.def_impl(lambda x, y: x * y.T)
times_transposed_p.def_abstract_eval(lambda x, y: ShapedArray(x.shape, x.dtype))


@times_transposed_p.def_jvp
def _jvp(primals, tangents):
    return times_transposed_p.bind(*primals), ops.mul(tangents[0], ops.transpose(primals[1], (1, 0)))


@pytest.mark.parametrize("transformation", [linearize, vjp])
def test_traced_rule_view_of_a_constant_is_not_written_into(transformation):
    y = np.array([[1.0, 2.0], [3.0, 4.0]])
    _, function = transformation(lambda x: times_transposed_p.bind(x, y), np.ones((2, 2)))
    y[:] = 0.0
    (result,) = function(np.ones((2, 2))) if transformation is vjp else (function(np.ones((2, 2))),)
    np.testing.assert_array_equal(result, [[1.0, 3.0], [2.0, 4.0]])
