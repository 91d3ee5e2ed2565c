"""The built site without a browser: its links lead somewhere, and nothing comes from the network."""

import os
import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest

_LINK = re.compile(r"<(a|link|img|script|source)\b[^>]*?\s(?:href|src)=\"([^\"]*)\"")
_ANCHOR = re.compile(r"\bid=\"([^\"]+)\"")


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, str]:
    return {path: path.read_text(encoding="utf-8") for path in sorted(site.rglob("*.html"))}


def test_links_of_the_site_lead_somewhere(site: Path, pages: dict[Path, str]) -> None:
    anchors = {str(path): {unescape(name) for name in _ANCHOR.findall(text)} for path, text in pages.items()}
    files = {str(path) for path in site.rglob("*") if path.is_file()}
    broken = set()
    for page, text in pages.items():
        for _, target in set(_LINK.findall(text)):
            name, _, anchor = unquote(unescape(target)).partition("#")
            if re.match(r"[a-z]+:", name):
                continue
            path = os.path.normpath(os.path.join(page.parent, name.partition("?")[0])) if name else str(page)
            if path not in files or (anchor and path in anchors and anchor not in anchors[path]):
                broken.add(f"{page.name}: {target}")
    assert not broken


def test_pages_of_the_site_load_nothing_from_elsewhere(pages: dict[Path, str]) -> None:
    loaded = {
        target for text in pages.values() for tag, target in _LINK.findall(text)
        if tag != "a" and re.match(r"https?:|//", target)
    }  # fmt: skip
    assert not loaded


def test_reference_lists_the_modules_with_a_sentence(site: Path) -> None:
    for page, module, sentence in (
        ("index", "lawful.autodiff", "Derivatives: forward mode"),
        ("lawful.autodiff", "lawful.autodiff.checkpoint_policies", "Policies of"),
        ("lawful.jax", "lawful.jax.numpy", "jax.numpy"),
    ):
        text = (site / f"api/{page}.html").read_text(encoding="utf-8").partition("<article")[2]
        row = text.partition(f'href="{module}.html"')[2].partition("</tr>")[0]
        assert sentence in row, f"{page} does not list {module}"
    assert "Derivatives: forward mode" in (site / "api/lawful.autodiff.html").read_text(encoding="utf-8")


def test_names_of_options_are_not_broken(site: Path) -> None:
    text = (site / "stability.html").read_text(encoding="utf-8")
    options = re.findall(r'<code class="([^"]*)"><span class="pre">(--?[a-z-]+)</span></code>', text)
    assert len(options) > 20
    assert [name for classes, name in options if "option" not in classes.split()] == []


def test_every_public_name_is_in_the_reference(pages: dict[Path, str]) -> None:
    from tools.site.reference.names import home, public_modules

    described = {unescape(name) for text in pages.values() for name in _ANCHOR.findall(text)}
    missing = [
        name.full for names in public_modules().values() for name in names
        if home()[name.full] is name and name.has_entry and name.full not in described
    ]  # fmt: skip
    assert not missing


def test_ops_and_functions_link_to_their_sources(site: Path) -> None:
    for page, name in (
        ("lawful.autodiff", "grad"),
        ("lawful.ops/elementwise", "sin"),
        ("lawful.numpy/reductions", "sum"),
    ):
        text = (site / f"api/{page}.html").read_text(encoding="utf-8")
        entry = text.partition(f'id="{page.partition("/")[0]}.{name}"')[2].partition("</dt>")[0]
        link = re.search(r'href="([^"]*_modules/[^"]*)"', entry)
        assert link, f"{page}.{name} has no link to its source"
        source, _, anchor = link[1].partition("#")
        assert f'id="{anchor}"' in (site / f"api/{page}.html").parent.joinpath(source).read_text(encoding="utf-8")


def test_public_pages_do_not_name_this_machine(site: Path, pages: dict[Path, str]) -> None:
    root = str(site.parents[2])
    assert [path.name for path, text in pages.items() if root in text] == []
