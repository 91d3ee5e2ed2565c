"""Random stacks of transformations of small functions give in lawful what they give in jax: value, shape, dtype."""

import random
from types import SimpleNamespace

import jax
import numpy as np
import pytest

import lawful.numpy
from lawful.autodiff import grad, hessian, jvp, linearize, vjp
from lawful.batching import vmap
from lawful.control_flow import cond, fori_loop, map, scan
from lawful.staging import jit

OURS = SimpleNamespace(
    np=lawful.numpy,
    grad=grad,
    hessian=hessian,
    jvp=jvp,
    linearize=linearize,
    vjp=vjp,
    vmap=vmap,
    cond=cond,
    jit=jit,
    scan=scan,
    fori_loop=fori_loop,
    map=map,
)
THEIRS = SimpleNamespace(
    np=jax.numpy, grad=jax.grad, hessian=jax.hessian, jvp=jax.jvp, linearize=jax.linearize, vjp=jax.vjp,
    vmap=jax.vmap, cond=jax.lax.cond, jit=jax.jit, scan=jax.lax.scan, fori_loop=jax.lax.fori_loop, map=jax.lax.map,
)  # fmt: skip

# Functions of a library and an array of any shape; the result is an array of that shape, or a scalar.
FUNCTIONS = {
    "sin": lambda lib, x: lib.np.sin(x) * x,
    "tanh": lambda lib, x: lib.np.tanh(x * 1.5) + 1.0,
    "polynomial": lambda lib, x: x**3 - 2.0 * x**2 + x,
    "rational": lambda lib, x: x / (1.0 + x * x),
    "exp": lambda lib, x: lib.np.exp(-x * x),
    "log": lambda lib, x: lib.np.log(x * x + 2.0),
    "sqrt": lambda lib, x: lib.np.sqrt(x * x + 1.0),
    "where": lambda lib, x: lib.np.where(x > 0.3, lib.np.sin(x), x * x),
    "maximum": lambda lib, x: lib.np.maximum(x, 0.3) * x,
    "sum": lambda lib, x: lib.np.sum(x * x * x),
    "logsumexp": lambda lib, x: lib.np.log(lib.np.sum(lib.np.exp(x))),
    "mean": lambda lib, x: x - lib.np.mean(x) * lib.np.cos(x),
    "max": lambda lib, x: lib.np.max(x) * lib.np.sin(x),
    "inner jit": lambda lib, x: lib.jit(lambda y: lib.np.sin(x * y) * y)(x + 1.0),
    "inner cond": lambda lib, x: lib.cond(lib.np.sum(x) > 0.2, lambda y: y * lib.np.sin(y), lambda y: y * y, x),
    "inner scan": lambda lib, x: lib.scan(lambda c, s: (lib.np.sin(c) * s + x, c), x, lib.np.stack([x, -x]))[0],
    "inner fori": lambda lib, x: lib.fori_loop(0, 3, lambda i, c: lib.np.cos(c * x) + i * x, x),
    "inner grad": lambda lib, x: x * lib.grad(lambda y: lib.np.sum(lib.np.sin(x * y)))(x),
}

