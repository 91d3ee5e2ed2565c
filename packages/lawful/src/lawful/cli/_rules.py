"""`lawful rules`: which rules each primitive has, cannot have, or lacks."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterable, Sequence
from importlib.metadata import entry_points
from typing import Final, Literal

from lawful.cli._imports import import_all
from lawful.cli._suite._sources import did_you_mean
from lawful.cli._usage import FAILS, HOLDS, UsageError, counted
from lawful.core import Primitive, primitives_by_name

Mark = Literal["defined", "absent", "derived", "missing", ""]

#: The slots in which a primitive is expected to have a rule, in the order of the columns.
SLOTS: Final = ("impl", "abstract_eval", "jvp", "transpose", "batch", "lowering")
#: The slots derived from others, unless a call-like primitive defines a rule.
DERIVED: Final = ("linearize", "partial_eval")

_SIGNS: Final[dict[Mark, str]] = {"defined": "●", "absent": "–", "derived": "○", "missing": "✗", "": ""}
_KEY: Final = (
    "● defined   – declared absent, with a reason   ○ derived from other rules   ✗ missing   blank: not needed"
)


def slots_of(primitives: Iterable[Primitive]) -> list[str]:
    """Returns the names of all slots in which some primitive has a rule, also slots of other packages."""
    found = {_slot(name) for primitive in primitives for name in (*primitive.rules, *primitive.absent)}
    return [*SLOTS, *DERIVED, *sorted(found - {*SLOTS, *DERIVED})]


def _slot(name: str) -> str:
    return name.partition(":")[0]  # lowering:cuda is a lowering


def mark(primitive: Primitive, slot: str) -> Mark:
    """Returns what a primitive has in a slot.

    >>> from lawful import ops
    >>> mark(ops.sin_p, "jvp"), mark(ops.sin_p, "transpose"), mark(ops.sin_p, "linearize")
    ('defined', 'absent', 'derived')
    """
    if slot in map(_slot, primitive.rules):
        return "defined"
    if slot in primitive.absent:
        return "absent"
    if slot in DERIVED:
        return "derived"
    if slot not in SLOTS:
        return ""  # a slot of another package, or of call-like primitives only
    declaration = primitive.declaration
    if declaration is not None and slot == "transpose" and not declaration.linear:
        return ""  # linear in no operand
    return "missing"


def rules(arguments: Namespace) -> int:
    """Prints the matrix, and returns the exit status."""
    _import_installed()
    import_all(arguments.modules)
    primitives = _chosen(arguments.primitives)
    slots = slots_of(primitives)
    matrix = {p.name: {slot: mark(p, slot) for slot in slots} for p in primitives}
    missing = {name: marks for name, marks in matrix.items() if "missing" in marks.values()}
    if arguments.missing:
        primitives = [p for p in primitives if p.name in missing]
        matrix = missing
    if arguments.json:
        document = {
            "slots": slots,
            "primitives": {p.name: {"rules": matrix[p.name], "absent": p.absent} for p in primitives},
            "missing": sum(list(marks.values()).count("missing") for marks in matrix.values()),
        }
        print(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        _print(matrix, slots)
        if arguments.primitives:
            _print_reasons(primitives)
    return FAILS if arguments.missing and missing else HOLDS


def _import_installed() -> None:
    """Imports every installed module that its package registers in the entry-point group ``lawful.primitives``."""
    for point in entry_points(group="lawful.primitives"):
        point.load()


def _chosen(names: Sequence[str]) -> list[Primitive]:
    for name in names:
        if name not in primitives_by_name:
            raise UsageError(f"no primitive '{name}'{did_you_mean(name, list(primitives_by_name))}")
    return [primitive for name, primitive in sorted(primitives_by_name.items()) if not names or name in names]


def _print(matrix: dict[str, dict[str, Mark]], slots: Sequence[str]) -> None:
    """Prints a table as plain text, to a terminal or a pipe."""
    if not matrix:
        print("no rule is missing")
        return
    width = max(map(len, (*matrix, "primitive")))
    print(f"{'primitive':{width}}  {'  '.join(slots)}".rstrip())
    for name, marks in matrix.items():
        cells = [f"{_SIGNS[marks[slot]]:^{len(slot)}}" for slot in slots]
        print(f"{name:{width}}  {'  '.join(cells)}".rstrip())
    missing = sum(list(marks.values()).count("missing") for marks in matrix.values())
    print(f"\n{counted(len(matrix), 'primitive')}, {counted(missing, 'missing rule')}\n{_KEY}")


def _print_reasons(primitives: Sequence[Primitive]) -> None:
    for primitive in primitives:
        for slot, reason in sorted(primitive.absent.items()):
            print(f"{primitive.name} has no {slot}: {reason}")
        for slot in SLOTS:
            if mark(primitive, slot) == "missing":
                print(f"{primitive.name} misses {slot}: define it with {primitive.name}_p.def_{slot}")
