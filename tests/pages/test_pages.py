"""The pages of documentation: their links lead somewhere, and lists of packages name every package."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("packages/*/README.md"), *ROOT.glob("examples/**/*.md")]
)
LINK = re.compile(r"\]\(\s*([^)\s]+)\s*\)")
#: Pictures that the code of a page draws when the site is built.
DRAWN = re.compile(r"savefig\(\"([^\"]+)\"")
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(`+)(?:(?!\n\n).)+?\1", re.DOTALL)


def anchors(page: Path) -> set[str]:
    """Returns the anchors of a page's headings, made as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", FENCED.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(page: Path) -> Iterator[str]:
    for target in LINK.findall(SPAN.sub("", FENCED.sub("", page.read_text()))):
        if not target.startswith("https://"):
            yield target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_have_no_broken_links(page: Path) -> None:
    broken = []
    drawn = DRAWN.findall(page.read_text())
    for target in links(page):
        name, _, anchor = target.partition("#")
        if name in drawn:
            continue
        file = page.parent / name if name else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert broken == []


def test_links_and_anchors_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    text = "# A `law`, twice\n[a](b.md#c) [d](https://e.org) `x[1](w)`\n[`f`](g.md)\n"
    page.write_text(f"{text}```python\n# no heading\nf[g](h)\n```\n")
    assert list(links(page)) == ["b.md#c", "g.md"]
    assert anchors(page) == {"a-law-twice"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_install_nothing_from_an_index(page: Path) -> None:
    """The packages are on no package index: a page may not tell a reader to install one by its name alone."""
    commands = re.findall(r"pip install (?!.*(?:--find-links|git\+)).*\blawful\b.*", page.read_text())
    assert commands == []


def test_readme_lists_every_layer() -> None:
    section = (ROOT / "README.md").read_text().split("## The layers\n")[1].split("\n## ")[0]
    listed = re.findall(r"^ {4}(\w+) ", section, re.MULTILINE)
    assert sorted(name.replace("_", "-") for name in listed) == sorted(p.name for p in ROOT.glob("packages/*"))


def test_contributing_lists_every_module() -> None:
    table = (ROOT / "CONTRIBUTING.md").read_text().split("## The layers\n")[1].split("\n## ")[0]
    rows = [line.split("|")[1:3] for line in table.splitlines() if line.startswith("| ")][1:]
    listed = {(package.strip(), module) for package, modules in rows for module in re.findall(r"`([\w.]+)`", modules)}
    expected = set()
    for path in ROOT.glob("packages/*/pyproject.toml"):
        names = tomllib.loads(path.read_text())["tool"]["uv"]["build-backend"]["module-name"]
        expected |= {(path.parent.name, name) for name in ([names] if isinstance(names, str) else names)}
    assert listed == expected
