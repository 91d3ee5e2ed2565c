"""Matrices that are singular, not positive definite, or not finite give NaN or infinity, as in JAX, not an error."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lawful.jax as jax
import lawful.jax.numpy as jnp
import lawful.jax.scipy as jsp
from lawful.numpy import linalg

SINGULAR, NEGATIVE, NAN = jnp.zeros((2, 2)), -jnp.eye(2), jnp.full((2, 2), jnp.nan)
ONES = jnp.ones(2)
CALLS: dict[str, Callable[[], Any]] = {
    "inv": lambda: jnp.linalg.inv(SINGULAR),
    "solve": lambda: jnp.linalg.solve(SINGULAR, ONES),
    "cholesky": lambda: jnp.linalg.cholesky(NEGATIVE),
    "matrix_power": lambda: jnp.linalg.matrix_power(SINGULAR, -1),
    "tensorinv": lambda: jnp.linalg.tensorinv(SINGULAR, ind=1),
    "tensorsolve": lambda: jnp.linalg.tensorsolve(SINGULAR, ONES),
    "lstsq": lambda: jnp.linalg.lstsq(NAN, ONES)[0],
    "norm": lambda: jnp.linalg.norm(NAN, 2),
    "polyfit": lambda: jnp.polyfit(jnp.zeros(3), jnp.ones(3), 1),
    "scipy inv": lambda: jsp.linalg.inv(SINGULAR),
    "scipy solve": lambda: jsp.linalg.solve(NEGATIVE, ONES, assume_a="pos"),
    "cho_factor": lambda: jsp.linalg.cho_factor(NEGATIVE)[0],
    "multivariate_normal": lambda: jax.random.multivariate_normal(jax.random.key(0), jnp.zeros(2), NEGATIVE),
}


@pytest.mark.parametrize("name", CALLS)
def test_bad_matrix_gives_no_finite_numbers(name: str) -> None:
    found = CALLS[name]()
    assert type(found) is jax.Array
    assert not jnp.isfinite(found).all()


def test_good_matrices_beside_a_bad_one() -> None:
    stack = jnp.stack([NEGATIVE, jnp.eye(2)])
    assert jnp.linalg.cholesky(stack)[1].tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert jnp.linalg.inv(stack * jnp.array([0.0, 2.0])[:, None, None])[1].tolist() == [[0.5, 0.0], [0.0, 0.5]]


def test_bad_shape_of_a_matrix_error() -> None:
    with pytest.raises(ValueError, match="square matrices"):
        jnp.linalg.inv(jnp.ones((2, 3)))


def test_bad_matrix_elsewhere_is_an_error() -> None:
    CALLS["inv"]()
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        linalg.inv(np.zeros((2, 2)))
