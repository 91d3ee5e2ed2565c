"""Tables of collectives and of growth, in a terminal and in Markdown, and the figure of growth."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.table import Table

STAGES = ("trace", "lower", "compile")
TEXTS = ("StableHLO", "HLO")


def _collective_rows(found: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    for name, systems in found.items():
        kinds = sorted({kind for counts in systems.values() for kind in counts})
        for kind in kinds:
            numbers = [systems[system].get(kind, (0, 0)) for system in ("lawful", "jax")]
            yield name, kind, *[str(each[i]) for i in (0, 1) for each in numbers]


_COLLECTIVES = ("program", "collective", "lawful", "jax", "lawful, bytes", "jax, bytes")


def collectives(found: Mapping[str, Mapping[str, Any]]) -> Table:
    """Returns the text table of the collectives of programs."""
    shown = Table(*_COLLECTIVES, title="collectives in the compiled program")
    for row in _collective_rows(found):
        shown.add_row(*row)
    return shown


def collectives_markdown(found: Mapping[str, Mapping[str, Any]]) -> str:
    """Returns the table of the collectives of programs in Markdown."""
    return _markdown(_COLLECTIVES, 2, _collective_rows(found))


def _growth_head(results: Mapping[int, Mapping[str, Any]]) -> tuple[str, ...]:
    return ("devices", *[f"{n:,}" for n in results])


def _growth_rows(results: Mapping[int, Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    for system in ("lawful", "jax"):
        for stage in STAGES:
            yield f"{system}: {stage}, ms", *[f"{found[system][stage] * 1e3:.1f}" for found in results.values()]
        for text in TEXTS:
            yield f"{system}: {text}, kB", *[f"{found[system][text] / 1e3:.1f}" for found in results.values()]


def growth(found: Mapping[str, Mapping[int, Mapping[str, Any]]]) -> Iterator[Table]:
    """Yields the text table of each program."""
    for name, results in found.items():
        shown = Table(*_growth_head(results), title=f"growth with partitions: {name}")
        for row in _growth_rows(results):
            shown.add_row(*row)
        yield shown


def growth_markdown(found: Mapping[str, Mapping[int, Mapping[str, Any]]]) -> str:
    """Returns the tables of all programs in Markdown."""
    texts = [
        f"The gradient of the program *{name}*:\n\n{_markdown(_growth_head(each), 1, _growth_rows(each))}"
        for name, each in found.items()
    ]
    return "\n".join(texts)


def _markdown(head: tuple[str, ...], names: int, rows: Iterator[tuple[str, ...]]) -> str:
    """Returns a table whose first columns are names, and whose others are numbers."""
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * names + "---:|" * (len(head) - names)]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def write(page: Path, part: str, text: str) -> None:
    """Puts a text between the two marks of its part on a page."""
    mark = f"<!-- measured by python -m benchmarks.devices: {part} -->\n"
    before, found, rest = page.read_text(encoding="utf-8").partition(mark)
    if not found:
        raise ValueError(f"benchmarks.devices: expected a place for {part} on {page}: put {mark.strip()} there twice")
    _, _, after = rest.partition(mark)
    page.write_text(f"{before}{mark}{text}{mark}{after}", encoding="utf-8")


def draw(found: Mapping[str, Mapping[int, Mapping[str, Any]]], path: Path) -> None:
    """Draws the time of each stage over the number of devices."""
    plt = _pyplot()
    figure, axes = plt.subplots(1, len(found), figsize=(4.5 * len(found), 3.5), sharey=True, squeeze=False)
    for ax, (name, results) in zip(axes[0], found.items(), strict=True):
        for system, line in (("lawful", "-"), ("jax", "--")):
            for stage, colour in zip(STAGES, ("tab:blue", "tab:orange", "tab:green"), strict=True):
                times = [each[system][stage] * 1e3 for each in results.values()]
                ax.loglog([*results], times, line, color=colour, marker=".", label=f"{system}: {stage}", base=2)
        ax.set(title=name, xlabel="devices", ylabel="processor time, ms", yscale="log")
    axes[0][-1].legend(fontsize="x-small")
    _save(figure, path)


def draw_model(page: Path, path: Path) -> None:
    """Draws what the models on the page predict: it runs the page's blocks of Python, and calls its ``models``."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in re.findall(
        r"^```python\n(?!>>>)(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    ):
        exec(block, namespace)
    figure, ax = _pyplot().subplots(figsize=(6, 3.5))
    counts = [2**i for i in range(1, 14)]
    for name, model in namespace["models"].items():
        ax.semilogx(counts, [model(n) for n in counts], marker=".", base=2, label=name.replace("_", " "))
    ax.set(xlabel="devices", ylabel="share of a step that computes", ylim=(0.0, 1.0))
    ax.legend(fontsize="small")
    _save(figure, path)


def _pyplot() -> Any:
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "lawful"
    from matplotlib import pyplot

    return pyplot


def _save(figure: Any, path: Path) -> None:
    """Saves a figure, the same one as the same bytes."""
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    # matplotlib ends lines with spaces.
    path.write_text("".join(f"{line.rstrip()}\n" for line in path.read_text().splitlines()))
    _pyplot().close(figure)
