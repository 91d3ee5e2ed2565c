"""Type checking of jaxprs. Tests check the result of every pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from lawful.core._errors import JaxprTypeError, LawfulError
from lawful.core._jaxpr.arguments import require_jaxpr
from lawful.core._jaxpr.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from lawful.core._jaxpr.nesting import open_jaxpr, sub_jaxprs
from lawful.core._jaxpr.print import equation_line, variable_names
from lawful.core._jaxpr.varying import types_its_axes, with_axes
from lawful.core._types.arrays import get_aval
from lawful.core._types.aval import ShapedArray


def check_jaxpr(jaxpr: Jaxpr | ClosedJaxpr) -> None:
    """Returns nothing if a jaxpr and all within it are well typed: the types that it states are those it has.

    Args:
      jaxpr: the program, of which each distinct jaxpr is checked once.

    Raises:
      JaxprTypeError: a variable is used and not bound before, or bound twice; an equation's results are not, in
        number, type and weakness, those that its primitive gives for its operands; a literal or a constant is not
        of the type stated; a jaxpr in an equation has constants. The message begins with the user's line of the
        equation.
      MissingRuleError: a primitive has no abstract evaluation rule.

    Law: every transformation of a well-typed jaxpr is well typed. Source: ``jax.core.check_jaxpr``.

    >>> from lawful.core import parse_jaxpr, Primitive
    >>> negative_p = Primitive("negative")
    >>> _ = negative_p.def_abstract_eval(lambda x: x)
    >>> check_jaxpr(parse_jaxpr("{ lambda ; a:f64[3]. let b:f64[3] = negative a in (b,) }"))
    >>> check_jaxpr(parse_jaxpr("{ lambda ; a:f64[3]. let b:f32[3] = negative a in (b,) }"))
    Traceback (most recent call last):
    lawful.core._errors.JaxprTypeError: ...: jaxpr: expected the results f64[3] in `b:f32[3] = negative a`, ...
    """
    require_jaxpr("check_jaxpr", jaxpr)
    waiting = [_Program(jaxpr)]
    seen = {id(jaxpr)}
    while waiting:
        program = waiting.pop()
        program.check()
        for eqn in program.jaxpr.eqns:
            for sub_jaxpr in sub_jaxprs(eqn.params.values()):
                if id(sub_jaxpr) not in seen:
                    seen.add(id(sub_jaxpr))
                    waiting.append(_Program(sub_jaxpr, program, eqn.primitive.name))


class _Program:
    """A jaxpr that is being checked, and its position."""

    def __init__(self, jaxpr: Jaxpr | ClosedJaxpr, outer: _Program | None = None, caller: str = "") -> None:
        self.closed = jaxpr
        self.jaxpr = open_jaxpr(jaxpr)
        self.outer = outer
        self.caller = caller
        self.bound: set[Var] = set()

    def check(self) -> None:
        if self.outer is not None and self.jaxpr.constvars:
            consts = _types([var.aval for var in self.jaxpr.constvars])
            self.fail(
                None, "no constants", consts, f"make them operands of {self.caller} by a rule in its slot 'hoist'"
            )
        self.check_consts()
        self.bind("constants", self.jaxpr.constvars)
        self.bind("inputs", self.jaxpr.invars)
        for eqn in self.jaxpr.eqns:
            self.check_atoms(eqn.invars, eqn)
            self.bind("results", eqn.outvars, eqn)
            self.check_results(eqn)
        self.check_atoms(self.jaxpr.outvars)

    def check_consts(self) -> None:
        if self.closed is self.jaxpr:
            return
        assert isinstance(self.closed, ClosedJaxpr)
        expected = [var.aval for var in self.jaxpr.constvars]
        got = [self.value_aval(const) for const in self.closed.consts]
        if expected != got:
            self.fail(None, f"constants {_types(expected)}", _types(got), "make the types of constvars those of consts")

    def bind(self, what: str, variables: Sequence[Var], eqn: JaxprEqn | None = None) -> None:
        for var in variables:
            if type(var) is not Var:
                self.fail(eqn, f"variables as {what}", repr(var), "bind a new Var")
            if var in self.bound:
                name = variable_names(self.jaxpr)[var]
                self.fail(eqn, f"{what} that are not bound yet", f"{name} again", "bind a new Var to each value")
            self.bound.add(var)

    def check_atoms(self, atoms: Sequence[Any], eqn: JaxprEqn | None = None) -> None:
        for atom in atoms:
            if type(atom) is Literal:
                got = self.value_aval(atom.val, eqn)
                if got != atom.aval:
                    self.fail(eqn, f"a literal {atom.aval}", f"{atom.val!r}, which is {got}", "convert the value")
            elif type(atom) is not Var:
                self.fail(eqn, "variables and literals", repr(atom), "make it a Literal or an input")
            elif atom not in self.bound:
                self.explain_unbound(atom, eqn)

    def explain_unbound(self, var: Var, eqn: JaxprEqn | None) -> NoReturn:
        name = variable_names(self.jaxpr)[var]
        if any(var in other.outvars for other in self.jaxpr.eqns):
            self.fail(
                eqn, "variables that are bound before", f"{name}, which is bound only later", "reorder the equations"
            )
        self.fail(eqn, "variables that are bound before", f"{name}, which nothing binds", "make it an input")

    def check_results(self, eqn: JaxprEqn) -> None:
        primitive = eqn.primitive
        rule = primitive.rule("abstract_eval")
        operands = [atom.aval for atom in eqn.invars]
        try:
            results = rule(*operands, **eqn.params)
        except Exception as error:
            reason = str(error)
            if isinstance(error, LawfulError) and error.source is not None:
                reason = reason.removeprefix(f"{error.source.with_callers()}: ")
            self.fail(eqn, f"operands that {primitive.name} takes", _types(operands), f"it says: {reason}", error)
        expected = [*results] if primitive.multiple_results else [results]
        expected = with_axes(primitive, eqn.invars, eqn.params, expected)
        self.check_axes(eqn)
        got = [var.aval for var in eqn.outvars]
        if expected != got:
            self.fail(eqn, f"the results {_types(expected)}", _types(got), f"bind what {primitive.name} gives")

    def check_axes(self, eqn: JaxprEqn) -> None:
        varying = [atom.aval for atom in eqn.invars if type(atom) is Var]
        if len({aval.vma for aval in varying}) > 1 and not types_its_axes(eqn.primitive, eqn.params):
            self.fail(eqn, "operands that vary over the same axes", _types(varying), "apply pvary to the others")

    def value_aval(self, value: Any, eqn: JaxprEqn | None = None) -> ShapedArray:
        try:
            return get_aval(value)
        except LawfulError as error:
            self.fail(eqn, "constants that are arrays or numbers", repr(value), "make it an array", error)

    def location(self) -> str:
        """Returns how the jaxpr is called in messages: ``jaxpr of jit in jaxpr of cond in jaxpr``."""
        callers = []
        program = self
        while program.outer is not None:
            callers.append(f"jaxpr of {program.caller} in ")
            program = program.outer
        return "".join((*callers, "jaxpr"))

    def fail(
        self, eqn: JaxprEqn | None, expected: str, got: str, advice: str, cause: Exception | None = None
    ) -> NoReturn:
        where = f"`{equation_line(self.jaxpr, eqn)}`" if eqn is not None else "its inputs and outputs"
        source = eqn.source if eqn is not None else None
        raise JaxprTypeError(
            f"{self.location()}: expected {expected} in {where}, got {got}; {advice}", source=source
        ) from cause


def _types(avals: Sequence[object]) -> str:
    return " ".join(map(str, avals)) or "none"
