"""Few numbers are evaluated one by one in Python, to the same bits as by NumPy."""

import operator
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import ops
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    ConcretizationTypeError,
    Primitive,
    TracerArrayConversionError,
    plain,
)
from lawful.ops._fast.numbers import OneByOne, source_of
from lawful.ops._special.gamma import incomplete_beta as _incomplete_beta
from lawful.ops._special.gamma import incomplete_gamma as _incomplete_gamma
from lawful.ops._special.gamma import log_gamma as _gamma
from lawful.ops._support.double import Evaluated
from lawful.ops._support.iteration import Iteration

EDGES = (0.0, -0.0, 5e-324, 1e-300, 0.5, 1.0, 2.0, 3.0, 12.0, 30.0, 1e5, -0.3, -1.0, -2.5, np.inf, -np.inf, np.nan)
ORDERS = {
    "beta_density": [{"orders": orders} for orders in ((0, 0, 0), (0, 0, 1), (1, 0, 0), (1, 1, 1))],
    "digamma_mean": [{"order": order, "power": power} for order, power in ((1, 0), (2, 0), (2, 1))],
    "gamma_density": [{"orders": orders} for orders in ((0, 0), (0, 2), (1, 0), (1, 1))],
    "igamma_grad_a": [{"order": order} for order in (1, 2, 3)],
    "log_gamma_quotient_derivative": [{"order": order} for order in (0, 1, 2, 3)],
    "spence_derivative": [{"order": order} for order in (0, 1, 2)],
    "zeta_derivative": [{"order": order} for order in (1, 2, 3)],
    "regularized_incomplete_beta_derivative": [{"orders": orders} for orders in ((1, 0), (0, 1), (1, 1), (2, 0))],
}

pytestmark = pytest.mark.fast


PRIMITIVES = (
    *[getattr(op, "primitive", op) for op in (getattr(ops, name) for name in ops.__all__)],
    *(_incomplete_gamma.igamma_grad_a_p, _gamma.zeta_derivative_p),
    *(_incomplete_beta.regularized_incomplete_beta_p, _incomplete_beta.regularized_incomplete_beta_derivative_p),
)


def compiled_primitives() -> list[Any]:
    """Returns every primitive that evaluates few numbers one by one, with parameters for each order."""
    found = {p.name: p for p in PRIMITIVES if isinstance(p, Primitive) and reference_of(p) is not None}
    return [
        pytest.param(p, params, id=f"{name} {params}") for name, p in found.items() for params in ORDERS.get(name, [{}])
    ]


def reference_of(primitive: Primitive) -> Any:
    reference = primitive.declaration and primitive.declaration.reference
    return reference if isinstance(reference, Evaluated) else None


def arguments(primitive: Primitive, size: int = 200) -> list[Any]:
    """Returns numbers of the domain, positive ones, and special values, as rows of arguments."""
    random = np.random.default_rng(0)
    assert primitive.declaration is not None
    domain = primitive.declaration.domain
    # Some domains are outside of the moderate numbers.
    ends = [(max(d.low, -5.0), min(d.high, 5.0)) if d.low < 5.0 else (d.low, d.high) for d in domain]
    inside = np.stack([random.uniform(low, high, size) for low, high in ends], 1)
    if primitive.name == "polygamma":
        inside[:, 0] = np.rint(inside[:, 0])
    positive = random.exponential(3.0, inside.shape)
    return [*np.concatenate([inside, positive, random.choice(EDGES, inside.shape)]).T]


def in_pieces(function: Callable[..., Any], args: list[Any], size: int) -> Any:
    return np.concatenate([function(*[x[i : i + size] for x in args]) for i in range(0, len(args[0]), size)])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("primitive", "params"), compiled_primitives())
def test_one_by_one_equals_evaluation_of_arrays(primitive: Primitive, params: Any, dtype: Any) -> None:
    # A derivative of higher order has some thousand operations, and float32 is rounded from float64.
    size = 30 if params.get("order", 0) > 1 else 200 if dtype is np.float64 else 50
    args = [np.ascontiguousarray(x, dtype) for x in arguments(primitive, size)]

    def function(*args: Any) -> Any:
        return reference_of(primitive)(*args, **params)

    with np.errstate(all="ignore"):
        many = function(*args)
        assert np.isfinite(many).sum() >= size
        assert many.dtype == dtype
        # On some processors NumPy's power of many numbers has another last bit than that of one.
        rtol = 2e-15 if primitive.name == "expn" else 0.0
        for piece in (1, 3, 64):
            np.testing.assert_allclose(in_pieces(function, args, piece), many, rtol=rtol, atol=0.0)


