"""The type checker accepts every well-typed jaxpr and rejects every planted fault."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lawful.core import (
    ArgumentTypeError,
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    JaxprTypeError,
    Literal,
    MissingRuleError,
    Primitive,
    ShapedArray,
    Var,
    check_jaxpr,
    parse_jaxpr,
    user_source,
)


@given(data=st.data())
def test_check_jaxpr_well_typed_jaxprs_are_accepted(data: st.DataObject, toy: SimpleNamespace):
    jaxpr = data.draw(toy.jaxprs(max_consts=2))
    check_jaxpr(jaxpr)
    check_jaxpr(toy.closed(jaxpr))


# Planted faults


def other_types(aval: ShapedArray) -> Iterator[ShapedArray]:
    yield aval.update(shape=(*aval.shape, 1), weak_type=False)
    if aval.shape:
        yield aval.update(shape=(aval.shape[0] + 1, *aval.shape[1:]))
    if aval.weak_type:
        yield aval.update(weak_type=False)
    elif not aval.shape and aval.dtype == np.float64:
        yield aval.update(weak_type=True)
    yield aval.update(dtype=np.int8 if aval.dtype != np.int8 else np.uint8, weak_type=False)


def with_type(jaxpr: Jaxpr, var: Var, aval: ShapedArray) -> Jaxpr:
    """A copy in which a variable has another type wherever it stands."""
    new = Var(aval)

    def replace(atoms: Any) -> tuple[Any, ...]:
        return tuple(new if atom is var else atom for atom in atoms)

    return jaxpr.replace(
        eqns=tuple(eqn.replace(invars=replace(eqn.invars), outvars=replace(eqn.outvars)) for eqn in jaxpr.eqns),
        outvars=replace(jaxpr.outvars),
    )


def faults_of_eqn(jaxpr: Jaxpr, index: int, toy: SimpleNamespace) -> Iterator[tuple[str, Jaxpr]]:
    eqn = jaxpr.eqns[index]

    def changed(**changes: Any) -> Jaxpr:
        return toy.with_eqn(jaxpr, index, eqn.replace(**changes))

    used = {atom for other in jaxpr.eqns for atom in other.invars} | set(jaxpr.outvars)
    if used & set(eqn.outvars):
        yield "equation deleted", toy.with_eqn(jaxpr, index)
    if eqn.outvars:
        yield "equation twice", toy.with_eqn(jaxpr, index, eqn, eqn)
        yield "result missing", changed(outvars=eqn.outvars[:-1])
        for bound in (*jaxpr.invars[:1], *jaxpr.constvars[:1]):
            yield "input bound again", changed(outvars=(bound, *eqn.outvars[1:]))
    if index + 1 < len(jaxpr.eqns) and set(eqn.outvars) & set(jaxpr.eqns[index + 1].invars):
        swapped = (*jaxpr.eqns[:index], jaxpr.eqns[index + 1], eqn, *jaxpr.eqns[index + 2 :])
        yield "used before bound", jaxpr.replace(eqns=swapped)
    yield "result too many", changed(outvars=(*eqn.outvars, Var(ShapedArray((), float))))
    for var in eqn.outvars:
        for aval in other_types(var.aval):
            weak = (aval.weak_type, var.aval.weak_type) != (False, False) and aval.dtype == var.aval.dtype
            yield f"{'weak ' if weak and not aval.shape else ''}type of result", with_type(jaxpr, var, aval)
    for position, atom in enumerate(eqn.invars):

        def with_atom(new: Any, position: int = position) -> Jaxpr:
            return changed(invars=(*eqn.invars[:position], new, *eqn.invars[position + 1 :]))

        yield "unbound operand", with_atom(Var(atom.aval))
        yield "no atom", with_atom(np.ones(3))
        for var in eqn.outvars:
            if var.aval == atom.aval:
                yield "equation of its own result", with_atom(var)
        if isinstance(atom, Literal):
            yield "type of literal", with_atom(Literal(atom.val, next(other_dtypes(atom.aval))))
    if eqn.primitive is toy.combine_p:
        yield "operand missing", changed(invars=eqn.invars[:1])
        for aval in other_types(eqn.invars[0].aval):
            if not aval.shape:
                literal = Literal(toy.const_of(aval) if aval.weak_type else aval.dtype.type(0))
                yield "type of operand", changed(invars=(literal, eqn.invars[1]))
    if eqn.primitive is toy.convert_p:
        yield "parameter missing", changed(params={})


def other_dtypes(aval: ShapedArray) -> Iterator[ShapedArray]:
    yield aval.update(dtype=np.int8 if aval.dtype != np.int8 else np.uint8, weak_type=False)


def faults(jaxpr: Jaxpr, toy: SimpleNamespace) -> Iterator[tuple[str, Jaxpr]]:
    """Ill-typed variants of a well-typed jaxpr, each with the kind of its fault."""
    for index in range(len(jaxpr.eqns)):
        yield from faults_of_eqn(jaxpr, index, toy)
    for var in jaxpr.invars:
        yield "input twice", jaxpr.replace(invars=(*jaxpr.invars, var))
        yield "constant and input", jaxpr.replace(constvars=(*jaxpr.constvars, var))
    for var in jaxpr.constvars:
        yield "constant twice", jaxpr.replace(constvars=(*jaxpr.constvars, var))
    yield "unbound output", jaxpr.replace(outvars=(*jaxpr.outvars, Var(ShapedArray((), float))))
    yield "output no atom", jaxpr.replace(outvars=(*jaxpr.outvars, 1.0))
    yield "type of output literal", jaxpr.replace(outvars=(Literal(1.0, ShapedArray((), float)),))
    yield "input no variable", jaxpr.replace(invars=(*jaxpr.invars, Literal(1.0)))
    yield from toy.nested_variants(jaxpr, lambda inner: faults(inner, toy))


@given(data=st.data())
def test_check_jaxpr_every_planted_fault_is_rejected(data: st.DataObject, toy: SimpleNamespace):
    jaxpr = data.draw(toy.jaxprs(max_consts=1))
    for kind, faulty in faults(jaxpr, toy):
        assert is_rejected(faulty), f"accepted: {kind}\n{faulty}"


def is_rejected(jaxpr: Jaxpr) -> bool:
    try:
        check_jaxpr(jaxpr)
    except JaxprTypeError:
        return True
    return False


RICH = """
{ lambda z:f64[] ; a:f64[] b:f64[3] c:i32[]. let
    d:f64[] = toy_negate a
    e:~f64[] = toy_make[aval=~f64[]]
    f:f64[] = toy-combine d 2.0:f64[]
    g:~f64[] h:~f64[] = toy_split[parts=2] e
    i:f64[] j:~f64[] = toy_call[
      name=f
      jaxpr={ lambda ; a:f64[] b:~f64[]. let
          c:f64[] = toy_negate a
          d:f64[] = toy-combine c a
        in (d, b) }
    ] f g
    k:i8[3] = toy_convert[new_dtype=int8] b
    l:f64[] = toy-combine i i
  in (l, k) }
