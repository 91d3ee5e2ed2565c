"""The same programs on two systems give the same."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from lawful.laws import (
    Implementation,
    LawViolation,
    Program,
    RandomChoose,
    compare_systems,
    draw_program,
    generation_for,
    programs,
    quick,
    usual,
)
from lawful.laws.systems import Lawful, lawful

# PyTorch warns so about itself, when it loads its forward mode and where it maps by a loop.
pytestmark = [
    pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:FutureWarning"),
    pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning"),
]

Find = Callable[[str], Implementation]
complex_dtypes = tuple(map(np.dtype, ("complex128", "float64", "int64")))


def check_agreement(one: Implementation, other: Implementation, share: int, **changes: object) -> None:
    @settings(
        max_examples=max(settings.default.max_examples * 2 // share, 1),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(programs(generation_for(one, other, **changes)))
    def check(program: Program) -> None:
        compare_systems(one, other, program, effort=usual if share == 1 else quick)

    check()


@pytest.mark.parametrize("name", ["jax", "autograd", "torch"])
def test_lawful_agrees_with(name: str, system_named: Find) -> None:
    check_agreement(lawful, system_named(name), 2 if name == "jax" else 1)


def test_lawful_agrees_with_jax_about_complex_numbers(system_named: Find) -> None:
    check_agreement(lawful, system_named("jax"), 4, dtypes=complex_dtypes)


def test_lawful_compiled_by_xla_agrees_with_jax(system_named: Find) -> None:
    check_agreement(Lawful("xla"), system_named("jax"), 4)


def test_jax_agrees_with_autograd(system_named: Find) -> None:
    check_agreement(system_named("jax"), system_named("autograd"), 4)


def test_a_disagreement_names_both(system_named: Find) -> None:
    autograd = system_named("autograd")

    class Wrong(type(autograd)):  # type: ignore[misc]
        name = "wrong"

        def jvp(self, function, primals, tangents):  # type: ignore[no-untyped-def]
            out, tangent = super().jvp(function, primals, tangents)
            return tangent, out

    chosen = generation_for(lawful, autograd)
    program = draw_program(RandomChoose(1, chosen.dtypes), chosen)
    with pytest.raises(LawViolation) as raised:
        compare_systems(lawful, Wrong(), program)
    text = str(raised.value)
    assert "lawful and wrong do not agree about jvp(f, x, v)" in text
    for part in ("from lawful import ops", "from lawful.laws.systems.autograd import ops", "result = program("):
        assert part in text
