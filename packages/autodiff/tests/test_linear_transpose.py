"""`linear_transpose`: the transpose of a linear function, and what a function that is not linear is told."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, jvp, linear_transpose, transpose_jaxpr
from lawful.batching import vmap
from lawful.core import (
    ArgumentTypeError,
    MissingRuleError,
    NonArrayError,
    NotLinearError,
    Primitive,
    TracerBoolConversionError,
    Zero,
    alpha_equivalent,
    check_jaxpr,
    eval_closed_jaxpr,
    get_aval,
)
from lawful.staging import ShapeDtypeStruct, make_jaxpr
from lawful.staging import jit as jit_by

jit = partial(jit_by, backend="numpy")

MATRIX = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def times_matrix(x: Any) -> Any:
    return ops.dot_general(MATRIX, x, (((1,), (0,)), ((), ())))


LINEAR_FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "matrix": (times_matrix, (np.ones(3),)),
    "jit": (jit(times_matrix), (np.ones(3),)),
    "scale": (lambda x: 3.0 * x / 2.0, (np.ones(3),)),
    "two arguments": (lambda x, y: 2.0 * x - times_matrix(y)[0], (1.0, np.ones(3))),
    "used twice": (lambda x: x[:2] + x[1:], (np.ones(3),)),
    "tree": (lambda d: {"sum": ops.reduce_sum(d["x"], (0,)), "x": [d["x"], -d["y"]]}, ({"x": np.ones(3), "y": 1.0},)),
    "shapes": (lambda x: ops.transpose(ops.broadcast_in_dim(x, (2, 3), (1,)), (1, 0)), (np.ones(3),)),
    "concatenate": (lambda x, y: ops.concatenate([y, x, 2.0 * y], 0), (np.ones(3), np.ones(2))),
    "select": (lambda x: ops.select_n(np.array([True, False, True]), x, 2.0 * x), (np.ones(3),)),
    "vmap": (vmap(lambda x: x * np.array([1.0, 2.0])), (np.ones(3),)),
    "float32": (lambda x: ops.convert_element_type(x, "float64") * 2.0, (np.ones(2, np.float32),)),
}
every_linear_function = pytest.mark.parametrize("name", LINEAR_FUNCTIONS)


def drawn_like(value: Any, seed: int) -> Any:
    from lawful import tree

    random = np.random.default_rng(seed)
    return tree.map(
        lambda x: (
            np.asarray(random.normal(size=np.shape(x))).astype(get_aval(x).dtype)
            if np.ndim(x)
            else float(random.normal())
        ),
        value,
    )


def inner_product(a: Any, b: Any) -> float:
    from lawful import tree

    return sum(float(np.sum(x * y)) for x, y in zip(tree.leaves(a), tree.leaves(b), strict=True))


@every_linear_function
def test_it_is_the_transpose(name: str) -> None:
    function, primals = LINEAR_FUNCTIONS[name]
    v = drawn_like(primals, 0)
    w = drawn_like(function(*primals), 1)
    transposed = linear_transpose(function, *primals)
    assert np.isclose(inner_product(w, function(*v)), inner_product(transposed(w), v), rtol=1e-6)


@every_linear_function
def test_transposing_twice_is_the_identity(name: str, require_same: Callable[..., None]) -> None:
    function, primals = LINEAR_FUNCTIONS[name]
    transposed = linear_transpose(function, *primals)
    (twice,) = (linear_transpose(transposed, function(*primals)),)
    v = drawn_like(primals, 0)
    (got,) = twice(v)
    require_same(got, function(*v), 1e-6)


@every_linear_function
def test_transposition_commutes_with_jit_and_vmap(name: str, require_same: Callable[..., None]) -> None:
    from lawful import tree

    function, primals = LINEAR_FUNCTIONS[name]
    w = drawn_like(function(*primals), 1)
    transposed = linear_transpose(function, *primals)
    expected = transposed(w)
    require_same(linear_transpose(jit(function), *primals)(w), expected, 1e-6)
    require_same(jit(transposed)(w), expected, 1e-6)
    batch = tree.map(lambda x: np.stack([x, 2 * x]), w)
    require_same(vmap(transposed)(batch), tree.map(lambda x: np.stack([x, 2 * x]), expected), 1e-6)


def test_linear_transpose_values_of_the_primals_do_not_matter(require_same: Callable[..., None]) -> None:
    for primal in (np.ones(3), np.full(3, np.nan), ShapeDtypeStruct((3,), "float64")):
        require_same(linear_transpose(times_matrix, primal)(np.array([1.0, 10.0])), (np.array([41.0, 52.0, 63.0]),))


def test_linear_transpose_function_runs_once() -> None:
    calls = []
    transposed = linear_transpose(lambda x: (calls.append(1), 2.0 * x)[1], 1.0)
    assert [transposed(float(i)) for i in range(3)] == [(0.0,), (2.0,), (4.0,)]
    assert len(calls) == 1


def test_linear_transpose_argument_that_is_not_used_has_zeros(require_same: Callable[..., None]) -> None:
    require_same(linear_transpose(lambda x, y: 2.0 * x, 1.0, np.ones(2))(3.0), (6.0, np.zeros(2)))


def test_linear_transpose_constant_output() -> None:
    """The cotangent of an output that does not depend on the arguments is ignored."""
    # An affine function is transposed as its linear part, as in JAX.
    assert linear_transpose(lambda x: (2.0 * x + 5.0, 3.0), 1.0)((10.0, 100.0)) == (20.0,)
    assert linear_transpose(lambda x: (3.0, 2.0 * x + 5.0), 1.0)((100.0, 10.0)) == (20.0,)


def test_constants_are_computed_and_not_transposed() -> None:
    c = 3.0
    assert linear_transpose(lambda x: x * ops.sin(c) * ops.exp(c), 1.0)(1.0) == (np.sin(c) * np.exp(c),)


def test_a_call_for_a_constant_is_not_transposed() -> None:
    evaluated = []
    constant_p = Primitive("autodifftest_constant")
    constant_p.def_impl(lambda x: evaluated.append(x) or x)
    constant_p.def_abstract_eval(lambda x: x)
    # Only the second result is used, and its call has no argument left.
    transposed = linear_transpose(lambda x: jit(lambda x: (2.0 * x, constant_p.bind(3.0)))(x)[1], 1.0)
    assert transposed(1.0) == (0.0,)
    assert not evaluated


def test_what_gets_no_cotangent_needs_no_transpose_rule() -> None:
    cut_p, opaque_p = Primitive("autodifftest_cut"), Primitive("autodifftest_opaque")
    for primitive in (cut_p, opaque_p):
        primitive.def_abstract_eval(lambda x: x)
    cut_p.def_transpose(lambda ct, x: [Zero(x.aval)])
    assert linear_transpose(lambda x: cut_p.bind(opaque_p.bind(x)) + 2.0 * x, 1.0)(10.0) == (20.0,)
    with pytest.raises(MissingRuleError, match="autodifftest_opaque"):
        linear_transpose(opaque_p.bind, 1.0)(10.0)


@pytest.mark.parametrize("wrong", [lambda ct, x, y: ct, lambda ct, x, y: [ct], lambda ct, x, y: (ct, None, None)])
def test_linear_transpose_rule_wrong_cotangent_count(wrong: Any) -> None:
    """The error says that the rule must return one cotangent per operand, with the user's line."""
    primitive = Primitive("autodifftest_wrong")
    primitive.def_abstract_eval(lambda x, y: x)
    primitive.def_transpose(wrong)
    for _ in range(3):
        with pytest.raises(ArgumentTypeError, match=r"rule of autodifftest_wrong: expected a list .* \(2\), got") as e:
            linear_transpose(lambda x: primitive.bind(x, 2.0), 1.0)(10.0)
        assert e.value.source is not None
        assert e.value.source.file == __file__