"""

# The message of each kind of fault: expected, got.
MESSAGES = {
    "equation deleted": ("variables that are bound before in ", "which nothing binds"),
    "equation twice": ("results that are not bound yet in ", " again; "),
    "result missing": ("", ""),  # unbound where it is used
    "input bound again": ("results that are not bound yet in ", " again; "),
    "used before bound": ("variables that are bound before in ", "which is bound only later; reorder"),
    "result too many": ("the results ", ""),
    "type of result": ("", ""),  # that of the equation, or of one that uses it
    "weak type of result": ("the results ", "~f64[]"),
    "unbound operand": ("variables that are bound before in ", "which nothing binds"),
    "no atom": ("variables and literals in ", "array([1., 1., 1.])"),
    "equation of its own result": ("variables that are bound before in ", "which is bound only later"),
    "type of literal": ("a literal i8[] in ", "np.float64(2.0), which is f64[]"),
    "operand missing": ("operands that toy-combine takes in ", "it says: "),
    "type of operand": ("operands that toy-combine takes in ", "it says: operands of one type"),
    "parameter missing": ("operands that toy_convert takes in ", "new_dtype"),
    "input twice": ("inputs that are not bound yet in its inputs and outputs", " again"),
    "constant and input": ("inputs that are not bound yet in its inputs and outputs", " again"),
    "constant twice": ("constants that are not bound yet in its inputs and outputs", " again"),
    "unbound output": ("variables that are bound before in its inputs and outputs", "which nothing binds"),
    "output no atom": ("variables and literals in its inputs and outputs", "got 1.0"),
    "type of output literal": ("a literal f64[] in its inputs and outputs", "1.0, which is ~f64[]"),
    "input no variable": ("variables as inputs in its inputs and outputs", "Literal(1.0:~f64[])"),
}


@pytest.mark.parametrize("kind", MESSAGES)
def test_check_jaxpr_error_says_expected_and_got(kind: str, toy: SimpleNamespace):
    jaxpr = parse_jaxpr(RICH, (np.float64(0),)).jaxpr
    check_jaxpr(jaxpr)
    expected, got = MESSAGES[kind]
    messages = []
    for found, faulty in faults(jaxpr, toy):
        if found.removesuffix(", nested") == kind:
            with pytest.raises(JaxprTypeError) as caught:
                check_jaxpr(faulty)
            messages.append((found, str(caught.value)))
    assert messages
    for found, message in messages:
        if found == kind:
            assert f"jaxpr: expected {expected}" in message
            assert got in message


def test_check_jaxpr_all_kinds_of_faults_are_known(toy: SimpleNamespace):
    found = {kind.removesuffix(", nested") for kind, _ in faults(parse_jaxpr(RICH, (np.float64(0),)).jaxpr, toy)}
    assert found == MESSAGES.keys()


# Messages


def test_check_jaxpr_message_begins_with_line_of_the_equation(toy: SimpleNamespace):
    source = user_source()
    x, y = Var(ShapedArray((), float)), Var(ShapedArray((), float, weak_type=True))
    jaxpr = Jaxpr([], [x], [JaxprEqn(toy.negate_p, [x], [y], {}, source)], [y])
    with pytest.raises(JaxprTypeError) as caught:
        check_jaxpr(jaxpr)
    assert str(caught.value) == (
        f"{source}: jaxpr: expected the results f64[] in `b:~f64[] = toy_negate a`, got ~f64[]; "
        "bind what toy_negate gives"
    )


def test_check_jaxpr_error_quotes_rule_without_line():
    """The error quotes the message of the rule without the source line of the rule's error."""
    strict_p = Primitive("toy_strict")

    @strict_p.def_abstract_eval
    def strict_type(x: ShapedArray) -> ShapedArray:
        raise ArgumentTypeError("toy_strict: expected nothing")

    x, y, source = Var(ShapedArray((), float)), Var(ShapedArray((), float)), user_source()
    with pytest.raises(JaxprTypeError) as caught:
        check_jaxpr(Jaxpr([], [x], [JaxprEqn(strict_p, [x], [y], {}, source)], [y]))
    assert str(caught.value) == (
        f"{source}: jaxpr: expected operands that toy_strict takes in `b:f64[] = toy_strict a`, got f64[]; "
        "it says: toy_strict: expected nothing"
    )
    assert isinstance(caught.value.__cause__, ArgumentTypeError)


