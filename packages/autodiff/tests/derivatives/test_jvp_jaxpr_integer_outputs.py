"""The derivative of a jaxpr gives no tangent of an integer output, also where all tangents are asked for."""

import numpy as np

from lawful.autodiff import jvp_jaxpr
from lawful.core import eval_closed_jaxpr
from lawful.ops import convert_element_type, mul
from lawful.staging import make_jaxpr


def test_jvp_jaxpr_tangents_asked_for_are_those_of_floats():
    closed = make_jaxpr(lambda x: (convert_element_type(x, np.int32), mul(x, 3.0), 5.0))(np.float64(2.0))
    derivative, given = jvp_jaxpr(closed, (True,), True)
    assert given == (False, True, True)
    assert eval_closed_jaxpr(derivative, np.float64(2.0), np.float64(1.0)) == [2, 6.0, 5.0, 3.0, 0.0]
