"""The collectives of a compiled program, read from its optimized HLO text."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

KINDS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")
_LINE = re.compile(rf"^\s*(?:ROOT )?%?[\w.-]+ = (?P<type>.*?) (?P<kind>{'|'.join(KINDS)})(?:-start)?\(")
_ARRAY = re.compile(r"\b(pred|[a-z]+\d+)\w*\[([\d,]*)\]")
_BITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Collectives:
    """How many collectives of one kind a program has, and the bytes of their results on each device together.

    One in the body of a loop counts once.
    """

    count: int
    bytes: int


def collectives(text: str) -> dict[str, Collectives]:
    """Returns the collectives of a program in HLO text, by kind; a kind that does not occur is left out.

    >>> collectives("  %a = f32[8,4]{1,0} all-reduce(f32[8,4]{1,0} %b), channel_id=1, replica_groups=[1,8]<=[8]")
    {'all-reduce': Collectives(count=1, bytes=128)}
    """
    found: dict[str, Collectives] = {}
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is not None:
            known = found.get(match["kind"], Collectives(0, 0))
            found[match["kind"]] = Collectives(known.count + 1, known.bytes + _bytes(match["type"]))
    return found


def _bytes(types: str) -> int:
    """Returns the bytes of the arrays of a type in HLO text, which may be a tuple."""
    total = 0
    for dtype, shape in _ARRAY.findall(types):
        bits = _BITS.search(dtype)
        size = 1 if bits is None else max(1, int(bits[0]) // 8)
        total += size * math.prod(map(int, filter(None, shape.split(","))))
    return total
