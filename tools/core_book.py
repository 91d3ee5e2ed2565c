"""Write into `docs/core/` the source that its pages quote.

uv run python tools/core_book.py --write
uv run python tools/core_book.py          # says whether the pages are up to date

A page quotes a class, a function, a method or a module's variable by a comment of one line. The fenced block below it
is written by this tool:

    <!-- source: lawful.autodiff.JVPTrace -->

A name begins with a package or a module; what it names is looked for in all files below that. So `lawful.autodiff` need
not export it, and a file may move within the package. Where several files have the name, write the module too. In the
same way `files` lists the files in which names are defined, one line each:

    <!-- files: lawful.core.Primitive lawful.core.Trace -->
"""

import argparse
import ast
import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BOOK = ROOT / "docs/core"
MARKER = re.compile(r"<!-- (?P<kind>source|files): (?P<names>[^>]+) -->")


@dataclass(frozen=True)
class Source:
    """A definition: the file that has it, from the root of the repository, and its text."""

    path: str
    text: str

    @property
    def lines(self) -> int:
        """The number of its lines."""
        return len(self.text.splitlines())


def find(name: str) -> Source:
    """Returns the definition of a name such as ``lawful.staging.JitFunction.__call__``; raises LookupError if none."""
    parts = name.split(".")
    for count in range(len(parts) - 1, 0, -1):  # the longest module first
        files = files_of(".".join(parts[:count]))
        found = [source for file in files if (source := _definition(file, parts[count:])) is not None]
        if len(found) > 1:
            raise LookupError(f"{name}: several files define it, {', '.join(each.path for each in found)}")
        if found:
            return found[0]
        if files:
            break
    raise LookupError(f"{name}: no file of packages/ defines it")


@cache
def files_of(module: str) -> tuple[Path, ...]:
    """Returns the files of a module, or of a package with all that is inside."""
    path = module.replace(".", "/")
    files = ROOT.glob(f"packages/*/src/{path}.py"), ROOT.glob(f"packages/*/src/{path}/**/*.py")
    return tuple(sorted(file for each in files for file in each))


@cache
def _tree(file: Path) -> tuple[list[str], ast.Module]:
    text = file.read_text()
    return text.splitlines(), ast.parse(text)


def _definition(file: Path, names: list[str]) -> Source | None:
    lines, node = _tree(file)
    found: ast.stmt | None = None
    body = node.body
    for name in names:
        found = next((each for each in body if name in _names(each)), None)
        if found is None:
            return None
        body = getattr(found, "body", [])
    assert found is not None
    assert found.end_lineno is not None
    decorators = getattr(found, "decorator_list", [])
    first = min([found.lineno, *[each.lineno for each in decorators]])
    text = textwrap.dedent("\n".join(lines[first - 1 : found.end_lineno]))
    return Source(file.relative_to(ROOT).as_posix(), text)


def _names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def quoted(kind: str, names: str) -> list[str]:
    """Returns the lines that stand below a marker."""
    if kind == "files":
        return [f"- `{path}`" for path in dict.fromkeys(find(name).path for name in names.split())]
    source = find(names)
    return ["```python no-run", f"# {source.path}", *source.text.splitlines(), "```"]


def written(page: str) -> str:
    """Returns the text of a page with what it quotes as it is in the source."""
    lines = page.splitlines()
    found: list[str] = []
    i = 0
    while i < len(lines):
        found.append(lines[i])
        marker = MARKER.fullmatch(lines[i])
        i += 1
        if marker:
            i = _end_of_quotation(lines, i)
            found += ["", *quoted(marker["kind"], marker["names"].strip())]
    return "\n".join([*found, ""])


def _end_of_quotation(lines: list[str], i: int) -> int:
    """Returns the number of the first line after the quotation that begins at a line, if one does."""
    start = i + 1 if i < len(lines) and not lines[i] else i
    if start < len(lines) and lines[start].startswith("```python no-run"):
        return lines.index("```", start) + 1
    if start < len(lines) and lines[start].startswith("- `packages/"):
        while start < len(lines) and lines[start].startswith("- `packages/"):
            start += 1
        return start
    return i


def reading_list() -> Iterator[Path]:
    """Yields the files that the book asks to read."""
    for line in (BOOK / "index.md").read_text().splitlines():
        marker = MARKER.fullmatch(line)
        if marker and marker["kind"] == "files":
            for name in marker["names"].split():
                yield ROOT / find(name).path


def main() -> int:
    parser = argparse.ArgumentParser(description="What the pages of docs/core quote.")
    parser.add_argument("--write", action="store_true", help="write the quotations")
    write = parser.parse_args().write
    stale = []
    for path in sorted(BOOK.glob("*.md")):
        before = path.read_text()
        after = written(before)
        if before != after:
            stale.append(path.name)
            if write:
                path.write_text(after)
    if write:
        return 0
    print(f"not up to date: {', '.join(stale)}; run with --write" if stale else "up to date")
    return int(bool(stale))


if __name__ == "__main__":
    sys.exit(main())
