"""A transformation made of `lawful.core` alone, to test traces with: counting, and tracers with and without values."""

import sys
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lawful.core import (
    Primitive,
    ShapedArray,
    SourceLine,
    Trace,
    Tracer,
    current,
    get_aval,
    new_trace,
    register_array_type,
)

plus_p = Primitive("coretest_plus")
pair_p = Primitive("coretest_pair", multiple_results=True)


@plus_p.def_impl
def plus_impl(x: Any, y: Any) -> Any:
    return np.add(x, y)


@plus_p.def_abstract_eval
def plus_type(x: ShapedArray, y: ShapedArray) -> ShapedArray:
    return x.update(weak_type=False)


@pair_p.def_impl
def pair_impl(x: Any) -> list[Any]:
    return [x, np.negative(x)]


def line_of_the_test() -> SourceLine:
    frame = sys._getframe(1)
    while frame.f_code.co_filename == __file__ or frame.f_globals["__name__"].startswith("lawful."):
        assert frame.f_back is not None
        frame = frame.f_back
    return SourceLine(frame.f_code, frame.f_lasti)


class Boxed(Tracer):
    """A value with the number of operations that led to it. ``known`` says whether its value may be asked for."""

    __slots__ = ("aval", "count", "known", "source", "val")

    def __init__(self, trace: Trace, val: Any, count: int, known: bool = True) -> None:
        self._trace = trace
        self.val = val
        self.count = count
        self.known = known
        self.aval = get_aval(val)
        self.source = line_of_the_test()

    def concrete(self) -> Any:
        return self.val if self.known else None


register_array_type(Boxed, aval=lambda x: x.aval)


class CountTrace(Trace):
    """Counts, by a rule in the slot ``count`` where a primitive has one."""

    __slots__ = ()

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        assert self.parent is not None
        mine = [x for x in args if type(x) is Boxed and x._trace is self]
        if not mine:
            return self.parent.process_primitive(primitive, args, params)
        vals = [x.val if type(x) is Boxed and x._trace is self else x for x in args]
        before = current.trace
        current.trace = self.parent
        try:
            out = primitive.rules.get("count", primitive.bind)(*vals, **params)
        finally:
            current.trace = before
        count = 1 + max(x.count for x in mine)
        if primitive.multiple_results:
            return [Boxed(self, x, count) for x in out]
        return Boxed(self, out, count)


def count(function: Callable[..., Any], *args: Any, known: bool = True) -> tuple[Any, int]:
    """Returns what a function gives, and the number of operations on the longest way to it."""
    trace = CountTrace(current.trace, "count")
    with new_trace(trace):
        out = function(*(Boxed(trace, x, 0, known) for x in args))
    return (out.val, out.count) if type(out) is Boxed and out._trace is trace else (out, 0)


@pytest.fixture
def counting() -> SimpleNamespace:
    return SimpleNamespace(count=count, plus_p=plus_p, pair_p=pair_p, CountTrace=CountTrace, Boxed=Boxed)
