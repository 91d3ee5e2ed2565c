"""Recipes: what following one gives, and what is remembered for which types and parameters."""

import gc
import threading
import weakref
from collections import Counter
from typing import Any

import numpy as np
import pytest

from lawful.core import (
    IntegerOverflowError,
    Primitive,
    Recipe,
    ShapedArray,
    Trace,
    clear_caches,
    eval_jaxpr,
    eval_trace,
    exact_params_key,
    parse_jaxpr,
    remembered,
)

add_p = Primitive("recipetest_add")
add_p.def_impl(lambda x, y: x + y)
add_p.def_abstract_eval(lambda x, y: x)
both_p = Primitive("recipetest_both", multiple_results=True)
both_p.def_impl(lambda x, *, factor: [x * factor, x - factor])
both_p.def_abstract_eval(lambda x, *, factor: [x, x])

PROGRAMS = {
    "no step": "{ lambda ; a:f64[2] b:f64[2] . let in (b, a, b) }",
    "a scalar": "{ lambda ; a:f64[2] b:f64[2] . let in (1.5:f64[], a) }",
    "a step": "{ lambda ; a:f64[2] b:f64[2] . let c:f64[2] = recipetest_add b a in (c,) }",
    "unused": "{ lambda ; a:f64[2] b:f64[2] . let c:f64[2] = recipetest_add a a in (b,) }",
    "several results": """{ lambda ; a:f64[2] b:f64[2] . let
        c:f64[2] d:f64[2] = recipetest_both[factor=3] a
        e:f64[2] f:f64[2] = recipetest_both[factor=-2] c
        g:f64[2] = recipetest_add f d in (g, c, e, b) }""",
    "scalars": """{ lambda ; a:f64[2] b:f64[2] . let
        c:f64[2] = recipetest_add a 2.0:f64[]
        d:f64[2] = recipetest_add c 3.0:f64[]
        e:f64[2] = recipetest_add d b in (e, 2.0:f64[], c) }""",
}
A, B = np.array([1.0, 2.0]), np.array([-0.5, 8.0])


def lists(values: Any) -> list[Any]:
    return [np.asarray(x).tolist() for x in values]


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_following_is_evaluating(text: str) -> None:
    closed = parse_jaxpr(text)
    recipe = Recipe(closed)
    expected = lists(eval_jaxpr(closed.jaxpr, (), A, B))
    assert lists(eval_trace.follow(recipe, [A, B])) == expected
    assert lists(Trace.follow(eval_trace, recipe, [A, B])) == expected
    assert [aval.shape for aval in recipe.out_avals] == [np.shape(x) for x in expected]


def test_a_scalar_that_stands_in_several_places_is_one_value() -> None:
    """Of one literal object there is one number, also where it is an operand twice."""
    closed = parse_jaxpr("{ lambda ; a:f64[] . let b:f64[] = recipetest_add a 2.0:f64[] in (b, a) }")
    jaxpr = closed.jaxpr
    literal, eqn = jaxpr.eqns[0].invars[1], jaxpr.eqns[0]
    again = parse_jaxpr("{ lambda ; a:f64[] . let b:f64[] = recipetest_add a a in (b,) }").jaxpr.eqns[0].outvars[0]
    eqns = [eqn, eqn.replace(invars=[eqn.outvars[0], literal], outvars=[again])]
    closed = type(closed)(jaxpr.replace(eqns=eqns, outvars=[again, literal, jaxpr.invars[0]]))
    assert eval_trace.follow(Recipe(closed), [1.0]) == [5.0, 2.0, 1.0]


def test_what_is_evaluated_often_is_compiled() -> None:
    compiled = []

    def compile(closed: Any) -> Any:
        compiled.append(closed)
        return lambda a, b: ["compiled", a, b]

    closed = parse_jaxpr(PROGRAMS["a step"])
    recipe = Recipe(closed, compile)
    found = [eval_trace.follow(recipe, [A, B]) for _ in range(200)]
    assert lists(found[0]) == [(A + B).tolist()]
    assert found[-1][0] == "compiled"
    assert compiled == [closed]


def test_values_that_numpy_does_not_take_are_converted_first() -> None:
    recipe = Recipe(parse_jaxpr(PROGRAMS["a step"]))
    swapped = A.astype(A.dtype.newbyteorder())
    (out,) = eval_trace.follow(recipe, [swapped, B])
    assert out.dtype.isnative
    assert out.tolist() == (A + B).tolist()
    with pytest.raises(IntegerOverflowError):
        eval_trace.follow(recipe, [2**70, 1])


