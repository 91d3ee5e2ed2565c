"""Unrolled loops, and their gradients, become loops of as few equations as one turn has."""

from functools import partial, reduce
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad
from lawful.control_flow import cond, reroll, scan
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    Primitive,
    eval_closed_jaxpr,
    get_aval,
)
from lawful.staging import jit, make_jaxpr

TURNS = 20
random = np.random.default_rng(0)
W = random.normal(size=(3, 3)) * 0.3
H = random.normal(size=3)
XS = random.normal(size=(TURNS, 3))


def stack(rows: list[Any]) -> Any:
    """Returns rows as an array: `numpy.stack`, which `lawful.numpy` would know."""
    return ops.concatenate([ops.reshape(row, (1, *get_aval(row).shape)) for row in rows], 0)


def rnn(w: Any, h: Any, xs: Any) -> Any:
    for i in range(TURNS):
        h = ops.tanh(w @ h + xs[i])
    return h


# Forward


def test_a_chain_is_one_loop(chain: Any, scans_in: Any, scan_lengths: Any, primitive_names: Any, rolled: Any) -> None:
    closed = rolled(chain, np.float64(1.0))
    assert primitive_names(closed) == ["scan"]
    assert scan_lengths(closed) == [TURNS]
    assert primitive_names(scans_in(closed)[0].params["jaxpr"]) == ["mul", "sin"]


def test_the_loop_has_the_line_of_its_first_turn(chain: Any, scans_in: Any) -> None:
    closed = make_jaxpr(chain)(np.float64(1.0))
    (loop,) = scans_in(reroll(closed))
    assert loop.source is not None
    assert loop.source is closed.eqns[0].source


def test_fewer_turns_than_the_threshold_stay(chain: Any, scan_lengths: Any, rolled: Any) -> None:
    closed = make_jaxpr(partial(chain, count=7))(np.float64(1.0))
    assert reroll(closed) is closed
    assert scan_lengths(rolled(partial(chain, count=7), np.float64(1.0), min_trip_count=7)) == [7]


def test_slices_are_taken_from_the_array(scans_in: Any, primitive_names: Any, rolled: Any) -> None:
    closed = rolled(rnn, W, H, XS)
    assert primitive_names(closed) == ["scan"]
    assert scans_in(closed)[0].invars == closed.jaxpr.invars


def test_a_slice_that_a_turn_takes_twice_is_one(scans_in: Any, rolled: Any) -> None:
    def function(h: Any, xs: Any) -> Any:
        for i in range(TURNS):
            h = ops.tanh(h * xs[i] + xs[i])
        return h

    (loop,) = scans_in(rolled(function, H, XS))
    assert loop.params["num_consts"] == 0
    assert len(loop.invars) == 2


@pytest.mark.parametrize("order", ["first to last", "last to first"])
def test_slices_in_either_order(scans_in: Any, primitive_names: Any, rolled: Any, order: str) -> None:
    def function(h: Any, xs: Any) -> Any:
        for i in range(TURNS) if order == "first to last" else reversed(range(TURNS)):
            h = ops.tanh(h + xs[i])
        return h

    closed = rolled(function, H, XS)
    assert primitive_names(closed) == ["scan"]
    assert scans_in(closed)[0].params["reverse"] == (order == "last to first")


def test_slices_in_both_orders(primitive_names: Any, rolled: Any) -> None:
    def function(h: Any, xs: Any) -> Any:
        for i in range(TURNS):
            h = ops.tanh(h + xs[i] * xs[TURNS - 1 - i])
        return h

    assert sorted(primitive_names(rolled(function, H, XS))) == ["rev", "scan"]


