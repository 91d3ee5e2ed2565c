"""Dead-code elimination and partial evaluation of jaxprs keep the meaning, and do no more than they say."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, check_jaxpr, eval_closed_jaxpr
from lawful.staging import (
    consts_as_inputs,
    cse_jaxpr,
    dce_jaxpr,
    inline_jaxpr,
    make_jaxpr,
    merge_lists,
    partial_eval_jaxpr,
    used_inputs,
)
from lawful.staging import (
    jit as jit_by,
)

jit = partial(jit_by, backend="numpy")

table = np.arange(3.0)


def program(x: Any, y: Any, z: Any) -> Any:
    a = ops.sin(x) * table
    b = jit(lambda p, q: (p * q, ops.cos(q), ops.exp(p)))(a, y)
    c = ops.sqrt(z)
    return b[0] + 1.0, b[1], a, x, 2.0, c


X, Y, Z = np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 3.0]), np.float64(4.0)


@pytest.fixture
def closed() -> Any:
    return make_jaxpr(program)(X, Y, Z)


def names(closed: Any) -> list[str]:
    found = []
    for eqn in closed.eqns:
        found.append(eqn.primitive.name)
        if "jaxpr" in eqn.params:
            found += names(eqn.params["jaxpr"])
    return found


def same(got: Any, expected: Any) -> None:
    assert len(got) == len(expected)
    for x, y in zip(got, expected, strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("mask", range(64))
def test_dce_jaxpr_keeps_the_used_outputs(closed: Any, mask: int) -> None:
    used = [bool(mask & (1 << i)) for i in range(6)]
    small = dce_jaxpr(closed, used)
    check_jaxpr(small)
    expected = [x for x, keep in zip(program(X, Y, Z), used, strict=True) if keep]
    same(eval_closed_jaxpr(small, X, Y, Z), expected)
    again = dce_jaxpr(small, [True] * sum(used))
    assert str(again) == str(small), "twice is once"
    needed = used_inputs(closed, used)
    narrow = dce_jaxpr(closed, used, keep_inputs=False)
    check_jaxpr(narrow)
    same(eval_closed_jaxpr(narrow, *[x for x, keep in zip((X, Y, Z), needed, strict=True) if keep]), expected)


def test_dce_jaxpr_drops_equations_constants_and_parts_of_calls(closed: Any) -> None:
    assert names(dce_jaxpr(closed, [False] * 6)) == []
    assert dce_jaxpr(closed, [False] * 6).consts == []
    assert names(dce_jaxpr(closed, [False, True, False, False, False, False])) == ["jit", "cos"]
    only_a = dce_jaxpr(closed, [False, False, True, False, False, False])
    assert names(only_a) == ["sin", "mul"]
    assert len(only_a.consts) == 1
    assert used_inputs(closed, [False] * 5 + [True]) == [False, False, True]
    assert used_inputs(closed, [False] * 4 + [True, False]) == [False, False, False]


def test_dce_jaxpr_drops_call_with_unused_result() -> None:
    closed = make_jaxpr(lambda x: (jit(ops.sin)(x), x)[1])(X)
    assert names(closed) == ["jit", "sin"]
    assert names(dce_jaxpr(closed, [True])) == []


def test_dce_jaxpr_leaves_the_original(closed: Any) -> None:
    before = str(closed)
    dce_jaxpr(closed, [False, True, False, False, False, False])
    partial_eval_jaxpr(closed, (True, False, False))
    consts_as_inputs(closed)
    assert str(closed) == before


@pytest.mark.parametrize("mask", range(8))
@pytest.mark.parametrize("forced", [None, (True,) * 6, (False, False, True, False, True, False)])
def test_partial_eval_jaxpr_keeps_meaning(closed: Any, mask: int, forced: Any) -> None:
    unknown = tuple(bool(mask & (1 << i)) for i in range(3))
    split = partial_eval_jaxpr(closed, unknown, forced)
    check_jaxpr(split.known)
    check_jaxpr(split.unknown)
    known_args = [x for x, u in zip((X, Y, Z), unknown, strict=True) if not u]
    unknown_args = [x for x, u in zip((X, Y, Z), unknown, strict=True) if u]
    outs = eval_closed_jaxpr(split.known, *known_args)
    count = len(outs) - split.residual_count
    rest = eval_closed_jaxpr(split.unknown, *outs[count:], *unknown_args)
    same(merge_lists(split.unknown_out, outs[:count], rest), program(X, Y, Z))
    if forced:
        assert all(u for u, f in zip(split.unknown_out, forced, strict=True) if f)


def test_partial_eval_jaxpr_computes_known_values_in_known_part(closed: Any) -> None:
    split = partial_eval_jaxpr(closed, (False, True, False))
    assert split.unknown_out == (True, True, False, False, False, False)
    assert "sin" in names(split.known)
    assert "sqrt" in names(split.known)
    assert "exp" not in names(split.unknown), "an unused result of the call"
    assert set(names(split.unknown)) & {"sin", "sqrt"} == set()
    assert "cos" in names(split.unknown)


def test_partial_eval_jaxpr_splits_a_call() -> None:
    closed = make_jaxpr(lambda x, y: jit(lambda p, q: ops.sin(p) * ops.cos(q))(x, y))(X, Y)
    split = partial_eval_jaxpr(closed, (False, True))
    assert names(split.known) == ["jit", "sin"]
    assert names(split.unknown) == ["jit", "cos", "mul"]
    assert split.residual_count == 1


def test_partial_eval_jaxpr_drops_dead_equations() -> None:
    def function(known: Any, unknown: Any) -> Any:
        ops.mul(unknown, ops.sin(known))
        ops.exp(known)
        return ops.add(known, 1.0), ops.neg(unknown)

    split = partial_eval_jaxpr(make_jaxpr(function)(np.float64(1.0), np.float64(2.0)), (False, True))
    assert (names(split.known), names(split.unknown), split.residual_count) == (["add"], ["neg"], 0)


def test_partial_eval_jaxpr_of_call_donates_nothing() -> None:
    call = jit(lambda x, y: (ops.sin(x), ops.exp(y)), donate_argnums=(0, 1))
    closed = make_jaxpr(call)(X, Y)
    assert closed.eqns[0].params["donated"] == (0, 1)
    split = partial_eval_jaxpr(closed, (False, True))
    for part in (dce_jaxpr(closed, [True, False]), split.known, split.unknown):
        assert "donated" not in part.eqns[0].params


def test_partial_eval_jaxpr_of_known_inputs(closed: Any) -> None:
    split = partial_eval_jaxpr(closed, (False,) * 3)
    assert split.unknown_out == (False,) * 6
    assert split.residual_count == 0
    assert names(split.unknown) == []


def test_partial_eval_jaxpr_of_unknown_inputs() -> None:
    closed = make_jaxpr(lambda x: ops.sin(x))(X)
    split = partial_eval_jaxpr(closed, (True,))
    assert split.residual_count == 0
    assert names(split.known) == []
    assert names(split.unknown) == ["sin"]


def test_consts_as_inputs(closed: Any) -> None:
    opened, consts = consts_as_inputs(closed)
    check_jaxpr(opened)
    assert opened.consts == ()
    assert len(consts) == 1
    same(eval_closed_jaxpr(opened, *consts, X, Y, Z), program(X, Y, Z))


def test_calls_of_one_jaxpr_go_on_to_share_one() -> None:
    inner = jit(lambda p: (ops.sin(p), ops.cos(p)))

    def f(x: Any) -> Any:
        for _ in range(10):
            x = inner(x)[0]
        return x

    closed = make_jaxpr(f)(X)
    small = dce_jaxpr(closed, [True])
    assert len({id(eqn.params["jaxpr"]) for eqn in small.eqns}) == 1
    assert len(small.eqns[0].params["jaxpr"].eqns) == 1


@pytest.mark.parametrize("function", [inline_jaxpr, cse_jaxpr, lambda x: dce_jaxpr(x, [True]), consts_as_inputs])
def test_pass_given_a_jaxpr_that_is_not_closed(function: Any) -> None:
    closed = make_jaxpr(ops.sin)(np.float64(1.0))
    with pytest.raises(ArgumentTypeError, match=r"expected a ClosedJaxpr, got a Jaxpr; give ClosedJaxpr"):
        function(closed.jaxpr)
    with pytest.raises(ArgumentTypeError, match=r"expected a ClosedJaxpr, got .*; call make_jaxpr"):
        function(ops.sin)


def test_dce_with_another_number_of_outputs() -> None:
    closed = make_jaxpr(ops.sin)(np.float64(1.0))
    with pytest.raises(ArgumentValueError, match="dce_jaxpr: expected 1 used_outputs, got 2; give one for each output"):
        dce_jaxpr(closed, [True, False])
