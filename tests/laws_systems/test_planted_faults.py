"""A wrong derivative, planted by each system's own means, is found by the laws."""

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, find, settings

from lawful.laws import (
    Implementation,
    Inapplicable,
    LawViolation,
    Program,
    compare_systems,
    generation_for,
    laws,
    programs,
    quick,
)
from lawful.laws.systems import lawful

# PyTorch warns so about itself, when it loads its forward mode and where it maps by a loop.
pytestmark = [
    pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:FutureWarning"),
    pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning"),
]

search = settings(
    max_examples=200,
    database=None,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.generate, Phase.shrink),
)


def with_sine(system: Implementation, sine: Any) -> Implementation:
    """Returns a system whose ``ops.sin`` is another function."""
    functions = type(system.ops)()
    functions.sin = sine

    scope = {**system.scope, "ops": functions}
    planted: Implementation = type("Planted", (type(system),), {"scope": scope})()
    return planted


def wrong_sine_of_jax() -> Any:
    import jax
    import jax.numpy as jnp

    @jax.custom_jvp
    def sine(x: Any) -> Any:
        return jnp.sin(x)

    sine.defjvp(lambda primals, tangents: (jnp.sin(primals[0]), -jnp.cos(primals[0]) * tangents[0]))
    return lambda x: sine(jnp.asarray(x, "float64"))


def wrong_sine_of_autograd() -> Any:
    import autograd.numpy as anp
    from autograd.extend import defjvp, defvjp, primitive

    @primitive
    def sine(x: Any) -> Any:
        return anp.sin(x)

    defjvp(sine, lambda g, ans, x: -g * anp.cos(x))
    defvjp(sine, lambda ans, x: lambda g: -g * anp.cos(x))
    return sine


def wrong_sine_of_torch() -> Any:
    import torch

    class Sine(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x: Any) -> Any:
            return torch.sin(x)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return -g * torch.cos(ctx.saved_tensors[0])

        @staticmethod
        def jvp(ctx: Any, t: Any) -> Any:
            return -t * torch.cos(ctx.saved_tensors[0])

    return lambda x: Sine.apply(torch.as_tensor(x, dtype=torch.float64))


SINES = {"jax": wrong_sine_of_jax, "autograd": wrong_sine_of_autograd, "torch": wrong_sine_of_torch}


def small_programs(*systems: Implementation) -> Any:
    return programs(generation_for(*systems, max_equations=3, forms=(), trees=False))


def test_planted_fault_finite_differences_find_it(system: Implementation) -> None:
    planted = with_sine(system, SINES[system.name]())

    def is_violated(program: Program) -> bool:
        try:
            laws["jvp_finite_differences"](planted, program, effort=quick)
        except LawViolation:
            return True
        except Inapplicable:
            pass
        return False

    program = find(small_programs(system), is_violated, settings=search)
    with pytest.raises(LawViolation, match="finite differences") as raised:
        laws["jvp_finite_differences"](planted, program)
    assert f"from lawful.laws.systems.{system.name} import ops" in str(raised.value)


def test_planted_fault_comparison_with_lawful_finds_it(system: Implementation) -> None:
    planted = with_sine(system, SINES[system.name]())

    def is_violated(program: Program) -> bool:
        try:
            compare_systems(lawful, planted, program)
        except LawViolation:
            return True
        return False

    assert "ops.sin(" in find(small_programs(lawful, system), is_violated, settings=search).source()
