"""A jaxpr does not depend on what was traced before."""

import numpy as np
import pytest

from lawful.ops import mul
from lawful.staging import make_jaxpr


@pytest.mark.parametrize("function", [mul, lambda x, y: x * y], ids=["function", "operator"])
def test_make_jaxpr_converts_python_number_after_weak_tracer(function):
    make_jaxpr(function)(np.float64(1.0), 2.0)  # of the types f64[] and ~f64[], as below
    (eqn,) = make_jaxpr(lambda x: function(x, 2.0))(np.float64(1.0)).eqns
    assert not eqn.invars[1].aval.weak_type
