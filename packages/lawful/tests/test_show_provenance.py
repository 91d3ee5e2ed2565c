"""Where equations come from, and why passes removed some: the data of `lawful show --html`."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful import ops
from lawful.cli._show._history import FOUND, MADE, OWN, UNKNOWN, Equation, Stage, history
from lawful.cli._show._provenance import Origin, recording, with_origins
from lawful.cli._show._stages import stages
from lawful.cli._show._types import parse_types
from lawful.control_flow import cond, scan
from lawful.core import ClosedJaxpr, Literal, Var, is_plain, plain, rule_hook
from lawful.custom_rules import custom_jvp, custom_vjp
from lawful.staging import cse_jaxpr, jit, make_jaxpr


def traced(function: Callable[..., Any], types: str, names: str = "") -> list[Stage]:
    """Returns the history of a function after stages whose names are between spaces."""
    with recording():
        shown = [*stages(function, parse_types(types), names.split(), (0,), 2, with_origins)]
    return history(shown, function)


def origins(stage: Stage) -> list[tuple[str, str | None, tuple[str, ...]]]:
    """Returns for each equation its primitive, that of its origin, and the rules."""
    assert stage.before is not None
    return [(name(e), None if e.origin is None else name(stage.before.equations[e.origin]), e.rules)
            for e in stage.equations]  # fmt: skip


def name(equation: Equation) -> str:
    return equation.eqn.primitive.name


def product(x: Any) -> Any:
    y = ops.sin(x)
    return y * x


@jit
def squared(x: Any) -> Any:
    return ops.sin(x) * x


@custom_jvp
def cube(x: Any) -> Any:
    return x * x * x


@jit
def tripled(x: Any) -> Any:
    return 3.0 * x


@cube.defjvp
def _(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    return cube(*primals), tripled(primals[0]) * primals[0] * tangents[0]


@custom_vjp
def halved(x: Any) -> Any:
    return x / 2.0


halved.defvjp(lambda x: (halved(x), None), lambda residuals, ct: (ct * 0.5,))


def everything(x: Any) -> Any:
    total, rows = scan(lambda c, t: (c * ops.cos(t), c + t), squared(x[0]), x)
    chosen = cond(total > 0, lambda c: c * 2.0, lambda c: -ops.exp(c), cube(total) + halved(total))
    matrix = lnp.linalg.inv(lnp.outer(x, rows) + lnp.eye(3))
    return chosen + squared(total) + lnp.sum(matrix)


def test_show_cosine_in_a_gradient_comes_from_the_sine() -> None:
    base, grad = traced(product, "f64[]", "grad")
    assert [(name(e), e.relation) for e in base.equations] == [("sin", OWN), ("mul", OWN)]
    assert origins(grad) == [
        ("sin", "sin", ("jvp rule of sin",)),
        ("cos", "sin", ("jvp rule of sin",)),
        ("mul", "mul", ("jvp rule of mul",)),
        ("mul", "mul", ("jvp rule of mul", "transpose rule of mul")),
        ("mul", "mul", ("jvp rule of mul", "transpose rule of mul")),
        ("mul", "sin", ("jvp rule of sin", "transpose rule of mul")),
        ("add", "sin", ("jvp rule of sin", "sum of tangents")),
    ]
    lines = [e.line.line for e in grad.equations if e.line is not None]
    first = product.__code__.co_firstlineno
    assert lines == [first + 1, first + 1, first + 2, first + 2, first + 2, first + 1, first + 1]


def test_show_batching_rules_are_named() -> None:
    _, batched = traced(product, "f64[]", "vmap")
    assert origins(batched) == [
        ("sin", "sin", ("batching rule of sin",)),
        ("mul", "mul", ("batching rule of mul",)),
    ]


@pytest.mark.parametrize("transform", ["jvp", "linearize", "vjp", "grad", "vmap", "jit"])
def test_show_first_rule_is_that_of_the_origin(transform: str) -> None:
    """The rules are recorded apart from the origin: they agree on all equations, also inside of loops and branches."""
    before, stage = traced(everything, "f64[3]", transform)
    found = [e for e in stage.equations if e.relation == FOUND]
    assert len(found) > 0.8 * len(stage.equations)
    for equation in found:
        assert equation.origin is not None
        origin = before.equations[equation.origin]
        assert equation.line is not None
        assert str(equation.line) == str(origin.line)
        if equation.rules and equation.rules[0] != "sum of tangents":
            named = {origin.eqn.primitive.name, origin.eqn.params.get("name")}
            assert equation.rules[0].split(" of ")[1] in named


STACKS = ["jvp vmap grad", "linearize vjp", "grad vmap inline cse dce", "vjp jit grad", "jit vmap jvp cse", "grad grad"]


@pytest.mark.parametrize("names", STACKS)
@pytest.mark.parametrize("function", [product, everything, cube], ids=lambda f: f.__name__)
def test_show_page_has_the_programs_that_show_prints(function: Callable[..., Any], names: str) -> None:
    types = "f64[3]" if function is everything else "f64[]"
    with plain():
        expected = [*stages(function, parse_types(types), names.split(), (0,), 2)]
    for stage, shown in zip(traced(function, types, names), expected, strict=True):
        assert str(stage.closed) == shown.text, shown.title


def test_show_equation_inside_a_loop_comes_from_the_loop() -> None:
    def f(x: Any) -> Any:
        return scan(lambda c, t: (c * ops.cos(t), None), x[0], x)[0]

    base, grad = traced(f, "f64[3]", "grad")
    (loop,) = [i for i, e in enumerate(base.equations) if name(e) == "scan"]
    inside = base.inside(loop) - {loop}
    assert {name(base.equations[i]) for i in inside} == {"cos", "mul"}
    loops = [i for i, e in enumerate(grad.equations) if name(e) == "scan"]
    assert len(loops) == 2  # forward and backward
    for each in loops:
        assert grad.equations[each].origin == loop
        assert {grad.equations[i].origin for i in grad.inside(each) - {each}} <= inside


def test_show_program_traced_for_another_equation_is_unknown() -> None:
    """The rule of `cube` calls a function of jit, which is traced once: for the first of both calls."""
    tripled.clear_cache()
    _, stage = traced(lambda x: cube(x) + cube(ops.sin(x)), "f64[]", "jvp")
    calls = [e for e in stage.equations if e.eqn.params.get("name") == "tripled"]
    assert len(calls) == 2
    assert len({e.origin for e in calls}) == 2
    inside = [e for e in stage.equations if e.jaxpr is calls[0].eqn.params["jaxpr"].jaxpr]
    assert [e.relation for e in inside] == [UNKNOWN]


def test_show_equations_that_a_stage_makes_are_its_own() -> None:
    _, stage = traced(ops.sin, "f64[3]", "grad")  # of the sum
    assert [name(e) for e in stage.equations if e.relation == MADE] == ["reduce_sum", "broadcast_in_dim"]
    _, stage = traced(product, "f64[]", "jit")
    assert [name(e) for e in stage.equations if e.relation == MADE] == ["jit"]


def twice(x: Any) -> Any:
    unused = ops.exp(x)
    return ops.tanh(x) * ops.tanh(x), ops.cos(unused) * 0.0


def removed(stage: Stage) -> list[tuple[str, str]]:
    assert stage.before is not None
    return [(name(stage.before.equations[r.number]), r.reason) for r in stage.removed]


def test_show_reasons_of_passes() -> None:
    *_, common = traced(twice, "f64[]", "cse")
    assert removed(common) == [("tanh", "common subexpression: the same as")]
    (gone,) = common.removed
    tanh = common.equations[1]
    assert (name(tanh), gone.instead) == ("tanh", tanh.eqn.outvars[0])
    assert (gone.anchor, gone.after) == (1, True)

    def f(x: Any) -> Any:
        ops.exp(x)
        return ops.sin(x)

    *_, live = traced(f, "f64[]", "dce")
    assert removed(live) == [("exp", "dead: no result depends on it")]
    assert (live.removed[0].anchor, live.removed[0].after) == (0, False)
    *_, inlined = traced(lambda x: squared(x) + 1.0, "f64[]", "inline")
    assert removed(inlined) == [("jit", "the call is replaced by the equations inside of it")]
    assert origins(inlined) == [("sin", "sin", ()), ("mul", "mul", ()), ("add", "add", ())]


def fold_zeros(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Makes products with 0 numbers, and drops what is dead then."""
    stands: dict[Var, Literal] = {}
    eqns = []
    for eqn in closed.eqns:
        invars = [stands.get(x, x) if isinstance(x, Var) else x for x in eqn.invars]
        if eqn.primitive is ops.mul_p and any(isinstance(x, Literal) and x.val == 0 for x in invars):
            stands[eqn.outvars[0]] = Literal(np.float64(0.0))
        elif eqn.primitive is not ops.cos_p:
            eqns.append(eqn.replace(invars=invars))
    outvars = [stands.get(x, x) if isinstance(x, Var) else x for x in closed.outvars]
    return ClosedJaxpr(closed.jaxpr.replace(eqns=eqns, outvars=outvars), closed.consts)


