"""A primitive defined outside `packages/` goes through every transformation; without a rule, what needs it says so.

`docs/new_primitive.md` teaches the same primitive, with the plainest rules. These are less plain: they leave symbolic
zeros alone.
"""

import re
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful import ops, tree
from lawful.autodiff import grad, hessian, jacfwd, jacrev, jvp, linearize, value_and_grad, vjp
from lawful.batching import vmap
from lawful.control_flow import cond
from lawful.core import (
    MissingRuleError,
    Primitive,
    ShapedArray,
    UndefinedPrimal,
    Zero,
    alpha_equivalent,
    check_jaxpr,
    current,
    eval_trace,
    get_aval,
    instantiate_zeros,
    parse_jaxpr,
)
from lawful.staging import jit, make_jaxpr

ALL_RULES = frozenset({"impl", "abstract_eval", "jvp", "transpose", "batch", "lowering"})


def define(without: Iterable[str] = (), *, plain_zeros: bool = False) -> SimpleNamespace:
    """Returns the primitive and its functions, with some rules left out."""
    primitive = Primitive("multiply_add")

    def multiply_add(x: Any, y: Any, z: Any) -> Any:
        return primitive.bind(x, y, z)

    def square_add(a: Any, b: Any) -> Any:
        return multiply_add(a, a, b)

    def impl(x: Any, y: Any, z: Any) -> Any:
        return np.add(np.multiply(x, y), z)

    def abstract_eval(x: ShapedArray, y: ShapedArray, z: ShapedArray) -> ShapedArray:
        if not (x.shape == y.shape == z.shape and x.dtype == y.dtype == z.dtype):
            raise TypeError(f"multiply_add: expected three arrays of one shape and dtype, got {x}, {y}, {z}")
        return ShapedArray(x.shape, x.dtype)

    def jvp_rule(primals: Any, tangents: Any) -> Any:
        x, y, z = primals
        ans = multiply_add(x, y, z)
        if plain_zeros:
            x_dot, y_dot, z_dot = map(instantiate_zeros, tangents)
            return ans, multiply_add(x_dot, y, multiply_add(x, y_dot, z_dot))
        x_dot, y_dot, tangent = tangents
        for t, factor in ((x_dot, y), (y_dot, x)):
            if type(t) is not Zero:
                term = ops.mul(t, factor)
                tangent = term if type(tangent) is Zero else ops.add(tangent, term)
        return ans, tangent

    def transpose(ct: Any, x: Any, y: Any, z: Any) -> Any:
        return [
            (ct * y) if type(x) is UndefinedPrimal else None,
            (x * ct) if type(y) is UndefinedPrimal else None,
            ct if type(z) is UndefinedPrimal else None,
        ]

    def batch(args: Any, dims: Any) -> Any:
        return multiply_add(*ops.align_to_front(args, dims)), 0

    def lowering(ctx: Any, x: Any, y: Any, z: Any) -> Any:
        return ctx.hlo.add(ctx.hlo.multiply(x, y), z)

    rules: dict[str, tuple[Callable[..., Any], Any]] = {
        "impl": (primitive.def_impl, impl),
        "abstract_eval": (primitive.def_abstract_eval, abstract_eval),
        "jvp": (primitive.def_jvp, jvp_rule),
        "transpose": (primitive.def_transpose, transpose),
        "batch": (primitive.def_batch, batch),
        "lowering": (primitive.def_lowering, lowering),
    }
    for slot, (definer, rule) in rules.items():
        if slot not in without:
            definer(rule)
    return SimpleNamespace(primitive=primitive, multiply_add=multiply_add, square_add=square_add)


@pytest.fixture(params=[False, True], ids=["symbolic zeros", "plain zeros"])
def own(request: pytest.FixtureRequest) -> SimpleNamespace:
    return define(plain_zeros=request.param)


every_backend = pytest.mark.parametrize("backend", ["numpy", "xla"])


# With all rules.


def test_own_primitive_evaluation(own: SimpleNamespace) -> None:
    assert own.square_add(2.0, 10.0) == 14.0
    assert own.multiply_add(np.array([2, 3]), np.array([5, 7]), np.array([1, 1])).tolist() == [11, 22]


@every_backend
def test_own_primitive_jit(own: SimpleNamespace, backend: str) -> None:
    assert float(jit(own.square_add, backend=backend)(2.0, 10.0)) == 14.0
    assert float(jit(own.square_add, static_argnums=1, backend=backend)(2.0, 10.0)) == 14.0
    assert float(jit(own.square_add, static_argnames="b", backend=backend)(2.0, b=10.0)) == 14.0
    np.testing.assert_array_equal(jit(own.square_add, backend=backend)(np.arange(3), np.arange(3)), [0, 2, 6])


