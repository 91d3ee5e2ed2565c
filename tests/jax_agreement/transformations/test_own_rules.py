"""Functions with rules of their own give in lawful what they give in jax, under stacks of transformations."""

import functools
import random
from types import SimpleNamespace

import jax
import numpy as np
import pytest

import lawful.numpy
from lawful import autodiff, batching, custom_rules, tree
from lawful.control_flow import cond
from lawful.core import float0
from lawful.staging import jit

OURS = SimpleNamespace(
    np=lawful.numpy, grad=autodiff.grad, jvp=autodiff.jvp, vjp=autodiff.vjp, linearize=autodiff.linearize,
    vmap=batching.vmap, jit=jit, cond=cond, custom_jvp=custom_rules.custom_jvp, custom_vjp=custom_rules.custom_vjp,
    custom_vmap=custom_rules.custom_vmap, SymbolicZero=custom_rules.SymbolicZero,
)  # fmt: skip
THEIRS = SimpleNamespace(
    np=jax.numpy, grad=jax.grad, jvp=jax.jvp, vjp=jax.vjp, linearize=jax.linearize, vmap=jax.vmap, jit=jax.jit,
    cond=jax.lax.cond, custom_jvp=jax.custom_jvp, custom_vjp=jax.custom_vjp,
    custom_vmap=jax.custom_batching.custom_vmap, SymbolicZero=jax.custom_derivatives.SymbolicZero,
)  # fmt: skip


# Functions of a library, each with rules that are not its derivatives. They take an array of any shape.


def by_jvp(lib):
    f = lib.custom_jvp(lambda x: lib.np.sin(x) * x)
    f.defjvp(lambda p, t: (f(*p), 10.0 * lib.np.cos(p[0]) * t[0]))
    return f


def by_jvps(lib):
    f = lib.custom_jvp(lambda x, y: lib.np.sin(x) * y)
    f.defjvps(lambda t, out, x, y: 3.0 * t * y, lambda t, out, x, y: out * t)
    return lambda x: f(x, x * 0.5)


def by_jvp_with_zeros(lib):
    f = lib.custom_jvp(lambda x, y: (lib.np.sin(x) * y, y))

    def rule(primals, tangents):
        (x, y), (x_dot, y_dot) = primals, tangents
        y_dot = lib.np.zeros_like(y) if type(y_dot) is lib.SymbolicZero else y_dot
        return f(x, y), (7.0 * x_dot * y + y_dot, y_dot * 2.0)

    f.defjvp(rule, symbolic_zeros=True)
    return lambda x: f(x, 0.5 * lib.np.ones_like(x))[0] + f(0.3 * x, x)[1]


def by_vjp(lib):
    f = lib.custom_vjp(lambda x: lib.np.sin(x) * x)
    f.defvjp(lambda x: (f(x), lib.np.cos(x)), lambda cos, ct: (10.0 * cos * ct,))
    return f


def by_vjp_of_trees(lib):
    f = lib.custom_vjp(lambda point, scale: {"a": point["x"] * scale, "b": [point["y"]]})

    def bwd(residuals, ct):
        point, scale = residuals
        return {"x": 2.0 * ct["a"] * scale, "y": ct["b"][0] * point["x"]}, None

    f.defvjp(lambda point, scale: (f(point, scale), (point, scale)), bwd)

    def g(x):
        out = f({"x": x, "y": lib.np.cos(x)}, 3.0)
        return out["a"] + out["b"][0]

    return g


def by_vjp_that_is_not_linear(lib):
    f = lib.custom_vjp(lambda x: x)
    f.defvjp(lambda x: (x, None), lambda _, ct: (lib.np.clip(ct, -0.5, 0.5),))
    return lambda x: f(lib.np.sin(x)) * x


def with_settings(lib):
    f = lib.custom_vjp(lambda function, x, n: function(x) * n, nondiff_argnums=(0, 2))
    f.defvjp(lambda function, x, n: (f(function, x, n), x), lambda function, n, x, ct: (n * ct * function(x),))
    return lambda x: f(lib.np.cos, x, 3)


def closing_over(lib):
    def outer(x):
        f = lib.custom_jvp(lambda y: lib.np.sin(y) * 2.0)
        f.defjvp(lambda p, t: (f(*p), 3.0 * t[0]))
        return lib.vmap(lambda row: f(row) + f(x))(lib.np.stack([x, 2.0 * x]))[1]

    return outer


