"""Writes the stubs with the names of modules that look their names up: `python -m tools.typed_names`.

Type checkers cannot call a module's `__getattr__`. They read the stubs instead, so that they find a misspelled name.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
#: Packages of which modules look their names up, and the folders of their stubs.
PACKAGES = {
    "lawful.jax": ROOT / "packages/jax-api/src/lawful/jax",
    "lawful.autograd": ROOT / "packages/autograd-api/src/lawful/autograd",
}
#: Modules of other libraries, whose classes the modules have.
LIBRARIES = ("numpy", "numpy.linalg", "numpy.random", "ml_dtypes")


def stubs() -> Iterator[tuple[Path, str]]:
    """Yields the file and the text of each stub."""
    for package, folder in PACKAGES.items():
        for source in sorted(folder.rglob("*.py")):
            tree = ast.parse(source.read_text())
            if not any(isinstance(node, ast.If) and _imports_stub(node) for node in tree.body):
                continue
            parts = source.relative_to(folder).with_suffix("").parts
            inner = [part for part in parts if part != "__init__"]
            module = ".".join([package, *inner])
            yield folder / "_typed" / f"{'_'.join(inner) or folder.name}.pyi", stub(module, tree)


def _imports_stub(node: ast.If) -> bool:
    imports = [line for line in node.body if isinstance(line, ast.ImportFrom)]
    return any("._typed." in (line.module or "") for line in imports)


def stub(name: str, tree: ast.Module) -> str:
    """Returns the text of the stub with the names of a module that its source does not define."""
    module = importlib.import_module(name)
    own = set(_defined(tree))
    names = [found for found in dir(module) if not found.startswith("_") and found not in own]
    names = [found for found in names if hasattr(module, found)]  # SciPy lists modules that are gone
    imports = {found: line for found in names if (line := _imported(name, found, getattr(module, found)))}
    lines = [alias for found, line in imports.items() if (alias := _alias(found, line))]
    lines += [f"{found}: {_type(getattr(module, found))}" for found in names if found not in imports]
    title = f"The names that `{name}` looks up. Written by `python -m tools.typed_names`."
    uses = ["from collections.abc import Callable"] * any("Callable" in line for line in lines)
    uses += ["from typing import Any"] * any("Any" in line for line in lines)
    parts = [f'"""{title}"""'], uses, sorted(imports.values()), lines
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _imported(module: str, name: str, value: Any) -> str:
    """Returns the import of a module or a class, of which a variable of type Any would be no annotation, or nothing."""
    if isinstance(value, types.ModuleType):
        has_file = value.__name__ == f"{module}.{name}" and value.__spec__ is not None
        return f"from {module} import {name} as {name}" if has_file else ""
    if not isinstance(value, type):
        return ""
    own = (value.__module__,) if value.__module__.startswith("lawful.") else ()
    for home in map(importlib.import_module, (*LIBRARIES, *own)):
        for found, public in ((name, name), (value.__qualname__, f"_{name}")):
            if getattr(home, found, None) is value and _defines(home, found):
                return f"from {home.__name__} import {found} as {public}"
    return ""


def _alias(name: str, line: str) -> str:
    # For type checkers an import under another name is private.
    return f"{name} = _{name}" if line.endswith(f" as _{name}") else ""


def _defines(module: types.ModuleType, name: str) -> bool:
    """Returns whether checkers see a name in a module: they know no class of lawful that is made by a call."""
    return module.__name__ in LIBRARIES or name in _defined(ast.parse(inspect.getsource(module)))


def _type(value: Any) -> str:
    return "Callable[..., Any]" if isinstance(value, types.FunctionType | types.BuiltinFunctionType) else "Any"


def _defined(tree: ast.Module) -> Iterator[str]:
    """Yields the names that a module's statements define."""
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.If) and _imports_stub(node):
            yield from _defined(ast.Module(node.body, []))
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))


def main() -> None:
    for file, text in stubs():
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)


if __name__ == "__main__":
    main()