@pytest.mark.parametrize("x", [2.0, np.float32(2), np.ones(2, np.float16), 1j, np.complex64(1)], ids=repr)
def test_linear_transpose_cotangent_has_the_type_of_its_argument(x: Any) -> None:
    for function in (lambda x: x * 3.0, lambda x: x, lambda x: x + x):
        assert get_aval(linear_transpose(function, x)(function(x))[0]) == get_aval(x)


def test_complex_functions_are_transposed_and_not_conjugated() -> None:
    assert linear_transpose(lambda z: z * (2.0 + 3.0j), 1j)(1.0 + 0.0j) == (2.0 + 3.0j,)


# Functions that are not linear.


@pytest.mark.parametrize("wrap", [lambda g: g, jit, lambda g: jit(jit(g))], ids=["f", "jit", "jit jit"])
@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: x * x, "transpose of mul: expected a function that is linear in what it is transposed by, got"),
        (lambda x: 1.0 / x, "transpose of div: expected a function that is linear"),
        (lambda x: x / x, "transpose of div: expected a function that is linear"),
    ],
)
def test_linear_transpose_product_of_two_arguments_is_not_linear(function: Any, words: str, wrap: Any) -> None:
    with pytest.raises(NotLinearError, match=re.escape(words)) as caught:
        linear_transpose(wrap(function), 2.0)(1.0)
    assert isinstance(caught.value, TypeError)
    assert str(caught.value).startswith(f"{__file__}:"), "the line of the operation that is not linear"