def without_exp(closed: ClosedJaxpr) -> ClosedJaxpr:
    """A pass that removes what is needed: its reason is unknown."""
    eqns = [eqn for eqn in closed.eqns if eqn.primitive is not ops.exp_p]
    return ClosedJaxpr(closed.jaxpr.replace(eqns=eqns, outvars=[closed.jaxpr.invars[0]]), closed.consts)


def test_show_passes_of_jit_are_stages() -> None:
    found = traced(jit(twice, passes=(cse_jaxpr, fold_zeros)), "f64[]", "vmap")
    assert [stage.shown.title for stage in found] == [
        "twice", "cse_jaxpr(twice)", "fold_zeros(cse_jaxpr(twice))", "jit(fold_zeros(cse_jaxpr(twice)))",
        "vmap(jit(fold_zeros(cse_jaxpr(twice))))",
    ]  # fmt: skip
    assert removed(found[1]) == [("tanh", "common subexpression: the same as")]
    assert removed(found[2]) == [
        ("cos", "the pass does not tell why"),  # it was needed before: no result told that it was folded away
        ("mul", "folded: its result is 0.0"),
    ]
    assert [name(e) for e in found[3].equations] == ["exp", "tanh", "mul", "jit"]
    _, wrong, _ = traced(jit(lambda x: ops.exp(x), passes=(without_exp,)), "f64[]")
    assert removed(wrong) == []  # nothing is left beside which it stood


