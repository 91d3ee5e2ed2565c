"""The picture of `peak_memory`: the bytes that are alive at each step, by kind."""

from __future__ import annotations

import os
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

from lawful.core import ArgumentTypeError, ArgumentValueError, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lawful.autodiff._analysis.memory import PeakMemory

#: The kinds from the bottom up, with colors that people with colour blindness tell apart (Okabe and Ito).
_KINDS: Final = {
    "argument": "#999999", "constant": "#56B4E9", "residual": "#D55E00", "result": "#009E73", "value": "#0072B2",
}  # fmt: skip


def picture(memory: PeakMemory, path: str | Path | None) -> Any:
    """Returns the figure, and saves it if there is a path.

    Raises:
      ArgumentTypeError: the path is none.
      ArgumentValueError: matplotlib is not installed, or cannot write such a file there.
    """
    if not isinstance(path, str | os.PathLike | None):
        raise ArgumentTypeError(
            f"plot: expected a path or None, got {shorten(path)} of type {type(path).__name__}; give the name of the "
            "file, such as 'memory.png'"
        )
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    except ImportError:
        raise ArgumentValueError("plot: expected matplotlib to be installed; run pip install matplotlib") from None
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    if path is not None:
        _require_writable(os.fspath(path), figure.canvas.get_supported_filetypes())
    steps = range(len(memory.timeline))
    units = (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")
    scale, unit = next(((size, name) for size, name in units if memory.peak >= size), units[-1])
    changes = {kind: [0] * (len(steps) + 1) for kind in _KINDS}
    for value in memory.values:
        changes[value.kind][value.first] += value.bytes
        changes[value.kind][value.last + 1] -= value.bytes
    layers = {kind: [alive / scale for alive in accumulate(change[:-1])] for kind, change in changes.items()}
    shown = {f"{kind}s": layer for kind, layer in layers.items() if any(layer)}
    held = [sum(layer[step] for layer in layers.values()) for step in steps]
    within = [total / scale - part for total, part in zip(memory.timeline, held, strict=True)]
    if any(x > 1e-9 for x in within):
        shown["within loops and calls"] = within
    colors = [_KINDS.get(name.removesuffix("s"), "#F0E442") for name in shown]
    axes = figure.add_subplot()
    if shown:
        axes.stackplot([*steps, len(steps)], *[[*layer, layer[-1]] for layer in shown.values()],
                       labels=[*shown], colors=colors, step="post")  # fmt: skip
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    top = memory.peak / scale
    axes.plot([memory.peak_step + 0.5], [top], marker="v", color="black", markersize=7, clip_on=False)
    axes.annotate(f"peak {top:.3g} {unit}", (memory.peak_step + 0.5, top), (0, 8), textcoords="offset points",
                  ha="center")  # fmt: skip
    if memory.backward is not None:
        axes.axvline(memory.backward, color="black", linestyle="--", linewidth=1)
        axes.text(memory.backward, top * 1.19, " backward pass", ha="left", va="top")
        axes.text(memory.backward, top * 1.19, "forward pass ", ha="right", va="top")
    axes.set(xlim=(0, len(steps)), ylim=(0, top * 1.2 or 1), xlabel="equation", ylabel=f"alive, {unit}",
             title=f"Memory of {memory.name}")  # fmt: skip
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if path is not None:
        figure.savefig(path)
    return figure


def _require_writable(path: str, suffixes: Mapping[str, str]) -> None:
    """Raises ArgumentValueError for the path of no file of a known format in a folder that exists."""
    folder, suffix = os.path.dirname(path), os.path.splitext(path)[1]
    if suffix and suffix[1:].lower() not in suffixes:
        raise ArgumentValueError(
            f"plot: expected a file of one of the formats {', '.join(suffixes)}, got {shorten(path)}; end it with .png"
        )
    if not path or os.path.isdir(path) or not os.path.isdir(folder or "."):
        raise ArgumentValueError(
            f"plot: expected the path of a file in a folder that exists, got {shorten(path)}; make the folder, or give "
            "the name of a file in another one, such as 'memory.png'"
        )