@pytest.mark.parametrize(("primitive", "params"), compiled_primitives())
def test_one_by_one_of_single_numbers_equals_arrays(primitive: Primitive, params: Any) -> None:
    columns = arguments(primitive, 20)
    reference = reference_of(primitive)
    with np.errstate(all="ignore"):
        for _ in range(20):  # enough calls that code is generated
            reference(*[float(x[0]) for x in columns], **params)
        for i in range(len(columns[0])):
            (expected,) = reference(*[x[i : i + 1] for x in columns], **params)
            for convert in (float, np.float64):
                found = reference(*[convert(x[i]) for x in columns], **params)
                assert type(found) is np.float64
                assert bits(found) == bits(expected)
                with plain():
                    assert bits(reference(*[convert(x[i]) for x in columns], **params)) == bits(expected)


def test_one_by_one_covers_all_special_functions() -> None:
    found = {str(case.id).split(" ")[0] for case in compiled_primitives()}
    assert len(found) >= 21
    assert found >= {"lgamma", "digamma", "polygamma", "zeta", "igamma", "igammac", "erf_inv", "ndtri", "bessel_i1e"}


@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3), (0,), (100,)])
def test_one_by_one_result_type_equals_numpy(shape: tuple[int, ...]) -> None:
    for dtype in (np.float64, np.float32, np.int64):
        x = np.full(shape, 2, dtype)
        expected = np.full(shape, np.float64(0.42278433509846713), np.float64 if dtype == np.int64 else dtype)
        for _ in range(20):  # enough calls that code is generated
            found = ops.digamma(x)
            np.testing.assert_allclose(found, expected, rtol=1e-6)
            assert found.dtype == expected.dtype
            assert type(found) is type(expected[()])


# Programs

UNARY: tuple[Callable[..., Any], ...] = (
    *(operator.neg, operator.abs, np.log, np.exp, np.sqrt, np.floor, np.sign, np.square, np.log1p, np.tan, np.rint),
    *(lambda x: np.zeros_like(x), lambda x: np.full_like(x, 2.5), ops.lgamma, ops.digamma, lambda x: x**3),
)
# Without `numpy.power`, which takes a square root for a scalar exponent 1/2, but not for an array of them.
BINARY = (operator.add, operator.sub, operator.mul, operator.truediv, np.minimum, np.maximum, np.arctan2)
COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
LOGICAL = (operator.and_, operator.or_, operator.xor)
CONSTANTS = (0.0, -0.0, 1.0, -2.5, 3, np.float64(0.1), np.array(7.0), np.inf, -np.inf, np.nan, True)
#: A step of a program: its operation, and its operands, counted from the last number.
STEP = st.tuples(
    st.sampled_from(["unary", "binary", "where", "constant", "loop"]), st.integers(0, 1000), *[st.integers(0, 5)] * 4
)


def program_of(steps: list[tuple[Any, ...]]) -> Callable[..., Any]:
    """Returns a function of two arrays."""

    def function(x: Any, y: Any) -> Any:
        numbers = [x, y]
        out: Any
        for kind, choice, *places in steps:
            a, b, c, d = (numbers[-1 - place % len(numbers)] for place in places)
            if kind == "unary":
                out = UNARY[choice % len(UNARY)](a)
            elif kind == "binary":
                out = BINARY[choice % len(BINARY)](a, b)
            elif kind == "where":
                compared = COMPARISONS[choice % len(COMPARISONS)](a, b)
                other = ~(c > 0) if choice % 2 else b <= d
                out = np.where(LOGICAL[choice % len(LOGICAL)](compared, other), c, d)
            elif kind == "constant":
                out = BINARY[choice % 4](a, CONSTANTS[choice % len(CONSTANTS)])
            else:
                *others, out = loop_of(a, b, choice % 7)
                numbers += others
            numbers.append(out + 0.0)
        return numbers[-1]

    return function


def loop_of(a: Any, b: Any, trip_count: int) -> list[Any]:
    def step(active: Any, n: Any, x: Any, y: Any, z: Any) -> Any:
        following = np.where(x > 0, x - y * 0.5, np.log1p(np.abs(x)) + z)
        kept = [np.where(active, new, old) for new, old in ((n + 1, n), (following, x), (z / (n + 2), z))]
        return active & (n < trip_count) & (abs(following) < 1e6), *kept[:2], y, kept[2]

    iteration = Iteration(lambda a, b: (a == a, np.zeros_like(a), a, b, b), step)
    _, n, x, _, z = iteration.evaluate(a, b)
    return [x + n, np.where(n > 1, z, 0.0), n + 0.0]