def test_linear_transpose_error_names_line_of_operation() -> None:
    """The line in the error is that of the nonlinear operation, not that of the call of the transpose."""

    def function(x: Any) -> Any:
        y = 2.0 * x
        z = y * x
        return z + x

    line = function.__code__.co_firstlineno + 2
    transposed = linear_transpose(function, 2.0)
    for call in (transposed, jit(transposed), linear_transpose(jit(function), 2.0)):
        with pytest.raises(NotLinearError) as caught:
            call(1.0)
        assert str(caught.value).startswith(f"{__file__}:{line} (function): ")


def test_linear_transpose_keeps_source_lines() -> None:
    """An equation of the transpose has the source line of the equation that it transposes."""

    def function(x: Any) -> Any:
        return 3.0 * x

    closed = make_jaxpr(linear_transpose(function, 2.0))(1.0)
    (product,) = (eqn for eqn in closed.eqns if eqn.primitive.name == "mul")
    assert product.source.function == "function"


@pytest.mark.parametrize(
    ("function", "name"), [(ops.sin, "sin"), (ops.exp, "exp"), (lambda x: ops.max(x, 1.0), "max"), (ops.abs, "abs")]
)
def test_linear_transpose_operation_that_is_never_linear_says_so(function: Any, name: str) -> None:
    words = f"Transpose rule for '{name}' does not exist: it is not linear in any argument"
    with pytest.raises(MissingRuleError, match=re.escape(words)):
        linear_transpose(function, 2.0)(1.0)


def test_linear_transpose_condition_on_argument_is_not_linear() -> None:
    with pytest.raises(TracerBoolConversionError, match="the abstract tracer ~bool"):
        linear_transpose(lambda x: x if x > 0 else -x, 1.0)


def test_linear_transpose_integers_are_refused() -> None:
    with pytest.raises(ArgumentTypeError, match=r"expected floating or complex arguments, got ~i64\[\]; close over"):
        linear_transpose(lambda x, n: x * n, 1.0, 2)


@pytest.mark.parametrize(
    ("ct", "words"),
    [
        (np.ones(3), "expected a cotangent of type f64[2] at result, got f64[3]"),
        (np.ones(2, np.float32), "expected a cotangent of type f64[2] at result, got f32[2]"),
        ((np.ones(2),), "expected cotangents of the same tree as the result, PyTreeDef(*), got PyTreeDef((*,))"),
    ],
)
def test_linear_transpose_wrong_cotangent_error(ct: Any, words: str) -> None:
    transposed = linear_transpose(times_matrix, np.ones(3))
    with pytest.raises(ArgumentTypeError, match=re.escape(words)) as caught:
        transposed(ct)
    assert str(caught.value).startswith(f"{__file__}:")


