"""Lowering without a type or op of StableHLO: float0, the order and rounding of complex numbers."""

import numpy as np
import pytest

from lawful import ops
from lawful.core import float0
from lawful.staging import jit

_Z = np.array([1 + 2j, 1 + 3j, 2 + 1j, 1 + 0j, complex(1, np.nan), complex(np.nan, 1), 0.5 - 1j])


@pytest.mark.parametrize("name", ["lt", "le", "gt", "ge", "eq", "ne", "max", "min"])
def test_lowering_complex_numbers_compare_as_in_numpy(name):
    function = getattr(ops, name)
    x, y = np.meshgrid(_Z, _Z)
    with np.errstate(invalid="ignore"):
        expected = function(x, y)
    np.testing.assert_array_equal(np.asarray(jit(function, backend="xla")(x, y)), expected)


def test_lowering_complex_numbers_are_rounded_part_by_part():
    x = np.array([1.2 + 2.7j, -0.5 + 1.5j])
    np.testing.assert_array_equal(np.asarray(jit(ops.round_nearest_even, backend="xla")(x)), np.rint(x))


def test_lowering_constant_of_dtype_float0_is_not_put_on_device():
    zeros = np.zeros(2, float0)
    out, tangent = jit(lambda x: (x * 2, zeros), backend="xla")(np.arange(2))
    np.testing.assert_array_equal(np.asarray(out), [0, 2])
    assert tangent.dtype == float0
    assert tangent.shape == (2,)
