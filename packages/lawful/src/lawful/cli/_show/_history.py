"""The history of a program: what each equation of a stage came from, and what each pass removed and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from lawful import tree
from lawful.cli._show._provenance import Origin, numbered, user_line
from lawful.cli._show._stages import Function, Shown
from lawful.core import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, SourceLine, Var, jaxprs_in_params
from lawful.staging import argument_names, dce_jaxpr

#: How an equation relates to the stage before: it is of the function itself, it comes from an equation, the stage made
#: it of none, or it is in a program that was traced before for another equation, so that nobody knows.
OWN, FOUND, MADE, UNKNOWN = "own", "found", "made", "unknown"


@dataclass(frozen=True, slots=True)
class Equation:
    """An equation of a stage.

    Attributes:
      eqn: the equation.
      jaxpr: the one that it is in.
      origin: the number of the equation of the stage before that it came from; None if there is none.
      relation: ``OWN``, ``FOUND``, ``MADE`` or ``UNKNOWN``.
      rules: those that made it of its origin, the first one first.
      line: the user's line.
    """

    eqn: JaxprEqn
    jaxpr: Jaxpr
    origin: int | None
    relation: str
    rules: tuple[str, ...]
    line: SourceLine | None


@dataclass(frozen=True, slots=True)
class Removed:
    """An equation that a pass removed.

    Attributes:
      number: its number in the stage before.
      anchor: the equation of this stage that it stood beside.
      after: whether it stood after it.
      reason: why, in words.
      instead: the variable, of this stage, that stands for its result.
    """

    number: int
    anchor: int
    after: bool
    reason: str
    instead: Var | None = None


@dataclass(eq=False)
class Stage:
    """A stage with its history.

    Attributes:
      number: of the stage.
      shown: what is printed of it.
      equations: all equations, those inside of jaxprs before the equation around them.
      inputs: for each input, its description, and the number of the input of the stage before that it is.
      removed: what a pass removed.
    """

    number: int
    shown: Shown
    before: Stage | None
    equations: list[Equation] = field(default_factory=list)
    inputs: list[tuple[str, int | None]] = field(default_factory=list)
    removed: list[Removed] = field(default_factory=list)

    @property
    def closed(self) -> ClosedJaxpr:
        """The program."""
        return self.shown.program.closed

    @cached_property
    def around(self) -> dict[int, list[int]]:
        """The equations that hold a jaxpr, by its ``id``."""
        found: dict[int, list[int]] = {}
        for number, equation in enumerate(self.equations):
            for inner in jaxprs_in_params(equation.eqn.params):
                found.setdefault(id(inner), []).append(number)
        return found

    @cached_property
    def became(self) -> dict[int, list[int]]:
        """The equations that came from each equation of the stage before."""
        found: dict[int, list[int]] = {}
        for number, equation in enumerate(self.equations):
            if equation.origin is not None:
                found.setdefault(equation.origin, []).append(number)
        return found

    def inside(self, number: int) -> set[int]:
        """Returns the numbers of an equation and of all that are inside of it."""
        found = {number}
        pending = [*jaxprs_in_params(self.equations[number].eqn.params)]
        seen: set[int] = set()
        while pending:
            jaxpr = pending.pop()
            if id(jaxpr) not in seen:
                seen.add(id(jaxpr))
                found.update(self.members.get(id(jaxpr), ()))  # it may have none
                pending += [inner for eqn in jaxpr.eqns for inner in jaxprs_in_params(eqn.params)]
        return found

    @cached_property
    def members(self) -> dict[int, list[int]]:
        """The numbers of the equations of a jaxpr, in order, by its ``id``."""
        found: dict[int, list[int]] = {}
        for number, equation in enumerate(self.equations):
            found.setdefault(id(equation.jaxpr), []).append(number)
        return found


def history(shown: Iterable[Shown], function: Function) -> list[Stage]:
    """Returns the stages with their history.

    Args:
      shown: the stages that are jaxprs, each of the linked program of the stage before.
      function: the user's.
    """
    found: list[Stage] = []
    for number, one in enumerate(shown):
        stage = Stage(number, one, found[-1] if found else None)
        stage.equations = [_equation(stage, jaxpr, position) for jaxpr, position in numbered(stage.closed)]
        _check(stage)
        stage.inputs = _inputs(stage, function)
        if stage.shown.is_pass:
            stage.removed = _removed(stage)
        found.append(stage)
    return found


def _equation(stage: Stage, jaxpr: Jaxpr, position: int) -> Equation:
    eqn = jaxpr.eqns[position]
    source = eqn.source
    if stage.before is None:
        return Equation(eqn, jaxpr, None, OWN, () if source is None else source.rules, source)
    if not isinstance(source, Origin):
        return Equation(eqn, jaxpr, None, MADE, (), None)
    line = user_line(source)
    if source.stage != stage.before.number:  # it was traced for an earlier stage
        return Equation(eqn, jaxpr, None, UNKNOWN, (), line)
    return Equation(eqn, jaxpr, source.number, FOUND, source.rules, line)


def _check(stage: Stage) -> None:
    """Marks equations inside of an equation as unknown if what they came from is not inside of its origin.

    A rule may apply a function of `jit`, which is traced once, for the first equation that needs it.
    """
    if stage.before is None:
        return
    inside: dict[int, set[int]] = {}
    # Those around an equation have larger numbers.
    for number in range(len(stage.equations) - 1, -1, -1):
        equation = stage.equations[number]
        if equation.origin is None:
            continue
        for outer in stage.around.get(id(equation.jaxpr), ()):
            origin = stage.equations[outer].origin
            if origin is not None and origin not in inside:
                inside[origin] = stage.before.inside(origin)
            belongs = stage.equations[outer].relation == MADE if origin is None else equation.origin in inside[origin]
            if not belongs:
                stage.equations[number] = replace(equation, origin=None, relation=UNKNOWN, rules=())


def _inputs(stage: Stage, function: Function) -> list[tuple[str, int | None]]:
    """Returns the description of each input, and which input of the stage before it is."""
    before, name = stage.before, stage.shown.name
    count = len(stage.closed.jaxpr.invars)
    if before is None:
        structure = tree.structure((stage.shown.program.types, {}))
        return [(f"the argument {each}", None) for each in argument_names(function, structure)]
    given = len(before.closed.jaxpr.invars)
    title = before.shown.title
    kind = "a batch of the input" if name == "vmap" else "the input"
    found: list[tuple[str, int | None]] = [(f"{kind} of {title}", i) for i in range(min(given, count))]
    for i in range(count - given):
        if name == "vjp":
            found.append((f"the cotangent of result {i} of {title}", None))
        else:
            found.append((f"the tangent of the input of {title}", i))
    return found


def dead(closed: ClosedJaxpr) -> set[int]:
    """Returns the numbers, among all equations of a linked program, of the outermost ones that no result depends on."""
    live = dce_jaxpr(closed, (True,) * len(closed.jaxpr.outvars)).jaxpr
    kept = {source.number for eqn in live.eqns if isinstance(source := eqn.source, Origin)}
    return {s.number for eqn in closed.jaxpr.eqns if isinstance(s := eqn.source, Origin) and s.number not in kept}


def _removed(stage: Stage) -> list[Removed]:
    """Returns what a pass removed, in the order in which it stood."""
    before = stage.before
    assert before is not None
    gone = [number for number in range(len(before.equations)) if number not in stage.became]
    if not gone:
        return []
    missing = set(gone)
    reasons = _Reasons(stage)
    found = []
    for number in gone:
        equation = before.equations[number]
        around = before.around.get(id(equation.jaxpr), ())
        if around and all(i in missing for i in around):
            continue  # with the equation that it is in
        anchor = _anchor(stage, before, number, around)
        if anchor is not None:
            found.append(Removed(number, *anchor, *reasons.of(number)))
    return found


def _anchor(stage: Stage, before: Stage, number: int, around: Sequence[int]) -> tuple[int, bool] | None:
    """Returns the equation that a removed one stood beside, and whether it stood after it."""
    siblings = before.members[id(before.equations[number].jaxpr)]
    position = number - siblings[0]
    for previous in reversed(siblings[:position]):
        if previous in stage.became:
            return stage.became[previous][-1], True
    for following in siblings[position + 1 :]:
        if following in stage.became:
            return stage.became[following][0], False
    for outer in around:
        if outer in stage.became:
            return stage.became[outer][0], True
    return None


class _Reasons:
    """Why a pass removed equations.

    A pass that keeps variables tells what stands for a result: an equation that came from another one has an operand in
    the place of the other's.
    """

    def __init__(self, stage: Stage) -> None:
        before = stage.before
        assert before is not None
        self._name = stage.shown.name
        self._before = before
        self._instead: dict[Var, Atom] = {}
        for equation in stage.equations:
            if equation.origin is not None:
                self._compare(before.equations[equation.origin].eqn.invars, equation.eqn.invars)
        self._compare(before.closed.jaxpr.outvars, stage.closed.jaxpr.outvars)

    def _compare(self, old: Sequence[Atom], new: Sequence[Atom]) -> None:
        if len(old) == len(new):
            self._instead.update(
                (x, y) for x, y in zip(old, new, strict=True) if type(x) is Var and x is not y
            )  # fmt: skip

    @cached_property
    def _dead(self) -> set[int]:
        linked = self._before.shown.program.linked
        return set() if linked is None else dead(linked)

    def of(self, number: int) -> tuple[str, Var | None]:
        """Returns the reason, and the variable that stands for the result."""
        if self._name == "inline":
            return "the call is replaced by the equations inside of it", None
        if self._name == "dce":
            return "dead: no result depends on it", None
        outvars = self._before.equations[number].eqn.outvars
        stands = [self._instead[var] for var in outvars if var in self._instead]
        if stands and isinstance(stands[0], Literal):
            return f"folded: its result is {stands[0].val}", None
        if stands and isinstance(stands[0], Var):
            same = "common subexpression: the same as" if self._name == "cse" else "replaced by"
            return same, stands[0]
        if self._name == "cse":
            return "common subexpression: an equation before it computes the same", None
        return "dead: no result depends on it" if number in self._dead else "the pass does not tell why", None
