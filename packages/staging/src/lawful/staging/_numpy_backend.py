"""The NumPy backend: turns a jaxpr into the source of a Python function, once, and calls that.

The text that ``jit(f).lower(x).as_text()`` shows is the program that runs: a line for each equation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful.core import (
    Atom,
    ClosedJaxpr,
    JaxprEqn,
    Literal,
    Var,
    at_source,
    current,
    eval_trace,
    get_aval,
    last_uses,
    memoize,
    to_numpy,
)
from lawful.ops import broadcast_in_dim_p
from lawful.staging._ownership import own_results

# What a program takes as it is.
_OWN = {np.ndarray, bool, int, float, complex}


class NumpyBackend:
    """Runs programs by NumPy."""

    name = "numpy"
    platform = "numpy"

    def lower(self, closed: ClosedJaxpr, *, name: str, donated: Sequence[int] = ()) -> PythonProgram:
        """Lowers a jaxpr to Python source. NumPy cannot reuse arguments, so that ``donated`` says nothing to it."""
        return PythonProgram(closed, name)


class PythonProgram:
    """A program as the source of Python functions over NumPy arrays, and ready to run."""

    def __init__(self, closed: ClosedJaxpr, name: str) -> None:
        self._closed = closed
        self._in_avals = closed.in_avals
        self._name = name
        self._source, self._function = _compile(closed)

    def as_text(self) -> str:
        """Returns the Python source."""
        return self._source

    def compile(self) -> PythonProgram:
        """Returns the program itself: it is ready to run."""
        return self

    def cost_analysis(self) -> dict[str, Any]:
        """Returns the number of equations, nested ones not counted."""
        return {"equations": len(self._closed.eqns)}

    def memory_analysis(self) -> None:
        """Returns None: NumPy does not say."""

    def __call__(self, *args: Any) -> list[Any]:
        """Runs the program; the results share no memory with the arguments."""
        trace = current.trace
        current.trace = eval_trace
        try:
            # As a compiled program does, give NaN and infinity in silence.
            with np.errstate(all="ignore"):
                out = self._function(*[to_numpy(x) for x in args])
        finally:
            current.trace = trace
        return own_results(out, args)

    def run_exact(self, args: Sequence[Any]) -> list[Any] | None:
        """Runs the program if all arguments are NumPy's or Python's, of exactly the types that it is for; else None.

        Law: where it is not None, it is what a call gives.
        """
        in_avals = self._in_avals
        if len(args) != len(in_avals):
            return None
        for x, aval in zip(args, in_avals, strict=True):
            if type(x) not in _OWN or get_aval(x) is not aval:
                return None
        return self(*args)


@memoize
def numpy_function(closed: ClosedJaxpr) -> Callable[..., list[Any]]:
    """Returns the Python function that a jaxpr compiles to: of NumPy arrays, a list of them."""
    return _compile(closed)[1]


def _compile(closed: ClosedJaxpr) -> tuple[str, Callable[..., list[Any]]]:
    jaxpr = closed.jaxpr
    names: dict[Var, str] = {}
    scope: dict[str, Any] = {}
    functions: dict[tuple[Any, ...], str] = {}

    def name_of(var: Var) -> str:
        return names.setdefault(var, f"v{len(names)}")

    def text_of(atom: Atom) -> str:
        if type(atom) is Var:
            return name_of(atom)
        assert type(atom) is Literal
        constant = f"c{len(scope)}"
        scope[constant] = atom.val
        return constant

    def callee(eqn: JaxprEqn) -> str:
        function = _function_of(eqn)
        key = (id(function),)
        known = functions.get(key)
        if known is None:
            base = eqn.primitive.name if eqn.primitive.name.isidentifier() else "op"
            known = functions[key] = f"{base}_{len(functions)}"
            scope[known] = function
        return known

    for var, value in zip(jaxpr.constvars, closed.consts, strict=True):
        scope[name_of(var)] = to_numpy(value)
    header = ", ".join(name_of(var) for var in jaxpr.invars)
    lines = []
    constants = set(jaxpr.constvars)
    for eqn, dead in zip(jaxpr.eqns, last_uses(jaxpr), strict=True):
        if eqn.primitive is broadcast_in_dim_p and type(eqn.invars[0]) is Literal:
            # A number that is repeated takes no memory, and need not be repeated in every call.
            scope[name_of(eqn.outvars[0])] = _function_of(eqn)(eqn.invars[0].val)
            constants.add(eqn.outvars[0])
            continue
        arguments = ", ".join(text_of(atom) for atom in eqn.invars)
        targets = ", ".join(name_of(var) for var in eqn.outvars)
        if eqn.primitive.multiple_results:
            targets = f"[{targets}]"
        lines.append(f"    {targets} = {callee(eqn)}({arguments})")
        freed = [name_of(var) for var in dead if var not in constants]
        if freed:
            lines.append(f"    {' = '.join(freed)} = None")
    results = ", ".join(text_of(atom) for atom in jaxpr.outvars)
    source = "\n".join([f"def program({header}):", *lines, f"    return [{results}]", ""])
    exec(compile(source, "<lawful program>", "exec"), scope)
    return source, scope["program"]


def _function_of(eqn: JaxprEqn) -> Callable[..., Any]:
    """Returns the Python function that an equation calls: specialised by the primitive where it can be."""
    rule = eqn.primitive.rules.get("numpy")
    with at_source(eqn.source):
        if rule is not None:
            specialised: Callable[..., Any] = rule([atom.aval for atom in eqn.invars], numpy_function, **eqn.params)
            return specialised
        impl = eqn.primitive.rule("impl")
    params = eqn.params
    return (lambda *args: impl(*args, **params)) if params else impl


numpy_backend = NumpyBackend()
