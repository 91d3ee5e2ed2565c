"""Replay of indexed jaxprs, and the cache of traced rules."""

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
    ShapedArray,
    clear_caches,
    eval_jaxpr,
    eval_trace,
    exact_params_key,
    parse_jaxpr,
)
from lawful.core._fast import IndexedJaxpr, cached_rule, replay, replay_steps, rule_cache

pytestmark = pytest.mark.fast

add_p = Primitive("ruletest_add")
add_p.def_impl(lambda x, y: x + y)
add_p.def_abstract_eval(lambda x, y: x)
both_p = Primitive("ruletest_both", multiple_results=True)
both_p.def_impl(lambda x, *, factor: [x * factor, x - factor])
both_p.def_abstract_eval(lambda x, *, factor: [x, x])

PROGRAMS = {
    "no step": "{ lambda ; a:f64[2] b:f64[2] . let in (b, a, b) }",
    "a scalar": "{ lambda ; a:f64[2] b:f64[2] . let in (1.5:f64[], a) }",
    "a step": "{ lambda ; a:f64[2] b:f64[2] . let c:f64[2] = ruletest_add b a in (c,) }",
    "unused": "{ lambda ; a:f64[2] b:f64[2] . let c:f64[2] = ruletest_add a a in (b,) }",
    "several results": """{ lambda ; a:f64[2] b:f64[2] . let
        c:f64[2] d:f64[2] = ruletest_both[factor=3] a
        e:f64[2] f:f64[2] = ruletest_both[factor=-2] c
        g:f64[2] = ruletest_add f d in (g, c, e, b) }""",
    "scalars": """{ lambda ; a:f64[2] b:f64[2] . let
        c:f64[2] = ruletest_add a 2.0:f64[]
        d:f64[2] = ruletest_add c 3.0:f64[]
        e:f64[2] = ruletest_add d b in (e, 2.0:f64[], c) }""",
}
A, B = np.array([1.0, 2.0]), np.array([-0.5, 8.0])


def lists(values: Any) -> list[Any]:
    return [np.asarray(x).tolist() for x in values]


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_replay_is_evaluation(text: str) -> None:
    closed = parse_jaxpr(text)
    program = IndexedJaxpr(closed)
    expected = lists(eval_jaxpr(closed.jaxpr, (), A, B))
    assert lists(replay(eval_trace, program, [A, B])) == expected
    assert lists(replay_steps(eval_trace, program, [A, B])) == expected
    assert [aval.shape for aval in program.out_avals] == [np.shape(x) for x in expected]


def test_replay_of_a_literal_that_is_used_twice() -> None:
    """Of one literal object there is one number, also where it is an operand twice."""
    closed = parse_jaxpr("{ lambda ; a:f64[] . let b:f64[] = ruletest_add a 2.0:f64[] in (b, a) }")
    jaxpr = closed.jaxpr
    literal, eqn = jaxpr.eqns[0].invars[1], jaxpr.eqns[0]
    again = parse_jaxpr("{ lambda ; a:f64[] . let b:f64[] = ruletest_add a a in (b,) }").jaxpr.eqns[0].outvars[0]
    eqns = [eqn, eqn.replace(invars=[eqn.outvars[0], literal], outvars=[again])]
    closed = type(closed)(jaxpr.replace(eqns=eqns, outvars=[again, literal, jaxpr.invars[0]]))
    assert replay(eval_trace, IndexedJaxpr(closed), [1.0]) == [5.0, 2.0, 1.0]


def test_replay_compiles_after_many_evaluations() -> None:
    compiled = []

    def compile(closed: Any) -> Any:
        compiled.append(closed)
        return lambda a, b: ["compiled", a, b]

    closed = parse_jaxpr(PROGRAMS["a step"])
    program = IndexedJaxpr(closed, compile)
    found = [replay(eval_trace, program, [A, B]) for _ in range(200)]
    assert lists(found[0]) == [(A + B).tolist()]
    assert found[-1][0] == "compiled"
    assert compiled == [closed]


def test_replay_converts_values_that_are_not_native() -> None:
    program = IndexedJaxpr(parse_jaxpr(PROGRAMS["a step"]))
    swapped = A.astype(A.dtype.newbyteorder())
    (out,) = replay(eval_trace, program, [swapped, B])
    assert out.dtype.isnative
    assert out.tolist() == (A + B).tolist()
    with pytest.raises(IntegerOverflowError):
        replay(eval_trace, program, [2**70, 1])


