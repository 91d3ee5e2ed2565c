"""The derivative rules of pure primitives are traced for arguments of some types, and replayed afterwards."""

import weakref
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, jvp, linear_transpose, linearize, vjp
from lawful.core import Primitive, ShapedArray, Tracer, check_jaxpr, get_aval, plain
from lawful.staging import make_jaxpr


def total(x: Any) -> Any:
    """Returns the sum of a vector."""
    return ops.reduce_sum(x, (0,))


def cube() -> tuple[Primitive, list[Any]]:
    """Returns a primitive, and the list of what its jvp rule was given as primals."""
    primitive = Primitive("ruletest_cube", pure_rules=True)
    given: list[Any] = []
    primitive.def_impl(lambda x: x * x * x)
    primitive.def_abstract_eval(lambda x: x)

    @primitive.def_jvp
    def rule(primals: Any, tangents: Any) -> Any:
        given.extend(primals)
        (x,), (t,) = primals, tangents
        return primitive.bind(x), ops.mul(t, ops.mul(ops.square(x), 3.0))

    return primitive, given


@pytest.mark.fast
def test_a_rule_is_run_once_for_each_type_that_comes_again() -> None:
    primitive, given = cube()
    assert grad(lambda x: primitive.bind(x))(np.float64(2.0)) == 12.0
    assert jvp(lambda x: primitive.bind(x), (np.float64(2.0),), (np.float64(2.0),))[1] == 24.0
    assert given == [2.0, 2.0], "what comes once is computed at once"
    given.clear()
    for x in (1.0, 2.0, -3.0):
        assert grad(lambda x: primitive.bind(x))(np.float64(x)) == 3.0 * x * x
        assert jvp(lambda x: primitive.bind(x), (np.float64(x),), (np.float64(2.0),))[1] == 6.0 * x * x
    assert [x.aval for x in given] == [ShapedArray((), float)] * 2
    for _ in range(4):
        grad(lambda x: total(primitive.bind(x)))(np.ones(3))
    np.testing.assert_array_equal(given[2], np.ones(3))
    assert [x.aval for x in given[3:]] == [ShapedArray((3,), float)]


@pytest.mark.fast
def test_traced_rule_recorded_alike_each_time() -> None:
    """The recorded jaxpr does not depend on earlier calls."""
    primitive, given = cube()
    programs = [str(make_jaxpr(grad(lambda x: primitive.bind(x) * 2.0))(np.float64(2.0))) for _ in range(3)]
    assert len(set(programs)) == 1
    assert [x.aval for x in given] == [ShapedArray((), float)], "the rule is run once"


def test_a_new_rule_takes_effect_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    primitive, _ = cube()

    def derivatives() -> list[float]:
        f, x = lambda x: primitive.bind(x), np.float64(2.0)
        return [grad(f)(x), jvp(f, (x,), (1.0,))[1], linearize(f, x)[1](1.0), grad(grad(f))(x)]

    assert derivatives() == [12.0, 12.0, 12.0, 12.0]

    def doubled(primals: Any, tangents: Any) -> Any:
        return primitive.bind(*primals), ops.mul(tangents[0], 2.0)

    with monkeypatch.context() as patch:
        patch.setitem(primitive.rules, "jvp", doubled)
        assert derivatives()[:3] == [2.0, 2.0, 2.0]
    assert derivatives() == [12.0, 12.0, 12.0, 12.0]
    primitive.def_jvp(doubled)
    assert derivatives() == [2.0, 2.0, 2.0, 0.0]


def test_a_new_rule_of_what_a_rule_applies_takes_effect_at_once() -> None:
    inner = Primitive("ruletest_inner", pure_rules=True)
    inner.def_impl(lambda x: 2.0 * x)
    inner.def_abstract_eval(lambda x: x)
    inner.def_jvp(lambda xs, ts: (inner.bind(*xs), inner.bind(*ts)))
    inner.def_transpose(lambda ct, x: [ops.mul(ct, 2.0)])
    outer = Primitive("ruletest_outer", pure_rules=True)
    outer.def_impl(lambda x: 2.0 * x)
    outer.def_abstract_eval(lambda x: x)
    outer.def_jvp(lambda xs, ts: (outer.bind(*xs), inner.bind(*ts)))

    def derivatives() -> list[float]:
        f, x = lambda x: outer.bind(x), np.float64(1.0)
        return [grad(f)(x), jvp(f, (x,), (np.float64(1.0),))[1]]

    for _ in range(40):  # often enough for what is followed to be compiled
        assert derivatives() == [2.0, 2.0]
    inner.def_transpose(lambda ct, x: [ops.mul(ct, 3.0)])
    assert derivatives() == [3.0, 2.0]
    inner.def_impl(lambda x: 5.0 * x)
    assert derivatives() == [3.0, 5.0]


