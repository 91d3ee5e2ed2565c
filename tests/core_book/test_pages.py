"""The book on the core quotes the source as it is, and what it asks to read stays short."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def book() -> ModuleType:
    """The tool that writes the book."""
    spec = importlib.util.spec_from_file_location("core_book", ROOT / "tools/core_book.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["core_book"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGES = sorted(path.name for path in (ROOT / "docs/core").glob("*.md"))


@pytest.mark.parametrize("page", PAGES)
def test_page_quotes_the_source(book: ModuleType, page: str) -> None:
    text = (ROOT / "docs/core" / page).read_text()
    assert text == book.written(text), "run `uv run python tools/core_book.py --write`, and read the page again"


@pytest.mark.parametrize("page", PAGES)
def test_page_is_linked_from_the_index(page: str) -> None:
    assert page == "index.md" or f"]({page})" in (ROOT / "docs/core/index.md").read_text()


def test_source_that_is_missing_is_an_error(book: ModuleType) -> None:
    with pytest.raises(LookupError, match=r"lawful\.autodiff\.NoTrace: no file"):
        book.quoted("source", "lawful.autodiff.NoTrace")
    with pytest.raises(LookupError, match="several files define it"):
        book.quoted("source", "lawful.autodiff._replay")


def test_quotation_that_is_stale_is_written_again(book: ModuleType) -> None:
    page = "Before.\n\n<!-- source: lawful.core.Rules -->\n\n```python no-run\nclass Rules: ...\n```\n\nAfter.\n"
    written = book.written(page)
    assert written != page
    assert written == book.written(written)
    assert "class Rules(dict" in written
    assert written.endswith("```\n\nAfter.\n")


# The size of what a reader reads.

MOST_LINES = 2_500
MOST_LINES_OF_A_FILE = 300
MOST_LINES_OF_AN_INTERPRETER = 60

#: Longer files, by a name that they define: the length that was agreed on.
LONGER_FILES: dict[str, int] = {}
#: The definitions that are an interpreter each; a trace that records is the base too.
INTERPRETERS = [
    ("lawful.core.EvalTrace",),
    ("lawful.core.eval_jaxpr",),
    ("lawful.autodiff.JVPTrace",),
    ("lawful.autodiff.LinearizeTrace",),
    ("lawful.autodiff.run_backwards",),
    ("lawful.batching.BatchTrace",),
    ("lawful.staging.Recorder", "lawful.staging.JaxprTrace"),
    ("lawful.staging.PartialTrace",),
    ("lawful.staging.JitFunction.__call__",),
]


def test_reading_list_is_short(book: ModuleType) -> None:
    lines = {path: len(path.read_text().splitlines()) for path in book.reading_list()}
    assert len(lines) >= 10
    more = sum(lines.values()) - MOST_LINES
    assert more <= 0, (
        f"{more} lines too many: shorten, or move what is no interpreter to a file that is not on the list"
    )
    agreed = {ROOT / book.find(name).path: most for name, most in LONGER_FILES.items()}
    too_long = {path: count for path, count in lines.items() if count > agreed.get(path, MOST_LINES_OF_A_FILE)}
    assert not too_long


@pytest.mark.parametrize("names", INTERPRETERS, ids=lambda names: names[-1])
def test_interpreter_fits_on_a_screen(book: ModuleType, names: tuple[str, ...]) -> None:
    more = sum(book.find(name).lines for name in names) - MOST_LINES_OF_AN_INTERPRETER
    assert more <= 0, (
        f"{', '.join(names)}: {more} lines too many; move what is not interpretation to a function beside it"
    )
