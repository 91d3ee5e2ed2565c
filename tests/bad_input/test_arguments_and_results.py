"""Arguments, tangents, trees and results that do not fit: each transformation refuses them at the line of the call."""

import numpy as np
import pytest

import lawful.numpy as jnp
from lawful import ops, tree
from lawful.autodiff import grad, hessian, jacfwd, jacrev, jvp, linear_transpose, linearize, value_and_grad, vjp
from lawful.batching import vmap
from lawful.control_flow import cond
from lawful.core import ArgumentTypeError, ArgumentValueError, InvalidArgumentError, NonArrayError, TreeStructureError
from lawful.staging import eval_shape, jit, make_jaxpr

AT = 1.5
# Each calls a function with one argument.
CALLS = {
    "jit-numpy": lambda f, x: jit(f, backend="numpy")(x),
    "jit-xla": lambda f, x: jit(f, backend="xla")(x),
    "grad": lambda f, x: grad(f)(x),
    "value_and_grad": lambda f, x: value_and_grad(f)(x),
    "jacfwd": lambda f, x: jacfwd(f)(x),
    "jacrev": lambda f, x: jacrev(f)(x),
    "hessian": lambda f, x: hessian(f)(x),
    "jvp": lambda f, x: jvp(f, (x,), (x,)),
    "vjp": lambda f, x: vjp(f, x),
    "linearize": lambda f, x: linearize(f, x),
    "vmap": lambda f, x: vmap(f)(x),
    "make_jaxpr": lambda f, x: make_jaxpr(f)(x),
    "eval_shape": lambda f, x: eval_shape(f, x),
    "cond": lambda f, x: cond(True, f, f, x),
    "jit-grad": lambda f, x: jit(grad(f))(x),
    "grad-jit": lambda f, x: grad(jit(f))(x),
    "vmap-jit": lambda f, x: vmap(jit(f))(x),
}
NO_ARRAYS = {
    "str": "text",
    "object": object(),
    "dict": {"a": {"b": "text"}},
    "function": len,
    "set": {1.0},
    "tree": (1.0, (2.0, b"bytes")),
}
NO_NUMBERS = {"str": np.array(["a"]), "objects": np.array([1, None]), "dates": np.array(["2000-01-01"], "M8[D]")}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("value", NO_ARRAYS.values(), ids=NO_ARRAYS)
def test_transformations_argument_that_is_no_array(refused, call, value):
    error = refused(NonArrayError, "expected arrays or numbers", lambda: call(lambda x: x, value), at=call)
    assert "; " in str(error), "the cure"


@pytest.mark.parametrize("value", NO_ARRAYS.values(), ids=NO_ARRAYS)
def test_transformations_op_of_what_is_no_array(under, refused, value):
    def mistake(x):
        return x * ops.sin(value)

    refused(NonArrayError, "array: expected an array or number, got", lambda: under(mistake), at=mistake)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("value", NO_NUMBERS.values(), ids=NO_NUMBERS)
def test_transformations_array_of_no_numbers(refused, call, value):
    error = refused(ArgumentTypeError, "dtype: expected one of bool, int8", lambda: call(lambda x: x, value), at=call)
    assert "convert with astype" in str(error)


RAGGED = {
    "array": lambda x: x * jnp.array([[1.0], [1.0, 2.0]]),
    "asarray": lambda x: x * jnp.asarray([[1.0], [1.0, 2.0]]),
    "asarray of traced": lambda x: x * jnp.asarray([[x], [x, 1.0]]),
    "deeper": lambda x: x * jnp.asarray([[[x, x]], [[x], [x]]]),
}


@pytest.mark.parametrize("mistake", RAGGED.values(), ids=RAGGED)
def test_transformations_ragged_lists(under, refused, mistake):
    refused(ArgumentValueError, "make the rows equally long", lambda: under(mistake), at=mistake)


def test_transformations_op_of_a_ragged_list(under, refused):
    def mistake(x):
        return x * ops.sin([[1.0], [1.0, 2.0]])

    refused(NonArrayError, "make its rows equally long", lambda: under(mistake), at=mistake)


FIT = "its shape and dtype must be those of the value that it belongs to"
THREE = np.ones(3)
TANGENTS = {
    "shape": (THREE, np.ones(2)),
    "rank": (THREE, 1.0),
    "dtype": (THREE, np.ones(3, np.float32)),
    "complex": (THREE, np.ones(3, complex)),
    "integers": (THREE, np.ones(3, int)),
}