FUNCTIONS = {
    "jvp": by_jvp,
    "jvps": by_jvps,
    "jvp with symbolic zeros": by_jvp_with_zeros,
    "vjp": by_vjp,
    "vjp of trees": by_vjp_of_trees,
    "vjp that is not linear": by_vjp_that_is_not_linear,
    "vjp with settings": with_settings,
    "closing over": closing_over,
}

# Transformations, given a library and a function from an array to an array; each returns such a function.
REVERSE = {
    "jit": lambda lib, f: lib.jit(f),
    "grad": lambda lib, f: lib.grad(lambda x: lib.np.sum(f(x))),
    "vjp": lambda lib, f: lambda x: (lambda y, pull: pull(lib.np.cos(y))[0])(*lib.vjp(f, x)),
    "vmap": lambda lib, f: lambda x: lib.vmap(f)(lib.np.stack([x, x * 0.5, -x])),
    "vmap last": lambda lib, f: lambda x: lib.vmap(lambda s: f(x * s), out_axes=-1)(np.array([0.5, 2.0])),
    "cond": lambda lib, f: lambda x: lib.cond(lib.np.sum(x) > 0.1, f, lambda x: f(x * 2.0), x),
    "closure": lambda lib, f: lambda x: lib.vmap(lambda s: f(x) * s)(np.array([0.5, 2.0])),
}
FORWARD = {
    "jvp": lambda lib, f: lambda x: lib.jvp(f, (x,), (lib.np.cos(x),))[1],
    "linearize": lambda lib, f: lambda x: (lambda y, push: y + push(lib.np.sin(x)))(*lib.linearize(f, x)),
}
CASES = 120


def stack_of(draw, name):
    names = list(REVERSE)
    # jax has no forward mode of a function with a rule of reverse mode; nor has ours of one that is not linear, which
    # leaves second derivatives by it.
    if "vjp" not in name:
        names += FORWARD
    stack = draw.choices(names, k=draw.randint(1, 4))
    if "linear" in name:
        stack = [step for i, step in enumerate(stack) if step not in ("grad", "vjp") or step not in stack[:i]]
    return stack


def drawn(seed):
    """Returns a function of a library that gives a stack of transformations of a function, an array, and its text."""
    draw = random.Random(seed)
    name = list(FUNCTIONS)[seed % len(FUNCTIONS)]
    stack = stack_of(draw, name)
    x = np.random.default_rng(seed).uniform(-1.0, 1.0, draw.choice([(), (3,), (2, 2)]))

    def applied(lib):
        transformed = FUNCTIONS[name](lib)
        for step in stack:
            transformed = {**REVERSE, **FORWARD}[step](lib, transformed)
        return transformed

    return applied, x, f"{name}, {' of '.join(reversed(stack))}, at {x!r}"


@pytest.mark.parametrize("start", range(0, CASES, 8))
def test_custom_rules_stacks_agree(start):
    """JAX compiles eight stacks in one program: to compile each of its own takes longer."""
    cases = [drawn(seed) for seed in range(start, start + 8)]
    theirs = jax.jit(lambda xs: [applied(THEIRS)(x) for (applied, *_), x in zip(cases, xs, strict=True)])
    for (applied, x, said), expected in zip(cases, theirs([x for _, x, _ in cases]), strict=True):
        got = applied(OURS)(x)
        assert np.shape(got) == expected.shape, said
        assert np.asarray(got).dtype == expected.dtype, said
        np.testing.assert_allclose(np.asarray(got), np.asarray(expected), rtol=1e-10, atol=1e-10, err_msg=said)


def agree(build, *args):
    ours, theirs = build(OURS)(*args), build(THEIRS)(*args)
    assert tree.structure(ours) == tree.structure(tree.map(np.asarray, theirs))
    for one, other in zip(tree.leaves(ours), tree.leaves(theirs), strict=True):
        assert np.shape(one) == np.shape(other)
        assert np.asarray(one).dtype == np.asarray(other).dtype
        if np.asarray(one).dtype != float0:
            np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-12)


Z = np.array([0.3 + 0.8j, -1.0 + 0.1j])


