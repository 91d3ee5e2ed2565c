"""The modules of a package import each other in one direction, also inside functions.

A rule that needs an op of another family asks the package when it runs: ``ops.mul(t, ops.cos(x))`` with
``from lawful import ops``. That is not an import of the op's module.
"""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# Others still have cycles.
PACKAGES = {"ops": "packages/ops", "numpy": "packages/numpy", "random": "packages/numpy", "special": "packages/numpy"}


def module_files(package: str, source: Path) -> dict[str, Path]:
    """Returns the modules of a package by their dotted names."""
    found = {}
    for path in source.rglob("*.py"):
        parts = path.relative_to(source).with_suffix("").parts
        found[".".join((package, *parts)).removesuffix(".__init__")] = path
    return found


def imported_names(node: ast.AST) -> Iterator[tuple[str, str | None]]:
    """Yields the imports within a node but those for type checkers: a module, and a name from it or None."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.Import(names):
                yield from ((alias.name, None) for alias in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield from ((module, alias.name) for alias in names)
            case ast.If(test=ast.Name(id="TYPE_CHECKING" | "_TYPE_CHECKING"), orelse=others):
                yield from imported_names(ast.Module(others, []))
            case _:
                yield from imported_names(child)


def imports(name: str, files: dict[str, Path]) -> set[str]:
    """Returns the modules that a module imports, without the packages around it."""
    found = set()
    for module, attribute in imported_names(ast.parse(files[name].read_text())):
        below = f"{module}.{attribute}"
        found.add(below if below in files else module)
    return {module for module in found if module in files and not f"{name}.".startswith(f"{module}.")}


def cycle(package: str, source: Path) -> list[str]:
    """Returns the modules of a cycle, the first one again at the end; nothing if there is none."""
    files = module_files(package, source)
    try:
        TopologicalSorter({name: imports(name, files) for name in files}).prepare()
    except CycleError as error:
        return [str(name) for name in error.args[1]]
    return []


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_of_a_package_have_no_cycle(package: str) -> None:
    assert cycle(f"lawful.{package}", ROOT / PACKAGES[package] / "src/lawful" / package) == []


def test_imports_inside_functions_make_cycles(tmp_path: Path) -> None:
    for name, text in {
        "__init__": "from p.a import f",
        "a": "import p\nfrom p import b",
        "b": "from typing import TYPE_CHECKING\nfrom p import c\n\nif TYPE_CHECKING:\n    from p.a import f",
        "c": "def f():\n    pass",
    }.items():
        (tmp_path / f"{name}.py").write_text(text)
    assert cycle("p", tmp_path) == []
    (tmp_path / "c.py").write_text("def f():\n    from p.a import f\n    return f")
    assert set(cycle("p", tmp_path)) == {"p.a", "p.b", "p.c"}
