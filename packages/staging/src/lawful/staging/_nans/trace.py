"""``BlameTrace``: evaluation, one equation after the other, that notes what makes NaNs and infinities.

A value carries where its NaN and its infinity were made. Calls, branches and loops are expanded: a marker at the start
of each jaxpr inside says when it is entered, so that a branch and an iteration have numbers.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from operator import attrgetter
from typing import Any, Final

import numpy as np

from lawful.core import (
    ClosedJaxpr,
    JaxprEqn,
    Primitive,
    SourceLine,
    Trace,
    Tracer,
    at_rule,
    eval_trace,
    get_aval,
    holds_jaxprs,
    is_array,
    is_inexact,
    map_jaxprs,
    register_array_type,
    set_current,
    source_override,
    user_source,
)
from lawful.staging._nans.blame import Blame, first_index, snapshot, special_masks

KINDS: Final = ("NaN", "infinity")
#: What a value was that is no argument and that no equation made.
CONSTANT: Final = "a constant, or a result of NumPy's own operations"


#: What made the NaN, and what made the infinity, of a value.
Made = tuple[Blame | None, Blame | None]


class BlameTracer(Tracer):
    """A value with what made its NaN and what made its infinity; each None where there is none.

    It converts to a number or an array as the value does: what NumPy makes of that carries nothing.
    """

    __slots__ = ("aval", "made", "source", "value")

    def __init__(self, trace: Trace, value: Any, made: Made, source: SourceLine | None) -> None:
        self._trace = trace
        self.value = value
        self.made = made
        self.source = source
        self.aval = get_aval(value)

    def parent_value(self) -> Any:
        return self.value

    def __float__(self) -> float:
        return float(self.value)

    def __complex__(self) -> complex:
        return complex(self.value)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return np.array(self.value, *args, **kwargs)

    def item(self) -> Any:
        return np.asarray(self.value).item()

    def tolist(self) -> Any:
        return np.asarray(self.value).tolist()

    def tobytes(self, order: Any = "C") -> Any:
        return np.asarray(self.value).tobytes(order)


register_array_type(BlameTracer, aval=attrgetter("aval"))

#: At the start of the jaxprs of an equation that is being expanded: the jaxpr in a position is entered.
enter_p = Primitive("enter_jaxpr", multiple_results=True, pure_rules=True)
enter_p.def_impl(lambda position: [])
enter_p.def_abstract_eval(lambda position: [])
for _slot in ("jvp", "transpose", "batch", "lowering"):
    enter_p.declare_absent(_slot, "it has no operands, and occurs only in programs that blame_nan evaluates")


class CannotRepeatError(Exception):
    """A program calls a Python function that must not be called again."""


class _Frame:
    """An equation that is being expanded: which of its jaxprs is running, and how often each was entered."""

    def __init__(self, primitive: Primitive, params: dict[str, Any]) -> None:
        self.primitive = primitive
        self.params = params
        self.holds_jaxprs = holds_jaxprs(params)
        self.source = user_source()
        self.entries: Counter[int] = Counter()
        self.position = 0

    def __str__(self) -> str:
        name = self.params.get("name")
        title = self.primitive.name if not isinstance(name, str) else f"{self.primitive.name} of {name}"
        at = "" if self.source is None else f" at {self.source}"
        return f"{self._part()}{title}{at}"

    def _part(self) -> str:
        count = self.entries[self.position]
        if not count:  # the expansion runs programs that were derived from the jaxpr
            return ""
        if "branches" in self.params:
            return f"branch {self.position} of "
        length = self.params.get("length")
        if isinstance(length, int):
            back = f" (slice {length - count}: it runs backwards)" if self.params.get("reverse") else ""
            return f"iteration {count - 1} of {length}{back} of "
        if "body_jaxpr" in self.params or count > 1:
            part = "the predicate of " if self._is_predicate() else ""
            return f"{part}iteration {count - 1} of "
        return ""

    def _is_predicate(self) -> bool:
        jaxprs = [name for name, value in self.params.items() if isinstance(value, ClosedJaxpr)]
        return len(jaxprs) > self.position and jaxprs[self.position] == "cond_jaxpr"


class BlameTrace(Trace):
    """Evaluates each primitive, and notes which one makes a NaN or an infinity.

    Args:
      repeats: whether what it evaluates has been evaluated before. Then it calls no function for its effect.

    Attributes:
      first: the first blame of each kind, whatever becomes of the value.
    """

    __slots__ = ("_frames", "_marked", "_order", "first", "repeats")

    def __init__(self, repeats: bool = False) -> None:
        super().__init__(eval_trace, "blame_nan")
        self.evaluates_constants = False  # functions must not call NumPy past the primitives
        self.repeats = repeats
        self.first: list[Blame | None] = [None, None]
        self._frames: list[_Frame] = []
        #: By id, the position of each blame in the order in which they were found, and the blame, which stays alive.
        self._order: dict[int, tuple[int, Blame]] = {}
        #: By id and position the jaxpr, which stays alive, and its form with a marker.
        self._marked: dict[tuple[int, int], tuple[ClosedJaxpr, ClosedJaxpr]] = {}

    def new_input(self, value: Any, what: str) -> Any:
        """Returns the tracer of an array that is given; anything else as it is."""
        if not is_array(value) or isinstance(value, Tracer):
            return value
        return BlameTracer(self, snapshot(value), self.given(value, what), None)

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        if primitive is enter_p:
            if self._frames:
                self._frames[-1].position = params["position"]
                self._frames[-1].entries[params["position"]] += 1
            return []
        expand = primitive.rules.get("expand")
        if expand is not None and ("stage" in primitive.rules or holds_jaxprs(params)):
            return self._expand(primitive, args, params)
        values = [x.value if isinstance(x, BlameTracer) and x._trace is self else x for x in args]
        if self.repeats and primitive.effectful:
            if primitive.rule("abstract_eval")(*map(get_aval, values), **params):
                raise CannotRepeatError(primitive.name)
            return []
        with np.errstate(all="ignore"):
            out = eval_trace.process_primitive(primitive, values, params)
        return self.judge(primitive, args, params, out)

    def _expand(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        self._frames.append(frame := _Frame(primitive, params))
        positions = itertools.count()
        # A call in a program may keep a Python function, such as the pullback by a user's rule, whose lines count.
        source = source_override.source if "stage" in primitive.rules else None
        of_rule = at_rule(source) if source is not None and source is frame.source and source.rules else nullcontext()
        try:
            with set_current(self), of_rule:
                return primitive.rules["expand"](*args, **map_jaxprs(lambda x: self._mark(x, next(positions)), params))
        finally:
            self._frames.pop()

    def _mark(self, closed: ClosedJaxpr, position: int) -> ClosedJaxpr:
        """Returns a jaxpr whose first equation is a marker with the position."""
        key = id(closed), position
        if key not in self._marked:
            marker = JaxprEqn(enter_p, [], [], {"position": position})
            jaxpr = closed.jaxpr.replace(eqns=[marker, *closed.eqns])
            self._marked[key] = closed, ClosedJaxpr(jaxpr, closed.consts)
        return self._marked[key][1]

    def judge(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any], out: Any) -> Any:
        """Returns the results of an equation as tracers, with what made their NaNs and infinities."""
        equation = _Equation(self, primitive, args, params)
        results = []
        for i, value in enumerate(out if primitive.multiple_results else [out]):
            made: Made = (None, None)
            if not is_inexact(np.asarray(value).dtype):  # a predicate or an index that a NaN decided may choose a NaN
                made = equation.oldest(0), None
            elif not np.isfinite(value).all():
                masks = special_masks(value)
                made = equation.made(0, masks[0], value, i), equation.made(1, masks[1], value, i)
            results.append(BlameTracer(self, value, made, equation.source))
        return results if primitive.multiple_results else results[0]

    def new_blame(self, kind: int, blame: Blame) -> Blame:
        """Notes that an equation made a NaN or an infinity."""
        self._order[id(blame)] = len(self._order), blame
        self.first[kind] = self.first[kind] or blame
        return blame

    def within(self) -> tuple[str, ...]:
        """Returns the calls, branches and iterations that are running, the outermost first.

        An expansion that runs programs derived from the jaxprs of its equation enters none of them. Its own loops and
        branches, such as the schedule of a reversed while loop, have the line of the equation, and are left out.
        """
        parts: list[str] = []
        derived: set[str] = set()
        for frame in self._frames:
            line = str(frame.source)
            if line not in derived:
                parts.append(str(frame))
            if frame.holds_jaxprs and not frame.entries:
                derived.add(line)
        return tuple(parts)

    def age(self, blame: Blame) -> int:
        """Returns the position of a blame in the order in which they were found; -1 if it was given."""
        return self._order.get(id(blame), (-1, blame))[0]

    def given(self, x: Any, what: str) -> Made:
        """Returns the blames of a value that no equation made."""
        found: list[Blame | None] = []
        for kind, mask in zip(KINDS, special_masks(x), strict=True):
            index = None if mask is None or not mask.any() else first_index(mask)
            found.append(None if index is None else Blame(kind, "", None, (), (), (), snapshot(x), index, given=what))
        return found[0], found[1]


class _Equation:
    """An equation that was evaluated: which of its operands bring a NaN or an infinity."""

    def __init__(
        self, trace: BlameTrace, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]
    ) -> None:  # fmt: skip
        self.trace = trace
        self.primitive = primitive
        self.params = params
        self.source = user_source()
        self.operands = [x.value if isinstance(x, BlameTracer) else x for x in args]
        self._brought = [x.made if isinstance(x, BlameTracer) else trace.given(x, CONSTANT) for x in args]
        declaration = primitive.declaration
        self._pointwise = declaration is not None and declaration.pointwise

    def oldest(self, kind: int) -> Blame | None:
        """Returns the oldest blame among the operands, without those of constants."""
        found = [made for brought in self._brought if (made := brought[kind]) is not None and made.given != CONSTANT]
        return min(found, key=self.trace.age, default=None)

    def made(self, kind: int, mask: Any, value: Any, position: int) -> Blame | None:
        """Returns what made the NaN, or the infinity, of a result: an operand brings it, or this equation makes it."""
        if not mask.any():
            return None
        pairs = enumerate(zip(self.operands, self._brought, strict=True))
        # A floating operand has what was made of it; a predicate only knows what decided it.
        bringing = {
            i: blame for i, (x, made) in pairs if (blame := made[kind]) is not None and is_inexact(np.asarray(x).dtype)
        }
        # Constants last, then by age: in most equations the first one suffices, also of a thousand operands.
        order = sorted(bringing, key=lambda i: (bringing[i].given == CONSTANT, self.trace.age(bringing[i])))
        found = next((bringing[i] for i in order if self._suffices(i, order, kind, mask, position)), None)
        if found is None:
            return self._new(kind, mask, value)
        if found.given == CONSTANT and len(self.operands) > 1:
            # Rules choose NaN where a predicate, such as x != x, found one.
            decided = self._oldest_of_predicates() if kind == 0 else None
            note = f"the {KINDS[kind]} is a constant of the program, which the equation takes"
            return decided or self._new(kind, mask, value, note)
        return found  # a constant of which there is only another form, such as one that is broadcast, stays one

    def _suffices(self, operand: int, bringing: Sequence[int], kind: int, mask: Any, position: int) -> bool:
        """Whether a result has the NaN, or the infinity, if only one operand has it: a choice drops the others."""
        if len(bringing) == 1 or self.primitive.effectful:
            return True
        values = [*self.operands]
        for i in bringing:
            if i != operand:
                values[i] = np.where(special_masks(values[i])[kind], np.ones_like(values[i]), values[i])[()]
        with np.errstate(all="ignore"):
            out = eval_trace.process_primitive(self.primitive, values, self.params)
        found = special_masks(out[position] if self.primitive.multiple_results else out)[kind]
        return bool((found & mask).any())

    def _oldest_of_predicates(self) -> Blame | None:
        pairs = zip(self.operands, self._brought, strict=True)
        found = [made for x, (made, _) in pairs if made is not None and special_masks(x)[0] is None]
        return min(found, key=self.trace.age, default=None)

    def _new(self, kind: int, mask: Any, value: Any, note: str = "") -> Blame:
        shapes = [np.shape(x) for x in self.operands]
        infinite = [made for brought in self._brought if kind == 0 and (made := brought[1]) is not None]
        blame = Blame(
            KINDS[kind], self.primitive.name, self.source, () if self.source is None else self.source.rules,
            self.trace.within(), tuple(map(snapshot, self.operands)), snapshot(value), first_index(mask),
            self._pointwise and all([shape in ((), np.shape(value)) for shape in shapes]),
            cause=min(infinite, key=self.trace.age, default=None), note=note,
        )  # fmt: skip
        return self.trace.new_blame(kind, blame)
