"""Every law on generated programs, for each system: it holds, or the system declares why it says nothing."""

import re

import pytest
from hypothesis import HealthCheck, given, settings

from lawful.laws import (
    Implementation,
    Inapplicable,
    Law,
    Program,
    RandomChoose,
    draw_program,
    generation_for,
    holds,
    laws,
    programs,
    quick,
    usual,
)

# PyTorch warns so about itself, when it loads its forward mode and where it maps by a loop.
pytestmark = [
    pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:FutureWarning"),
    pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning"),
]

of_functions = [law for law in laws.values() if law.subject == "function"]


def budget(system: Implementation, law: Law) -> settings:
    """JAX compiles each op that it has not met, and each loop: that takes seconds for each program."""
    share = (50 if law.group == "loops" else 16) if system.name == "jax" else 1
    checks = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    return settings(max_examples=max(settings.default.max_examples // share, 1), suppress_health_check=checks)


@pytest.mark.parametrize("law", of_functions, ids=lambda law: law.name)
def test_every_law_holds_or_is_declared_inapplicable(system: Implementation, law: Law) -> None:
    chosen = generation_for(system, smooth=law.smooth)
    missing = [need for need in law.needs if need in system.absent]
    if missing:
        with pytest.raises(Inapplicable, match=re.escape(system.absent[missing[0]])):
            law(system, draw_program(RandomChoose(0, chosen.dtypes), chosen))
        return

    @budget(system, law)
    @given(programs(chosen))
    def check(program: Program) -> None:
        holds(law.check, system, program, effort=quick if system.name == "jax" else usual)

    check()


def test_every_law_source_of_a_program_can_be_pasted(system: Implementation) -> None:
    chosen = generation_for(system)
    for seed in range(8):
        program = draw_program(RandomChoose(seed, chosen.dtypes), chosen)
        scope: dict[str, object] = {"__name__": "pasted"}
        exec(program.source(system), scope)
        assert "result" in scope


def test_every_law_nothing_excluded_is_drawn(system: Implementation) -> None:
    chosen = generation_for(system)
    forms = [name for name in ("jit", "vmap", "cond", "switch", "linearize") if name in system.absent]
    called = [name for name in system.excluded if name.startswith("ops.")]
    methods = [name.strip() for name in system.excluded if name.startswith(".")]
    for seed in range(100):
        text = draw_program(RandomChoose(seed, chosen.dtypes), chosen).source(system)
        assert ".bind(" not in text
        assert not [name for name in [*called, *forms] if re.search(rf"\b{re.escape(name)}\(", text)], text
        assert not [name for name in methods if re.search(rf"(?<!\bops){re.escape(name)}\b", text)], text


def test_every_law_laws_of_primitives_are_declared_inapplicable(system: Implementation) -> None:
    of_primitives = [law for law in laws.values() if law.subject != "function"]
    assert of_primitives
    assert all(set(law.needs) & set(system.absent) for law in of_primitives)
