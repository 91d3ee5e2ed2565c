"""The logarithm of a sum of exponentials: its derivatives, known by hand."""

import math

import numpy as np
import pytest

from lawful import ops
from lawful.core import Zero, get_aval

INF = math.inf


def derivative(argnum: int, *args: float) -> float:
    primals = [np.float64(x) for x in args]
    tangents = [np.float64(1) if i == argnum else Zero(get_aval(x)) for i, x in enumerate(primals)]
    return float(ops.logaddexp_p.rule("jvp")(primals, tangents)[1])


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [(0.0, 0.0, 0.5), (1000.0, 0.0, 1.0), (INF, INF, 1.0), (INF, 1.0, 1.0), (1.0, INF, 0.0), (-INF, 1.0, 0.0)],
)
def test_logaddexp_derivative_is_the_share_of_an_argument(x: float, y: float, expected: float) -> None:
    assert derivative(0, x, y) == expected == derivative(1, y, x)


def test_logaddexp_derivative_at_two_negative_infinities_is_nan() -> None:
    with np.errstate(invalid="ignore"):
        assert math.isnan(derivative(0, -INF, -INF))