def test_linear_transpose_refuses_non_arrays() -> None:
    with pytest.raises(NonArrayError, match="linear_transpose: expected arrays or numbers as arguments"):
        linear_transpose(lambda x: x, "a")
    with pytest.raises(NonArrayError, match="linear_transpose of <lambda>: expected a function that returns arrays"):
        linear_transpose(lambda x: "a", 1.0)
    with pytest.raises(ArgumentTypeError, match=r"linear_transpose: expected a function, got 1\.0"):
        linear_transpose(1.0, 1.0)  # type: ignore[arg-type]


# With derivatives.


def test_the_transpose_can_be_differentiated() -> None:
    transposed = lambda w: linear_transpose(times_matrix, np.ones(3))(w)[0]  # noqa: E731
    w = np.array([1.0, 10.0])
    np.testing.assert_array_equal(jvp(transposed, (w,), (w,))[1], transposed(w))
    np.testing.assert_array_equal(grad(lambda w: transposed(w)[0])(w), MATRIX[:, 0])


def test_linear_transpose_matrix_of_enclosing_trace() -> None:
    """The matrix of the linear function may be a tracer of an enclosing transformation."""

    def product(m: Any) -> Any:
        transposed = linear_transpose(lambda x: ops.dot_general(m, x, (((1,), (0,)), ((), ()))), np.ones(3))
        return transposed(np.array([1.0, 10.0]))[0]

    np.testing.assert_array_equal(product(MATRIX), [41.0, 52.0, 63.0])
    np.testing.assert_array_equal(jit(product)(MATRIX), [41.0, 52.0, 63.0])
    np.testing.assert_array_equal(vmap(product)(np.stack([MATRIX, 2.0 * MATRIX]))[1], [82.0, 104.0, 126.0])
    np.testing.assert_array_equal(jvp(product, (MATRIX,), (MATRIX,))[1], [41.0, 52.0, 63.0])
    np.testing.assert_array_equal(grad(lambda m: product(m)[0])(MATRIX), [[1.0, 0.0, 0.0], [10.0, 0.0, 0.0]])


def test_transpose_jaxpr(require_same: Callable[..., None]) -> None:
    closed = make_jaxpr(lambda c, x, y: (c * x, x + y))(2.0, 1.0, 1.0)
    transposed, nonzeros = transpose_jaxpr(closed, (False, True, True), (True, True))
    assert nonzeros == (True, True)
    check_jaxpr(transposed)
    require_same(eval_closed_jaxpr(transposed, 2.0, 10.0, 100.0), [120.0, 100.0])
    transposed, nonzeros = transpose_jaxpr(closed, (False, True, True), (True, False))
    assert nonzeros == (True, False)
    require_same(eval_closed_jaxpr(transposed, 2.0, 10.0), [20.0])
    transposed, nonzeros = transpose_jaxpr(closed, (False, True, True), (True, False), (True, True))
    assert nonzeros == (True, True)
    require_same(eval_closed_jaxpr(transposed, 2.0, 10.0), [20.0, 0.0])


def test_transposing_a_jaxpr_twice_is_the_identity() -> None:
    closed = make_jaxpr(lambda c, x: ops.neg(c * x))(np.ones(2), np.ones(2))
    once, _ = transpose_jaxpr(closed, (False, True), (True,))
    twice, _ = transpose_jaxpr(once, (False, True), (True,))
    assert alpha_equivalent(twice, closed)


def test_linear_transpose_takes_objects_with_shape_and_dtype():
    class Described:
        shape = (3,)
        dtype = np.dtype(np.float32)

    (ct,) = linear_transpose(lambda x: x * 3.0, Described())(np.ones(3, np.float32))
    np.testing.assert_array_equal(ct, np.full(3, 3, np.float32))
    assert ct.dtype == np.float32
