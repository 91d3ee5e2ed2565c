"""Printing: a jaxpr as text in the look of JAX, which :func:`lawful.core.parse_jaxpr` reads back.

    program ::= let @<name> = <jaxpr> in … <jaxpr>          each jaxpr that occurs in several places once, first
    jaxpr   ::= { lambda <binder>* ; <binder>* . let <eqn>* in ( <atom>,* ) }
    eqn     ::= <binder>* = <primitive>[ <param>=<value> … ] <atom>*
    binder  ::= <name>:<type>                               the name is _ where nothing uses the variable
    atom    ::= <name> | <scalar>:<type>
    type    ::= <array> | <array>{V:<axis>,*}               <array> is as f64[3], ~f64[] if weak; axes it varies over
    value   ::= None | <scalar> | <scalar>:<type> | <type> | <dtype> | <word> | '<text>' | ( <value>,* )
              | [ <value>,* ] | slice(<value>, <value>, <value>) | <jaxpr> | @<name>

Each jaxpr, also a nested one, names its variables a, b, …, z, aa, ab, …: nested ones see no outer names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count, product
from string import ascii_lowercase
from typing import Any, Final

import numpy as np

from lawful.core._errors import LawfulError
from lawful.core._jaxpr.arguments import require_jaxpr
from lawful.core._jaxpr.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from lawful.core._jaxpr.nesting import distinct_jaxprs, nested_jaxprs, open_jaxpr, ordered_params
from lawful.core._types.arrays import get_aval, python_scalar_types
from lawful.core._types.aval import ShapedArray
from lawful.core._types.dtypes import float0, storage_dtypes, supported_dtypes
from lawful.core._types.scalars import scalar_text

_WIDTH: Final = 80

DTYPE_NAMES: Final[dict[np.dtype[Any], str]] = {
    float0: "float0",
    **{dtype: dtype.name for dtype in (*supported_dtypes, *storage_dtypes)},
}
#: Words of the grammar, which cannot be names of variables or strings without quotes.
RESERVED: Final = frozenset({"lambda", "let", "in", "inf", "nan", "None", "True", "False", *DTYPE_NAMES.values()})
#: A name, or a string that needs no quotes.
WORD: Final = r"[^\W\d]\w*(?:-[^\W\d]\w*)*"

_word = re.compile(WORD)
# Control characters that indent the lines after them more or less. No repr of a string holds them.
_MORE, _LESS = "\x1e", "\x1f"
_layout_mark = re.compile(f"([\n{_MORE}{_LESS}])")
_address = re.compile(r" at 0x[0-9a-f]+")

Names = Mapping[Var, str]
TextOf = Callable[[Jaxpr], str]


def format_jaxpr(jaxpr: Jaxpr | ClosedJaxpr) -> str:
    """Returns a jaxpr as text, the same for two jaxprs that differ in names only.

    Args:
      jaxpr: the program, closed or not; it need not be well typed.

    Law: ``parse_jaxpr(format_jaxpr(jaxpr), consts)`` is ``jaxpr`` up to names, to the last bit, if the jaxpr is
    well typed and each of its parameters has a notation. Those that have none print as ``<…>``.

    >>> from lawful.core import parse_jaxpr
    >>> print(format_jaxpr(parse_jaxpr("{ lambda ; first:f64[] second:i32[]. let in (second,) }").jaxpr))
    { lambda ; a:f64[] b:i32[]. let in (b,) }

    Cost: linear in the number of equations of all distinct jaxprs. Source: ``jax.core.Jaxpr.__str__``.
    """
    require_jaxpr("format_jaxpr", jaxpr)
    if isinstance(jaxpr, ClosedJaxpr):
        jaxpr = jaxpr.jaxpr
    definitions, text_of = _lay_out(*distinct_jaxprs((jaxpr,)))
    return _render("\n".join((*definitions, text_of(jaxpr))))


def format_eqn(eqn: JaxprEqn) -> str:
    """Returns one equation as text, with names of its own.

    >>> from lawful.core import parse_jaxpr, Primitive
    >>> double_p = Primitive("double")
    >>> closed = parse_jaxpr("{ lambda ; x:f64[]. let y:f64[] = double x; z:f64[] = double y in (z,) }")
    >>> print(format_eqn(closed.eqns[1]))
    b:f64[] = double a
    """
    definitions, text_of = _lay_out(*distinct_jaxprs(nested_jaxprs(eqn)))
    variables = dict.fromkeys(atom for atom in (*eqn.invars, *eqn.outvars) if type(atom) is Var)
    names = dict(zip(variables, _fresh_names(), strict=False))
    return _render("\n".join((*definitions, _equation(eqn, names, text_of))))


def equation_line(jaxpr: Jaxpr, eqn: JaxprEqn) -> str:
    """Returns an equation in one line for a message, with the names of its jaxpr, jaxprs within it elided."""
    return " ".join(_render(_equation(eqn, variable_names(jaxpr), lambda _: "{ … }")).split())


def binders_line(jaxpr: Jaxpr, variables: Sequence[Var]) -> str:
    """Returns variables with their types in one line for a message, with the names of their jaxpr."""
    return " ".join(_binders(variables, variable_names(jaxpr), _TypeTexts()))


def atoms_line(jaxpr: Jaxpr, atoms: Sequence[Atom]) -> str:
    """Returns variables and literals in one line for a message, with the names of their jaxpr."""
    names = variable_names(jaxpr)
    return ", ".join(atom_text(atom, names) for atom in atoms)


# Names


def _fresh_names() -> Iterator[str]:
    """Yields a, b, …, z, aa, ab, … without the words of the grammar."""
    for length in count(1):
        for letters in product(ascii_lowercase, repeat=length):
            name = "".join(letters)
            if name not in RESERVED:
                yield name


def variable_names(jaxpr: Jaxpr) -> dict[Var, str]:
    """Returns the names that a jaxpr's variables print with, in the order of their binding.

    >>> from lawful.core import parse_jaxpr
    >>> variable_names(parse_jaxpr("{ lambda ; x:f64[] y:i32[2]. let in (x, y) }").jaxpr)
    {Var(f64[]): 'a', Var(i32[2]): 'b'}
    """
    used = {atom for atom in jaxpr.outvars if type(atom) is Var}
    for eqn in jaxpr.eqns:
        used.update([atom for atom in eqn.invars if type(atom) is Var])
    fresh = _fresh_names()
    names: dict[Var, str] = {}
    binders: Sequence[Atom] = (*jaxpr.constvars, *jaxpr.invars)  # those of an ill-typed jaxpr may be literals
    for var in binders:
        if type(var) is Var and var not in names:
            names[var] = next(fresh)
    for eqn in jaxpr.eqns:
        for atom in (*eqn.invars, *eqn.outvars):
            if type(atom) is Var and atom not in names:
                names[atom] = next(fresh) if atom in used else "_"
    for atom in jaxpr.outvars:
        if type(atom) is Var and atom not in names:
            names[atom] = next(fresh)
    return names


# Layout


def _lay_out(order: Sequence[Jaxpr], shared: set[int]) -> tuple[list[str], TextOf]:
    """Returns the definitions of shared jaxprs, and what stands in the text for each distinct jaxpr."""
    texts: dict[int, str] = {}
    definitions: list[str] = []
    labels: dict[str, int] = {}

    def text_of(jaxpr: Jaxpr) -> str:
        return texts[id(jaxpr)]

    for jaxpr in order:
        text = _jaxpr(jaxpr, text_of)
        if id(jaxpr) in shared:
            label = _label(jaxpr.name, labels)
            definitions.append(f"let @{label} = {text} in")
            text = f"@{label}"
        texts[id(jaxpr)] = text
    return definitions, text_of


def _label(name: str, labels: dict[str, int]) -> str:
    """Returns a label like ``name`` that is not among ``labels``, which count the requests for each."""
    name = name if _word.fullmatch(name) else "jaxpr"
    label = name
    while label in labels:
        label = f"{name}_{labels[name]}"
        labels[name] += 1
    labels[label] = 1
    return label


def _nest(lines: Sequence[str], levels: int = 1) -> str:
    """Returns lines as the indented continuation of a line."""
    return "".join((_MORE * levels, *(f"\n{line}" for line in lines), _LESS * levels))


def _render(text: str) -> str:
    """Returns a text with indentation, in one pass: a pass for each level would multiply the cost by the depth."""
    pieces: list[str] = []
    line_start = "\n"
    for piece in _layout_mark.split(text):
        if piece == "\n":
            pieces.append(line_start)
        elif piece == _MORE:
            line_start += "  "
        elif piece == _LESS:
            line_start = line_start[:-2]
        else:
            pieces.append(piece)
    return "".join(pieces)


class _TypeTexts(dict[ShapedArray, str]):
    def __missing__(self, aval: ShapedArray) -> str:
        text = self[aval] = str(aval)
        return text


def _jaxpr(jaxpr: Jaxpr, text_of: TextOf) -> str:
    names = variable_names(jaxpr)
    types = _TypeTexts()
    head = ["{ lambda", *_binders(jaxpr.constvars, names, types), ";", *_binders(jaxpr.invars, names, types)]
    head[-1] += " ." if head[-1] == ";" else "."
    head.append("let")
    outs = [atom_text(atom, names) for atom in jaxpr.outvars]
    tail = f"in ({', '.join(outs)}{',' if len(outs) == 1 else ''}) }}"
    equations = [_equation(eqn, names, text_of, types) for eqn in jaxpr.eqns]
    if len(equations) <= 1:
        line = " ".join((*head, *equations, tail))
        if len(line) <= _WIDTH and "\n" not in line:
            return line
    return _fill(head) + _nest(equations, 2) + _nest([tail])


def _fill(words: list[str]) -> str:
    """Returns words in as many lines as they need."""
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + 1 + len(word) > _WIDTH:
            lines.append(word)
        else:
            lines[-1] += f" {word}"
    return lines[0] + _nest(lines[1:], 2)


def _equation(eqn: JaxprEqn, names: Names, text_of: TextOf, types: _TypeTexts | None = None) -> str:
    binders = _binders(eqn.outvars, names, _TypeTexts() if types is None else types)
    head = " ".join((*binders, "=", _string(eqn.primitive.name)))
    atoms = "".join([f" {atom_text(atom, names)}" for atom in eqn.invars])
    if not eqn.params:
        return head + atoms
    params = [f"{_string(name)}={_value(value, text_of)}" for name, value in ordered_params(eqn.params)]
    line = " ".join(params)
    if len(head) + len(line) <= _WIDTH and "\n" not in line:
        return f"{head}[{line}]{atoms}"
    return f"{head}[{_nest(params)}\n]{atoms}"


def _binders(variables: Sequence[Atom], names: Names, types: _TypeTexts) -> list[str]:
    return [
        f"{names[var]}:{types[var.aval]}"
        if type(var) is Var
        else atom_text(var, names)  # an ill-typed jaxpr prints too
        for var in variables
    ]


def atom_text(atom: Any, names: Names) -> str:
    """Returns a variable or a literal as text.

    Args:
      atom: the variable or literal.
      names: those of variables; see `variable_names`.

    >>> from lawful.core import Literal
    >>> atom_text(Literal(2.5), {})
    '2.5:~f64[]'
    """
    if type(atom) is Var:
        return names[atom]
    if type(atom) is not Literal:
        return _without_notation(atom)
    return f"{_literal(atom)}:{atom.aval}"


def _literal(literal: Literal) -> str:
    try:
        aval = get_aval(literal.val)
        if aval.dtype == literal.aval.dtype and not aval.shape:
            return scalar_text(literal.val)
    except LawfulError:
        pass
    return _without_notation(literal.val)


# Parameters


def _string(text: str) -> str:
    return text if _word.fullmatch(text) and text not in RESERVED else repr(text)


def _value(value: Any, text_of: TextOf) -> str:
    """Returns the text of a parameter. Types must be exact, because a subclass would be parsed as its base."""
    cls = type(value)
    if value is None or cls in python_scalar_types:
        return str(value) if cls is not float and cls is not complex else scalar_text(value)
    if cls is str:
        return _string(value)
    if cls is Jaxpr or cls is ClosedJaxpr:
        return text_of(open_jaxpr(value))
    if cls is tuple:
        return _sequence(value, text_of, "()")
    if cls is list:
        return _sequence(value, text_of, "[]")
    if cls is slice:
        return "slice" + _sequence((value.start, value.stop, value.step), text_of, "()")
    if cls is ShapedArray:
        return str(value)
    if isinstance(value, np.dtype) and value in DTYPE_NAMES:
        return DTYPE_NAMES[value]
    if isinstance(value, np.generic) and value.dtype in DTYPE_NAMES:
        return f"{scalar_text(value)}:{get_aval(value)}"
    return _without_notation(value)


def _sequence(items: Sequence[Any], text_of: TextOf, brackets: str) -> str:
    texts = [_value(item, text_of) for item in items]
    line = ", ".join(texts)
    if "\n" not in line and (len(line) <= _WIDTH or not any(text.startswith("{") for text in texts)):
        comma = "," if len(texts) == 1 and brackets == "()" else ""
        return f"{brackets[0]}{line}{comma}{brackets[1]}"
    return f"{brackets[0]}{_nest([f'{text},' for text in texts])}\n{brackets[1]}"


def _without_notation(value: Any) -> str:
    """Returns a text that does not parse. It is the same in every run if the object's own text is."""
    text = " ".join(_address.sub("", repr(value)).split())
    text = text if text.startswith("<") and text.endswith(">") else f"<{text}>"
    return text if len(text) <= 2 * _WIDTH else f"{text[: 2 * _WIDTH]}…>"


# The data structures do not know how they print.
JaxprEqn.__repr__ = format_eqn  # type: ignore[assignment,method-assign]
Jaxpr.__str__ = Jaxpr.__repr__ = format_jaxpr  # type: ignore[assignment,method-assign]
