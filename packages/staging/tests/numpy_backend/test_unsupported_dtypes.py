"""Which dtypes an op is defined for does not depend on how it is run, nor on a low-precision float beside it."""

import ml_dtypes
import numpy as np
import pytest

from lawful.core import ArgumentTypeError
from lawful.ops import atan2, bitwise_and, bitwise_not, logistic, rem
from lawful.staging import jit

_LOW = np.ones(2, ml_dtypes.bfloat16)


@pytest.mark.parametrize("run", [lambda f: f, lambda f: jit(f, backend="numpy")], ids=["eager", "jit"])
@pytest.mark.parametrize(
    ("function", "args"),
    [
        (rem, (_LOW, np.complex64(1))),
        (atan2, (_LOW, 1j)),
        (bitwise_and, (_LOW, np.int32(1))),
        (bitwise_not, (_LOW,)),
    ],
    ids=["rem", "atan2", "bitwise_and", "bitwise_not"],
)
def test_an_op_that_is_not_defined_for_the_common_dtype_says_so(run, function, args):
    with pytest.raises(ArgumentTypeError, match="expected operands of a dtype that it is defined for"):
        run(function)(*args)


@pytest.mark.parametrize("value", [3, True, np.uint8(3), np.int8(-128), np.array([1, 200], "uint8")])
def test_logistic_of_integers(value):
    """The logistic function of an integer is that of its value as a float."""
    x = np.asarray(value).astype(float)
    np.testing.assert_allclose(logistic(value).astype(float), 1 / (1 + np.exp(-x)), atol=1e-3)
