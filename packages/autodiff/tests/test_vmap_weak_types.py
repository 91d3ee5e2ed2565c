"""An element that stands for a Python scalar promotes as one, although the batch that holds it is an array."""

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad
from lawful.batching import vmap
from lawful.staging import jit


def slope(x):
    """Returns ``x`` as a gradient by a Python scalar: a weak one."""
    return grad(lambda w: w * x)(1.0)


def by_one_primitive(x):
    return ops.mul(slope(x), np.float32(2))


def by_a_call(x):
    return ops.mul(jit(lambda w: w * 3.0, backend="numpy")(slope(x)), np.float32(2))


def by_a_call_in_a_call(x):
    inner = jit(lambda a, b: a + b, backend="numpy")
    return ops.mul(jit(lambda w: inner(w, 2.0), backend="numpy")(slope(x)), np.float32(2))


@pytest.mark.parametrize("function", [by_one_primitive, by_a_call, by_a_call_in_a_call])
def test_vmap_weak_element_promotes_as_it_does_outside(function):
    xs = np.array([1.0, 2.0, -4.0])
    each = [function(x) for x in xs]
    batch = vmap(function)(xs)
    assert batch.dtype == np.float32 == np.result_type(*each)
    np.testing.assert_array_equal(batch, each)
