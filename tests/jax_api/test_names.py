"""The table of JAX's names is complete for the installed JAX, and true of `lawful.jax`."""

import importlib
import importlib.util
import inspect
import pkgutil
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lawful.core import Primitive
from lawful.jax._support.namespaces.absent_modules import REASONS as ABSENT
from lawful.jax._support.namespaces.absent_modules import why_absent
from lawful.jax._support.namespaces.refusals import NEUTRAL, REASONS
from lawful.jax._support.namespaces.table import modules, names_of
from lawful.jax._support.namespaces.wrapping import PLACE

ROOT = Path(__file__).resolve().parents[2]


def load_tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("jax_names", ROOT / "tools/jax_names.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PRESENT = [module for module in modules() if any(not row.reason for row in names_of(module).values())]


def test_table_is_that_of_the_installed_jax() -> None:
    """Run ``uv run python tools/jax_names.py --write``, then give each new name a value or a reason."""
    jax_names = load_tool()
    written = {path.name: path.read_text() for path in jax_names.FOLDER.glob("*.txt")}
    assert written == jax_names.texts()


def test_each_reason_is_true() -> None:
    """A name that has a reason is absent."""
    for module in modules():
        absent = [row.name for row in names_of(module).values() if row.reason]
        try:
            ours = importlib.import_module(f"lawful.{module}")
        except ModuleNotFoundError:
            assert len(absent) == len(names_of(module))
        else:
            assert [name for name in absent if hasattr(ours, name)] == []


def test_each_module_of_jax_is_there_or_has_a_reason() -> None:
    absent = set()
    for package in ("jax", "jax.experimental", "jax.extend", "jax.interpreters", "jax.example_libraries"):
        for found in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
            if found.name.rpartition(".")[2].startswith("_"):
                continue
            try:
                importlib.import_module(f"lawful.{found.name}")
            except ModuleNotFoundError:
                absent.add(found.name)
    assert {name for name in absent if why_absent(name) is None} == set()
    assert {name for name in ABSENT if name.rpartition(".")[0] != "jax.experimental"} <= absent  # JAX's may go
    assert why_absent("jax.experimental.pallas.triton") == ABSENT["jax.experimental.pallas"]


def test_absent_module_says_the_reason() -> None:
    import lawful.jax as jax

    with pytest.raises(AttributeError, match=r"lawful\.jax\.profiler is left out: use a profiler of Python"):
        _ = jax.profiler
    with pytest.raises(AttributeError, match=r"experimental\.jax2tf is left out: programs of TensorFlow"):
        _ = importlib.import_module("lawful.jax.experimental").jax2tf
    with pytest.raises(AttributeError, match=r"sparse\.todense is left out: sparse arrays"):
        _ = importlib.import_module("lawful.jax.experimental.sparse").todense
    with pytest.raises(AttributeError, match="nor has JAX's"):
        _ = jax.such


@pytest.mark.parametrize("module", PRESENT)
def test_names_have_the_parameters_of_jax(module: str) -> None:
    ours = importlib.import_module(f"lawful.{module}")
    rows = [row for row in names_of(module).values() if not row.reason]
    missing = {row.name: names for row in rows if (names := missing_parameters(getattr(ours, row.name), row))}
    assert missing == {}


def missing_parameters(value: Any, row: Any) -> list[str]:
    """Returns the parameters of JAX's function which ours neither has, nor refuses with a reason."""
    if row.signature is None or inspect.isclass(value) or isinstance(value, Primitive):
        return []
    known = inspect.signature(getattr(value, "__wrapped__", value)).parameters
    takes_all = any(p.kind is p.VAR_KEYWORD for p in known.values())
    of_wrapper = {PLACE} if hasattr(value, "__wrapped__") else set()
    return [
        name
        for name, parameter in row.signature.parameters.items()
        if name not in known and parameter.default is not parameter.empty and not takes_all
        if name not in NEUTRAL and name not in REASONS and name not in of_wrapper
    ]
