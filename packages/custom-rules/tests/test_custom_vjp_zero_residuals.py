"""Forward mode of a `custom_vjp` whose `bwd` adds a residual: refused, unless it is zero for all arguments."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, jacfwd, jvp, linearize, vjp
from lawful.batching import vmap
from lawful.core import NotLinearError
from lawful.custom_rules import custom_vjp
from lawful.staging import jit as jit_by

jit = partial(jit_by, backend="numpy")
Function = Callable[..., Any]
XS = np.array([0.5, -1.0, 2.0])
ONES = np.ones(3)


def adding(residual: Function) -> Function:
    """Returns a function that is twice its argument, with a `bwd` that adds a residual."""

    @custom_vjp
    def g(x: Any) -> Any:
        return x * 2.0

    g.defvjp(lambda x: (g(x), residual(x)), lambda r, ct: (ct * 2.0 + r,))
    return g


def tangent(g: Function) -> Function:
    return lambda x: jvp(g, (x,), (ONES,))[1]


def summed(f: Function) -> Function:
    return lambda x: ops.reduce_sum(f(x), (0,))


#: Applies a function with a rule, in forward mode, and gives the tangent along ones.
WAYS: dict[str, Callable[[Function], Function]] = {
    "jvp": tangent,
    "jit of jvp": lambda g: jit(tangent(g)),
    "jvp of jit": lambda g: tangent(jit(g)),
    "jit of jvp of jit": lambda g: jit(tangent(jit(g))),
    "jit of the tangent": lambda g: lambda x: jit(lambda t: jvp(g, (x,), (t,))[1])(ONES),
    "linearize": lambda g: lambda x: linearize(g, x)[1](ONES),
    "jit of linearize": lambda g: jit(lambda x: linearize(g, x)[1](ONES)),
    "jit of a linear part": lambda g: lambda x: jit(linearize(g, x)[1])(ONES),
    "vmap of jit": lambda g: lambda x: vmap(jit(tangent(g)))(np.stack([x, x]))[1],
    "jit of vmap": lambda g: lambda x: jit(vmap(tangent(g)))(np.stack([x, x]))[1],
    "jit of vmap of the tangent": lambda g: jit(
        lambda x: vmap(lambda t: jvp(g, (x,), (t,))[1])(np.stack([ONES, ONES]))[1]
    ),
    "jit of jacfwd": lambda g: jit(lambda x: ops.reduce_sum(jacfwd(g)(x), (1,))),
}
ZEROS: dict[str, Function] = {
    "zeros": lambda x: ops.full_like(x, 0.0),
    "an array of NumPy": lambda x: np.zeros(3),
    "a number": lambda x: 0.0,
    "a product": lambda x: 0.0 * ops.sin(x),
    "zeros of an array": lambda x: ops.broadcast_in_dim(np.zeros(1), (3,), (0,)),
    "a difference of zeros": lambda x: ops.full_like(x, 0.0) - 0.0 * x,
}
OTHERS: dict[str, Function] = {
    "the argument": lambda x: x,
    "ones": lambda x: ops.full_like(x, 1.0),
    "a difference": lambda x: x - ops.sin(x),
    "zeros, and then a one": lambda x: ops.concatenate([ops.full((2,), 0.0), x[:1]], 0),
    "a maximum": lambda x: ops.max(x, 0.0 * x),
    "a cosine of zeros": lambda x: ops.cos(0.0 * x),
    "a call": lambda x: jit(lambda x: ops.full_like(x, 0.0) + x)(x),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ZEROS)
def test_custom_vjp_adds_a_residual_that_is_zero(name: str, way: str) -> None:
    np.testing.assert_array_equal(WAYS[way](adding(ZEROS[name]))(XS), 2.0 * ONES)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", OTHERS)
def test_custom_vjp_adds_a_residual_that_is_not_zero(name: str, way: str) -> None:
    with pytest.raises(NotLinearError, match="custom_vjp of g: expected a bwd that is linear"):
        WAYS[way](adding(OTHERS[name]))(XS)


@pytest.mark.parametrize("name", ZEROS)
@pytest.mark.parametrize("wrap", [lambda f: f, jit], ids=["eager", "jit"])
def test_custom_vjp_second_derivatives_with_zeros(name: str, wrap: Any) -> None:
    """They are zero, and no order of derivatives is refused."""
    f = summed(tangent(adding(ZEROS[name])))
    np.testing.assert_array_equal(wrap(grad(f))(XS), 0.0 * XS)
    np.testing.assert_array_equal(wrap(lambda x: jvp(f, (x,), (ONES,))[1])(XS), 0.0)
    np.testing.assert_array_equal(wrap(grad(summed(grad(f))))(XS), 0.0 * XS)
    np.testing.assert_array_equal(wrap(vmap(grad(f)))(np.stack([XS, XS])), np.zeros((2, 3)))


@pytest.mark.parametrize("wrap", [lambda f: f, jit, vmap], ids=["eager", "jit", "vmap"])
@pytest.mark.parametrize(
    "derivative",
    [
        grad,
        lambda f: lambda x: jvp(f, (x,), (ONES,)),
        lambda f: lambda x: linearize(f, x)[1](ONES),
        lambda f: lambda x: vjp(f, x)[1](np.float64(1.0)),
    ],
    ids=["grad", "jvp", "linearize", "vjp"],
)
def test_custom_vjp_residual_that_is_zero_at_a_point(derivative: Any, wrap: Any) -> None:
    """A derivative of its tangent would miss what the residual is elsewhere."""
    f = summed(tangent(adding(lambda x: x)))
    x = np.zeros((2, 3)) if wrap is vmap else np.zeros(3)
    with pytest.raises(NotLinearError, match="custom_vjp of g: expected a bwd that is linear"):
        wrap(derivative(f))(x)


@pytest.mark.parametrize("wrap", [lambda f: f, jit], ids=["eager", "jit"])
def test_custom_vjp_residual_that_is_zero_in_a_call(wrap: Any) -> None:
    """Calls of one function with residuals of one type are told apart."""
    values = [np.zeros(3), np.ones(3), np.zeros(3)]

    @custom_vjp
    def g(x: Any) -> Any:
        return x * 2.0

    def fwd(x: Any) -> Any:
        return g(x), residual

    g.defvjp(fwd, lambda r, ct: (ct * 2.0 + r,))
    for residual in values:  # fwd reads it
        f = wrap(lambda x: jvp(g, (x,), (ONES,))[1])
        if residual.any():
            with pytest.raises(NotLinearError, match="one that adds something to it"):
                f(XS)
        else:
            np.testing.assert_array_equal(f(XS), 2.0 * ONES)


def test_custom_vjp_zeros_long_before_a_residual() -> None:
    """Where zeros are not found, forward mode is refused."""

    def late(x: Any) -> Any:
        zeros = ops.full_like(x, 0.0)
        for _ in range(100):
            x = ops.sin(x)
        return zeros

    with pytest.raises(NotLinearError, match="one that adds something to it"):
        jit(tangent(adding(late)))(XS)
