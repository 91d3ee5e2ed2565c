"""Sorting, cumulative logarithms of sums, splitting and reductions of windows are jax.lax's, with their derivatives."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest
from jax import lax

from lawful import autodiff, ops
from lawful.control_flow import reduce, reduce_window
from lawful.staging import jit

SEEDS = range(3)
DTYPES = ("float64", "float32", "float16", "int32", "uint8", "bool", "complex128")


def drawn(seed: int, dtype: str, shape: tuple[int, ...] = (3, 5)) -> Any:
    """Returns an array with equal elements, and with NaN, infinities and zeros of both signs if it is floating."""
    random = np.random.default_rng(seed)
    x = random.integers(-3, 4, shape).astype("float64")
    if np.dtype(dtype).kind in "fc":
        special = np.array([np.nan, np.inf, -np.inf, -0.0])
        x = np.where(random.random(shape) < 0.3, random.choice(special, shape), x)
    if dtype == "complex128":
        return x + 1j * random.integers(-2, 3, shape)
    return np.abs(x).astype(dtype) if dtype in ("uint8", "bool") else x.astype(dtype)


def agree(ours: Callable[..., Any], theirs: Callable[..., Any], *args: Any, exactly: bool = True) -> None:
    expected = jax.tree.leaves(jax.jit(theirs)(*args))
    for run in (ours, jit(ours)):
        found = jax.tree.leaves(jax.tree.map(np.asarray, run(*args)))
        assert len(found) == len(expected)
        for x, y in zip(found, expected, strict=True):
            assert (x.shape, x.dtype) == (y.shape, y.dtype)
            if exactly:
                np.testing.assert_array_equal(x, np.asarray(y))
            else:
                np.testing.assert_allclose(x, np.asarray(y), rtol=1e-3 if x.dtype.itemsize < 8 else 1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", SEEDS)
def test_sort(seed: int, dtype: str):
    x, y, z = drawn(seed, dtype), drawn(seed + 50, "int32"), drawn(seed + 90, "float64")
    axis, keys = seed % 2, 1 + seed % 3

    # Here and below several calls are one function: to compile each of its own takes longer.
    def sorts(m: Any) -> Callable[..., Any]:
        return lambda x, y, z: (
            m.sort(x, axis),
            m.sort((x, y, z), axis, num_keys=keys),
            m.sort_key_val(x, z, axis),
        )

    agree(sorts(ops), sorts(lax), x, y, z)


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype != "complex128"])
@pytest.mark.parametrize("seed", SEEDS)
def test_top_k(seed: int, dtype: str):
    x = drawn(seed, dtype)
    x = np.where(x == 0, np.zeros_like(x), x)  # jax puts 0 before -0

    def largest(m: Any) -> Callable[..., Any]:
        return lambda x: (m.top_k(x, 2 + seed % 2, axis=-1), m.top_k(x, 2, axis=0))

    agree(largest(ops), largest(lax), x)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "int32"])
def test_parts(dtype: str):
    x = drawn(0, dtype)
    agree(lambda x: ops.split(x, (1, 0, 4), 1), lambda x: lax.split(x, (1, 0, 4), 1), x)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("seed", SEEDS)
def test_cumlogsumexp(seed: int, dtype: str):
    x = drawn(seed, dtype)

    def sums(m: Any) -> Callable[..., Any]:
        return lambda x: [m.cumlogsumexp(x, 1, reverse) for reverse in (False, True)]

    agree(sums(ops), sums(lax), x, exactly=False)


WINDOWS: list[tuple[Any, ...]] = [
    ((2, 2), (1, 1), "VALID", None, None),
    ((3, 2), (2, 1), "SAME", None, None),
    ((3, 2), (2, 2), "SAME_LOWER", None, None),
    ((2, 2), (1, 2), ((1, 0), (2, 1)), (1, 2), None),
    ((2, 3), (1, 1), ((0, 2), (3, 1)), None, (2, 2)),
    ((2, 2), (2, 1), ((1, 1), (1, 1)), (2, 1), (1, 2)),
]
UNITS: dict[str, Any] = {"add": 0, "max": -np.inf, "min": np.inf}


@pytest.mark.parametrize("name", UNITS)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
def test_reduce_window(name: str, dtype: str):
    x = np.nan_to_num(drawn(1, dtype, (6, 7)), posinf=5, neginf=-5)
    unit = np.asarray(UNITS[name], "float64")
    if dtype == "int32":
        unit = {"add": 0, "max": np.iinfo(dtype).min, "min": np.iinfo(dtype).max}[name]
    unit = np.asarray(unit, dtype)
    agree(
        lambda x: [reduce_window(x, unit, getattr(ops, name), *window) for window in WINDOWS],
        lambda x: [lax.reduce_window(x, unit, getattr(lax, name), *window) for window in WINDOWS],
        x,
    )  # fmt: skip


@pytest.mark.parametrize("name", UNITS)
def test_reduce_window_derivatives(name: str):
    x = np.random.default_rng(0).permutation(42).reshape(6, 7) / 7.0
    unit = np.float64(UNITS[name])

    def ours(x: Any) -> Any:
        return [reduce_window(x, unit, getattr(ops, name), *window) for window in WINDOWS]

    def theirs(x: Any) -> Any:
        return [lax.reduce_window(x, unit, getattr(lax, name), *window) for window in WINDOWS]

    expected = jax.jit(jax.jacfwd(theirs))(x)
    for jacobian in (autodiff.jacfwd(ours), autodiff.jacrev(ours), jit(autodiff.jacrev(ours))):
        for window, found, one in zip(WINDOWS, jacobian(x), expected, strict=True):
            np.testing.assert_array_equal(found, one, err_msg=str(window))


COMPUTATIONS: dict[str, Callable[..., Any]] = {
    **{name: lambda m, x, y, name=name: getattr(m, name)(x, y) for name in ("add", "mul", "max", "min")},
    "sum and product": lambda m, x, y: m.add(m.add(x, y), m.mul(m.mul(x, y), 0.25)),
    "last": lambda m, x, y: y,
}


@pytest.mark.parametrize("name", COMPUTATIONS)
def test_reduce_window_init_is_not_the_unit(name: str):
    """The initial value is combined once with each window, also with a padded one."""
    x = np.random.default_rng(0).permutation(42).reshape(6, 7) / 7.0

    def program(module: Any, reduction: Callable[..., Any]) -> Callable[..., Any]:
        def combine(x: Any, y: Any) -> Any:
            return COMPUTATIONS[name](module, x, y)

        return lambda x: [reduction(x, 1.5, combine, *window) for window in WINDOWS]

    agree(program(ops, reduce_window), program(lax, lax.reduce_window), x, exactly=False)


@pytest.mark.parametrize("name", COMPUTATIONS)
def test_reduce_window_init_derivatives(name: str):
    x = np.random.default_rng(0).permutation(42).reshape(6, 7) / 7.0
    x_dot, init, init_dot, step = np.cos(np.arange(42.0)).reshape(6, 7), 1.53, 0.7, 1e-6

    def f(x: Any, init: Any) -> Any:
        return reduce_window(x, init, lambda x, y: COMPUTATIONS[name](ops, x, y), *WINDOWS[4])

    higher, lower = (f(x + s * x_dot, init + s * init_dot) for s in (step, -step))
    expected = (higher - lower) / (2 * step)
    for run in (f, jit(f)):
        found = autodiff.jvp(run, (x, init), (x_dot, init_dot))[1]
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
        out, pullback = autodiff.vjp(run, x, init)
        weights = np.sin(np.arange(out.size)).reshape(out.shape)
        x_bar, init_bar = map(np.asarray, pullback(weights))
        np.testing.assert_allclose(np.sum(x_bar * x_dot) + init_bar * init_dot, np.sum(weights * found), rtol=1e-10)


def test_the_derivative_at_equal_elements_is_the_first_one_s():
    x = np.array([1.0, 3.0, 3.0, 3.0, 0.0])

    def ours(x: Any) -> Any:
        return reduce_window(x, -np.inf, ops.max, (3,), (1,), "SAME")

    def theirs(x: Any) -> Any:
        return lax.reduce_window(x, -np.inf, lax.max, (3,), (1,), "SAME")

    np.testing.assert_array_equal(autodiff.jacrev(ours)(x), jax.jacrev(theirs)(x))


@pytest.mark.parametrize(
    "function",
    [
        lambda m, x: m.sort(x),
        lambda m, x: m.sort((x, x[::-1]), num_keys=2)[1],
        lambda m, x: m.sort_key_val(x, x * x)[1],
        lambda m, x: m.top_k(x, 3)[0],
        lambda m, x: m.cumlogsumexp(x),
        lambda m, x: m.cumlogsumexp(x, 0, True),
        lambda m, x: m.split(x, (2, 3))[1] * m.split(x * x, (2, 3))[0][0],
    ],
)
def test_derivatives(function: Callable[..., Any]):
    x = np.array([0.3, -1.2, 2.0, 0.7, -0.1])
    for ours, theirs in ((autodiff.jacfwd, jax.jacfwd), (autodiff.jacrev, jax.jacrev), (autodiff.hessian, jax.hessian)):
        expected = jax.jit(theirs(lambda x: function(lax, x)))(x)
        np.testing.assert_allclose(ours(lambda x: function(ops, x))(x), expected, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(jit(ours(lambda x: function(ops, x)))(x), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", ["add", "mul", "max", "min", "bitwise_and", "bitwise_or", "bitwise_xor"])
@pytest.mark.parametrize("dtype", ["float64", "int32", "bool", "uint8"])
def test_reduce(name: str, dtype: str):
    x = np.nan_to_num(drawn(3, dtype, (3, 2, 4)), posinf=2, neginf=1)
    if (dtype == "float64" and name.startswith("bitwise")) or (dtype == "bool" and name in ("add", "mul")):
        return
    unit = {"add": 0, "mul": 1, "max": 0, "min": 0, "bitwise_and": -1, "bitwise_or": 0, "bitwise_xor": 0}[name]
    init = np.asarray(unit).astype(dtype)
    # For windows of no dimensions jax ignores an initial value that is not the unit.
    several = [dims for dims in ((0,), (1, 2), (), (0, 1, 2)) if dims or name not in ("max", "min")]
    agree(
        lambda x: [reduce(x, init, getattr(ops, name), dims) for dims in several],
        lambda x: [lax.reduce(x, init, getattr(lax, name), dims) for dims in several], x, exactly=dtype != "float64",
    )  # fmt: skip


def test_reduce_of_several_arrays():
    x, i = np.random.default_rng(0).normal(size=(4, 5)), np.arange(20).reshape(4, 5)

    def winner(m: Any) -> Callable[..., Any]:
        def combine(left: Any, right: Any) -> Any:
            (x, i), (y, j) = left, right
            first = m.ge(x, y)
            return m.select(first, x, y), m.select(first, i, j)

        return combine

    inits = (-np.inf, np.int64(-1))
    several = ((0,), (1,), (0, 1))
    agree(
        lambda x, i: [reduce((x, i), inits, winner(ops), dims) for dims in several],
        lambda x, i: [lax.reduce((x, i), inits, winner(lax), dims) for dims in several], x, i,
    )  # fmt: skip
    agree(
        lambda x, i: reduce_window((x, i), inits, winner(ops), (2, 3), (1, 2), "VALID"),
        lambda x, i: lax.reduce_window((x, i), inits, winner(lax), (2, 3), (1, 2), "VALID"), x, i,
    )  # fmt: skip


def test_reduce_derivatives():
    x = np.random.default_rng(0).normal(size=(5, 2))

    def ours(x: Any) -> Any:
        return reduce(x, 0.0, lambda a, b: a + b + a * b, (0,))

    def theirs(x: Any) -> Any:
        return lax.reduce(x, 0.0, lambda a, b: a + b + a * b, (0,))

    jacobian, hessian = jax.jit(lambda x: (jax.jacrev(theirs)(x), jax.hessian(theirs)(x)))(x)
    np.testing.assert_allclose(autodiff.jacrev(ours)(x), jacobian, rtol=1e-12)
    np.testing.assert_allclose(autodiff.hessian(ours)(x), hessian, rtol=1e-12, atol=1e-14)
