"""An unmapped operand is not repeated where the operation can do without."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.batching import AxisData, batch_jaxpr, vmap
from lawful.core import Primitive, ShapedArray, check_jaxpr, get_aval
from lawful.staging import jit as jit_by
from lawful.staging import make_jaxpr

jit = partial(jit_by, backend="numpy")

X, W, M = np.ones((5, 3)), np.ones(3), np.ones((3, 4))


def test_vmap_computes_unmapped_values_once() -> None:
    closed = make_jaxpr(vmap(lambda x, w: x * ops.exp(ops.sin(w)), (0, None)))(X, W)
    assert [(eqn.primitive.name, eqn.outvars[0].aval.shape) for eqn in closed.eqns] == [
        ("sin", (3,)),
        ("exp", (3,)),
        ("broadcast_in_dim", (5, 3)),
        ("mul", (5, 3)),
    ]


@pytest.mark.parametrize("shape", [(), (3,)])
def test_vmap_mul_broadcast_without_transpose(shape: tuple[int, ...]) -> None:
    """An operand that is broadcast within a batch element needs no transpose."""
    closed = make_jaxpr(vmap(lambda s, x: s * x))(np.ones((5, *shape)), np.ones((5, 2, 3)))
    assert [eqn.primitive.name for eqn in closed.eqns] == ["broadcast_in_dim", "mul"]


def test_vmap_eagerly_it_is_evaluated_once_by_numpy() -> None:
    calls = []
    primitive = Primitive("batchingtest_shared")
    primitive.def_impl(lambda x: (calls.append(np.shape(x)), x)[1])
    vmap(lambda x, w: x * primitive.bind(w), (0, None))(X, W)
    assert calls == [(3,)]


def test_vmap_rule_is_given_what_is_shared_as_it_is() -> None:
    seen = []
    primitive = Primitive("batchingtest_pair")

    @primitive.def_batch
    def batch(args: Any, dims: Any) -> Any:
        seen.append(([np.shape(x) for x in args], dims))
        return args[0], dims[0]

    vmap(lambda x, w: primitive.bind(x, w), (1, None))(X, W)
    assert seen == [([(5, 3), (3,)], [1, None])]


@pytest.mark.parametrize(
    ("function", "args", "axes"),
    [
        (lambda x, m: ops.dot_general(x, m, (((0,), (0,)), ((), ()))), (X, M), (0, None)),
        (lambda x, m: ops.dot_general(m, x, (((0,), (0,)), ((), ()))), (X, M), (0, None)),
        (lambda x, m: ops.dot_general(x, m, (((0,), (0,)), ((), ()))), (W, np.ones((5, 3, 4))), (None, 0)),
        (lambda x, m: ops.dot_general(x, m, (((1,), (0,)), ((), ()))), (M.T, np.ones((3, 4, 5))), (None, 2)),
        (lambda p, x: ops.select_n(p, x, 2.0 * x), (np.True_, X), (None, 0)),
        (lambda x, v: ops.pad(x, v, ((1, 1, 0),)), (X, np.float64(0.0)), (0, None)),
        (lambda x: ops.reduce_sum(x, (0,)), (X,), (0,)),
        (lambda x: ops.reshape(x, (3, 1)), (X,), (0,)),
        (lambda x: x[1:], (X,), (0,)),
        (lambda x, y: ops.concatenate([x, x], 0), (X, W), (0, None)),
        (lambda x, y: x * x + x, (X, W), (0, None)),
        (lambda x, y: (x * x, ops.sin(y)), (X, W), (0, None)),
    ],
    ids=[
        "x@m",
        "m.T@x",
        "w@ms",
        "m@ms",
        "select by a shared predicate",
        "pad by a shared value",
        "sum",
        "reshape",
        "slice",
        "concatenate",
        "unused",
        "apart",
    ],
)
def test_vmap_no_operand_is_repeated_without_need(function: Any, args: Any, axes: Any) -> None:
    closed = make_jaxpr(vmap(function, axes))(*args)
    check_jaxpr(closed)
    inputs = closed.jaxpr.invars
    assert not [e for e in closed.eqns if e.primitive.name == "broadcast_in_dim" and e.invars[0] in inputs]


def test_vmap_product_of_batch_and_matrix_is_one_dot_general(primitives_of: Callable[..., Any]) -> None:
    product = lambda x, m: ops.dot_general(x, m, (((0,), (0,)), ((), ())))  # noqa: E731
    assert primitives_of(make_jaxpr(vmap(product, (0, None)))(X, M)) == {"dot_general": 1}
    (eqn,) = make_jaxpr(vmap(product, (0, None)))(X, M).eqns
    assert [atom.aval.shape for atom in eqn.invars] == [(5, 3), (3, 4)]


def test_vmap_what_must_be_repeated_is_a_view() -> None:
    seen = []
    primitive = Primitive("batchingtest_strict")

    @primitive.def_impl
    def impl(x: Any, y: Any) -> Any:
        seen.append(y.strides)
        return x * y

    primitive.def_abstract_eval(lambda x, y: x)

    @primitive.def_batch
    def batch(args: Any, dims: Any) -> Any:
        return primitive.bind(*ops.align_to_front(args, dims)), 0

    vmap(lambda x, w: primitive.bind(x, w), (0, None))(np.ones((1000, 3)), W)
    assert seen == [(0, 8)], "no memory is spent on it"


def test_vmap_shared_result_is_not_repeated_before_it_must_be() -> None:
    closed = make_jaxpr(vmap(lambda x, w: ops.sin(w), (0, None), None))(X, W)
    assert [eqn.primitive.name for eqn in closed.eqns] == ["sin"]
    closed = make_jaxpr(vmap(lambda x, w: ops.sin(w), (0, None)))(X, W)
    assert [eqn.primitive.name for eqn in closed.eqns] == ["sin", "broadcast_in_dim"]


def test_vmap_jit_of_shared_operands_only_stays_as_it_is() -> None:
    inner = jit(lambda w: ops.sin(w))
    closed = make_jaxpr(vmap(lambda x, w: x * inner(w), (0, None)))(X, W)
    (call,) = (eqn for eqn in closed.eqns if eqn.primitive.name == "jit")
    assert [atom.aval.shape for atom in call.invars] == [(3,)]


def test_vmap_jit_of_both_repeats_nothing_at_its_boundary(primitives_of: Callable[..., Any]) -> None:
    inner = jit(lambda x, w: (ops.sin(w), x * 2.0, ops.exp(w)[0] * x))
    closed = make_jaxpr(vmap(lambda x, w: inner(x, w), (0, None), (None, 0, 0)))(X, W)
    (call,) = closed.eqns
    assert [atom.aval.shape for atom in call.invars] == [(5, 3), (3,)]
    assert [var.aval.shape for var in call.outvars] == [(3,), (5, 3), (5, 3)]
    check_jaxpr(closed)


def test_batch_jaxpr(require_same: Any) -> None:
    closed = make_jaxpr(lambda x, w: (ops.cos(x), ops.sin(w)))(W, W)
    batched, dims = batch_jaxpr(closed, AxisData(5), (0, None), False)
    assert dims == (0, None)
    check_jaxpr(batched)
    assert [str(aval) for aval in batched.out_avals] == ["f64[5,3]", "f64[3]"]
    batched, dims = batch_jaxpr(closed, AxisData(5), (1, None), False)
    assert dims == (1, None), "a dimension stays where it is"
    batched, dims = batch_jaxpr(closed, AxisData(5), (1, None), True)
    assert dims == (0, 0)
    assert [str(aval) for aval in batched.out_avals] == ["f64[5,3]", "f64[5,3]"]
    batched, dims = batch_jaxpr(closed, AxisData(5), (1, None), (False, True))
    assert dims == (1, 0)
    assert batch_jaxpr(closed, AxisData(5), (0, None), False) is batch_jaxpr(closed, AxisData(5), (0, None), False)


def test_vmap_element_may_be_weak(require_same: Any) -> None:
    # A batch of what a jaxpr takes for Python scalars: promotion inside stays that of one element.
    closed = make_jaxpr(lambda x, y: x * y)(2.0, np.float32(3))
    batched, _ = batch_jaxpr(closed, AxisData(2), (0, None), False)
    check_jaxpr(batched)
    assert batched.out_avals == [ShapedArray((2,), "float32")]
    assert get_aval(2.0).weak_type