def test_own_primitive_lowering_is_the_rules() -> None:
    text = jit(define().square_add, backend="xla").lower(2.0, 10.0).as_text()
    assert "stablehlo.multiply %arg0, %arg0 : tensor<f64>" in text
    assert re.search(r"stablehlo\.add %\d+, %arg1 : tensor<f64>", text)


def test_own_primitive_jvp(own: SimpleNamespace) -> None:
    assert jvp(own.square_add, (2.0, 10.0), (1.0, 1.0)) == (14.0, 5.0)
    assert jvp(lambda a: own.square_add(a, 10.0), (2.0,), (1.0,)) == (14.0, 4.0)
    assert jvp(lambda b: own.square_add(2.0, b), (10.0,), (1.0,)) == (14.0, 1.0)
    assert linearize(own.square_add, 2.0, 10.0)[1](1.0, 1.0) == 5.0


@every_backend
def test_own_primitive_grad(own: SimpleNamespace, backend: str) -> None:
    assert grad(own.square_add)(2.0, 10.0) == 4.0
    assert grad(own.square_add, (0, 1))(2.0, 10.0) == (4.0, 1.0)
    assert grad(own.multiply_add, (0, 1, 2))(2.0, 5.0, 7.0) == (5.0, 2.0, 1.0)
    assert float(jit(grad(own.square_add), backend=backend)(2.0, 10.0)) == 4.0
    assert float(grad(jit(own.square_add, backend=backend))(2.0, 10.0)) == 4.0
    assert grad(grad(own.square_add))(2.0, 10.0) == 2.0
    assert float(hessian(own.square_add)(2.0, 10.0)) == 2.0


@every_backend
def test_own_primitive_vmap(own: SimpleNamespace, backend: str) -> None:
    a, b = np.array([2, 3]), np.array([10, 20])
    assert vmap(own.square_add)(a, b).tolist() == [14, 29]
    assert np.asarray(jit(vmap(own.square_add), backend=backend)(a, b)).tolist() == [14, 29]
    assert np.asarray(vmap(jit(own.square_add, backend=backend))(a, b)).tolist() == [14, 29]
    assert vmap(own.square_add, in_axes=(0, None))(a, 10).tolist() == [14, 19]
    matrix = np.arange(6).reshape(2, 3)
    expected = matrix * matrix + matrix
    assert vmap(own.square_add, in_axes=1, out_axes=1)(matrix, matrix).tolist() == expected.tolist()
    assert vmap(own.square_add, in_axes=(1, 0), out_axes=1)(matrix, matrix.T).tolist() == expected.tolist()
    assert vmap(vmap(own.square_add))(matrix, matrix).tolist() == expected.tolist()


def test_own_primitive_programs_typecheck_and_parse(own: SimpleNamespace) -> None:
    """Programs with the primitive are well typed, and their text parses to the same program."""
    x, y = np.arange(3.0), np.ones(3)
    for function in (
        own.square_add,
        lambda a, b: jvp(own.square_add, (a, b), (a, b)),
        lambda a, b: vjp(own.square_add, a, b)[1](a),
        vmap(own.square_add),
        vmap(grad(jit(own.square_add))),
        lambda a, b: jacfwd(jacrev(own.square_add))(a, b),
    ):
        closed = make_jaxpr(function)(x, y)
        check_jaxpr(closed)
        assert alpha_equivalent(parse_jaxpr(str(closed), closed.consts), closed)
    assert str(make_jaxpr(own.square_add)(2.0, 10.0)) == (
        "{ lambda ; a:~f64[] b:~f64[]. let c:f64[] = multiply_add a a b in (c,) }"
    )


@pytest.mark.parametrize("backend", [None, "numpy", "xla"], ids=["eager", "numpy", "xla"])
@pytest.mark.parametrize("shape", [(), (3,)], ids=str)
def test_own_primitive_in_jit_cond_and_vmap(own: SimpleNamespace, backend: str | None, shape: tuple[int, ...]) -> None:
    compiled = (lambda f: f) if backend is None else lambda f: jit(f, backend=backend)
    a, b = np.full(shape, 2.0), np.full(shape, 10.0)

    def function(a: Any, b: Any) -> Any:
        inner = compiled(lambda c: cond(True, lambda c: own.multiply_add(c, a, b), lambda c: c * b, c))
        return lnp.sum(inner(a) * own.square_add(b, a))

    def plain(a: Any, b: Any) -> Any:
        return lnp.sum((a * a + b) * (b * b + a))

    expected = tree.map(np.asarray, (plain(a, b), grad(plain, (0, 1))(a, b), hessian(plain)(a, b)))
    for f in (function, compiled(function)):
        got = (f(a, b), grad(f, (0, 1))(a, b), hessian(f)(a, b))
        tree.map(lambda x, y: np.testing.assert_allclose(np.asarray(x), y), got, expected)
        tree.map(
            lambda x, y: np.testing.assert_allclose(np.asarray(x)[1], y),
            vmap(grad(f, (0, 1)))(np.stack([a, a]), np.stack([b, b])),
            expected[1],
        )
        assert np.allclose(jvp(grad(f), (a, b), (a, b))[1], jvp(grad(plain), (a, b), (a, b))[1])


