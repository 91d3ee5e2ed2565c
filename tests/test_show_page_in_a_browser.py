"""The page of `lawful show --html` in headless Chromium: pointing, selecting, tabs, keys, widths, color schemes."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lawful import ops
from lawful.cli._show._page import show_page
from lawful.cli._show._types import parse_types
from lawful.control_flow import scan

from .docs_site._chromium import Chromium, chromium


def product(x: Any) -> Any:
    y = ops.sin(x)
    return y * x


def repeated(x: Any) -> Any:
    total, _ = scan(lambda c, t: (c * ops.cos(t), None), x[0], x)
    return ops.tanh(x) * ops.tanh(x) * total


def long(x: Any) -> Any:
    for _ in range(2500):
        x = ops.sin(x) * 0.5
    return x


def write(path: Path, function: Callable[..., Any], types: str, names: str) -> Path:
    page = show_page(function, parse_types(types), names.split(), (0,), 2, lambda shown: None)
    path.write_text(page, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with chromium(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("page") / "product.html", product, "f64[]", "grad vmap dce")


@pytest.fixture(scope="module")
def nested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("page") / "nested.html", repeated, "f64[3]", "vmap cse jit")


def opened(browser: Chromium, page: Path, width: int = 1280, scheme: str = "light", fragment: str = "") -> None:
    browser.look(width, scheme)
    browser.open("about:blank")  # the next address may differ in the fragment alone
    browser.open(page.as_uri() + fragment)


def texts(browser: Chromium, selector: str) -> list[str]:
    found: list[str] = browser.run(f"[...document.querySelectorAll({selector!r})].map(x => x.textContent.trim())")
    return found


def details(browser: Chromium) -> dict[str, str]:
    """Returns the rows of the details, and their title under ``""``."""
    rows: dict[str, str] = browser.run("""Object.fromEntries([["", document.querySelector("#details h3").textContent],
      ...[...document.querySelectorAll("#details dt")].map(x => [x.textContent, x.nextSibling.textContent.trim()])])""")
    return rows


def mouse(browser: Chromium, selector: str, *kinds: str) -> None:
    """Moves the mouse to the middle of an element, and presses and releases it."""
    x, y = browser.run(f"""(() => {{
      const box = document.querySelector({selector!r}).getClientRects()[0];
      return [box.left + Math.min(box.width / 2, 20), box.top + box.height / 2];
    }})()""")
    for kind in kinds:
        button = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
        browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **button)


CLICK = ("mouseMoved", "mousePressed", "mouseReleased")


def key(browser: Chromium, name: str) -> None:
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key=name, code=name)


def test_pointing_at_a_variable_shows_type_line_and_uses(browser: Chromium, page: Path) -> None:
    opened(browser, page)
    mouse(browser, "#e1-0 b[data-v]", "mouseMoved")
    rows = details(browser)
    assert rows[""] == "b : f64[]"
    assert rows["made by"] == "b:f64[] = sin a"
    line = product.__code__.co_firstlineno + 1
    assert rows["line"].endswith(f"test_show_page_in_a_browser.py:{line} (product)  y = ops.sin(x)")
    assert rows["came from"] == "b:f64[] = sin a by the jvp rule of sin"
    assert rows["used by"] == "_:f64[] = mul b ad:f64[] = mul b 1.0:f64[]"
    assert texts(browser, "#s1 .def") == ["b"]
    uses = texts(browser, "#s1 .use")
    assert uses
    assert set(uses) == {"b"}
    assert texts(browser, "#s0 .src") == ["b:f64[] = sin a"]
    assert texts(browser, "#s0 .was") == ["b", "b"]
    mouse(browser, "h1", "mouseMoved")
    assert texts(browser, ".def, .use, .was, .src") == []
    assert "Point at a variable" in browser.run("document.getElementById('details').textContent")
    assert browser.errors == []


def test_selecting_an_equation_shows_its_history(browser: Chromium, page: Path) -> None:
    opened(browser, page)
    mouse(browser, "#e1-1 u", *CLICK)
    assert texts(browser, ".sel") == ["c:f64[] = cos a"]
    assert texts(browser, ".src") == ["b:f64[] = sin a"]
    assert texts(browser, "#s2 .dst") == ["c:f64[2] = cos a"]
    rows = details(browser)
    assert rows[""] == "c:f64[] = cos a"
    assert rows["came from"] == "b:f64[] = sin a by the jvp rule of sin"
    assert rows["became"] == "c:f64[2] = cos a"
    assert rows["NumPy"] == "line 3"
    (line,) = texts(browser, "#p0 .near")
    assert "cos_" in line
    mouse(browser, "#e0-0 b", "mouseMoved")  # pointing ends, the selection stays
    mouse(browser, "h1", "mouseMoved")
    assert texts(browser, "#s2 .dst") == ["c:f64[2] = cos a"]
    assert details(browser) == rows
    browser.run("document.querySelector('#details button').click()")  # to where it came from
    assert texts(browser, ".sel") == ["b:f64[] = sin a"]
    assert browser.errors == []


def test_selecting_what_a_pass_removed_says_why(browser: Chromium, page: Path) -> None:
    opened(browser, page)
    (removed,) = texts(browser, "#s3 .x")
    assert removed == "_:f64[2] = mul b a dead: no result depends on it"
    mouse(browser, "#s3 .x", *CLICK)
    assert details(browser)["became"] == "removed: dead: no result depends on it"
    assert texts(browser, ".sel") == ["_:f64[2] = mul b a"]
    assert len(texts(browser, "#s3 .x.dst")) == 1


def test_tabs_switch_by_click_and_key(browser: Chromium, page: Path) -> None:
    opened(browser, page, fragment="#e3-1")
    visible = "[...document.querySelectorAll('[role=tabpanel]')].filter(x => x.offsetHeight).map(x => x.id)"
    assert browser.run(visible) == ["p0"]
    assert ["cos_" in line for line in texts(browser, "#p0 .here")] == [True]
    mouse(browser, "#t1", *CLICK)
    assert browser.run(visible) == ["p1"]
    assert ["stablehlo.cosine" in line for line in texts(browser, "#p1 .here")] == [True]
    key(browser, "ArrowLeft")
    assert browser.run(visible) == ["p0"]
    mouse(browser, "#p0 .n[data-e='0']", *CLICK)  # a line selects its equation
    assert texts(browser, ".sel") == ["b:f64[2] = sin a"]
    assert browser.errors == []


def test_keys_move_between_equations_and_variables(browser: Chromium, page: Path) -> None:
    opened(browser, page)
    mouse(browser, "#e1-0 u", *CLICK)
    browser.run("document.querySelector('#e1-0').focus()")
    key(browser, "ArrowDown")
    assert texts(browser, ".sel") == ["c:f64[] = cos a"]
    key(browser, "ArrowRight")
    assert details(browser)[""] == "c : f64[]"
    key(browser, "ArrowRight")
    assert details(browser)[""] == "a : f64[]"
    assert details(browser)["given as"] == "the input of product"
    key(browser, "Escape")
    assert texts(browser, ".sel, .def, .use") == []


def test_programs_inside_fold_and_open_for_a_selection(browser: Chromium, nested: Path) -> None:
    opened(browser, nested)
    assert browser.run("document.querySelector('#s0 details').open")
    mouse(browser, "#s0 summary", *CLICK)
    assert not browser.run("document.querySelector('#s0 details').open")
    number = browser.run("[...document.querySelectorAll('#s0 .f .e')].map(x => x.id)")[0]
    browser.run(f"location.hash = {number!r}")
    browser.run("new Promise(done => requestAnimationFrame(done))")
    assert browser.run("document.querySelector('#s0 details').open")
    mouse(browser, "#s1 summary", *CLICK)
    assert not browser.run("document.querySelector('#s1 details').open")
    mouse(browser, f"#{number} u", *CLICK)
    assert browser.run("document.querySelector('#s1 details').open")
    assert len(texts(browser, "#s1 .f .dst")) == 1
    assert details(browser)["NumPy"].startswith("inside of line")
    assert browser.errors == []


PROBLEMS = """(() => {
  const wide = document.documentElement.scrollWidth - innerWidth;
  const found = wide > 0 ? [`${wide} pixels too wide`] : [];
  for (const code of document.querySelectorAll(".code"))
    if (code.scrollWidth > code.clientWidth) found.push(`code too wide: ${code.textContent.slice(0, 60)}`);
  const color = getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number);
  const text = getComputedStyle(document.querySelector(".e")).color.match(/\\d+/g).slice(0, 3).map(Number);
  const [back, front] = [color, text].map(c => (c[0] + c[1] + c[2]) / 3);
  if (Math.abs(back - front) < 120) found.push("no contrast");
  return [found, back > 128 ? "light" : "dark"];
})()"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_page_fits_both_widths_in_both_schemes(width: int, scheme: str, browser: Chromium, nested: Path) -> None:
    opened(browser, nested, width, scheme, "#e1-0")
    assert browser.run(PROBLEMS) == [[], scheme]
    browser.run("document.getElementById('theme').click()")
    assert browser.run(PROBLEMS) == [[], "dark" if scheme == "light" else "light"]
    assert browser.errors == []