# Transformations, given a library and a function, which may have several results; each returns such a function.
TRANSFORMATIONS = {
    "jit": lambda lib, f: lib.jit(f),
    "grad": lambda lib, f: lib.grad(lambda x: lib.np.sum(f(x))),
    "hessian": lambda lib, f: lambda x: lib.np.sum(lib.hessian(lambda x: lib.np.sum(f(x)))(x) ** 2),
    "jvp": lambda lib, f: lambda x: lib.np.sin(lib.jvp(f, (x,), (lib.np.cos(x),))[1]),
    "jvp both": lambda lib, f: lambda x: (lambda y, v: y * 0.5 + v)(*lib.jvp(f, (x,), (x * x,))),
    "vjp": lambda lib, f: lambda x: (lambda y, pull: pull(lib.np.cos(y))[0])(*lib.vjp(f, x)),
    "linearize": lambda lib, f: lambda x: (lambda y, push: y + push(lib.np.sin(x)))(*lib.linearize(f, x)),
    "vmap": lambda lib, f: lambda x: lib.vmap(f)(lib.np.stack([x, x * 0.5, -x])),
    "vmap last": lambda lib, f: lambda x: lib.vmap(lambda s: f(x * s), out_axes=-1)(np.array([0.5, 2.0], x.dtype)),
    "scan": lambda lib, f: (
        lambda x: lib.scan(lambda c, s: (c * 0.5 + s, f(c)), x, np.array([0.5, -1.0], x.dtype), reverse=True)[1]
    ),
    "fori": lambda lib, f: lambda x: lib.fori_loop(0, 2, lambda i, y: y * 0.5 + f(x * (i + 1.0)), f(x)),
    "map": lambda lib, f: lambda x: lib.map(lambda s: f(x * s), np.array([0.5, 2.0], x.dtype)),
    "cond": lambda lib, f: lambda x: lib.cond(lib.np.sum(x) > 0.1, f, lambda x: f(x * 2.0), x),
    "vmap cond": lambda lib, f: (
        lambda x: lib.vmap(lambda s: lib.cond(lib.np.sum(x) * s > 0.1, f, lambda x: f(-x) * 2.0, x))(
            np.array([1.0, -1.0], x.dtype)
        )
    ),
}
CASES = 80


def transform(lib, function, stack):
    def applied(x):
        return function(lib, x)

    for name in stack:
        applied = TRANSFORMATIONS[name](lib, applied)
    return applied


def stack_of(draw):
    stack = draw.choices(list(TRANSFORMATIONS), k=draw.randint(1, 4))
    # One hessian in a stack: jax takes many seconds to compile two.
    first = stack.index("hessian") if "hessian" in stack else None
    return ["grad" if step == "hessian" and place != first else step for place, step in enumerate(stack)]


def drawn(seed):
    """Returns a function of an array and the library, its argument, and its text."""
    draw = random.Random(seed)
    name = list(FUNCTIONS)[seed % len(FUNCTIONS)]
    stack = stack_of(draw)
    shape = draw.choice([(), (3,), (2, 2)])
    dtype = draw.choice([np.float64, np.float64, np.float32])
    x = np.random.default_rng(seed).uniform(-1.0, 1.0, shape).astype(dtype)
    if seed % 7 == 0:  # Python scalars are weak
        shape, x = (), float(np.mean(x))
        stack = [step for step in stack if step not in ("vmap last", "vmap cond", "scan", "map")] or ["grad"]
    said = f"{name}, {' of '.join(reversed(stack))}, at {x!r}"
    return lambda lib, x: transform(lib, FUNCTIONS[name], stack)(x), x, said


@pytest.mark.parametrize("start", range(0, CASES, 8))
def test_transformations_stacks_agree(start):
    """JAX compiles eight stacks in one program: each of its own, and more so op by op, takes longer."""
    cases = [drawn(seed) for seed in range(start, start + 8)]
    theirs = jax.jit(lambda xs: [function(THEIRS, x) for (function, *_), x in zip(cases, xs, strict=True)])
    for (function, x, said), expected in zip(cases, theirs([x for _, x, _ in cases]), strict=True):
        got = function(OURS, x)
        assert np.shape(got) == expected.shape, said
        assert np.asarray(got).dtype == expected.dtype, said
        assert np.all(np.isfinite(expected)), said
        tolerance = 1e-10 if expected.dtype == np.float64 else 2e-3
        scale = max(1.0, float(np.max(np.abs(expected))))
        np.testing.assert_allclose(np.asarray(got) / scale, np.asarray(expected) / scale, atol=tolerance, err_msg=said)


def test_transformations_every_transformation_and_depth_is_drawn():
    stacks = []
    for seed in range(CASES):
        draw = random.Random(seed)
        stacks.append(stack_of(draw))
    assert {step for stack in stacks for step in stack} == set(TRANSFORMATIONS)
    assert {len(stack) for stack in stacks} == {1, 2, 3, 4}
