"""`vjp`: cotangents of the result pulled back to the arguments, by transposing the linear program."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.autodiff import (
    jvp,
    linearize,
    vjp,
)
from lawful.batching import vmap
from lawful.core import (
    ArgumentTypeError,
    NonArrayError,
    Primitive,
    UndefinedPrimal,
    UnexpectedTracerError,
    Zero,
    check_jaxpr,
    float0,
    get_aval,
)
from lawful.staging import clear_caches, make_jaxpr
from lawful.staging import jit as jit_by

jit = partial(jit_by, backend="numpy")

FLOAT0 = np.zeros((), float0)
POINT = (np.array([0.3, -1.2]), np.array([2.0, 0.5]))


def f(x: Any, y: Any) -> Any:
    return {"sum": ops.reduce_sum(ops.sin(x) * y, (0,)), "exp": ops.exp(x * y)}


CT = {"sum": np.float64(2.0), "exp": np.array([1.0, -3.0])}


@pytest.mark.parametrize("wrap", [lambda g: g, jit, lambda g: jit(jit(g))], ids=["f", "jit", "jit jit"])
def test_the_vjp_is_the_transpose_of_the_jvp(wrap: Any) -> None:
    tangents = (np.array([1.0, -2.0]), np.array([0.5, 3.0]))
    out, f_vjp = vjp(wrap(f), *POINT)
    pushed = jvp(wrap(f), POINT, tangents)[1]
    pulled = f_vjp(CT)
    assert tree.structure(out) == tree.structure(CT)
    left = sum(np.sum(w * v) for w, v in zip(tree.leaves(CT), tree.leaves(pushed), strict=True))
    right = sum(np.sum(w * v) for w, v in zip(pulled, tangents, strict=True))
    assert np.isclose(left, right, rtol=1e-14)


def test_vjp_arguments_and_results_are_pytrees(require_same: Callable[..., None]) -> None:
    def function(point: Any, scale: Any) -> Any:
        return [point["x"] * scale, {"y": point["y"]}, None]

    out, f_vjp = vjp(function, {"x": np.ones(2), "y": 3.0, "unused": (4.0,)}, 2.0)
    require_same(out, [np.full(2, 2.0), {"y": 3.0}, None])
    pulled = f_vjp([np.array([1.0, 10.0]), {"y": 5.0}, None])
    require_same(pulled, ({"x": np.array([2.0, 20.0]), "y": 5.0, "unused": (0.0,)}, 11.0))


def test_vjp_can_be_called_any_number_of_times(require_same: Callable[..., None]) -> None:
    calls = []
    _, f_vjp = vjp(lambda x: (calls.append(1), x * x)[1], np.array([1.0, 2.0]))
    for scale in (1.0, 2.0, 0.0):
        require_same(f_vjp(np.full(2, scale)), (np.array([2.0, 4.0]) * scale,))
    assert len(calls) == 1


def test_vjp_auxiliary_output_is_not_differentiated() -> None:
    out, f_vjp, aux = vjp(lambda x: (x * x, [x + 1.0, "name"]), 3.0, has_aux=True)
    assert (out, f_vjp(1.0), aux) == (9.0, (6.0,), [4.0, "name"])
    assert type(aux[0]) is float
    with pytest.raises(ArgumentTypeError, match="vjp of <lambda> with has_aux: expected a function that returns a"):
        vjp(lambda x: x, 3.0, has_aux=True)


@pytest.mark.parametrize(
    "x", [2.0, np.float32(2), np.ones((2, 1), np.float16), np.float64(2), 1j, np.complex64(1)], ids=repr
)
def test_vjp_cotangent_has_the_type_of_its_argument(x: Any) -> None:
    for function in (lambda x: x * 3.0, ops.sin, lambda x: x, lambda x: x * x * x):
        out, f_vjp = vjp(function, x)
        assert get_aval(out) == get_aval(function(x))
        assert get_aval(f_vjp(out)[0]) == get_aval(x)


def test_vjp_cotangents_of_integers_are_float0(require_same: Callable[..., None]) -> None:
    out, f_vjp = vjp(lambda x, n, b: (x * n, n, b), 2.0, 3, np.array([True, False]))
    require_same(out, (6.0, 3, np.array([True, False])))
    require_same(f_vjp((1.0, FLOAT0, np.zeros(2, float0))), (3.0, FLOAT0, np.zeros(2, float0)))
    with pytest.raises(ArgumentTypeError, match=re.escape("dtype float0 for ~i64[] at result[1]")):
        f_vjp((1.0, 1, np.zeros(2, float0)))


def test_vjp_argument_that_is_not_used_has_zeros(require_same: Callable[..., None]) -> None:
    _, f_vjp = vjp(lambda x, y, z: y, 1.0, np.ones(2), np.ones(3, np.float32))
    require_same(f_vjp(np.ones(2)), (0.0, np.ones(2), np.zeros(3, np.float32)))


def test_vjp_complex_cotangents_are_not_conjugated() -> None:
    _, f_vjp = vjp(lambda z: z * z, 2.0 + 1.0j)
    assert f_vjp(1.0 + 0.0j) == (4.0 + 2.0j,)
    _, f_vjp = vjp(ops.conj, 2.0 + 1.0j)
    assert f_vjp(0.0 + 1.0j) == (0.0 - 1.0j,)


def test_vjp_python_control_flow_on_values_works() -> None:
    _, f_vjp = vjp(lambda x: x * x if x > 0.0 else -x, -3.0)
    assert f_vjp(1.0) == (-1.0,)


# Residuals of the forward run.


def test_vjp_jaxpr_is_that_of_linearize() -> None:
    _, f_vjp = vjp(f, *POINT)
    assert str(f_vjp.jaxpr) == str(linearize(f, *POINT)[1].jaxpr)
    assert repr(f_vjp) == f"VJPFunction({f_vjp.jaxpr})"
    check_jaxpr(f_vjp.jaxpr)


def test_vjp_jaxpr_is_the_same_from_the_first_call_on() -> None:
    """A rule runs in the first call, and its cached program in later ones, where residuals come in another order."""
    for function in (f, lambda x, y: ops.tanh(x * 2.0) * np.float64(3.0) / y):
        clear_caches()
        texts = [str(transform(function, *POINT)[1].jaxpr) for transform in (vjp, linearize) * 2]
        assert texts == texts[:1] * 4


@pytest.mark.parametrize("wrap", [lambda g: g, jit], ids=["f", "jit"])
def test_vjp_unused_residuals_are_not_kept(wrap: Any) -> None:
    def function(x: Any) -> Any:
        unused = ops.exp(ops.sin(x))
        ops.cos(unused)
        return ops.tanh(x * 2.0)

    _, f_vjp = vjp(wrap(function), POINT[0])
    arrays = [const for const in f_vjp.jaxpr.consts if np.ndim(const) and len(np.unique(const)) > 1]
    assert len(arrays) <= 2, "what the derivative of tanh needs, and nothing of sin, exp or cos"
    for const in arrays:
        assert any(
            np.allclose(const, g(np.tanh(POINT[0] * 2.0))) for g in (lambda t: t, lambda t: 1 - t * t, lambda t: t * t)
        )


def test_vjp_sum_keeps_nothing() -> None:
    for function in (
        lambda x: x + x,
        lambda x: ops.reduce_sum(x, (0,)),
        lambda x: ops.transpose(x, (0,)),
        lambda x: -x,
    ):
        assert vjp(function, np.ones(1000))[1].jaxpr.consts in ([], ())


def test_vjp_constant_output_has_no_residuals() -> None:
    """An output that does not depend on the arguments leaves no residuals."""
    c = np.linspace(0.0, 1.0, 1000)
    out, f_vjp = vjp(lambda x: (ops.sin(c) * ops.exp(c), 2.0 * x), 1.0)
    np.testing.assert_array_equal(out[0], np.sin(c) * np.exp(c))
    assert all(np.size(const) < 1000 for const in f_vjp.jaxpr.consts)
    assert f_vjp((c, 1.0)) == (2.0,)


# Symbolic zeros.


def test_vjp_cotangent_that_nobody_gives_is_a_symbolic_zero() -> None:
    seen: list[Any] = []
    pair = Primitive("autodifftest_pair", multiple_results=True)
    pair.def_impl(lambda x, y: [x, y])
    pair.def_abstract_eval(lambda x, y: [x, y])

    @pair.def_jvp
    def jvp_rule(primals: Any, tangents: Any) -> Any:
        tangents = [np.zeros(()) if type(t) is Zero else t for t in tangents]
        return pair.bind(*primals), pair.bind(*tangents)

    @pair.def_transpose
    def transpose(cts: Any, x: Any, y: Any) -> Any:
        seen.append([type(ct) is Zero for ct in cts])
        assert type(x) is type(y) is UndefinedPrimal
        return cts

    _, f_vjp = vjp(lambda x, y: pair.bind(x, y)[0], np.float64(1.0), np.float64(2.0))
    assert f_vjp(3.0) == (3.0, 0.0)
    assert seen == [[False, True]]


def test_vjp_equation_whose_cotangents_are_all_zero_is_skipped(primitives_of: Callable[..., Any]) -> None:
    def function(x: Any) -> Any:
        _, f_vjp = vjp(lambda x, y: (x * 2.0, ops.sin(y)), x, x)
        return f_vjp((x, x))

    both = primitives_of(make_jaxpr(function)(np.ones(2)))
    assert both["cos"] == 1

    def one(x: Any) -> Any:
        _, f_vjp = vjp(lambda x, y: x * 2.0, x, x)
        return f_vjp(x)

    assert primitives_of(make_jaxpr(one)(np.ones(2)))["cos"] == 0


# Wrong cotangents.


@pytest.mark.parametrize(
    ("ct", "words"),
    [
        ({"sum": 1.0, "exp": np.ones(3)}, "expected a cotangent of type f64[2] at result['exp'], got f64[3]"),
        ({"sum": 1.0, "exp": np.ones(2, np.float32)}, "of type f64[2] at result['exp'], got f32[2]"),
        ({"sum": np.ones(1), "exp": np.ones(2)}, "of type f64[] at result['sum'], got f64[1]"),
        ({"sum": 1.0}, "expected cotangents of the same tree as the result, PyTreeDef({'exp': *, 'sum': *})"),
        (1.0, "got PyTreeDef(*)"),
        ({"sum": 1.0, "exp": None}, "got PyTreeDef({'exp': None, 'sum': *})"),
        ({"sum": 1.0, "exp": [1.0, 2.0]}, "got PyTreeDef({'exp': [*, *], 'sum': *})"),
    ],
)
def test_vjp_wrong_cotangent_error(ct: Any, words: str) -> None:
    _, f_vjp = vjp(f, *POINT)
    with pytest.raises(ArgumentTypeError) as caught:
        f_vjp(ct)
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"{__file__}:")
    f_vjp(CT)


def test_vjp_python_number_is_a_cotangent_of_any_floating_scalar(require_same: Callable[..., None]) -> None:
    for x in (np.float32(2.0), np.float16(2.0), 2.0, np.complex64(2.0)):
        require_same(vjp(lambda x: x * x, x)[1](1), (x * 2,))


def test_vjp_refuses_non_arrays() -> None:
    with pytest.raises(NonArrayError, match=r"vjp: expected arrays or numbers .* at argument 1\['k'\]"):
        vjp(lambda x, d: x, 1.0, {"k": "a"})
    with pytest.raises(NonArrayError, match="vjp of <lambda>: expected a function that returns arrays"):
        vjp(lambda x: "a", 1.0)
    with pytest.raises(ArgumentTypeError, match=re.escape("write vjp(f, …), not vjp(f(x))")):
        vjp(1.0, 1.0)  # type: ignore[arg-type]


# With the other transformations.


def test_vjp_pulled_back_can_be_transformed(require_same: Callable[..., None]) -> None:
    _, f_vjp = vjp(f, *POINT)
    expected = f_vjp(CT)
    require_same(jit(f_vjp)(CT), expected, 1e-15)
    require_same(jvp(f_vjp, (CT,), (CT,)), (expected, expected), 1e-15)
    batch = tree.map(lambda x: np.stack([x, 2.0 * x]), CT)
    require_same(vmap(f_vjp)(batch), tree.map(lambda x: np.stack([x, 2.0 * x]), expected), 1e-15)
    # It is linear, so that its own vjp is the derivative pushed forward.
    _, back = vjp(f_vjp, CT)
    require_same(back(expected)[0], jvp(f, POINT, expected)[1], 1e-15)


def test_vjp_whole_inside_jit_vmap_and_jvp(require_same: Callable[..., None]) -> None:
    def pulled(x: Any, y: Any) -> Any:
        return vjp(f, x, y)[1](CT)

    expected = pulled(*POINT)
    require_same(jit(pulled)(*POINT), expected, 1e-15)
    batch = [np.stack([x, x]) for x in POINT]
    require_same(vmap(pulled)(*batch), tree.map(lambda x: np.stack([x, x]), expected), 1e-15)
    step = 1e-6
    direction = (np.array([1.0, -2.0]), np.array([0.5, 3.0]))
    above = pulled(*(x + step * v for x, v in zip(POINT, direction, strict=True)))
    below = pulled(*(x - step * v for x, v in zip(POINT, direction, strict=True)))
    for got, a, b in zip(jvp(pulled, POINT, direction)[1], above, below, strict=True):
        np.testing.assert_allclose(got, (a - b) / (2 * step), rtol=1e-7)


def test_vjp_function_leaked_from_enclosing_trace() -> None:
    """A vjp function called after its enclosing transformation has ended raises UnexpectedTracerError."""
    kept: list[Any] = []
    jvp(lambda x: kept.append(vjp(lambda y: x * y, 2.0)[1]) or x, (3.0,), (1.0,))
    with pytest.raises(UnexpectedTracerError, match="which has ended"):
        kept[0](1.0)


def test_a_vjp_function_may_leave_the_function_that_made_it() -> None:
    def outer(x: Any) -> Any:
        def inner() -> Any:
            return vjp(lambda y: y * y * x, x)[1]

        return inner()(1.0)[0]

    assert jvp(outer, (3.0,), (1.0,)) == (18.0, 12.0)


def test_vjp_exception_in_a_transpose_rule_arrives_untouched() -> None:
    raised = KeyError("mine")
    primitive = Primitive("autodifftest_raising")
    primitive.def_impl(lambda x: x)
    primitive.def_abstract_eval(lambda x: x)
    primitive.def_jvp(lambda primals, tangents: (primitive.bind(*primals), primitive.bind(*tangents)))

    @primitive.def_transpose
    def transpose(ct: Any, x: Any) -> Any:
        raise raised

    _, f_vjp = vjp(lambda x: primitive.bind(x), 1.0)
    with pytest.raises(KeyError) as caught:
        f_vjp(1.0)
    assert caught.value is raised


def test_vjp_empty_trees() -> None:
    assert vjp(lambda x: (), 1.0)[1](()) == (0.0,)
    assert vjp(lambda: 2.0)[1](1.0) == ()


@pytest.mark.parametrize("numbers", [((1,), (0,)), ((0,), (1,)), ((1,), (1,)), ((0,), (0,))], ids=str)
def test_vjp_each_operand_of_a_product_keeps_its_precision(numbers: Any) -> None:
    """The cotangent of one operand is a product with the other one, in the order that needs no transposition."""
    x, y, ct = np.ones((3, 3)), np.ones((3, 3)), np.ones((3, 3))

    def pulled(x: Any, y: Any, ct: Any) -> Any:
        product = lambda x, y: ops.dot_general(x, y, (numbers, ((), ())), ("default", "highest"))  # noqa: E731
        return vjp(product, x, y)[1](ct)

    jaxpr = make_jaxpr(pulled)(x, y, ct).jaxpr
    x_var, y_var, ct_var = jaxpr.invars
    of_forward = {x_var: "default", y_var: "highest"}
    # A cotangent has the precision of its own operand, not of the other operand of the product.
    products = [eqn for eqn in jaxpr.eqns if eqn.primitive.name == "dot_general" and ct_var in eqn.invars]
    assert len(products) == 2
    assert all(eqn.primitive.name == "dot_general" for eqn in jaxpr.eqns)
    for eqn in products:
        for operand, precision in zip(eqn.invars, eqn.params["precision"], strict=True):
            other = next(var for var in eqn.invars if var is not ct_var)
            wanted = of_forward[other] if operand is other else of_forward[{x_var: y_var, y_var: x_var}[other]]
            assert precision == wanted
