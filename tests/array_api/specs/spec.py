"""`Spec`: what is checked about a function of the standard, and how."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import Strategy
from .calls import Call
from .closeness import Closeness, difference, exact
from .reference import over, reference
from .runs import Named, eagerly, on_device, staged


def _nothing(result: Any) -> dict[str, Any]:
    return {}


def _itself(result: Any) -> Any:
    return result


@dataclass(frozen=True)
class Spec:
    """A function, and the calls of it.

    Attributes:
      name: as `find` takes it.
      calls: draws calls that the standard allows.
      closeness: how far apart values may be.
      known: positional arguments whose values decide the shape of the result: they are not traced.
      sizes: gives the keywords that tell a traced call the shape of its result, from the result.
      seen: what of the result is compared, where the standard leaves something open.
      untraced: why the function is not called with tracers; empty if it is.
      title: what tells this spec from another one of the function.
    """

    name: str
    calls: Strategy
    closeness: Closeness = exact
    known: tuple[int, ...] = ()
    sizes: Callable[[Any], dict[str, Any]] = _nothing
    seen: Callable[[Any], Any] = _itself
    untraced: str = ""
    title: str = ""

    @property
    def key(self) -> str:
        """The name of the spec itself."""
        return f"{self.name} {self.title}".rstrip()


def check_eager(spec: Spec, call: Call) -> None:
    """Raises AssertionError if a call on NumPy's or the device's arrays violates the standard."""
    want = reference(spec.name, call)
    for run in (eagerly, on_device):
        _compare(spec, call, run.__name__, run(spec.name, call), want)


def check_staged(spec: Spec, calls: list[Call], backend: str) -> None:
    """Raises AssertionError if calls compiled into one program violate the standard."""
    wants = [reference(spec.name, call) for call in calls]
    named: list[Named] = [
        (spec.name, Call(call.args, {**call.kwargs, **spec.sizes(want)}), frozenset(spec.known))
        for call, want in zip(calls, wants, strict=True)
    ]
    for call, got, want in zip(calls, staged(named, backend), wants, strict=True):
        _compare(spec, call, backend, got, want)


def _compare(spec: Spec, call: Call, run: str, got: Any, want: Any) -> None:
    found = difference(spec.seen(got), spec.seen(want), spec.closeness, _scale(call) if spec.closeness.terms else 0.0)
    assert found is None, f"{spec.name}{call!r}, {run}: {found}"


def _scale(call: Call) -> float:
    """Returns the size of the terms in a sum of products of two arguments' elements."""
    sizes = [1.0]

    def record(x: Any) -> None:
        if isinstance(x, np.ndarray):
            sizes.append(float(np.max(np.abs(x), initial=0.0, where=np.isfinite(x))))

    over(record, list(call.args))
    return max(sizes) ** 2
