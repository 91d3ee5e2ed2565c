"""``jet`` gives what nested ``jvp`` gives: on every op with a rule of its own, and through every construct."""

from collections.abc import Callable
from math import factorial
from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.autodiff import checkpoint, grad, jvp
from lawful.batching import vmap
from lawful.control_flow import cond, scan, while_loop
from lawful.core import ArgumentTypeError, ArgumentValueError, ConcretizationTypeError, current, eval_trace, get_aval
from lawful.staging import jit, make_jaxpr
from lawful.taylor import jet

ORDER = 4


@pytest.fixture(autouse=True)
def _the_trace_is_restored() -> Any:
    yield
    assert current.trace is eval_trace, "a test left a trace behind"


def by_jvps(function: Callable[..., Any], x: Any, terms: list[Any]) -> list[Any]:
    """Returns the value of a function at the start of a curve, and its derivatives along the curve."""

    def tower(order: int) -> Callable[[Any], list[Any]]:
        if order == 0:
            return lambda t: [function(x + sum(t**k * (1 / factorial(k)) * v for k, v in enumerate(terms, 1)))]

        def raised(t: Any) -> list[Any]:
            values, tangents = jvp(tower(order - 1), (t,), (1.0,))
            return [*values, tangents[-1]]

        return raised

    return tower(len(terms))(0.0)


def require_equal(got: Any, expected: Any, rtol: float = 1e-8) -> None:
    assert tree.structure(got) == tree.structure(expected)
    for x, y in zip(tree.leaves(got), tree.leaves(expected), strict=True):
        assert get_aval(x).shape == get_aval(y).shape
        assert get_aval(x).dtype == get_aval(y).dtype
        np.testing.assert_allclose(x, y, rtol=rtol, atol=rtol)


# For each function where its argument may lie.
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], float, float]] = {
    "abs": (ops.abs, -2, -0.3),
    "acos": (ops.acos, -0.8, 0.8),
    "acosh": (ops.acosh, 1.5, 3),
    "asin": (ops.asin, -0.8, 0.8),
    "asinh": (ops.asinh, -2, 2),
    "atan": (ops.atan, -2, 2),
    "atanh": (ops.atanh, -0.7, 0.7),
    "cbrt": (ops.cbrt, 0.5, 2),
    "cos": (ops.cos, -2, 2),
    "cosh": (ops.cosh, -1, 1),
    "cube": (lambda x: ops.integer_pow(x, 3), -1, 1),
    "cumprod": (ops.cumprod, -1, 1),
    "cumsum": (ops.cumsum, -1, 1),
    "div": (lambda x: x / (1.0 + x * x), -2, 2),
    "dot": (lambda x: ops.dot(x, ops.sin(x)), -1, 1),
    "erf": (ops.erf, -1, 1),
    "erfc": (ops.erfc, -1, 1),
    "exp": (ops.exp, -1, 1),
    "exp2": (ops.exp2, -1, 1),
    "expm1": (ops.expm1, -1, 1),
    "floor": (lambda x: ops.floor(x) * x, 0.2, 0.8),
    "inverse square": (lambda x: ops.integer_pow(x, -2), 0.5, 2),
    "lgamma": (ops.lgamma, 1, 3),
    "log": (ops.log, 0.5, 2),
    "log1p": (ops.log1p, -0.5, 2),
    "logistic": (ops.logistic, -2, 2),
    "max": (lambda x: ops.max(x, 0.5), 0.6, 2),
    "pow of a number": (lambda x: ops.pow(2.5, x), -1, 1),
    "pow of itself": (lambda x: ops.pow(x, x), 0.5, 2),
    "pow to a number": (lambda x: ops.pow(x, 2.5), 0.5, 2),
    "reduce_max": (lambda x: ops.reduce_max(ops.sin(x), (0,)), -1, 1),
    "reduce_prod": (lambda x: ops.reduce_prod(x, (0,)), -1, 1),
    "rsqrt": (ops.rsqrt, 0.5, 2),
    "select": (lambda x: ops.select(x > 0, ops.exp(x), x * x), -1, 1),
    "shapes": (lambda x: ops.concatenate([ops.rev(x, (0,)), ops.pad(x, x[0], [(1, 0, 0)])], 0), -1, 1),
    "sin": (ops.sin, -2, 2),
    "sinh": (ops.sinh, -1, 1),
    "sort": (lambda x: ops.sort(ops.sin(x)), -1, 1),
    "sqrt": (ops.sqrt, 0.5, 2),
    "square": (ops.square, -1, 1),
    "tan": (ops.tan, -1, 1),
    "tanh": (ops.tanh, -2, 2),
    # Constructs
    "checkpoint": (checkpoint(lambda x: ops.sin(x) * x), -1, 1),
    "cond": (lambda x: cond(x[0] > 0, ops.sin, ops.exp, x), -1, 1),
    "jit": (jit(lambda x: ops.sin(x) * x), -1, 1),
    "scan": (lambda x: scan(lambda c, y: (ops.tanh(c + y), c * y), x[0], x), -1, 1),
    "while": (lambda x: while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, ops.sin(s[1]) * 1.1), (0, x))[1], -1, 1),
    "jvp": (lambda x: jvp(lambda y: ops.sin(y) * y, (x,), (x,))[1], -1, 1),
    "grad": (lambda x: grad(lambda y: ops.reduce_sum(ops.sin(y) * y, (0,)))(x), -1, 1),
    "vmap": (vmap(lambda y: ops.exp(y) * y), -1, 1),
    "vmap of while": (vmap(lambda y: while_loop(lambda s: s < 2, lambda s: ops.exp(s) * 1.1, y)), -1, 1),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_jet_is_nested_jvp(name: str) -> None:
    function, low, high = FUNCTIONS[name]
    for seed in range(ORDER + 2):
        random = np.random.default_rng(seed)
        x = random.uniform(low, high, 3)
        terms = [random.standard_normal(3) * (k != seed) for k in range(1, ORDER + 1)]  # one of them may be zero
        value, derivatives = jet(function, (x,), (terms,))
        for got, expected in zip([value, *derivatives], by_jvps(function, x, terms), strict=True):
            require_equal(got, expected, 1e-6)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_jet_compiled_and_batched(name: str) -> None:
    function, low, high = FUNCTIONS[name]
    random = np.random.default_rng(0)
    batch = [random.uniform(low, high, (2, 3)), *random.standard_normal((3, 2, 3))]

    def flat(x: Any, *terms: Any) -> Any:
        return jet(function, (x,), (list(terms),))

    by_element = [flat(*[x[i] for x in batch]) for i in range(2)]
    stacked = tree.map(lambda *xs: np.stack([np.asarray(x) for x in xs]), *by_element)
    require_equal(tree.map(np.asarray, vmap(flat)(*batch)), stacked)
    require_equal(tree.map(np.asarray, jit(vmap(flat))(*batch)), stacked)


