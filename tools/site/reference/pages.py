"""The pages of the reference: one for each public module, and for a large one a page for each of its subjects."""

import re
from collections.abc import Iterable, Iterator
from importlib import import_module

from tools.site.reference.docstrings import escaped
from tools.site.reference.entries import entry
from tools.site.reference.names import Name, home, public_modules
from tools.site.writing import Folder

#: A module with more entries is split by the folders of its sources.
_MOST = 60


def write_reference(folder: Folder) -> None:
    """Writes the pages of all public modules, and a list of them."""
    tops: list[str] = []
    for module, names in public_modules().items():
        if _parent(module) is None:
            tops.append(module)
        _write_module(folder, module, names)
    lines = [*_title("Public names of every package"), "", *_toctree(tops), "", *_modules(tops), ""]
    folder.write("api/index.rst", "\n".join(lines).encode())


def _parent(module: str) -> str | None:
    """Returns the next module above that has public names."""
    while "." in module:
        module = module.rpartition(".")[0]
        if module in public_modules():
            return module
    return None


def _write_module(folder: Folder, module: str, names: list[Name]) -> None:
    own = [name for name in names if home()[name.full] is name and name.has_entry]
    primitives = [name for name in names if name.is_primitive and home()[name.full] is name]
    others = [name for name in names if name not in own and name not in primitives]
    subjects = _subjects(module, own)
    inner = [m for m in public_modules() if _parent(m) == module]
    pages = [f"{module}/{subject}" for subject in subjects if len(subjects) > 1]
    lines = [*_title(f"{module}"), "", f".. py:module:: {module}", *_shadowed(module), "", _about(module), ""]
    if pages or inner:
        lines += _toctree([*pages, *inner])
    if inner:
        lines += ["", *_modules(inner)]
    for subject, group in subjects.items():
        if len(subjects) > 1:
            heading = subject.replace("_", " ").capitalize()
            lines += ["", *_title(f":doc:`{heading} </api/{module}/{subject}>`", "-"), "", *_table(group)]
            _write_subject(folder, module, subject, heading, group)
        else:
            lines += ["", *_table(group)] if len(group) > 4 else []
            lines += [line for name in group for line in entry(name)]
    if primitives:
        lines += ["", *_title("Primitives", "-"), "", *_primitives(primitives)]
    if others:
        lines += ["", *_title("Names from elsewhere", "-"), "", *_others(others)]
    folder.write(f"api/{module}.rst", ("\n".join(lines) + "\n").encode())


def _about(module: str) -> str:
    """Returns the first paragraph of a module's docstring, with names as code: some are not lawful's."""
    first = (import_module(module).__doc__ or "").partition("\n\n")[0]
    return escaped(re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", " ".join(first.split())))


def _modules(modules: Iterable[str]) -> Iterator[str]:
    yield from _rows(((f":doc:`{module} </api/{module}>`", _about(module)) for module in modules), 40, 60)


def _shadowed(module: str) -> list[str]:
    """Returns the option for a module beside which there is a function of its name, which the index has then."""
    parent, _, name = module.rpartition(".")
    return ["   :no-index:"] if any(name == other.name for other in public_modules().get(parent, ())) else []


def _write_subject(folder: Folder, module: str, subject: str, heading: str, names: list[Name]) -> None:
    lines = [*_title(f"{module}: {heading.lower()}"), "", f".. py:currentmodule:: {module}", "", *_table(names)]
    lines += [line for name in names for line in entry(name)]
    folder.write(f"api/{module}/{subject}.rst", ("\n".join(lines) + "\n").encode())


def _subjects(module: str, names: list[Name]) -> dict[str, list[Name]]:
    """Returns the entries of a module by subject: all in one unless there are many."""
    if len(names) <= _MOST:
        return {"names": names} if names else {}
    found: dict[str, list[Name]] = {}
    for name in names:
        assert name.definition is not None
        inside = name.definition.module.removeprefix(module).strip(".")
        found.setdefault(inside.partition(".")[0].strip("_") or "more", []).append(name)
    small = {subject: group for subject, group in found.items() if len(group) < 4}
    rest = [name for group in small.values() for name in group] + found.pop("more", [])
    kept = {subject: group for subject, group in sorted(found.items()) if subject not in small}
    if rest:
        kept["more"] = sorted(set(rest), key=lambda name: name.name.lower())
    return kept


def _title(text: str, line: str = "=") -> list[str]:
    return [text, line * len(text)]


def _toctree(pages: Iterable[str]) -> Iterator[str]:
    yield from [".. toctree::", "   :hidden:", ""]
    yield from (f"   {page}" for page in pages)


def _table(names: list[Name]) -> Iterator[str]:
    rows = ((f":py:obj:`{name.name} <{name.full}>`", escaped(name.summary)) for name in names)
    yield from _rows(rows, 30, 70)


def _primitives(names: list[Name]) -> Iterator[str]:
    yield "Their rules are in the :doc:`table of rules </rules>`."
    yield ""
    yield ", ".join(f"``{name.name}``" for name in names)


def _others(names: list[Name]) -> Iterator[str]:
    rows = []
    for name in names:
        target = home()[name.full]
        if target is not name and target.has_entry:
            rows.append((f"``{name.name}``", f":py:obj:`{target.full}`"))
        else:
            rows.append((f"``{name.name}``", f"``{_origin(name)}``"))
    yield from _rows(iter(rows), 40, 60)


def _origin(name: Name) -> str:
    if name.definition is None:
        module = getattr(name.value, "__module__", None) or type(name.value).__module__
        return f"{module}.{getattr(name.value, '__name__', type(name.value).__name__)}"
    return f"{name.definition.module}.{name.definition.name}"


def _rows(rows: Iterator[tuple[str, str]], *widths: int) -> Iterator[str]:
    yield from [".. list-table::", f"   :widths: {' '.join(map(str, widths))}", "   :class: names", ""]
    for first, second in rows:
        yield from [f"   * - {first}", f"     - {second}"]
