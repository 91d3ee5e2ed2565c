"""The public names of the workspace, and the one module that each object is described in."""

import builtins
import functools
import inspect
import re
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from tools.site.reference.sources import Definition, definition_of, modules

#: Packages that give names of another library to lawful's functions: described elsewhere, unless a name is their own.
MIRRORS = ("lawful.jax", "lawful.autograd")

#: Packages from the bottom up: an object that two of them export is described in the lower one.
_ORDER = ["tree", "core", "ops", "staging", "debug", "batching", "autodiff", "custom_rules", "control_flow", "numpy"]


@dataclass(frozen=True, slots=True)
class Name:
    """A public name, its object, and where that is defined."""

    module: str
    name: str
    value: Any
    definition: Definition | None

    @property
    def full(self) -> str:
        return f"{self.module}.{self.name}"

    @property
    def doc(self) -> str:
        """The docstring of the object itself, not one of its class; of one in NumPy's style, the first paragraph."""
        value = self.value
        is_described = inspect.isclass(value) or inspect.isroutine(value) or type(value).__module__.startswith("lawful")
        doc = getattr(value, "__doc__", None) if is_described else None
        if not isinstance(doc, str) or (not inspect.isclass(value) and doc == type(value).__doc__):
            return ""
        if inspect.isclass(value) and any(doc == base.__doc__ for base in _bases(value)):
            return ""
        text = inspect.cleandoc(doc)
        return text.partition("\n\n")[0] if re.search(r"^-{4,}$", text, re.MULTILINE) else text

    @property
    def summary(self) -> str:
        """The first sentence of the docstring."""
        first = " ".join(self.doc.partition("\n\n")[0].split())
        return re.split(r"(?<=[.!?])\s+(?=[A-Z`])", first, maxsplit=1)[0]

    @property
    def is_primitive(self) -> bool:
        return type(self.value).__name__ == "Primitive"

    @property
    def has_entry(self) -> bool:
        """Whether the object is described: lawful's own, and in a mirror only what is defined there."""
        origin = getattr(self.value, "__module__", None)
        if self.is_primitive or self.definition is None or not isinstance(origin or "lawful", str):
            return False
        if origin and not origin.startswith(("lawful", "builtins")):
            return False
        return not self.module.startswith(MIRRORS) or self.definition.module.startswith(self.module.rpartition(".")[0])


def _bases(value: type) -> tuple[type, ...]:
    """Returns the classes whose docstring a class may have taken over: also Python's own of its name."""
    return (*value.__mro__[1:], getattr(builtins, value.__name__, object))


@functools.cache
def public_modules() -> dict[str, list[Name]]:
    """Returns the public modules with their public names, in the order of the alphabet."""
    found = {}
    for name, module in modules().items():
        if any(part.startswith("_") for part in name.split(".")[1:]):
            continue
        listed = _listed(name, module)
        if listed:
            found[name] = [Name(name, n, getattr(module, n), definition_of(getattr(module, n), n)) for n in listed]
    return found


def _listed(name: str, module: ModuleType) -> list[str]:
    """Returns what a module exports; where it does not say so, what it defines or takes over by a public name."""
    exported = [n for n in getattr(module, "__all__", ()) if hasattr(module, n)]
    if name.startswith(MIRRORS):
        names = {*exported, *(n for n in dir(module) if hasattr(module, n) and not _is_import(module, n))}
    elif name.startswith("lawful.special.stats."):
        names = {n for n in vars(module) if (d := definition_of(vars(module)[n], n)) and d.module == name}
    else:
        names = set(exported)
    return sorted(
        (n for n in names if not n.startswith("_") and not inspect.ismodule(getattr(module, n))),
        key=lambda n: (n.lower(), n),
    )


def _is_import(module: ModuleType, name: str) -> bool:
    """Says whether a name is there only because the module needs it: it is Python's own."""
    value = getattr(module, name)
    origin = getattr(value, "__module__", None) or type(value).__module__
    return origin != "builtins" and origin.partition(".")[0] in sys.stdlib_module_names


@functools.cache
def home() -> dict[str, Name]:
    """Returns, for the full name of every public name, the name under which its object is described."""
    every = [name for names in public_modules().values() for name in names]
    objects: dict[Any, list[Name]] = {}
    texts: dict[tuple[str, str], list[Name]] = {}
    for name in sorted(every, key=_rank):
        names = objects.setdefault(_key(name), [])
        names.append(name)
        if name.doc and not name.module.startswith(MIRRORS):
            texts.setdefault((name.name, name.doc), []).append(names[0])
    found = {}
    for name in every:
        names = objects[_key(name)]
        chosen = names[0]
        same = [other for alias in names for other in texts.get((alias.name, alias.doc), [])]
        if chosen.module.startswith(MIRRORS) and same:  # a function of JAX's name that only checks its arguments
            folder = name.module.rpartition(".")[2]
            chosen = next((other for other in same if other.module.endswith("." + folder)), same[0])
        found[name.full] = chosen
    return found


def _key(name: Name) -> Any:
    """Returns what all names of one object share; numbers and other constants are described at each name."""
    return id(name.value) if callable(name.value) or name.is_primitive else name.full


def _rank(name: Name) -> tuple[bool, bool, int, int, str]:
    top = name.module.split(".")[1]
    defined = name.definition.module if name.definition else ""
    return (
        name.module.startswith(MIRRORS),
        not defined.startswith(name.module + ".") and defined != name.module,
        _ORDER.index(top) if top in _ORDER else len(_ORDER),
        name.module.count("."),
        name.full,
    )
