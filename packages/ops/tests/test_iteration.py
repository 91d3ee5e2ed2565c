"""Few elements are iterated one after the other with Python's numbers, to the same bits as many with arrays."""

import itertools
from typing import Any

import numpy as np
import pytest

from lawful.core import ArgumentTypeError, ArgumentValueError
from lawful.ops import _incomplete_beta, _incomplete_gamma
from lawful.ops._iteration import Iteration
from lawful.ops._straight_line import arithmetic, choose, loop_of

ORDERS = (0, 1, 2)
ALGORITHMS = {
    **{
        f"igamma{'c' * upper} order {order}": (_incomplete_gamma._algorithm(order, upper), 2)
        for order, upper in itertools.product(ORDERS, (False, True))
    },
    "betainc": (_incomplete_beta._VALUE, 3),
    **{
        f"betainc orders {orders}": (_incomplete_beta._derivative(orders), 3)
        for orders in itertools.product(ORDERS, ORDERS)
        if any(orders)
    },
}
EDGES = (0.0, -0.0, 5e-324, 1e-300, 1.0, 2.0, 3.0, 30.0, 1e5, -1.0, np.inf, -np.inf, np.nan)


def arguments(count: int) -> list[Any]:
    """Returns positive numbers, and those at which the functions are special, as rows of arguments."""
    random = np.random.default_rng(0)
    positive = random.exponential(3.0, (40, count))
    if count == 3:
        positive[:, 2] = random.uniform(size=40)
    edges = random.choice(EDGES, (40, count))
    return [*np.concatenate([positive, edges]).T]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_one_element_is_as_one_of_many(name: str) -> None:
    algorithm, count = ALGORITHMS[name]
    args = arguments(count)
    with np.errstate(all="ignore"):
        many = algorithm(*args)
        single = [algorithm(*[x[i : i + 1] for x in args]) for i in range(len(args[0]))]
        three = [algorithm(*[x[i : i + 3] for x in args]) for i in range(0, len(args[0]), 3)]
    assert np.isfinite(many).sum() >= 40
    np.testing.assert_array_equal(np.concatenate(single), many)
    np.testing.assert_array_equal(np.concatenate(three), many)


def test_a_division_by_zero_is_that_of_arrays() -> None:
    """Python raises an error where NumPy gives an infinity."""

    def step(active: Any, count: Any, x: Any) -> Any:
        return active & (count < 3), count + 1, choose(active, 1.0 / x, x)

    iteration = Iteration(lambda x: (x == x, np.zeros_like(x), x), step)
    with np.errstate(all="ignore"):
        for x in (np.array([2.0, 0.0, -0.0, 4.0]), np.array([0.0]), np.array(0.0), np.array([2.0])):
            _, count, out = iteration.evaluate(x)
            np.testing.assert_array_equal(count, np.full(x.shape, 4.0))
            np.testing.assert_array_equal(out, x)


