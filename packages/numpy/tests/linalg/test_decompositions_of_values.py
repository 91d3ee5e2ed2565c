"""Decompositions of values: NumPy's functions give what the primitives give."""

from typing import Any

import numpy
import pytest

from lawful.core import plain
from lawful.numpy import linalg

FUNCTIONS = {
    "eigh": linalg.eigh,
    "svd": linalg.svd,
    "svd of thin factors": lambda a: linalg.svd(a, full_matrices=False),
    "qr": linalg.qr,
}


def outcome(name: str, a: Any) -> Any:
    try:
        out = FUNCTIONS[name](a)
    except Exception as error:
        return type(error)
    return type(out), [(x.shape, x.dtype, x.tobytes()) for x in out]


@pytest.mark.parametrize(
    "shape", [(3, 3), (4, 5, 5), (2, 3), (4, 2), (2, 4, 2), (3, 1), (0, 0), (2, 0, 0), (0, 2, 2), (3,)]
)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("special", [None, numpy.nan, numpy.inf])
def test_decompositions_of_values_agree_in_both_layers(name: str, shape: tuple[int, ...], special: Any) -> None:
    a = numpy.random.default_rng(0).normal(size=shape)
    if special is not None and a.size:
        a[(0,) * a.ndim] = special
    with plain():
        expected = outcome(name, a)
    assert outcome(name, a) == expected
