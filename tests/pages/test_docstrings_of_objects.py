"""Every public function and class has an example that is executed: by pytest, or here where pytest does not find it."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import lawful
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

#: What is public, but not lawful's own, by the package that it is of: its docstring is that package's.
NOT_LAWFULS = {
    "builtins": "Python's classes in lawful.autograd, and aliases of types such as lawful.core.Call",
    "collections": "aliases of types, such as lawful.staging.CompilerOptions",
    "jax": "functions of JAX that its adapter lawful.laws.systems.jax has",
    "ml_dtypes": "dtypes",
    "numpy": "dtypes, and the namespace lawful.autograd.numpy, whose functions have NumPy's docstrings",
    "scipy": "the namespaces lawful.autograd.scipy, whose functions have SciPy's docstrings",
}

_XLA = "it needs lawful.xla_backend, which lawful-jax-api does not declare and whose function has an example"
_RICH = "it needs rich, which lawful-jax-api does not declare; that of lawful.parallel has an example"
_LAWS = "it needs lawful.laws, which lawful-jax-api does not declare and whose function has an example"
_HOOK = "pytest calls it"
#: Public functions and classes of lawful without an executed example, each with the reason.
WITHOUT_EXAMPLE = {
    "lawful.autodiff.JVPTracer": "jvp makes it, and page 3 of the book about the core shows it",
    "lawful.jax.debug.visualize_array_sharding": _XLA,
    "lawful.jax.debug.visualize_sharding": _RICH,
    "lawful.jax.make_array_from_callback": _XLA,
    "lawful.jax.make_array_from_process_local_data": _XLA,
    "lawful.jax.make_array_from_single_device_arrays": _XLA,
    "lawful.jax.test_util.check_grads": _LAWS,
    "lawful.jax.test_util.check_jvp": _LAWS,
    "lawful.jax.test_util.check_vjp": _LAWS,
    "lawful.laws_pytest.pytest_addoption": _HOOK,
    "lawful.laws_pytest.pytest_configure": _HOOK,
    "lawful.laws_pytest.pytest_unconfigure": _HOOK,
}
#: It needs PyTorch, which development does without: nothing would execute its examples.
NOT_IMPORTED = "lawful.laws.systems.torch"


def _objects() -> dict[str, Any]:
    found = {}
    for module in map(importlib.import_module, MODULES):
        for name in module.__all__:
            value = getattr(module, name)
            is_collected = inspect.isfunction(value) or inspect.isclass(value) or inspect.ismodule(value)
            if not is_collected and value.__doc__ and value.__doc__ != type(value).__doc__:
                found[f"{module.__name__}.{name}"] = value
    return found


ALL = _objects()
OBJECTS = {name: value for name, value in ALL.items() if ">>>" in value.__doc__}


def test_elementwise_functions_have_examples() -> None:
    functions = {name for name, value in ALL.items() if isinstance(value, ops.Elementwise | Ufunc)}
    assert {"lawful.ops.erf", "lawful.numpy.gcd", "lawful.special.xlogy"} <= functions <= set(OBJECTS)


def _failures(name: str, value: Any) -> str:
    """Returns what doctest says of the example of an object that fails; nothing if it passes."""
    module, _, short = name.rpartition(".")
    # A function of lawful.special may be an op, whose example calls it by its name there.
    modules = [ops, importlib.import_module(module)] if module in MODULES else []
    names = {n: getattr(module, n) for module in modules for n in module.__all__ if n in value.__doc__}
    test = doctest.DocTestParser().get_doctest(value.__doc__, {short: value, **names, "np": np}, name, None, 0)
    printed: list[str] = []
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    result = doctest.DocTestRunner(optionflags=flags).run(test, out=printed.append)
    assert result.attempted
    return "".join(printed)


@pytest.mark.parametrize("name", OBJECTS)
def test_example_in_docstring(name: str) -> None:
    assert not _failures(name, OBJECTS[name])


# All public names


def _modules(paths: Any, prefix: str) -> Iterator[ModuleType]:
    """Yields the public modules in some folders, and those in them."""
    for info in pkgutil.iter_modules(paths, prefix):
        if info.name.rpartition(".")[2].startswith("_") or info.name == NOT_IMPORTED:
            continue
        module = importlib.import_module(info.name)
        yield module
        # The modules of lawful.tree.base are private: it has their public names itself.
        if info.ispkg and info.name != "lawful.tree.base":
            yield from _modules(module.__path__, f"{info.name}.")


def _public_names(module: ModuleType) -> list[str]:
    if module.__name__.partition("lawful.jax")[1] and hasattr(module, "__getattr__"):
        return dir(module)  # JAX's names, which are found when they are first used
    if hasattr(module, "__all__"):
        return list(module.__all__)
    return [name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]


def _owner(value: Any) -> str:
    """Returns the name of the module that an object is of; a function of lawful.autograd may be NumPy's for values."""
    if inspect.isfunction(value):
        value = getattr(value, "fun", value)
    return getattr(value, "__module__", None) or type(value).__module__


def _public_objects() -> dict[str, Any]:
    """Returns the public functions and classes, each by one of its names."""
    found: dict[int, tuple[str, Any]] = {}
    for module in _modules(lawful.__path__, "lawful."):
        for name in _public_names(module):
            if not name.startswith("_"):
                value = getattr(module, name, None)
                if callable(value) and not inspect.ismodule(value):
                    found.setdefault(id(value), (f"{module.__name__}.{name}", value))
    return dict(found.values())


def test_every_public_name_has_an_executed_example() -> None:
    public = _public_objects()
    owners = {name: _owner(value) for name, value in public.items()}
    assert {owner.partition(".")[0] for owner in owners.values()} == {"lawful", *NOT_LAWFULS}
    own = {name: public[name] for name, owner in owners.items() if owner.partition(".")[0] == "lawful"}
    assert len(own) > 1_000
    finder = doctest.DocTestFinder()
    modules = [importlib.import_module(owner) for owner in {owners[name] for name in own}]
    collected = {test.docstring for module in modules for test in finder.find(module) if test.examples}
    collected |= {value.__doc__ for value in OBJECTS.values()}  # by the test above
    others = {name: value for name, value in own.items() if value.__doc__ not in collected}
    without = {name for name, value in others.items() if ">>>" not in (value.__doc__ or "")}
    assert without == set(WITHOUT_EXAMPLE)
    failures = {name: _failures(name, value) for name, value in others.items() if name not in without}
    assert not "".join(failures.values())
