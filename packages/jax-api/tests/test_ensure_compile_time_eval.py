"""Known values are evaluated within ``ensure_compile_time_eval``, and traced values are traced."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lawful.jax as jax
import lawful.jax.numpy as jnp
from lawful.jax import lax

X = np.arange(1.0, 3.0)


def checked(x: Any) -> Any:
    """Computes with known and traced values as a library does that validates arguments."""
    with jax.ensure_compile_time_eval():
        known = jnp.sum(jnp.sin(jnp.arange(3.0)))
        assert not isinstance(known, jax.core.Tracer)
        is_real = (x == x) & (x != float("inf"))
        y = jnp.where(is_real, jax.nn.relu(x) * known, 0.0) + jax.jit(jnp.cos)(x)
        return lax.cond(known > 0.0, lambda y: y * x, lambda y: 0.0 * x, jnp.sum(y))


def expected(x: Any) -> Any:
    known = jnp.sum(jnp.sin(jnp.arange(3.0)))
    return jnp.sum(x * known + jnp.cos(x)) * x


TRANSFORMATIONS: dict[str, Callable[[Callable[[Any], Any]], Callable[[Any], Any]]] = {
    "none": lambda f: f,
    "jit": jax.jit,
    "vmap": jax.vmap,
    "jacrev": jax.jacrev,
    "jacfwd": jax.jacfwd,
    "jit of vmap of grad": lambda f: jax.jit(jax.vmap(jax.grad(f))),
}


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_ensure_compile_time_eval_of_traced_values(name: str) -> None:
    transform = TRANSFORMATIONS[name]
    np.testing.assert_allclose(transform(checked)(X), transform(expected)(X), rtol=1e-12)


def test_ensure_compile_time_eval_has_no_known_equations() -> None:
    def shifted(x: Any) -> Any:
        with jax.ensure_compile_time_eval():
            return x + jnp.sum(jnp.arange(3.0))

    jaxpr = jax.make_jaxpr(shifted)(1.0)
    assert [eqn.primitive.name for eqn in jaxpr.eqns] == ["add"]