def test_show_inputs_tell_what_they_are() -> None:
    def f(w: Any, options: Any) -> Any:
        return w * options["scale"]

    base, stage = traced(f, "f64[3], {'scale': f64[]}", "vjp")
    assert base.inputs == [("the argument w", None), ("the argument options['scale']", None)]
    assert stage.inputs == [
        ("the input of f", 0), ("the input of f", 1), ("the cotangent of result 0 of f", None)
    ]  # fmt: skip
    *_, stage = traced(product, "f64[]", "jvp vmap")
    assert stage.inputs == [("a batch of the input of jvp(product)", i) for i in range(2)]


def test_show_recording_leaves_nothing_behind() -> None:
    tripled.clear_cache()
    was_plain = is_plain()
    with pytest.raises(ZeroDivisionError), recording():
        _ = 1 / 0
    traced(everything, "f64[3]", "grad vmap")
    assert rule_hook.use is rule_hook.plain
    assert is_plain() == was_plain
    closed = make_jaxpr(jit(everything))(np.ones(3))
    pending = [closed.jaxpr]
    while pending:
        for eqn in pending.pop().eqns:
            assert not isinstance(eqn.source, Origin)
            assert eqn.source is None or eqn.source.rules == ()
            pending += [inner.jaxpr for inner in eqn.params.values() if isinstance(inner, ClosedJaxpr)]


def test_show_linked_program_keeps_shared_programs_shared() -> None:
    closed = make_jaxpr(lambda x: squared(x) + squared(x))(1.0)
    linked = with_origins(closed, 3)
    first, second = (eqn.params["jaxpr"] for eqn in linked.eqns[:2])
    assert first is second
    assert str(linked) == str(closed)
    sources = [eqn.source for eqn in (*first.eqns, *linked.eqns)]
    assert [(s.stage, s.number) for s in sources if isinstance(s, Origin)] == [(3, i) for i in range(len(sources))]


def test_show_equations_of_a_stage_itself_have_no_line() -> None:
    """Their source is where the command was called; no later stage takes it for the user's."""
    _, _, batch, kept = traced(lambda x: x, "f64[]", "grad vmap dce")
    assert [(e.relation, e.line) for e in batch.equations] == [(MADE, None)]
    assert [(e.relation, e.line) for e in kept.equations] == [(FOUND, None)]
