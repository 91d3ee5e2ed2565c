"""`random.poisson`: JAX's numbers, in every dtype, on every backend, and by batches."""

import jax
import numpy as np
import pytest

from lawful import random
from lawful.batching import vmap
from lawful.core import ArgumentTypeError, ArgumentValueError
from lawful.staging import jit


@pytest.mark.parametrize("mean", [0.0, 0.3, 3.0, 9.99, 10.0, 50.0, 1e3, -1.0, np.nan, [0.5, 5.0, 50.0, 500.0]])
def test_poisson_numbers_are_those_of_jax(mean) -> None:
    shape = (500, 4)
    found = random.poisson(random.key(3), np.array(mean), shape)
    expected = np.asarray(jax.random.poisson(jax.random.key(3), np.array(mean), shape, "int64"))
    # In float32 the logarithms of large means have few digits left: rounding accepts one of thousands or not.
    tolerated = 0.002 if np.max(mean) >= 500 else 0.0
    assert np.mean(found != expected) <= tolerated
    for backend in ("numpy", "xla"):
        compiled = jit(lambda key, mean: random.poisson(key, mean, shape), backend=backend)
        assert np.mean(np.asarray(compiled(random.key(3), np.array(mean))) != expected) <= tolerated


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32"])
def test_poisson_numbers_in_small_dtypes(dtype: str) -> None:
    found = random.poisson(random.key(5), 20.0, (500,), dtype)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.asarray(jax.random.poisson(jax.random.key(5), 20.0, (500,), dtype)))


def test_poisson_of_batches_is_that_of_each() -> None:
    keys, means = random.split(random.key(0), 3), np.array([1.0, 20.0, 5.0])
    found = vmap(random.poisson)(keys, means)
    assert found.tolist() == [int(random.poisson(key, mean)) for key, mean in zip(keys, means, strict=True)]


def test_poisson_mean_and_variance() -> None:
    for mean in (4.0, 40.0):
        numbers = np.asarray(jit(lambda key, mean=mean: random.poisson(key, mean, (200_000,)))(random.key(1)))
        assert abs(numbers.mean() - mean) < 5 * np.sqrt(mean / 200_000)
        assert abs(numbers.var() / mean - 1) < 0.02


def test_poisson_mistakes_are_explained() -> None:
    with pytest.raises(ArgumentTypeError, match="expected an integer dtype, got float64"):
        random.poisson(random.key(0), 1.0, dtype=float)
    with pytest.raises(ArgumentValueError, match="expected the method 'exact', got 'approximate'"):
        random.poisson(random.key(0), 1.0, method="approximate")
