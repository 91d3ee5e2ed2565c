"""Laws of transposition and reverse mode."""

from __future__ import annotations

import numpy as np

from lawful.laws._derivatives.directions import differentiable, pairing, restrict, scalarized, tangents_of
from lawful.laws._law.law import Claim, Claims, Trial, law


@law("transposition", needs=("vjp",))
def law_vjp_transpose(trial: Trial) -> Claims:
    """Reverse mode is the transpose of forward mode, and transposing twice is the identity.

    Equation: ⟨w, J v⟩ = ⟨Jᵀ w, v⟩, and (Jᵀ)ᵀ = J

    The pairing is the real part of the sum of products, without conjugation.

    Raises:
      LawViolation: it does not hold.
      Inapplicable: nothing to differentiate.

    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_vjp_transpose(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5))
    """
    parts = [_primal_and_repetition, _result_by_result]
    if trial.has("jvp"):
        parts.append(_dual)
    if trial.has("jvp") and trial.has("linearize") and trial.has("linear_transpose"):
        parts.append(_transposed_twice)
    for part in trial.some(parts):
        yield from part(trial)


def _dual(trial: Trial) -> Claims:
    function, args = differentiable(trial)
    out, pull = trial.system.vjp(function, *args)
    v, w = tangents_of(trial, args), tangents_of(trial, out)
    pushed, pulled = trial.system.jvp(function, args, v)[1], pull(w)
    system = trial.system
    yield Claim("⟨w, J v⟩", pairing(system, w, pushed), "⟨Jᵀ w, v⟩", pairing(system, pulled, v))


def _primal_and_repetition(trial: Trial) -> Claims:
    function, args = differentiable(trial)
    out, pull = trial.system.vjp(function, *args)
    yield Claim("the primal output of vjp", out, "f(x)", trial.value(function, args))
    w = tangents_of(trial, out)
    pulled = pull(w)
    yield Claim("the second call of the vjp function", pull(w), "the first call", pulled, "nothing")


def _transposed_twice(trial: Trial) -> Claims:
    system = trial.system
    restricted, leaves = restrict(trial)
    results, pull = system.vjp(restricted, *leaves)
    v, w = tangents_of(trial, leaves), tangents_of(trial, results)
    push = system.linearize(restricted, *leaves)[1]
    transposed = system.linear_transpose(push, *v)
    yield Claim("linear_transpose(linearize(f, x)[1])(w)", transposed(w), "vjp(f, x)[1](w)", pull(w))
    twice = system.linear_transpose(transposed, w)
    yield Claim("linear_transpose twice", twice(tuple(v))[0], "J v", push(*v))


def _result_by_result(trial: Trial) -> Claims:
    restricted, leaves = restrict(trial)
    results, pull = trial.system.vjp(restricted, *leaves)
    w = tangents_of(trial, results)
    for i in trial.some(range(len(results))):
        # The other cotangents are zeros: symbolic if the output is selected before reverse mode.
        alone = trial.system.vjp(lambda *xs, i=i: restricted(*xs)[i], *leaves)[1](w[i])
        zeros = [x if j == i else np.zeros_like(x) if np.shape(x) else x * 0 for j, x in enumerate(w)]
        yield Claim(f"vjp of result {i} alone", alone, "vjp with the other cotangents zero", pull(zeros))


@law("transposition", needs=("vjp", "grad"))
def law_grad_is_vjp(trial: Trial) -> Claims:
    """The gradient of a weighted sum of results is the vjp of the weights.

    Equation: grad(x ↦ ⟨w, f(x)⟩) = vjp(f, x)[1](w)

    Raises:
      LawViolation: it does not hold.
      Inapplicable: nothing to differentiate.

    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_grad_is_vjp(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5))
    """
    system = trial.system
    restricted, leaves = restrict(trial)
    loss = scalarized(system, restricted, trial.case.seed)
    numbers = tuple(range(len(leaves)))
    value, pull = system.vjp(loss, *leaves)
    pulled = pull(np.ones(system.aval(value).shape, system.aval(value).dtype)[()])
    every: list[int | tuple[int, ...]] = [numbers, *numbers]
    for argnums in trial.some(every):
        gradient = system.grad(loss, argnums)(*leaves)
        expected = pulled[argnums] if isinstance(argnums, int) else pulled
        yield Claim(f"grad(f, {argnums})", gradient, "vjp of 1", expected)