def bits(x: Any) -> Any:
    """Returns the bits of numbers, equal for all NaNs, and different for zeros of both signs."""
    x = np.asarray(x, np.float64)
    return np.where(x == x, x, np.nan).view(np.int64) * (x == x)


@given(st.lists(STEP, min_size=1, max_size=12))
def test_one_by_one_of_generated_steps_equals_arrays(steps: list[tuple[Any, ...]]) -> None:
    program = program_of(steps)
    x, y = (
        np.concatenate([np.linspace(-3.0, 4.0, 60), EDGES]),
        np.concatenate([np.geomspace(0.1, 9.0, 60), EDGES[::-1]]),
    )
    with np.errstate(all="ignore"):
        expected = np.broadcast_to(program(x, y), x.shape)
        of_one = OneByOne(program).of_numbers(2).function
        for i, (a, b) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
            try:
                found = of_one(a, b)
            except ArithmeticError:  # NumPy evaluates these
                continue
            assert type(found) is float
            assert bits(found) == bits(expected[i]), (a, b, source_of(program, 2))


def test_source_of_computes_only_the_chosen_branch() -> None:
    """The loop is in the branch that needs it, with the numbers that only the loop needs."""
    called: list[float] = []

    def double(x: float) -> float:
        called.append(x)
        return 2 * x

    def function(x: Any) -> Any:
        start = x._trace.call(double, x) if not isinstance(x, np.ndarray) else 2 * x
        iteration = Iteration(lambda a: (a == a, a), lambda active, a: (a < 100, a * 3))
        return np.where(x > 0, iteration.evaluate(start)[1], -1.0)

    of_one = OneByOne(function).of_numbers(1).function
    assert of_one(-1.0) == -1.0
    assert not called
    assert of_one(1.0) == 162.0 * 3
    assert called == [1.0]


def test_source_of_hoists_a_loop_that_branches_share() -> None:
    def function(x: Any) -> Any:
        iteration = Iteration(
            lambda x: (x == x, x, x),
            lambda active, a, b: (a < 50, np.where(active, 3 * a, a), np.where(active, b + 1, b)),
        )
        _, a, b = iteration.evaluate(x)
        return np.where(x > 2, a, 0.0) + np.where(x < 4, b, 0.0) + np.where(True, a, b) + np.where(np.False_, a, b)

    of_one = OneByOne(function).of_numbers(1).function
    x = np.array([1.0, 3.0, 5.0])
    np.testing.assert_array_equal(list(map(of_one, x.tolist())), function(x))


def test_one_by_one_division_by_zero() -> None:
    """Python raises an error where NumPy returns infinity."""
    function = OneByOne(lambda x, y: x / y + 1)
    with np.errstate(all="ignore"):
        for _ in range(12):
            np.testing.assert_array_equal(function(np.array([1.0, -1.0]), np.array([0.0, 2.0])), [np.inf, 0.5])


def test_one_by_one_without_numbers() -> None:
    called: list[Any] = []
    function = OneByOne(lambda x, y: called.append(x))
    for shape in ((0,), (2, 0, 3)):
        found = function(np.zeros(shape), np.zeros(shape))
        assert found.shape == shape
        assert found.dtype == np.float64
    assert not called


def test_one_by_one_of_few_calls_is_not_compiled() -> None:
    calls: list[Any] = []

    def function(x: Any) -> Any:
        calls.append(x)
        return x * 2 + 1

    one_by_one = OneByOne(function)
    for _ in range(30):
        assert one_by_one(np.array(3.0)) == 7.0
    assert [type(x) for x in calls[:8]] == [np.ndarray] * 8
    assert len(calls) == 9


def calls_of_arrays(function: Callable[..., Any], size: int) -> int:
    """Returns how often a compiled function is called with arrays of so many numbers."""
    called: list[Any] = []

    def counted(x: Any) -> Any:
        called.append(x)
        return function(x)

    one_by_one = OneByOne(counted)
    one_by_one.of_numbers(1)
    called.clear()
    one_by_one(np.linspace(0.0, 1.0, size))
    return len(called)


