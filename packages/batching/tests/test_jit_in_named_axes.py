"""A trace of `jit` inside one named axis is not used inside another axis of the same name."""

import numpy as np
import pytest

from lawful.batching import UnboundAxisError, axis_size, psum, vmap
from lawful.staging import jit


@pytest.mark.parametrize("size_of", [axis_size, lambda name: psum(1, name)])
def test_jit_size_is_that_of_the_enclosing_axis(size_of) -> None:
    scaled = jit(lambda x: x * size_of("i"), backend="numpy")
    for size in (2, 3, 2):
        np.testing.assert_array_equal(vmap(scaled, axis_name="i")(np.ones(size)), np.full(size, float(size)))


def test_jit_name_is_unbound_outside_again() -> None:
    scaled = jit(lambda x: x * axis_size("i"), backend="numpy")
    vmap(scaled, axis_name="i")(np.ones(2))
    with pytest.raises(UnboundAxisError, match="axis name"):
        scaled(1.0)
