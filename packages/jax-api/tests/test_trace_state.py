"""Libraries compare the current trace with an earlier one."""

from collections.abc import Callable
from typing import Any

import pytest

import lawful.jax as jax
import lawful.jax.numpy as jnp
from lawful.jax.extend.core import get_opaque_trace_state, set_current_trace, take_current_trace

TRANSFORMATIONS: dict[str, Callable[[Callable[[Any], Any]], Callable[[Any], Any]]] = {
    "jit": jax.jit,
    "grad": jax.grad,
    "vmap": jax.vmap,
    "make_jaxpr": jax.make_jaxpr,
    "jit of grad": lambda f: jax.jit(jax.grad(f)),
}


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_get_opaque_trace_state_differs_within(name: str) -> None:
    outside = get_opaque_trace_state(convention="test")
    within = []

    def function(x: Any) -> Any:
        within.append(get_opaque_trace_state())
        assert within[-1] == get_opaque_trace_state()
        return jnp.sin(x)

    TRANSFORMATIONS[name](function)(jnp.ones(1) if name == "vmap" else 1.0)
    assert within
    assert outside not in within
    assert outside == get_opaque_trace_state()
    assert hash(outside) == hash(get_opaque_trace_state())


def test_taken_trace_is_set_again() -> None:
    def function(x: Any) -> Any:
        with take_current_trace() as trace:
            known = jnp.sin(1.0)
            assert not isinstance(known, jax.core.Tracer)
            with set_current_trace(trace):
                return x * jnp.sin(2.0)

    jaxpr = jax.make_jaxpr(function)(1.0)
    assert [eqn.primitive.name for eqn in jaxpr.eqns].count("sin") == 1
