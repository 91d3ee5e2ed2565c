"""`lawful show --html`: one page that needs nothing else, and what is wrong with a call of it."""

import json
import re
import sys
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NoReturn

import pytest

from lawful.cli import main
from lawful.staging import get_backend

MODULE = """
from lawful import ops
from lawful.control_flow import scan
from lawful.staging import jit


def product(x):
    y = ops.sin(x)
    return y * x


def repeated(x):
    return ops.tanh(x) * ops.tanh(x)


def loop(x):
    '''A loop: <b>bold</b>.'''
    return scan(lambda c, t: (c * ops.cos(t), None), x[0], x)[0]


def branching(x):
    return x if x > 0 else -x


@jit
def pair(x):
    return ops.sin(x), ops.cos(x)


def halves(x):
    return pair(pair(x)[0])


def long(x):
    for _ in range(5000):
        x = ops.sin(x)
    return x
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pages.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "pages", raising=False)


def page_of(function: str, *arguments: str) -> str:
    assert main(["show", f"pages:{function}", *arguments, "--html", "page.html"]) == 0
    return Path("page.html").read_text()


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


class Text(HTMLParser):
    """The text of a page without styles and scripts, and the targets of its references."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text = ""
        self.links: list[str] = []
        self._hidden = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "action", "data", "srcset")]
        self._hidden += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style")
        self.text += "\n" if tag in ("div", "summary", "h2", "p") else ""

    def handle_data(self, data: str) -> None:
        self.text += "" if self._hidden else data


def test_show_page_is_one_file_and_its_text_has_the_programs(capsys: pytest.CaptureFixture[str]) -> None:
    page = page_of("repeated", "--args", "f64[3]", "--grad", "--cse")
    assert re.fullmatch(r"page: page.html \(3 stages, \d+ kB\)\n", capsys.readouterr().out)
    shown = Text(page)
    assert all(link.startswith("#") or link == "data:," for link in shown.links)
    assert "http" not in page
    assert "@import" not in page
    assert not re.search(r"\$\w", page), "a placeholder is left"
    assert (
        "{ lambda ; a:f64[3]. let\n    b:f64[3] = tanh a\n    c:f64[3] = tanh a\n    d:f64[3] = mul b c\n" in shown.text
    )
    assert re.search(r"\n    \w:f64\[3\] = tanh a common subexpression: the same as b\n", shown.text)
    assert re.search(r"<del>\w:f64\[3\] = tanh a</del>", page)
    assert "def program(v0):" in shown.text


def test_show_page_data_tells_origins_rules_and_lines() -> None:
    data = data_of(page_of("product", "--args", "f64[]", "--grad"))
    base, grad = data["stages"]
    assert base["from"] == [-3, -3]
    assert grad["from"] == [0, 0, 1, 1, 1, 0, 0]
    rules = [data["strings"][i] for i in grad["rules"]]
    assert rules[1] == "jvp rule of sin"
    assert rules[3] == "jvp rule of mul, then transpose rule of mul"
    assert [data["lines"][i] for i in base["line"]] == [
        ["pages.py", 8, "product", "y = ops.sin(x)"], ["pages.py", 9, "product", "return y * x"]
    ]  # fmt: skip
    assert data["tabs"][0] == {"title": "NumPy", "stage": 1, "known": True, "gone": data["tabs"][0]["gone"]}


def test_show_page_lines_of_backends_have_their_equations() -> None:
    page = page_of("product", "--args", "f64[]", "--grad")
    found = {unescape(text).strip(): number for number, text in re.findall(r"<div class=n data-e=(\d+)>([^<]*)<", page)}
    (cosine,) = [number for line, number in found.items() if re.search(r"= cos_\d+\(", line)]
    assert cosine == "1"
    data = data_of(page)
    (dead,) = data["tabs"][0]["gone"].items()  # the product itself, which no gradient needs
    assert (dead[0], data["strings"][dead[1]]) == ("2", "dead: no result depends on it")


def test_show_page_tabs_are_of_the_programs_that_stages_lower() -> None:
    data = data_of(page_of("product", "--args", "f64[]", "--numpy", "--jvp", "--numpy", "--dce"))
    assert [(tab["title"], tab["stage"]) for tab in data["tabs"]] == [
        ("NumPy", 0), ("NumPy", 1), ("NumPy", 2), ("StableHLO", 2)
    ]  # fmt: skip


def test_show_page_programs_inside_fold(capsys: pytest.CaptureFixture[str]) -> None:
    page = page_of("loop", "--args", "f64[3]", "--grad", "--json")
    assert json.loads(capsys.readouterr().out)["page"] == "page.html"
    assert "<details class=f open><summary>jaxpr: 2 equations</summary>" in page
    assert "cos" in Text(page).text


def test_show_page_without_the_xla_backend_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(point: object) -> NoReturn:
        raise ImportError("lawful.xla_backend")

    get_backend.cache_clear()
    get_backend("numpy")
    registered = {"numpy": get_backend("numpy")}
    get_backend.cache_clear()
    monkeypatch.setattr("lawful.staging._backends._registered", registered)
    monkeypatch.setattr("importlib.metadata.EntryPoint.load", load)
    shown = Text(page_of("product", "--args", "f64[]")).text
    get_backend.cache_clear()
    assert "pip install lawful-xla-backend" in shown
    assert "def program(v0):" in shown


def test_show_page_variables_are_bound_once() -> None:
    """After dce the program of one call has a part of the other's equations, with the same variables."""
    page = page_of("halves", "--args", "f64[]", "--dce")
    bound = re.findall(r"<b data-v=(\d+)>", page[page.index("id=s1") : page.index('id="backends"')])
    assert page.count("<details class=f") == 3  # one shared program before, and two after
    assert len(bound) == len(set(bound)) == 9


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["pages:product", "--args", "f64[]", "--html", "."], "--html .: the page cannot be written: Is a directory"),
        (["pages:product", "--args", "f64[]", "--html", "pages.py/page.html"], "the page cannot be written"),
        (["pages:branching", "--args", "f64[]", "--html", "page.html"], 'pages.py", line 22, in branching'),
        (["pages:product", "--args", "f64[3]", "--grad", "--argnums", "2", "--html", "page.html"], "has 1 argument"),
    ],
)
def test_show_page_errors_are_clear(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert not Path("page.html").exists()


def test_show_page_of_a_long_program_is_small() -> None:
    page = page_of("long", "--args", "f64[]", "--jvp")
    equations = 5_000 + 15_000
    assert page.count("<div class=e ") == equations
    assert len(page) < 350 * equations  # with the lines of both backends