def test_no_elements_are_done_at_once() -> None:
    def step(active: Any, x: Any) -> Any:
        raise AssertionError

    for shape in ((0,), (2, 0)):
        active, x = Iteration(lambda x: (x == x, x), step).evaluate(np.zeros(shape))
        assert (active.shape, active.dtype, x.shape, x.dtype) == (shape, bool, shape, np.float64)


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint8, np.float32])
def test_other_dtypes_overflow_and_round_as_in_arrays(dtype: Any) -> None:
    """Python's integers are of any size, and its floats of 64 bits."""

    def step(active: Any, count: Any, x: Any) -> Any:
        return active & (count < 40), count + 1, choose(active, x * 2 + x, x)

    iteration = Iteration(lambda x: (x == x, np.zeros_like(x), x), step)
    x = np.array([3, 5, 7], dtype) if np.issubdtype(dtype, np.integer) else np.array([0.3, 0.5, 0.7], dtype)
    with np.errstate(all="ignore"):
        few, many = iteration.evaluate(x), iteration.evaluate(np.tile(x, 10))
    for one, other in zip(few, many, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(np.tile(one, 10), other)


@pytest.mark.parametrize("method", [0, 1], ids=["series", "fraction"])
def test_steps_of_numbers_are_those_of_series(method: int) -> None:
    """What is not differentiated has steps of its own, which are faster: the first coefficients of the others."""
    a, x = (values[:40] for values in arguments(2))
    numbers, series = (_incomplete_gamma._algorithm(order, False).iterations[method] for order in (0, 1))
    first, second = numbers.start(a, x), series.start(a, x)
    for _ in range(20):
        first, second = numbers.step(*first), series.step(*second)
        for coefficient, pair in zip(first[4:], zip(second[4::2], second[5::2], strict=True), strict=True):
            np.testing.assert_allclose(coefficient, pair[0], rtol=1e-13)


def test_a_step_that_decides_by_a_number_is_told() -> None:
    def step(active: Any, x: Any) -> Any:
        return active & bool(x > 0), x

    with pytest.raises(ArgumentTypeError, match="got a decision by the value of one; decide by `choose`"):
        Iteration(lambda x: (x == x, x), step).evaluate(np.array(1.0))


def test_a_step_of_something_else_than_arithmetic_is_told() -> None:
    with pytest.raises(ArgumentTypeError, match=r"expected Python's numbers beside .*, got array"):
        loop_of(lambda active, x: (active, x + np.array(1.0)), 2)


@pytest.mark.parametrize("constant", [-1.0, -2, True, 1e300, np.inf, -np.inf, 0.1])
def test_the_source_of_a_step_does_what_the_step_does(constant: float) -> None:
    """Each operation, from both sides, of a constant and of another number."""

    def step(active: Any, n: Any, x: Any, y: Any) -> Any:
        numbers = [x + constant, constant + x, x - constant, constant - x, x * constant, constant * x, -x, abs(-x)]
        numbers += [x / constant, constant / x, x - y, y / x]
        truths = [x < constant, constant < x, x <= y, x > y, x >= constant, x == y, x != constant, constant == x]
        for truth in truths:
            active, x = active | (truth & (n < 0)), choose(truth & True | False, x, x + 1.0)
        total = y
        for number in numbers:
            total = total * 0.5 + choose(abs(number) < 1e9, number, 1.0)
        return active & (n < 5), n + 1, x, total

    state = (True, 0.0, 0.7, -1.3)
    with np.errstate(all="ignore"):
        expected = state
        while expected[0]:
            expected = tuple(np.asarray(part)[()] for part in step(*[np.asarray(part) for part in expected]))
    found = loop_of(step, 4)(*state)
    np.testing.assert_array_equal(found, [float(x) for x in expected])
    assert found[1] == 6


def test_a_step_that_changes_nothing_is_told() -> None:
    with pytest.raises(ArgumentValueError, match="expected a step that changes its state"):
        Iteration(lambda x: (x == x, x), lambda active, x: (active, x)).evaluate(np.array(1.0))


SETTINGS = ({"a": 2.0, "b": 5.0}, {"b": 2.0, "a": 5.0}, {"a": 1, "b": True}, {"a": np.float64(3.0), "b": -0.5})


@pytest.mark.parametrize("shapes", [((3,), (3,)), ((2, 1), (1, 3)), ((), ()), ((0,), (0,)), ((3,), ()), ((17,), (17,))])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.bool_])
def test_arithmetic_is_what_the_function_gives(shapes: Any, dtype: Any) -> None:
    """Of a few numbers of one shape it is another path: of settings by name, and of two numbers of arguments."""

    def function(x: Any, y: Any = 1.0, *, a: Any, b: Any) -> Any:
        return choose(x * a > y, x * a - b / (y + 0.5), abs(y) * -1.0)

    both = arithmetic(function)
    x, y = (np.linspace(0.0, 2.0, int(np.prod(shape))).reshape(shape).astype(dtype) for shape in shapes)
    with np.errstate(all="ignore"):
        for settings in SETTINGS * 2:
            for args in ((x, y), (x,), (y, x)):
                found, expected = both(*args, **settings), function(*args, **settings)
                np.testing.assert_array_equal(found, expected)
                assert np.asarray(found).dtype == np.asarray(expected).dtype
