"""Environments of `tools/isolation.py` share compiled modules, and no module that is not installed."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools/isolation.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("isolation", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def environment(venv: Path, *modules: str) -> Path:
    """Returns the folder of packages of an environment, with some modules of `lawful`."""
    site = venv / "lib/python3.12/site-packages"
    for name in modules:
        package = site / "lawful" / name
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(f"name = {name!r}\n")
    return site


def names(site: Path, *modules: str) -> Any:
    """Imports modules in a process of its own, and returns what it prints and where it writes bytecode."""
    program = f"from lawful import {', '.join(modules)}; print({', '.join(f'{name}.name' for name in modules)})"
    command = [sys.executable, "-v", "-c", program]
    options = {"PYTHONPATH": str(site)}  # without PYTHONDONTWRITEBYTECODE
    return subprocess.run(command, env=options, capture_output=True, text=True, check=False)


def test_bytecode_is_taken_for_installed_modules(tool: ModuleType, tmp_path: Path) -> None:
    full, part = environment(tmp_path / "full", "lower", "upper"), environment(tmp_path / "part", "lower")
    source = part / "lawful/lower/__init__.py"
    source.unlink()
    source.hardlink_to(full / "lawful/lower/__init__.py")  # of the same time, as uv installs
    assert names(full, "lower", "upper").stdout == "lower upper\n"
    pool = tmp_path / "bytecode"
    tool.Bytecode(pool, tmp_path / "full").give()
    tool.Bytecode(pool, tmp_path / "part").take()
    done = names(part, "lower")
    assert done.stdout == "lower\n"
    assert f"# code object from {str(source)!r}" not in done.stderr
    assert f"# {importlib.util.cache_from_source(str(source))} matches {source}" in done.stderr
    assert not (part / "lawful/upper").exists()
    assert "cannot import name 'upper'" in names(part, "lower", "upper").stderr


def test_bytecode_of_tests_has_no_module_of_lawful(tool: ModuleType, tmp_path: Path) -> None:
    site = environment(tmp_path / "a", "lower")
    (site / "other.py").write_text("")
    assert names(site, "lower").stdout == "lower\n"
    subprocess.run([sys.executable, "-c", "import other"], env={"PYTHONPATH": str(site)}, check=True)
    tool.Bytecode(tmp_path / "bytecode", tmp_path / "a").give(other_libraries=True)
    [found] = (tmp_path / "bytecode").rglob("*.pyc")
    assert found.name.startswith("other.")
