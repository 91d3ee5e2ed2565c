"""Both layers give the same bits: cached calls of elementwise ops and composites beside the plain interpreters."""

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lawful import numpy as lnp
from lawful import ops, tree
from lawful.autodiff import grad, jvp, linearize, vjp
from lawful.autodiff._fast.jvp import FastJVPTrace
from lawful.autodiff._fast.linearize import FastLinearizeTrace
from lawful.batching import pmean, vmap
from lawful.core import Primitive, check_jaxpr, current, eval_trace, get_aval, is_plain, plain
from lawful.ops import Elementwise, composite
from lawful.ops._support.double import Evaluated
from lawful.staging import make_jaxpr

Function = Callable[..., Any]

OPERATORS = [
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.neg, operator.abs),
    *(operator.lt, operator.ge, operator.eq, operator.floordiv, operator.mod, operator.matmul),
]
OPS = [op for op in (getattr(ops, name) for name in ops.__all__) if isinstance(op, Elementwise) and op.arity <= 2]
UFUNCS = [f for f in (getattr(lnp, name) for name in lnp.__all__) if getattr(f, "nin", 3) <= 2 and f.nout == 1]
SEQUENCES: list[Function] = [
    *(lambda x, f=f: f([x]) for f in (lnp.stack, lnp.concatenate, lnp.vstack, lnp.hstack, lnp.column_stack, lnp.block)),
    *(lambda x, y, f=f: f([x, y]) for f in (lnp.stack, lnp.concatenate, lnp.vstack, lnp.hstack, lnp.column_stack)),
    *(lnp.stack, lnp.concatenate, lnp.vstack, lnp.hstack, lnp.column_stack, lnp.block, lnp.linalg.multi_dot),
]
FUNCTIONS: list[Function] = [
    *(lnp.dot, lnp.matmul, lnp.inner, lnp.vdot, lnp.mean, lnp.var, lnp.median, lnp.cumsum, lnp.trace, lnp.logaddexp),
    *(lnp.linalg.norm, lnp.linalg.det, lnp.linalg.inv, lnp.linalg.solve, lnp.linalg.slogdet, lnp.where, lnp.clip),
]
X, Y = np.array([0.3, 0.7, 0.45]), np.array([0.6, 0.2, 0.35])
MATRIX = np.eye(3) + np.arange(9.0).reshape(3, 3) / 10.0
ARGUMENTS: list[tuple[Any, ...]] = [
    *((X,), (X, Y), (X, Y.astype("float32")), (X.astype("float32"), Y.astype("float32")), (0.3,), (0.3, 0.4), (X, 0.4)),
    *((0.4, X), (np.float64(0.3), X), (MATRIX,), (MATRIX, X), (MATRIX, MATRIX.T), (X, MATRIX), (X[:, None], Y)),
    *((X + 0.1j,), (X, Y + 0.2j), (X.astype("float16"), Y)),
]


def derivatives(function: Function, args: tuple[Any, ...]) -> Any:
    """Returns values with tangents and cotangents along given ones, or the error in their place."""
    try:
        with np.errstate(all="ignore"):
            out, pull = vjp(function, *args)
            pushed = jvp(
                function, args, tuple([x * 0 + type(x)(1) if np.ndim(x) == 0 else np.ones_like(x) for x in args])
            )
            return out, pull(tree.map(one_of_tangent, out)), pushed
    except Exception as error:
        return type(error), str(error)


def one_of_tangent(x: Any) -> Any:
    aval = get_aval(x).to_tangent_aval()
    return 1.0 if aval.weak_type and not aval.shape and aval.dtype == float else np.ones(aval.shape, aval.dtype)[()]


def is_exact(function: Function) -> bool:
    """Whether both layers call the same NumPy functions: few numbers of special functions are evaluated by Python."""
    declaration = function.primitive.declaration if isinstance(function, Elementwise) else None
    return declaration is None or not isinstance(declaration.reference, Evaluated)


