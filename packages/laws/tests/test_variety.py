"""Everything that the language of programs has is drawn, and drawn often."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from lawful import tree
from lawful.core import get_aval
from lawful.laws import (
    Generation,
    Program,
    RandomChoose,
    draw_case,
    draw_program,
    find_source,
    forms,
    programs,
    pytrees,
    usual_dtypes,
)
from lawful.laws._programs.syntax import Apply, Assign, Block, Name, Nest

pytestmark = pytest.mark.once

every_dtype = Generation(dtypes=usual_dtypes, smooth=False)


def drawn(count: int) -> Iterator[Program]:
    return (draw_program(RandomChoose(seed, every_dtype.dtypes), every_dtype) for seed in range(count))


def names_in(value: Any) -> Iterator[str]:
    """Yields the variables that an expression, or an equation, uses."""
    match value:
        case Name(text):
            yield text
        case Apply(_, operands):
            yield from names_in(operands)
        case Assign(_, expression):
            yield from names_in(expression)
        case Nest(_, _, blocks, operands, others):
            yield from names_in([operands, [setting for _, setting in others]])
            for block in blocks:
                yield from names_in(list(block.equations))
                yield from tree.leaves(block.results)
        case tuple() | list():
            for part in value:
                yield from names_in(part)


def bound_in(block: Block) -> set[str]:
    """Returns the variables that a function binds itself."""
    bound = set(block.parameters)
    for equation in block.equations:
        bound.update(tree.leaves(equation.targets) if isinstance(equation, Nest) else [equation.target])
    return bound


def traits(program: Program) -> Iterator[str]:
    """Yields what there is in a program."""
    leaves = tree.leaves(program.args)
    yield from {str(get_aval(x).dtype) for x in leaves}
    yield from {f"rank {get_aval(x).ndim}" for x in leaves}
    yield from {f"length {size}" for x in leaves for size in get_aval(x).shape}
    if any(get_aval(x).weak_type for x in leaves):
        yield "weak"
    if any(get_aval(x).size == 0 for x in leaves):
        yield "empty"
    yield from {type(x).__name__ for x in program.args if isinstance(x, tuple | list | dict)}
    if any(x is None for x in tree.leaves(program.args, is_leaf=lambda x: x is None)):
        yield "None"
    if len(tree.leaves(program.block.results)) > 1:
        yield "several results"
    uses = Counter(names_in([*program.block.equations]))
    if any(name not in uses and name not in tree.leaves(program.block.results) for name in program.block.parameters):
        yield "unused input"
    if any(count > 1 for count in uses.values()):
        yield "shared subexpression"
    if program.constants:
        yield "constant"
    nests = [equation for equation in program.block.equations_within() if isinstance(equation, Nest)]
    for nest in nests:
        yield nest.form
        inner = {
            equation.form
            for block in nest.blocks
            for equation in block.equations_within()
            if isinstance(equation, Nest)
        }
        yield from {f"{form} in {nest.form}" for form in inner}
        if any(set(names_in([*block.equations])) - bound_in(block) for block in nest.blocks):
            yield f"closure in {nest.form}"


def missing_of(drawn: Iterable[Program], missing: Callable[[Counter[str]], list[str]]) -> list[str]:
    """Returns the traits that are missing of all these programs.

    It draws no more programs than it takes: a trait that is found often enough remains so.
    """
    found: Counter[str] = Counter()
    for number, program in enumerate(drawn):
        found.update(set(traits(program)))
        if number % 50 == 49 and not missing(found):
            break
    return missing(found)


def rarer(found: Counter[str], times: int, wanted: Iterable[str]) -> list[str]:
    return [f"{trait}: {found[trait]}" for trait in wanted if found[trait] < times]


#: The default kinds of programs, all on one device.
drawn_forms = Generation().forms


@pytest.mark.once
def test_programs_everything_is_drawn_often() -> None:
    often = [*drawn_forms, *(f"rank {ndim}" for ndim in range(4)), *(f"length {size}" for size in range(5))]
    often += ["weak", "several results", "unused input", "shared subexpression", "constant"]
    often += ["tuple", "list", "dict", "Pair", *map(str, usual_dtypes)]

    def missing(found: Counter[str]) -> list[str]:
        nested = [trait for trait in found if trait.split(" in ")[0] in forms and " in " in trait]
        pairs = [] if len(nested) >= 0.4 * len(drawn_forms) ** 2 else [f"pairs of forms: {len(nested)}"]
        closures = [f"closure in {form}" for form in drawn_forms]
        rare = rarer(found, 10, often) + rarer(found, 60, ["empty"]) + rarer(found, 1, ["None"])
        return rare + rarer(found, 5, closures) + pairs

    # as many for each pair of forms as it takes to see four of ten pairs
    assert missing_of(drawn(3700), missing) == []


def test_programs_on_devices_nest_with_every_form() -> None:
    new = [form for form in forms if form not in drawn_forms]
    assert new == ["with_shard_map", "with_pmap", "with_shardings"]

    def missing(found: Counter[str]) -> list[str]:
        inside = {form: sum(found[f"{form} in {x}"] + found[f"{x} in {form}"] > 0 for x in forms) for form in new}
        few = [f"{form} and others: {count}" for form, count in inside.items() if count < 0.6 * len(forms)]
        return rarer(found, 10, new) + rarer(found, 5, [f"closure in {form}" for form in new]) + few

    source = find_source("sharded")
    assert missing_of((draw_case(source, seed).case for seed in range(1500)), missing) == []  # type: ignore[misc]


@pytest.mark.parametrize("form", list(forms))
def test_programs_only_allowed_forms_are_drawn(form: str) -> None:
    for seed in range(60):
        program = draw_program(RandomChoose(seed), Generation(forms=(form,)))
        assert {e.form for e in program.block.equations_within() if isinstance(e, Nest)} <= {form}


@pytest.mark.parametrize("form", ["switch", "vmap", "vjp"])
def test_a_program_with_a_form_is_small(form: str) -> None:
    """The form alone is left of a program, with a sub-program that gives what it is given."""
    smallest = find(
        programs(forms=(form,)),
        lambda program: any(isinstance(e, Nest) and e.form == form for e in program.block.equations),
        settings=settings(
            max_examples=8000, database=None, deadline=None, derandomize=True, phases=(Phase.generate, Phase.shrink)
        ),
    )
    assert smallest.equation_count <= 3, smallest
    assert len(smallest.args) == 1, smallest


def test_programs_every_declared_op_is_drawn() -> None:
    """Within a few thousand equations there is each op of the catalogue."""
    from lawful.laws._programs.catalogue import our_catalogue

    missing = {primitive.name for primitive in our_catalogue().primitives}
    for program in drawn(1500):
        missing -= {eqn.primitive.name for eqn in program.jaxpr().eqns}
        if len(missing) <= 2:
            break
    assert len(missing) <= 2, missing


@given(pytrees())
def test_programs_pytrees_are_of_arrays(value: Any) -> None:
    assert tree.leaves(value)
    assert all(get_aval(x).ndim <= 3 for x in tree.leaves(value))


@given(pytrees(st.integers(0, 9)))
def test_programs_pytrees_have_given_leaves(value: Any) -> None:
    assert all(type(x) is int for x in tree.leaves(value))
