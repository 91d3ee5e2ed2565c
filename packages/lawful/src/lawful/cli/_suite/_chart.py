"""A chart of the throughput of a run, in programs and calls per second, as an SVG."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from lawful.cli._suite._results import Sample

_WIDTH: Final = 720
_HEIGHT: Final = 170
_LEFT: Final = 44
_BOTTOM: Final = 22
_TOP: Final = 10
_INTERVALS: Final = 40
_SHORTEST: Final = 1.0


def rates(samples: Sequence[Sample]) -> list[tuple[float, float, float]]:
    """Returns the throughput in intervals: the middle in seconds, programs and calls per second.

    >>> rates([Sample(1.0, 10, 20), Sample(2.0, 15, 20)])
    [(0.5, 10.0, 20.0), (1.5, 5.0, 0.0)]
    """
    if not samples:
        return []
    shortest = max(_SHORTEST, samples[-1].seconds / _INTERVALS)
    samples_used = [Sample(0.0, 0, 0)]
    for sample in samples:  # a rate over a short interval is noise
        if sample.seconds - samples_used[-1].seconds >= shortest:
            samples_used.append(sample)
    return [
        ((a.seconds + b.seconds) / 2, (b.programs - a.programs) / span, (b.calls - a.calls) / span)
        for a, b in pairwise(samples_used)
        if (span := b.seconds - a.seconds)
    ]


def throughput_chart(samples: Sequence[Sample]) -> str:
    """Returns the chart; empty if the run was too short."""
    points = rates(samples)
    if len(points) < 2:
        return "<p class='none'>The run was too short for a chart.</p>"
    end = samples[-1].seconds
    top = _rounded_up(max(max(programs, calls) for _, programs, calls in points))
    lines = "".join(
        f"<polyline class='{name}' points='{' '.join(_point(p[0], p[column], end, top) for p in points)}'/>"
        for column, name in ((1, "programs"), (2, "calls"))
    )
    return (
        f"<svg viewBox='0 0 {_WIDTH} {_HEIGHT}' role='img' aria-label='programs and calls a second'>"
        f"{_grid(end, top)}{lines}</svg>"
        "<p class='legend'><span class='programs'>programs a second</span>"
        "<span class='calls'>calls of primitives a second</span></p>"
    )


def _point(seconds: float, rate: float, end: float, top: float) -> str:
    x = _LEFT + (_WIDTH - _LEFT - 8) * seconds / end
    y = _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - rate / top)
    return f"{x:.1f},{y:.1f}"


def _grid(end: float, top: float) -> str:
    parts = []
    for part in range(5):
        y = float(_point(0, top * part / 4, end, top).split(",")[1])
        parts.append(f"<line x1='{_LEFT}' x2='{_WIDTH - 8}' y1='{y}' y2='{y}'/>")
        parts.append(f"<text x='{_LEFT - 6}' y='{y + 4}' text-anchor='end'>{top * part / 4:g}</text>")
    for part in range(1, 5):
        x = float(_point(end * part / 4, 0, end, top).split(",")[0])
        anchor = "end" if part == 4 else "middle"
        parts.append(f"<text x='{x}' y='{_HEIGHT - 4}' text-anchor='{anchor}'>{_time(end * part / 4)}</text>")
    return "".join(parts)


def _time(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.3g} min"


def _rounded_up(rate: float) -> float:
    """Returns a round number that is at least ``rate``."""
    scale = 1.0
    while scale * 8 < rate:
        scale *= 10
    return next(scale * step for step in (0.4, 0.8, 2, 4, 8) if scale * step >= rate)
