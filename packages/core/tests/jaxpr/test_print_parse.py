"""Printing, then parsing, is the identity up to names; and the text looks like JAX's."""

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
    JaxprParseError,
    Literal,
    Primitive,
    ShapedArray,
    Var,
    check_jaxpr,
    explain_difference,
    format_jaxpr,
    parse_jaxpr,
)
from lawful.core._jaxpr.print import format_eqn


def scalar_bits(jaxpr: Jaxpr) -> list[bytes]:
    """The bits of all scalars in a jaxpr, which equivalence compares less strictly: all NaNs are one to it."""
    bits = []

    def visit(value: Any) -> None:
        if isinstance(value, ClosedJaxpr):
            bits.extend(scalar_bits(value.jaxpr))
        elif isinstance(value, tuple | list):
            for item in value:
                visit(item)
        elif isinstance(value, slice):
            visit((value.start, value.stop, value.step))
        elif isinstance(value, float | complex | np.generic):
            bits.append(np.asarray(value).tobytes())

    for eqn in jaxpr.eqns:
        for atom in eqn.invars:
            visit(getattr(atom, "val", None))
        for _, value in sorted(eqn.params.items()):
            visit(value)
    for atom in jaxpr.outvars:
        visit(getattr(atom, "val", None))
    return bits


@given(data=st.data())
def test_parsing_the_text_gives_the_jaxpr(data: st.DataObject, toy: SimpleNamespace):
    original = toy.closed(data.draw(toy.jaxprs(max_consts=2)))
    parsed = parse_jaxpr(str(original), original.consts)
    assert explain_difference(parsed, original) is None, str(original)
    assert scalar_bits(parsed.jaxpr) == scalar_bits(original.jaxpr)
    check_jaxpr(parsed)


@given(data=st.data())
def test_the_parsed_jaxpr_prints_the_same_text(data: st.DataObject, toy: SimpleNamespace):
    original = toy.closed(data.draw(toy.jaxprs(max_consts=2)))
    text = str(original)
    assert str(parse_jaxpr(text, original.consts)) == text


@given(data=st.data())
def test_print_jaxpr_text_does_not_depend_on_names_and_blanks(data: st.DataObject, toy: SimpleNamespace):
    jaxpr = data.draw(toy.jaxprs())
    copy = toy.renamed(jaxpr)
    assert format_jaxpr(copy) == format_jaxpr(toy.renamed(copy))
    # Names of the user's, other line ends, and ; between equations are read as well.
    text = " ".join(format_jaxpr(copy).split("\n"))
    assert explain_difference(parse_jaxpr(text), jaxpr) is None


@given(data=st.data())
def test_one_equation_prints_alone(data: st.DataObject, toy: SimpleNamespace):
    for eqn in data.draw(toy.jaxprs()).eqns:
        *definitions, text = format_eqn(eqn).rsplit("} in\n", 1)
        # Its inputs have the first names, in the order in which they are used.
        inputs = dict.fromkeys(atom for atom in eqn.invars if isinstance(atom, Var))
        binders = " ".join(f"{name}:{var.aval}" for name, var in zip("abcdefgh", inputs, strict=False))
        program = f"{definitions[0] + '} in ' if definitions else ''}{{ lambda ; {binders}. let {text} in () }}"
        expected = Jaxpr((), tuple(inputs), (eqn,), ())
        assert explain_difference(parse_jaxpr(program), expected) is None, program


# The look

ARRAY = ShapedArray((3,), "float64")
SCALAR = ShapedArray((), "float64")

times_p = Primitive("look_times")
sine_p = Primitive("look_sine")
jit_p = Primitive("look_jit", multiple_results=True)
print_p = Primitive("look_print", multiple_results=True)
l_p = Primitive("l", multiple_results=True)


def test_a_short_jaxpr_prints_on_one_line():
    a, b, c = Var(ARRAY), Var(SCALAR), Var(ARRAY)
    jaxpr = Jaxpr([a], [b], [JaxprEqn(times_p, [a, b], [c], {})], [c])
    assert str(jaxpr) == "{ lambda a:f64[3] ; b:f64[]. let c:f64[3] = look_times a b in (c,) }"


@pytest.mark.parametrize(
    "text",
    [
        "{ lambda ; . let in () }",
        "{ lambda ; a:~f64[]. let in (a, a, 2.0:~f64[]) }",
        "{ lambda ; a:i32[0,4] b:bool[]. let = look_print a in () }",
        "{ lambda ; . let _:f64[] = look_sine in (nan(0xfff8000000000001):f64[],) }",
    ],
)
def test_short_texts_are_their_own_print(text: str):
    assert str(parse_jaxpr(text)) == text


