"""Parsing: the jaxpr that a text in the grammar of :mod:`lawful.core._jaxpr.print` stands for.

Blanks and line ends separate words and mean nothing else; equations may also be separated by ``;`` as in JAX.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Generator, Iterable, Sequence
from typing import Any

from lawful.core._errors import JaxprParseError
from lawful.core._jaxpr.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from lawful.core._jaxpr.lexer import Lexer
from lawful.core._jaxpr.print import DTYPE_NAMES, RESERVED
from lawful.core._primitive.by_name import primitives_by_name
from lawful.core._primitive.primitive import Primitive, primitive_named
from lawful.core._types.aval import ShapedArray
from lawful.core._types.dtypes import from_short_name
from lawful.core._types.scalars import read_python_scalar, read_scalar

_DTYPES = {name: dtype for dtype, name in DTYPE_NAMES.items()}

# A parser of a part of the text that may contain jaxprs. It yields parsers of smaller parts, is sent their results, and
# returns its own. So Python's stack does not bound the depth of nesting.
Parser = Generator[Any, Any, Any]


def parse_jaxpr(text: str, consts: Sequence[Any] = ()) -> ClosedJaxpr:
    """Returns the jaxpr that a text stands for.

    Args:
      text: a jaxpr as it prints. A primitive is the most recently made one of its name.
      consts: a value for each variable between ``lambda`` and the first ``;``. Jaxprs within parameters have none.

    Raises:
      JaxprParseError: the text is not in the grammar, uses a name that is not bound before, binds one twice, or
        names a primitive that is not defined; or the number of ``consts`` is wrong.

    Law: ``parse_jaxpr(str(jaxpr), consts)`` is ``jaxpr`` up to names. It may be ill typed: see ``check_jaxpr``.

    >>> from lawful.core import eval_closed_jaxpr, Primitive
    >>> triple_p = Primitive("triple")
    >>> _ = triple_p.def_impl(lambda x: 3 * x)
    >>> eval_closed_jaxpr(parse_jaxpr("{ lambda ; a:f64[]. let b:f64[] = triple a in (b, 1.0:f64[]) }"), 2.0)
    [6.0, np.float64(1.0)]
    """
    jaxpr: Jaxpr = _run(_Program(Lexer(text)).program())
    if len(consts) != len(jaxpr.constvars):
        raise JaxprParseError(
            f"parse_jaxpr: expected {len(jaxpr.constvars)} consts, got {len(consts)}; "
            "give one value for each variable between lambda and the first ';'"
        )
    return ClosedJaxpr(jaxpr, tuple(consts))


def _run(parser: Parser) -> Any:
    stack = [parser]
    result = None
    while stack:
        try:
            stack.append(stack[-1].send(result))
            result = None
        except StopIteration as stop:
            stack.pop()
            result = stop.value
    return result


class _Program:
    """The text being parsed, with what parts of it have in common."""

    def __init__(self, lexer: Lexer) -> None:
        self.lexer = lexer
        self.avals: dict[str, ShapedArray] = {}
        self.shared: dict[str, ClosedJaxpr] = {}

    def program(self) -> Parser:
        lexer = self.lexer
        while lexer.at("let"):
            lexer.advance()
            label = lexer.take_kind("reference", "a name for the jaxpr, such as @f")
            if label["reference"] in self.shared:
                lexer.fail("a name that no other jaxpr has", match=label)
            lexer.take("=")
            self.shared[label["reference"]] = ClosedJaxpr((yield self.jaxpr(name=label["reference"][1:])))
            lexer.take("in")
        jaxpr = yield self.jaxpr(nested=False)
        if lexer.kind != "end":
            lexer.fail("the end of the text", "give one jaxpr at a time")
        return jaxpr

    def jaxpr(self, name: str = "", *, nested: bool = True) -> Parser:
        lexer = self.lexer
        env: dict[str, Var] = {}
        lexer.take("{", "lambda")
        if nested and not lexer.at(";"):
            lexer.fail("';'", "only the outermost jaxpr has constants: make those of the others inputs")
        constvars = self.binders(env, env)
        lexer.take(";")
        invars = self.binders(env, env)
        lexer.take(".", "let")
        eqns = []
        while not lexer.at("in"):
            if lexer.kind == "binder" or lexer.at("="):
                eqns.append((yield self.equation(env)))
            elif lexer.at(";"):
                lexer.advance()
            else:
                lexer.fail("a binder such as b:f64[3] or 'in'")
        lexer.take("in", "(")
        outvars = []
        while not lexer.at(")"):
            outvars.append(self.atom(env))
            if not lexer.at(")"):
                lexer.take(",")
        lexer.take(")", "}")
        return Jaxpr(constvars, invars, tuple(eqns), tuple(outvars), name=name)

    def equation(self, env: dict[str, Var]) -> Parser:
        lexer = self.lexer
        new: dict[str, Var] = {}
        outvars = self.binders(env, new)
        lexer.take("=")
        primitive = self.primitive()
        params = {}
        if lexer.at("["):
            lexer.advance()
            while not lexer.at("]"):
                match = lexer.match
                name = self.name("the name of a parameter")
                if name in params:
                    lexer.fail("each parameter once", match=match)
                lexer.take("=")
                params[name] = yield self.value()
            lexer.advance()
        invars = []
        while lexer.kind == "scalar" or (lexer.kind == "word" and lexer.word != "in"):
            invars.append(self.atom(env))
        env.update(new)
        return JaxprEqn(primitive, tuple(invars), outvars, params)

    def binders(self, env: dict[str, Var], new: dict[str, Var]) -> tuple[Var, ...]:
        """Reads binders of names that are not in ``env``, and adds them to ``new``."""
        lexer = self.lexer
        variables = []
        while lexer.kind == "binder":
            match = lexer.match
            name = match["name"]
            var = Var(self.aval(match, "binder_type"))
            if name != "_":
                if name in RESERVED:
                    lexer.fail("the name of a variable", f"{name} has a meaning of its own", match=match, group="name")
                if name in env or name in new:
                    lexer.fail("a name that is not bound yet", "rename one of both", match=match, group="name")
                new[name] = var
            variables.append(var)
            lexer.advance()
        return tuple(variables)

    def atom(self, env: dict[str, Var]) -> Atom:
        lexer = self.lexer
        match = lexer.match
        if lexer.kind == "word":
            var = env.get(lexer.word)
            if var is None:
                lexer.fail("a variable that is bound before", _did_you_mean(lexer.word, env))
            lexer.advance()
            return var
        if lexer.kind != "scalar":
            lexer.fail("a variable, or a scalar with its type such as 2.0:f64[]")
        if match["scalar_type"] is None:
            lexer.fail("a scalar with its type such as 2.0:f64[]", "add the type")
        aval = self.aval(match, "scalar_type")
        return Literal(self.scalar(aval), aval)

    def scalar(self, aval: ShapedArray) -> Any:
        lexer = self.lexer
        if aval.shape:
            lexer.fail("a scalar's type, which ends in []", match=lexer.match, group="scalar_type")
        try:
            value = read_scalar(lexer.match["digits"], aval.dtype)
        except ValueError as error:
            lexer.fail(f"{error} for {aval}", match=lexer.match, group="digits")
        lexer.advance()
        return value.item() if aval.weak_type else value

    def aval(self, match: re.Match[str], group: str) -> ShapedArray:
        text = match[group]
        aval = self.avals.get(text)
        if aval is None:
            array, _, axes = text.partition("{V:")
            name, sizes = array.lstrip("~").rstrip("]").split("[")
            try:
                shape = tuple(int(size) for size in sizes.split(",")) if sizes.strip() else ()
                vma = frozenset(axes.rstrip("}").split(",")) if axes else frozenset()
                aval = ShapedArray(shape, from_short_name(name), text.startswith("~"), vma)
            except KeyError:
                self.lexer.fail("a type of a known dtype such as f64[3]", match=match, group=group)
            except ValueError:
                self.lexer.fail("a type with sizes between commas such as f64[3,4]", match=match, group=group)
            self.avals[text] = aval
        return aval

    def primitive(self) -> Primitive:
        match = self.lexer.match
        name = self.name("the name of a primitive")
        try:
            return primitive_named(name)
        except KeyError:
            self.lexer.fail("the name of a primitive", _did_you_mean(name, primitives_by_name), match=match)

    def name(self, expected: str) -> str:
        """Reads a name. It is in quotes if it would be read as something else without them."""
        lexer = self.lexer
        if lexer.kind not in ("word", "string"):
            lexer.fail(expected)
        word = lexer.word
        name: str = ast.literal_eval(word) if lexer.kind == "string" else word
        lexer.advance()
        return name

    # Values of parameters

    def value(self) -> Parser:
        lexer = self.lexer
        match = lexer.match
        if lexer.at("{"):
            return ClosedJaxpr((yield self.jaxpr()))
        if lexer.at("(") or lexer.at("["):
            return (yield self.values())
        if lexer.kind == "scalar":
            if match["scalar_type"] is not None:
                return self.scalar(self.aval(match, "scalar_type"))
            try:
                value = read_python_scalar(match["digits"])
            except ValueError as error:
                lexer.fail(str(error))
            lexer.advance()
            return value
        if lexer.kind == "object":
            lexer.fail("a value that has a notation", "an object printed as <…> cannot be read back")
        if lexer.kind not in ("reference", "string", "type", "word"):
            lexer.fail("the value of a parameter")
        lexer.advance()
        if lexer.kind == "mark" and match["word"] == "slice" and lexer.at("("):
            parts = yield self.values()
            if len(parts) != 3:
                lexer.fail("a slice of three values", match=match)
            return slice(*parts)
        return self.simple_value(match)

    def values(self) -> Parser:
        """Reads values between parentheses or brackets."""
        lexer = self.lexer
        closing = ")" if lexer.at("(") else "]"
        lexer.advance()
        values = []
        while not lexer.at(closing):
            values.append((yield self.value()))
            if not lexer.at(closing):
                lexer.take(",")
        lexer.advance()
        return tuple(values) if closing == ")" else values

    def simple_value(self, match: re.Match[str]) -> Any:
        """Returns the value that a single word stands for."""
        text = match[0].strip()
        match match.lastgroup:
            case "reference":
                if text not in self.shared:
                    self.lexer.fail("a jaxpr that is defined before", _did_you_mean(text, self.shared), match=match)
                return self.shared[text]
            case "string":
                return ast.literal_eval(text)
            case "type":
                return self.aval(match, "type")
            case _ if text == "None":
                return None
            case _:
                return _DTYPES.get(text, text)


def _did_you_mean(name: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches  # imported late: only a mistake needs it

    near = get_close_matches(name, [other for other in known if len(other) < 40], cutoff=0.5)
    return f"did you mean {' or '.join(near)}?" if near else "define it first"