def test_own_primitive_type_rule_refuses_operands() -> None:
    own = define()
    for transform in (jit, make_jaxpr, lambda f: lambda *args: grad(jit(f))(*args)):
        with pytest.raises(
            TypeError, match=re.escape("expected three arrays of one shape and dtype, got ~f64[], f64[2]")
        ):
            transform(own.multiply_add)(1.0, np.ones(2), np.ones(2))
    assert own.square_add(2.0, 10.0) == 14.0


# Without one of them.

A, B = np.array([2.0, 3.0]), np.array([10.0, 20.0])

# For each slot its title and definer, the calls that need the rule, and calls that do not.
Needs = tuple[str, str, dict[str, Callable[[Any], Any]], dict[str, Callable[[Any], Any]]]

WITHOUT: dict[str, Needs] = {
    "impl": (
        "Evaluation",
        "def_impl",
        {
            "evaluation": lambda f: f(2.0, 10.0),
            "jvp": lambda f: jvp(f, (2.0, 10.0), (1.0, 1.0)),
            "vmap": lambda f: vmap(f)(A, B),
            "jit by numpy": lambda f: jit(f, backend="numpy")(2.0, 10.0),
            "inside cond": lambda f: cond(True, f, lambda a, b: a, np.float64(2.0), np.float64(10.0)),
        },
        {
            "make_jaxpr": lambda f: make_jaxpr(f)(2.0, 10.0),
            "jit by xla": lambda f: jit(f, backend="xla")(2.0, 10.0),
            "jit(grad) by xla": lambda f: jit(grad(f), backend="xla")(2.0, 10.0),
        },
    ),
    "abstract_eval": (
        "Abstract evaluation",
        "def_abstract_eval",
        {
            "make_jaxpr": lambda f: make_jaxpr(f)(2.0, 10.0),
            "jit by numpy": lambda f: jit(f, backend="numpy")(2.0, 10.0),
            "jit by xla": lambda f: jit(f, backend="xla")(2.0, 10.0),
            "cond": lambda f: cond(True, f, f, 2.0, 10.0),
            "the linear part of grad": lambda f: grad(f)(2.0, 10.0),
        },
        {
            "evaluation": lambda f: f(2.0, 10.0),
            "jvp": lambda f: jvp(f, (2.0, 10.0), (1.0, 1.0)),
            "vmap": lambda f: vmap(f)(A, B),
        },
    ),
    "jvp": (
        "JVP",
        "def_jvp",
        {
            "jvp": lambda f: jvp(f, (2.0, 10.0), (1.0, 1.0)),
            "linearize": lambda f: linearize(f, 2.0, 10.0),
            "vjp": lambda f: vjp(f, 2.0, 10.0),
            "grad": lambda f: grad(f)(2.0, 10.0),
            "jit(grad)": lambda f: jit(grad(f))(2.0, 10.0),
            "grad(jit)": lambda f: grad(jit(f))(2.0, 10.0),
            "vmap(grad)": lambda f: vmap(grad(f))(A, B),
            "jacfwd": lambda f: jacfwd(f)(A, B),
        },
        {
            "evaluation": lambda f: f(2.0, 10.0),
            "jit": lambda f: jit(f)(2.0, 10.0),
            "jit(vmap)": lambda f: jit(vmap(f))(A, B),
            "grad past it": lambda f: grad(lambda x: x * f(2.0, 10.0))(1.0),
        },
    ),
    "transpose": (
        "Transpose",
        "def_transpose",
        {
            "grad": lambda f: grad(f)(2.0, 10.0),
            "vjp": lambda f: vjp(f, 2.0, 10.0)[1](1.0),
            "jit(grad)": lambda f: jit(grad(f))(2.0, 10.0),
            "grad(jit)": lambda f: grad(jit(f))(2.0, 10.0),
            "jacrev": lambda f: jacrev(f)(A, B),
        },
        {
            "jvp": lambda f: jvp(f, (2.0, 10.0), (1.0, 1.0)),
            "linearize": lambda f: linearize(f, 2.0, 10.0)[1](1.0, 1.0),
            "jacfwd": lambda f: jacfwd(f)(A, B),
            "jit(vmap)": lambda f: jit(vmap(f))(A, B),
        },
    ),
    "batch": (
        "Batching",
        "def_batch",
        {
            "vmap": lambda f: vmap(f)(A, B),
            "jit(vmap)": lambda f: jit(vmap(f))(A, B),
            "vmap(jit)": lambda f: vmap(jit(f))(A, B),
            "vmap(grad)": lambda f: vmap(grad(f))(A, B),
            "jacfwd": lambda f: jacfwd(f)(A, B),
        },
        {
            "evaluation": lambda f: f(2.0, 10.0),
            "jit(grad)": lambda f: jit(grad(f))(2.0, 10.0),
            "vmap past it": lambda f: vmap(lambda x: x * f(2.0, 10.0))(A),
        },
    ),
    "lowering": (
        "Lowering",
        "def_lowering",
        {
            "jit by xla": lambda f: jit(f, backend="xla")(2.0, 10.0),
            "ahead of time": lambda f: jit(f, backend="xla").lower(2.0, 10.0),
            "jit(value_and_grad)": lambda f: jit(value_and_grad(f), backend="xla")(2.0, 10.0),
            "jit(vmap)": lambda f: jit(vmap(f), backend="xla")(A, B),
            "grad(jit)": lambda f: grad(jit(f, backend="xla"))(2.0, 10.0),
        },
        {
            "evaluation": lambda f: f(2.0, 10.0),
            "grad": lambda f: grad(f)(2.0, 10.0),
            "jit by numpy": lambda f: jit(f, backend="numpy")(2.0, 10.0),
            "trace": lambda f: jit(f, backend="xla").trace(2.0, 10.0),
        },
    ),
}


