"""The derivatives of `cond` and `switch` are those of the branch taken, in both modes and to any order."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, hessian, jacfwd, jacrev, jvp, linear_transpose, linearize, value_and_grad, vjp
from lawful.batching import vmap
from lawful.control_flow import cond, switch
from lawful.core import check_jaxpr, float0, get_aval
from lawful.staging import jit as jit_by
from lawful.staging import make_jaxpr

jit = partial(jit_by, backend="numpy")

FLOAT0 = np.zeros((), float0)


def yes(x: Any, y: Any) -> Any:
    return ops.sin(x) * y, x + y


def no(x: Any, y: Any) -> Any:
    return ops.exp(x * y), y


FORMS: dict[str, Callable[..., Any]] = {
    "operands": lambda p, x, y: cond(p, yes, no, x, y),
    "closures": lambda p, x, y: cond(p, lambda: yes(x, y), lambda: no(x, y)),
    "closure and operand": lambda p, x, y: cond(p, lambda y: yes(x, y), lambda y: no(x, y), y),
    "trees": lambda p, x, y: cond(p, lambda d: yes(d["x"], *d["y"]), lambda d: no(d["x"], *d["y"]), {"x": x, "y": [y]}),
    "switch": lambda p, x, y: switch(ops.convert_element_type(p, "int32"), [no, yes, no], x, y),
    "jit": lambda p, x, y: jit(lambda p, x, y: cond(p, yes, no, x, y))(p, x, y),
    "jit in the branches": lambda p, x, y: cond(p, jit(yes), jit(no), x, y),
    "nested": lambda p, x, y: cond(
        p, lambda *a: cond(x > -5.0, yes, no, *a), lambda *a: cond(y > 5.0, yes, no, *a), x, y
    ),
    "in itself": lambda p, x, y: cond(True, lambda: cond(p, lambda: yes(x, y), lambda: no(x, y)), lambda: no(y, x)),
}

every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
both = pytest.mark.parametrize("pred", [True, False])

POINT = (np.float64(0.7), np.float64(-0.4))
TANGENT = (np.float64(2.0), np.float64(3.0))


@every_form
@both
def test_cond_forward_mode(form: Any, pred: bool, require_same: Callable[..., None]) -> None:
    expected = jvp(yes if pred else no, POINT, TANGENT)
    function = partial(form, pred)
    require_same(jvp(function, POINT, TANGENT), expected, 1e-15)
    require_same(jvp(jit(function), POINT, TANGENT), expected, 1e-15)
    require_same(jit(lambda *args: jvp(function, args, TANGENT))(*POINT), expected, 1e-15)
    out, f_jvp = linearize(function, *POINT)
    require_same((out, f_jvp(*TANGENT)), expected, 1e-15)


@every_form
@both
def test_cond_reverse_mode(form: Any, pred: bool, require_same: Callable[..., None]) -> None:
    ct = (np.float64(5.0), np.float64(-1.0))
    expected = vjp(yes if pred else no, *POINT)[1](ct)
    function = partial(form, pred)
    for g in (function, jit(function)):
        require_same(vjp(g, *POINT)[1](ct), expected, 1e-15)
        require_same(jit(lambda *args, g=g: vjp(g, *args)[1](ct))(*POINT), expected, 1e-15)


@every_form
@both
def test_cond_second_order(form: Any, pred: bool) -> None:
    def total(function: Any) -> Any:
        return lambda v: (lambda a, b: a * a + b)(*function(v[0], v[1]))

    v = np.array(POINT)
    expected = hessian(total(yes if pred else no))(v)
    for outer in (jacfwd, jacrev):
        for inner in (jacfwd, jacrev):
            np.testing.assert_allclose(outer(inner(total(partial(form, pred))))(v), expected, rtol=1e-13)
    np.testing.assert_allclose(jit(hessian(total(partial(form, pred))))(v), expected, rtol=1e-13)


@every_form
def test_cond_grad_with_predicate_depending_on_x(form: Any) -> None:
    function = lambda x, y: form(x > 0.5, x, y)[0]  # noqa: E731
    for x in (0.7, 0.2):
        branch = yes if x > 0.5 else no
        expected = grad(lambda x, y, b=branch: b(x, y)[0], (0, 1))(x, -0.4)
        for g in (grad(function, (0, 1)), jit(grad(function, (0, 1))), grad(jit(function), (0, 1))):
            np.testing.assert_allclose(g(x, -0.4), expected, rtol=1e-15)


@every_form
def test_cond_derived_jaxprs_are_well_typed(form: Any) -> None:
    for transformed in (
        lambda p, x, y: jvp(partial(form, p), (x, y), (x, y)),
        lambda p, x, y: linearize(partial(form, p), x, y)[1](x, y),
        lambda p, x, y: vjp(partial(form, p), x, y)[1]((x, y)),
        lambda p, x, y: grad(grad(lambda x: form(p, x, y)[0]))(x),
        lambda p, x, y: vmap(grad(lambda x, p: form(p, x, y)[0]), (0, None))(x * np.ones(3), p),
        lambda p, x, y: vmap(grad(lambda x, p: form(p, x, y)[0]))(x * np.ones(3), p & np.ones(3, bool)),
    ):
        for args in ((np.True_, *POINT), (True, 0.7, -0.4)):
            check_jaxpr(make_jaxpr(transformed)(*args))


# Which results and operands have derivatives.


@pytest.mark.parametrize("pred", [True, False])
def test_cond_result_constant_in_one_branch(pred: bool) -> None:
    function = lambda x: cond(pred, lambda: (x, 3.0), lambda: (2.0, x * x))  # noqa: E731
    out, tangent = jvp(function, (5.0,), (1.0,))
    assert (out, tangent) == (((5.0, 3.0), (1.0, 0.0)) if pred else ((2.0, 25.0), (0.0, 10.0)))
    _, f_vjp = vjp(function, 5.0)
    assert f_vjp((1.0, 10.0)) == ((1.0,) if pred else (100.0,))


def test_cond_jvp_constant_output_has_symbolic_zero() -> None:
    """An output that is constant in both branches has no tangent output."""

    def function(p: Any, x: Any) -> Any:
        return jvp(lambda x: cond(p, lambda: (x, 3.0), lambda: (x * x, 2.0)), (x,), (1.0,))

    (call,) = (e for e in make_jaxpr(function)(np.True_, np.float64(1.0)).eqns if e.primitive.name == "cond")
    assert len(call.outvars) == 3, "two results and one tangent"


def test_cond_operand_without_tangent() -> None:
    def function(p: Any, x: Any, c: Any) -> Any:
        return jvp(lambda x: cond(p, lambda x, c: x * c, lambda x, c: x + c, x, c), (x,), (x,))

    (call,) = (e for e in make_jaxpr(function)(np.True_, np.ones(3), np.ones(3)).eqns if e.primitive.name == "cond")
    assert len(call.invars) == 4, "the index, x, c, and the tangent of x"


def test_cond_integers_have_no_derivative(require_same: Callable[..., None]) -> None:
    function = lambda x, n: cond(x > 0, lambda x, n: (x * n, n), lambda x, n: (x, n + 1), x, n)  # noqa: E731
    out, tangent = jvp(function, (2.0, 3), (1.0, FLOAT0))
    require_same(out, (np.float64(6.0), np.int64(3)))
    require_same(tangent, (np.float64(3.0), FLOAT0))
    out, f_vjp = vjp(function, 2.0, 3)
    require_same(f_vjp((1.0, FLOAT0)), (3.0, FLOAT0))
    assert grad(lambda x: function(x, 3)[0])(-2.0) == 1.0


def test_cond_gradient_by_python_float_is_python_float() -> None:
    for pred in (True, False):
        gradient = grad(lambda x, p=pred: cond(p, lambda: x * x, lambda: ops.sin(x)))(3.0)
        assert type(gradient) is float
        assert type(jit(grad(lambda x, p=pred: cond(p, lambda: x, lambda: 2.0 * x)))(3.0)) is float


@pytest.mark.parametrize("x", [2.0, np.float32(2), np.full((2, 1), 2.0, np.float16), 1j], ids=repr)
def test_cond_tangents_have_the_types_of_values(x: Any) -> None:
    for pred in (True, False):
        function = lambda x, p=pred: cond(p, lambda x: x * x, lambda x: x * 3, x)  # noqa: E731
        out, tangent = jvp(function, (x,), (x,))
        assert get_aval(out) == get_aval(tangent) == get_aval(function(x))
        out, f_vjp = vjp(function, x)
        assert get_aval(f_vjp(out)[0]) == get_aval(x)


# Residuals of the linear part.


def test_cond_linear_part_repeats_no_primal_work(primitives_of: Callable[..., Any]) -> None:
    for wrap in (lambda f: f, jit):
        function = wrap(lambda p, x: cond(p, lambda x: ops.sin(ops.exp(x)), lambda x: ops.tanh(x) * ops.cos(x), x))
        for transformed in (linearize, vjp):
            found = primitives_of(transformed(partial(function, True), np.ones(3))[1].jaxpr)
            assert not set(found) & {"sin", "exp", "tanh", "cos"}
            assert found["cond"] == 1


def test_cond_residuals_of_branches_share_slots() -> None:
    _, f_vjp = vjp(lambda x: cond(x[0] > 0.0, ops.sin, ops.exp, x), np.ones(1000))
    assert [np.shape(const) for const in f_vjp.jaxpr.consts if np.ndim(const)] == [(1000,)]


def test_cond_unused_residuals_are_dropped() -> None:
    _, f_vjp = vjp(
        lambda x: cond(x[0] > 0.0, lambda: (ops.sin(x), x * 2.0), lambda: (ops.exp(x), x * 3.0))[1], np.ones(50)
    )
    kept = [const for const in f_vjp.jaxpr.consts if np.ndim(const)]
    assert all(set(np.ravel(const)) <= {2.0, 3.0} for const in kept)


def test_cond_linearize_calls_the_function_once() -> None:
    calls: list[str] = []
    _, f_vjp = vjp(
        lambda x: cond(True, lambda: (calls.append("yes"), x * x)[1], lambda: (calls.append("no"), x)[1]), 3.0
    )
    assert [f_vjp(float(i)) for i in range(3)] == [(0.0,), (6.0,), (12.0,)]
    assert sorted(calls) == ["no", "yes"]


def test_cond_linearize_copies_mutable_operands() -> None:
    x, c = np.arange(1.0, 4.0), np.arange(3.0)
    out, f_vjp = vjp(lambda x: cond(True, lambda: x * c * x, lambda: x), x)
    x[...] = c[...] = np.nan
    if out.flags.writeable:
        out[...] = np.nan
    np.testing.assert_array_equal(f_vjp(np.ones(3))[0], 2.0 * np.arange(1.0, 4.0) * np.arange(3.0))


# Transposition.


@pytest.mark.parametrize("pred", [True, False])
def test_cond_linear_transpose(pred: bool) -> None:
    def function(x: Any, y: Any) -> Any:
        return cond(pred, lambda x, y: (2.0 * x + y, x), lambda x, y: (5.0 * y, 3.0 * x), x, y)

    transposed = linear_transpose(function, 1.0, 1.0)
    assert transposed((1.0, 10.0)) == ((12.0, 1.0) if pred else (30.0, 5.0))
    assert jit(transposed)((1.0, 10.0)) == transposed((1.0, 10.0))
    twice = linear_transpose(transposed, (1.0, 1.0))
    assert twice((1.0, 10.0))[0] == function(1.0, 10.0)


def test_cond_linear_operand_unused_in_one_branch() -> None:
    for pred in (True, False):
        function = lambda x, y, p=pred: cond(p, lambda: 2.0 * x, lambda: 3.0 * y)  # noqa: E731
        assert linear_transpose(function, 1.0, 1.0)(1.0) == ((2.0, 0.0) if pred else (0.0, 3.0))
        assert grad(function, (0, 1))(1.0, 1.0) == ((2.0, 0.0) if pred else (0.0, 3.0))


# No perturbation confusion through branches.


def test_cond_nested_derivatives_do_not_confuse() -> None:
    def function(x: Any) -> Any:
        return x * cond(x > 0, lambda: grad(lambda y: x * y)(1.0), lambda: jvp(lambda y: x + y, (1.0,), (1.0,))[1])

    for transform in (lambda f: f, jit):
        assert transform(grad(function))(1.0) == 2.0
        assert transform(grad(function))(-1.0) == 1.0
        assert jvp(transform(function), (1.0,), (1.0,)) == (1.0, 2.0)
        assert value_and_grad(transform(function))(1.0) == (1.0, 2.0)
    assert vmap(grad(function))(np.array([1.0, -1.0])).tolist() == [2.0, 1.0]


def test_cond_grad_with_nan_in_the_other_branch() -> None:
    function = lambda x: cond(x > 0, lambda: ops.log(x), lambda: 0.0 * x)  # noqa: E731
    assert grad(function)(0.0) == 0.0
    assert grad(function)(2.0) == 0.5
    assert jit(grad(function))(0.0) == 0.0
