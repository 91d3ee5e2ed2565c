"""vmap of branches and loops that are NaN or infinite outside of their domain is the loop over the batch.

What a batch element does not run, another branch or an iteration after its own last one, may not reach its value or
its derivatives: 0 times NaN is NaN.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import numpy as lnp
from lawful import tree
from lawful.autodiff import grad, jacfwd, jacrev, jvp, linearize, vjp
from lawful.batching import vmap
from lawful.control_flow import cond, fori_loop, scan, switch, while_loop
from lawful.custom_rules import custom_jvp
from lawful.staging import jit

Function = Callable[..., Any]


@custom_jvp
def safe_sqrt(x: Any) -> Any:
    return lnp.sqrt(x)


safe_sqrt.defjvp(lambda primals, tangents: (lnp.sqrt(primals[0]), tangents[0] / (2.0 * lnp.sqrt(primals[0]))))


def halved(x: Any) -> Any:
    """Halves a number while it is above 1; the next iteration would take the logarithm of a negative number."""
    return while_loop(lambda s: s[0] > 1.0, lambda s: (s[0] / 2.0 - 0.5, s[1] + lnp.log(s[0])), (x, 0.0 * x))[1]


def stepped(x: Any) -> Any:
    """Reaches the pole of the body after the last iteration."""
    return while_loop(lambda s: s[0] > 0.5, lambda s: (s[0] - 1.0, s[1] + 1.0 / s[0]), (x, 0.0 * x))[1]


PROGRAMS: dict[str, Function] = {
    "cond": lambda x: cond(x > 0, lnp.log, lambda x: x * x, x),
    "cond at the end of a domain": lambda x: cond(x > 0, lnp.sqrt, lambda x: 3.0 * x, x),
    "cond of constants": lambda x: cond(x > 0, lambda: lnp.sqrt(x), lambda: 0.0 * x),
    "switch": lambda x: switch(lnp.clip(x, -1, 1).astype("int32") + 1, [lnp.exp, lnp.sin, lnp.log], x),
    "cond of cond": lambda x: cond(
        x > 0, lambda x: cond(x > 1, lambda x: lnp.log(x - 1), lnp.sqrt, x), lambda x: lnp.log(-x + 1), x
    ),
    "custom_jvp in a branch": lambda x: cond(x > 0, safe_sqrt, lambda x: -x, x),
    "jit in a branch": lambda x: cond(x > 0, jit(lnp.log), lambda x: -x, x),
    "while_loop": halved,
    "while_loop to a pole": stepped,
    "while_loop in cond": lambda x: cond(x > 1, halved, lambda x: x * x, x),
    "cond in while_loop": lambda x: fori_loop(
        0, 3, lambda i, y: cond(y > 0, lambda y: lnp.sqrt(y) - 0.25, lambda y: y * 0.5, y), x
    ),
    "cond in scan": lambda x: scan(lambda c, a: (cond(c > a, lambda c: lnp.log(c - a), lambda c: c * a, c), c), x, A)[
        0
    ],
    "fori_loop of a traced bound": lambda x: fori_loop(
        0, lnp.ceil(lnp.abs(x)).astype("int64"), lambda i, y: y + lnp.sqrt(lnp.abs(x) - i), 0.0 * x
    ),
}
A = np.array([0.5, 1.5])
#: Ends of domains, points at which the branch not taken is NaN or infinite, and ordinary ones.
X = np.array([-2.5, -1.0, 0.0, 0.5, 1.5, 3.25])

TRANSFORMATIONS: dict[str, Callable[[Function], Function]] = {
    "value": lambda f: f,
    "grad": grad,
    "jvp": lambda f: lambda x: jvp(f, (x,), (1.0 + 0.0 * x,)),
    "linearize": lambda f: lambda x: linearize(f, x)[1](1.0 + 0.0 * x),
    "vjp": lambda f: lambda x: vjp(f, x)[1](1.0 + 0.0 * x),
    "jacfwd": jacfwd,
    "jacrev": jacrev,
}


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("transformation", TRANSFORMATIONS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_vmap_outside_of_domains_is_the_loop(program: str, transformation: str, compiled: bool) -> None:
    function = TRANSFORMATIONS[transformation](PROGRAMS[program])
    with np.errstate(all="ignore"):
        expected = [function(x) for x in X]
        batched = vmap(function)
        found = (jit(batched, backend="numpy") if compiled else batched)(X)
    for x, *ys in zip(tree.leaves(found), *map(tree.leaves, expected), strict=True):
        np.testing.assert_allclose(np.asarray(x), np.stack(ys), rtol=1e-12)


#: Derivatives of the mapped function along all elements at once.
OF_BATCH: dict[str, Callable[[Function], Any]] = {
    "jvp": lambda f: jvp(f, (X,), (np.ones_like(X),))[1],
    "linearize": lambda f: linearize(f, X)[1](np.ones_like(X)),
    "vjp": lambda f: vjp(f, X)[1](np.ones_like(X))[0],
    "grad": lambda f: grad(lambda xs: f(xs).sum())(X),
    "second": lambda f: jvp(grad(lambda xs: f(xs).sum()), (X,), (np.ones_like(X),))[1],
}


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("derivative", OF_BATCH)
@pytest.mark.parametrize("program", PROGRAMS)
def test_derivative_of_vmap_outside_of_domains(program: str, derivative: str, compiled: bool) -> None:
    function = PROGRAMS[program]
    of_element = grad(grad(function)) if derivative == "second" else grad(function)
    with np.errstate(all="ignore"):
        expected = [of_element(x) for x in X]
        mapped = vmap(function)
        found = OF_BATCH[derivative](jit(mapped, backend="numpy") if compiled else mapped)
    np.testing.assert_allclose(found, np.stack(expected), rtol=1e-12)


@pytest.mark.parametrize("program", PROGRAMS)
def test_vmap_of_grad_outside_of_domains_is_finite(program: str) -> None:
    """The loop over the batch is finite inside of the domains: a NaN would hide a NaN."""
    with np.errstate(all="ignore"):
        found = vmap(grad(PROGRAMS[program]))(X[[0, 3, 4, 5]])
    assert np.isfinite(found).all()
