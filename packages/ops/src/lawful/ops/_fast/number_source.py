"""The source of a Python function of numbers, in which each line is in the innermost branch that needs its number.

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
    """``target = expression`` of the operands."""

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
    """``targets = first``, and while the first target is true, the lines and ``targets = updated``.

    The lines use no variables but the targets.
    """

    targets: Sequence[str]
    first: Sequence[str]
    lines: Sequence[Line]
    updated: Sequence[str]


Line = Assignment | Choice | Loop
#: A path of nested branches, from the outermost one inwards: the line numbers of choices, each with whether its
#: condition holds.
_Branch = tuple[tuple[int, bool], ...]


def block_of(lines: Sequence[Line], results: Iterable[str]) -> list[str]:
    """Returns the source of the lines that results need."""
    branches = _lines_by_branch(lines, results)
    out: list[str] = []

    def write(branch: _Branch, indent: str) -> None:
        for i in reversed(branches.get(branch, ())):
            line = lines[i]
            if isinstance(line, Assignment):
                out.append(f"{indent}{line.target} = {line.expression}")
            elif isinstance(line, Loop):
                out.extend([indent + text for text in _repeated(line)])
            else:
                write_choice(line, (*branch, (i, True)), (*branch, (i, False)), indent)

    def write_choice(line: Choice, yes: _Branch, no: _Branch, indent: str) -> None:
        if yes not in branches and no not in branches:
            out.append(f"{indent}{line.target} = {line.yes} if {line.condition} else {line.no}")
            return
        for head, branch, value in ((f"if {line.condition}:", yes, line.yes), ("else:", no, line.no)):
            out.append(indent + head)
            write(branch, indent + "    ")
            out.append(f"{indent}    {line.target} = {value}")

    write((), "")
    return out


def _lines_by_branch(lines: Sequence[Line], results: Iterable[str]) -> dict[_Branch, list[int]]:
    """Returns the lines that results need, by the innermost branch that contains all of their uses; the last first."""
    used: dict[str, _Branch] = dict.fromkeys(results, ())
    branches: dict[_Branch, list[int]] = {}
    for i in reversed(range(len(lines))):
        line = lines[i]
        uses = [used[name] for name in _targets(line) if name in used]
        if not uses:
            continue
        branch = _common(uses)
        branches.setdefault(branch, []).append(i)
        for name, needed in _needed(line, branch, i):
            used[name] = _common([used.get(name, needed), needed])
    return branches


def _targets(line: Line) -> Sequence[str]:
    return line.targets if isinstance(line, Loop) else [line.target]


def _needed(line: Line, branch: _Branch, number: int) -> Iterator[tuple[str, _Branch]]:
    """Yields the operands of a line, literals included, with the branches that need them."""
    if isinstance(line, Choice):
        yield line.condition, branch
        yield line.yes, (*branch, (number, True))
        yield line.no, (*branch, (number, False))
        return
    for name in line.operands if isinstance(line, Assignment) else line.first:
        yield name, branch


def _common(branches: Sequence[_Branch]) -> _Branch:
    """Returns the innermost branch that contains all of these."""
    first, last = min(branches), max(branches)
    size = 0
    while size < len(first) and size < len(last) and first[size] == last[size]:
        size += 1
    return first[:size]


def _repeated(line: Loop) -> Iterator[str]:
    yield f"{', '.join(line.targets)} = {', '.join(line.first)}"
    # An unchanged variable needs no assignment.
    changed = [(name, x) for name, x in zip(line.targets, line.updated, strict=True) if name != x]
    targets, updated = zip(*changed, strict=True)
    yield f"while {line.targets[0]}:"
    for text in [*block_of(line.lines, updated), f"{', '.join(targets)} = {', '.join(updated)}"]:
        yield f"    {text}"