def test_parameters_of_other_types_have_other_keys() -> None:
    same = [1, True, 1.0, np.int64(1), np.float32(1.0)]
    keys = {exact_params_key({"a": value}) for value in same} | {exact_params_key({"a": (value,)}) for value in same}
    assert len(keys) == 2 * len(same)
    assert len({exact_params_key({"a": value}) for value in (0.0, -0.0, np.float64(0.0), np.float64(-0.0))}) == 4
    assert exact_params_key({"a": (1, "x"), "b": None}) == exact_params_key({"a": (1, "x"), "b": None})


def test_what_holds_a_program_is_not_remembered() -> None:
    primitive, calls = Primitive("recipetest_holder"), []

    def derive(_: Primitive) -> str:
        calls.append(1)
        return "found"

    program = parse_jaxpr(PROGRAMS["no step"])
    gone = weakref.ref(program)
    for value in (program, (1, program), program.jaxpr, lambda x: x, [1]):
        assert remembered(primitive, exact_params_key({"a": value}), derive) is None
    assert not calls
    assert not primitive.recipes
    del program, value
    gc.collect()
    assert gone() is None


def test_rules_are_run_once_until_they_change() -> None:
    primitive, calls = Primitive("recipetest_counted"), []

    def derive(_: Primitive, what: str) -> str:
        calls.append(what)
        return what

    # What comes once where values are computed is not worth it.
    assert [remembered(primitive, ("key",), derive, "found") for _ in range(4)] == [None, "found", "found", "found"]
    assert calls == ["found"]
    primitive.def_jvp(lambda primals, tangents: None)
    assert [remembered(primitive, ("key",), derive, "a new rule") for _ in range(2)] == [None, "a new rule"]
    clear_caches()
    assert [remembered(primitive, ("key",), derive, "cleared") for _ in range(2)] == [None, "cleared"]
    others = [Primitive(f"recipetest_counted_{i}") for i in range(10)]
    for number in range(5_000):
        for _ in range(1 + number % 2):
            remembered(others[number % 10], (number,), derive, "more")
        assert sum(len(other.recipes) for other in others) <= 4096
        assert sum(len(other.older) for other in others) <= 4096
    assert sum(len(other.recipes) for other in others) > 0


def test_what_is_asked_for_again_and_again_stays() -> None:
    kept, others, calls = Primitive("recipetest_kept"), Primitive("recipetest_passing"), Counter[str]()

    def derive(_: Primitive, what: str) -> str:
        calls[what] += 1
        return what

    clear_caches()  # how much is remembered decides when what is old is forgotten
    for number in range(22_000):
        remembered(others, (number,), derive, "passing")
        if number % 3_000 == 0 and number < 20_000:
            remembered(kept, ("kept",), derive, "kept")
        if number % 9_000 == 0:
            remembered(kept, ("forgotten",), derive, "forgotten")
    assert calls == {"kept": 1}, "of what is asked for too rarely it is forgotten that it was asked for"
    assert not kept.recipes
    assert kept.older
    kept.def_jvp(lambda primals, tangents: None)
    assert remembered(kept, ("kept",), derive, "of the old rule") is None


def test_a_finalizer_may_ask_for_a_recipe() -> None:
    primitive, found = Primitive("recipetest_finalizer"), list[Any]()

    class Asking:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            found.append(remembered(primitive, ("finalizer",), lambda _: "derived"))

    class Collecting:
        def __hash__(self) -> int:  # asked for also while the book is locked
            Asking()
            gc.collect()
            return 1

    thread = threading.Thread(
        target=lambda: found.append(remembered(primitive, (Collecting(),), lambda _: "last")), daemon=True
    )
    thread.start()
    thread.join(timeout=60)
    assert not thread.is_alive()
    assert found[:2] == [None, "derived"]
    assert found[-1] is None


def test_what_was_derived_while_a_rule_changed_is_not_kept() -> None:
    primitive, other = Primitive("recipetest_changing"), Primitive("recipetest_changed")

    def derive(_: Primitive, what: str) -> str:
        if what == "of the old rule":  # as in another thread
            other.def_jvp(lambda primals, tangents: None)
        return what

    assert remembered(primitive, ("key",), derive, "of no rule") is None
    assert remembered(primitive, ("key",), derive, "of the old rule") == "of the old rule"
    assert remembered(primitive, ("key",), derive, "of no rule") is None, "it is forgotten that the key has been seen"
    assert remembered(primitive, ("key",), derive, "of the new rule") == "of the new rule"


def test_a_rule_that_fails_on_types_is_left_to_values() -> None:
    primitive, calls = Primitive("recipetest_failing"), []

    def derive(_: Primitive) -> None:
        calls.append(1)
        raise ValueError("no value")

    aval = ShapedArray((), float)
    for _ in range(4):
        assert remembered(primitive, aval, derive) is None
    assert calls == [1]
