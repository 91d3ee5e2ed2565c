"""The rows: objectives and derivatives of three sizes, with arguments of both kinds, and how long they compile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy

from benchmarks._case import Case, Timed, cases
from benchmarks._systems import System
from benchmarks.gradbench._programs import OBJECTIVES, OF_AUTOGRAD, nested, objective
from lawful import tree

SIZES: Final = ("tiny", "small", "medium")
FUNCTIONS: Final = {"objective": "value", "derivative": "derivative"}
MODES: Final = ("ff", "fr", "rf", "rr")
SEED: Final = 31337


def declare() -> None:
    """Declares all cases, in the order of the table."""
    for kind in ("arrays on the device", "NumPy arguments"):
        for name in OBJECTIVES:
            for size in SIZES:
                for function in FUNCTIONS:
                    _declare(kind, f"{name}, {size}, {function}", _compiled(name, size, function, kind), name)
    for program in ("saddle", "particle"):
        for modes in MODES:
            # JAX has no reverse mode of `while_loop`; the gradient of "saddle" meets none whose result depends on it.
            runs_on_jax = program == "saddle" or modes.startswith("f")
            peers = {"jax": 1.0} if runs_on_jax else {}
            cases.append(Case("nested derivatives and loops", f"{program}, {modes}", peers, _nested(program, modes)))
    for name in OBJECTIVES:
        _declare("trace, lower and compile", f"{name}, derivative", _compilation(name), "", jax=0.8)
    for name in OF_AUTOGRAD:
        for function in FUNCTIONS:
            _declare("eager", f"{name}, tiny, {function}", _eager(name, function), name, jax=None)


def _declare(group: str, name: str, prepare: Callable[[System], Timed], program: str, jax: float | None = 1.0) -> None:
    most = {} if jax is None else {"jax": jax}
    if program in OF_AUTOGRAD:
        most["autograd"] = 0.9
    cases.append(Case(group, name, most, prepare))


def _compiled(name: str, size: str, function: str, kind: str) -> Callable[[System], Timed]:
    def prepare(system: System) -> Timed:
        found = objective(system.name, name)
        at = found.generate(**found.sizes[size], seed=SEED)
        f = getattr(found, FUNCTIONS[function])
        if system.name == "autograd":
            return Timed(lambda: f(*at))
        f = system.jit(f)
        if kind != "NumPy arguments":
            at = tree.map(system.array, at)
        system.wait(f(*at))  # compiles
        return Timed(lambda: system.wait(f(*at)))

    return prepare


def _eager(name: str, function: str) -> Callable[[System], Timed]:
    def prepare(system: System) -> Timed:
        found = objective(system.name, name)
        at = found.generate(**found.sizes["tiny"], seed=SEED)
        f = getattr(found, FUNCTIONS[function])
        return Timed(lambda: f(*at))

    return prepare


def _nested(program: str, modes: str) -> Callable[[System], Timed]:
    def prepare(system: System) -> Timed:
        module = nested(system.name)
        outer, inner = (module.MODES[mode] for mode in modes)
        compiled = system.jit(lambda: module.PROGRAMS[program](outer, inner)).lower().compile()
        return Timed(lambda: system.wait(compiled()))

    return prepare


def _compilation(name: str) -> Callable[[System], Timed]:
    def prepare(system: System) -> Timed:
        found = objective(system.name, name)
        at = tree.map(system.array, found.generate(**found.sizes["small"], seed=SEED))
        return Timed(lambda: system.jit(found.derivative).lower(*at).compile(), system.clear)

    return prepare


def difference(name: str, peer: str) -> dict[str, float]:
    """Returns how far a peer's objective and derivative are from lawful's, relative to the largest of an array."""
    own, other = objective("lawful", name), objective(peer, name)
    at = own.generate(**own.sizes["tiny"], seed=SEED)
    found = {}
    for function, attribute in FUNCTIONS.items():
        results = [tree.leaves(getattr(one, attribute)(*at)) for one in (own, other)]
        found[function] = max([_largest_difference(x, y) for x, y in zip(*results, strict=True)])
    return found


def _largest_difference(x: Any, y: Any) -> float:
    x, y = numpy.asarray(x), numpy.asarray(y)
    return float(numpy.max(abs(x - y)) / numpy.max(abs(x)))