def test_one_by_one_leaves_many_numbers_to_numpy() -> None:
    """NumPy is faster for fewer numbers if the function is short, and for more if it iterates."""
    iteration = Iteration(lambda x: (x < 1, x), lambda active, x: (x + 0.3 < 1, np.where(active, x + 0.3, x)))
    for size, twice, logs, polynomial, loop in (
        *((1, 0, 0, 0, 0), (2, 0, 0, 0, 0), (8, 1, 1, 0, 0), (60, 1, 1, 1, 0), (65, 1, 1, 1, 1)),
    ):
        assert calls_of_arrays(lambda x: x * 2, size) == twice
        assert calls_of_arrays(lambda x: sum([np.log(x + k) for k in range(1, 6)]), size) == logs
        assert calls_of_arrays(lambda x: sum([x * k + 1 for k in range(2, 30)]), size) == polynomial
        assert calls_of_arrays(lambda x: iteration.evaluate(x)[1], size) == loop


@pytest.mark.parametrize("shapes", [((3,), ()), ((2, 1), (1, 3)), ((3,), (1, 3)), ((0,), (1,))])
def test_evaluated_in_double_broadcasts(shapes: Any) -> None:
    function = OneByOne(lambda x, y: x * 2 + y)
    x, y = (np.arange(np.prod(shape, dtype=int)).reshape(shape) + 0.5 for shape in shapes)
    for _ in range(12):
        np.testing.assert_array_equal(function(x, y), x * 2 + y)
        np.testing.assert_array_equal(ops.igamma(x + 1, y), ops.igamma(*np.broadcast_arrays(x + 1, y)))


def test_evaluated_in_double_promotes() -> None:
    wide, narrow = np.array([0.1, 2.3]), np.array([1.7, 0.9], np.float32)
    for _ in range(12):
        for one, other in ((wide, narrow), (narrow, wide)):
            found = ops.igamma(one, other)
            assert found.dtype == np.float64
            np.testing.assert_array_equal(found, ops.igamma(one.astype(float), other.astype(float)))


@pytest.mark.parametrize("function", [*UNARY, *BINARY, *COMPARISONS])
def test_one_by_one_at_special_numbers(function: Callable[..., Any]) -> None:
    count = 1 if function in UNARY else 2
    x, y = (np.ravel(part) for part in np.meshgrid(EDGES, EDGES))
    args = [x, y][:count]
    of_one = OneByOne(function).of_numbers(count).function
    compared = np.zeros(x.shape, bool)
    with np.errstate(all="ignore"):
        expected = function(*args)
        for i, numbers in enumerate(zip(*[part.tolist() for part in args], strict=True)):
            with suppress(ArithmeticError):  # NumPy evaluates these
                np.testing.assert_array_equal(of_one(*numbers), expected[i])
                compared[i] = True
    assert np.mean(compared) > 0.8  # divisions by zero are not compared


def test_one_by_one_distinguishes_settings() -> None:
    function = OneByOne(lambda x, *, by: x * by)
    for _ in range(12):
        for by in (2.0, 3.0, -1):
            np.testing.assert_array_equal(function(np.array([1.0, 2.0]), by=by), [by, 2.0 * by])


def test_one_by_one_refuses_decisions_by_numbers() -> None:
    with pytest.raises(ConcretizationTypeError, match="expected a concrete value"):
        OneByOne(lambda x: x if x > 0 else -x).of_numbers(1)


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (lambda x: x + np.array([1.0, 2.0]), r"f64\[2\]"),
        (lambda x: ops.reshape(x, (1,)), r"f64\[1\]"),
        (lambda x: x.astype(int), r"i64\[\]"),
        (lambda x: x.astype(np.float32), r"f32\[\]"),
    ],
)
def test_one_by_one_refuses_arrays_and_other_dtypes(function: Any, what: str) -> None:
    with pytest.raises(ArgumentTypeError, match=f"made of elementwise ops, where and iterations, got .*{what}"):
        OneByOne(function).of_numbers(1)


@pytest.mark.parametrize("function", [np.asarray, lambda x: np.add.reduce([x, x])])
def test_one_by_one_refuses_conversions_to_arrays(function: Any) -> None:
    with pytest.raises(TracerArrayConversionError, match="expected a NumPy array, got a tracer"):
        OneByOne(function).of_numbers(1)


def test_one_by_one_refuses_steps_without_change() -> None:
    iteration = Iteration(lambda x: (x == x, x), lambda active, x: (active, x))
    with pytest.raises(ArgumentValueError, match="expected a step that changes its state"):
        OneByOne(lambda x: iteration.evaluate(x)[1]).of_numbers(1)
