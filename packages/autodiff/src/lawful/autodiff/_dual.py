"""What forward mode and linearization share: values that are primals with tangents."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Protocol

from lawful.core import (
    Recipe,
    RecipeBook,
    ShapedArray,
    SourceLine,
    Trace,
    Tracer,
    Zero,
    as_float,
    get_aval,
    place,
    remember,
    user_source,
)


class DualTracer(Tracer):
    """A primal value together with its tangent."""

    __slots__ = ("aval", "primal", "source", "tangent", "tangent_aval")

    # No __init__: `dual` sets these, in two thirds of the time. Each operation makes one.
    primal: Any
    tangent: Any
    tangent_aval: ShapedArray

    def concrete(self) -> Any:
        primal = self.primal
        return primal.concrete() if isinstance(primal, Tracer) else primal


def dual[T: DualTracer](
    cls: type[T],
    trace: Trace,
    primal: Any,
    tangent: Any,
    source: SourceLine | None,
    aval: ShapedArray,
    tangent_aval: ShapedArray,
) -> T:
    """Returns a tracer of a class."""
    tracer = cls()
    tracer._trace = trace
    tracer.primal = primal
    tracer.tangent = tangent
    tracer.source = source
    tracer.aval = aval
    tracer.tangent_aval = tangent_aval
    return tracer


#: For each argument the type of its tangent, which may be strong where the primal is weak; None where it is zero.
TangentAvals = tuple[ShapedArray | None, ...]


class _Derived(Protocol):
    """What a transformation derived of a primitive, or of a recipe, for arguments of some types.

    Attributes:
      count: how many results there are.
    """

    count: int


class DualTrace[R: _Derived](Trace):
    """A trace of primals with tangents, that recalls what it derived.

    Attributes:
      asked: the key of what was asked for last and not recalled; None if it has none.
      followed: what was derived and followed last since then, and the identity of its operands.
    """

    __slots__ = ("asked", "followed")

    def __init__(self, parent: Trace, transformation: str, source: SourceLine | None = None) -> None:
        super().__init__(parent, transformation, source)
        self.asked: Hashable = None
        self.followed: tuple[R, int] | None = None

    def follow_one(
        self, recipe: R, primals: list[Any], given: list[Any], args: Sequence[Any], source: SourceLine | None
    ) -> Any:
        """Applies what was derived before of what has one result to primals and tangents.

        Args:
          recipe: what was derived.
          primals: those of the arguments.
          given: their tangents, of the types that it was derived for.
          args: the arguments.
          source: the user's line.
        """
        raise NotImplementedError(f"{type(self).__name__}.follow_one")

    def recall(self, book: RecipeBook, what: Hashable, args: Sequence[Any]) -> Any:
        asked = self._key(what, args)
        if asked is None:
            self.asked = self.followed = None
            return None
        key, primals, given = asked
        found: R | None = book.recipes.get(key)
        if found is not None:
            # What asks is not the user's, nor the function, operator or method that this is called by.
            return self.follow_one(found, primals, given, args, user_source(4))
        self.asked, self.followed = key, None
        return None

    def _key(self, what: Hashable, args: Sequence[Any]) -> tuple[Hashable, list[Any], list[Any]] | None:
        """Returns a key of arguments' types, with primals and tangents; None unless all but one number have these."""
        if self.axis_env:  # what named axes mean, recipes are asked for with
            return None
        if len(args) == 1:
            (x,) = args
            if isinstance(x, DualTracer) and x._trace is self:
                return (self.transformation, what, x.aval, x.tangent_aval), [x.primal], [x.tangent]
        elif len(args) == 2:
            x, y = args
            has_y = isinstance(y, DualTracer) and y._trace is self
            if isinstance(x, DualTracer) and x._trace is self:
                if has_y:
                    key = (self.transformation, what, x.aval, x.tangent_aval, y.aval, y.tangent_aval)
                    return key, [x.primal, y.primal], [x.tangent, y.tangent]
                number = self._number(y)
                if number is not None:
                    return (self.transformation, what, x.aval, x.tangent_aval, type(y)), [x.primal, number], [x.tangent]
            elif has_y:
                number = self._number(x)
                if number is not None:
                    return (self.transformation, what, type(x), y.aval, y.tangent_aval), [number, y.primal], [y.tangent]
        return None

    def _number(self, x: Any) -> float | None:
        """Returns what stands for a number in a recipe. In a program that is recorded it is converted at once."""
        return as_float(x) if self.evaluates_constants else None

    def note(self, book: RecipeBook, operands: Sequence[Any], since: int) -> None:
        if self.asked is not None and self.followed is not None:
            recipe, identity = self.followed
            if identity == id(operands):
                remember(book, self.asked, recipe, since)


def parts(trace: Trace, args: Sequence[Any]) -> tuple[list[Any], TangentAvals, list[Any]]:
    """Returns the primals of arguments, the types of the tangents that they have in a trace, and these tangents."""
    count = len(args)
    if count == 1:
        (x,) = args
        if isinstance(x, DualTracer) and x._trace is trace:
            return [x.primal], (x.tangent_aval,), [x.tangent]
        return [x], (None,), []
    if count == 2:  # as below, of no lists that grow: half of the time of what most operations ask for
        x, y = args
        has_y = isinstance(y, DualTracer) and y._trace is trace
        if not (isinstance(x, DualTracer) and x._trace is trace):
            return ([x, y.primal], (None, y.tangent_aval), [y.tangent]) if has_y else ([x, y], (None, None), [])
        if has_y:
            return [x.primal, y.primal], (x.tangent_aval, y.tangent_aval), [x.tangent, y.tangent]
        return [x.primal, y], (x.tangent_aval, None), [x.tangent]
    primals = []
    tangent_avals: list[ShapedArray | None] = []
    given = []
    for x in args:
        if isinstance(x, DualTracer) and x._trace is trace:
            primals.append(x.primal)
            tangent_avals.append(x.tangent_aval)
            given.append(x.tangent)
        else:
            primals.append(x)
            tangent_avals.append(None)
    return primals, tuple(tangent_avals), given


def follow_in_parent(trace: Trace, recipe: Recipe, args: Sequence[Any], source: SourceLine | None) -> list[Any]:
    """Returns what the parent of a trace gives for a recipe that a line applies, which it need not look for again."""
    parent = trace.parent
    assert parent is not None, "evaluation differentiates nothing"
    if parent.parent is None:  # evaluation, which does not look for it
        return parent.follow(recipe, args)
    before, place.source = place.source, source
    try:
        return parent.follow(recipe, args)
    finally:
        place.source = before


def zero_tangent(x: Any) -> Zero:
    """Returns the symbolic zero tangent of a primal value."""
    return Zero(get_aval(x).to_tangent_aval())
