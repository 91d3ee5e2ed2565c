"""The source of a Python function of numbers, in which each line is in the innermost block that needs its number.

A number that only one case of a choice needs is computed in that case alone. Unneeded numbers are not computed.

>>> lines = [Assignment("x1", ["x0"], "x0 * 3.0"), Choice("x2", "x0", "x1", "0.0")]
>>> for line in block_of(lines, ["x2"]):
...     print(line)
if x0:
    x1 = x0 * 3.0
    x2 = x1
else:
    x2 = 0.0
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lawful.core import record


@record
class Assignment:
    """``target = expression``, in which the operands occur."""

    target: str
    operands: Sequence[str]
    expression: str


@record
class Choice:
    """``target = yes if condition else no``, of variables and literals."""

    target: str
    condition: str
    yes: str
    no: str


@record
class Loop:
    """``targets = first``, and while the first of the targets is true some lines, and ``targets = following``.

    The lines need nothing but the targets.
    """

    targets: Sequence[str]
    first: Sequence[str]
    lines: Sequence[Line]
    following: Sequence[str]


Line = Assignment | Choice | Loop
#: A case of a choice in a case of a choice and so on, from the outermost one inwards: the numbers of the lines, each
#: with whether its condition holds.
_Place = tuple[tuple[int, bool], ...]


def block_of(lines: Sequence[Line], results: Iterable[str]) -> list[str]:
    """Returns the source of the lines that results need."""
    places = _places(lines, results)
    out: list[str] = []

    def write(place: _Place, indent: str) -> None:
        for i in reversed(places.get(place, ())):
            line = lines[i]
            if isinstance(line, Assignment):
                out.append(f"{indent}{line.target} = {line.expression}")
            elif isinstance(line, Loop):
                out.extend([indent + text for text in _repeated(line)])
            else:
                write_choice(line, (*place, (i, True)), (*place, (i, False)), indent)

    def write_choice(line: Choice, yes: _Place, no: _Place, indent: str) -> None:
        if yes not in places and no not in places:
            out.append(f"{indent}{line.target} = {line.yes} if {line.condition} else {line.no}")
            return
        for head, place, value in ((f"if {line.condition}:", yes, line.yes), ("else:", no, line.no)):
            out.append(indent + head)
            write(place, indent + "    ")
            out.append(f"{indent}    {line.target} = {value}")

    write((), "")
    return out


def _places(lines: Sequence[Line], results: Iterable[str]) -> dict[_Place, list[int]]:
    """Returns the lines that results need, by the innermost case in which is all that uses them; the last one first."""
    used: dict[str, _Place] = dict.fromkeys(results, ())
    places: dict[_Place, list[int]] = {}
    for i in reversed(range(len(lines))):
        line = lines[i]
        uses = [used[name] for name in _targets(line) if name in used]
        if not uses:
            continue
        place = _common(uses)
        places.setdefault(place, []).append(i)
        for name, needed in _needed(line, place, i):
            used[name] = _common([used.get(name, needed), needed])
    return places


def _targets(line: Line) -> Sequence[str]:
    return line.targets if isinstance(line, Loop) else [line.target]


def _needed(line: Line, place: _Place, number: int) -> Iterator[tuple[str, _Place]]:
    """Yields the operands of a line, literals included, with the blocks that need them."""
    if isinstance(line, Choice):
        yield line.condition, place
        yield line.yes, (*place, (number, True))
        yield line.no, (*place, (number, False))
        return
    for name in line.operands if isinstance(line, Assignment) else line.first:
        yield name, place


def _common(places: Sequence[_Place]) -> _Place:
    """Returns the innermost case that all of these are in."""
    first, last = min(places), max(places)
    size = 0
    while size < len(first) and size < len(last) and first[size] == last[size]:
        size += 1
    return first[:size]


def _repeated(line: Loop) -> Iterator[str]:
    yield f"{', '.join(line.targets)} = {', '.join(line.first)}"
    # An unchanged variable needs no assignment.
    changed = [(name, x) for name, x in zip(line.targets, line.following, strict=True) if name != x]
    targets, following = zip(*changed, strict=True)
    yield f"while {line.targets[0]}:"
    for text in [*block_of(line.lines, following), f"{', '.join(targets)} = {', '.join(following)}"]:
        yield f"    {text}"