def test_a_rule_may_look_at_values() -> None:
    primitive = Primitive("ruletest_branching", pure_rules=True)
    primitive.def_impl(lambda x: abs(x))
    primitive.def_abstract_eval(lambda x: x)

    @primitive.def_jvp
    def rule(primals: Any, tangents: Any) -> Any:
        (x,), (t,) = primals, tangents
        return primitive.bind(x), t if x > 0 else ops.neg(t)

    for x in (2.0, -2.0, 3.0):
        assert grad(lambda x: ops.mul(primitive.bind(x), 5.0))(x) == 5.0 * np.sign(x)
        assert jvp(lambda x: primitive.bind(x), (x,), (1.0,))[1] == np.sign(x)


def test_a_rule_may_apply_what_looks_at_values() -> None:
    """The rule of the first is cached, and no derivative of that follows from types."""
    branching, outer = (
        Primitive("ruletest_inner_branching", pure_rules=True),
        Primitive("ruletest_around_branching", pure_rules=True),
    )
    for primitive in (branching, outer):
        primitive.def_impl(lambda x: x * x if x > 0 else 3.0 * x)
        primitive.def_abstract_eval(lambda x: x)

    @branching.def_jvp
    def rule(primals: Any, tangents: Any) -> Any:
        (x,), (t,) = primals, tangents
        return branching.bind(x), ops.mul(t, ops.mul(x, 2.0)) if x > 0 else ops.mul(t, 3.0)

    outer.def_jvp(lambda xs, ts: (outer.bind(*xs), ops.mul(ts[0], branching.bind(*xs))))
    for x, second in ((2.0, 4.0), (-2.0, 3.0), (2.0, 4.0)):
        derivative = grad(lambda x: outer.bind(x))
        assert grad(derivative)(np.float64(x)) == second
        assert jvp(derivative, (np.float64(x),), (np.float64(1.0),))[1] == second
        assert grad(lambda x: jvp(lambda x: outer.bind(x), (x,), (1.0,))[1])(np.float64(x)) == second


def test_a_transpose_rule_may_look_at_values() -> None:
    primitive = Primitive("ruletest_masked", pure_rules=True)
    primitive.def_impl(lambda x, keep: x if keep else 0.0 * x)
    primitive.def_abstract_eval(lambda x, keep: x)

    @primitive.def_jvp
    def jvp_rule(primals: Any, tangents: Any) -> Any:
        return primitive.bind(*primals), primitive.bind(tangents[0], primals[1])

    primitive.def_transpose(lambda ct, x, keep: [ct if keep else ops.mul(ct, 0.0), None])
    for keep in (True, False, True):
        f = lambda x, keep=keep: ops.sin(primitive.bind(x, np.bool_(keep)))  # noqa: E731
        assert grad(f)(0.0) == keep
        assert linear_transpose(lambda x, keep=keep: primitive.bind(x, np.bool_(keep)), 1.0)(3.0) == (3.0 * keep,)


def test_a_rule_may_make_arrays() -> None:
    """Such a rule is not cached, nor is one of its derivative."""
    weights = np.array([1.0, 2.0])
    primitive = Primitive("ruletest_weighted", pure_rules=True)
    primitive.def_impl(lambda x: x * x * weights)
    primitive.def_abstract_eval(lambda x: x)

    @primitive.def_jvp
    def rule(primals: Any, tangents: Any) -> Any:
        (x,), (t,) = primals, tangents
        return ops.mul(ops.mul(x, x), weights), ops.mul(t, ops.mul(ops.mul(x, 2.0), weights))

    def f(x: Any) -> Any:
        return total(primitive.bind(ops.sin(x)))

    x = np.array([0.5, 1.0])
    assert np.allclose(grad(f)(x), weights * np.sin(2 * x))
    assert np.allclose(grad(lambda x: total(grad(f)(x)))(x), 2 * weights * np.cos(2 * x))
    assert np.allclose(jvp(grad(f), (x,), (np.ones(2),))[1], 2 * weights * np.cos(2 * x))


def test_traced_rule_argnums_and_zero_cotangents() -> None:
    """A cached rule is chosen by which arguments have tangents and which cotangents are zero."""
    x, y = np.float64(2.0), np.float64(5.0)
    assert [grad(ops.mul, n)(x, y) for n in (0, 1, (0, 1), 0)] == [5.0, 2.0, (5.0, 2.0), 5.0]
    parts = np.arange(4.0)
    for chosen in ((0,), (1,), (0, 1), (0,)):

        def f(x: Any, chosen: tuple[int, ...] = chosen) -> Any:
            halves = ops.split(x, (2, 2))
            return sum(total(ops.mul(halves[i], halves[i])) for i in chosen)

        expected = np.where([0 in chosen, 0 in chosen, 1 in chosen, 1 in chosen], 2 * parts, 0.0)
        assert grad(f)(parts).tolist() == expected.tolist()


