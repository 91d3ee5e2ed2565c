"""The law of commutation: stacks of transformations agree with every meaningful reordering."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, Final

import numpy as np

from lawful.core import ShapedArray
from lawful.laws._composition.batching import batch_of
from lawful.laws._derivatives.directions import Leaves, is_floating, normal, restrict
from lawful.laws._law.implementation import Implementation
from lawful.laws._law.law import Claim, Claims, Inapplicable, Trial, law

Flat = Callable[..., Leaves]

#: The transformations of a stack; each maps functions of leaves to functions of leaves.
transformations: Final = ("jit", "vmap", "jvp", "vjp", "linearize")

_DERIVATIVES: Final = ("jvp", "vjp", "linearize")
_BATCH_SIZE: Final = 2
_MOST_REORDERINGS: Final = 6
_DEEPEST_STACK: Final = 4


def _pushed(derivative: Callable[..., tuple[Any, Any]]) -> Flat:
    """Returns a function from primals and tangents to results and their tangents."""

    def pushed(*args: Any) -> Leaves:
        half = len(args) // 2
        out, tangent = derivative(args[:half], args[half:])
        return [*out, *tangent]

    return pushed


def _derivative(system: Implementation, name: str, count: int) -> Callable[[Flat], Flat]:
    """Returns the derivative of a function of ``count`` arguments, as a transformation of flat functions."""

    def forward(function: Flat) -> Flat:
        return _pushed(lambda primals, tangents: system.jvp(function, primals, tangents))

    def linearized(function: Flat) -> Flat:
        def derivative(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
            out, push = system.linearize(function, *primals)
            return out, push(*tangents)

        return _pushed(derivative)

    def reverse(function: Flat) -> Flat:
        def pulled(*args: Any) -> Leaves:
            out, pull = system.vjp(function, *args[:count])
            return [*out, *pull(list(args[count:]))]

        return pulled

    return {"jvp": forward, "linearize": linearized, "vjp": reverse}[name]


def _reordered(stack: Sequence[str], random: np.random.Generator) -> list[tuple[str, ...]]:
    """Returns stacks of equal meaning: derivatives keep their order, ``jit`` and ``vmap`` move freely."""
    derivatives = [name for name in stack if name in _DERIVATIVES]
    free = [name for name in stack if name in ("jit", "vmap")]
    orders = set()
    for positions in combinations(range(len(stack)), len(free)):
        for fill in {tuple(free), tuple(reversed(free))}:
            rest, chosen = iter(derivatives), iter(fill)
            orders.add(tuple(next(chosen) if i in positions else next(rest) for i in range(len(stack))))
    others = sorted(orders - {tuple(stack)})
    found = [others[i] for i in random.permutation(len(others))[: _MOST_REORDERINGS - 1]]
    # Linearization is forward mode, so it may replace jvp.
    swap = {"jvp": "linearize", "linearize": "jvp"}
    return [tuple(stack), *found, tuple(swap.get(name, name) for name in stack)]


@law("commutation")
def law_commutation(trial: Trial, *, stack: Sequence[str] | None = None) -> Claims:
    """A stack of transformations agrees with every reordering that has a meaning, and with the loop.

    Equation: T₁(T₂(… f)) = Tπ(₁)(Tπ(₂)(… f)), where jit and vmap move freely, and derivatives keep their order

    The stack is of one to four of ``transformations``, the outermost first: drawn by the case's seed, or ``stack``.

    Raises:
      LawViolation: it does not hold.
      Inapplicable: nothing to differentiate, or the system lacks a transformation.

    >>> import numpy as np
    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_commutation(lawful, Case.of(lambda x: ops.sin(x) * x, np.array([0.5, 1.0])))
    """
    system = trial.system
    stack = _drawn_stack(trial) if stack is None else tuple(stack)
    _see_that_it_has(system, stack)
    restricted, leaves = restrict(trial, _is_floating_array, is_floating)
    signature = _Signature(trial, restricted, leaves)
    for name in reversed([name for name in stack if name in _DERIVATIVES]):
        signature.differentiate(name)
    batches = sum(name == "vmap" for name in stack)
    batched = [_batch(x, batches) for x in signature.args]
    expected = _loop(trial, signature.function, batched, batches)
    orders = [order for order in _reordered(stack, trial.random) if not set(order) & set(system.absent)]
    for order in orders[:1] if trial.effort.most == 1 else orders:
        found = _apply(system, order, restricted, signature.counts)(*batched)
        yield Claim(f"{'('.join(order)}(f{')' * len(order)}", found, "the loop over derivatives alone", expected)


def _drawn_stack(trial: Trial) -> tuple[str, ...]:
    present = [name for name in transformations if trial.has(name)]
    if not present:
        raise Inapplicable(f"commutation: {trial.system.name} has none of {', '.join(transformations)}")
    deepest = 2 if trial.effort.most == 1 else _DEEPEST_STACK
    drawn = [present[i] for i in trial.random.integers(0, len(present), trial.random.integers(1, deepest + 1))]
    if trial.has("higher order"):
        return tuple(drawn)
    first = next((i for i, name in enumerate(drawn) if name in _DERIVATIVES), 0)
    return tuple(name for i, name in enumerate(drawn) if i <= first or name not in _DERIVATIVES)


def _see_that_it_has(system: Implementation, stack: Sequence[str]) -> None:
    needed = list(stack)
    if sum(name in _DERIVATIVES for name in stack) > 1:
        needed.append("higher order")
    for name in needed:
        if name in system.absent:
            raise Inapplicable(f"commutation: {system.name} has no {name}: {system.absent[name]}")


class _Signature:
    """A function of leaves under derivatives, with its arguments; each derivative adds tangents or cotangents."""

    def __init__(self, trial: Trial, function: Flat, args: Leaves) -> None:
        self.trial = trial
        self.function = function
        self.args = [np.asarray(x) for x in args]
        #: For each derivative, from the innermost, the number of arguments that it differentiates.
        self.counts: list[int] = []

    def differentiate(self, name: str) -> None:
        system = self.trial.system
        like = [system.aval(x) for x in (self.function(*self.args) if name == "vjp" else self.args)]
        directions = [normal(self.trial.random, aval.update(weak_type=False)) for aval in like]
        self.counts.append(len(self.args))
        self.function = _derivative(system, name, len(self.args))(self.function)
        self.args = [*self.args, *directions]


def _is_floating_array(aval: ShapedArray) -> bool:
    """Whether a leaf has tangents and can be mapped over. Python numbers among results become arrays."""
    return is_floating(aval) and not aval.weak_type


def _apply(system: Implementation, order: Sequence[str], function: Flat, counts: Sequence[int]) -> Flat:
    """Returns a function under a stack of transformations, listed from the outermost."""
    remaining = iter(counts)
    for name in reversed(order):
        if name == "jit":
            function = system.jit(function)
        elif name == "vmap":
            function = system.vmap(function)
        else:
            function = _derivative(system, name, next(remaining))(function)
    return function


def _batch(x: Any, count: int) -> np.ndarray[Any, Any]:
    batched = np.asarray(x)
    for number in range(count):
        batched = batch_of(batched, _BATCH_SIZE, 0, phase=number)
    return batched


def _loop(trial: Trial, function: Flat, args: Leaves, count: int) -> Leaves:
    if count == 0:
        return [trial.system.numpy(x) for x in function(*args)]
    elements = [_loop(trial, function, [x[i] for x in args], count - 1) for i in range(_BATCH_SIZE)]
    return [np.stack(results) for results in zip(*elements, strict=True)]
