"""The chain rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful import tree
from lawful.laws._derivatives.directions import restrict, tangents_of
from lawful.laws._law.law import Claim, Claims, Inapplicable, Trial, law


@law("tangents", needs=("jvp",))
def law_chain_rule(trial: Trial) -> Claims:
    """The derivative of a composition is the composition of the derivatives, forwards and backwards.

    Equation: jvp(g ∘ f, x, v) = jvp(g, f(x), jvp(f, x, v)), and vjp(g ∘ f, x)(w) = vjp(f, x)(vjp(g, f(x))(w))

    The outer function is the product of the sine of each result with the result.

    Raises:
      LawViolation: it does not hold.
      Inapplicable: nothing to differentiate, or a result is not finite, and there the outer function has no derivative.

    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_chain_rule(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5))
    """
    system = trial.system
    inner, leaves = restrict(trial)
    if not all(np.isfinite(system.numpy(y)).all() for y in inner(*leaves)):
        raise Inapplicable("law: expected finite results, got others: there the outer function has no derivative")

    def outer(*ys: Any) -> list[Any]:
        return [system.ops.mul(system.ops.sin(y), y) for y in ys]

    def composed(*xs: Any) -> list[Any]:
        return outer(*inner(*xs))

    def forward() -> Claims:
        v = tangents_of(trial, leaves)
        y, pushed = system.jvp(inner, leaves, v)
        whole = system.jvp(composed, leaves, v)
        yield Claim("jvp(g ∘ f, x, v)", whole, "jvp(g, f(x), jvp(f, x, v))", system.jvp(outer, y, pushed))

    def reverse() -> Claims:
        out, pull = system.vjp(composed, *leaves)
        w = tree.map(system.array, tangents_of(trial, out))
        y, pull_inner = system.vjp(inner, *leaves)
        pulled = pull_inner(list(system.vjp(outer, *y)[1](w)))
        yield Claim("vjp(g ∘ f, x)[1](w)", pull(w), "vjp(f, x)[1](vjp(g, f(x))[1](w))", pulled)

    for way in trial.some([forward, reverse] if trial.has("vjp") else [forward]):
        yield from way()