def same(found: Any, expected: Any, exact: bool = True) -> None:
    assert tree.structure(found) == tree.structure(expected)
    for x, y in zip(tree.leaves(found), tree.leaves(expected), strict=True):
        if isinstance(x, type | str):
            assert x == y
        else:
            assert get_aval(x) is get_aval(y)
            if exact:
                np.testing.assert_array_equal(np.asarray(x), np.asarray(y))
            else:
                np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=tolerance(y, expected))


def tolerance(x: Any, expected: Any) -> float:
    """Returns that of a result's dtype; a Python number's cotangent is computed in the dtype of the array beside it."""
    every = tree.leaves(expected) if get_aval(x).weak_type else [x]
    return max([rounding(get_aval(leaf).dtype) for leaf in every])


def rounding(dtype: Any) -> float:
    return 45 * float(np.finfo(dtype).eps) if np.issubdtype(dtype, np.inexact) else 0.0


@pytest.fixture
def cached(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Lists the classes of rules that were replayed without a plan."""
    found = []
    for cls in (FastJVPTrace, FastLinearizeTrace):

        def counted(self: Any, rule: Any, *rest: Any, right: Any = cls.replay_one) -> Any:
            if len(rest[2]) or type(self) is FastLinearizeTrace:
                found.append(type(rule))
            return right(self, rule, *rest)

        monkeypatch.setattr(cls, "replay_one", counted)
    return found


@pytest.mark.parametrize("function", [*OPERATORS, *OPS, *UFUNCS, *FUNCTIONS], ids=lambda f: f.__name__)
def test_cached_calls_equal_plain_calls(function: Function, cached: list[Any]) -> None:
    for args in ARGUMENTS:
        with plain():
            expected = derivatives(function, args)
        for _ in range(4):
            same(derivatives(function, args), expected, is_exact(function))


shapes = st.sampled_from([(), (3,), (1,), (2, 3), (2, 1), (3, 3), (0, 3)])
dtypes = st.sampled_from(["float64", "float64", "float32", "float16", "complex64", "complex128"])
numbers = st.sampled_from([0.3, 2.0, 0.4 + 0.1j, 2, -3, True, 2**53 + 1])


@st.composite
def operands(draw: st.DrawFn) -> Any:
    """Draws an array with few elements, or a number, which is weak."""
    if draw(st.integers(0, 4)) == 0:
        return draw(numbers)
    shape = draw(shapes)
    return np.asarray(np.linspace(0.2, 0.8, math.prod(shape)).reshape(shape), draw(dtypes))[()]


def ways(function: Function, x: Any, y: Any) -> list[tuple[Function, tuple[Any, ...]]]:
    """Returns calls of a function in which both operands have tangents, or one, or are the same."""
    return [
        (function, (x, y)), (lambda x: function(x, y), (x,)), (lambda y: function(x, y), (y,)),
        (lambda x: function(x, x), (x,)),
    ]  # fmt: skip


@example(lnp.hypot, [((0.3, np.linspace(0.2, 0.8, 6).reshape(2, 3).astype("float32")), 0)] * 4)
@given(
    st.sampled_from([operator.add, operator.mul, operator.sub, operator.truediv, lnp.maximum, lnp.hypot, lnp.dot]),
    st.lists(st.tuples(st.tuples(operands(), operands()), st.integers(0, 3)), min_size=4, max_size=12),
)
def test_cached_calls_in_any_sequence_equal_plain_calls(function: Function, calls: list[Any]) -> None:
    """The cotangent of an operand that is repeated is a sum, which the fast layer adds up by BLAS in another order."""
    chosen = [ways(function, *xs)[way] for xs, way in calls]
    exact = [way == 3 or np.shape(x) == np.shape(y) for (x, y), way in calls]
    with plain():
        expected = [derivatives(*call) for call in chosen]
    for _ in range(3):
        for call, values, in_order in zip(chosen, expected, exact, strict=True):
            same(derivatives(*call), values, in_order)


#: Some are floats, or integers that equal a float; none of the others uses the cached rule of one.
NUMBERS = [
    *(0.3, 2, 0.7, -0.0, 2.0, True, 3, 0, math.nan, 2**53, 2**53 + 1, -(2**62), 10**30, 0.3 + 0.1j),
    *(np.float64(0.3), np.float32(0.3), np.int64(2), np.array(0.4)),
]
BINARY = [f for f in (*OPERATORS, *OPS, *UFUNCS, *FUNCTIONS) if derivatives(f, (X, Y))[0] is not TypeError]


@pytest.mark.parametrize("function", BINARY, ids=lambda f: f.__name__)
def test_cached_calls_numbers_beside_a_tracer(function: Function) -> None:
    """The numbers differ from call to call, in value and in kind."""
    for x in (X, X.astype("float32"), 0.45):
        calls = [lambda x, y=y: function(x, y) for y in NUMBERS] + [lambda x, y=y: function(y, x) for y in NUMBERS]
        with plain():
            expected = [derivatives(call, (x,)) for call in calls]
        for _ in range(3):
            for call, values in zip(calls, expected, strict=True):
                same(derivatives(call, (x,)), values, is_exact(function))


@pytest.mark.fast
def test_cached_calls_of_numbers_hit(cached: list[Any]) -> None:
    for function in (operator.add, operator.mul, lnp.divide, lnp.logaddexp, lnp.maximum):
        for x in (X, X.astype("float32"), 0.3):
            for y in (0.3, 2):
                if function is lnp.logaddexp and y == 2:
                    continue  # of several ops, which an integer may decide
                for _ in range(4):
                    derivatives(lambda x, y=y, function=function: function(x, y), (x,))
                assert cached, (function, x, y)
                cached.clear()


def test_cached_calls_tell_integer_predicates_from_floats() -> None:
    @composite(2)
    def f(x: Any, n: Any) -> Any:
        return x + n if int in (type(x), type(n)) else x * n

    for n, out, slope in [*[(2.0, 2 * X, 2.0)] * 5, *[(2, X + 2, 1.0)] * 5, (3.0, 3 * X, 3.0), (3, X + 3, 1.0)]:
        for g in (lambda x, n=n: f(x, n), lambda x, n=n: f(n, x)):
            value, pull = vjp(g, X)
            np.testing.assert_array_equal(value, out)
            np.testing.assert_array_equal(pull(np.ones(3))[0], np.full(3, slope))


def test_make_jaxpr_after_cached_calls_inlines_literals() -> None:
    """A recorded program has its numbers inline, whatever is cached."""

    def f(x: Any) -> Any:
        return ((x * 0.125 + 3) * x).sum()

    before = make_jaxpr(grad(f))(X)
    for _ in range(40):
        grad(f)(X)
    after = make_jaxpr(grad(f))(X)
    assert str(after) == str(before)
    assert "convert_element_type" not in str(after)


def test_cached_calls_sequence_of_arrays_is_not_these_arrays(cached: list[Any]) -> None:
    """`stack([x])` adds a dimension to an array, `stack(x)` takes the rows of one."""
    for args in [(X,), (MATRIX,), (X, Y), (MATRIX, MATRIX.T)]:
        with plain():
            expected = [derivatives(function, args) for function in SEQUENCES]
        for _ in range(4):
            for function, values in zip(SEQUENCES, expected, strict=True):
                same(derivatives(function, args), values)


@pytest.mark.fast
def test_cached_calls_of_all_functions_hit(cached: list[Any]) -> None:
    for function, args in [
        (operator.mul, (X, Y)), (operator.lt, (X, Y)), (lnp.tanh, (X,)), (ops.add, (X, X)), (lnp.add, (MATRIX, X)),
        (lnp.dot, (X, MATRIX)), (lnp.mean, (X,)),
    ]:  # fmt: skip
        for _ in range(4):
            derivatives(function, args)
        assert cached, function
        cached.clear()


def test_cached_calls_tell_arguments_without_tangents_apart(cached: list[Any]) -> None:
    for _ in range(4):
        gradients = [
            grad(lambda x: (x * Y).sum())(X), grad(lambda x: (Y * x).sum())(X), grad(lambda x: (x * x).sum())(X),
            grad(lambda x: grad(lambda y: (x * y).sum())(Y).sum())(X), grad(lambda x: (x * 2.0).sum())(X),
        ]  # fmt: skip
        for found, expected in zip(gradients, [Y, Y, 2 * X, np.ones(3), np.full(3, 2.0)], strict=True):
            np.testing.assert_array_equal(found, expected)
    assert cached or is_plain()


def test_cached_calls_transformation_in_another_is_its_own(cached: list[Any]) -> None:
    def f(x: Any) -> Any:
        return (lnp.sin(x) * x).sum()

    def along(x: Any) -> Any:
        return jvp(f, (x,), (Y,))[1]

    for _ in range(5):
        np.testing.assert_allclose(grad(along)(X), (2 * np.cos(X) - X * np.sin(X)) * Y, rtol=1e-12)
        np.testing.assert_allclose(jvp(grad(f), (X,), (Y,))[1], (2 * np.cos(X) - X * np.sin(X)) * Y, rtol=1e-12)
        by_elements = vmap(grad(f))(np.stack([X, Y]))
        np.testing.assert_allclose(by_elements, [np.sin(z) + z * np.cos(z) for z in (X, Y)], rtol=1e-12)
    assert cached or is_plain()


def test_cached_calls_new_rule_takes_effect_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    primitive = ops.tanh.primitive
    for _ in range(4):
        before = grad(lambda x: lnp.tanh(x).sum())(X)
    np.testing.assert_allclose(before, 1 - np.tanh(X) ** 2)
    rule = primitive.rule("jvp")
    try:
        primitive.def_jvp(lambda primals, tangents: (primitive.bind(*primals), ops.mul(tangents[0], 7.0)))
        for _ in range(4):
            np.testing.assert_array_equal(grad(lambda x: lnp.tanh(x).sum())(X), np.full(3, 7.0))
    finally:
        primitive.def_jvp(rule)
    np.testing.assert_array_equal(grad(lambda x: lnp.tanh(x).sum())(X), before)


def test_cached_calls_strong_tangents_of_weak_primals(cached: list[Any]) -> None:
    """A rule traced for weak tangents is not replayed for the strong tangents that another rule gives."""
    primitive = Primitive("recalltest_strong")
    primitive.def_impl(lambda x: x * 2.0)
    primitive.def_abstract_eval(lambda x: x)
    primitive.def_jvp(lambda primals, tangents: (primitive.bind(*primals), ops.mul(tangents[0], np.float64(2.0))))

    def number(x: Any, z: Any, v: Any) -> Any:
        return -x, x + x, x + z, x * z, x + v, x * v, lnp.tanh(x), lnp.mean(x)

    def both(x: Any, z: Any, v: Any) -> Any:
        y = primitive.bind(x)
        assert (y.aval.weak_type, y.tangent_aval.weak_type) == (True, False)
        return -y, y + y, x + y, y + x, x * y, y + z, x + z, x * z, y + v, y * v, lnp.tanh(y), lnp.mean(y)

    args, tangents = (3.0, np.float64(2.0), Y), (1.0, np.float64(1.0), X)
    for function in (number, both):
        with plain():
            closed, expected = linearize(function, *args)[1].jaxpr, jvp(function, args, tangents)
        for other in (number, both, number):
            for _ in range(4):
                linearize(other, *args), jvp(other, args, tangents)
        again = linearize(function, *args)[1].jaxpr
        check_jaxpr(again)
        assert again.out_avals == closed.out_avals
        same(jvp(function, args, tangents), expected)
        for _ in range(4):
            check_jaxpr(make_jaxpr(lambda *xs, function=function: jvp(function, xs, tangents))(*args))
    assert cached or is_plain()


def test_cached_calls_named_axes_of_other_sizes() -> None:
    @composite()
    def spread(x: Any) -> Any:
        return pmean(x * x, "i") * 6.0

    for size in (2, 3, 2, 3, 2, 3):
        for derivative in (grad(lambda x: spread(x).sum()), lambda x: jvp(spread, (x,), (np.ones(3),))[1]):
            found = vmap(derivative, axis_name="i")(np.ones((size, 3)))
            expected = vmap(lambda x: x * 12.0, axis_name="i")(np.ones((size, 3)))
            np.testing.assert_allclose(found, expected)


def test_cached_calls_settings_are_not_left_out() -> None:
    calls: list[tuple[Function, float]] = [
        (lnp.mean, 1 / 9), (lambda x: lnp.mean(x, None), 1 / 9), (lambda x: lnp.mean(x, (0, 1)), 1 / 9),
        (lambda x: lnp.mean(x, axis=1), 1 / 3), (lnp.sum, 1.0), (lambda x: lnp.mean(x, 0), 1 / 3),
    ]  # fmt: skip
    for _ in range(4):
        for function, expected in calls:
            found = grad(lambda x, function=function: function(x).sum())(MATRIX)
            np.testing.assert_allclose(found, np.full((3, 3), expected))


def test_cached_calls_run_implementations_of_constants() -> None:
    seen = []

    def doubled(x: Any) -> Any:
        seen.append(current.trace)
        return float(x) * 2.0

    primitive = Primitive("recalltest_double")
    by_python = np.frompyfunc(doubled, 1, 1)
    primitive.def_impl(by_python)
    primitive.def_abstract_eval(lambda x: x)
    primitive.def_jvp(lambda primals, tangents: (primitive.bind(*primals), primitive.bind(*tangents)))
    apply = composite()(lambda x: primitive.bind(x) * x)
    for _ in range(60):
        assert jvp(apply, (1.5,), (1.0,))[0] == 4.5
    assert set(seen) == {eval_trace}


def test_composite_not_cached_as_one_call() -> None:
    """A function that returns a tree, or computes further, is not cached as one call."""

    @composite()
    def in_a_dict(x: Any) -> Any:
        return {"a": x * 2.0}

    @composite(2)
    def further(x: Any, y: Any) -> Any:
        return ops.add(x, y) * x

    for _ in range(5):
        assert list(vjp(in_a_dict, X)[0]) == ["a"]
        np.testing.assert_array_equal(grad(lambda x: in_a_dict(x)["a"].sum())(X), np.full(3, 2.0))
        np.testing.assert_allclose(grad(lambda x, y: further(x, y).sum(), (0, 1))(X, Y)[0], 2 * X + Y)


def test_cached_calls_arrays_of_another_byte_order(cached: list[Any]) -> None:
    """NumPy computes with them, and gives native ones, also once the cached rule is compiled."""
    x, y, matrix = X.astype(">f8"), Y.astype(">f8"), MATRIX.astype(">f8")
    for function, args, others in [
        (operator.mul, (X, Y), (x, y)), (operator.add, (X, MATRIX), (x, matrix)), (lnp.tanh, (MATRIX,), (matrix,)),
        (lnp.dot, (MATRIX, X), (matrix, x)), (lambda x: x.sum(0), (MATRIX,), (matrix,)),
        (lnp.matmul, (MATRIX, MATRIX), (matrix, matrix)), (lambda x: x.mean(1), (MATRIX,), (matrix,)),
    ]:  # fmt: skip
        expected = derivatives(function, args)
        for _ in range(40):
            same(derivatives(function, others), expected)
            pushed = jvp(lambda z, function=function, others=others: function(z, *others[1:]), args[:1], args[:1])
        assert all(out.dtype.isnative for out in pushed)
    assert cached or is_plain()


def test_cached_calls_lines_are_those_of_the_user() -> None:
    def f(x: Any, y: Any) -> Any:
        a = lnp.tanh(x)
        b = x * y
        c = lnp.dot(x, y)
        return ((a + b) * c).sum()

    for _ in range(4):
        closed = vjp(f, X, Y)[1].jaxpr
        lines = {eqn.source.line - f.__code__.co_firstlineno for eqn in closed.eqns}
        assert lines == {1, 2, 3, 4}
        assert {eqn.source.file for eqn in closed.eqns} == {__file__}
    recorded = make_jaxpr(grad(f))(X, Y)
    assert {eqn.source.line - f.__code__.co_firstlineno for eqn in recorded.eqns} == {1, 2, 3, 4}
