"""The tutorials as notebooks, which are run from top to bottom, and draw the pictures of their pages.

A notebook is made from its page at build time, so that a tutorial stands once. Prompts and printed results are taken
away, and links become their text, since a notebook may lie anywhere.
"""

import hashlib
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from tools.site.pages import DOCS, ROOT, parts
from tools.site.writing import Folder

TUTORIALS = DOCS / "tutorials"
#: Seconds that a cell may take: many times as long as any takes on a machine without other work.
_LIMIT = 300

_FENCED = re.compile(r"^(?P<mark>`{3,})(?P<info>[^\n]*)\n(?P<body>.*?)^(?P=mark)$", re.MULTILINE | re.DOTALL)
_PICTURE = re.compile(r"^!\[[^\]]*\]\([^)]*\)\n?", re.MULTILINE)
_LINK = re.compile(r"\[([^\[\]]*)\]\([^)]*\)")
_ROLE = re.compile(r"\{py:\w+\}`([^`<]*?)(?:\s*<[^`>]*>)?`")
_DRAWN = re.compile(r"savefig\(\"([^\"]+)\"")


def tutorials() -> list[Path]:
    """Returns the pages that are notebooks too."""
    return sorted(path for path in TUTORIALS.glob("*.md") if path.name != "index.md")


def write_notebooks(folder: Folder, cache: Path) -> None:
    """Writes each tutorial's notebook beside its page, with the pictures that it draws when it runs.

    Args:
      folder: of the sources of the site.
      cache: a folder which keeps pictures as long as neither the page nor any package has changed.

    Raises:
      nbclient.exceptions.CellExecutionError: a cell fails.
    """
    pages = tutorials()
    with ThreadPoolExecutor(max_workers=2) as pool:
        drawn = pool.map(lambda page: _pictures(page, cache), pages)
        for page, pictures in zip(pages, drawn, strict=True):
            relative = page.relative_to(DOCS)
            folder.write(relative.with_suffix(".ipynb"), nbformat.writes(notebook(page)).encode())
            for picture in pictures:
                folder.write(relative.parent / picture.name, picture.read_bytes())


def notebook(page: Path) -> NotebookNode:
    """Returns the notebook of a page, not run."""
    cells = list(_cells(page.read_text(encoding="utf-8")))
    for number, cell in enumerate(cells):
        cell["id"] = f"{page.stem}-{number}"  # random by default
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    made: NotebookNode = nbformat.v4.new_notebook(cells=cells, metadata=kernel)
    nbformat.validate(made)
    return made


def _cells(text: str) -> Iterator[NotebookNode]:
    for part, is_code in parts(text):
        fenced = _FENCED.search(part) if is_code else None
        if fenced and fenced["info"].strip() == "python":
            yield nbformat.v4.new_code_cell(without_prompts(fenced["body"]).rstrip("\n"))
        else:
            shown = part if is_code else _LINK.sub(r"\1", _ROLE.sub(r"`\1`", _PICTURE.sub("", part)))
            if shown.strip():
                yield nbformat.v4.new_markdown_cell(shown.strip("\n"))


def without_prompts(code: str) -> str:
    """Returns the code of a session without what it prints; other code as it is."""
    lines = code.splitlines()
    if not any(line.startswith(">>> ") for line in lines):
        return code
    return "\n".join(line[4:] for line in lines if line.startswith((">>> ", "... ")) or line == "...")


def run_notebook(page: Path, folder: Path) -> None:
    """Runs the notebook of a page in a folder, with a kernel of its own."""
    # A kernel warns that it speaks with this process over the loopback address.
    quiet = ["--IPKernelApp.log_level=ERROR"]
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook(page), timeout=_LIMIT, resources=resources, extra_arguments=quiet).execute()


def _pictures(page: Path, cache: Path) -> Iterable[Path]:
    """Returns the pictures that a page draws, from the cache if nothing has changed."""
    names = _DRAWN.findall(page.read_text(encoding="utf-8"))
    kept = cache / f"{page.stem}-{_version(page)}"
    if not kept.exists():
        for old in cache.glob(f"{page.stem}-*"):
            shutil.rmtree(old)
        with tempfile.TemporaryDirectory() as name:
            run_notebook(page, Path(name))
            kept.mkdir(parents=True)
            for picture in names:
                shutil.copy(Path(name) / picture, kept)
    return [kept / name for name in names]


def _version(page: Path) -> str:
    """Returns a hash of a page and of the sources of all packages."""
    digest = hashlib.sha256(page.read_bytes())
    for path in sorted(ROOT.glob("packages/*/src/**/*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        for chosen in map(Path, sys.argv[1:]):
            run_notebook(chosen.resolve(), Path(directory))
            print(f"{chosen}: its notebook runs")
