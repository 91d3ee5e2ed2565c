"""No attribute of a tracer hides a method of arrays."""

import numpy as np
import pytest

from lawful.ops import ArrayMethods
from lawful.staging import JaxprTracer, make_jaxpr

_METHODS = sorted(name for name in vars(ArrayMethods) if not name.startswith("_"))


@pytest.mark.parametrize("name", _METHODS)
def test_a_tracer_has_the_methods_of_arrays(name):
    assert name not in JaxprTracer.__slots__


def test_staged_tracer_variance_can_be_staged():
    assert make_jaxpr(lambda x: x.var(0))(np.ones((3, 2))).out_avals[0].shape == (2,)
