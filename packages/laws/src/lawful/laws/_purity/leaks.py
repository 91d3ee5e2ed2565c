"""Laws of threads and leaks: threads agree, and nothing made for a function outlives it."""

from __future__ import annotations

import gc
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from lawful.core import ClosedJaxpr, Jaxpr, JaxprEqn, Tracer
from lawful.laws._derivatives.directions import differentiable, restrict, scalarized, tangents_of
from lawful.laws._law.law import Claim, Claims, Fault, Inapplicable, Trial, law

_THREADS: Final = 4

# The text of a transformation, and the transformation of a function.
Way = tuple[str, Callable[[Callable[..., Any]], Any]]

# Caches of rules fill within the first calls; anything that grows in each of these rounds is a leak.
_ROUNDS: Final = 4

# Objects that must not outlive a function, besides tracers.
_KEPT: Final = (ClosedJaxpr, Jaxpr, JaxprEqn)


def _ways(trial: Trial) -> list[Way]:
    """Returns the transformations, each applied to a function at the case's arguments."""
    system = trial.system
    function, args = differentiable(trial)
    v, w = tangents_of(trial, args), tangents_of(trial, function(*args))
    ways: list[Way] = [
        ("jit(f)(x)", lambda f: system.jit(f)(*args)),
        ("jvp(f, x, v)", lambda f: system.jvp(f, args, v)),
        ("vjp(f, x)[1](w)", lambda f: system.vjp(f, *args)[1](w)),
        ("linearize(f, x)[1](v)", lambda f: system.linearize(f, *args)[1](*v)),
        ("jit(jvp(f))(x, v)", lambda f: system.jit(lambda xs, vs: system.jvp(f, xs, vs))(args, v)),
        ("vjp(jit(f), x)[1](w)", lambda f: system.vjp(system.jit(f), *args)[1](w)),
    ]
    return [(text, way) for text, way in ways if all(map(trial.has, _names_in(text)))]


def _names_in(text: str) -> list[str]:
    return [name for name in ("jit", "jvp", "vjp", "linearize") if f"{name}(" in text]


@law("leaks", needs=("threads",), share=1 / 8)
def law_threads_agree(trial: Trial) -> Claims:
    """Threads that transform one function at once get what one thread gets.

    Equation: T(f)(x) in N threads at once = T(f)(x) in one

    Raises:
      LawViolation: it does not hold.

    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_threads_agree(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5))
    """
    function, _ = differentiable(trial)
    ways = trial.some(_ways(trial))
    expected = [way(function) for _, way in ways]
    results: list[list[Any] | Exception] = [[] for _ in range(_THREADS)]
    start = threading.Barrier(_THREADS)

    def run(number: int) -> None:
        try:
            start.wait()
            with np.errstate(all="ignore"):
                order = ways[number % len(ways) :] + ways[: number % len(ways)]
                found = {text: way(function) for text, way in order}
            results[number] = [found[text] for text, _ in ways]
        except Exception as error:
            results[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        if isinstance(result, Exception):
            raise result
        for (text, _), found, alone in zip(ways, result, expected, strict=True):
            yield Claim(f"{text} in one of {_THREADS} threads", found, "in one thread", alone)


@law("leaks", needs=("jaxprs",), share=1 / 8)
def law_nothing_survives(trial: Trial) -> Claims:
    """When a function and what was made of it are gone, no tracer, jaxpr or compiled program of it is left.

    Equation: alive(after T(f)(x), with f dropped) = alive(before), for tracers, jaxprs and their equations

    Raises:
      LawViolation: it does not hold.

    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_nothing_survives(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5))
    """
    ways = trial.some([*_ways(trial), *_gradient(trial)])
    if _survivors(trial, ways):
        for text, way in ways:
            more = _survivors(trial, [(text, way)])
            if more:
                yield Fault(f"{text} of a function that is gone leaves {dict(more)}")


def _survivors(trial: Trial, ways: Sequence[Way]) -> Counter[str]:
    """Returns the objects that each round leaves alive; none if some round leaves none.

    Caches of rules, and of the case, fill in the first rounds: a rule is cached at its second use.
    """

    def run() -> None:
        for _, way in ways:
            way(_fresh(trial))

    with _older_objects_aside():
        run()
        before, more = _alive(), Counter[str]()
        for _ in range(_ROUNDS):
            for _ in range(2):
                run()
            after = _alive()
            more, before = after - before, after
            if not more:
                break
    return more


@contextmanager
def _older_objects_aside() -> Iterator[None]:
    """Excludes existing objects from collections: scanning them takes longer than the transformations.

    Objects that were frozen before are collected like all others afterwards.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _gradient(trial: Trial) -> list[Way]:
    try:
        restricted, leaves = restrict(trial)
    except Inapplicable:
        return []
    numbers = tuple(range(len(leaves)))

    def gradient(_: Callable[..., Any]) -> Any:
        loss = scalarized(trial.system, restricted, trial.case.seed)  # a new function each time
        return trial.system.jit(trial.system.grad(loss, numbers))(*leaves)

    return [("jit(grad(f))(x)", gradient)]


def _fresh(trial: Trial) -> Callable[..., Any]:
    """Returns a new function object equal to the case's function, with no other reference."""
    function, _ = differentiable(trial)
    return lambda *args: function(*args)


def _alive() -> Counter[str]:
    """Returns the numbers of tracers, jaxprs and equations that are alive."""
    gc.collect()
    return Counter(
        "tracers" if isinstance(x, Tracer) else type(x).__name__
        for x in gc.get_objects()
        if isinstance(x, (Tracer, *_KEPT))
    )