@pytest.mark.parametrize(("value", "wrong"), TANGENTS.values(), ids=TANGENTS)
def test_transformations_wrong_tangents_and_cotangents(refused, value, wrong):
    refused(InvalidArgumentError, FIT, lambda: jvp(lambda x: x * 2.0, (value,), (wrong,)))
    refused(InvalidArgumentError, FIT, lambda: jvp(jit(lambda x: x * 2.0), (value,), (wrong,)))
    refused(InvalidArgumentError, FIT, lambda: vjp(lambda x: x * 2.0, value)[1](wrong))
    refused(InvalidArgumentError, FIT, lambda: linearize(lambda x: x * 2.0, value)[1](wrong))
    refused(InvalidArgumentError, FIT, lambda: linear_transpose(lambda x: x * 2.0, value)(wrong))
    refused(InvalidArgumentError, FIT, lambda: jit(lambda x, v: jvp(lambda x: x * 2.0, (x,), (v,)))(value, wrong))
    refused(InvalidArgumentError, FIT, lambda: jit(lambda x, v: vjp(lambda x: x * 2.0, x)[1](v))(value, wrong))
    refused(InvalidArgumentError, FIT, lambda: grad(lambda x: jvp(lambda x: x * 2.0, (x,), (wrong,))[1].sum())(value))
    refused(InvalidArgumentError, FIT, lambda: vmap(lambda x: linearize(lambda x: x * 2.0, x)[1](wrong))(THREE[None]))


def test_transformations_tangents_of_integers(refused):
    words = "expected a tangent of dtype float0 for ~i64[] at primals[0]"
    error = refused(InvalidArgumentError, words, lambda: jvp(lambda x: x * 1.0, (3,), (1.0,)))
    assert "use numpy.zeros((), lawful.core.float0)" in str(error)
    refused(InvalidArgumentError, "float0", lambda: jit(lambda n: jvp(lambda x: x * 1.0, (n,), (1.0,)))(3))


