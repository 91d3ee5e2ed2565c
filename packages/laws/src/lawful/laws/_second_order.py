"""Laws of second derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lawful.autodiff import grad, hessian, jacfwd, jacrev, jvp
from lawful.core import get_aval
from lawful.laws._directions import is_wide_real, pairing, restrict, scalarized, tangents_of
from lawful.laws._forward import finite_differences
from lawful.laws._law import Claim, Claims, law

# Whole Hessians are compared up to this many elements of the argument.
_MOST_ELEMENTS = 8


@law
def law_second_order(function: Callable[..., Any], *args: Any, seed: int = 0) -> Claims:
    """The four ways to a second derivative agree, and Hessians are symmetric.

    Equation: ∂(∇f · v) forward over reverse = reverse over forward = reverse over reverse = forward over forward
    = lim (∇f(x + h v) − ∇f(x − h v)) / 2h, and ⟨w, H v⟩ = ⟨v, H w⟩

    Real arguments of 64 bits are differentiated by, and a weighted sum of real results is differentiated.

    Raises:
      LawViolation: it does not hold.
      Inapplicable: nothing to differentiate.
    """
    random = np.random.default_rng(seed)
    restricted, leaves = restrict(function, args, is_wide_real)
    loss = scalarized(restricted, seed)
    numbers = tuple(range(len(leaves)))
    gradient = grad(loss, numbers)
    v, w = tangents_of(random, leaves), tangents_of(random, leaves)

    forward_reverse = list(jvp(gradient, leaves, v)[1])
    reverse_forward = list(grad(lambda *xs: jvp(loss, xs, v)[1], numbers)(*leaves))
    yield Claim("forward over reverse", forward_reverse, "reverse over forward", reverse_forward)
    reverse_reverse = list(grad(lambda *xs: pairing(list(gradient(*xs)), v), numbers)(*leaves))
    yield Claim("reverse over reverse", reverse_reverse, "forward over reverse", forward_reverse)
    forward_forward = jvp(lambda *xs: jvp(loss, xs, v)[1], leaves, w)[1]
    yield Claim("forward over forward along v and w", forward_forward, "⟨w, H v⟩", pairing(w, forward_reverse))
    along_w = list(jvp(gradient, leaves, w)[1])
    yield Claim("⟨w, H v⟩", pairing(w, forward_reverse), "⟨v, H w⟩", pairing(v, along_w))

    differences = finite_differences(lambda *xs: list(gradient(*xs)), leaves, v)
    yield Claim("forward over reverse", forward_reverse, "finite differences", differences, "differences")

    x = leaves[0]
    size = get_aval(x).size
    if 0 < size <= _MOST_ELEMENTS:

        def alone(y: Any) -> Any:
            return loss(y, *leaves[1:])

        whole = np.asarray(hessian(alone)(x)).reshape(size, size)
        yield Claim("hessian(f)(x)", whole, "its transpose", whole.T)
        yield Claim(
            "jacrev(jacfwd(f))(x)", np.asarray(jacrev(jacfwd(alone))(x)).reshape(size, size), "hessian(f)(x)", whole
        )
        product = jvp(grad(alone), (x,), (v[0],))[1]
        yield Claim("H v", whole @ np.reshape(v[0], -1), "forward over reverse", np.reshape(product, -1))
