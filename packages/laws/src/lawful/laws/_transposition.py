"""Laws of transposition and reverse mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lawful.autodiff import grad, jvp, linear_transpose, linearize, vjp
from lawful.laws._directions import pairing, restrict, scalarized, tangents_of
from lawful.laws._law import Claim, Claims, law


@law
def law_vjp_transpose(function: Callable[..., Any], *args: Any, seed: int = 0) -> Claims:
    """Reverse mode is the transpose of forward mode, and transposing twice is the identity.

    Equation: ⟨w, J v⟩ = ⟨Jᵀ w, v⟩, and (Jᵀ)ᵀ = J

    The pairing is the real part of the sum of products, without conjugation.

    Raises:
      LawViolation: it does not hold.
      Inapplicable: nothing to differentiate.
    """
    random = np.random.default_rng(seed)
    out, pull_all = vjp(function, *args)
    yield Claim("the primal output of vjp", out, "f(x)", function(*args))
    v, w = tangents_of(random, args), tangents_of(random, out)
    pushed, pulled = jvp(function, args, v)[1], pull_all(w)
    yield Claim("⟨w, J v⟩", pairing(w, pushed), "⟨Jᵀ w, v⟩", pairing(pulled, v))
    yield Claim("the second call of the vjp function", pull_all(w), "the first call", pulled, "nothing")

    restricted, leaves = restrict(function, args)
    results, pull = vjp(restricted, *leaves)
    v, w = tangents_of(random, leaves), tangents_of(random, results)
    push = linearize(restricted, *leaves)[1]
    transposed = linear_transpose(push, *v)
    yield Claim("linear_transpose(linearize(f, x)[1])(w)", transposed(w), "vjp(f, x)[1](w)", pull(w))
    twice = linear_transpose(transposed, w)
    yield Claim("linear_transpose twice", twice(tuple(v))[0], "J v", push(*v))
    for i in range(len(results)):
        # The other cotangents are zeros, symbolic ones where the output is chosen before reverse mode.
        alone = vjp(lambda *xs, i=i: restricted(*xs)[i], *leaves)[1](w[i])
        zeros = [x if j == i else np.zeros_like(x) if np.shape(x) else x * 0 for j, x in enumerate(w)]
        yield Claim(f"vjp of result {i} alone", alone, "vjp with the other cotangents zero", pull(zeros))


@law
def law_grad_is_vjp(function: Callable[..., Any], *args: Any, seed: int = 0) -> Claims:
    """The gradient of a weighted sum of results is the vjp of the weights.

    Equation: grad(x ↦ ⟨w, f(x)⟩) = vjp(f, x)[1](w)

    Raises:
      LawViolation: it does not hold.
      Inapplicable: nothing to differentiate.
    """
    restricted, leaves = restrict(function, args)
    loss = scalarized(restricted, seed)
    numbers = tuple(range(len(leaves)))
    value, pull = vjp(loss, *leaves)
    yield Claim("grad", grad(loss, numbers)(*leaves), "vjp of 1", pull(np.ones_like(value)[()]))
    one_by_one = tuple(grad(loss, i)(*leaves) for i in numbers)
    yield Claim("grad with one argnum at a time", one_by_one, "grad with all", grad(loss, numbers)(*leaves))