def test_slices_along_another_axis_and_of_several_places(scan_lengths: Any, rolled: Any) -> None:
    def function(h: Any, xs: Any) -> Any:
        for i in range(TURNS // 2):
            h = ops.tanh(h + xs[:, 2 * i : 2 * i + 2])
        return h

    closed = rolled(function, np.ones((3, 2)), XS.T.copy())
    assert scan_lengths(closed) == [TURNS // 2]
    assert len(closed.eqns) <= 4


@pytest.mark.parametrize("step", [2, 3])
def test_several_slices_a_turn(gradient: Any, primitive_names: Any, rolled: Any, step: int) -> None:
    def function(h: Any, xs: Any) -> Any:
        for i in range(TURNS // 2):
            for j in range(step):
                h = (ops.sin, ops.cos, ops.tanh)[j](h + xs[step * i + j])
        return h

    xs = np.linspace(0.0, 1.0, TURNS // 2 * step * 3).reshape(TURNS // 2 * step, 3)
    closed = rolled(function, H, xs)
    assert primitive_names(closed) == ["slice"] * step + ["scan"]
    closed = rolled(gradient(function, 2), H, xs)
    assert len(closed.eqns) < 40


@pytest.mark.parametrize("step", [2, 3])
def test_every_second_slice(gradient: Any, primitive_names: Any, rolled: Any, step: int) -> None:
    def function(h: Any, xs: Any) -> Any:
        for i in range(TURNS):
            h = ops.sin(h + xs[step * i + 1])
        return h

    xs = np.linspace(0.0, 1.0, TURNS * step * 3).reshape(TURNS * step, 3)
    assert primitive_names(rolled(function, H, xs)) == ["slice", "scan"]
    closed = rolled(gradient(function, 2), H, xs)
    assert len(closed.eqns) < 15
    assert primitive_names(closed).count("pad") == 1


def test_equations_that_are_all_alike_take_a_row_several_times(gradient: Any, scan_lengths: Any, rolled: Any) -> None:
    def powers(h: Any, xs: Any) -> Any:
        for i in range(TURNS):
            h = h * xs[i] * xs[i] * xs[i]
        return h

    def apart(h: Any, xs: Any) -> Any:
        return [[xs[i] + xs[i], xs[i] + xs[i]] for i in range(TURNS)][-1]

    assert scan_lengths(rolled(powers, H, XS)) == [TURNS]
    assert scan_lengths(rolled(gradient(powers, 2), H, XS))[0] >= TURNS - 1
    assert len(rolled(apart, H, XS).eqns) < 12


def test_rows_of_a_sum_of_what_equal_equations_gave(scan_lengths: Any, rolled: Any) -> None:
    def function(xs: Any) -> Any:
        sines = [ops.sin(xs[i : i + 1]) for i in range(8)]
        # Additions and slices are taken out: 16 equal equations are left, and the last 8 need what the first 8 give.
        total = reduce(ops.add, [ops.pad(x, np.float64(0.0), [(i, 7 - i, 0)]) for i, x in enumerate(sines)])
        return [ops.sin(total[i : i + 1]) for i in range(8)]

    assert scan_lengths(rolled(function, XS[:8, 0].copy())) == [8, 8]


def test_rows_of_what_a_turn_makes_are_a_part_of_it(scan_lengths: Any, rolled: Any) -> None:
    def function(s: Any, xs: Any) -> Any:
        for i in range(TURNS):
            s = stack([s[1] * xs[i], ops.sin(s[2]), s[0]])
        return s

    # The first turn may take the rows of an argument.
    assert scan_lengths(rolled(function, H, XS[:, 0].copy(), min_trip_count=3))[0] >= TURNS - 2


def test_rows_that_are_used_again_are_added_in_their_order(gradient: Any, rolled: Any) -> None:
    def function(h: Any, xs: Any) -> Any:
        for i in range(TURNS):
            h = ops.sin(h * xs[i % 5])
        return h

    def sliding(h: Any, xs: Any) -> Any:
        for i in range(TURNS - 2):
            h = ops.sin(h * ops.reduce_sum(xs[i : i + 3], (0,)))
        return h

    for each in (function, sliding):
        rolled(gradient(each, 2), H, XS)
        rolled(gradient(each, 2), H, XS, min_trip_count=2)


def test_results_that_are_stacked_in_turn(rolled: Any) -> None:
    def function(h: Any) -> Any:
        found = []
        for _ in range(TURNS):
            h = ops.sin(h)
            found += [h, ops.cos(h), np.float64(0.5) * h]
        return stack(found)

    assert len(rolled(function, H).eqns) < 12


def test_slices_of_a_part_of_an_array(scan_lengths: Any, rolled: Any) -> None:
    def function(h: Any, xs: Any) -> Any:
        for i in range(3, TURNS - 2):
            h = ops.sin(h + xs[i, 1] * xs[0, 0])
        return h

    closed = rolled(function, H, XS)
    assert scan_lengths(closed) == [TURNS - 5]
    assert len(closed.eqns) <= 6


def test_results_that_are_stacked_again_are_the_stack(primitive_names: Any, rolled: Any) -> None:
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
def test_two_loops_hand_over_a_stack(scans_in: Any, primitive_names: Any, rolled: Any, back: bool) -> None:
    def function(w: Any, h: Any, xs: Any) -> Any:
        found = []
        for i in range(TURNS):
            h = ops.tanh(w @ h + xs[i])
            found.append(h)
        for x in reversed(found) if back else found:
            h = ops.sin(w @ h + x)
        return h

    closed = rolled(function, W, H, XS)
    assert primitive_names(closed) == ["scan", "scan"]
    assert [loop.params["reverse"] for loop in scans_in(closed)] == [False, back]


def test_separate_arrays_are_stacked_and_results_come_apart(gradient: Any, scan_lengths: Any, rolled: Any) -> None:
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
def test_what_is_used_some_turns_later(
    gradient: Any, scans_in: Any, primitive_names: Any, rolled: Any, delay: int
) -> None:
    def function(*xs: Any) -> Any:
        values = list(xs)
        for _ in range(TURNS):
            values.append(ops.sin(values[-delay]) + 0.5 * values[-1])
        return values[-delay:], values[-1]

    closed = rolled(function, *map(np.float64, range(delay)))
    assert primitive_names(closed) == ["scan"]
    assert scans_in(closed)[0].params["num_carry"] == delay
    assert len(rolled(gradient(function, delay), *map(np.float64, range(delay))).eqns) < 40


def test_first_values_that_agree_in_part_only(scans_in: Any, rolled: Any) -> None:
    def function(u: Any, v: Any, w: Any) -> Any:
        one, other = [u, w], [v, w]
        for _ in range(TURNS):
            y = ops.sin(one[-2]) * other[-2]
            one.append(y)
            other.append(y)
        return y

    (loop,) = scans_in(rolled(function, *np.linspace(0.5, 1.0, 3)))
    assert loop.params["num_carry"] == 4


def test_what_is_used_too_late_is_no_loop() -> None:
    def function(*xs: Any) -> Any:
        values = list(xs)
        for _ in range(TURNS):
            values.append(ops.sin(values[-6]))
        return values[-1]

    values = [*map(np.float64, range(6))]
    closed = make_jaxpr(function)(*values)
    for found in (reroll(closed), reroll(closed, min_trip_count=3)):
        for x, y in zip(eval_closed_jaxpr(found, *values), eval_closed_jaxpr(closed, *values), strict=True):
            np.testing.assert_array_equal(x, y)


def test_literals_that_differ_are_a_constant(primitive_names: Any, rolled: Any) -> None:
    def function(x: Any) -> Any:
        for i in range(TURNS):
            x = x * (i + 0.5) + i
        return x

    closed = rolled(function, np.float64(1.0))
    assert primitive_names(closed) == ["scan"]
    np.testing.assert_array_equal(sorted(const[3] for const in closed.consts), [3.0, 3.5])


def test_turns_that_compute_the_same_are_computed_once(primitive_names: Any, rolled: Any) -> None:
    def function(x: Any) -> Any:
        return [ops.sin(x) * 2.0 for _ in range(TURNS)]

    assert primitive_names(rolled(function, np.float64(1.0))) == ["sin", "mul"]


def test_what_only_the_last_turn_is_asked_for_is_not_stacked(scans_in: Any, rolled: Any) -> None:
    def function(x: Any) -> Any:
        y = x
        for _ in range(TURNS):
            y = ops.cos(x)
            x = ops.sin(x)
        return y

    (loop,) = scans_in(rolled(function, XS))
    assert [var.aval.shape for var in loop.outvars] == [XS.shape] * 2


# Programs within


def test_calls_loops_and_branches_within_a_turn(scan_lengths: Any, rolled: Any) -> None:
    inner = jit(lambda x: ops.sin(x) * 2.0, backend="numpy")

    def calling(x: Any) -> Any:
        for _ in range(TURNS):
            x = inner(x)
        return x

    def looping(x: Any) -> Any:
        for _ in range(TURNS):
            x, _ = scan(lambda c, y: (ops.sin(c * y), None), x, XS[:, 0])
        return x

    def choosing(x: Any) -> Any:
        for _ in range(TURNS):
            x = cond(x > 0, ops.sin, ops.cos, x)
        return x

    x = np.float64(0.5)
    for function in (calling, looping, choosing):
        assert scan_lengths(rolled(function, x)) == [TURNS]
        assert scan_lengths(rolled(grad(function), x)) == [TURNS, TURNS]


def test_programs_within_a_turn_may_differ_in_names_only(scan_lengths: Any, rolled: Any) -> None:
    def function(factors: Any, x: Any) -> Any:
        for factor in factors:
            x = scan(lambda c, y, factor=factor: (ops.sin(c * factor), None), x, XS)[0]
        return x

    assert scan_lengths(rolled(partial(function, [2.0] * TURNS), np.float64(0.5))) == [TURNS]
    closed = make_jaxpr(partial(function, np.arange(1.0, 6.0)))(np.float64(0.5))
    assert reroll(closed, min_trip_count=2) is closed


def test_a_loop_within_a_loop(scans_in: Any, scan_lengths: Any, rolled: Any) -> None:
    def function(x: Any) -> Any:
        for _ in range(10):
            x = ops.exp(-x)
            for _ in range(12):
                x = ops.sin(x * 2.0)
        return x

    for program, count in ((rolled(function, np.float64(0.3)), 1), (rolled(grad(function), np.float64(0.3)), 2)):
        assert scan_lengths(program)[0] >= 9
        assert scan_lengths(scans_in(program)[0].params["jaxpr"])[0] >= 11
        assert len(scans_in(program)) == count


def test_loops_in_the_programs_of_equations(chain: Any, scan_lengths: Any, rolled: Any) -> None:
    def function(x: Any) -> Any:
        return cond(x > 0, jit(chain, backend="numpy"), lambda x: x * np.arange(4)[2], x)

    closed = rolled(function, np.float64(0.3))
    (call,) = closed.eqns[-1].params["branches"][1].eqns
    assert scan_lengths(call.params["jaxpr"]) == [TURNS]


def test_constants_of_a_loop_in_a_program_of_an_equation(scan_lengths: Any, rolled: Any) -> None:
    def counting(x: Any) -> Any:
        for i in range(TURNS):
            x = ops.sin(x + i)
        return x

    def function(x: Any) -> Any:
        return scan(lambda c, _: (counting(c), None), x, length=2)[0], jit(counting, backend="numpy")(x)

    closed = rolled(function, np.float64(0.3))
    assert [scan_lengths(eqn.params["jaxpr"]) for eqn in closed.eqns] == [[TURNS]] * 2
    np.testing.assert_allclose(
        jit(lambda x: eval_closed_jaxpr(closed, x), backend="numpy")(np.float64(0.3)), function(np.float64(0.3))
    )


# What stays


def test_effects_are_left_alone() -> None:
    beep_p = Primitive("beep_of_reroll", multiple_results=True, effectful=True)
    beep_p.def_impl(lambda x: [])
    beep_p.def_abstract_eval(lambda x: [])

    def function(x: Any) -> Any:
        for _ in range(TURNS):
            x = ops.sin(x)
            beep_p.bind(x)
        return x

    closed = make_jaxpr(function)(np.float64(1.0))
    assert reroll(closed) is closed

    def calling(x: Any) -> Any:
        for _ in range(TURNS):
            x = jit(lambda x: (beep_p.bind(x), ops.sin(x))[1], backend="numpy")(x)
        return x

    closed = make_jaxpr(calling)(np.float64(1.0))
    assert reroll(closed) is closed


def test_a_program_without_repetitions_is_the_same_object() -> None:
    closed = make_jaxpr(lambda x, y: ops.sin(x) * y + ops.cos(y))(H, H)
    assert reroll(closed) is closed
    empty = make_jaxpr(lambda x: x)(H)
    assert reroll(empty, min_trip_count=2) is empty


def test_mistakes_are_named(chain: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"reroll: expected a ClosedJaxpr, got .* of type function; make one"):
        reroll(chain)  # type: ignore[arg-type]
    closed = make_jaxpr(chain)(np.float64(1.0))
    with pytest.raises(ArgumentValueError, match="reroll: expected min_trip_count of at least 2, got 1"):
        reroll(closed, min_trip_count=1)
    with pytest.raises(ArgumentTypeError, match="reroll: expected an integer as min_trip_count"):
        reroll(closed, min_trip_count=2.5)  # type: ignore[arg-type]
