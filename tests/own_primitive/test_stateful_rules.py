"""A rule of a primitive runs each time, and so sees what it reads beside its arguments, unless its rules are pure."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import checkpoint, grad, hessian, jvp, linear_transpose, linearize, vjp
from lawful.batching import vmap
from lawful.control_flow import cond, fori_loop, scan, while_loop
from lawful.core import Primitive, ShapedArray, UndefinedPrimal, eval_closed_jaxpr
from lawful.custom_rules import custom_jvp, custom_vjp
from lawful.ops import composite
from lawful.staging import jit, make_jaxpr
from lawful.taylor import jet

X, ONES = np.array([0.5, 2.0]), np.ones(2)


class Scaled:
    """A linear primitive ``x ↦ x`` whose derivative, transpose and batching rules multiply by ``scale``."""

    def __init__(self, *, pure_rules: bool = False) -> None:
        self.state = state = SimpleNamespace(scale=1.0, jvp=0, transpose=0, batch=0)
        self.primitive = primitive = Primitive("scaled", pure_rules=pure_rules)
        primitive.def_impl(lambda x: x * 1)
        primitive.def_abstract_eval(lambda x: ShapedArray(x.shape, x.dtype, x.weak_type))

        primitive.def_lowering(lambda ctx, x: x)

        @primitive.def_jvp
        def rule(primals: Any, tangents: Any) -> tuple[Any, Any]:
            state.jvp += 1
            return primitive.bind(*primals), ops.mul(tangents[0], state.scale)

        @primitive.def_transpose
        def transpose(ct: Any, x: Any) -> list[Any]:
            state.transpose += 1
            return [ops.mul(ct, state.scale) if type(x) is UndefinedPrimal else None]

        @primitive.def_batch
        def batch(args: Any, dims: Any) -> tuple[Any, Any]:
            state.batch += 1
            return ops.mul(primitive.bind(*args), state.scale), dims[0]

    def __call__(self, x: Any) -> Any:
        return self.primitive.bind(x)


def _applied_by_a_rule(op: Scaled) -> Any:
    """Returns a primitive with pure rules, whose jvp rule differentiates by another one."""
    primitive = Primitive("applying", pure_rules=True)
    primitive.def_impl(lambda x: x * 1)
    primitive.def_abstract_eval(lambda x: x)
    primitive.def_jvp(lambda primals, tangents: (primitive.bind(*primals), jvp(op, primals, tangents)[1]))
    primitive.def_batch(lambda args, dims: (primitive.bind(*args), dims[0]))
    return primitive.bind


def _batched_by_a_rule(op: Scaled) -> Any:
    """Returns a primitive with pure rules, whose batching rule maps another one."""
    primitive = Primitive("batching", pure_rules=True)
    primitive.def_abstract_eval(lambda x: x)
    primitive.def_batch(lambda args, dims: (vmap(op)(*args), dims[0]))
    return primitive.bind


def _nested(op: Scaled) -> Callable[[Any], Any]:
    """Returns loops and branches in each other."""

    def step(carry: Any, _: Any) -> tuple[Any, None]:
        return cond(True, lambda c: scan(lambda d, _: (op(d), None), c, None, length=1)[0], lambda c: c, carry), None

    return lambda x: scan(step, x, None, length=1)[0]


#: Functions that apply the primitive once to their argument.
WRAPPERS: dict[str, Callable[[Scaled], Callable[[Any], Any]]] = {
    "itself": lambda op: op,
    "promoted": lambda op: lambda x: op(x + 1) * 1,
    "rule_of_another": _applied_by_a_rule,
    "composite": lambda op: composite()(lambda x: op(x) * 1.0),
    "scan": lambda op: lambda x: scan(lambda c, _: (op(c), None), x, None, length=1)[0],
    "while": lambda op: lambda x: while_loop(lambda s: s[0] < 1, lambda s: (s[0] + 1, op(s[1])), (0, x))[1],
    "fori": lambda op: lambda x: fori_loop(0, 1, lambda _, c: op(c), x),
    "cond": lambda op: lambda x: cond(True, op, lambda x: x, x),
    "nested": _nested,
    "jit": lambda op: jit(op, backend="numpy"),
    "jit_by_xla": lambda op: jit(op, backend="xla"),
    "jit_of_scan": lambda op: jit(lambda x: scan(lambda c, _: (op(c), None), x, None, length=1)[0], backend="numpy"),
    "jit_inline": lambda op: jit(op, inline=True),
    "checkpoint": lambda op: checkpoint(op),
}

#: Derivatives at ones, each of which multiplies by ``scale``.
DERIVATIVES: dict[str, Callable[[Callable[[Any], Any]], Any]] = {
    "grad": lambda f: grad(lambda x: f(x).sum())(X),
    "vjp": lambda f: vjp(f, X)[1](ONES)[0],
    "jvp": lambda f: jvp(f, (X,), (ONES,))[1],
    "linearize": lambda f: linearize(f, X)[1](ONES),
    "jvp_of_linearize": lambda f: jvp(lambda t: linearize(f, X)[1](t), (X,), (ONES,))[1],
    "vmap_of_grad": lambda f: vmap(grad(lambda x: f(x)))(X),
    "make_jaxpr": lambda f: eval_closed_jaxpr(make_jaxpr(lambda x: jvp(f, (x,), (ONES,))[1])(X), X)[0],
    "jet": lambda f: jet(f, (X,), ([ONES],))[1][0],
}


def _at_each_scale(op: Scaled, compute: Callable[[], Any]) -> list[Any]:
    found = []
    for scale in range(6):
        op.state.scale = float(scale)
        found.append(np.asarray(compute()).tolist())
    return found


EXPECTED = [[float(scale)] * 2 for scale in range(6)]


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("derivative", DERIVATIVES)
def test_derivative_reads_state(wrapper: str, derivative: str) -> None:
    op = Scaled()
    function = WRAPPERS[wrapper](op)
    assert _at_each_scale(op, lambda: DERIVATIVES[derivative](function)) == EXPECTED


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_linear_transpose_reads_state(wrapper: str) -> None:
    op = Scaled()
    function = WRAPPERS[wrapper](op)
    if wrapper == "rule_of_another":
        function = op
    if wrapper == "promoted":
        function = lambda x: op(x * 1.0)  # noqa: E731
    assert _at_each_scale(op, lambda: linear_transpose(function, X)(ONES)[0]) == EXPECTED


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_vmap_reads_state(wrapper: str) -> None:
    op = Scaled()
    function = WRAPPERS[wrapper](op)
    if wrapper == "promoted":
        function = lambda x: op(x * 1.0)  # noqa: E731
    if wrapper == "rule_of_another":
        function = _batched_by_a_rule(op)
    assert _at_each_scale(op, lambda: vmap(function)(ONES)) == EXPECTED


@pytest.mark.parametrize("derivative", ["grad", "jvp", "linearize"])
def test_custom_jvp_rule_reads_state(derivative: str) -> None:
    op = Scaled()

    @custom_jvp
    def function(x: Any) -> Any:
        return x * 1.0

    @function.defjvp
    def rule(primals: Any, tangents: Any) -> tuple[Any, Any]:
        return primals[0], tangents[0] * op.state.scale

    assert _at_each_scale(op, lambda: DERIVATIVES[derivative](function)) == EXPECTED


def test_custom_vjp_rule_reads_state() -> None:
    op = Scaled()

    @custom_vjp
    def function(x: Any) -> Any:
        return x * 1.0

    function.defvjp(lambda x: (x * 1.0, None), lambda _, ct: (ct * op.state.scale,))
    assert _at_each_scale(op, lambda: DERIVATIVES["grad"](function)) == EXPECTED


def test_elementwise_derivative_reads_state() -> None:
    op = Scaled()
    function = ops.elementwise(
        "own_identity", "", np.positive, "abs", derivatives=[lambda tangent, ans, x: tangent * op.state.scale]
    )
    assert _at_each_scale(op, lambda: DERIVATIVES["grad"](function)) == EXPECTED


@pytest.mark.parametrize("derivative", ["grad", "vjp", "jvp", "linearize"])
def test_rule_runs_once_for_each_application(derivative: str) -> None:
    op = Scaled()
    for call in range(1, 6):
        DERIVATIVES[derivative](lambda x: op(op(x)))
        assert op.state.jvp == 2 * call


@pytest.mark.fast
def test_pure_rules_are_cached() -> None:
    op = Scaled(pure_rules=True)
    for _ in range(6):
        DERIVATIVES["grad"](op)
    assert op.state.jvp == 2, "once at values, once on types"


def test_rules_within_nested_loops_run_linearly_often() -> None:
    """A rule in a jaxpr at depth n runs as often as at depth 1, up to a factor, and not exponentially often."""
    op = Scaled()

    def nested(depth: int) -> Callable[[Any], Any]:
        inner = nested(depth - 1) if depth else op
        return lambda x: scan(lambda c, _: (inner(c), None), x, None, length=1)[0]

    counts = []
    for depth in (1, 4):
        op.state.jvp = 0
        DERIVATIVES["grad"](nested(depth))
        counts.append(op.state.jvp)
    assert counts[1] <= 4 * counts[0]


@pytest.mark.fast
def test_jit_of_impure_rules_compiles_once() -> None:
    """The jaxpr of its rules is deduplicated in each call, so that the compiled program is reused."""
    op, compiled = Scaled(), 0

    def specialise(avals: Any, compile: Any) -> Any:
        nonlocal compiled
        compiled += 1
        return lambda x: x * 1

    other = Primitive("counted", pure_rules=True)
    other.def_abstract_eval(lambda x: x)
    other.def_impl(lambda x: x * 1)
    other.def_rule("numpy", specialise)
    other.def_jvp(lambda primals, tangents: (other.bind(*primals), ops.mul(tangents[0], 1.0)))
    function = jit(lambda x: op(other.bind(x)), backend="numpy")
    for _ in range(4):
        DERIVATIVES["grad"](function)
    before = compiled
    for _ in range(4):
        DERIVATIVES["grad"](function)
    assert op.state.jvp >= 8
    assert compiled == before


def test_specialisation_for_numpy_runs_each_time() -> None:
    op = Scaled()
    op.primitive.def_rule("numpy", lambda avals, compile: lambda x: x * op.state.scale)
    function = jit(op, backend="numpy")
    assert _at_each_scale(op, lambda: function(ONES)) == EXPECTED


def test_lowering_reads_state_at_each_compilation() -> None:
    op = Scaled()
    op.primitive.def_lowering(lambda ctx, x: ctx.apply(scaled, x)[0])

    def scaled(x: Any) -> list[Any]:
        return [x * op.state.scale]

    def compiled() -> Any:
        return jit(lambda x: op(x), backend="xla")(ONES)

    assert _at_each_scale(op, compiled) == EXPECTED


def test_wider_cache_of_jaxprs_keeps_no_impure_result() -> None:
    op = Scaled()
    function = jit(op, backend="numpy")
    second = lambda: hessian(lambda x: function(x * x).sum())(X)  # noqa: E731
    found = []
    for scale in (1.0, 3.0):
        op.state.scale = scale
        found.append(second().tolist())
    assert found == [[[2.0, 0.0], [0.0, 2.0]], [[6.0, 0.0], [0.0, 6.0]]]
