"""The sources that the site is built from: pages with links of the site, entries of names, notebooks."""

import ast
import re
from pathlib import Path

import pytest

pytest.importorskip("nbformat", reason="not installed: uv run --group docs pytest tests/docs_site")
pytest.importorskip("sphinx", reason="not installed: uv run --group docs pytest tests/docs_site")

from tools.site.__main__ import build
from tools.site.notebooks import notebook, tutorials, without_prompts
from tools.site.pages import DOCS, page_text, parts, place
from tools.site.reference.docstrings import escaped, restructured
from tools.site.reference.entries import entry
from tools.site.reference.names import Name, home, public_modules
from tools.site.writing import Folder

from .conftest import ROOT


def name(full: str) -> Name:
    return next(n for n in public_modules()[full.rpartition(".")[0]] if n.full == full)


def test_links_out_of_docs_are_links_of_the_site() -> None:
    text = page_text(DOCS / "examples.md")
    assert "](/files/examples/digits.py.md)" in text
    assert "](../" not in text
    readme = page_text(ROOT / "README.md")
    assert readme.startswith("---\norphan: true\n---\n")
    assert "](/start.md)" in readme
    assert "](/files/CONTRIBUTING.md)" in readme
    assert str(place(ROOT / "README.md")) == "files/README.md"


def test_parts_of_a_page_tell_code_from_text() -> None:
    text = "a\n````python\n```\nb\n```\n````\nc\n"
    assert list(parts(text)) == [("a\n", False), ("````python\n```\nb\n```\n````\n", True), ("c\n", False)]


def test_folder_keeps_times_and_deletes_what_is_old(tmp_path: Path) -> None:
    for content in (b"1", b"2"):
        folder = Folder(tmp_path)
        kept = folder.write("kept", b"the same")
        folder.write("changed", content)
        if content == b"1":
            folder.write("old", b"")
            time = kept.stat().st_mtime_ns
        folder.sweep()
    assert kept.stat().st_mtime_ns == time
    assert sorted(path.name for path in tmp_path.iterdir()) == ["changed", "kept"]
    with pytest.raises(FileExistsError, match="kept is written twice"):
        folder.write("kept", b"")


def test_docstring_keeps_stars_and_bars_and_sets_laws_off() -> None:
    assert escaped("|a| of ``*args``s, `Array`s") == r"\|a\| of ``*args``\ s, `Array`\ s"
    lines = restructured("Adds.\n\nArgs:\n  x: an array.\n\nLaw: it commutes. Source: ``numpy.add``.\n\n>>> 1 | 2\n3")
    assert ":param x: an array." in lines
    assert lines[lines.index("**Law:** it commutes.") + 2] == "**Source:** ``numpy.add``."
    assert ">>> 1 | 2" in lines


def test_entry_of_a_function_has_signature_and_docstring() -> None:
    lines = entry(name("lawful.autodiff.grad"))
    assert lines[1].startswith(".. py:function:: grad(fun: Callable[..., Any], argnums: Argnums = 0,")
    assert any(line.strip().startswith(":raises ArgumentTypeError:") for line in lines)
    assert any(line.strip().startswith(">>> grad(") for line in lines)


def test_entry_of_an_op_that_an_assignment_makes() -> None:
    sine = name("lawful.ops.sin")
    assert sine.definition is not None
    assert sine.definition.module.startswith("lawful.ops._elementwise")
    assert entry(sine)[1].startswith(".. py:function:: sin(")


@pytest.mark.parametrize(
    ("full", "described"),
    [
        ("lawful.jax.numpy.absolute", "lawful.numpy.abs"),
        ("lawful.jax.grad", "lawful.autodiff.grad"),
        ("lawful.special.erf", "lawful.ops.erf"),
        ("lawful.jax.scipy.special.erf", "lawful.ops.erf"),
        ("lawful.special.stats.norm.cdf", "lawful.special.stats.norm.cdf"),
    ],
)
def test_object_of_several_names_is_described_once(full: str, described: str) -> None:
    assert home()[full].full == described


@pytest.mark.parametrize("page", tutorials(), ids=lambda page: page.stem)
def test_notebook_has_the_code_of_its_page(page: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    cells = [cell["source"] for cell in notebook(page)["cells"] if cell["cell_type"] == "code"]
    assert cells == [without_prompts(block).rstrip("\n") for block in blocks]
    assert len(cells) > 4
    for cell in cells:
        ast.parse(cell)


def test_notebook_of_a_session_has_no_prompts() -> None:
    assert without_prompts(">>> def f():\n...     return 1\n...\n>>> f()\n1\n") == "def f():\n    return 1\n\nf()"
    assert without_prompts("x = 1\n") == "x = 1\n"


@pytest.mark.filterwarnings("ignore:'myst_parser:DeprecationWarning")  # it reads what Sphinx 11 will not have
@pytest.mark.filterwarnings("ignore:'myst_parser:PendingDeprecationWarning")
@pytest.mark.parametrize(
    ("planted", "warning"),
    [
        ("[a page](gone.md)", "cross-reference target not found: 'gone.md'"),
        ("[a heading](#gone)", "cross-reference target not found: 'gone'"),
        ("{py:func}`lawful.autodiff.gone`", "py:func reference target not found: lawful.autodiff.gone"),
        ("![a picture](gone.png)", "image file not readable: gone.png"),
        ("# A heading two levels below\n\n### It", "Non-consecutive header level increase"),
        ("{gone}`text`", 'Unknown interpreted text role "gone"'),
    ],
    ids=["page", "heading", "name", "picture", "level", "role"],
)
def test_build_fails_at_a_planted_warning(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], planted: str, warning: str
) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "index.md").write_text(f"# A page\n\n{planted}\n")
    assert build(sources, tmp_path, jobs=1) == 1  # JAX may be in this process, which must not be forked then
    assert warning in capfd.readouterr().err
