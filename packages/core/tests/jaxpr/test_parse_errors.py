"""A text that is no jaxpr is refused with its place, what was expected there, and what came."""

import pytest

from lawful.core import JaxprParseError, Primitive, parse_jaxpr

sine_p = Primitive("parse_sine")

GOOD = "{ lambda ; a:f64[3] b:f64[]. let c:f64[3] = parse_sine[n=(1, 2) s=x] a in (c, 2.0:f64[]) }"


@pytest.mark.parametrize(
    ("old", "new", "at", "message"),
    [
        ("{ lambda", "{ lambada", "lambada", "expected 'lambda', got lambada"),
        ("{ lambda", "", ";", "expected '{', got ;"),
        ("; a", "a", ". let", "expected ';', got ."),
        (". let", " let", "let", "expected '.', got let"),
        ("a:f64[3] b", "a b", "a b", "expected '.', got a"),
        ("a:f64[3] b", "a:f65[3] b", "f65", "expected a type of a known dtype such as f64[3], got f65[3]"),
        ("a:f64[3] b", "a:f64[3,,4] b", "f64[3,,4]", "expected a type with sizes between commas"),
        ("b:f64[]. let", "a:f64[]. let", "a:f64[]. ", "expected a name that is not bound yet, got a"),
        ("c:f64[3] =", "c:f64[3] c:f64[3] =", "c:f64[3] =", "expected a name that is not bound yet, got c"),
        ("c:f64[3] =", "a:f64[3] =", "a:f64[3] =", "expected a name that is not bound yet, got a"),
        ("c:f64[3] =", "in:f64[3] =", "in:", "expected the name of a variable, got in"),
        ("c:f64[3] =", "nan:f64[3] =", "nan:", "expected a binder such as b:f64[3] or 'in', got nan:f64[3]"),
        ("c:f64[3] =", "c =", "c =", "expected a binder such as b:f64[3] or 'in', got c"),
        ("c:f64[3] =", "c:f64[3]", "parse_sine", "expected '=', got parse_sine"),
        ("= parse_sine", "= parse_sin", "parse_sin", "expected the name of a primitive, got parse_sin; did you mean "),
        ("= parse_sine", "= 3", "3", "expected the name of a primitive, got 3"),
        ("n=(1, 2)", "(1, 2)", "(1, 2)", "expected the name of a parameter, got ("),
        ("n=(1, 2)", "n (1, 2)", "(1, 2)", "expected '=', got ("),
        ("n=(1, 2)", "n=(1 2)", "2)", "expected ',', got 2"),
        ("n=(1, 2)", "n=", "=x", "expected the name of a parameter, got ="),
        ("n=(1, 2)", "s=1", "s=x", "expected each parameter once, got s"),
        ("n=(1, 2)", "n=slice(1)", "slice", "expected a slice of three values, got slice"),
        ("n=(1, 2)", "n=@f", "@f", "expected a jaxpr that is defined before, got @f"),
        ("n=(1, 2)", "n=;", "; s", "expected the value of a parameter, got ;"),
        ("n=(1, 2)", "n=<object>", "<object>", "expected a value that has a notation, got <object>"),
        ("n=(1, 2)", "n=(12j)", "12j", "expected the value of a parameter, got 1"),
        ("n=(1, 2)", "n='x", "'x", "expected the value of a parameter, got '"),
        ("n=(1, 2)", "n={ lambda x:f64[] ; . let in () }", "x:f64", "expected ';', got x:f64[]; only the outermost"),
        ("n=(1, 2)", "n=300:i8[]", "300", "expected an integer from -128 to 127 for i8[], got 300"),
        ("n=(1, 2)", "n=nan(0x1)", "nan(", "expected the bits of a NaN of 64 bits, got nan(0x1)"),
        ("] a in", "] q in", "q in", "expected a variable that is bound before, got q"),
        ("] a in", "] c in", "c in", "expected a variable that is bound before, got c"),
        ("] a in", "] 2.0 in", "2.0 in", "expected a scalar with its type such as 2.0:f64[], got 2.0; add the type"),
        ("] a in", "] a ! in", "! in", "expected a binder such as b:f64[3] or 'in', got !"),
        ("(c, 2.0", "(c 2.0", "2.0", "expected ',', got 2.0:f64[]"),
        ("(c, 2.0", "(c, ; 2.0", "; 2.0", "expected a variable, or a scalar with its type such as 2.0:f64[], got ;"),
        ("2.0:f64[]", "2.5:i32[]", "2.5", "expected an integer from -2147483648 to 2147483647 for i32[], got 2.5"),
        ("2.0:f64[]", "2.0:f64[3]", "f64[3]) }", "expected a scalar's type, which ends in [], got f64[3]"),
        ("2.0:f64[]", "1e400x:f64[]", "1e400x", "expected a variable, or a scalar"),
        ("f64[]) }", "f64[])", "", "expected '}', got the end of the text"),
        ("f64[]) }", "f64[]) } { lambda", "{ lambda", "expected the end of the text, got {"),
        ("{ lambda", "let f = { lambda", "f =", "expected a name for the jaxpr, such as @f, got f"),
    ],
)
def test_parse_jaxpr_error_points_at_the_word(old: str, new: str, at: str, message: str):
    assert GOOD.count(old) == 1
    parse_jaxpr(GOOD)
    # On a line of its own, so that both line and column count.
    text = "\n\n  " + GOOD.replace(old, new)
    with pytest.raises(JaxprParseError) as caught:
        parse_jaxpr(text)
    error = str(caught.value)
    assert message in error
    column = text.rindex(at) - 2 if at else len(text) - 2
    assert f"jaxpr, line 3, column {column + 1}: " in error
    shown, caret = error.split("\n")[-2:]
    assert caret.strip() == "^"
    assert shown[caret.index("^") :].startswith(at[:1])


def test_parse_jaxpr_label_defines_one_jaxpr():
    with pytest.raises(JaxprParseError, match="column 42: expected a name that no other jaxpr has, got @f"):
        parse_jaxpr("let @f = { lambda ; . let in () } in let @f = { lambda ; . let in () } in " + GOOD)


def test_parse_jaxpr_sub_jaxpr_does_not_see_outer_variables():
    with pytest.raises(JaxprParseError, match="expected a variable that is bound before, got b"):
        parse_jaxpr(GOOD.replace("(1, 2)", "{ lambda ; a:f64[]. let in (b,) }"))


@pytest.mark.parametrize("consts", [(), (1.0, 2.0)])
def test_parse_jaxpr_every_constant_has_to_be_given(consts: tuple[float, ...]):
    text = "{ lambda a:~f64[] ; . let in (a,) }"
    assert parse_jaxpr(text, (1.0,)).consts == (1.0,)
    with pytest.raises(JaxprParseError, match=f"expected 1 consts, got {len(consts)}"):
        parse_jaxpr(text, consts)


def test_parse_jaxpr_long_line_is_shown_in_part():
    text = GOOD.replace("(1, 2)", f"({'1, ' * 10_000}?{', 1' * 10_000})")
    with pytest.raises(JaxprParseError, match=r"expected the value of a parameter, got \?") as caught:
        parse_jaxpr(text)
    shown, caret = str(caught.value).split("\n")[-2:]
    assert len(shown) < 200
    assert shown[caret.index("^")] == "?"
