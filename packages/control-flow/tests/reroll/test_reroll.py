"""`reroll` turns unrolled loops and their gradients into loops with the equations of one iteration."""

from functools import partial, reduce
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.control_flow import reroll
from lawful.core import (
    eval_closed_jaxpr,
    get_aval,
)
from lawful.staging import make_jaxpr

TRIP_COUNT = 20
random = np.random.default_rng(0)
W = random.normal(size=(3, 3)) * 0.3
H = random.normal(size=3)
XS = random.normal(size=(TRIP_COUNT, 3))


def stack(rows: list[Any]) -> Any:
    """Returns stacked rows; `numpy.stack` of tracers needs `lawful.numpy`."""
    return ops.concatenate([ops.reshape(row, (1, *get_aval(row).shape)) for row in rows], 0)


def rnn(w: Any, h: Any, xs: Any) -> Any:
    for i in range(TRIP_COUNT):
        h = ops.tanh(w @ h + xs[i])
    return h


def test_reroll_chain_is_one_scan(
    chain: Any, scans_in: Any, scan_lengths: Any, primitive_names: Any, rolled: Any
) -> None:
    closed = rolled(chain, np.float64(1.0))
    assert primitive_names(closed) == ["scan"]
    assert scan_lengths(closed) == [TRIP_COUNT]
    assert primitive_names(scans_in(closed)[0].params["jaxpr"]) == ["mul", "sin"]


def test_reroll_scan_has_source_line_of_first_iteration(chain: Any, scans_in: Any) -> None:
    closed = make_jaxpr(chain)(np.float64(1.0))
    (loop,) = scans_in(reroll(closed))
    assert loop.source is not None
    assert loop.source is closed.eqns[0].source


def test_reroll_below_min_trip_count(chain: Any, scan_lengths: Any, rolled: Any) -> None:
    closed = make_jaxpr(partial(chain, count=7))(np.float64(1.0))
    assert reroll(closed) is closed
    assert scan_lengths(rolled(partial(chain, count=7), np.float64(1.0), min_trip_count=7)) == [7]


def test_reroll_slices_the_array_itself(scans_in: Any, primitive_names: Any, rolled: Any) -> None:
    closed = rolled(rnn, W, H, XS)
    assert primitive_names(closed) == ["scan"]
    assert scans_in(closed)[0].invars == closed.jaxpr.invars


def test_reroll_slice_used_twice_in_an_iteration(scans_in: Any, rolled: Any) -> None:
    def function(h: Any, xs: Any) -> Any:
        for i in range(TRIP_COUNT):
            h = ops.tanh(h * xs[i] + xs[i])
        return h

    (loop,) = scans_in(rolled(function, H, XS))
    assert loop.params["num_consts"] == 0
    assert len(loop.invars) == 2


@pytest.mark.parametrize("order", ["first to last", "last to first"])
def test_reroll_slices_in_either_order(scans_in: Any, primitive_names: Any, rolled: Any, order: str) -> None:
    def function(h: Any, xs: Any) -> Any:
        for i in range(TRIP_COUNT) if order == "first to last" else reversed(range(TRIP_COUNT)):
            h = ops.tanh(h + xs[i])
        return h

    closed = rolled(function, H, XS)
    assert primitive_names(closed) == ["scan"]
    assert scans_in(closed)[0].params["reverse"] == (order == "last to first")


def test_reroll_slices_in_both_orders(primitive_names: Any, rolled: Any) -> None:
    def function(h: Any, xs: Any) -> Any:
        for i in range(TRIP_COUNT):
            h = ops.tanh(h + xs[i] * xs[TRIP_COUNT - 1 - i])
        return h

    assert sorted(primitive_names(rolled(function, H, XS))) == ["rev", "scan"]


