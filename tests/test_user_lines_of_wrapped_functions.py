"""``user_source`` passes over the frames of some modules by name, and the name is copied by ``functools.wraps``."""

import functools
import importlib
from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful import ops
from lawful.autodiff import grad, jvp
from lawful.core import UnexpectedTracerError
from lawful.staging import make_jaxpr, trace_to_jaxpr
from lawful.tree.base import source

PACKAGES = (
    "autodiff",
    "batching",
    "control_flow",
    "core",
    "custom_rules",
    "debug",
    "linalg",
    "nn",
    "numpy",
    "numpy.linalg",
    "ops",
    "random",
    "special",
    "staging",
    "taylor",
    "tree",
    "xla_backend",
)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_public_function_has_a_dispatch_module(package: str) -> None:
    module = importlib.import_module(f"lawful.{package}")
    public = [(name, getattr(module, name)) for name in module.__all__]
    functions = [(name, value) for name, value in public if callable(value) and not isinstance(value, type)]
    found = [name for name, value in functions if getattr(value, "__module__", None) in source._dispatch_modules]
    assert not found


def test_dispatch_modules_exist_and_are_internal() -> None:
    assert {"lawful.ops._fast.promotion", "lawful.staging._recorder"} <= source._dispatch_modules
    for name in source._dispatch_modules:
        assert name is not None
        assert name.startswith("lawful.")
        importlib.import_module(name)


@pytest.mark.parametrize("wrapped", [lnp.sin, lnp.dot, ops.sin, ops.mul, lnp.sum, ops.composite, trace_to_jaxpr])
def test_the_line_in_a_function_that_wraps_a_public_one(wrapped: Any) -> None:
    @functools.wraps(wrapped)
    def mine(x: Any) -> Any:
        return lnp.cos(x) * 2.0

    def outer(x: Any) -> Any:
        return mine(x)

    lines = {eqn.source.line for eqn in make_jaxpr(outer)(1.0).eqns if eqn.source is not None}
    assert lines == {mine.__code__.co_firstlineno + 2}


@pytest.mark.parametrize("differentiate", [grad, lambda f: lambda x: jvp(f, (x,), (1.0,))], ids=["grad", "jvp"])
@pytest.mark.parametrize("times", [1, 5])
def test_the_line_of_a_leaked_tracer(differentiate: Any, times: int) -> None:
    kept: list[Any] = []

    def f(x: Any) -> Any:
        kept.append(lnp.sin(x) * 2.0)
        return x

    for _ in range(times):
        differentiate(f)(np.float64(1.0))
    with pytest.raises(UnexpectedTracerError, match=rf":{f.__code__.co_firstlineno + 1} \(f\)"):
        kept[-1] + 1.0