def test_jet_derivative_of_a_derivative_along_a_line() -> None:
    def third(x: Any) -> Any:
        return jet(ops.sin, (x,), ([1.0, 0.0, 0.0],))[1][2]

    assert third(0.3) == pytest.approx(-np.cos(0.3), rel=1e-14)
    assert grad(third)(0.3) == pytest.approx(np.sin(0.3), rel=1e-14)
    assert jvp(third, (0.3,), (2.0,))[1] == pytest.approx(2 * np.sin(0.3), rel=1e-14)


def test_jet_power_at_zero() -> None:
    assert jet(lambda x: x**3, (0.0,), ([1.0, 0.0, 0.0],)) == (0.0, [0.0, 0.0, 6.0])
    value, derivatives = jet(lambda x: ops.pow(x, 2.0), (0.0,), ([1.0, 0.0, 0.0],))
    assert (value, derivatives) == (0.0, [0.0, 2.0, 0.0])


def test_jet_two_arguments_of_which_one_stands_still() -> None:
    value, derivatives = jet(lambda x, y: x * y, (2.0, 3.0), ([1.0, 0.0], [0.0, 0.0]))
    assert (value, derivatives) == (6.0, [3.0, 0.0])
    value, derivatives = jet(lambda x, y: x * y, (2.0, 3.0), ([1.0, 0.0], [1.0, 0.0]))
    assert (value, derivatives) == (6.0, [5.0, 2.0])


def test_jet_coefficients_instead_of_derivatives() -> None:
    value, coefficients = jet(ops.exp, (0.0,), ([1.0, 0.0, 0.0],), factorial_scaled=False)
    assert value == 1.0
    np.testing.assert_allclose(coefficients, [1.0, 1 / 2, 1 / 6])


def test_jet_trees_integers_and_constants() -> None:
    def function(tree_in: Any) -> Any:
        return {"y": tree_in["x"] * tree_in["n"], "n": tree_in["n"] + 1, "c": 2.0}

    value, [first] = jet(function, ({"x": np.float64(3.0), "n": 2},), ([{"x": np.float64(1.0), "n": 0}],))
    assert value == {"y": 6.0, "n": 3, "c": 2.0}
    assert first == {"y": 2.0, "n": 0, "c": 0.0}