PAIR = {"a": 1.0, "b": (2.0, 3.0)}
OTHERS = {
    "missing": {"a": 1.0},
    "extra": {"a": 1.0, "b": (2.0, 3.0), "c": 1.0},
    "longer": {"a": 1.0, "b": (2.0, 3.0, 4.0)},
    "list": {"a": 1.0, "b": [2.0, 3.0]},
    "leaf": 1.0,
    "None": {"a": None, "b": (2.0, 3.0)},
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_transformations_mismatched_trees(refused, other):
    def same(d):
        return tree.map(lambda x: x * 2.0, d)

    tangents = "build the tangents with lawful.tree.map"
    refused(InvalidArgumentError, tangents, lambda: jvp(same, (PAIR,), (other,)))
    refused(InvalidArgumentError, tangents, lambda: jit(lambda d: jvp(same, (d,), (other,)))(PAIR))
    refused(InvalidArgumentError, "lawful.tree.map", lambda: linearize(same, PAIR)[1](other))
    refused(InvalidArgumentError, "build the cotangents with lawful.tree.map", lambda: vjp(same, PAIR)[1](other))
    refused(ArgumentTypeError, "return the same tree from both", lambda: cond(True, lambda: PAIR, lambda: other))
    if other != OTHERS["None"]:  # which may stand where the first tree has a leaf
        refused(TreeStructureError, "the structure of the first tree", lambda: tree.map(lambda x, y: x, PAIR, other))
        refused(TreeStructureError, "the structure", lambda: jit(lambda d: tree.map(lambda x, y: x, d, other))(PAIR))


def test_transformations_mismatched_axes(refused):
    refused(ArgumentValueError, "give one leaf for a whole subtree", lambda: vmap(len, in_axes=({"c": 0},))(PAIR))
    refused(ArgumentValueError, "tuple of that length", lambda: vmap(lambda x: x, in_axes=(0, 0))(THREE))
    refused(ArgumentValueError, "make them equal", lambda: vmap(lambda x, y: x)(THREE, np.ones(2)))
    refused(ArgumentValueError, "change in_axes, or give None", lambda: vmap(lambda x: x)(AT))
    by_name = "to share it, bind it with functools.partial or a lambda"
    refused(ArgumentValueError, by_name, lambda: vmap(lambda x, n: x * n, in_axes=(0,))(THREE, n=3))
    refused(ArgumentValueError, "make them equal", lambda: jit(vmap(lambda x, y: x))(THREE, np.ones(2)))


@pytest.mark.parametrize("static", [[1], {"a": 1}, {1}, np.ones(2), bytearray(b"a"), (1, [2])], ids=repr)
def test_transformations_unhashable_static_argument(refused, static):
    cure = "make it a tuple or a frozen dataclass"
    refused(ArgumentValueError, cure, lambda: jit(lambda x, y: x, static_argnums=1)(1.0, static))
    refused(ArgumentValueError, cure, lambda: jit(lambda x, y: x, static_argnums=1, backend="numpy")(1.0, static))
    refused(ArgumentValueError, cure, lambda: jit(lambda x, y: x, static_argnames="y")(1.0, y=static))
    refused(ArgumentValueError, cure, lambda: make_jaxpr(lambda x, y: x, static_argnums=1)(1.0, static))
    refused(ArgumentValueError, cure, lambda: grad(lambda x: jit(lambda x, y: x, static_argnums=1)(x, static))(1.0))
    refused(ArgumentValueError, cure, lambda: jit(lambda x, y: x, static_argnums=1).lower(1.0, static))
    step = jit(lambda x, y: x, static_argnums=1)
    refused(ArgumentValueError, cure, lambda: vmap(lambda x: step(x, static))(THREE))


def test_transformations_tracer_as_a_static_argument(abstractly, refused):
    step = jit(lambda x, n: x * n, static_argnums=1)

    def mistake(x):
        return step(x, x)

    refused(ArgumentValueError, "static argument 1", lambda: abstractly(mistake), at=mistake)


RESULTS = {
    "str": (lambda x: "text", "at result"),
    "object": (lambda x: object(), "at result"),
    "leaf": (lambda x: {"a": x, "b": "text"}, "at result['b']"),
    "deep leaf": (lambda x: (x, [x, {"c": len}]), "at result[1][1]['c']"),
}
RETURNS = {name: CALLS[name] for name in ("jit-numpy", "jit-xla", "jvp", "vjp", "linearize", "jacfwd", "jacrev",
    "make_jaxpr", "eval_shape", "cond")} | {
    "vmap": lambda f, x: vmap(f)(np.full(3, x)),
    "vmap-jit": lambda f, x: vmap(jit(f))(np.full(3, x)),
    "jit-vmap": lambda f, x: jit(vmap(f))(np.full(3, x)),
    "jit-jvp": lambda f, x: jit(lambda x: jvp(f, (x,), (x,)))(x),
    "lower": lambda f, x: jit(f).lower(x),
    "jit-cond": lambda f, x: jit(lambda x: cond(x > 0.0, f, f, x))(x),
    "linear_transpose": lambda f, x: linear_transpose(f, x),
}  # fmt: skip


@pytest.mark.parametrize("call", RETURNS.values(), ids=RETURNS)
@pytest.mark.parametrize(("function", "place"), RESULTS.values(), ids=RESULTS)
def test_transformations_function_that_returns_a_non_array(refused, call, function, place):
    error = refused(NonArrayError, place, lambda: call(function, AT), at=call)
    assert "return arrays, numbers, or trees of them" in str(error)


DERIVATIVES = {
    "grad": lambda f: grad(f)(AT),
    "value_and_grad": lambda f: value_and_grad(f)(AT),
    "jit-grad": lambda f: jit(grad(f))(AT),
    "grad-jit": lambda f: grad(jit(f))(AT),
    "vmap-grad": lambda f: vmap(grad(f))(THREE),
}


@pytest.mark.parametrize("call", DERIVATIVES.values(), ids=DERIVATIVES)
def test_transformations_gradient_of_a_non_array(refused, call):
    refused(NonArrayError, "return arrays, numbers, or trees of them", lambda: call(lambda x: "text"), at=call)
    refused(ArgumentTypeError, "return one scalar, the rest with has_aux=True", lambda: call(lambda x: None), at=call)
    refused(ArgumentTypeError, "return one scalar, the rest with has_aux=True", lambda: call(lambda x: (x, x)), at=call)
    refused(ArgumentTypeError, "sum it up, or use jacrev or vjp", lambda: call(lambda x: x * THREE), at=call)