def test_check_jaxpr_place_of_a_nested_jaxpr_is_named():
    text = """{ lambda ; a:f64[]. let b:f64[] = toy_call[name=f jaxpr={ lambda ; a:f64[]. let
        b:f64[] = toy_call[name=g jaxpr={ lambda ; a:f64[]. let b:i8[] = toy_negate a in (b,) }] a
        in (b,) }] a in (b,) }"""
    with pytest.raises(JaxprTypeError, match=r"jaxpr: expected the results i8\[\] in `b:f64\[\] = toy_call"):
        check_jaxpr(parse_jaxpr(text))
    place = "jaxpr of toy_call in jaxpr of toy_call in jaxpr: expected the results f64"
    with pytest.raises(JaxprTypeError, match=place):
        check_jaxpr(parse_jaxpr(text.replace("b:f64[] = toy_call", "b:i8[] = toy_call")))


# Constants


@given(data=st.data())
def test_check_jaxpr_constants_have_the_types_of_their_variables(data: st.DataObject, toy: SimpleNamespace):
    closed = toy.closed(data.draw(toy.jaxprs(max_consts=3)))
    assume(closed.consts)
    check_jaxpr(closed)
    index = data.draw(st.integers(0, len(closed.consts) - 1))
    aval = data.draw(st.sampled_from(list(other_types(closed.jaxpr.constvars[index].aval))))
    consts = list(closed.consts)
    consts[index] = toy.const_of(aval)
    with pytest.raises(JaxprTypeError, match=r"expected constants .*; make the types of constvars those of consts"):
        check_jaxpr(ClosedJaxpr(closed.jaxpr, consts))


