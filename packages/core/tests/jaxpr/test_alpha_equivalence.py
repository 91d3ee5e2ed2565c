"""Equality up to names is an equivalence relation, and tells different programs apart."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.core import (
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Literal,
    ShapedArray,
    Tracer,
    Var,
    alpha_equivalent,
    bfloat16,
    eval_trace,
    explain_difference,
    float0,
    parse_jaxpr,
    register_array_type,
)

# Changes that make another program


def other_scalar(literal: Literal) -> Iterator[Literal]:
    """Literals of the same type and another value, the nearest there is."""
    array = np.array(literal.val)
    if array.dtype == float0:
        return
    data = bytearray(array.tobytes())
    data[0] ^= 1
    value = np.frombuffer(bytes(data), array.dtype)[0]
    part = value.real if array.dtype.kind == "c" else value
    if not (array.dtype.kind not in "biu" and np.isnan(part)):
        yield Literal(value.item() if literal.aval.weak_type else value, literal.aval)


def other_programs(jaxpr: Jaxpr, toy: SimpleNamespace) -> Iterator[tuple[str, Jaxpr]]:
    """Variants of a jaxpr that are not equivalent to it, each with the kind of the change."""
    for index, eqn in enumerate(jaxpr.eqns):

        def changed(index: int = index, eqn: JaxprEqn = eqn, **changes: Any) -> Jaxpr:
            return toy.with_eqn(jaxpr, index, eqn.replace(**changes))

        yield "equation twice", toy.with_eqn(jaxpr, index, eqn, eqn)
        yield "primitive", changed(primitive=toy.mark_p if eqn.primitive is not toy.mark_p else toy.make_p)
        yield "parameter added", changed(params={**eqn.params, "new": None})
        for name in eqn.params:
            yield "parameter changed", changed(params={**eqn.params, name: object()})
            yield "parameter missing", changed(params={key: eqn.params[key] for key in eqn.params if key != name})
        for position, atom in enumerate(eqn.invars):
            new_atoms: list[Any] = [Var(atom.aval), *(other for other in eqn.invars if other is not atom)]
            new_atoms += other_scalar(atom) if isinstance(atom, Literal) else []
            for new in new_atoms:
                if isinstance(new, Literal) and isinstance(atom, Literal) and repr(new) == repr(atom):
                    continue
                yield "operand", changed(invars=(*eqn.invars[:position], new, *eqn.invars[position + 1 :]))
        if eqn.invars:
            yield "operand missing", changed(invars=eqn.invars[:-1])
        if eqn.outvars:
            yield "result missing", changed(outvars=eqn.outvars[:-1])
            weak = eqn.outvars[0].aval.update(weak_type=not eqn.outvars[0].aval.weak_type)
            yield "type of result", changed(outvars=(Var(weak), *eqn.outvars[1:]))
    if jaxpr.eqns:
        yield "equation missing", jaxpr.replace(eqns=jaxpr.eqns[:-1])
    yield "output", jaxpr.replace(outvars=(*jaxpr.outvars, Literal(1.0)))
    yield "input", jaxpr.replace(invars=(*jaxpr.invars, Var(ShapedArray((), float))))
    yield "constant", jaxpr.replace(constvars=(*jaxpr.constvars, Var(ShapedArray((), float))))
    if jaxpr.invars:
        yield "type of input", jaxpr.replace(invars=(Var(ShapedArray((9,), "int8")), *jaxpr.invars[1:]))
    for position, atom in enumerate(jaxpr.outvars):
        if isinstance(atom, Var):
            for other in jaxpr.invars:
                if other is not atom:
                    outvars = (*jaxpr.outvars[:position], other, *jaxpr.outvars[position + 1 :])
                    yield "which output", jaxpr.replace(outvars=outvars)
    yield from toy.nested_variants(jaxpr, lambda inner: other_programs(inner, toy))


@given(data=st.data())
def test_alpha_names_do_not_count(data: st.DataObject, toy: SimpleNamespace):
    jaxpr = data.draw(toy.jaxprs(max_consts=2))
    assert explain_difference(jaxpr, toy.renamed(jaxpr)) is None
    assert alpha_equivalent(toy.closed(jaxpr), toy.closed(toy.renamed(jaxpr)))


@given(data=st.data())
def test_alpha_every_change_counts(data: st.DataObject, toy: SimpleNamespace):
    jaxpr = data.draw(toy.jaxprs())
    for kind, other in other_programs(jaxpr, toy):
        assert not alpha_equivalent(jaxpr, toy.renamed(other)), f"{kind}\n{jaxpr}\n{other}"


@given(data=st.data())
def test_alpha_equivalence_relation(data: st.DataObject, toy: SimpleNamespace):
    def variant(jaxpr: Jaxpr) -> Jaxpr:
        others = [other for _, other in other_programs(jaxpr, toy)]
        return data.draw(st.sampled_from([jaxpr, toy.renamed(jaxpr), *others]))

    a = data.draw(toy.jaxprs())
    b = variant(a)
    c = variant(b)
    assert alpha_equivalent(a, a)
    assert alpha_equivalent(a, b) == alpha_equivalent(b, a)
    if alpha_equivalent(a, b) and alpha_equivalent(b, c):
        assert alpha_equivalent(a, c)


@given(data=st.data())
def test_alpha_difference_is_explained_where_there_is_one(data: st.DataObject, toy: SimpleNamespace):
    jaxpr = data.draw(toy.jaxprs())
    other = data.draw(st.sampled_from([toy.renamed(jaxpr), *(other for _, other in other_programs(jaxpr, toy))]))
    explanation = explain_difference(jaxpr, other)
    assert (explanation is None) == alpha_equivalent(jaxpr, other)
    assert explanation is None or (explanation.startswith("jaxpr, ") and "\n" not in explanation)


# Values


def program(value: Any) -> ClosedJaxpr:
    x = Var(ShapedArray((), float))
    return ClosedJaxpr(Jaxpr([x], [], [], [x]), [value])


NAN32 = np.array([0x7FC00000, 0xFFC00001], "u4").view("f4")


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (np.nan, -np.nan),
        (NAN32[0], NAN32[1]),
        (np.array([1, np.nan, -0.0]), np.array([1, -np.nan, -0.0])),
        (np.array([1, np.nan], bfloat16), np.array([1, np.nan], bfloat16)),
        (complex(np.nan, 1), complex(-np.nan, 1)),
        (np.zeros((2, 0)), np.zeros((2, 0))),
        (np.zeros(2, float0), np.ones(2).astype(float0)),
        (np.arange(6).reshape(2, 3), np.arange(6).reshape(2, 3).copy(order="F")),
        (np.arange(6)[::2], np.array([0, 2, 4])),
        (np.float64(2), np.array(2.0)),
        ((1, [np.ones(2), slice(0, 2)]), (1, [np.ones(2), slice(0, 2)])),
        ({"a": np.ones(2)}, {"a": np.ones(2)}),
        (slice(np.nan), slice(-np.nan)),
        (10**30, 10**30),
    ],
)
def test_alpha_equal_values(x: Any, y: Any, toy: SimpleNamespace):
    assert same_param(x, y, toy)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (0.0, -0.0),
        (np.array([0.0]), np.array([-0.0])),
        (complex(0, -0.0), complex(0, 0.0)),
        (1, 1.0),
        (1, True),
        (1.0, np.float64(1)),
        (np.float32(1), np.float64(1)),
        (np.nan, 1.0),
        (np.array([np.nan, 1.0]), np.array([np.nan, 2.0])),
        (complex(np.nan, 1), complex(1, np.nan)),
        (np.zeros((2, 0)), np.zeros((0, 2))),
        (np.arange(3), np.arange(3, dtype="int32")),
        ((1, 2), [1, 2]),
        ((1,), (1, 2)),
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {"b": 1}),
        ("1", 1),
        (np.ones(2), "text"),
        ("text", np.ones(2)),
        (None, ()),
        (slice(0, 2), slice(0, 3)),
        (slice(0, 2), slice(False, 2)),
        (slice(0.0), slice(-0.0)),
        (np.dtype("float32"), np.dtype("float64")),
        (np.dtype("float32"), "float32"),
        (ShapedArray((), float), ShapedArray((), float, weak_type=True)),
        (10**30, 10**30 + 1),
    ],
)
def test_alpha_different_values(x: Any, y: Any, toy: SimpleNamespace):
    assert not same_param(x, y, toy)
    assert not same_param(y, x, toy)
    assert same_param(x, x, toy)


def same_param(x: Any, y: Any, toy: SimpleNamespace) -> bool:
    a, b = (Jaxpr([], [], [JaxprEqn(toy.mark_p, [], [], {"value": value})], []) for value in (x, y))
    same = alpha_equivalent(a, b)
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        assert alpha_equivalent(program(x), program(y)) == same
    return same


class Stored(Tracer):
    """A tracer that somebody made a constant of a jaxpr."""

    __slots__ = ("aval",)

    def __init__(self) -> None:
        self.aval = ShapedArray((), float)
        self._trace = eval_trace


register_array_type(Stored, aval=lambda tracer: tracer.aval)


def test_alpha_tracer_is_the_same_as_itself_only():
    x, y = Stored(), Stored()
    assert alpha_equivalent(program(x), program(x))
    for other in (y, np.float64(1)):
        assert not alpha_equivalent(program(x), program(other))
        assert not alpha_equivalent(program(other), program(x))


def test_alpha_stated_type_of_a_literal_counts():
    literals = [Literal(1.0, ShapedArray((), dtype)) for dtype in ("float32", "float64")]
    a, b = (Jaxpr([], [], [], [literal]) for literal in literals)
    assert not alpha_equivalent(a, b)


class Strange:
    """A value whose == cannot be used."""

    def __eq__(self, other: object) -> bool:
        raise ValueError

    __hash__ = None  # type: ignore[assignment]


def test_alpha_same_param_incomparable_values(toy: SimpleNamespace):
    """A value that cannot be compared equals only itself."""
    x = Strange()
    assert same_param(x, x, toy)
    assert not same_param(x, Strange(), toy)


# Closed and open


def test_alpha_constants_count():
    one = program(np.ones(3))
    assert alpha_equivalent(one, program(np.ones(3)))
    assert not alpha_equivalent(one, program(np.zeros(3)))
    assert not alpha_equivalent(one, one.jaxpr)
    assert not alpha_equivalent(one.jaxpr, one)


def test_alpha_without_constants_closed_and_open_are_the_same():
    closed = parse_jaxpr("{ lambda ; a:f64[]. let in (a,) }")
    assert alpha_equivalent(closed, closed.jaxpr)
    assert alpha_equivalent(closed.jaxpr, closed)


# Variables that nothing binds, and explanations


def test_alpha_unbound_variables_stand_for_themselves():
    x, y = Var(ShapedArray((), float)), Var(ShapedArray((), float))
    assert alpha_equivalent(Jaxpr([], [], [], [x]), Jaxpr([], [], [], [x]))
    assert not alpha_equivalent(Jaxpr([], [], [], [x]), Jaxpr([], [], [], [y]))
    assert not alpha_equivalent(Jaxpr([], [], [], [x]), Jaxpr([], [x], [], [x]))


@pytest.mark.parametrize(
    ("old", "new", "explanation"),
    [
        ("toy_negate b", "toy_convert b", "primitive of equation 0: `{0}` and `{0}` differ"),
        ("toy_negate b", "toy_negate a", "operands of equation 0: `{0}` and `{0}` differ"),
        ("b:f64[]. let", "b:i8[]. let", "inputs: `a:f64[] b:f64[]` and `a:f64[] b:i8[]` differ"),
        ("in (c, a)", "in (a, c)", "outputs: `c, a` and `a, c` differ"),
    ],
)
def test_alpha_explanation_names_the_place(old: str, new: str, explanation: str):
    inner = "{ lambda ; a:f64[] b:f64[]. let c:f64[] = toy_negate b in (c, a) }"
    outer = "{{ lambda ; . let = toy_mark = toy_call[name=f jaxpr={}] in () }}"
    place = "jaxpr, parameter jaxpr of equation 1 `= toy_call[name=f jaxpr={ … }]`, "
    x, y = (parse_jaxpr(outer.format(text)) for text in (inner, inner.replace(old, new)))
    equations = ["c:f64[] = toy_negate b", f"c:f64[] = {new}"]
    for equation in equations:
        explanation = explanation.replace("{0}", equation, 1)
    assert explain_difference(x, y) == place + explanation
