"""Every law holds of a program in a ``checkpoint``, whatever it keeps; and it is the program."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import tree
from lawful.autodiff import checkpoint, checkpoint_policies, saved_residuals, vjp
from lawful.core import get_aval
from lawful.laws import Case, Program, holds, laws, programs, quick
from lawful.laws.systems import lawful
from tests.laws._held import part_of_examples

policies = st.sampled_from(
    [
        None,
        checkpoint_policies.everything_saveable,
        checkpoint_policies.dots_saveable,
        checkpoint_policies.save_only_these_names("h"),
        checkpoint_policies.save_any_names_but_these("h"),
        checkpoint_policies.save_anything_except_these_names("h"),
    ]
)
few = part_of_examples(3, least=4)
SLOW = ("cost", "errors", "leaks", "agreement", "loops")
FUNCTIONS = [law for law in laws.values() if law.subject == "function" and law.group not in SLOW]


@pytest.mark.parametrize("law", FUNCTIONS, ids=lambda law: law.name)
@few
@given(programs(), policies)
def test_checkpoint_laws_hold_of_it(law: Any, program: Program, policy: Any) -> None:
    function = checkpoint(program.function, policy=policy)
    holds(law, lawful, Case.of(function, *program.args, seed=program.seed), effort=quick)


def half(primitive: Any, *avals: Any, **params: Any) -> bool:
    """Allows to keep what about half of the primitives give."""
    return len(primitive.name) % 2 == 0


@given(programs(max_depth=1), st.sampled_from([None, half, checkpoint_policies.everything_saveable]))
def test_checkpoint_derivatives_are_those_of_the_function(program: Program, policy: Any) -> None:
    plain, pull = vjp(program.function, *program.args)
    values, again = vjp(checkpoint(program.function, policy=policy), *program.args)
    same(values, plain)
    cotangents = tree.map(ones, plain)
    same(again(cotangents), pull(cotangents))


def ones(x: Any) -> Any:
    aval = get_aval(x).to_tangent_aval()
    return np.ones(aval.shape, aval.dtype)


def same(got: Any, expected: Any) -> None:
    assert tree.structure(got) == tree.structure(expected)
    for x, y in zip(tree.leaves(got), tree.leaves(expected), strict=True):
        assert get_aval(x) == get_aval(y)
        if get_aval(x).dtype.kind != "V":
            np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-9, atol=1e-9)


@given(programs())
def test_checkpoint_nothing_but_arguments_and_constants_is_kept(program: Program) -> None:
    for _, origin in saved_residuals(checkpoint(program.function), *program.args):
        assert origin.startswith(("the argument", "a constant")), origin


NESTS: dict[str, Callable[[Any], Any]] = {
    "twice": lambda f: checkpoint(checkpoint(f)),
    "compiled": lambda f: lawful.jit(checkpoint(lawful.jit(f))),
    "of a derivative": lambda f: checkpoint(lambda *xs: lawful.vjp(checkpoint(f), *xs)[0]),
}


@pytest.mark.parametrize("nest", NESTS)
@few
@given(programs(max_equations=5))
def test_checkpoint_nests_obey_the_laws(nest: str, program: Program) -> None:
    function = NESTS[nest](program.function)
    for name in ("jit_is_eager", "vjp_transpose", "linearize_is_jvp", "second_order", "vmap_is_loop", "typing"):
        holds(laws[name], lawful, Case.of(function, *program.args, seed=program.seed), effort=quick)