def test_check_jaxpr_constant_is_an_array():
    jaxpr = Jaxpr([Var(ShapedArray((), float))], [], [], [])
    with pytest.raises(JaxprTypeError, match=r"expected constants that are arrays or numbers in .*, got 'text'"):
        check_jaxpr(ClosedJaxpr(jaxpr, ["text"]))


def test_check_jaxpr_constant_too_few_is_an_error():
    closed = ClosedJaxpr(Jaxpr([], [], [], []))
    closed.jaxpr = Jaxpr([Var(ShapedArray((), float))], [], [], [])
    with pytest.raises(JaxprTypeError, match=r"expected constants f64\[\] in .*, got none"):
        check_jaxpr(closed)


def test_check_jaxpr_nested_constants(toy: SimpleNamespace):
    """Only the outermost jaxpr has constants: those of a nested one have no notation."""
    const, out = (Var(ShapedArray((2,), float)) for _ in range(2))
    inner = ClosedJaxpr(Jaxpr([const], [], [], [const]), [np.ones(2)])
    check_jaxpr(inner)
    outer = Jaxpr([], [], [JaxprEqn(toy.call_p, [], [out], {"jaxpr": inner, "name": "f"})], [out])
    message = r"jaxpr of toy_call in jaxpr: expected no constants in .*, got f64\[2\]; make them operands of toy_call"
    with pytest.raises(JaxprTypeError, match=message):
        check_jaxpr(outer)


# Rules


def test_check_jaxpr_primitive_without_a_rule_is_a_missing_rule(toy: SimpleNamespace):
    untyped_p = Primitive("toy_untyped")
    eqn = JaxprEqn(untyped_p, [], [], {})
    with pytest.raises(MissingRuleError, match=r"toy_untyped_p\.def_abstract_eval"):
        check_jaxpr(Jaxpr([], [], [eqn], []))


def test_check_jaxpr_each_distinct_jaxpr_is_checked_once(toy: SimpleNamespace):
    calls = []
    counted_p = Primitive("toy_counted")
    counted_p.def_abstract_eval(lambda: calls.append(1) or ShapedArray((), float))
    inner = parse_jaxpr("{ lambda ; . let a:f64[] = toy_counted in (a,) }")
    for _ in range(60):  # 2 ** 60 paths
        x, y = (Var(ShapedArray((), float)) for _ in range(2))
        eqns = [JaxprEqn(toy.call_p, [], [var], {"jaxpr": inner, "name": "f"}) for var in (x, y)]
        inner = ClosedJaxpr(Jaxpr([], [], eqns, [y]))
    check_jaxpr(inner)
    assert len(calls) == 1