def test_own_primitive_every_rule_is_taken_away_once() -> None:
    assert set(WITHOUT) == ALL_RULES


@pytest.mark.parametrize(
    ("slot", "call"), [(slot, call) for slot, (_, _, needing, _) in WITHOUT.items() for call in needing]
)
def test_own_primitive_missing_rule_error(slot: str, call: str) -> None:
    title, definer, needing, _ = WITHOUT[slot]
    # Plain zeros: the derivative is made of the primitive itself, so that every derived program contains it.
    own = define(without={slot}, plain_zeros=True)
    with pytest.raises(NotImplementedError) as caught:
        needing[call](own.square_add)
    message = str(caught.value)
    text = f"{title} rule for 'multiply_add' not implemented; define it with multiply_add_p.{definer}"
    line = own.multiply_add.__code__.co_firstlineno + 1
    assert message == f"{__file__}:{line} (multiply_add): {text}"
    assert type(caught.value) is MissingRuleError
    assert current.trace is eval_trace, "the system is usable afterwards"
    complete = define()
    assert complete.square_add(2.0, 10.0) == grad(complete.square_add)(2.0, 10.0) + 10.0


@pytest.mark.parametrize(
    ("slot", "call"), [(slot, call) for slot, (_, _, _, others) in WITHOUT.items() for call in others]
)
def test_own_primitive_works_without_unused_rules(slot: str, call: str) -> None:
    own = define(without={slot}, plain_zeros=True)
    WITHOUT[slot][3][call](own.square_add)


@pytest.mark.parametrize("slot", sorted(ALL_RULES))
def test_own_primitive_rule_defined_after_the_error_is_found(slot: str) -> None:
    own, complete = define(without={slot}, plain_zeros=True), define(plain_zeros=True)
    call = next(iter(WITHOUT[slot][2].values()))
    with pytest.raises(MissingRuleError):
        call(own.square_add)
    getattr(own.primitive, WITHOUT[slot][1])(complete.primitive.rule(slot))
    call(own.square_add)


def test_own_primitive_rule_declared_absent_says_why() -> None:
    own = define(without={"transpose"}, plain_zeros=True)
    own.primitive.declare_absent("transpose", "it has none in this test")
    with pytest.raises(
        MissingRuleError, match="Transpose rule for 'multiply_add' does not exist: it has none in this test"
    ):
        grad(own.square_add)(2.0, 10.0)


def test_own_primitive_types_of_results_are_the_rules() -> None:
    own = define()
    for dtype in ("float32", "float64", "int8", "complex64"):
        x = np.ones(2, dtype)
        for f in (own.square_add, jit(own.square_add), vmap(own.square_add)):
            assert get_aval(f(x, x)) == ShapedArray((2,), dtype)