LOOK = """\
{ lambda ; a:f64[]. let
    b:f64[] = look_sine a
    c:f64[] = look_times b 2.0:f64[]
    _:f64[] = look_sine c
    d:f64[] = look_jit[
      name=f
      jaxpr={ lambda ; a:f64[]. let b:f64[] = look_sine a in (b,) }
    ] c
    e:f64[] = look_jit[
      branches=(
        { lambda ; a:f64[]. let b:f64[] = look_sine a in (b,) },
        { lambda ; a:f64[]. let
            b:f64[] = look_sine a
            c:f64[] = look_sine b
          in (c,) },
      )
    ] d
  in (e,) }"""

SHARED = """\
let @g = { lambda ; a:f64[]. let
    b:f64[] = look_sine a
    c:f64[] = look_sine b
  in (c,) } in
let @f = { lambda ; a:f64[]. let
    b:f64[] = look_jit[name=g jaxpr=@g] a
    c:f64[] = look_jit[name=again jaxpr=@g] b
  in (c,) } in
{ lambda ; a:f64[]. let
    b:f64[] = look_jit[name=f jaxpr=@f] a
    c:f64[] = look_jit[branches=(@f, @f)] b
  in (c,) }"""


# Definitions stand in the order in which they are used.
ORDER = """\
let @c = { lambda ; . let in () } in
let @b = { lambda ; . let = look_jit[jaxpr=@c] in () } in
let @a = { lambda ; . let in () } in
{ lambda ; . let
    = look_jit[a=1 z=(2,) branches=(@b, [@a, @c]) jaxpr=@a]
    = look_jit[jaxpr=@b]
  in () }"""

# The whole is short, and yet not a line.
SHORT = """\
{ lambda ; . let
    = l[
      a={ lambda ; . let
          = l
          = l
        in () }
    ]
  in () }"""


@pytest.mark.parametrize("text", [LOOK, SHARED, ORDER, SHORT])
def test_long_texts_are_their_own_print(text: str):
    assert str(parse_jaxpr(text)) == text


def test_print_jaxpr_deduplicated_is_read_as_one_object():
    outer = parse_jaxpr(SHARED)
    first, second = outer.eqns
    assert second.params["branches"] == (first.params["jaxpr"],) * 2
    inner = first.params["jaxpr"].eqns
    assert inner[0].params["jaxpr"] is inner[1].params["jaxpr"]


def test_print_jaxpr_many_inputs_are_broken_over_lines():
    text = str(Jaxpr([], [Var(SCALAR) for _ in range(30)], [], []))
    lines = text.split("\n")
    assert len(lines) == 5
    assert max(map(len, lines)) <= 84
    assert lines[1].startswith("    i:f64[] j:f64[]")
    assert str(parse_jaxpr(text)) == text


def test_print_jaxpr_names_are_never_words_of_the_grammar():
    inputs = [Var(SCALAR) for _ in range(26 + 26**2 + 26**3)]
    text = str(Jaxpr([], inputs, [], inputs))
    assert " io:" in text
    assert " in:" not in text
    assert len(parse_jaxpr(text).jaxpr.outvars) == len(inputs)


def test_parameters_print_by_name_and_jaxprs_last():
    empty = ClosedJaxpr(Jaxpr([], [], [], []))
    params = {"z": 1, "jaxpr": empty, "list": [3, empty], "nan": None, "a": np.dtype(bool)}
    text = "= look_jit[a=bool 'nan'=None z=1 jaxpr=@jaxpr list=[3, @jaxpr]]"
    assert format_eqn(JaxprEqn(jit_p, [], [], params)).split("\n")[1] == text


def test_an_ill_typed_jaxpr_prints():
    x, y = Var(SCALAR), Var(SCALAR)
    bad = JaxprEqn(times_p, [y, Literal(2.5, ShapedArray((), "int32")), None], [x, Literal(1.0)], {})  # type: ignore[list-item]
    text = str(Jaxpr([], [x, x], [bad], [y]))
    assert (
        text == "{ lambda ; a:f64[] a:f64[]. let\n    a:f64[] 1.0:~f64[] = look_times b <2.5>:i32[] <None>\n  in (b,) }"
    )


@pytest.mark.parametrize("value", [object(), {1}, {"a": 1}, np.ones(3), float, np.datetime64("2020"), np.ones((2, 2))])
def test_a_value_without_a_notation_prints_for_the_eye_only(value: Any):
    x, y = Var(SCALAR), Var(SCALAR)
    text = str(Jaxpr([], [x], [JaxprEqn(sine_p, [x], [y], {"value": value})], [y]))
    assert "[value=<" in text
    assert " at 0x" not in text
    assert text.count("\n") in (0, 2)
    with pytest.raises(JaxprParseError, match="expected a value that has a notation, got <"):
        parse_jaxpr(text)
