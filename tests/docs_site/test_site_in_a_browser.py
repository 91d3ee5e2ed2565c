"""The site in headless Chromium: no errors, no missing pictures, nothing wider than the page, in light and dark."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ._chromium import Chromium, chromium

#: Hundreds of pages show sources, all of one kind: one in so many is looked at.
SOURCES = 25

PROBLEMS = """(() => {
  const found = [];
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide > 0) {
    const widest = [...document.querySelectorAll("article *")].reduce((a, b) =>
      b.getBoundingClientRect().right > a.getBoundingClientRect().right ? b : a, document.body);
    found.push(`${wide} pixels too wide: ${widest.outerHTML.slice(0, 120)}`);
  }
  for (const image of document.images)
    if (image.loading !== "lazy" && !image.naturalWidth) found.push(`missing picture ${image.src}`);
  return found;
})()"""

BRIGHTNESS = """(() => {
  const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number);
  return (r + g + b) / 3;
})()"""


@pytest.fixture(scope="module")
def browser(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with chromium(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


#: The user at a desk and the one with a phone: the width of the window in pixels, and the color scheme.
LOOKS = ((1280, "light"), (1280, "dark"), (390, "dark"), (390, "light"))


def problems(page: Path, browser: Chromium, looks: Sequence[tuple[int, str]] = LOOKS) -> list[str]:
    """Returns what is wrong with a page: at both widths in both color schemes, and while it is loaded."""
    browser.look(*looks[0])
    browser.open(page.as_uri())
    found = []
    for width, scheme in looks:
        browser.look(width, scheme)
        found += [f"at {width} in {scheme}: {problem}" for problem in browser.run(PROBLEMS)]
    return found + browser.errors


def walked(site: Path) -> list[Path]:
    """Returns all pages, of those that show sources a sample."""
    pages = sorted(site.rglob("*.html"))
    sources = [page for page in pages if page.is_relative_to(site / "_modules")]
    return [page for page in pages if page not in set(sources)] + sources[::SOURCES]


def test_pages_have_no_errors_and_fit_the_window(site: Path, browser: Chromium) -> None:
    found = []
    for number, page in enumerate(walked(site)):
        # Each page is loaded as the last one was left: to lay that one out again would take as long.
        looks = LOOKS[::-1] if number % 2 else LOOKS
        found += [f"{page.relative_to(site)}: {problem}" for problem in problems(page, browser, looks)]
    assert not found, "\n".join(found)


DARK_DESKTOP = "<style>@media (prefers-color-scheme: dark) and (min-width: 500px)"
LIGHT_PHONE = "<style>@media (prefers-color-scheme: light) and (max-width: 500px)"


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("<div style='width: 600px'>wide</div>", "at 390 in dark: 2"),
        ("<div style='width: 1600px'>wide</div>", "at 1280 in light: 3"),
        (f"{DARK_DESKTOP} {{ p {{ width: 1600px }} }}</style><p>wide</p>", "at 1280 in dark: 3"),
        (f"{LIGHT_PHONE} {{ p {{ width: 600px }} }}</style><p>wide</p>", "at 390 in light: 2"),
        ("<img src='gone.svg'>", "at 1280 in light: missing picture"),
        ("<script>console.error('wrong')</script>", "wrong"),
        ("<script>f()</script>", "f is not defined"),
        ("<link rel='stylesheet' href='http://127.0.0.1:9/a.css'>", "loads http://127.0.0.1:9/a.css"),
    ],
)
@pytest.mark.parametrize("looks", [LOOKS, LOOKS[::-1]], ids=["desktop first", "phone first"])
def test_a_page_with_a_mistake_is_found(
    body: str, problem: str, looks: Sequence[tuple[int, str]], browser: Chromium, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    head = "<!doctype html><meta name='viewport' content='width=device-width'><link rel='icon' href='data:,'>"
    page.write_text(f"{head}<article style='margin: 0'><p>text</p></article>")
    assert problems(page, browser, looks) == []
    page.write_text(f"{head}<article>{body}</article>")
    assert problem in "\n".join(problems(page, browser, looks))


def test_site_follows_the_color_scheme_of_the_user(site: Path, browser: Chromium) -> None:
    browser.open((site / "index.html").as_uri())
    browser.look(1280, "light")
    assert browser.run(BRIGHTNESS) > 200
    browser.look(1280, "dark")
    assert browser.run(BRIGHTNESS) < 60


def test_a_newcomer_reaches_the_api_of_grad_in_three_clicks(site: Path, browser: Chromium) -> None:
    browser.look(390, "light")
    browser.open((site / "index.html").as_uri())
    for text in ("Start", "A first gradient, without a compiler", "grad"):
        links = f"[...document.querySelectorAll('article a')].filter(a => a.textContent.trim() === {text!r})"
        address = browser.run(f"({links}[0] || {{}}).href")
        assert address, f"no link {text!r} on {browser.run('location.href')}"
        browser.open(address)
    assert browser.run("location.href").endswith("api/lawful.autodiff.html#lawful.autodiff.grad")
    assert browser.run("document.querySelector(':target').textContent").strip().startswith("grad(")


def test_search_finds_functions_from_files(site: Path, browser: Chromium) -> None:
    browser.open(f"{(site / 'search.html').as_uri()}?q=value_and_grad")
    browser.run("""new Promise(done => {
      const look = () => document.querySelector("ul.search li") ? done() : setTimeout(look, 50);
      look();
    })""")
    assert "lawful.autodiff.value_and_grad" in browser.run("document.querySelector('ul.search').innerHTML")
    assert browser.errors == []
