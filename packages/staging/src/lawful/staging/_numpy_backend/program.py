"""The NumPy backend: turns a jaxpr into the source of a Python function, once, and calls that.

``jit(f).lower(x).as_text()`` shows the source of the function that runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful.core import ArgumentValueError, ClosedJaxpr, SourceLine, current, eval_trace, get_aval, to_numpy
from lawful.staging._backends import CompilerOptions, register_backend
from lawful.staging._numpy_backend.source import LineEquations, compile_jaxpr
from lawful.staging._ownership import copy_aliased
from lawful.staging._passes.dce import dce_jaxpr

# Types whose values a program takes without conversion.
_OWN = {np.ndarray, bool, int, float, complex}


class NumpyBackend:
    """Runs programs by NumPy."""

    name = "numpy"
    platform = "cpu"

    def lower(self, closed: ClosedJaxpr, *, name: str, donated: Sequence[int] = ()) -> PythonProgram:
        """Lowers a jaxpr to Python source. NumPy cannot reuse arguments, so that ``donated`` says nothing to it."""
        return PythonProgram(dce_jaxpr(closed, (True,) * len(closed.out_avals)), name)


class PythonProgram:
    """A program as the source of Python functions over NumPy arrays, and ready to run."""

    def __init__(self, closed: ClosedJaxpr, name: str) -> None:
        self._closed = closed
        self._in_avals = closed.in_avals
        self._name = name
        self._source, self._function = compile_jaxpr(closed)

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        """Returns the Python source.

        Raises:
          ArgumentValueError: a dialect is given that is not ``"python"``.
        """
        if dialect not in (None, "python"):
            raise ArgumentValueError(
                f"lowered {self._name}: expected python as dialect, because the NumPy backend has no other, got "
                f"{dialect!r}; leave it out, or ask for jit(..., backend='xla')"
            )
        return self._source

    def line_sources(self) -> list[SourceLine | None]:
        """Returns, for each line of `as_text`, the user's line of the equation that it computes, or None.

        The program is compiled once more, so that a program that nobody asks pays nothing.
        """
        equations: LineEquations = {}
        source, _ = compile_jaxpr(self._closed, equations)
        found = [equations.get(number) for number in range(source.count("\n"))]
        return [None if eqn is None else eqn.source for eqn in found]

    def compiler_ir(self, dialect: str | None = None) -> str:
        """Returns the Python source."""
        return self.as_text(dialect)

    def compile(
        self,
        compiler_options: CompilerOptions | None = None,
        *,
        shardings: Sequence[Any] | None = None,
        devices: Sequence[Any] | None = None,
    ) -> PythonProgram:
        """Returns the program itself: it is ready to run, and NumPy has no devices.

        Raises:
          ArgumentValueError: options or devices are given, of which there are none.
        """
        if devices is not None:
            raise ArgumentValueError(
                f"compile: expected no device_assignment, because the NumPy backend has no devices, got {devices}; "
                "leave it out, or ask for jit(..., backend='xla')"
            )
        if compiler_options:
            raise ArgumentValueError(
                f"compile: expected no compiler_options, because the NumPy backend has none, got "
                f"{dict(compiler_options)}; leave them out, or ask for jit(..., backend='xla')"
            )
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
            # No warnings of NaN and infinity: a program compiled by XLA gives none.
            with np.errstate(all="ignore"):
                out = self._function(*[to_numpy(x) for x in args])
        finally:
            current.trace = trace
        return copy_aliased(out, args)

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


numpy_backend = NumpyBackend()
# Registered, so that it is found also where the distribution's metadata is not installed.
register_backend(numpy_backend)
