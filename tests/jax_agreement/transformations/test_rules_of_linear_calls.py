"""Calls of functions with rules within linear programs are differentiated in lawful as in jax."""

from types import SimpleNamespace

import jax
import numpy as np
import pytest

import lawful.numpy
from lawful import autodiff, batching, control_flow, custom_rules
from lawful.staging import jit

OURS = SimpleNamespace(
    np=lawful.numpy, grad=autodiff.grad, value_and_grad=autodiff.value_and_grad, jvp=autodiff.jvp,
    vjp=autodiff.vjp, linearize=autodiff.linearize,
    linear_transpose=autodiff.linear_transpose, checkpoint=autodiff.checkpoint, vmap=batching.vmap, jit=jit,
    cond=control_flow.cond, scan=control_flow.scan, fori_loop=control_flow.fori_loop,
    custom_linear_solve=control_flow.custom_linear_solve, custom_jvp=custom_rules.custom_jvp,
)  # fmt: skip
THEIRS = SimpleNamespace(
    np=jax.numpy, grad=jax.grad, value_and_grad=jax.value_and_grad, jvp=jax.jvp, vjp=jax.vjp, linearize=jax.linearize,
    linear_transpose=jax.linear_transpose, checkpoint=jax.checkpoint, vmap=jax.vmap, jit=jax.jit,
    cond=jax.lax.cond, scan=jax.lax.scan, fori_loop=jax.lax.fori_loop,
    custom_linear_solve=jax.lax.custom_linear_solve, custom_jvp=jax.custom_jvp,
)  # fmt: skip

A, X, W = 0.3, 2.0, 5.0


def linear(lib):
    """Returns ``sin(a) * x``, linear in ``x``, with a rule that by ``a`` gives ten times the derivative."""
    f = lib.custom_jvp(lambda a, x: lib.np.sin(a) * x)
    f.defjvp(lambda p, t: (f(*p), 10.0 * lib.np.cos(p[0]) * t[0] * p[1] + f(p[0], t[1])))
    return f


def solved(lib, f):
    """Returns the solution of a linear system, by ``f`` for the matrix."""

    def solve(matvec, b):
        return b / matvec(lib.np.ones_like(b))

    return lambda a, b: lib.custom_linear_solve(lambda x: f(a, x), b, solve, solve)


# Functions of two numbers, linear in the second, by one that is.
PLACES = {
    "direct": lambda lib, f: f,
    "jit": lambda lib, f: lib.jit(f),
    "vmap": lambda lib, f: lambda a, x: lib.vmap(f, (None, 0))(a, lib.np.stack([x, x]))[0],
    "vmap of the first": lambda lib, f: lambda a, x: lib.vmap(f, (0, None))(lib.np.stack([a, a]), x)[0],
    "checkpoint": lambda lib, f: lib.checkpoint(f),
    "cond": lambda lib, f: lambda a, x: lib.cond(a > -9.0, f, lambda a, x: x, a, x),
    "scan": lambda lib, f: lambda a, x: lib.scan(lambda c, _: (f(a, c), None), x, None, length=3)[0],
    "fori_loop": lambda lib, f: lambda a, x: lib.fori_loop(0, 3, lambda _, c: f(a, c), x),
    "custom_linear_solve": solved,
    "rule": lambda lib, f: lambda a, x: x * ruled(lib, f)(a),
}


def ruled(lib, f):
    """Returns the sine with a rule that calls a function on the tangent."""
    g = lib.custom_jvp(lib.np.sin)
    g.defjvp(lambda p, t: (g(*p), f(np.pi / 2 - p[0], t[0])))
    return g


# Functions of the first number, given one of two that is linear in the second.
LINEAR_PROGRAMS = {
    "primal": lambda lib, f: lambda a: f(a, X),
    "transpose": lambda lib, f: lambda a: lib.linear_transpose(lambda x: f(a, x), X)(W)[0],
    "jvp": lambda lib, f: lambda a: lib.jvp(lambda x: f(a, x), (X,), (W,))[1],
    "linearize": lambda lib, f: lambda a: lib.linearize(lambda x: f(a, x), X)[1](W),
    "vjp": lambda lib, f: lambda a: lib.vjp(lambda x: f(a, x), X)[1](W)[0],
    "linearize by both": lambda lib, f: lambda a: lib.linearize(f, a, X)[1](W, W),
    "vjp by both": lambda lib, f: lambda a: lib.vjp(f, a, X)[1](W)[0],
}
ORDERS = {
    "value": lambda lib, h: h,
    "jvp": lambda lib, h: lambda a: lib.jvp(h, (a,), (1.0,))[1],
    "grad": lambda lib, h: lib.grad(h),
    "jvp of jvp": lambda lib, h: ORDERS["jvp"](lib, ORDERS["jvp"](lib, h)),
    "grad of grad": lambda lib, h: lib.grad(lib.grad(h)),
}


def forward(lib, h, a):
    """Returns the value and two derivatives."""
    (value, first), (_, second) = lib.jvp(lambda a: lib.jvp(h, (a,), (1.0,)), (a,), (1.0,))
    return value, first, second


def backward(lib, h, a):
    """Returns the value and two derivatives."""
    (first, value), second = lib.value_and_grad(lambda a: lib.value_and_grad(h)(a)[::-1], has_aux=True)(a)
    return value, first, second


@pytest.mark.parametrize("place", PLACES)
def test_custom_jvp_calls_in_linear_programs_agree(place):
    def functions(lib):
        f = PLACES[place](lib, linear(lib))
        return [program(lib, f) for program in LINEAR_PROGRAMS.values()]

    def staged(lib, a):
        return [[forward(lib, h, a), backward(lib, h, a)] for h in functions(lib)]

    # One program, in which second derivatives have the value and the first: each of its own takes longer.
    expected = jax.jit(lambda a: staged(THEIRS, a))(A)
    compiled = jit(lambda a: (staged(OURS, a), [h(a) for h in functions(OURS)]))(A)
    for name, h, theirs, ours, value in zip(LINEAR_PROGRAMS, functions(OURS), expected, *compiled, strict=True):
        (wanted, jvp, jvp2), (_, grad, grad2) = theirs
        for order, result in zip(ORDERS, (wanted, jvp, grad, jvp2, grad2), strict=True):
            np.testing.assert_allclose(ORDERS[order](OURS, h)(A), result, rtol=1e-11, err_msg=f"{name}, {order}")
        np.testing.assert_allclose(ours, theirs, rtol=1e-11, err_msg=name)
        np.testing.assert_allclose(value, wanted, rtol=1e-11, err_msg=name)
