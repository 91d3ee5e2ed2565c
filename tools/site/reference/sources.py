"""Where public objects are defined: also ops, which are objects that an assignment makes."""

import ast
import functools
import pkgutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import lawful

ROOT = Path(__file__).resolve().parents[3]

#: Modules whose import needs a library that not everyone has.
_OPTIONAL = ("lawful.laws.systems.",)


@dataclass(frozen=True, slots=True)
class Definition:
    """Where a name is defined: its module, its name there, and its first and last line, counted from 1."""

    module: str
    name: str
    first: int
    last: int


@functools.cache
def modules() -> dict[str, ModuleType]:
    """Returns every module of the workspace by name, private ones too, each imported."""
    return dict(sorted((name, import_module(name)) for name in _names("lawful", lawful.__path__)))


def _names(prefix: str, paths: Any) -> Iterator[str]:
    for found in pkgutil.iter_modules(paths):
        name = f"{prefix}.{found.name}"
        folder = Path(getattr(found.module_finder, "path", "/")).resolve()
        # Some namespaces go on in folders of NumPy or SciPy.
        if found.name == "__main__" or name.startswith(_OPTIONAL) or not folder.is_relative_to(ROOT / "packages"):
            continue
        module = import_module(name)
        yield name
        if found.ispkg:
            yield from _names(name, [str(_file(module).parent)])


def _file(module: ModuleType) -> Path:
    return Path(module.__file__ or "/")


@functools.cache
def definitions(module: str) -> dict[str, Definition]:
    """Returns what the text of a module defines: functions and classes, their methods, and assignments."""
    found: dict[str, Definition] = {}
    text = _file(modules()[module]).read_text(encoding="utf-8")
    _collect(ast.parse(text).body, module, "", found)
    return found


def _collect(body: list[ast.stmt], module: str, prefix: str, found: dict[str, Definition]) -> None:
    for node in body:
        names: list[str] = []
        first = node.lineno
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names = [name]
                first = min([first, *(decorator.lineno for decorator in node.decorator_list)])
            case ast.Assign(targets=targets):
                names = [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
                names = [name]
            case ast.TypeAlias(name=ast.Name(id=name)):
                names = [name]
        for block in ("body", "orelse", "handlers"):
            if isinstance(node, ast.If | ast.Try):
                _collect(getattr(node, block, []), module, prefix, found)
        for name in names:
            found[prefix + name] = Definition(module, prefix + name, first, node.end_lineno or first)
        if isinstance(node, ast.ClassDef):
            _collect(node.body, module, f"{prefix}{node.name}.", found)


@functools.cache
def _defined() -> dict[int, list[Definition]]:
    """Returns the definitions of each object, by its id; the objects live as long as their modules."""
    found: dict[int, list[Definition]] = {}
    for name, module in modules().items():
        for definition in definitions(name).values():
            if "." not in definition.name and definition.name in vars(module):
                found.setdefault(id(vars(module)[definition.name]), []).append(definition)
    return found


def definition_of(value: Any, name: str) -> Definition | None:
    """Returns where an object is defined, or None if that is not in the workspace.

    Small numbers and strings are one object everywhere, so that the name must be the same.
    """
    found = _defined().get(id(value), [])
    by_name = [definition for definition in found if definition.name == name]
    own = [definition for definition in by_name or found if definition.module == getattr(value, "__module__", None)]
    chosen = own or by_name
    if not chosen and callable(value):
        chosen = found
    if chosen:
        return chosen[0]
    module, qualified = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if isinstance(qualified, str) and module in sys.modules and module in modules():
        return definitions(module).get(qualified)
    return None
