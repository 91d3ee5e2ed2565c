"""Arguments that libraries give to functions of JAX."""

from typing import Any

import numpy as np
import pytest

import lawful.jax as jax
import lawful.jax.numpy as jnp
from lawful.jax import lax, random


def test_ufuncs_take_arrays_as_where() -> None:
    x = jnp.arange(3.0)
    mask = x != 1.0
    assert np.square(x).mean(where=mask) == 2.0
    assert np.add(x, 1.0, where=mask, out=np.zeros(3)).tolist() == [1.0, 0.0, 3.0]


@pytest.mark.parametrize("dtype", [None, "int32", "int8"])
def test_randint_rounds_bounds_towards_zero(dtype: Any) -> None:
    numbers = random.randint(random.key(0), (5,), jnp.array([-1.5]), 10.7, dtype=dtype)
    assert numbers.tolist() == random.randint(random.key(0), (5,), -1, 10, dtype=dtype).tolist()
    assert numbers.dtype == jnp.dtype(dtype or int)


def test_einsum_takes_the_dot_general_of_lax() -> None:
    assert jnp.einsum("ij,j", jnp.eye(2), jnp.ones(2), _dot_general=lax.dot_general).tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="expected no _dot_general"):
        jnp.einsum("ij,j", jnp.eye(2), jnp.ones(2), _dot_general=lambda *args, **kwargs: None)


@pytest.mark.parametrize("function", [jax.nn.sigmoid, jax.scipy.special.expit])
def test_sigmoid_of_complex_numbers(function: Any) -> None:
    z = jnp.array([1.0 + 2.0j, -0.5j], jnp.complex64)
    assert function(z).dtype == jnp.complex64
    np.testing.assert_allclose(function(z), 1.0 / (1.0 + np.exp(-np.asarray(z))), rtol=1e-6)
    slope = jax.grad(function, holomorphic=True)(1.0 + 2.0j)
    np.testing.assert_allclose(slope, function(1.0 + 2.0j) * function(-1.0 - 2.0j), rtol=1e-12)