def test_reroll_slices_along_other_axes_and_sizes(scan_lengths: Any, rolled: Any) -> None:
    def function(h: Any, xs: Any) -> Any:
        for i in range(TRIP_COUNT // 2):
            h = ops.tanh(h + xs[:, 2 * i : 2 * i + 2])
        return h

    closed = rolled(function, np.ones((3, 2)), XS.T.copy())
    assert scan_lengths(closed) == [TRIP_COUNT // 2]
    assert len(closed.eqns) <= 4


@pytest.mark.parametrize("step", [2, 3])
def test_reroll_several_slices_per_iteration(gradient: Any, primitive_names: Any, rolled: Any, step: int) -> None:
    def function(h: Any, xs: Any) -> Any:
        for i in range(TRIP_COUNT // 2):
            for j in range(step):
                h = (ops.sin, ops.cos, ops.tanh)[j](h + xs[step * i + j])
        return h

    xs = np.linspace(0.0, 1.0, TRIP_COUNT // 2 * step * 3).reshape(TRIP_COUNT // 2 * step, 3)
    closed = rolled(function, H, xs)
    assert primitive_names(closed) == ["slice"] * step + ["scan"]
    closed = rolled(gradient(function, 2), H, xs)
    assert len(closed.eqns) < 40


@pytest.mark.parametrize("step", [2, 3])
def test_reroll_every_second_slice(gradient: Any, primitive_names: Any, rolled: Any, step: int) -> None:
    def function(h: Any, xs: Any) -> Any:
        for i in range(TRIP_COUNT):
            h = ops.sin(h + xs[step * i + 1])
        return h

    xs = np.linspace(0.0, 1.0, TRIP_COUNT * step * 3).reshape(TRIP_COUNT * step, 3)
    assert primitive_names(rolled(function, H, xs)) == ["slice", "scan"]
    closed = rolled(gradient(function, 2), H, xs)
    assert len(closed.eqns) < 15
    assert primitive_names(closed).count("pad") == 1


def test_reroll_equal_equations_with_repeated_rows(gradient: Any, scan_lengths: Any, rolled: Any) -> None:
    def powers(h: Any, xs: Any) -> Any:
        for i in range(TRIP_COUNT):
            h = h * xs[i] * xs[i] * xs[i]
        return h

    def apart(h: Any, xs: Any) -> Any:
        return [[xs[i] + xs[i], xs[i] + xs[i]] for i in range(TRIP_COUNT)][-1]

    assert scan_lengths(rolled(powers, H, XS)) == [TRIP_COUNT]
    assert scan_lengths(rolled(gradient(powers, 2), H, XS))[0] >= TRIP_COUNT - 1
    assert len(rolled(apart, H, XS).eqns) < 12


def test_reroll_rows_of_a_sum_of_equal_equations(scan_lengths: Any, rolled: Any) -> None:
    def function(xs: Any) -> Any:
        sines = [ops.sin(xs[i : i + 1]) for i in range(8)]
        # Additions and slices are deferred: 16 equal equations are left, and the last 8 use the results of the first 8.
        total = reduce(ops.add, [ops.pad(x, np.float64(0.0), [(i, 7 - i, 0)]) for i, x in enumerate(sines)])
        return [ops.sin(total[i : i + 1]) for i in range(8)]

    assert scan_lengths(rolled(function, XS[:8, 0].copy())) == [8, 8]


def test_reroll_rows_of_an_array_made_in_the_iteration(scan_lengths: Any, rolled: Any) -> None:
    def function(s: Any, xs: Any) -> Any:
        for i in range(TRIP_COUNT):
            s = stack([s[1] * xs[i], ops.sin(s[2]), s[0]])
        return s

    # The rows of an argument in the first iteration.
    assert scan_lengths(rolled(function, H, XS[:, 0].copy(), min_trip_count=3))[0] >= TRIP_COUNT - 2


def test_reroll_sums_repeated_rows_in_order(gradient: Any, rolled: Any) -> None:
    def function(h: Any, xs: Any) -> Any:
        for i in range(TRIP_COUNT):
            h = ops.sin(h * xs[i % 5])
        return h

    def sliding(h: Any, xs: Any) -> Any:
        for i in range(TRIP_COUNT - 2):
            h = ops.sin(h * ops.reduce_sum(xs[i : i + 3], (0,)))
        return h

    for each in (function, sliding):
        rolled(gradient(each, 2), H, XS)
        rolled(gradient(each, 2), H, XS, min_trip_count=2)


def test_reroll_interleaved_results(rolled: Any) -> None:
    def function(h: Any) -> Any:
        found = []
        for _ in range(TRIP_COUNT):
            h = ops.sin(h)
            found += [h, ops.cos(h), np.float64(0.5) * h]
        return stack(found)

    assert len(rolled(function, H).eqns) < 12


def test_reroll_slices_of_a_part_of_an_array(scan_lengths: Any, rolled: Any) -> None:
    def function(h: Any, xs: Any) -> Any:
        for i in range(3, TRIP_COUNT - 2):
            h = ops.sin(h + xs[i, 1] * xs[0, 0])
        return h

    closed = rolled(function, H, XS)
    assert scan_lengths(closed) == [TRIP_COUNT - 5]
    assert len(closed.eqns) <= 6


def test_reroll_stacked_results_are_the_stack(primitive_names: Any, rolled: Any) -> None:
    def function(w: Any, h: Any, xs: Any) -> Any:
        found = []
        for x in xs:
            h = ops.tanh(w @ h + x)
            found.append(h)
        return stack(found), ops.concatenate(found, 0)

    closed = rolled(function, W, H, XS)
    assert set(primitive_names(closed)) == {"scan", "reshape"}
    assert len(closed.eqns) <= 5


@pytest.mark.parametrize("back", [False, True])
def test_reroll_two_loops_share_a_stack(scans_in: Any, primitive_names: Any, rolled: Any, back: bool) -> None:
    def function(w: Any, h: Any, xs: Any) -> Any:
        found = []
        for i in range(TRIP_COUNT):
            h = ops.tanh(w @ h + xs[i])
            found.append(h)
        for x in reversed(found) if back else found:
            h = ops.sin(w @ h + x)
        return h

    closed = rolled(function, W, H, XS)
    assert primitive_names(closed) == ["scan", "scan"]
    assert [loop.params["reverse"] for loop in scans_in(closed)] == [False, back]


def test_reroll_stacks_separate_arrays(gradient: Any, scan_lengths: Any, rolled: Any) -> None:
    layers = [(random.normal(size=(3, 3)), random.normal(size=3)) for _ in range(12)]

    def function(layers: Any, h: Any) -> Any:
        for w, b in layers:
            h = ops.tanh(h @ w + b)
        return h

    assert len(rolled(function, layers, H).eqns) <= 6
    closed = rolled(gradient(function), layers, H)
    assert scan_lengths(closed) == [12, 11]
    assert len(closed.eqns) <= 30


@pytest.mark.parametrize("delay", [1, 2, 3, 4])
def test_reroll_results_used_some_iterations_later(
    gradient: Any, scans_in: Any, primitive_names: Any, rolled: Any, delay: int
) -> None:
    def function(*xs: Any) -> Any:
        values = list(xs)
        for _ in range(TRIP_COUNT):
            values.append(ops.sin(values[-delay]) + 0.5 * values[-1])
        return values[-delay:], values[-1]

    closed = rolled(function, *map(np.float64, range(delay)))
    assert primitive_names(closed) == ["scan"]
    assert scans_in(closed)[0].params["num_carry"] == delay
    assert len(rolled(gradient(function, delay), *map(np.float64, range(delay))).eqns) < 40


def test_reroll_initial_values_that_partly_agree(scans_in: Any, rolled: Any) -> None:
    def function(u: Any, v: Any, w: Any) -> Any:
        one, other = [u, w], [v, w]
        for _ in range(TRIP_COUNT):
            y = ops.sin(one[-2]) * other[-2]
            one.append(y)
            other.append(y)
        return y

    (loop,) = scans_in(rolled(function, *np.linspace(0.5, 1.0, 3)))
    assert loop.params["num_carry"] == 4


def test_reroll_results_used_too_late() -> None:
    def function(*xs: Any) -> Any:
        values = list(xs)
        for _ in range(TRIP_COUNT):
            values.append(ops.sin(values[-6]))
        return values[-1]

    values = [*map(np.float64, range(6))]
    closed = make_jaxpr(function)(*values)
    for found in (reroll(closed), reroll(closed, min_trip_count=3)):
        for x, y in zip(eval_closed_jaxpr(found, *values), eval_closed_jaxpr(closed, *values), strict=True):
            np.testing.assert_array_equal(x, y)


def test_reroll_different_literals_are_a_constant(primitive_names: Any, rolled: Any) -> None:
    def function(x: Any) -> Any:
        for i in range(TRIP_COUNT):
            x = x * (i + 0.5) + i
        return x

    closed = rolled(function, np.float64(1.0))
    assert primitive_names(closed) == ["scan"]
    np.testing.assert_array_equal(sorted(const[3] for const in closed.consts), [3.0, 3.5])


def test_reroll_equal_iterations_are_computed_once(primitive_names: Any, rolled: Any) -> None:
    def function(x: Any) -> Any:
        return [ops.sin(x) * 2.0 for _ in range(TRIP_COUNT)]

    assert primitive_names(rolled(function, np.float64(1.0))) == ["sin", "mul"]


def test_reroll_does_not_stack_results_used_last_only(scans_in: Any, rolled: Any) -> None:
    def function(x: Any) -> Any:
        y = x
        for _ in range(TRIP_COUNT):
            y = ops.cos(x)
            x = ops.sin(x)
        return y

    (loop,) = scans_in(rolled(function, XS))
    assert [var.aval.shape for var in loop.outvars] == [XS.shape] * 2
