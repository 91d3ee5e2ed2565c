"""The law of commutation: stacks of transformations agree with every reordering that has a meaning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, Final

import numpy as np

from lawful.autodiff import jvp, linearize, vjp
from lawful.batching import vmap
from lawful.core import get_aval
from lawful.laws._batching import lanes_of
from lawful.laws._directions import Leaves, is_floating, normal, restrict
from lawful.laws._law import Claim, Claims, law
from lawful.staging import jit

Flat = Callable[..., Leaves]

#: The transformations of a stack: each takes a function of leaves and gives one.
transformations: Final = ("jit", "vmap", "jvp", "vjp", "linearize")

_LANES: Final = 2
_MOST_REORDERINGS: Final = 6


def _jvp(function: Flat) -> Flat:
    def pushed(*args: Any) -> Leaves:
        half = len(args) // 2
        out, tangent = jvp(function, args[:half], args[half:])
        return [*out, *tangent]

    return pushed


def _linearize(function: Flat) -> Flat:
    def pushed(*args: Any) -> Leaves:
        half = len(args) // 2
        out, linear = linearize(function, *args[:half])
        return [*out, *linear(*args[half:])]

    return pushed


def _vjp(count: int) -> Callable[[Flat], Flat]:
    """Returns reverse mode of a function of ``count`` arguments: it takes them and then the cotangents."""

    def transformation(function: Flat) -> Flat:
        def pulled(*args: Any) -> Leaves:
            out, pull = vjp(function, *args[:count])
            return [*out, *pull(list(args[count:]))]

        return pulled

    return transformation


def _derivative(name: str, arg_count: int) -> Callable[[Flat], Flat]:
    return _vjp(arg_count) if name == "vjp" else _jvp if name == "jvp" else _linearize


def _reordered(stack: Sequence[str], random: np.random.Generator) -> list[tuple[str, ...]]:
    """Returns stacks with the same meaning: derivatives keep their order, ``jit`` and ``vmap`` stand anywhere."""
    derivatives = [name for name in stack if name in ("jvp", "vjp", "linearize")]
    free = [name for name in stack if name in ("jit", "vmap")]
    orders = set()
    for places in combinations(range(len(stack)), len(free)):
        for fill in {tuple(free), tuple(reversed(free))}:
            rest, chosen = iter(derivatives), iter(fill)
            orders.add(tuple(next(chosen) if i in places else next(rest) for i in range(len(stack))))
    others = sorted(orders - {tuple(stack)})
    found = [others[i] for i in random.permutation(len(others))[: _MOST_REORDERINGS - 1]]
    # Linearization is forward mode.
    swap = {"jvp": "linearize", "linearize": "jvp"}
    return [tuple(stack), *found, tuple(swap.get(name, name) for name in stack)]


@law
def law_commutation(
    function: Callable[..., Any], *args: Any, stack: Sequence[str] = ("jit", "vmap", "vjp"), seed: int = 0,
    backend: str = "numpy",
) -> Claims:  # fmt: skip
    """A stack of transformations agrees with every reordering that has a meaning, and with the loop.

    Equation: T₁(T₂(… f)) = Tπ(₁)(Tπ(₂)(… f)), where jit and vmap move freely, and derivatives keep their order

    Args:
      function: a function of pytrees of arrays.
      args: its arguments.
      stack: the transformations, the outermost first, of ``transformations``.
      seed: of directions, and of which reorderings are tried.
      backend: that of ``jit``.

    Raises:
      LawViolation: it does not hold.
      Inapplicable: nothing to differentiate.
    """
    random = np.random.default_rng(seed)
    restricted, leaves = restrict(function, args, _is_floating_array, is_floating)
    signature = _Signature(restricted, leaves, random)
    for name in reversed([name for name in stack if name not in ("jit", "vmap")]):
        signature.differentiate(name)
    batches = sum(name == "vmap" for name in stack)
    batched = [_batch(x, batches) for x in signature.args]
    expected = _loop(signature.function, batched, batches)
    for order in _reordered(stack, random):
        found = _apply(order, restricted, signature.counts, backend)(*batched)
        yield Claim(f"{'('.join(order)}(f{')' * len(order)}", found, "the loop over derivatives alone", expected)


class _Signature:
    """A function of leaves under derivatives, with its arguments: each adds tangents or cotangents of its own."""

    def __init__(self, function: Flat, args: Leaves, random: np.random.Generator) -> None:
        self.function = function
        self.args = [np.asarray(x) for x in args]
        self.random = random
        #: For each derivative, from the innermost, how many arguments it differentiates by.
        self.counts: list[int] = []

    def differentiate(self, name: str) -> None:
        like = self.function(*self.args) if name == "vjp" else self.args
        directions = [normal(self.random, get_aval(x).update(weak_type=False)) for x in like]
        self.counts.append(len(self.args))
        self.function = _derivative(name, len(self.args))(self.function)
        self.args = [*self.args, *directions]


def _is_floating_array(x: Any) -> bool:
    """Whether a leaf has tangents and can be mapped over; results that are Python numbers become arrays."""
    return is_floating(x) and not get_aval(x).weak_type


def _apply(order: Sequence[str], function: Flat, counts: Sequence[int], backend: str) -> Flat:
    """Returns a function under a stack of transformations, the outermost first."""
    remaining = iter(counts)
    for name in reversed(order):
        if name == "jit":
            function = jit(function, backend=backend)
        elif name == "vmap":
            function = vmap(function)
        else:
            function = _derivative(name, next(remaining))(function)
    return function


def _batch(x: Any, count: int) -> np.ndarray[Any, Any]:
    batched = np.asarray(x)
    for number in range(count):
        batched = lanes_of(batched, _LANES, 0, phase=number)
    return batched


def _loop(function: Flat, args: Leaves, count: int) -> Leaves:
    if count == 0:
        return function(*args)
    lanes = [_loop(function, [x[i] for x in args], count - 1) for i in range(_LANES)]
    return [np.stack(results) for results in zip(*lanes, strict=True)]
