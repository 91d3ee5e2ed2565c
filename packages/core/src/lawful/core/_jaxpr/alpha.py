"""Equality of jaxprs up to the names of variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from lawful.core._errors import LawfulError
from lawful.core._jaxpr.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from lawful.core._jaxpr.nesting import open_jaxpr
from lawful.core._jaxpr.print import atoms_line, binders_line, equation_line
from lawful.core._trace.tracer import Tracer
from lawful.core._types.arrays import get_aval, to_numpy
from lawful.core._types.aval import ShapedArray
from lawful.core._types.dtypes import float0, is_inexact
from lawful.tree.base import exact_key

# Types whose == is exact. They are frequent, and so are tested first.
_PLAIN: Final = frozenset({bool, int, str, type(None), ShapedArray})


def alpha_equivalent(a: Jaxpr | ClosedJaxpr, b: Jaxpr | ClosedJaxpr) -> bool:
    """Returns whether two jaxprs are the same program: equal in everything but the names of variables.

    Args:
      a: a jaxpr. One without constants is equivalent whether closed or not; constants are compared by value.
      b: another.

    Scalars and arrays are equal if they agree in dtype, weakness and bits, or are both NaN; other parameters if
    they are of one type and ``==``. The users' lines and the names of traced functions do not count.

    Law: it is an equivalence relation.

    >>> from lawful.core import parse_jaxpr
    >>> xy = parse_jaxpr("{ lambda ; x:f64[] y:f64[]. let in (x, y) }")
    >>> ab, ba = (parse_jaxpr(f"{{ lambda ; a:f64[] b:f64[]. let in {out} }}") for out in ("(a, b)", "(b, a)"))
    >>> alpha_equivalent(xy, ab), alpha_equivalent(xy, ba)
    (True, False)
    """
    return explain_difference(a, b) is None


def explain_difference(a: Jaxpr | ClosedJaxpr, b: Jaxpr | ClosedJaxpr) -> str | None:
    """Returns where and how two jaxprs differ, or None if they are equivalent as in :func:`alpha_equivalent`.

    Args:
      a: a jaxpr.
      b: another.

    >>> from lawful.core import parse_jaxpr
    >>> a = parse_jaxpr("{ lambda ; a:f64[]. let in (a, 1.0:f64[]) }")
    >>> b = parse_jaxpr("{ lambda ; a:f64[]. let in (a, 2.0:f64[]) }")
    >>> explain_difference(a, b)
    'jaxpr, outputs: `a, 1.0:f64[]` and `a, 2.0:f64[]` differ'
    """
    comparison = _Comparison()
    comparison.add(a, b, None)
    return comparison.explain()


# The position of a pair of jaxprs: the pair around it, the number of the equation, the equation, the parameter.
_Location = tuple["_Location | None", Jaxpr, int, JaxprEqn, str]
_Program = Jaxpr | ClosedJaxpr


class _Comparison:
    """The pairs of jaxprs that must be equivalent for the outermost ones to be so."""

    def __init__(self) -> None:
        self.waiting: list[tuple[_Program, _Program, _Location | None]] = []
        self.seen: set[tuple[int, int]] = set()

    def add(self, a: _Program, b: _Program, location: _Location | None) -> None:
        pair = (id(a), id(b))
        if a is not b and pair not in self.seen:
            self.seen.add(pair)
            self.waiting.append((a, b, location))

    def explain(self) -> str | None:
        while self.waiting:
            a, b, location = self.waiting.pop()
            difference = _consts_difference(a, b) or self.difference(open_jaxpr(a), open_jaxpr(b), location)
            if difference is not None:
                return f"{_where(location)}, {difference}"
        return None

    def difference(self, a: Jaxpr, b: Jaxpr, location: _Location | None) -> str | None:
        """Returns how two jaxprs differ outside of the jaxprs within them, which are put on the list."""
        variables = _Numbering()
        for what, vars_a, vars_b in (("constants", a.constvars, b.constvars), ("inputs", a.invars, b.invars)):
            if not variables.bind(vars_a, vars_b):
                return _differ(what, binders_line(a, vars_a), binders_line(b, vars_b))
        for index, (eqn_a, eqn_b) in enumerate(zip(a.eqns, b.eqns, strict=False)):
            part = self.eqn_difference(eqn_a, eqn_b, variables, (location, a, index, eqn_a))
            if part is not None:
                return _differ(f"{part} of equation {index}", equation_line(a, eqn_a), equation_line(b, eqn_b))
        if len(a.eqns) != len(b.eqns):
            return _differ("number of equations", str(len(a.eqns)), str(len(b.eqns)))
        if not variables.same(a.outvars, b.outvars):
            return _differ("outputs", atoms_line(a, a.outvars), atoms_line(b, b.outvars))
        return None

    def eqn_difference(
        self, a: JaxprEqn, b: JaxprEqn, variables: _Numbering, here: tuple[_Location | None, Jaxpr, int, JaxprEqn]
    ) -> str | None:
        if a.primitive is not b.primitive:
            return "primitive"
        if not variables.same(a.invars, b.invars):
            return "operands"
        if a.params.keys() != b.params.keys():
            return "parameter names"
        for name, value in a.params.items():
            if not self.same(value, b.params[name], (*here, name)):
                return f"parameter {name}"
        return None if variables.bind(a.outvars, b.outvars) else "results"

    def same(self, x: Any, y: Any, location: _Location) -> bool:
        """Whether two parameters are the same, provided that the pairs of jaxprs within, which it lists, are."""
        if x is y:
            return True
        if isinstance(x, _Program) and isinstance(y, _Program):
            self.add(x, y, location)
            return True
        if type(x) is type(y):
            if isinstance(x, tuple | list):
                return len(x) == len(y) and all(self.same(*pair, location) for pair in zip(x, y, strict=True))
            if isinstance(x, slice):
                return self.same((x.start, x.stop, x.step), (y.start, y.stop, y.step), location)
            if isinstance(x, dict):
                return x.keys() == y.keys() and all(self.same(item, y[key], location) for key, item in x.items())
        return same_value(x, y)


class _Numbering:
    """The variables of two jaxprs, numbered in the order in which they are bound: equal ones have one number."""

    def __init__(self) -> None:
        self.a: dict[Var, int] = {}
        self.b: dict[Var, int] = {}
        self.bound = 0

    def bind(self, vars_a: Sequence[Var], vars_b: Sequence[Var]) -> bool:
        if len(vars_a) != len(vars_b):
            return False
        for var_a, var_b in zip(vars_a, vars_b, strict=True):
            if var_a.aval != var_b.aval:
                return False
            self.a[var_a] = self.b[var_b] = self.bound
            self.bound += 1
        return True

    def same(self, atoms_a: Sequence[Any], atoms_b: Sequence[Any]) -> bool:
        if len(atoms_a) != len(atoms_b):
            return False
        for x, y in zip(atoms_a, atoms_b, strict=True):
            if type(x) is Var and type(y) is Var:
                # An unbound variable is its own number.
                if self.a.get(x, x) != self.b.get(y, y):
                    return False
            elif type(x) is Literal and type(y) is Literal:
                if x.aval != y.aval or not same_value(x.val, y.val):
                    return False
            elif x is not y:
                return False
        return True


def _consts_difference(a: _Program, b: _Program) -> str | None:
    consts_a, consts_b = (x.consts if isinstance(x, ClosedJaxpr) else None if x.constvars else () for x in (a, b))
    if consts_a is None or consts_b is None:
        return None if consts_a is consts_b else "one has the values of its constants and one has not"
    if len(consts_a) != len(consts_b):
        return _differ("number of constants", str(len(consts_a)), str(len(consts_b)))
    for index, (x, y) in enumerate(zip(consts_a, consts_b, strict=True)):
        if not same_value(x, y):
            return _differ(f"value of constant {index}", repr(x), repr(y))
    return None


def _differ(what: str, a: str, b: str) -> str:
    return f"{what}: `{a}` and `{b}` differ"


def _where(location: _Location | None) -> str:
    steps = []
    while location is not None:
        outer, jaxpr, index, eqn, param = location
        steps.append(f", parameter {param} of equation {index} `{equation_line(jaxpr, eqn)}`")
        location = outer
    return "".join(("jaxpr", *reversed(steps)))


def same_value(x: Any, y: Any) -> bool:
    """Returns whether two values are the same: arrays by dtype, weakness and bits or NaN, others by exact key."""
    if x is y:
        return True
    if type(x) is type(y) and type(x) in _PLAIN:
        return bool(x == y)
    aval_x, aval_y = _aval_or_none(x), _aval_or_none(y)
    if aval_x is None and aval_y is None:
        try:
            return type(x) is type(y) and bool(exact_key(x) == exact_key(y))
        except Exception:  # a user's == that fails decides nothing
            return False
    if aval_x is None or aval_x != aval_y or isinstance(x, Tracer) or isinstance(y, Tracer):
        return False
    return _same_elements(np.asarray(to_numpy(x)), np.asarray(to_numpy(y)))


def _aval_or_none(x: Any) -> ShapedArray | None:
    try:
        return get_aval(x)
    except LawfulError:
        return None


def _same_elements(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> bool:
    """Whether two arrays of one shape and dtype have the same bits, where not both are NaN."""
    dtype = x.dtype
    if dtype == float0:
        return True
    if dtype.kind == "c":
        dtype = np.dtype(f"f{dtype.itemsize // 2}")
    x, y = (np.ascontiguousarray(array).reshape(-1).view(dtype) for array in (x, y))
    bits = np.dtype(f"u{dtype.itemsize}")
    same = x.view(bits) == y.view(bits)
    if not same.all() and is_inexact(dtype):
        same |= np.isnan(x) & np.isnan(y)
    return bool(same.all())
