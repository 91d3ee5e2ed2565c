"""The source of the Python function that a jaxpr compiles to: a line for each equation.

A long program is several functions, which are called one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from functools import partial
from types import BuiltinFunctionType, CodeType, MethodDescriptorType
from typing import Any, Final

import numpy as np

from lawful.core import (
    Atom,
    ClosedJaxpr,
    Hook,
    Jaxpr,
    JaxprEqn,
    Literal,
    Var,
    at_source,
    cached_function,
    last_uses,
    memoize_program,
    to_numpy,
)
from lawful.ops import broadcast_in_dim_p
from lawful.staging._numpy_backend.broadcasting import leave_to_ufuncs
from lawful.staging._numpy_backend.folding import folded_values
from lawful.staging._passes.dce import dce_jaxpr


@memoize_program
def numpy_function(closed: ClosedJaxpr) -> Callable[..., list[Any]]:
    """Returns the Python function that a jaxpr compiles to: of NumPy arrays, a list of them.

    >>> from lawful.staging import make_jaxpr
    >>> numpy_function(make_jaxpr(lambda x: x * x)(3.0))(4.0)
    [16.0]
    """
    return compile_jaxpr(dce_jaxpr(closed, (True,) * len(closed.out_avals)))[1]


#: How many lines one function has at most, but for its last equation. Python compiles a function of 100,000 lines a
#: third slower per line, and takes 3 KB per line meanwhile.
_MOST_LINES = 1_000


#: For the lines of a source, the equation of each that computes one.
LineEquations = dict[int, JaxprEqn]


def _one_by_one(jaxpr: Jaxpr, function_of: Callable[[JaxprEqn], Any], folded: Container[Atom]) -> Jaxpr:
    return jaxpr


#: Called with a program, the function of an equation and the variables that are constants; returns a program in which
#: one equation may stand for several. An accelerator evaluates these block by block.
grouping_hook: Final[Hook[Callable[[Jaxpr, Callable[[JaxprEqn], Any], Container[Atom]], Jaxpr]]] = Hook(
    "groups of equations of the NumPy backend", _one_by_one
)


def compile_jaxpr(
    closed: ClosedJaxpr, equations: LineEquations | None = None, *, may_group: bool = True
) -> tuple[str, Callable[..., list[Any]]]:
    """Returns the source of the Python function that a jaxpr compiles to, and the function.

    Args:
      closed: the program.
      equations: a dictionary to put the equations of the source's lines into, which are numbered from 0.
      may_group: whether an accelerator may evaluate several equations at once.
    """
    jaxpr = leave_to_ufuncs(closed.jaxpr, _is_ufunc)
    folded = folded_values(jaxpr, _function_of)
    if may_group:
        jaxpr = grouping_hook.use(jaxpr, _function_of, folded)
    scope = _Scope(folded)
    for var, value in zip(jaxpr.constvars, closed.consts, strict=True):
        scope.define(var, to_numpy(value))
    given = [scope.target(var) for var in jaxpr.invars]
    parts: list[str] = []
    lines: list[str] = []
    owners: dict[int, JaxprEqn] = {}
    scope.begin_part()
    for eqn, statements in _statements(jaxpr, scope):
        if equations is not None:
            owners.update(dict.fromkeys(range(len(lines), len(lines) + len(statements)), eqn))
        lines += statements
        if len(lines) >= _MOST_LINES:
            _locate(equations, owners, parts, sum(scope.touched.values()))
            parts.append(_part(len(parts), scope, lines))
            lines = []
            scope.begin_part()
    results = [scope.result(atom) for atom in jaxpr.outvars]
    if parts:
        last = len(parts)
        _locate(equations, owners, parts, sum(scope.touched.values()))
        parts.append(_part(last, scope, lines, results))
        named = ", ".join([f"'{name}': {name}" for name in given])
        steps = [f"    part{number}(values)" for number in range(last)]
        parts.append(_function("program", given, [f"    values = {{{named}}}", *steps], f"part{last}(values)"))
    else:
        _locate(equations, owners, parts, 0)
        parts.append(_function("program", given, lines, _listed(results)))
    for part in parts:
        exec(code_of(part), scope.values)
    program = scope.values["program"]
    program.is_numpy = scope.calls_numpy_alone
    for text, owner in scope.described:
        if equations is not None:
            start = sum(part.count("\n") for part in parts)
            equations.update({start + number: eqn for number, eqn in owner.items()})
        parts.append(text)
    return "".join(parts), program


#: The code of a longer source is not cached, in characters.
_MOST_KEPT = 10_000


def _compiled(source: str) -> CodeType:
    return compile(source, "<lawful program>", "exec")


#: A loop whose body is traced in each call has the same text each time. Compiling the text takes longest.
_code = cached_function("code of the NumPy backend", 1024)(_compiled)


def code_of(source: str) -> CodeType:
    """Returns the code of a source."""
    return (_code if len(source) < _MOST_KEPT else _compiled)(source)


def _part(number: int, scope: _Scope, lines: Sequence[str], results: Sequence[str] | None = None) -> str:
    """Returns the source of a part of a program.

    A part pops the values that it uses from a dictionary, so that they are freed after their last use. It stores those
    that a later part may use. Its cost does not depend on the number of other values.

    Args:
      number: of the part.
      scope: the names after it.
      lines: its statements.
      results: what the last part returns.
    """
    taken = [name for name, is_read in scope.touched.items() if is_read]
    unpacked = [f"    {name} = values.pop('{name}')" for name in taken]
    if results is not None:
        return _function(f"part{number}", ["values"], [*unpacked, *lines], _listed(results))
    left = [f"    values['{name}'] = {name}" for name in scope.touched if name not in scope.unused]
    return _function(f"part{number}", ["values"], [*unpacked, *lines, *left], "None")


def _function(name: str, arguments: Sequence[str], lines: Sequence[str], result: str) -> str:
    return "\n".join([f"def {name}({', '.join(arguments)}):", *lines, f"    return {result}", ""])


def _locate(equations: LineEquations | None, owners: dict[int, JaxprEqn], before: Sequence[str], taken: int) -> None:
    """Adds the equations of a part's statements, which follow the parts before it, its head, and what it takes."""
    if equations is not None:
        start = sum(text.count("\n") for text in before) + 1 + taken
        equations.update({start + number: eqn for number, eqn in owners.items()})
        owners.clear()


