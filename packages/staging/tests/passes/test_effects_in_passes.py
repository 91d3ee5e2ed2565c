"""Passes over programs with effects: every effect once, in its order, on its values; of generated programs."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.core import (
    ClosedJaxpr,
    Primitive,
    alpha_equivalent,
    applies_effects,
    check_jaxpr,
    eval_closed_jaxpr,
    has_effects,
    parse_jaxpr,
)
from lawful.ops import add, mul, neg
from lawful.staging import (
    ShapeDtypeStruct,
    cse_jaxpr,
    dce_jaxpr,
    inline_jaxpr,
    jit,
    make_jaxpr,
    numpy_function,
    partial_eval_jaxpr,
    used_inputs,
    without_effects,
)

LOG: list[tuple[str, float]] = []

note_p = Primitive("test_note", multiple_results=True, effectful=True)
tick_p = Primitive("test_tick", effectful=True)


@note_p.def_impl
def _note(*args: Any, label: str) -> list[Any]:
    LOG.append((label, *map(float, args)))
    return []


@note_p.def_abstract_eval
def _note_type(*avals: Any, label: str) -> list[Any]:
    return []


@tick_p.def_impl
def _tick(x: Any, *, label: str) -> Any:
    """An effect that also gives something."""
    LOG.append((label, float(x)))
    return np.float64(float(x) + len(LOG))


@tick_p.def_abstract_eval
def _tick_type(x: Any, *, label: str) -> Any:
    return x


F64 = ShapeDtypeStruct((), "float64")


def run(closed: ClosedJaxpr, *args: Any) -> tuple[list[float], list[tuple[str, float]]]:
    LOG.clear()
    outs = [float(x) for x in eval_closed_jaxpr(closed, *args)]
    return outs, list(LOG)


@st.composite
def programs(draw: st.DrawFn, depth: int = 2, arity: int = 3) -> Any:
    """Functions of floats with effects among their operations, in calls of calls too; not all of it is used."""
    steps = []
    for i in range(draw(st.integers(1, 6))):
        kinds = ["add", "mul", "neg", "note", "tick", "same"] + ["call", "same call"] * (depth > 0)
        kind = draw(st.sampled_from(kinds))
        inner = draw(programs(depth=depth - 1, arity=2)) if "call" in kind else None
        places = [draw(st.integers(0, arity + i - 1)) for _ in range(2)]
        steps.append((kind, f"{depth}{kind}{i}", places, inner))
    results = [draw(st.integers(0, arity + len(steps) - 1)) for _ in range(draw(st.integers(1, 2)))]

    def program(*args: Any) -> list[Any]:
        values = list(args)
        for kind, label, (a, b), inner in steps:
            x, y = values[a], values[b]
            if kind == "add":
                new = add(x, y)
            elif kind == "mul":
                new = mul(x, 0.5)
            elif kind == "neg":
                new = neg(x)
            elif kind == "tick":
                new = tick_p.bind(x, label=label)
            elif "call" in kind:
                callee = jit(inner, backend="numpy")
                # "same" is done twice: one of a pair that only effects tell apart.
                for _ in range(1 + ("same" in kind)):
                    new = callee(x, y)[0]
            else:
                for _ in range(1 + (kind == "same")):
                    note_p.bind(x, label=label)
                new = y
            values.append(new)
        return [values[i] for i in results]

    return program


CALLS = st.tuples(*[st.sampled_from([-2.0, 0.5, 1.0, 3.0])] * 3)


@given(programs(), CALLS)
def test_evaluation_of_the_jaxpr_has_the_effects_of_the_function(program: Any, args: Any) -> None:
    args = [np.float64(x) for x in args]
    LOG.clear()
    outs = [float(x) for x in program(*args)]
    log = list(LOG)
    closed = make_jaxpr(program)(F64, F64, F64)
    check_jaxpr(closed)
    assert run(closed, *args) == (outs, log)
    LOG.clear()
    assert [float(x) for x in numpy_function(closed)(*args)] == outs
    assert log == LOG


@given(programs(), CALLS, st.data())
def test_effects_dead_code_elimination_keeps_them(program: Any, args: Any, data: st.DataObject) -> None:
    closed = make_jaxpr(program)(F64, F64, F64)
    outs, log = run(closed, *args)
    used = [data.draw(st.booleans()) for _ in outs]
    smaller = dce_jaxpr(closed, used)
    check_jaxpr(smaller)
    assert run(smaller, *args) == ([x for x, keep in zip(outs, used, strict=True) if keep], log)
    assert dce_jaxpr(smaller, [True] * sum(used)) is smaller
    needed = used_inputs(closed, used)
    smallest = dce_jaxpr(closed, used, keep_inputs=False)
    assert run(smallest, *[x for x, keep in zip(args, needed, strict=True) if keep])[1] == log


@given(programs(), CALLS)
def test_effects_common_subexpressions_do_not_merge_them(program: Any, args: Any) -> None:
    closed = make_jaxpr(program)(F64, F64, F64)
    merged = cse_jaxpr(closed)
    check_jaxpr(merged)
    assert run(merged, *args) == run(closed, *args)
    assert cse_jaxpr(merged) is merged


@given(programs(), CALLS)
def test_effects_inlining_keeps_their_order(program: Any, args: Any) -> None:
    closed = make_jaxpr(program)(F64, F64, F64)
    inlined = inline_jaxpr(closed)
    check_jaxpr(inlined)
    assert run(inlined, *args) == run(closed, *args)


@given(programs(), CALLS, st.tuples(*[st.booleans()] * 3), st.booleans())
def test_effects_partial_evaluation_does_each_in_one_of_parts(
    program: Any, args: Any, unknown: Any, repeated: bool
) -> None:
    closed = make_jaxpr(program)(F64, F64, F64)
    _, log = run(closed, *args)
    split = partial_eval_jaxpr(closed, unknown, repeated=repeated)
    check_jaxpr(split.known)
    check_jaxpr(split.unknown)
    known = [x for x, u in zip(args, unknown, strict=True) if not u]
    outs, first = run(split.known, *known)
    residuals = outs[len(outs) - split.residual_count :]
    _, second = run(split.unknown, *residuals, *[x for x, u in zip(args, unknown, strict=True) if u])
    labels = sorted(label for label, *_ in log)
    assert sorted(label for label, *_ in first + second) == labels
    if repeated:
        assert not has_effects(split.known)
        assert [label for label, *_ in second] == [label for label, *_ in log]
    # Each part has them in their order.
    for part in (first, second):
        rest = iter([label for label, *_ in log])
        assert all(label in rest for label, *_ in part)


@given(programs(), CALLS)
def test_what_has_effects_only_can_be_left_out(program: Any, args: Any) -> None:
    closed = make_jaxpr(program)(F64, F64, F64)
    outs, log = run(closed, *args)
    silent = without_effects(closed)
    check_jaxpr(silent)
    found, rest = run(silent, *args)
    assert not any("note" in label or "same" in label for label, *_ in rest)
    if not any("tick" in label for label, *_ in log):
        assert (found, rest) == (outs, [])
        assert not has_effects(silent)


def test_effects_call_that_does_nothing_else_is_kept() -> None:
    @jit
    def only(x: Any) -> Any:
        note_p.bind(x, label="inner")
        return neg(x)

    closed = make_jaxpr(lambda x: (only(x), x)[1])(F64)
    assert [eqn.primitive.name for eqn in dce_jaxpr(closed, [True]).eqns] == ["jit"]
    [eqn] = dce_jaxpr(closed, [True]).eqns
    assert not eqn.outvars
    assert [inner.primitive.name for inner in eqn.params["jaxpr"].eqns] == ["test_note"]


def test_what_has_no_effects_is_dropped_as_before() -> None:
    closed = make_jaxpr(lambda x: (jit(neg)(x), x)[1])(F64)
    assert not dce_jaxpr(closed, [True]).eqns


def test_a_primitive_says_whether_it_has_effects() -> None:
    assert note_p.effectful
    assert not Primitive("test_quiet").effectful
    closed = make_jaxpr(lambda x: note_p.bind(x, label="a") or x)(F64)
    assert has_effects(closed)
    assert applies_effects(Primitive("test_caller"), {"jaxprs": (closed,)})
    assert applies_effects(Primitive("test_caller"), {"jaxpr": closed.jaxpr})
    assert not applies_effects(Primitive("test_caller"), {"jaxpr": without_effects(closed)})


def test_effects_equation_without_results_prints_and_reads() -> None:
    closed = make_jaxpr(lambda x: note_p.bind(x, x, label="twice") or x)(F64)
    assert str(closed) == "{ lambda ; a:f64[]. let = test_note[label=twice] a a in (a,) }"
    assert alpha_equivalent(parse_jaxpr(str(closed)), closed)


def test_effects_finding_out_costs_linear_time() -> None:
    """A jaxpr shared by many calls, of many calls, is looked into once."""

    @jit
    def level(x: Any) -> Any:
        return neg(x)

    for _ in range(60):
        level = jit(lambda x, inner=level: inner(inner(x)))
    assert not has_effects(make_jaxpr(level)(F64))


@pytest.mark.parametrize("used", [True, False])
def test_dce_jaxpr_keeps_effect_with_unused_result(used: bool) -> None:
    """An equation with an effect is kept although its result is not used."""
    closed = make_jaxpr(lambda x: (tick_p.bind(x, label="t"), x))(F64)
    smaller = dce_jaxpr(closed, [used, True])
    assert [eqn.primitive for eqn in smaller.eqns] == [tick_p]
