"""Functions with rules that apply a collective: under every transformation they are the function without rules.

A result that a collective makes the same for all elements is not mapped, also where the call is recorded.
"""

from __future__ import annotations

import numpy as np
import pytest

from lawful.autodiff import checkpoint, grad, hessian, jvp, vjp
from lawful.batching import psum, vmap
from lawful.core import ArgumentTypeError
from lawful.custom_rules import custom_jvp, custom_rule, custom_vjp
from lawful.ops import cos, mul, sin
from lawful.staging import jit, make_jaxpr

X = np.array([0.0, 1.0, 2.0])
XS = np.array([[0.1, 0.4, 0.7], [1.0, 2.0, 3.0]])


def plain(x, y):
    return psum(sin(x * y), "i")


def with_jvp(x, y):
    f = custom_jvp(lambda x: plain(x, y))

    @f.defjvp
    def rule(primals, tangents):
        return jvp(lambda x: plain(x, y), primals, tangents)

    return f(x)


def with_vjp(x, y):
    f = custom_vjp(lambda x: plain(x, y))
    f.defvjp(lambda x: (plain(x, y), x), lambda x, ct: (psum(ct, "i") * cos(x * y) * y,))
    return f(x)


def with_vjp_that_calls_itself(x, y):
    f = custom_vjp(plain)
    f.defvjp(
        lambda x, y: (f(x, y), (x, y)),
        lambda res, ct: (
            psum(ct, "i") * cos(res[0] * res[1]) * res[1],
            psum(ct, "i") * cos(res[0] * res[1]) * res[0],
        ),
    )
    return f(x, y)


def with_both(x, y):
    f = custom_rule(lambda x: plain(x, y))
    f.def_jvp(lambda primals, tangents: jvp(lambda x: plain(x, y), primals, tangents))
    f.def_vjp(lambda x: (plain(x, y), x), lambda x, ct: (psum(ct, "i") * cos(x * y) * y,))
    return f(x)


def with_checkpoint(x, y):
    return checkpoint(plain)(x, y)


FUNCTIONS = (with_jvp, with_vjp, with_vjp_that_calls_itself, with_both, with_checkpoint)


def mapped(f, out_axes=None, y_axis=None):
    return vmap(f, in_axes=(0, y_axis), axis_name="i", out_axes=out_axes)


# Each makes a function of one array of a function of x and y.
STACKS = {
    "shared result": lambda f: lambda x: mapped(f)(x, 2.0),
    "both mapped": lambda f: lambda x: mapped(f, y_axis=0)(x, x),
    "repeated result": lambda f: lambda x: mapped(f, 0)(x, 2.0),
    "grad inside": lambda f: lambda x: mapped(grad(f), 0)(x, 2.0),
    "grad of closed over": lambda f: lambda x: grad(lambda y: mapped(f)(x, y))(2.0),
    "grad outside": lambda f: grad(lambda x: mapped(f)(x, 2.0)),
    "grad of a repeated result": lambda f: grad(lambda x: (mapped(f, 0)(x, 2.0) * X).sum()),
    "vjp inside": lambda f: lambda x: mapped(lambda x, y: vjp(f, x, y)[1](x), 0)(x, 2.0),
    "jvp outside": lambda f: lambda x: jvp(lambda x: mapped(f)(x, 2.0), (x,), (x + 1.0,))[1],
    "hessian": lambda f: hessian(lambda x: mapped(f)(x, 2.0)),
    "nested, inner axis": lambda f: lambda x: vmap(lambda x: mapped(f)(x, 2.0))(np.stack([x, x + 1.0])),
    "nested, outer axis": lambda f: lambda x: mapped(lambda x, y: vmap(lambda x: f(x, y))(x))(np.stack([x, -x]), 2.0),
    "nested grad": lambda f: lambda x: vmap(grad(lambda x: mapped(f)(x, 2.0)))(np.stack([x, x + 1.0])),
    "outer axis, grad between": lambda f: (
        lambda x: mapped(lambda x, y: grad(lambda x: vmap(lambda x: f(x, y))(x).sum())(x), 0)(np.stack([x, -x]), 2.0)
    ),
}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("stack", STACKS.values(), ids=STACKS)
@pytest.mark.parametrize("compiled", ["", "inside", "outside", "both"])
def test_rules_through_psum(function, stack, compiled):
    inner = jit(function) if compiled in ("inside", "both") else function
    transformed = stack(inner)
    got = (jit(transformed, backend="numpy") if compiled in ("outside", "both") else transformed)(X)
    np.testing.assert_allclose(got, stack(plain)(X), rtol=1e-12, atol=1e-12)


def test_custom_vjp_with_shared_and_mapped_results():
    f = custom_vjp(lambda x: (psum(sin(x), "i"), x * 2.0))
    f.defvjp(lambda x: ((psum(sin(x), "i"), x * 2.0), x), lambda x, cts: (psum(cts[0], "i") * cos(x) + 2.0 * cts[1],))
    both = vmap(jit(f), axis_name="i", out_axes=(None, 0))
    np.testing.assert_allclose(both(X)[0], np.sin(X).sum())
    np.testing.assert_allclose(grad(lambda x: both(x)[0])(X), np.cos(X))
    np.testing.assert_allclose(grad(lambda x: (both(x)[1] * X).sum())(X), 2.0 * X)


def test_custom_vjp_constant_function_asks_for_each_cotangent():
    """No collective made the result the same: its rule is asked about the cotangent of each element."""
    f = custom_vjp(lambda x: 1.0)
    f.defvjp(lambda x: (1.0, None), lambda _, ct: (ct,))
    for axis_name in (None, "i"):
        for inner in (f, jit(f)):
            total = lambda x, inner=inner, name=axis_name: mul(vmap(inner, axis_name=name)(x), X).sum()  # noqa: E731
            np.testing.assert_array_equal(grad(total)(X), X)


def test_batched_call_through_psum_has_one_result():
    jaxpr = make_jaxpr(vmap(jit(lambda x: with_vjp(x, 1.0)), axis_name="i", out_axes=None))(X)
    assert [aval.shape for aval in jaxpr.out_avals] == [()]


def test_custom_jvp_rule_without_the_collective_of_the_function():
    def of(y):
        f = custom_jvp(lambda x: x * y)
        f.defjvp(lambda primals, tangents: (psum(primals[0], "i"), psum(tangents[0], "i")))
        return f

    total = lambda x, y: vmap(lambda x, y: of(y)(x), axis_name="i")(x, y).sum()  # noqa: E731
    with pytest.raises(ArgumentTypeError, match="apply the same collectives in the rule as in the function"):
        grad(total, argnums=(0, 1))(X, X)