def _listed(names: Sequence[str]) -> str:
    return f"[{', '.join(names)}]"


def _statements(jaxpr: Jaxpr, scope: _Scope) -> Iterator[tuple[JaxprEqn, list[str]]]:
    """Yields each equation that has lines with these, and updates the names in the scope."""
    for eqn, dead in zip(jaxpr.eqns, last_uses(jaxpr), strict=True):
        if eqn.outvars and eqn.outvars[0] in scope.folded:
            continue
        if eqn.primitive is broadcast_in_dim_p and type(eqn.invars[0]) is Literal:  # also a large array
            # A broadcast number takes no memory: it is a constant of the program.
            scope.define(eqn.outvars[0], _function_of(eqn)(eqn.invars[0].val))
            continue
        arguments = ", ".join([scope.text(atom) for atom in eqn.invars])
        # A result may take the name of an operand after its last use, and frees its value.
        freed = [scope.free(var) for var in dead if var not in eqn.outvars and scope.is_local(var)]
        targets = ", ".join([scope.target(var) for var in eqn.outvars])
        if eqn.primitive.multiple_results:
            targets = f"[{targets}]"
        lines = [f"    {targets} = {scope.callee(eqn)}({arguments})"]
        freed += [scope.free(var) for var in dead if var in eqn.outvars]
        left = [name for name in dict.fromkeys(freed) if name in scope.unused]
        if left:
            lines.append(f"    {' = '.join(left)} = None")
        yield eqn, lines


