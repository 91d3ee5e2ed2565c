"""`jvp`: a function and its derivative along a direction, of pytrees, with symbolic zeros."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.autodiff import jvp, jvp_jaxpr
from lawful.batching import vmap
from lawful.core import (
    ShapedArray,
    UnexpectedTracerError,
    Zero,
    check_jaxpr,
    float0,
    get_aval,
    parse_jaxpr,
)
from lawful.staging import ShapeDtypeStruct, make_jaxpr
from lawful.staging import jit as jit_by

jit = partial(jit_by, backend="numpy")

FLOAT0 = np.zeros((), float0)


def f(x: Any, y: Any) -> Any:
    return ops.sin(x) * y + ops.exp(x * y)


def test_jvp_value_and_the_derivative_along_a_direction(difference_quotient: Callable[..., Any]) -> None:
    primals, tangents = (np.array([0.3, -1.2]), np.array([2.0, 0.5])), (np.array([1.0, -2.0]), np.array([0.5, 3.0]))
    out, tangent = jvp(f, primals, tangents)
    np.testing.assert_array_equal(out, f(*primals))
    np.testing.assert_allclose(tangent, difference_quotient(f, primals, tangents), rtol=1e-7)


def test_jvp_primals_and_tangents_may_be_lists() -> None:
    assert jvp(lambda x, y: x * y, [2.0, 3.0], [1.0, 10.0]) == (6.0, 23.0)


def test_jvp_arguments_and_results_are_pytrees(require_same: Callable[..., None]) -> None:
    def function(point: Any, scales: Any) -> Any:
        return {"scaled": (point["x"] * scales[0], [point["y"] * scales[1]]), "nothing": None}

    primals = ({"x": np.array([1.0, 2.0]), "y": 3.0}, [4.0, 5.0])
    tangents = ({"x": np.array([1.0, 0.0]), "y": 1.0}, [10.0, 100.0])
    out, tangent = jvp(function, primals, tangents)
    require_same(out, function(*primals))
    require_same(tangent, {"scaled": (np.array([14.0, 20.0]), [305.0]), "nothing": None})


def test_jvp_tangent_has_the_type_of_the_output(require_same: Callable[..., None]) -> None:
    for x in (2.0, np.float64(2.0), np.float32(2.0), np.ones((2, 1), np.float16), 1j, np.complex64(2)):
        for function in (lambda x: x * 3.0, lambda x: ops.mul(x, x), lambda x: x, lambda x: 2 * (x + x)):
            out, tangent = jvp(function, (x,), (x,))
            assert get_aval(out) == get_aval(tangent) == get_aval(function(x))


def test_jvp_python_control_flow_on_values_works() -> None:
    def function(x: Any) -> Any:
        n = 0
        while x < 100.0 and n < 10:
            x = x * x if x > 2.0 else x * 3.0
            n += 1
        return x if n % 2 else -x

    # 1.5 → 4.5 → 20.25 → 410.0625: three steps, x ↦ (3x)⁴.
    out, tangent = jvp(function, (1.5,), (1.0,))
    assert out == 4.5**4
    assert tangent == 4 * 4.5**3 * 3
    assert jvp(lambda x: [x, -x][int(x)], (1.0,), (1.0,)) == (-1.0, -1.0)


def test_jvp_auxiliary_output_is_not_differentiated() -> None:
    out, tangent, aux = jvp(lambda x: (x * x, {"x": x, "name": "a string", "n": None}), (3.0,), (1.0,), has_aux=True)
    assert (out, tangent) == (9.0, 6.0)
    assert aux == {"x": 3.0, "name": "a string", "n": None}
    assert type(aux["x"]) is float, "the value, not a tracer"


def test_jvp_has_aux_under_enclosing_transformation() -> None:
    """An auxiliary output is differentiated and compiled by the enclosing transformation."""

    def function(x: Any) -> Any:
        _, _, aux = jvp(lambda y: (y, x * y), (x,), (1.0,), has_aux=True)
        return aux

    assert jvp(function, (3.0,), (1.0,)) == (9.0, 6.0)
    assert jit(function)(3.0) == 9.0


# Symbolic zeros.


def test_jvp_what_does_not_depend_on_the_inputs_has_no_tangent(primitives_of: Callable[..., Any]) -> None:
    def function(x: Any, c: Any) -> Any:
        return jvp(lambda x: x * ops.exp(ops.sin(c)), (x,), (1.0,))

    counts = primitives_of(make_jaxpr(function)(np.float64(2.0), np.float64(3.0)))
    assert counts["sin"] == counts["exp"] == 1
    assert counts["cos"] == counts["add"] == 0, "nothing is computed for the tangent of sin(c)"
    assert counts["mul"] == 2


def test_jvp_zero_among_the_tangents_costs_no_equation() -> None:
    closed = make_jaxpr(lambda x, y: ops.sin(x) * ops.exp(y))(np.float64(1), np.float64(1))
    both, nonzeros = jvp_jaxpr(closed, (True, True), False)
    assert nonzeros == (True,)
    one, nonzeros = jvp_jaxpr(closed, (True, False), False)
    assert nonzeros == (True,)
    none, nonzeros = jvp_jaxpr(closed, (False, False), False)
    assert nonzeros == (False,)
    assert [eqn.primitive.name for eqn in none.eqns] == ["sin", "exp", "mul"]
    assert [eqn.primitive.name for eqn in one.eqns] == ["sin", "cos", "mul", "exp", "mul", "mul"]
    assert len(both.eqns) == len(one.eqns) + 3, "d exp, its product, the sum"


def test_jvp_jaxpr_instantiate_zero_tangents() -> None:
    """A zero output tangent is instantiated only where `instantiate` asks for it."""
    closed = make_jaxpr(lambda x, y: (ops.sin(x), y))(np.ones(3), np.ones((2, 2)))
    derived, nonzeros = jvp_jaxpr(closed, (True, False), False)
    assert nonzeros == (True, False)
    assert [str(aval) for aval in derived.out_avals] == ["f64[3]", "f64[2,2]", "f64[3]"]
    for instantiate in (True, (False, True)):
        derived, nonzeros = jvp_jaxpr(closed, (True, False), instantiate)
        assert nonzeros == (True, True)
        assert [str(aval) for aval in derived.out_avals] == ["f64[3]", "f64[2,2]", "f64[3]", "f64[2,2]"]
        check_jaxpr(derived)
        assert not derived.consts, "a jaxpr inside another has no constants"


def test_jvp_jaxpr_does_its_work_once_for_a_jaxpr() -> None:
    closed = make_jaxpr(lambda x: ops.sin(x))(1.0)
    assert jvp_jaxpr(closed, (True,), False) is jvp_jaxpr(closed, (True,), False)
    assert jvp_jaxpr(closed, (True,), False) is not jvp_jaxpr(closed, (False,), False)


def test_jvp_rule_is_given_symbolic_zeros_and_may_return_them() -> None:
    from lawful.core import Primitive

    seen = []
    primitive = Primitive("autodifftest_second_only")
    primitive.def_impl(lambda x, y: x + y)

    @primitive.def_jvp
    def rule(primals: Any, tangents: Any) -> Any:
        seen.append([type(t) is Zero for t in tangents])
        return primitive.bind(*primals), Zero(get_aval(primals[0]).to_tangent_aval())

    assert jvp(lambda x: primitive.bind(x, 3.0), (1.0,), (1.0,)) == (4.0, 0.0)
    assert jvp(lambda x: primitive.bind(3.0, x), (1.0,), (1.0,)) == (4.0, 0.0)
    assert seen == [[False, True], [True, False]]


def test_jvp_constant_output_has_a_tangent_of_zeros(require_same: Callable[..., None]) -> None:
    constant = np.ones((2, 3), np.float32)
    out, tangent = jvp(lambda x: (constant, 2.0, x), (1.0,), (5.0,))
    require_same(out, (constant, 2.0, 1.0))
    require_same(tangent, (np.zeros((2, 3), np.float32), 0.0, 5.0))


def test_jvp_multiple_result_primitive_may_have_some_zeros(require_same: Callable[..., None]) -> None:
    out, tangent = jvp(lambda x: jit(lambda a: (a * 2.0, 3.0, a > 0))(x), (np.ones(2),), (np.ones(2),))
    require_same(out, (np.full(2, 2.0), 3.0, np.full(2, True)))
    require_same(tangent, (np.full(2, 2.0), 0.0, np.zeros(2, float0)))


# Integers and booleans: float0.


def test_jvp_integers_have_tangents_of_float0(require_same: Callable[..., None]) -> None:
    primals, tangents = (2.0, 3, np.array([True, False])), (1.0, FLOAT0, np.zeros(2, float0))
    out, tangent = jvp(lambda x, n, b: (x * n, n + 1, b), primals, tangents)
    require_same(out, (6.0, 4, np.array([True, False])))
    require_same(tangent, (3.0, FLOAT0, np.zeros(2, float0)))


def test_jvp_integer_on_the_way_has_no_derivative() -> None:
    assert jvp(lambda x: x * ops.convert_element_type(ops.floor(x), "int32"), (2.5,), (1.0,)) == (5.0, 2.0)
    assert jvp(lambda x: x * (x > 1.0), (2.5,), (1.0,)) == (2.5, 1.0)


def test_jvp_python_number_is_a_tangent_of_any_floating_scalar(require_same: Callable[..., None]) -> None:
    for x in (np.float32(2.0), np.float64(2.0), np.float16(2.0), np.complex64(2.0), 2.0):
        _, tangent = jvp(lambda x: x * x, (x,), (1,))
        require_same(tangent, jvp(lambda x: x * x, (x,), (np.asarray(1.0).astype(get_aval(x).dtype)[()],))[1])
    _, tangent = jvp(lambda x: x * x, (2.0,), (np.float64(1.0),))
    require_same(tangent, 4.0)


# Nesting: no perturbation confusion.


def test_jvp_classic_case_of_perturbation_confusion() -> None:
    assert jvp(lambda x: x * jvp(lambda y: x * y, (1.0,), (1.0,))[1], (1.0,), (1.0,)) == (1.0, 2.0)
    # d/dx (x · d/dy (x + y)) = 1: the inner derivative must not see x's own tangent.
    assert jvp(lambda x: x * jvp(lambda y: x + y, (1.0,), (1.0,))[1], (1.0,), (1.0,)) == (1.0, 1.0)


def test_jvp_outer_tracer_is_a_constant_to_the_inner_derivative() -> None:
    assert jvp(lambda x: jvp(lambda y: x * x, (x,), (1.0,))[1], (3.0,), (1.0,)) == (0.0, 0.0)
    assert jvp(lambda x: jvp(lambda y: y * y * x, (x,), (x,))[1], (3.0,), (1.0,)) == (54.0, 54.0)


def test_the_value_an_inner_jvp_gives_carries_the_outer_tangent() -> None:
    # The inner primal output x·y at y = x is x², whose derivative is 2x.
    assert jvp(lambda x: jvp(lambda y: x * y, (x,), (1.0,))[0], (3.0,), (1.0,)) == (9.0, 6.0)


@pytest.mark.parametrize("order", range(1, 7))
def test_jvp_derivatives_of_any_order(order: int) -> None:
    def derivative(function: Any) -> Any:
        return lambda x: jvp(function, (x,), (1.0,))[1]

    power = lambda x: x * x * x * x * x  # noqa: E731
    expected = [5.0, 20.0, 60.0, 120.0, 120.0, 0.0][order - 1] * 2.0 ** max(5 - order, 0)
    for wrap in (lambda g: g, jit):
        function = power
        for _ in range(order):
            function = wrap(derivative(function))
        assert function(2.0) == expected
        assert jit(function)(2.0) == expected
        assert vmap(function)(np.array([2.0, 2.0])).tolist() == [expected, expected]


def test_jvp_two_inner_derivatives_do_not_mix() -> None:
    def outer(x: Any) -> Any:
        a = jvp(lambda y: x * y, (2.0,), (1.0,))[1]  # x
        b = jvp(lambda y: a * y * y, (x,), (1.0,))[1]  # 2 a x = 2x²
        return a * b  # 2x³

    assert jvp(outer, (3.0,), (1.0,)) == (54.0, 54.0)


def test_jvp_nested_through_the_tangent() -> None:
    """The outer variable enters the inner jvp through the tangent alone."""
    # d/dx of the derivative of sin along x, which is cos(1)·x.
    value, tangent = jvp(lambda x: jvp(ops.sin, (1.0,), (x,))[1], (2.0,), (1.0,))
    assert (value, tangent) == (np.cos(1.0) * 2.0, np.cos(1.0))


def test_jvp_is_linear_in_the_tangent() -> None:
    x, (u, v) = np.array([0.3, -1.2]), (np.array([1.0, 2.0]), np.array([-3.0, 0.5]))
    push = lambda t: jvp(lambda x: ops.sin(x) * x, (x,), (t,))[1]  # noqa: E731
    np.testing.assert_allclose(push(2.0 * u - 3.0 * v), 2.0 * push(u) - 3.0 * push(v), rtol=1e-14)
    np.testing.assert_array_equal(push(np.zeros(2)), np.zeros(2))


def test_jvp_chain_rule() -> None:
    g, h = (lambda x: ops.sin(x) * x), (lambda x: ops.exp(x) + x)
    x, v = np.array([0.3, -1.2]), np.array([1.0, 2.0])
    np.testing.assert_allclose(
        jvp(lambda x: h(g(x)), (x,), (v,))[1], jvp(h, jvp(g, (x,), (v,))[:1], jvp(g, (x,), (v,))[1:])[1]
    )


# With the other transformations.


def test_jvp_of_jit_and_jit_of_jvp_agree(require_same: Callable[..., None]) -> None:
    x, v = np.array([0.3, -1.2]), np.array([1.0, 2.0])
    expected = jvp(f, (x, 2.0 * x), (v, v))
    require_same(jvp(jit(f), (x, 2.0 * x), (v, v)), expected, 1e-15)
    require_same(jit(lambda x, y, v: jvp(f, (x, y), (v, v)))(x, 2.0 * x, v), expected, 1e-15)


def test_jvp_of_vmap_and_vmap_of_jvp_agree(require_same: Callable[..., None]) -> None:
    x, v = np.array([0.3, -1.2]), np.array([1.0, 2.0])
    expected = jvp(f, (x, 2.0 * x), (v, v))
    require_same(jvp(vmap(f), (x, 2.0 * x), (v, v)), expected, 1e-15)
    require_same(vmap(lambda x, y, v: jvp(f, (x, y), (v, v)))(x, 2.0 * x, v), expected, 1e-15)


def test_jvp_types_alone_can_be_differentiated_while_tracing() -> None:
    closed = make_jaxpr(lambda x, v: jvp(lambda x: ops.sin(x), (x,), (v,)))(
        ShapeDtypeStruct((3,), "float32"), ShapeDtypeStruct((3,), "float32")
    )
    assert closed.out_avals == [ShapedArray((3,), "float32")] * 2
    check_jaxpr(closed)
    check_jaxpr(parse_jaxpr(str(closed)))


def test_jvp_user_exception_is_raised_unchanged() -> None:
    raised = KeyError("mine")

    def fail(x: Any) -> Any:
        raise raised

    with pytest.raises(KeyError) as caught:
        jvp(lambda x: jvp(fail, (x,), (1.0,)), (1.0,), (1.0,))
    assert caught.value is raised
    assert jvp(lambda x: x * x, (3.0,), (1.0,)) == (9.0, 6.0)


def test_a_tracer_kept_after_jvp_is_refused() -> None:
    kept: list[Any] = []
    jvp(lambda x: kept.append(x * 2.0) or x, (3.0,), (1.0,))
    (x,) = kept
    for use in (
        lambda: x + 1.0,
        lambda: ops.sin(x),
        lambda: jvp(lambda y: x * y, (1.0,), (1.0,)),
        lambda: jvp(lambda y: y, (x,), (1.0,)),
        lambda: jvp(lambda y: x, (1.0,), (1.0,)),
        jit(lambda: x),
    ):
        with pytest.raises(UnexpectedTracerError, match=r"of jvp made at .*, which has ended"):
            use()


def test_jvp_tracer_prints_its_value() -> None:
    printed: list[str] = []
    jvp(lambda x: printed.append(f"{x!r} {x:.1f}") or x, (3.0,), (1.0,))
    assert printed == ["Tracer(~f64[], jvp, value=3.0) 3.0"]


def test_jvp_empty_trees() -> None:
    assert jvp(lambda x: (), (1.0,), (1.0,)) == ((), ())
    assert jvp(lambda: 2.0, (), ()) == (2.0, 0.0)
    assert jvp(lambda x: None, ((),), ((),)) == (None, None)
    assert tree.leaves(jvp(lambda x: {}, ({},), ({},))) == []


def test_vmap_of_jvp_passes_the_function_through() -> None:
    x, t = np.arange(3.0), np.ones(3)

    def square(x: Any) -> Any:
        return x * x

    for mapped in (vmap(jvp, in_axes=(None, 0, 0)), jit(lambda x, t: vmap(jvp, (None, 0, 0))(square, (x,), (t,)))):
        out, tangent = mapped(square, (x,), (t,)) if mapped.__name__ == "jvp" else mapped(x, t)
        np.testing.assert_array_equal(out, x * x)
        np.testing.assert_array_equal(tangent, 2 * x)
