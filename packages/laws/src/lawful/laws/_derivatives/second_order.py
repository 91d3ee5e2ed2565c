"""Laws of second derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lawful.core import get_aval
from lawful.laws._derivatives.directions import Leaves, is_wide_real, pairing, restrict, scalarized, tangents_of
from lawful.laws._derivatives.forward import finite_differences
from lawful.laws._law.law import Claim, Claims, Trial, law

# Hessians are compared whole up to this many elements of the argument.
_MOST_ELEMENTS = 8


@law("second order", needs=("higher order", "grad", "jvp"), smooth=True)
def law_second_order(trial: Trial) -> Claims:
    """The four ways to a second derivative agree, and Hessians are symmetric.

    Equation: ∂(∇f · v) forward over reverse = reverse over forward = reverse over reverse = forward over forward
    = lim (∇f(x + h v) − ∇f(x − h v)) / 2h, ⟨w, H v⟩ = ⟨v, H w⟩, and each is the third time what it was the first

    Real arguments of 64 bits are differentiated by, and a weighted sum of real results is differentiated.

    Raises:
      LawViolation: it does not hold.
      Inapplicable: nothing to differentiate.

    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_second_order(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5))
    """
    system = trial.system
    restricted, leaves = restrict(trial, is_wide_real)
    loss = scalarized(system, restricted, trial.case.seed)
    numbers = tuple(range(len(leaves)))
    gradient = system.grad(loss, numbers)
    v, w = tangents_of(trial, leaves), tangents_of(trial, leaves)

    def forward_over_reverse() -> Leaves:
        return list(system.jvp(gradient, leaves, v)[1])

    def reverse_over_forward(part: int = 1) -> Leaves:
        return list(system.grad(lambda *xs: system.jvp(loss, xs, v)[part], numbers)(*leaves))

    def both_orders() -> Claims:
        yield Claim("forward over reverse", forward_over_reverse(), "reverse over forward", reverse_over_forward())

    # Caches filled by the first call may be used by the second, with other cotangents, and the third.
    def forward_over_reverse_again() -> Claims:
        first, _, third = [forward_over_reverse() for _ in range(3)]
        yield Claim("forward over reverse, the third time", third, "the first time", first)

    def reverse_over_forward_again() -> Claims:
        first, by_value, third = [reverse_over_forward(part) for part in (1, 0, 1)]
        yield Claim("reverse over forward, of the value alone", by_value, "∇f", list(gradient(*leaves)))
        yield Claim("reverse over forward, again", third, "the first time", first)

    def reverse_over_reverse() -> Claims:
        weights = [system.array(x) for x in v]
        reverse_reverse = system.grad(lambda *xs: pairing(system, list(gradient(*xs)), weights), numbers)(*leaves)
        yield Claim("reverse over reverse", list(reverse_reverse), "forward over reverse", forward_over_reverse())

    def forward_over_forward() -> Claims:
        forward_forward = system.jvp(lambda *xs: system.jvp(loss, xs, v)[1], leaves, w)[1]
        product = pairing(system, w, forward_over_reverse())
        yield Claim("forward over forward along v and w", forward_forward, "⟨w, H v⟩", product)

    def symmetric() -> Claims:
        along_w = list(system.jvp(gradient, leaves, w)[1])
        yield Claim("⟨w, H v⟩", pairing(system, w, forward_over_reverse()), "⟨v, H w⟩", pairing(system, v, along_w))

    def differences() -> Claims:
        found = finite_differences(trial, lambda *xs: list(gradient(*xs)), leaves, v)
        yield Claim("forward over reverse", forward_over_reverse(), "finite differences", found, "differences")

    ways = [both_orders, reverse_over_reverse, forward_over_forward, symmetric, differences]
    ways += [forward_over_reverse_again, reverse_over_forward_again]
    size = get_aval(leaves[0]).size
    if 0 < size <= _MOST_ELEMENTS and trial.has("jacfwd") and trial.has("jacrev"):
        ways.append(lambda: _whole_hessian(trial, loss, leaves, v[0]))
    for way in trial.some(ways):
        yield from way()


def _whole_hessian(trial: Trial, loss: Callable[..., Any], leaves: list[Any], v: Any) -> Claims:
    system, x = trial.system, leaves[0]
    size = get_aval(x).size

    def alone(y: Any) -> Any:
        return loss(y, *leaves[1:])

    def matrix(value: Any) -> Any:
        return np.asarray(system.numpy(value)).reshape(size, size)

    whole = matrix(system.jacfwd(system.jacrev(alone))(x))
    yield Claim("jacfwd(jacrev(f))(x)", whole, "its transpose", whole.T)

    def other_order() -> Claims:
        other = matrix(system.jacrev(system.jacfwd(alone))(x))
        yield Claim("jacrev(jacfwd(f))(x)", other, "jacfwd(jacrev(f))(x)", whole)

    def product() -> Claims:
        along = system.numpy(system.jvp(system.grad(alone), (x,), (v,))[1])
        yield Claim("H v", whole @ np.reshape(v, -1), "forward over reverse", np.reshape(along, -1))

    for part in trial.some([other_order, product]):
        yield from part()
