"""`reroll` of integers, complex numbers and Python numbers, which are weak."""

from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad

TRIP_COUNT = 20


def test_reroll_carries_integers_booleans_python_numbers(scan_lengths: Any, rolled: Any) -> None:
    def function(x: Any, i: Any, flag: Any) -> Any:
        for _ in range(TRIP_COUNT):
            flag = ops.ne(flag, x > i)
            x = ops.select(flag, x * 0.5 + i, -x)
            i = i + 1
        return x, i, flag

    assert scan_lengths(rolled(function, np.float64(0.3), 0, np.True_))[0] >= TRIP_COUNT - 1
    assert scan_lengths(rolled(function, np.float64(0.3), np.int32(1), np.True_)) == [TRIP_COUNT]


def test_reroll_weak_values_stay_weak(scan_lengths: Any, rolled: Any) -> None:
    def function(x: Any) -> Any:
        results = []
        for i in range(TRIP_COUNT):
            x = x * 2.0 + i
            results.append(x)
        return x, results[3], results[-2]

    closed = rolled(function, 0.5)
    assert [aval.weak_type for aval in closed.out_avals] == [True] * 3
    assert scan_lengths(closed) == [TRIP_COUNT]


def test_reroll_python_number_in_first_iteration(
    chain: Any, scans_in: Any, scan_lengths: Any, primitive_names: Any, rolled: Any
) -> None:
    """The other iterations take an array."""
    closed = rolled(chain, 1.0)
    assert primitive_names(closed) == ["convert_element_type", "scan"]
    assert scan_lengths(closed) == [TRIP_COUNT]
    assert primitive_names(scans_in(closed)[0].params["jaxpr"]) == ["mul", "sin"]
    assert scan_lengths(rolled(grad(chain), 1.0)) == [TRIP_COUNT, TRIP_COUNT]


def test_reroll_converts_constants_once(scans_in: Any, primitive_names: Any, rolled: Any) -> None:
    """A function converts a Python number to an array."""

    def function(x: Any, w: Any) -> Any:
        for _ in range(TRIP_COUNT):
            x = ops.sin(x) + ops.cos(w)
        return x

    closed = rolled(function, np.float64(0.5), 0.25)
    assert primitive_names(closed) == ["convert_element_type", "scan"]
    assert primitive_names(scans_in(closed)[0].params["jaxpr"]) == ["sin", "cos", "add"]


def test_reroll_converts_single_results(primitive_names: Any, rolled: Any) -> None:
    """Many results are used individually, so that all are made in one equation."""

    def function(x: Any) -> Any:
        results = []
        for _ in range(TRIP_COUNT):
            x = x * 0.5 + 1.0
            results.append(x)
        return [f(results[i]) for i, f in enumerate((ops.sin, ops.cos, ops.tan, ops.exp, ops.tanh))]

    closed = rolled(function, 0.5)
    assert primitive_names(closed).count("split") == 1
    assert primitive_names(closed).count("slice") == 0


@pytest.mark.parametrize("delay", [1, 2, 3])
def test_reroll_python_numbers_in_first_iterations(scan_lengths: Any, rolled: Any, delay: int) -> None:
    """The result is weak only if both operands are weak."""

    def function(x: Any, y: Any, z: Any) -> Any:
        values = [x, y, z][:delay]
        for _ in range(TRIP_COUNT):
            values.append(ops.sin(values[-1] * values[-delay] + 0.5))
        return values[-1], values[4]

    numbers = (0.5, np.float64(0.25), 0.125), (np.float64(0.5), 0.25, np.float64(0.125)), (0.5, 0.25, 0.125)
    for given in numbers:
        assert scan_lengths(rolled(function, *given))[0] >= TRIP_COUNT - delay


def test_reroll_slices_of_python_numbers_and_arrays(scan_lengths: Any, rolled: Any) -> None:
    def function(x: Any, *ys: Any) -> Any:
        for y in ys:
            x = ops.sin(x * y)
        return x

    ys = [0.1 * i if i % 3 else np.float64(i) for i in range(TRIP_COUNT)]
    assert scan_lengths(rolled(function, np.float64(1.0), *ys)) == [TRIP_COUNT]
    assert scan_lengths(rolled(function, 1.0, *ys))[0] >= TRIP_COUNT - 1


def test_reroll_results_of_python_numbers_and_arrays(rolled: Any) -> None:
    ys = [0.1 * i if i % 3 else np.float64(i) for i in range(TRIP_COUNT)]
    closed = rolled(lambda *ys: [y * 2.0 for y in ys], *ys)
    assert [aval.weak_type for aval in closed.out_avals] == [i % 3 != 0 for i in range(TRIP_COUNT)]


def test_reroll_equal_iterations_may_differ_in_weakness(primitive_names: Any, rolled: Any) -> None:
    """A product with a Python number, or an array of the same value, computes the same."""

    def function(x: Any) -> Any:
        return [x * (2.0 if i % 2 else np.float64(2.0)) for i in range(TRIP_COUNT)]

    closed = rolled(function, 0.5)
    assert [aval.weak_type for aval in closed.out_avals] == [i % 2 == 1 for i in range(TRIP_COUNT)]
    assert primitive_names(closed).count("mul") == 1


def test_reroll_complex_numbers(scan_lengths: Any, rolled: Any) -> None:
    def function(z: Any) -> Any:
        for _ in range(TRIP_COUNT):
            z = z * z * 0.3 + (0.1 + 0.2j)
        return z

    assert scan_lengths(rolled(function, np.complex128(0.1 + 0.1j))) == [TRIP_COUNT]
    assert scan_lengths(rolled(grad(lambda x: ops.real(function(x * (1 + 1j)))), np.float64(0.3))) == [
        TRIP_COUNT,
        TRIP_COUNT,
    ]
