"""The examples in the docstrings of public objects, such as elementwise ops, which pytest does not collect."""

from __future__ import annotations

import doctest
import importlib
import inspect
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.numpy._ufuncs.ufunc import Ufunc

MODULES = (
    "lawful.ops",
    "lawful.cluster",
    "lawful.fft",
    "lawful.image",
    "lawful.integrate",
    "lawful.interpolate",
    "lawful.linalg",
    "lawful.ndimage",
    "lawful.nn",
    "lawful.numpy",
    "lawful.optimize",
    "lawful.random",
    "lawful.signal",
    "lawful.spatial",
    "lawful.special",
    "lawful.stats",
)


def _objects() -> dict[str, Any]:
    found = {}
    for module in map(importlib.import_module, MODULES):
        for name in module.__all__:
            value = getattr(module, name)
            is_collected = inspect.isfunction(value) or inspect.isclass(value) or inspect.ismodule(value)
            if not is_collected and getattr(value, "__doc__", None):
                found[f"{module.__name__}.{name}"] = value
    return found


ALL = _objects()
OBJECTS = {name: value for name, value in ALL.items() if ">>>" in value.__doc__}


def test_elementwise_functions_have_examples() -> None:
    functions = {name for name, value in ALL.items() if isinstance(value, ops.Elementwise | Ufunc)}
    assert {"lawful.ops.erf", "lawful.numpy.gcd", "lawful.special.xlogy"} <= functions <= set(OBJECTS)


@pytest.mark.parametrize("name", OBJECTS)
def test_example_in_docstring(name: str) -> None:
    value = OBJECTS[name]
    # A function of lawful.special may be an op, whose example calls it by its name there.
    modules = [ops, importlib.import_module(name.rpartition(".")[0])]
    names = {n: getattr(module, n) for module in modules for n in module.__all__ if n in value.__doc__} | {"np": np}
    test = doctest.DocTestParser().get_doctest(value.__doc__, names, name, None, 0)
    printed: list[str] = []
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    result = doctest.DocTestRunner(optionflags=flags).run(test, out=printed.append)
    assert result.attempted
    assert not result.failed, "".join(printed)
