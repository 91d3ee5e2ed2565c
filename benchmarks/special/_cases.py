"""The rows: values and gradients, compiled, eager and on the NumPy backend."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy

from benchmarks._case import Case, Timed, cases
from benchmarks._systems import System, systems
from benchmarks.special._functions import MATRICES, OF_AUTOGRAD, SPECIAL, function, matrices, numbers, total
from lawful import tree

ELEMENTS: Final = (1, 1_000, 1_000_000)
#: For each number of rows how many matrices are in a batch.
ROWS: Final = {3: 1_000, 50: 20, 500: 2}
#: The largest ratio to JAX, compiled, and to SciPy and NumPy.
OF_JAX, OF_SCIPY = 1.0, 1.2
KINDS: Final = ("compiled", "eager", "NumPy backend")
Arguments = Callable[[], tuple[Any, ...]]


def declare() -> None:
    """Declares all cases, in the order of the table."""
    for kind in KINDS:
        for name in SPECIAL:
            for size in ELEMENTS:
                _declare(f"special functions, {kind}", kind, name, f"{size:,}", partial(numbers, name, size))
    for kind in KINDS[:2]:
        for name in MATRICES:
            for size, count in ROWS.items():
                for shown, number in ((f"{size}", None), (f"{count:,} × {size}", count)):
                    _declare(f"matrices, {kind}", kind, name, shown, partial(matrices, name, size, number))


def _declare(group: str, kind: str, name: str, size: str, arguments: Arguments) -> None:
    library = "scipy" if name in (*SPECIAL, "expm") else "numpy"
    peers: dict[str, float | None] = {"jax": OF_JAX} if kind == "compiled" else {library: OF_SCIPY}
    cases.append(Case(group, f"{name}, {size}, value", peers, _prepared(kind, name, arguments, None)))
    if kind != "compiled":
        peers = {f"{library}'s value": None}
        if name in OF_AUTOGRAD:
            peers["autograd"] = None
    argnums = {"gammainc": (1, 0), "betainc": (2,)}.get(name, (0,))
    for argnum in argnums:
        # In Autograd gammainc has no derivative by its first argument.
        with_respect_to, left_out = (" by a", "autograd") if argnums[0] > argnum else ("", None)
        most = {peer: ratio for peer, ratio in peers.items() if peer != left_out}
        prepare = _prepared(kind, name, arguments, argnum)
        cases.append(Case(group, f"{name}, {size}, gradient{with_respect_to}", most, prepare))


def _prepared(kind: str, name: str, arguments: Arguments, argnum: int | None) -> Callable[[System], Timed]:
    def prepare(system: System) -> Timed:
        library, _, value = system.name.partition("'s ")
        at, f = arguments(), program(library, name, None if value else argnum)
        if kind == "compiled":
            at = tree.map(system.array, at)
            f = system.jit(f)
        elif kind == "NumPy backend" and system.name == "lawful":
            f = system.jit(f, backend="numpy")
        system.wait(f(*at))  # compiles
        return Timed(lambda: system.wait(f(*at)))

    return prepare


def program(system: str, name: str, argnum: int | None) -> Callable[..., Any]:
    """Returns a function of a system, or the gradient of the sum of its results by an argument."""
    f = function(system, name)
    if argnum is None:
        return f
    found = systems[system]()
    gradient: Callable[..., Any] = found.grad(total(name, f, found.numpy.sum), argnum)
    return gradient


def difference(name: str, size: int) -> dict[str, float]:
    """Returns how far value and gradient are from JAX's, relative to the largest element of an array."""
    at = numbers(name, size) if name in SPECIAL else matrices(name, size, 2)
    found = {}
    for what, argnum in (("value", None), ("gradient", len(at) - 1 if name in SPECIAL else 0)):
        results = [tree.leaves(tuple_of(program(system, name, argnum)(*at))) for system in ("lawful", "jax")]
        found[what] = max([_largest_difference(x, y) for x, y in zip(*results, strict=True)])
    return found


def tuple_of(out: Any) -> Any:
    """Returns named tuples, of which each system has classes of its own, as tuples."""
    return tuple(out) if isinstance(out, tuple) else out


def _largest_difference(x: Any, y: Any) -> float:
    x, y = numpy.asarray(x), numpy.asarray(y)
    return float(numpy.max(abs(x - y)) / numpy.max(abs(x)))
