"""`random.binomial` and `multinomial`: JAX's numbers, also at the ends, on every backend."""

import jax
import numpy as np
import pytest

from lawful import random
from lawful.batching import vmap
from lawful.core import ArgumentTypeError, ArgumentValueError
from lawful.staging import jit

SHARES = np.array([0.0, 0.1, 0.5, 0.9, 1.0, -0.1, 1.2, np.nan])
SHAPE = (200, len(SHARES))
#: For all numbers of trials: to compile for each takes longer.
COMPILED = [jit(lambda key, n: random.binomial(key, n, SHARES, SHAPE), backend=backend) for backend in ("numpy", "xla")]


@pytest.mark.parametrize("n", [0.0, 7.5, 30.0, 1000.0, -2.0, np.nan])
def test_binomial_numbers_are_those_of_jax(n: float) -> None:
    found = random.binomial(random.key(1), n, SHARES, SHAPE)
    np.testing.assert_array_equal(
        found, np.asarray(jax.random.binomial(jax.random.key(1), n, SHARES, SHAPE, "float64"))
    )
    for compiled in COMPILED:
        np.testing.assert_array_equal(compiled(random.key(1), n), found)


def test_binomial_of_infinitely_many_trials_ends() -> None:
    assert random.binomial(random.key(0), np.inf, np.array([0.0, 0.3, 1.0])).tolist() == [np.inf] * 3


def test_binomial_mean_and_variance() -> None:
    numbers = np.asarray(jit(lambda key: random.binomial(key, 40.0, 0.3, (200_000,)))(random.key(0)))
    assert abs(numbers.mean() - 12) < 0.05
    assert abs(numbers.var() - 8.4) < 0.15


def test_binomial_of_batches_is_that_of_each() -> None:
    keys, counts, shares = random.split(random.key(0), 3), np.array([5.0, 50.0, 500.0]), np.array([0.2, 0.5, 0.9])
    found = vmap(random.binomial)(keys, counts, shares)
    each = [float(random.binomial(*args)) for args in zip(keys, counts, shares, strict=True)]
    assert found.tolist() == each


@pytest.mark.parametrize(("shape", "n"), [(None, 100), ((4, 2), 100), (None, np.array([3, 1000]))])
def test_multinomial_numbers_are_those_of_jax(shape, n) -> None:
    p = np.array([[0.2, 0.3, 0.5], [0.0, 0.9, 0.1]])
    found = random.multinomial(random.key(2), n, p, shape=shape)
    expected = jax.random.multinomial(jax.random.key(2), n, p, shape=shape, dtype="float64")
    np.testing.assert_array_equal(found, np.asarray(expected))
    assert np.array_equal(found.sum(-1), np.broadcast_to(n, found.shape[:-1]))


def test_binomial_mistakes_are_explained() -> None:
    with pytest.raises(ArgumentTypeError, match="binomial: expected a real floating dtype, got int64"):
        random.binomial(random.key(0), 3, 0.5, dtype=int)
    with pytest.raises(ArgumentValueError, match="multinomial: expected probabilities along a dimension"):
        random.multinomial(random.key(0), 3, 0.5)