def test_a_tap_on_a_phone_pins_a_variable(browser: Chromium, page: Path) -> None:
    opened(browser, page, 390)
    x, y = browser.run("""(() => {
      const box = document.querySelector("#e0-0 b").getBoundingClientRect();
      return [box.left + box.width / 2, box.top + box.height / 2];
    })()""")
    browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
    browser.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
    browser.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    browser.run("new Promise(done => setTimeout(done, 100))")
    browser.call("Emulation.setTouchEmulationEnabled", enabled=False)
    assert details(browser)[""] == "b : f64[]"
    assert texts(browser, "#s0 .def") == ["b"]


def test_page_without_scripts_shows_all_programs(browser: Chromium, page: Path) -> None:
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        opened(browser, page)
        root = browser.call("DOM.getDocument", depth=0)["root"]["nodeId"]
        picture = browser.call("Page.getLayoutMetrics")["cssContentSize"]
        panel = browser.call("DOM.querySelector", nodeId=root, selector="#p1 .code")["nodeId"]
        box = browser.call("DOM.getBoxModel", nodeId=panel)["model"]
        titles = browser.call("DOM.querySelectorAll", nodeId=root, selector="#backends h3")["nodeIds"]
        heights = [browser.call("DOM.getBoxModel", nodeId=title)["model"]["height"] for title in titles]
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)
    assert box["height"] > 300  # StableHLO is shown, beside the program of NumPy
    assert len(heights) == 2
    assert min(heights) > 0  # each program has its backend's name
    assert picture["width"] <= 1280


def test_page_of_5000_equations_opens(browser: Chromium, tmp_path: Path) -> None:
    page = write(tmp_path / "long.html", long, "f64[]", "cse")
    assert page.stat().st_size < 5_000_000
    opened(browser, page)
    assert browser.run("document.querySelectorAll('#s0 .e').length") == 5_000
    browser.run("location.hash = 'e0-4000'")
    browser.run("new Promise(done => setTimeout(done, 300))")
    place = "document.getElementById('e{}-4000').getBoundingClientRect().top"
    for stage in (0, 1):
        assert 0 < browser.run(place.format(stage)) < 900
    assert browser.errors == []