@pytest.mark.parametrize("dtype", ["float32", "complex64", "complex128", "float16"])
def test_jet_dtypes_stay(dtype: str) -> None:
    x, v = np.ones(3, dtype), np.full(3, 0.5, dtype)
    for function in (lambda x: ops.exp(x) * x, lambda x: x / (x + 1.0), ops.tanh, lambda x: ops.pow(x, 2.0)):
        value, derivatives = jet(function, (x,), ([v, v],))
        assert {get_aval(a).dtype.name for a in (value, *derivatives)} == {dtype}


def test_jet_python_control_flow_on_values() -> None:
    def function(x: Any) -> Any:
        return x * x if x > 0 else -x

    assert jet(function, (2.0,), ([1.0],)) == (4.0, [4.0])
    assert jet(function, (-2.0,), ([1.0],)) == (2.0, [-1.0])
    with pytest.raises(ConcretizationTypeError):
        jit(lambda x: jet(function, (x,), ([1.0],)))(2.0)


def test_jet_cost_is_polynomial_in_the_order() -> None:
    def count(order: int) -> int:
        terms = [1.0] + [0.5] * (order - 1)
        return len(make_jaxpr(lambda x: jet(lambda y: ops.sin(ops.exp(y) * y), (x,), (terms,)))(1.0).eqns)

    assert count(16) < 6 * count(8)


def test_jet_cost_is_linear_in_chained_ops() -> None:
    def count(length: int) -> int:
        def chained(x: Any) -> Any:
            for _ in range(length):
                x = ops.sinh(ops.sqrt(1.0 + ops.atan2(x, 2.0)))
            return x

        return len(make_jaxpr(lambda x, v, w: jet(chained, (x,), ([v, w],)))(1.0, 1.0, 1.0).eqns)

    counts = [count(length) for length in (2, 4, 6)]
    assert counts[2] - counts[1] == counts[1] - counts[0]


@pytest.mark.parametrize("order", [1, 2, 3])
def test_jet_of_an_integer_beside_a_moving_result(order: int) -> None:
    # The barrier gave the integer coefficients of zeros, which `clamp` could not differentiate twice.
    def function(x: Any) -> Any:
        y, n = ops.optimization_barrier_p.bind(ops.mul(x, 2.0), np.array(1))
        return ops.mul(y, ops.clamp(1, n, 2))

    value, series = jet(function, (0.5,), ([1.0, *[0.0] * (order - 1)],))
    assert value == 1.0
    assert [float(x) for x in series] == [2.0, 0.0, 0.0][:order]


def test_jet_results_are_the_users_own() -> None:
    x, v = np.ones(2), np.ones(2)
    value, [first] = jet(lambda y: y, (x,), ([v],))
    value[0], first[0] = 5.0, 5.0
    assert x[0] == 1.0
    assert v[0] == 1.0


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((ops.sin, 1.0, ([1.0],)), ArgumentTypeError, "expected a tuple or list as primals"),
        ((ops.sin, (1.0,), 1.0), ArgumentTypeError, "expected a tuple or list as series"),
        ((ops.sin, (1.0,), ()), ArgumentValueError, "expected a series for each argument, got 0 for 1"),
        ((ops.add, (1.0, 2.0), ([1.0], [1.0, 0.0])), ArgumentValueError, "as many derivatives for each argument"),
        ((ops.sin, (1.0,), (1.0,)), ArgumentValueError, "got no list"),
        ((ops.sin, (np.ones(2),), ([np.ones(3)],)), ArgumentTypeError, r"f64\[3\] of order 1 at argument\[0\]"),
        ((ops.sin, (np.ones(2),), ([np.ones(2, complex)],)), ArgumentTypeError, r"got c128\[2\]"),
        ((ops.sin, ((1.0,),), ([1.0],)), ArgumentTypeError, "with the structure of the arguments"),
        ((3, (1.0,), ([1.0],)), ArgumentTypeError, "expected a function"),
        (
            (ops.sin, (1,), ([1.0],)),
            ArgumentTypeError,
            r"argument\[0\], which is ~?i64\[\], got ~?f64\[\] of order 1; give",
        ),
        ((ops.sin, (np.ones(2),), ([np.ones(2), np.ones((1, 2))],)), ArgumentTypeError, r"f64\[1,2\] of order 2"),
        ((ops.sin, (np.ones(2, "float32"),), ([np.ones(2)],)), ArgumentTypeError, r"f32\[2\], got f64\[2\] of order 1"),
    ],
)
def test_jet_mistakes(arguments: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        jet(*arguments)