class _Scope:
    """The names of a program in Python.

    Attributes:
      folded: the values of variables that become constants where they are used.
      values: the globals of the program: constants ``c0``, …, and functions.
      unused: the names of local variables, ``v0``, …, that may be taken again; the last one first.
      touched: the names of local variables that the current part reads or writes, and whether it reads them first.
      calls_numpy_alone: whether all functions are of NumPy, or Python's operators: others may apply primitives.
      described: for the functions that have a source of their own, it and the equations of its lines.
    """

    def __init__(self, folded: dict[Var, Any]) -> None:
        self.folded = folded
        self.values: dict[str, Any] = {}
        self.unused: dict[str, None] = {}
        self.touched: dict[str, bool] = {}
        self.calls_numpy_alone = True
        self.described: list[tuple[str, LineEquations]] = []
        self._names: dict[Var, str] = {}
        self._constants: dict[Any, str] = {}
        self._callees: dict[int, str] = {}
        self._local_count = 0

    def define(self, var: Var, value: Any) -> None:
        """Makes a variable a constant."""
        self._names[var] = self._constant(value)

    def begin_part(self) -> None:
        """Makes a new part the current one."""
        self.touched = {}

    def target(self, var: Var) -> str:
        """Returns a name for a variable that is about to get a value."""
        if not self.unused:
            self.unused[f"v{self._local_count}"] = None
            self._local_count += 1
        name = self._names[var] = self.unused.popitem()[0]
        self.touched.setdefault(name, False)
        return name

    def is_local(self, var: Var) -> bool:
        """Whether a variable is one of the program, and no constant."""
        return var not in self.folded and self._names[var].startswith("v")

    def free(self, var: Var) -> str:
        """Makes the name of a variable one that may be taken again, and returns it."""
        name = self._names[var]
        self.unused[name] = None
        return name

    def text(self, atom: Atom) -> str:
        """Returns the name of a variable or number."""
        if type(atom) is Var:
            if atom in self.folded and atom not in self._names:
                self.define(atom, self.folded[atom])
            name = self._names[atom]
            if name in self.touched or self.is_local(atom):
                self.touched.setdefault(name, True)
            return name
        assert type(atom) is Literal
        # Equal numbers share a constant, except for zeros, which have a sign, and NaN.
        key = (type(atom.val), atom.val) if atom.val and atom.val == atom.val else id(atom)
        if key not in self._constants:
            self._constants[key] = self._constant(atom.val)
        return self._constants[key]

    def result(self, atom: Atom) -> str:
        """Returns the expression of a result: a copy of an array that the program keeps."""
        name = self.text(atom)
        value = self.values.get(name)
        return f"{name}.copy()" if type(value) is np.ndarray and value.strides != (0,) * value.ndim else name

    def callee(self, eqn: JaxprEqn) -> str:
        """Returns the name of the function that an equation calls."""
        function = _function_of(eqn)
        known = self._callees.get(id(function))
        if known is None:
            base = eqn.primitive.name if eqn.primitive.name.isidentifier() else "op"
            known = self._callees[id(function)] = f"{base}_{len(self._callees)}"
            self.values[known] = function
            self.calls_numpy_alone &= _is_of_numpy(function)
            if (describe := getattr(function, "describe", None)) is not None:
                self.described.append(describe(known))
        return known

    def _constant(self, value: Any) -> str:
        name = f"c{len(self.values)}"
        self.values[name] = value
        return name


def _function_of(eqn: JaxprEqn) -> Callable[..., Any]:
    """Returns the Python function that an equation calls: specialised where the primitive has a rule for that."""
    params = eqn.params
    rule = eqn.primitive.rules.get("numpy")
    with at_source(eqn.source):
        if rule is not None:
            specialise: Callable[[], Callable[..., Any]] = partial(
                rule, [atom.aval for atom in eqn.invars], numpy_function, **params
            )
            return specialise() if eqn.primitive.pure_rules else lambda *args: specialise()(*args)
        impl = eqn.primitive.rule("impl")
    return (lambda *args: impl(*args, **params)) if params else impl


def _is_of_numpy(function: Callable[..., Any]) -> bool:
    """Whether a function runs no Python: one of NumPy's, an operator, or one with the attribute ``is_numpy``."""
    if isinstance(function, np.ufunc):
        return set("".join(function.types)) != set("O->")  # the type of all ufuncs of numpy.frompyfunc
    if type(function) is MethodDescriptorType:
        return function.__objclass__ is np.ndarray
    if isinstance(function, type):
        return function in (bool, int, float, complex) or issubclass(function, np.generic)
    if type(function) is BuiltinFunctionType:
        return function.__module__ == "_operator"
    return getattr(function, "is_numpy", False)


def _is_ufunc(eqn: JaxprEqn) -> bool:
    """Whether an equation calls an elementwise ufunc."""
    function = _function_of(eqn)
    return isinstance(function, np.ufunc) and function.signature is None  # numpy.matmul has one
