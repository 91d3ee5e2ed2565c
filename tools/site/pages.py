"""The pages of `docs/` as sources of the site, and a page for each file of the repository that they link to."""

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path, PurePosixPath

from tools.site.writing import Folder

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

#: The folder of the site for files of the repository outside of `docs/`.
FILES = PurePosixPath("files")

_FENCE = re.compile(r"^ *(`{3,}|~{3,})")
_LINK = re.compile(r"(?P<open>!?\[(?P<text>[^\[\]]*)\]\(\s*)(?P<target>[^)\s]+)(?P<close>\s*\))")
_LEXERS = {".py": "python", ".toml": "toml", ".json": "json", ".md": "markdown"}


def write_pages(folder: Folder) -> None:
    """Writes every page of `docs/`, and the files that pages link to, directly or through one another."""
    for path in sorted(DOCS.rglob("*")):
        if path.is_file() and path.suffix != ".md":
            folder.write(path.relative_to(DOCS), path.read_bytes())
    waiting = sorted(DOCS.rglob("*.md"))
    seen = set(waiting)
    while waiting:
        path = waiting.pop()
        text = page_text(path)
        for target in linked_files(path):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
        folder.write(place(path), text.encode())


def place(path: Path) -> PurePosixPath:
    """Returns where a file of the repository is among the sources of the site."""
    if path.is_relative_to(DOCS):
        return PurePosixPath(path.relative_to(DOCS))
    relative = PurePosixPath(path.relative_to(ROOT))
    return FILES / (relative if relative.suffix == ".md" else f"{relative}.md")


def page_text(path: Path) -> str:
    """Returns the page of a file: Markdown with links of the site, any other file as a block of code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".md":
        name = path.relative_to(ROOT)
        fence = "`" * max([3, *(len(found) + 1 for found in re.findall(r"`{3,}", text))])
        text = f"# `{name}`\n\n{fence}{_LEXERS.get(path.suffix, 'text')}\n{text.rstrip()}\n{fence}\n"
    else:
        text = "".join(
            part if is_code else _LINK.sub(lambda link: _site_link(link, path), part) for part, is_code in parts(text)
        )
    if path.is_relative_to(DOCS):
        return _with_notebook(text, path) if path.parent.name == "tutorials" and path.name != "index.md" else text
    return f"---\norphan: true\n---\n\n{text}"


def _with_notebook(text: str, page: Path) -> str:
    """Returns a tutorial with a link to its notebook below the title."""
    title, _, rest = text.partition("\n\n")
    return f"{title}\n\n{{download}}`This page as a notebook <{page.stem}.ipynb>`\n\n{rest}"


def linked_files(path: Path) -> Iterator[Path]:
    """Yields the files of the repository outside of `docs/` that a page links to."""
    if path.suffix != ".md":
        return
    for part, is_code in parts(path.read_text(encoding="utf-8")):
        for link in () if is_code else _LINK.finditer(part):
            target = _local(link["target"], path)
            if target is not None and target.is_file() and not target.is_relative_to(DOCS):
                yield target


def parts(text: str) -> Iterator[tuple[str, bool]]:
    """Yields the parts of a page in order, and whether each is code; a link may be on two lines."""
    for is_code, lines in groupby(_lines(text), key=lambda line: line[1]):
        yield "".join(line for line, _ in lines), is_code


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    fence = ""
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
            yield line, True
        elif mark and mark[1].startswith(fence) and line.strip() == mark[1]:
            fence = ""
            yield line, True
        else:
            yield line, bool(fence)


def _local(target: str, page: Path) -> Path | None:
    name = target.partition("#")[0]
    if not name or re.match(r"[a-z]+:", target):
        return None
    path = (page.parent / name).resolve()
    return path if path.is_relative_to(ROOT) else None


def _site_link(link: re.Match[str], page: Path) -> str:
    """Returns a link as the site has it: a folder has no page there, so that its link is its text."""
    path = _local(link["target"], page)
    if path is None or (path.is_relative_to(DOCS) and page.is_relative_to(DOCS)):
        return link[0]
    if path.is_dir():
        return link["text"]
    anchor = link["target"].partition("#")[2]
    return f"{link['open']}/{place(path)}{'#' + anchor if anchor else ''}{link['close']}"