def test_cached_rule_parameters_of_other_types_have_other_keys() -> None:
    same = [1, True, 1.0, np.int64(1), np.float32(1.0)]
    keys = {exact_params_key({"a": value}) for value in same} | {exact_params_key({"a": (value,)}) for value in same}
    assert len(keys) == 2 * len(same)
    assert len({exact_params_key({"a": value}) for value in (0.0, -0.0, np.float64(0.0), np.float64(-0.0))}) == 4
    assert exact_params_key({"a": (1, "x"), "b": None}) == exact_params_key({"a": (1, "x"), "b": None})


@pytest.fixture
def derive() -> Any:
    """A derivation that returns its argument, and counts its calls by it."""
    clear_caches()

    def derive(what: str) -> str:
        calls[what] += 1
        return what

    calls = derive.calls = Counter[str]()  # type: ignore[attr-defined]
    return derive


def test_cached_rule_keeps_no_program_alive(derive: Any) -> None:
    program = parse_jaxpr(PROGRAMS["no step"])
    gone = weakref.ref(program)
    for value in (program, (1, program), program.jaxpr, lambda x: x, [1]):
        assert cached_rule(exact_params_key({"a": value}), derive, "found") is None
    assert not derive.calls
    assert len(rule_cache) == 0
    del program, value
    gc.collect()
    assert gone() is None


def test_cached_rule_derives_once_until_a_rule_changes(derive: Any) -> None:
    changed = Primitive("ruletest_changed")
    # A rule that is used once, on values, is not worth caching.
    assert [cached_rule("key", derive, "found") for _ in range(4)] == [None, "found", "found", "found"]
    assert derive.calls == {"found": 1}
    Primitive("ruletest_new").def_jvp(lambda primals, tangents: None)
    assert cached_rule("key", derive, "with a new primitive") == "found", "no result depends on its rules"
    changed.def_jvp(lambda primals, tangents: None)
    assert [cached_rule("key", derive, "a new rule") for _ in range(2)] == [None, "a new rule"]
    clear_caches()
    assert [cached_rule("key", derive, "cleared") for _ in range(2)] == [None, "cleared"]


def test_rule_cache_is_bounded(derive: Any) -> None:
    for number in range(12_000):
        for _ in range(1 + number % 2):
            cached_rule(number, derive, "more")
        assert len(rule_cache) <= rule_cache.limit
    assert len(rule_cache) > 0


def test_rule_cache_keeps_what_is_in_use(derive: Any) -> None:
    changed = Primitive("ruletest_changed")
    for number in range(22_000):
        cached_rule(number, derive, "passing")
        if number % 3_000 == 0 and number < 20_000:
            cached_rule("kept", derive, "kept")
        if number % 9_000 == 0:
            cached_rule("forgotten", derive, "forgotten")
    assert derive.calls == {"kept": 1}, "a key that is rarely asked for is always new"
    changed.def_jvp(lambda primals, tangents: None)
    assert cached_rule("kept", derive, "of the old rule") is None


def test_cached_rule_in_a_finalizer(derive: Any) -> None:
    found = list[Any]()

    class Asking:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            found.append(cached_rule("finalizer", derive, "derived"))

    class Collecting:
        def __hash__(self) -> int:  # asked for also while the cache is locked
            Asking()
            gc.collect()
            return 1

    thread = threading.Thread(target=lambda: found.append(cached_rule(Collecting(), derive, "last")), daemon=True)
    thread.start()
    thread.join(timeout=60)
    assert not thread.is_alive()
    assert found[:2] == [None, "derived"]
    assert found[-1] is None


def test_cached_rule_drops_what_was_derived_while_a_rule_changed() -> None:
    clear_caches()
    other = Primitive("ruletest_changed")

    def derive(what: str) -> str:
        if what == "of the old rule":  # as in another thread
            other.def_jvp(lambda primals, tangents: None)
        return what

    assert cached_rule("key", derive, "of no rule") is None
    assert cached_rule("key", derive, "of the old rule") == "of the old rule"
    assert cached_rule("key", derive, "of no rule") is None, "that the key was seen is dropped as well"
    assert cached_rule("key", derive, "of the new rule") == "of the new rule"


def test_cached_rule_that_fails_on_types() -> None:
    clear_caches()
    calls = []

    def derive() -> None:
        calls.append(1)
        raise ValueError("no value")

    aval = ShapedArray((), float)
    for _ in range(4):
        assert cached_rule(aval, derive) is None
    assert calls == [1]
