"""`lawful.random` gives the numbers of `jax.random` for the same key, with its default settings."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lawful import random
from lawful.autodiff import grad
from lawful.batching import vmap
from lawful.staging import jit

SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (7,), (3, 4), (2, 0, 3), (2, 3, 5))
SEEDS = (0, 1, 42, 2**31 - 1, 2**40 + 17)


def keys(seed: int) -> tuple[Any, Any]:
    return random.key(seed), jax.random.key(seed)


def same(found: Any, expected: Any, *, rounding: float = 0.0) -> None:
    expected = np.asarray(expected)
    assert np.shape(found) == expected.shape
    assert found.dtype == expected.dtype
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    if rounding:
        np.testing.assert_allclose(np.asarray(found).astype(wide), expected.astype(wide), rtol=rounding, atol=rounding)
    else:
        np.testing.assert_array_equal(np.asarray(found), expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_keys(seed: int) -> None:
    ours, theirs = keys(seed)
    same(ours, jax.random.key_data(theirs))
    same(random.split(ours), jax.random.key_data(jax.random.split(theirs)))
    same(random.split(ours, (3, 2)), jax.random.key_data(jax.random.split(theirs, (3, 2))))
    for data in (0, 5, 2**32 - 1):
        same(random.fold_in(ours, data), jax.random.key_data(jax.random.fold_in(theirs, data)))


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_random_bits(shape: tuple[int, ...], dtype: str) -> None:
    for seed in SEEDS:
        ours, theirs = keys(seed)
        same(random.bits(ours, shape, dtype), jax.random.bits(theirs, shape, dtype))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_random_uniform(shape: tuple[int, ...], dtype: str) -> None:
    for seed in SEEDS:
        ours, theirs = keys(seed)
        same(random.uniform(ours, shape, dtype), jax.random.uniform(theirs, shape, dtype))
        found = random.uniform(ours, shape, dtype, -2.0, 3.0)
        same(found, jax.random.uniform(theirs, shape, dtype, -2.0, 3.0), rounding=0.02 if "16" in dtype else 1e-6)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("bounds", [(0, 10), (-100, 100), (3, 4), (5, 5), (7, 2), (0, 128), (-(2**40), 2**41)])
def test_random_randint(dtype: str, bounds: tuple[int, int]) -> None:
    if np.dtype(dtype).itemsize < 4 and bounds[1] > 2**31:
        bounds = (-(2**30), 2**30)  # JAX wraps bounds beyond 32 bits before it clips them
    for seed in SEEDS:
        ours, theirs = keys(seed)
        same(random.randint(ours, (50,), *bounds, dtype), jax.random.randint(theirs, (50,), *bounds, dtype))


def test_random_bernoulli() -> None:
    for seed in SEEDS:
        ours, theirs = keys(seed)
        p = np.array([0.1, 0.5, 0.9])
        same(random.bernoulli(ours, p), jax.random.bernoulli(theirs, p))
        same(random.bernoulli(ours, 0.3, (20,)), jax.random.bernoulli(theirs, 0.3, (20,)))
        same(random.bernoulli(ours, np.float32(0.3), (20,)), jax.random.bernoulli(theirs, jnp.float32(0.3), (20,)))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_random_normal(dtype: str) -> None:
    rounding = 1e-5 if dtype in ("float32", "complex64") else 1e-12
    for seed in SEEDS:
        ours, theirs = keys(seed)
        same(random.normal(ours, (40,), dtype), jax.random.normal(theirs, (40,), dtype), rounding=rounding)


@pytest.mark.parametrize("bounds", [(-1.0, 2.0), (-0.1, 0.1), (0.5, 3.0)])
def test_random_truncated_normal(bounds: tuple[float, float]) -> None:
    for seed in SEEDS:
        ours, theirs = keys(seed)
        found = random.truncated_normal(ours, *bounds, (30,))
        same(found, jax.random.truncated_normal(theirs, *bounds, (30,), float), rounding=1e-11)


def test_random_exponential_and_gumbel() -> None:
    for seed in SEEDS:
        ours, theirs = keys(seed)
        same(random.exponential(ours, (30,)), jax.random.exponential(theirs, (30,), float), rounding=1e-13)
        same(random.gumbel(ours, (30,)), jax.random.gumbel(theirs, (30,), float), rounding=1e-12)


def test_random_permutation() -> None:
    x = np.arange(24.0).reshape(4, 6)
    for seed in SEEDS:
        ours, theirs = keys(seed)
        same(random.permutation(ours, 13), jax.random.permutation(theirs, 13))
        for axis in (0, 1, -1):
            same(random.permutation(ours, x, axis), jax.random.permutation(theirs, x, axis))
            same(random.permutation(ours, x, axis, True), jax.random.permutation(theirs, x, axis, independent=True))


def test_random_choice() -> None:
    x, p = np.arange(20.0).reshape(5, 4), np.array([0.1, 0.2, 0.3, 0.0, 0.4])
    for seed in SEEDS:
        ours, theirs = keys(seed)
        same(random.choice(ours, 9, (3, 2)), jax.random.choice(theirs, 9, (3, 2)))
        same(random.choice(ours, x, (3,)), jax.random.choice(theirs, x, (3,)))
        same(random.choice(ours, x, (2, 1), axis=1), jax.random.choice(theirs, x, (2, 1), axis=1))
        same(random.choice(ours, x, (2, 2), replace=False), jax.random.choice(theirs, x, (2, 2), replace=False))
        same(random.choice(ours, 5, (7,), p=p), jax.random.choice(theirs, 5, (7,), p=p))
        same(random.choice(ours, 5, (3,), False, p), jax.random.choice(theirs, 5, (3,), False, p))


def test_random_categorical() -> None:
    logits = np.log(np.array([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]]))
    for seed in SEEDS:
        ours, theirs = keys(seed)
        for axis in (0, 1):
            same(random.categorical(ours, logits, axis), jax.random.categorical(theirs, logits, axis))
        same(random.categorical(ours, logits, shape=(5, 2)), jax.random.categorical(theirs, logits, shape=(5, 2)))
        found = random.categorical(ours, logits, shape=(2, 2), replace=False)
        expected = jax.random.categorical(theirs, logits, shape=(2, 2), replace=False)
        same(found, expected.astype("int64"))  # 32 bits in JAX, in this case only


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "split": lambda key: random.split(key, 3),
    "fold_in": lambda key: random.fold_in(key, 3),
    "bits": lambda key: random.bits(key, (4,)),
    "uniform": lambda key: random.uniform(key, (4,)),
    "randint": lambda key: random.randint(key, (4,), 0, 100),
    "permutation": lambda key: random.permutation(key, 6),
    "choice": lambda key: random.choice(key, np.arange(5.0), (3,)),
    "categorical": lambda key: random.categorical(key, np.zeros(4)),
    "gumbel": lambda key: random.gumbel(key, (3,)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_random_compiled_and_mapped_numbers_are_the_same(name: str, backend: str) -> None:
    function = FUNCTIONS[name]
    batch = random.split(random.key(3), 4)
    each = [np.asarray(function(key)) for key in batch]
    rounding = 1e-12 if name == "gumbel" else 0.0
    same(jit(function, backend=backend)(batch[0]), each[0], rounding=rounding)
    same(vmap(function)(batch), np.stack(each), rounding=rounding)
    same(jit(vmap(function), backend=backend)(batch), np.stack(each), rounding=rounding)


@pytest.mark.parametrize("name", ["gamma", "loggamma"])
def test_random_gamma(name: str) -> None:
    ours, theirs = keys(3)
    draw, jax_draw = getattr(random, name), getattr(jax.random, name)
    dtypes = {"float64": 1e-11, "float32": 1e-4}
    # In one program for all parameters: to compile each of its own takes longer.
    compiled = jit(lambda key, a: [draw(key, a, (2, 3), dtype) for dtype in dtypes])
    slope_of_jax = jax.jit(jax.grad(lambda a: jax_draw(theirs, a, (5,)).sum()))
    for a in (0.3, 2.5, 30.0):
        for (dtype, rounding), by_xla in zip(dtypes.items(), compiled(ours, a), strict=True):
            expected = jax_draw(theirs, a, (2, 3), dtype)
            same(draw(ours, a, (2, 3), dtype), expected, rounding=rounding)
            same(by_xla, expected, rounding=rounding)
        found = grad(lambda a: draw(ours, a, (5,)).sum())(a)
        assert found == pytest.approx(float(slope_of_jax(a)), rel=1e-10), a


def test_random_gamma_of_several_parameters() -> None:
    ours, theirs = keys(7)
    a = np.array([[0.5, 2.0, 7.0]])
    same(random.gamma(ours, a, (4, 3)), jax.random.gamma(theirs, a, (4, 3), float), rounding=1e-11)
    same(random.gamma(ours, a), jax.random.gamma(theirs, a, dtype=float), rounding=1e-11)
    each = jax.vmap(lambda a: jax.random.gamma(theirs, a, dtype=float))(a[0])
    same(vmap(lambda a: random.gamma(ours, a))(a[0]), each, rounding=1e-11)
