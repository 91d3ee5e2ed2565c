"""Helpers of the backend's tests: jaxprs written down equation by equation, so that only lowering is under test."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lawful.core import (
    Atom,
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Literal,
    Primitive,
    ShapedArray,
    Var,
    get_aval,
    register_internal_module,
    user_source,
)
from lawful.xla_backend import Compiled, backend

register_internal_module(__name__)  # its Recorder records equations for the tests that call it


class Recorder:
    """Collects the equations of a jaxpr."""

    def __init__(self) -> None:
        self.eqns: list[JaxprEqn] = []
        self.consts: dict[Var, Any] = {}

    def __call__(
        self,
        lower: Primitive | Callable[..., Any],
        /,
        *args: Any,
        out: ShapedArray | Sequence[ShapedArray],
        **params: Any,
    ) -> Any:
        """Records an equation; a function in place of a primitive is the lowering rule of a fresh one."""
        several = not isinstance(out, ShapedArray)
        if not isinstance(lower, Primitive):
            primitive = Primitive(f"test_{lower.__name__.strip('<>')}", multiple_results=several)
            primitive.def_lowering(lower)
            lower = primitive
        outvars = [Var(aval) for aval in (out if several else [out])]
        atoms = [x if isinstance(x, Var | Literal) else Literal(x) for x in args]
        self.eqns.append(JaxprEqn(lower, atoms, outvars, params, user_source()))
        return outvars if several else outvars[0]

    def const(self, value: Any) -> Var:
        """Returns a variable that stands for a constant of the jaxpr."""
        var = Var(get_aval(value))
        self.consts[var] = value
        return var


def make_program(build: Callable[..., Any], *avals: ShapedArray) -> ClosedJaxpr:
    """Returns the jaxpr that ``build(record, *variables)`` records, of arguments of some types."""
    record = Recorder()
    invars = [Var(aval) for aval in avals]
    result = build(record, *invars)
    outvars: Sequence[Atom] = result if isinstance(result, list) else [result]
    return ClosedJaxpr(Jaxpr(list(record.consts), invars, record.eqns, outvars), list(record.consts.values()))


@pytest.fixture
def program() -> Callable[..., ClosedJaxpr]:
    return make_program


@pytest.fixture
def compile_program() -> Callable[..., Compiled]:
    def compile_program(build: Callable[..., Any], *avals: ShapedArray, donated: Sequence[int] = ()) -> Compiled:
        return backend.lower(make_program(build, *avals), name="test", donated=donated).compile()

    return compile_program


@pytest.fixture
def run_python() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a script in a process of its own, as a user would: without pytest's settings."""

    def run(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(("LAWFUL_", "TF_CPP_"))}
        return subprocess.run(
            [sys.executable, "-c", script],
            env={**inherited, **environment},
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)
