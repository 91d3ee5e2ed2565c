"""Unrolled loops, and their gradients, become loops of as few equations as one turn has."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.autodiff import grad, jvp
from lawful.batching import vmap
from lawful.control_flow import cond, reroll, scan, scan_p
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    ClosedJaxpr,
    JaxprEqn,
    Primitive,
    check_jaxpr,
    eval_closed_jaxpr,
    explain_difference,
    get_aval,
)
from lawful.staging import jit, make_jaxpr

TURNS = 20
random = np.random.default_rng(0)
W = random.normal(size=(3, 3)) * 0.3
H = random.normal(size=3)
XS = random.normal(size=(TURNS, 3))


def rolled(function: Callable[..., Any], *args: Any, min_turns: int = 8) -> ClosedJaxpr:
    """The rolled program of a function: well typed, of the same meaning and types, rolled for good."""
    closed = make_jaxpr(function)(*args)
    found = reroll(closed, min_turns=min_turns)
    check_jaxpr(found)
    assert found.in_avals == closed.in_avals
    assert found.out_avals == closed.out_avals
    assert explain_difference(reroll(found, min_turns=min_turns), found) is None
    leaves = tree.leaves(args)
    for x, y in zip(eval_closed_jaxpr(found, *leaves), eval_closed_jaxpr(closed, *leaves), strict=True):
        assert get_aval(x) == get_aval(y)
        np.testing.assert_array_equal(x, y)
    return found


def loops(closed: ClosedJaxpr) -> list[JaxprEqn]:
    return [eqn for eqn in closed.eqns if eqn.primitive is scan_p]


def stack(rows: list[Any]) -> Any:
    """Returns rows as an array: `numpy.stack`, which `lawful.numpy` would know."""
    return ops.concatenate([ops.reshape(row, (1, *get_aval(row).shape)) for row in rows], 0)


def turns(closed: ClosedJaxpr) -> list[int]:
    return [eqn.params["length"] for eqn in loops(closed)]


def names(closed: ClosedJaxpr) -> list[str]:
    return [eqn.primitive.name for eqn in closed.eqns]


def chain(x: Any, count: int = TURNS) -> Any:
    for _ in range(count):
        x = ops.sin(x * 2.0)
    return x


def rnn(w: Any, h: Any, xs: Any) -> Any:
    for i in range(TURNS):
        h = ops.tanh(w @ h + xs[i])
    return h


def total(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: sum(ops.reduce_sum(x, tuple(range(x.ndim))) for x in tree.leaves(function(*args)))


def gradient(function: Callable[..., Any], count: int = 1) -> Callable[..., Any]:
    return grad(total(function), tuple(range(count)))


# Forward


def test_a_chain_is_one_loop() -> None:
    closed = rolled(chain, np.float64(1.0))
    assert names(closed) == ["scan"]
    assert turns(closed) == [TURNS]
    assert names(loops(closed)[0].params["jaxpr"]) == ["mul", "sin"]


def test_the_loop_has_the_line_of_its_first_turn() -> None:
    closed = make_jaxpr(chain)(np.float64(1.0))
    (loop,) = loops(reroll(closed))
    assert loop.source is not None
    assert loop.source is closed.eqns[0].source


def test_fewer_turns_than_the_threshold_stay() -> None:
    closed = make_jaxpr(partial(chain, count=7))(np.float64(1.0))
    assert reroll(closed) is closed
    assert turns(rolled(partial(chain, count=7), np.float64(1.0), min_turns=7)) == [7]


def test_slices_are_taken_from_the_array() -> None:
    closed = rolled(rnn, W, H, XS)
    assert names(closed) == ["scan"]
    assert loops(closed)[0].invars == closed.jaxpr.invars


@pytest.mark.parametrize("order", ["first to last", "last to first"])
def test_slices_in_either_order(order: str) -> None:
    def function(h: Any, xs: Any) -> Any:
        for i in range(TURNS) if order == "first to last" else reversed(range(TURNS)):
            h = ops.tanh(h + xs[i])
        return h

    closed = rolled(function, H, XS)
    assert names(closed) == ["scan"]
    assert loops(closed)[0].params["reverse"] == (order == "last to first")


def test_slices_in_both_orders() -> None:
    def function(h: Any, xs: Any) -> Any:
        for i in range(TURNS):
            h = ops.tanh(h + xs[i] * xs[TURNS - 1 - i])
        return h

    assert sorted(names(rolled(function, H, XS))) == ["rev", "scan"]


def test_slices_along_another_axis_and_of_several_places() -> None:
    def function(h: Any, xs: Any) -> Any:
        for i in range(TURNS // 2):
            h = ops.tanh(h + xs[:, 2 * i : 2 * i + 2])
        return h

    closed = rolled(function, np.ones((3, 2)), XS.T.copy())
    assert turns(closed) == [TURNS // 2]
    assert len(closed.eqns) <= 4


@pytest.mark.parametrize("step", [2, 3])
def test_several_slices_a_turn(step: int) -> None:
    def function(h: Any, xs: Any) -> Any:
        for i in range(TURNS // 2):
            for j in range(step):
                h = (ops.sin, ops.cos, ops.tanh)[j](h + xs[step * i + j])
        return h

    xs = np.linspace(0.0, 1.0, TURNS // 2 * step * 3).reshape(TURNS // 2 * step, 3)
    closed = rolled(function, H, xs)
    assert names(closed) == ["slice"] * step + ["scan"]
    closed = rolled(gradient(function, 2), H, xs)
    assert len(closed.eqns) < 40


@pytest.mark.parametrize("step", [2, 3])
def test_every_second_slice(step: int) -> None:
    def function(h: Any, xs: Any) -> Any:
        for i in range(TURNS):
            h = ops.sin(h + xs[step * i + 1])
        return h

    xs = np.linspace(0.0, 1.0, TURNS * step * 3).reshape(TURNS * step, 3)
    assert names(rolled(function, H, xs)) == ["slice", "scan"]
    closed = rolled(gradient(function, 2), H, xs)
    assert len(closed.eqns) < 15
    assert names(closed).count("pad") == 1


def test_rows_of_what_a_turn_makes_are_a_part_of_it() -> None:
    def function(s: Any, xs: Any) -> Any:
        for i in range(TURNS):
            s = stack([s[1] * xs[i], ops.sin(s[2]), s[0]])
        return s

    # The first turn may take the rows of an argument.
    assert turns(rolled(function, H, XS[:, 0].copy(), min_turns=3))[0] >= TURNS - 2


def test_rows_that_are_used_again_are_added_in_their_order() -> None:
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
        rolled(gradient(each, 2), H, XS, min_turns=2)


def test_results_that_are_stacked_in_turn() -> None:
    def function(h: Any) -> Any:
        found = []
        for _ in range(TURNS):
            h = ops.sin(h)
            found += [h, ops.cos(h), np.float64(0.5) * h]
        return stack(found)

    assert len(rolled(function, H).eqns) < 12


def test_slices_of_a_part_of_an_array() -> None:
    def function(h: Any, xs: Any) -> Any:
        for i in range(3, TURNS - 2):
            h = ops.sin(h + xs[i, 1] * xs[0, 0])
        return h

    closed = rolled(function, H, XS)
    assert turns(closed) == [TURNS - 5]
    assert len(closed.eqns) <= 6


def test_results_that_are_stacked_again_are_the_stack() -> None:
    def function(w: Any, h: Any, xs: Any) -> Any:
        found = []
        for x in xs:
            h = ops.tanh(w @ h + x)
            found.append(h)
        return stack(found), ops.concatenate(found, 0)

    closed = rolled(function, W, H, XS)
    assert set(names(closed)) == {"scan", "reshape"}
    assert len(closed.eqns) <= 5


@pytest.mark.parametrize("back", [False, True])
def test_two_loops_hand_over_a_stack(back: bool) -> None:
    def function(w: Any, h: Any, xs: Any) -> Any:
        found = []
        for i in range(TURNS):
            h = ops.tanh(w @ h + xs[i])
            found.append(h)
        for x in reversed(found) if back else found:
            h = ops.sin(w @ h + x)
        return h

    closed = rolled(function, W, H, XS)
    assert names(closed) == ["scan", "scan"]
    assert [loop.params["reverse"] for loop in loops(closed)] == [False, back]


def test_separate_arrays_are_stacked_and_results_come_apart() -> None:
    layers = [(random.normal(size=(3, 3)), random.normal(size=3)) for _ in range(12)]

    def function(layers: Any, h: Any) -> Any:
        for w, b in layers:
            h = ops.tanh(h @ w + b)
        return h

    assert len(rolled(function, layers, H).eqns) <= 6
    closed = rolled(gradient(function), layers, H)
    assert turns(closed) == [12, 11]
    assert len(closed.eqns) <= 30


@pytest.mark.parametrize("delay", [1, 2, 3, 4])
def test_what_is_used_some_turns_later(delay: int) -> None:
    def function(*xs: Any) -> Any:
        values = list(xs)
        for _ in range(TURNS):
            values.append(ops.sin(values[-delay]) + 0.5 * values[-1])
        return values[-delay:], values[-1]

    closed = rolled(function, *map(np.float64, range(delay)))
    assert names(closed) == ["scan"]
    assert loops(closed)[0].params["num_carry"] == delay
    assert len(rolled(gradient(function, delay), *map(np.float64, range(delay))).eqns) < 40


def test_first_values_that_agree_in_part_only() -> None:
    def function(u: Any, v: Any, w: Any) -> Any:
        one, other = [u, w], [v, w]
        for _ in range(TURNS):
            y = ops.sin(one[-2]) * other[-2]
            one.append(y)
            other.append(y)
        return y

    (loop,) = loops(rolled(function, *np.linspace(0.5, 1.0, 3)))
    assert loop.params["num_carry"] == 4


def test_what_is_used_too_late_is_no_loop() -> None:
    def function(*xs: Any) -> Any:
        values = list(xs)
        for _ in range(TURNS):
            values.append(ops.sin(values[-6]))
        return values[-1]

    closed = make_jaxpr(function)(*map(np.float64, range(6)))
    for found in (reroll(closed), reroll(closed, min_turns=3)):
        for x, y in zip(eval_closed_jaxpr(found, *range(6)), eval_closed_jaxpr(closed, *range(6)), strict=True):
            np.testing.assert_array_equal(x, y)


def test_literals_that_differ_are_a_constant() -> None:
    def function(x: Any) -> Any:
        for i in range(TURNS):
            x = x * (i + 0.5) + i
        return x

    closed = rolled(function, np.float64(1.0))
    assert names(closed) == ["scan"]
    np.testing.assert_array_equal(sorted(const[3] for const in closed.consts), [3.0, 3.5])


def test_integers_booleans_and_python_numbers_are_carried() -> None:
    def function(x: Any, i: Any, flag: Any) -> Any:
        for _ in range(TURNS):
            flag = ops.ne(flag, x > i)
            x = ops.select(flag, x * 0.5 + i, -x)
            i = i + 1
        return x, i, flag

    assert turns(rolled(function, np.float64(0.3), 0, np.True_))[0] >= TURNS - 1
    assert turns(rolled(function, np.float64(0.3), np.int32(1), np.True_)) == [TURNS]


def test_weak_values_stay_weak() -> None:
    def function(x: Any) -> Any:
        results = []
        for i in range(TURNS):
            x = x * 2.0 + i
            results.append(x)
        return x, results[3], results[-2]

    closed = rolled(function, 0.5)
    assert [aval.weak_type for aval in closed.out_avals] == [True] * 3
    assert turns(closed) == [TURNS]


def test_the_first_turn_may_take_a_python_number() -> None:
    """The others take an array, which is what a turn takes."""
    closed = rolled(chain, 1.0)
    assert names(closed) == ["convert_element_type", "scan"]
    assert turns(closed) == [TURNS]
    assert names(loops(closed)[0].params["jaxpr"]) == ["mul", "sin"]
    assert turns(rolled(grad(chain), 1.0)) == [TURNS, TURNS]


def test_what_every_turn_converts_is_converted_once() -> None:
    """A function takes a Python number as an array."""

    def function(x: Any, w: Any) -> Any:
        for _ in range(TURNS):
            x = ops.sin(x) + ops.cos(w)
        return x

    closed = rolled(function, np.float64(0.5), 0.25)
    assert names(closed) == ["convert_element_type", "scan"]
    assert names(loops(closed)[0].params["jaxpr"]) == ["sin", "cos", "add"]


def test_single_results_are_converted() -> None:
    """So many are needed one by one that all are made in one equation."""

    def function(x: Any) -> Any:
        results = []
        for _ in range(TURNS):
            x = x * 0.5 + 1.0
            results.append(x)
        return [f(results[i]) for i, f in enumerate((ops.sin, ops.cos, ops.tan, ops.exp, ops.tanh))]

    closed = rolled(function, 0.5)
    assert names(closed).count("split") == 1
    assert names(closed).count("slice") == 0


@pytest.mark.parametrize("delay", [1, 2, 3])
def test_the_first_turns_may_take_python_numbers(delay: int) -> None:
    """Of two operands one or the other may be weak: then the result is strong, but of two weak ones it is weak."""

    def function(x: Any, y: Any, z: Any) -> Any:
        values = [x, y, z][:delay]
        for _ in range(TURNS):
            values.append(ops.sin(values[-1] * values[-delay] + 0.5))
        return values[-1], values[4]

    numbers = (0.5, np.float64(0.25), 0.125), (np.float64(0.5), 0.25, np.float64(0.125)), (0.5, 0.25, 0.125)
    for given in numbers:
        assert turns(rolled(function, *given))[0] >= TURNS - delay


def test_slices_may_be_python_numbers_and_arrays() -> None:
    def function(x: Any, *ys: Any) -> Any:
        for y in ys:
            x = ops.sin(x * y)
        return x

    ys = [0.1 * i if i % 3 else np.float64(i) for i in range(TURNS)]
    assert turns(rolled(function, np.float64(1.0), *ys)) == [TURNS]
    assert turns(rolled(function, 1.0, *ys))[0] >= TURNS - 1


def test_results_may_be_python_numbers_and_arrays() -> None:
    ys = [0.1 * i if i % 3 else np.float64(i) for i in range(TURNS)]
    closed = rolled(lambda *ys: [y * 2.0 for y in ys], *ys)
    assert [aval.weak_type for aval in closed.out_avals] == [i % 3 != 0 for i in range(TURNS)]


def test_turns_that_compute_the_same_may_differ_in_weakness() -> None:
    """A product with a Python number, or an array of the same value, computes the same."""

    def function(x: Any) -> Any:
        return [x * (2.0 if i % 2 else np.float64(2.0)) for i in range(TURNS)]

    closed = rolled(function, 0.5)
    assert [aval.weak_type for aval in closed.out_avals] == [i % 2 == 1 for i in range(TURNS)]
    assert names(closed).count("mul") == 1


def test_complex_numbers() -> None:
    def function(z: Any) -> Any:
        for _ in range(TURNS):
            z = z * z * 0.3 + (0.1 + 0.2j)
        return z

    assert turns(rolled(function, np.complex128(0.1 + 0.1j))) == [TURNS]
    assert turns(rolled(grad(lambda x: ops.real(function(x * (1 + 1j)))), np.float64(0.3))) == [TURNS, TURNS]


def test_turns_that_compute_the_same_are_computed_once() -> None:
    def function(x: Any) -> Any:
        return [ops.sin(x) * 2.0 for _ in range(TURNS)]

    assert names(rolled(function, np.float64(1.0))) == ["sin", "mul"]


def test_what_only_the_last_turn_is_asked_for_is_not_stacked() -> None:
    def function(x: Any) -> Any:
        y = x
        for _ in range(TURNS):
            y = ops.cos(x)
            x = ops.sin(x)
        return y

    (loop,) = loops(rolled(function, XS))
    assert [var.aval.shape for var in loop.outvars] == [XS.shape] * 2


# Programs within


def test_calls_loops_and_branches_within_a_turn() -> None:
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
        assert turns(rolled(function, x)) == [TURNS]
        assert turns(rolled(grad(function), x)) == [TURNS, TURNS]


def test_programs_within_a_turn_may_differ_in_names_only() -> None:
    def function(factors: Any, x: Any) -> Any:
        for factor in factors:
            x = scan(lambda c, y, factor=factor: (ops.sin(c * factor), None), x, XS)[0]
        return x

    assert turns(rolled(partial(function, [2.0] * TURNS), np.float64(0.5))) == [TURNS]
    closed = make_jaxpr(partial(function, np.arange(1.0, 6.0)))(np.float64(0.5))
    assert reroll(closed, min_turns=2) is closed


def test_a_loop_within_a_loop() -> None:
    def function(x: Any) -> Any:
        for _ in range(10):
            x = ops.exp(-x)
            for _ in range(12):
                x = ops.sin(x * 2.0)
        return x

    for program, count in ((rolled(function, np.float64(0.3)), 1), (rolled(grad(function), np.float64(0.3)), 2)):
        assert turns(program)[0] >= 9
        assert turns(loops(program)[0].params["jaxpr"])[0] >= 11
        assert len(loops(program)) == count


def test_loops_in_the_programs_of_equations() -> None:
    def function(x: Any) -> Any:
        return cond(x > 0, jit(chain, backend="numpy"), lambda x: x * np.arange(4)[2], x)

    closed = rolled(function, np.float64(0.3))
    (call,) = closed.eqns[-1].params["branches"][1].eqns
    assert turns(call.params["jaxpr"]) == [TURNS]


def test_constants_of_a_loop_in_a_program_of_an_equation() -> None:
    def counting(x: Any) -> Any:
        for i in range(TURNS):
            x = ops.sin(x + i)
        return x

    def function(x: Any) -> Any:
        return scan(lambda c, _: (counting(c), None), x, length=2)[0], jit(counting, backend="numpy")(x)

    closed = rolled(function, np.float64(0.3))
    assert [turns(eqn.params["jaxpr"]) for eqn in closed.eqns] == [[TURNS]] * 2
    np.testing.assert_allclose(
        jit(lambda x: eval_closed_jaxpr(closed, x), backend="numpy")(np.float64(0.3)), function(np.float64(0.3))
    )


# Gradients


def test_the_gradient_of_a_chain_takes_the_stack_backwards() -> None:
    closed = rolled(grad(chain), np.float64(1.0))
    assert names(closed) == ["scan", "scan"]
    assert [loop.params["reverse"] for loop in loops(closed)] == [False, True]
    residuals = loops(closed)[0].outvars[-1]
    assert residuals in loops(closed)[1].invars
    closed = rolled(grad(chain), 1.0)  # its first turn has a Python number, and stands alone in both directions
    assert len(closed.eqns) <= 14


def test_the_gradient_of_a_shared_weight_is_carried() -> None:
    closed = rolled(gradient(rnn, 3), W, H, XS)
    assert len(loops(closed)) == 2
    assert len(closed.eqns) <= 22
    assert "pad" not in names(closed)


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {}


def program(*args: Any) -> Any:
    def declared(function: Callable[..., Any]) -> Any:
        PROGRAMS[function.__name__] = function, args
        return function

    return declared


@program(np.float64(0.5), np.float64(0.01))
def runge_kutta(x: Any, dt: Any) -> Any:
    def f(x: Any) -> Any:
        return ops.sin(x) - x * x

    for _ in range(30):
        k1 = f(x)
        k2 = f(x + dt / 2 * k1)
        k3 = f(x + dt / 2 * k2)
        k4 = f(x + dt * k3)
        x = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return x


@program(W, H)
def power_iteration(a: Any, v: Any) -> Any:
    for _ in range(30):
        v = a @ v
        v = v / ops.sqrt(ops.reduce_sum(v * v, (0,)))
    return v


@program(np.float64(0.5), np.float64(0.1))
def momentum(x: Any, v: Any) -> Any:
    for _ in range(30):
        v = 0.9 * v - 0.1 * ops.sin(x)
        x = x + v
    return x


@program(np.float64(0.5), np.float64(0.1))
def leapfrog(x: Any, v: Any) -> Any:
    for _ in range(30):
        v = v - 0.05 * ops.sin(x)
        x = x + 0.1 * v
        v = v - 0.05 * ops.sin(x)
    return x, v


@program(H)
def euler_of_three(s: Any) -> Any:
    for _ in range(30):
        x, y, z = s[0], s[1], s[2]
        s = s + 0.01 * stack([10.0 * (y - x), x * (28.0 - z) - y, x * y - z])
    return s


@program(XS)
def assignment(x: Any) -> Any:
    for i in range(TURNS):
        x = x.at[i].set(x[0] * 2.0)
    return x


@program(W, H, XS)
def recurrent(w: Any, h: Any, xs: Any) -> Any:
    return rnn(w, h, xs)


@program(XS[:, 0].copy())
def running_sum(x: Any) -> Any:
    s = x[0]
    for i in range(1, TURNS):
        s = s + x[i]
    return s


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_and_their_gradients_become_small(name: str) -> None:
    function, args = PROGRAMS[name]
    assert len(rolled(function, *args).eqns) <= 10
    closed = make_jaxpr(gradient(function, len(args)))(*args)
    found = rolled(gradient(function, len(args)), *args)
    assert len(found.eqns) < min(len(closed.eqns) / 3, 95)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_rolled_program_is_transformed_as_the_unrolled_one(name: str) -> None:
    function, args = PROGRAMS[name]
    compiled = jit(function, passes=(reroll,), backend="numpy")
    tangents = tuple(np.ones_like(x) * 0.5 for x in args)
    for one, other in (
        (jvp(compiled, args, tangents), jvp(function, args, tangents)),
        (gradient(compiled, len(args))(*args), gradient(function, len(args))(*args)),
        (vmap(compiled)(*[np.stack([x, x]) for x in args]), vmap(function)(*[np.stack([x, x]) for x in args])),
    ):
        for x, y in zip(tree.leaves(one), tree.leaves(other), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)


def test_second_derivatives() -> None:
    closed = rolled(grad(grad(chain)), np.float64(1.0))
    assert len(closed.eqns) <= 25


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
    assert reroll(empty, min_turns=2) is empty


def test_mistakes_are_named() -> None:
    with pytest.raises(ArgumentTypeError, match=r"reroll: expected a ClosedJaxpr, got .* of type function; make one"):
        reroll(chain)  # type: ignore[arg-type]
    closed = make_jaxpr(chain)(np.float64(1.0))
    with pytest.raises(ArgumentValueError, match="reroll: expected min_turns of at least 2, got 1"):
        reroll(closed, min_turns=1)
    with pytest.raises(ArgumentTypeError, match="reroll: expected an integer as min_turns"):
        reroll(closed, min_turns=2.5)  # type: ignore[arg-type]