def test_custom_rules_complex_derivatives_agree():
    def square(lib):
        f = lib.custom_jvp(lambda z: z * z)
        f.defjvp(lambda p, t: (f(*p), 2.0 * p[0] * t[0] + lib.np.conj(t[0])))
        return f

    def modulus(lib):
        f = lib.custom_vjp(lambda z: lib.np.real(z * lib.np.conj(z)))
        f.defvjp(lambda z: (f(z), z), lambda z, ct: (3.0 * lib.np.conj(z) * ct,))
        return f

    agree(lambda lib: lib.grad(lambda z: lib.np.sum(lib.np.real(square(lib)(z)))), Z)
    agree(lambda lib: lambda z: lib.jvp(square(lib), (z,), (1j * z,)), Z)
    agree(lambda lib: lib.vmap(lib.grad(square(lib), holomorphic=True)), Z)
    agree(lambda lib: lib.grad(lambda z: lib.np.sum(modulus(lib)(z))), Z)
    agree(lambda lib: lib.vmap(lib.grad(modulus(lib))), Z)


def test_custom_rules_integers_agree():
    def f(lib):
        g = lib.custom_vjp(lambda x, i: (x * i, i + 1))
        g.defvjp(lambda x, i: (g(x, i), i), lambda i, cts: (5.0 * i * cts[0], None))
        return g

    x, i = np.array([0.5, 2.0]), np.array([3, 4])
    zeros = np.zeros(2, float0)
    agree(lambda lib: lambda x, i: lib.vjp(f(lib), x, i)[1]((x, zeros)), x, i)
    agree(lambda lib: lib.vmap(lib.grad(lambda x, i: f(lib)(x, i)[0])), x, i)

    def h(lib):
        g = lib.custom_jvp(lambda x, i: (x * i, i + 1))
        g.defjvp(lambda p, t: (g(*p), (5.0 * t[0] * p[1], t[1])))
        return g

    agree(lambda lib: lambda x, i: lib.jvp(h(lib), (x, i), (x, zeros)), x, i)


def test_custom_rules_batching_rules_agree():
    def f(lib):
        g = lib.custom_vmap(lambda x, y: lib.np.sin(x) * y)

        @g.def_vmap
        def rule(axis_size, in_batched, x, y):
            assert isinstance(in_batched, list)
            return 10.0 * lib.np.sin(x) * y * axis_size, in_batched[0] or in_batched[1]

        return g

    xs, ys = np.array([0.5, 1.0, 2.0]), np.array([3.0, 4.0, 5.0])
    for in_axes in ((0, 0), (0, None), (None, 0)):
        args = [v if axis == 0 else v[0] for v, axis in zip((xs, ys), in_axes, strict=True)]
        agree(lambda lib, in_axes=in_axes: lib.vmap(f(lib), in_axes), *args)
        agree(lambda lib, in_axes=in_axes: lib.jit(lib.vmap(f(lib), in_axes)), *args)
        # jax has forward mode of it, and no reverse mode.
        agree(lambda lib, in_axes=in_axes: lib.vmap(lambda x, y: lib.jvp(f(lib), (x, y), (y, x)), in_axes), *args)
    agree(lambda lib: lib.vmap(lib.vmap(f(lib), (0, None)), (None, 0)), xs, ys)


def test_custom_rules_nonlinear_rule_runs_for_each_element():
    def total(lib):
        f = lib.custom_vjp(lambda w, x: w * x)
        f.defvjp(lambda w, x: (f(w, x), None), lambda _, ct: (lib.np.clip(ct, -1.0, 1.0), None))
        return lambda w, xs, cs: lib.np.sum(lib.vmap(f, (None, 0))(w, xs) * cs)

    args = 2.0, np.array([0.5, 1.0, 2.0]), np.array([3.0, -4.0, 0.25])
    for wrap in (lambda lib, g: g, lambda lib, g: lib.jit(g)):
        agree(lambda lib, wrap=wrap: lib.grad(wrap(lib, total(lib))), *args)


def test_custom_rules_named_arguments_and_defaults_agree():
    def f(lib, **options):
        @functools.partial(lib.custom_jvp, **options)
        def power(x, n=3, scale=2.0):
            return scale * x**n

        return power

    def plain(lib):
        g = f(lib, nondiff_argnames=("n",))
        g.defjvp(lambda n, p, t: (g(p[0], n, p[1]), n * t[0] * p[1] + t[1]))
        return lib.grad(lambda x: g(x) + g(x, scale=x) + g(scale=x, x=x, n=2))

    agree(plain, 1.5)
