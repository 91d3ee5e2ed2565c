"""`cond` and `switch`: the branch taken, evaluated and compiled."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.control_flow import cond, switch
from lawful.core import (
    Primitive,
    alpha_equivalent,
    check_jaxpr,
    get_aval,
    parse_jaxpr,
)
from lawful.staging import jit as jit_by
from lawful.staging import make_jaxpr

jit = partial(jit_by, backend="numpy")

every_wrapper = pytest.mark.parametrize("wrap", [lambda f: f, jit, lambda f: jit(jit(f))], ids=["f", "jit", "jit jit"])


@every_wrapper
@pytest.mark.parametrize(
    ("pred", "holds"),
    [
        (True, True),
        (False, False),
        (np.True_, True),
        (np.array(False), False),
        (1, True),
        (0, False),
        (-2, True),
        (0.0, False),
        (0.5, True),
        (np.float32(0), False),
        (np.int8(3), True),
        (float("nan"), True),
        (1j, True),
    ],
)
def test_cond_predicate_chooses_the_branch(pred: Any, holds: bool, wrap: Any) -> None:
    function = wrap(lambda pred, x: cond(pred, lambda x: x + 10.0, lambda x: x - 10.0, x))
    assert function(pred, 1.0) == (11.0 if holds else -9.0)


@every_wrapper
def test_cond_computes_only_the_branch_taken(wrap: Any) -> None:
    calls: list[str] = []
    primitives = {}
    for name in ("yes", "no"):
        primitives[name] = primitive = Primitive(f"controlflowtest_{name}")
        primitive.def_impl(lambda x, name=name: (calls.append(name), x)[1])
        primitive.def_abstract_eval(lambda x: x)
    function = wrap(lambda p, x: cond(p, primitives["yes"].bind, primitives["no"].bind, x))
    function(np.True_, np.float64(1.0))
    assert calls == ["yes"]
    function(np.False_, np.float64(1.0))
    assert calls == ["yes", "no"]


@every_wrapper
def test_cond_with_pytrees(wrap: Any, require_same: Callable[..., None]) -> None:
    def function(pred: Any, d: Any, pair: Any) -> Any:
        return cond(
            pred,
            lambda d, pair: {"sum": d["x"] + pair[0], "pair": (pair[1], None)},
            lambda d, pair: {"sum": d["x"] - pair[0], "pair": (d["x"], None)},
            d,
            pair,
        )

    d, pair = {"x": np.arange(2.0)}, [np.float64(10.0), np.ones(2)]
    require_same(wrap(function)(True, d, pair), {"sum": np.array([10.0, 11.0]), "pair": (np.ones(2), None)})
    require_same(wrap(function)(False, d, pair), {"sum": np.array([-10.0, -9.0]), "pair": (np.arange(2.0), None)})


@every_wrapper
def test_cond_without_operands_or_results(wrap: Any) -> None:
    assert wrap(lambda p: cond(p, lambda: 1.0, lambda: 2.0))(False) == 2.0
    assert wrap(lambda p: cond(p, lambda: (), lambda: ()))(True) == ()
    assert wrap(lambda p: cond(p, lambda x: {"a": [], "b": x}, lambda x: {"a": [], "b": x}, None))(True) == {
        "a": [],
        "b": None,
    }


@every_wrapper
def test_cond_branches_close_over_arrays_and_arguments(wrap: Any, require_same: Callable[..., None]) -> None:
    c, d = np.arange(3.0), np.ones(3)

    def function(p: Any, x: Any, y: Any) -> Any:
        z = x * 2.0
        return cond(p, lambda y: c * z + y, lambda y: d * x - z + c, y)

    x, y = np.float64(3.0), np.ones(3)
    require_same(wrap(function)(True, x, y), c * 6.0 + 1.0)
    require_same(wrap(function)(False, x, y), d * 3.0 - 6.0 + c)


def test_cond_shared_closure_value_is_one_operand() -> None:
    closed = make_jaxpr(lambda p, x: cond(p, lambda: x * x, lambda: x + x))(True, np.ones(3))
    (call,) = (eqn for eqn in closed.eqns if eqn.primitive.name == "cond")
    assert [str(atom.aval) for atom in call.invars] == ["i32[]", "f64[3]"]


@every_wrapper
def test_cond_nested(wrap: Any) -> None:
    def function(x: Any) -> Any:
        return cond(
            x > 0.0,
            lambda: cond(x > 1.0, lambda y: y * x, lambda y: y + 100.0, x),
            lambda: switch(2, [lambda: x, lambda: x, lambda: cond(x < -1.0, lambda: -x, lambda: 0.5 * x)]),
        )

    for x, expected in ((2.0, 4.0), (0.5, 100.5), (-4.0, 4.0), (-0.5, -0.25)):
        assert wrap(function)(x) == expected


def test_cond_results_are_strong(require_same: Callable[..., None]) -> None:
    for first, second in ((1.0, np.float64(2)), (np.float64(2), 1.0), (1.0, 2.0)):
        for pred in (True, False):
            for wrap in (lambda f: f, jit):
                got = wrap(lambda p, a=first, b=second: cond(p, lambda: a, lambda: b))(pred)
                assert str(get_aval(got)) == "f64[]"
    assert str(get_aval(cond(True, lambda x: x, lambda x: x * 2, 3))) == "i64[]"


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "bfloat16", "float32", "complex64"])
def test_cond_every_dtype(dtype: str, require_same: Callable[..., None]) -> None:
    x = np.ones((2, 1)).astype(ops.convert_element_type(np.ones(()), dtype).dtype)
    for wrap in (lambda f: f, jit):
        require_same(wrap(lambda p, x: cond(p, lambda x: x, lambda x: ops.select_n(True, x, x), x))(False, x), x)


def test_cond_result_is_concrete_eagerly() -> None:
    assert [1, 2][cond(True, lambda: 1, lambda: 0)] == 2
    assert bool(cond(True, lambda: True, lambda: False))


# The index of switch.


@every_wrapper
@pytest.mark.parametrize("dtype", [int, "int8", "uint8", "int32", "int64", "uint64"])
def test_switch_index_is_clamped(dtype: Any, wrap: Any) -> None:
    function = wrap(lambda i, x: switch(i, [lambda x: x, lambda x: x * 10.0, lambda x: x * 100.0], x))
    indices = {0: 1.0, 1: 10.0, 2: 100.0, 3: 100.0, 100: 100.0}
    if dtype is int or not dtype.startswith("u"):
        indices |= {-1: 1.0, -100: 1.0}
    for index, expected in indices.items():
        assert function(index if dtype is int else np.array(index, dtype), 1.0) == expected


def test_switch_index_beyond_int32_is_clamped() -> None:
    branches = [lambda: 0.0, lambda: 1.0]
    for index in (np.uint64(2**63 + 5), np.int64(2**32), 2**40):
        assert switch(index, branches) == 1.0
        assert jit(lambda i: switch(i, branches))(index) == 1.0
    assert switch(-(2**40), branches) == 0.0


def test_switch_with_one_and_many_branches() -> None:
    assert switch(7, [lambda x: x * 2.0], 3.0) == 6.0
    branches = [lambda x, i=i: x + float(i) for i in range(50)]
    assert [switch(i, branches, 0.0) for i in range(50)] == [float(i) for i in range(50)]


# As a program.


def test_cond_jaxpr_has_the_false_branch_first() -> None:
    closed = make_jaxpr(lambda p, x: cond(p, ops.sin, ops.cos, x))(np.True_, np.float64(1.0))
    assert str(closed) == (
        "{ lambda ; a:bool[] b:f64[]. let\n"
        "    c:i32[] = convert_element_type[new_dtype=int32 weak_type=False] a\n"
        "    d:f64[] = cond[\n"
        "      branches=(\n"
        "        { lambda ; a:f64[]. let b:f64[] = cos a in (b,) },\n"
        "        { lambda ; a:f64[]. let b:f64[] = sin a in (b,) },\n"
        "      )\n"
        "    ] c b\n"
        "  in (d,) }"
    )
    check_jaxpr(closed)
    assert alpha_equivalent(parse_jaxpr(str(closed)), closed)


def test_cond_jaxpr_is_independent_of_predicate_value() -> None:
    texts = {str(make_jaxpr(lambda p, x: cond(p, ops.sin, ops.cos, x))(p, 1.0)) for p in (np.True_, np.False_)}
    assert len(texts) == 1


def test_cond_traces_each_branch_once_per_call() -> None:
    calls: list[str] = []
    function = jit(lambda p, x: cond(p, lambda x: (calls.append("yes"), x)[1], lambda x: (calls.append("no"), x)[1], x))
    for pred in (True, False, True):
        function(pred, 1.0)
    assert sorted(calls) == ["no", "yes"]


def test_cond_dead_results_and_operands_are_dropped(primitives_of: Callable[..., Any]) -> None:
    from lawful.staging import dce_jaxpr

    def function(p: Any, x: Any, y: Any) -> Any:
        return cond(p, lambda x, y: (ops.sin(x), ops.exp(y)), lambda x, y: (ops.cos(x), ops.tanh(y)), x, y)

    closed = make_jaxpr(function)(True, 1.0, 2.0)
    smaller = dce_jaxpr(closed, [True, False])
    check_jaxpr(smaller)
    assert set(primitives_of(smaller)) - {"convert_element_type", "cond"} == {"sin", "cos"}
    (call,) = (eqn for eqn in smaller.eqns if eqn.primitive.name == "cond")
    assert len(call.invars) == 2
    assert dce_jaxpr(smaller, [True]) is smaller


def test_cond_cse_within_branches(primitives_of: Callable[..., Any]) -> None:
    from lawful.staging import cse_jaxpr

    closed = make_jaxpr(lambda p, x: cond(p, lambda: ops.sin(x) + ops.sin(x), lambda: ops.cos(x) - ops.cos(x)))
    found = primitives_of(cse_jaxpr(closed(True, 1.0)))
    assert (found["sin"], found["cos"]) == (1, 1)


def test_cond_shared_closure_array_is_one_constant() -> None:
    table = np.arange(3.0)
    jaxpr = make_jaxpr(lambda p, x: cond(p, lambda: x * table, lambda: x + table))(True, np.ones(3))
    assert len(jaxpr.jaxpr.constvars) == 1


def test_cond_result_is_writable() -> None:
    table = np.arange(3.0)
    out = cond(True, lambda x: (table, x, x), lambda x: (x, x, table), table)
    for leaf in out:
        leaf[0] = 7.0
    assert table[0] == 0.0
