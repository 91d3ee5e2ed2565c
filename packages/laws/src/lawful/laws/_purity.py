"""The law of purity: results depend on nothing but arguments."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from lawful import tree
from lawful.laws._batching import lanes_of
from lawful.laws._directions import differentiable, tangents_of
from lawful.laws._law import Claim, Claims, Trial, law


def _copies(trial: Trial, values: Any) -> Any:
    """Returns arrays of their own memory; Python numbers stay what they are."""

    def copied(x: Any) -> Any:
        value = trial.system.numpy(x)
        return np.array(value) if hasattr(value, "dtype") else value

    return tree.map(copied, values)


def _spoil(values: Any) -> None:
    """Writes something else into every array that can be written into."""
    for x in tree.leaves(values):
        if isinstance(x, np.ndarray) and x.flags.writeable and x.dtype.names is None:
            x[...] = ~x if x.dtype.kind == "b" else x + np.asarray(7, x.dtype)


@law("purity")
def law_purity(trial: Trial) -> Claims:
    """Results do not depend on caches, threads, the order of calls, or later writes into arguments and results.

    Equation: T(f)(x) = T(f)(x), whatever happens before, between and after

    The arguments are copied.

    Raises:
      LawViolation: it does not hold.
    """
    parts = [(part, needs) for part, needs in _PARTS if all(map(trial.has, needs))]
    for part, _ in trial.some(parts):
        yield from part(trial)


def _pullback(trial: Trial) -> Claims:
    function, args = differentiable(trial)
    out = _copies(trial, function(*_copies(trial, args)))
    w = tangents_of(trial, out)
    pulled = _copies(trial, trial.system.vjp(function, *args)[1](w))
    own = _copies(trial, args)
    out, pull = trial.system.vjp(function, *own)
    first = pull(_copies(trial, w))
    yield Claim("vjp(f, x)[1](w)", first, "the same of another copy of x", pulled)
    _spoil((own, out, first))
    yield Claim("vjp(f, x)[1](w) after writing into x and the results", pull(w), "before", pulled)
    trial.system.clear_caches()
    yield Claim("vjp(f, x)[1](w) with cleared caches", pull(w), "before", pulled)


def _linear_program(trial: Trial) -> Claims:
    function, args = differentiable(trial)
    v = tangents_of(trial, args)
    pushed = _copies(trial, trial.system.linearize(function, *args)[1](*v))
    own = _copies(trial, args)
    out, push = trial.system.linearize(function, *own)
    first = push(*_copies(trial, v))
    _spoil((own, out, first))
    yield Claim("linearize(f, x)[1](v) after writing into x and the results", push(*v), "before", pushed)


def _forward_in_thread(trial: Trial) -> Claims:
    function, args = differentiable(trial)
    v = tangents_of(trial, args)
    pushed = trial.system.jvp(function, args, v)[1]
    found = _in_thread(lambda: trial.system.jvp(function, args, v)[1])
    yield Claim("jvp(f, x, v) in another thread", found, "jvp(f, x, v)", pushed)


def _compiled(trial: Trial) -> Claims:
    function, args = trial.function, trial.args
    expected = _copies(trial, function(*_copies(trial, args)))
    own, compiled = _copies(trial, args), trial.system.jit(function)
    out = compiled(*own)
    _spoil(own)
    yield Claim("jit(f)(x) after writing into x", out, "f(x)", expected)
    _spoil(out)
    yield Claim("jit(f)(x) after writing into an earlier result", compiled(*_copies(trial, args)), "f(x)", expected)

    other = tree.map(lambda x: lanes_of(x, 2, 0)[1] if hasattr(x, "dtype") else x, args)
    yield Claim("jit(f) of other values", compiled(*other), "f of them", function(*other))
    yield Claim("jit(f)(x) after jit(f) of other values", compiled(*args), "f(x)", expected)
    trial.system.clear_caches()
    yield Claim("jit(f)(x) with cleared caches", compiled(*args), "f(x)", expected)
    yield Claim("jit(f)(x) in another thread", _in_thread(lambda: compiled(*args)), "f(x)", expected)


# The parts of the law, with what a system must have for each.
_PARTS: Final[tuple[tuple[Callable[[Trial], Claims], tuple[str, ...]], ...]] = (
    (_compiled, ("jit",)),
    (_pullback, ("vjp",)),
    (_linear_program, ("linearize",)),
    (_forward_in_thread, ("jvp",)),
)


def _in_thread(function: Callable[[], Any]) -> Any:
    results: list[Any] = []

    def run() -> None:
        with np.errstate(all="ignore"):
            results.append(function())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert results, "the thread raised an error"
    return results[0]