def test_traced_rule_arrays_written_into_later_do_not_count() -> None:
    factor, x = np.array([1.0, 2.0]), np.array([3.0, 4.0])

    def f(x: Any) -> Any:
        before = ops.mul(x, factor)
        factor[:] = 10.0
        return ops.add(before, ops.mul(x, factor))

    for pulled in (lambda: vjp(f, x)[1](np.ones(2))[0], lambda: linear_transpose(linearize(f, x)[1], x)(np.ones(2))[0]):
        factor[:] = [1.0, 2.0]
        assert pulled().tolist() == [11.0, 12.0]
    factor[:] = [1.0, 2.0]
    _, f_vjp = vjp(lambda x: ops.mul(x, ops.reshape(factor, (2,))), x)
    factor[:] = x[:] = -1.0
    assert f_vjp(np.ones(2))[0].tolist() == [1.0, 2.0]


def test_traced_rule_one_copy_is_made_of_array_used_often() -> None:
    factor = np.ones(1000)

    def f(x: Any) -> Any:
        for _ in range(50):
            x = ops.mul(x, factor)
        return x

    _, f_vjp = vjp(f, np.ones(1000))
    assert sum(x.nbytes for x in f_vjp.jaxpr.consts) == factor.nbytes


def test_the_program_of_a_vjp_is_what_it_runs() -> None:
    def f(x: Any, y: Any) -> Any:
        dead = ops.exp(x)
        return ops.div(ops.sin(x), y), ops.mul(y, y), dead

    x, y = np.float64(0.5), np.float64(2.0)
    _, f_vjp = vjp(lambda x, y: f(x, y)[:2], x, y)
    before = f_vjp((1.0, 3.0))
    assert not any(eqn.primitive is ops.exp_p for eqn in f_vjp.jaxpr.eqns)
    assert f_vjp((1.0, 3.0)) == before
    assert f_vjp((1.0, 3.0)) == f_vjp((1.0, 3.0))
    linear = linearize(lambda x, y: f(x, y)[:2], x, y)[1].jaxpr
    assert [eqn.primitive for eqn in linear.eqns] == [eqn.primitive for eqn in f_vjp.jaxpr.eqns]


@pytest.mark.fast
def test_grad_frees_residuals_during_backward_pass() -> None:
    """When the first of a chain is run backwards, the last one's residual is gone."""
    alive: list[list[bool]] = []
    made: list[Any] = []
    square_p, probe_p = Primitive("ruletest_square", pure_rules=True), Primitive("ruletest_probe", pure_rules=True)
    square_p.def_abstract_eval(lambda x: x)
    probe_p.def_abstract_eval(lambda x: x)
    probe_p.def_impl(lambda x: x)

    @square_p.def_impl
    def square(x: Any) -> Any:
        out = x * x
        made.append(weakref.ref(out))
        return out

    square_p.def_jvp(lambda xs, ts: (square_p.bind(*xs), ops.mul(ts[0], ops.mul(xs[0], 2.0))))
    probe_p.def_jvp(lambda xs, ts: (probe_p.bind(*xs), probe_p.bind(*ts)))

    @probe_p.def_transpose
    def probed(ct: Any, x: Any) -> list[Any]:
        if isinstance(ct, Tracer):
            raise TypeError("it wants to see values")
        alive.append([ref() is not None for ref in made])
        return [ct]

    def f(x: Any) -> Any:
        x = probe_p.bind(x)
        for _ in range(3):
            x = square_p.bind(x)
        return total(x)

    assert grad(f)(np.full(2, 1.1)).tolist() == pytest.approx([8 * 1.1**7] * 2)
    assert alive == [[False, False, False]]


@pytest.mark.parametrize("level", range(1, 4))
def test_grad_of_grad_in_both_layers(level: int) -> None:
    def f(x: Any) -> Any:
        return ops.mul(ops.sin(ops.mul(x, x)), ops.div(ops.exp(x), ops.add(x, 2.0)))

    def derivative() -> Any:
        g = f
        for _ in range(level):
            g = grad(g)
        return g(0.3), jvp(g, (0.3,), (1.0,))[1], str(get_aval(g(0.3)))

    replayed = [derivative() for _ in range(3)]
    with plain():
        by_rules = derivative()
    assert replayed == [by_rules] * 3


@pytest.mark.parametrize(
    "program",
    [
        lambda f: linearize(f, 3.0)[1].jaxpr,
        lambda f: make_jaxpr(lambda x: jvp(f, (x,), (1.0,)))(3.0),
    ],
    ids=["linearize", "jvp"],
)
@pytest.mark.parametrize(
    "inner", [lambda g, y: linearize(g, y)[0], lambda g, y: jvp(g, (y,), (1.0,))[0]], ids=["in linearize", "in jvp"]
)
def test_linearize_strong_tangents_of_weak_primals(program, inner) -> None:
    """The square of a weak number is weak and its tangent strong: a program of a sum of weak numbers does not fit."""

    def function(x: Any) -> Any:
        square = x**2
        return inner(lambda y: y + square, square)

    check_jaxpr(program(function))
