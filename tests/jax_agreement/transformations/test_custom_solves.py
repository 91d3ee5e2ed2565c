"""``custom_linear_solve`` and ``custom_root`` give what jax gives, in every direction and to second order."""

from types import SimpleNamespace

import jax
import numpy as np
import pytest

import lawful.numpy
from lawful import autodiff
from lawful.batching import vmap
from lawful.control_flow import custom_linear_solve, custom_root, fori_loop, while_loop
from lawful.staging import jit

OURS = SimpleNamespace(
    np=lawful.numpy, grad=autodiff.grad, jvp=autodiff.jvp, hessian=autodiff.hessian, vmap=vmap, jit=jit,
    linear_solve=custom_linear_solve, root=custom_root, while_loop=while_loop, fori_loop=fori_loop,
    jacfwd=autodiff.jacfwd, linear_transpose=autodiff.linear_transpose,
)  # fmt: skip
THEIRS = SimpleNamespace(
    np=jax.numpy, grad=jax.grad, jvp=jax.jvp, hessian=jax.hessian, vmap=jax.vmap, jit=jax.jit,
    linear_solve=jax.lax.custom_linear_solve, root=jax.lax.custom_root, while_loop=jax.lax.while_loop,
    fori_loop=jax.lax.fori_loop, jacfwd=jax.jacfwd, linear_transpose=jax.linear_transpose,
)  # fmt: skip

RANDOM = np.random.default_rng(0)
A = RANDOM.normal(size=(3, 3)) * 0.3 + 2.0 * np.eye(3)
B = RANDOM.normal(size=3)


def iterate(lib):
    def solve(matvec, b):
        def proceed(x):
            return lib.np.sum((b - matvec(x)) ** 2) > 1e-28

        return lib.while_loop(proceed, lambda x: x + 0.3 * (b - matvec(x)), 0.0 * b)

    return solve


def linear(lib, a, b):
    return lib.linear_solve(lambda x: a @ x, b, iterate(lib), iterate(lib))


def symmetric(lib, a, b):
    s = a @ a.T
    return lib.linear_solve(lambda x: s @ x, b, lambda _, b: lib.np.linalg.solve(s, b), symmetric=True)


def with_aux(lib, a, b):
    def solve(matvec, b):
        x = iterate(lib)(matvec, b)
        return x, {"norm": lib.np.sum(x * x), "label": 3}

    x, aux = lib.linear_solve(lambda x: a @ x, b, solve, solve, has_aux=True)
    return x * aux["norm"]


def tree(lib, a, b):
    def matvec(v):
        return {"p": a @ v["p"], "q": 2.0 * v["q"] + lib.np.sum(v["p"])}

    def solve(_, b):
        p = lib.np.linalg.solve(a, b["p"])
        return {"p": p, "q": (b["q"] - lib.np.sum(p)) / 2.0}

    def transposed(_, b):
        q = b["q"] / 2.0
        return {"p": lib.np.linalg.solve(a.T, b["p"] - q), "q": q}

    x = lib.linear_solve(matvec, {"p": b, "q": b[0]}, solve, transposed)
    return x["p"] * x["q"]


def scalar_root(lib, a, b):
    def newton(f, x):
        return lib.fori_loop(0, 30, lambda _, x: x - f(x) / lib.grad(f)(x), x)

    level = lib.np.sum(a * a) + lib.np.sum(b * b)
    return b * lib.root(lambda x: x**3 + x - level, 1.0 + 0.0 * level, newton, lambda g, y: y / g(1.0))


def vector_root(lib, a, b):
    def f(x):
        return a @ x + 0.1 * x**3 - b

    def solve(f, x):
        return lib.while_loop(lambda x: lib.np.sum(f(x) ** 2) > 1e-28, lambda x: x - 0.3 * f(x), x)

    def tangent_solve(g, y):
        return lib.np.linalg.solve(lib.jacfwd(g)(y), y)

    return lib.root(f, 0.0 * b, solve, tangent_solve)


FUNCTIONS = [linear, symmetric, with_aux, tree, scalar_root, vector_root]
TRANSFORMATIONS = {
    "value": lambda lib, f: f,
    "jvp": lambda lib, f: lambda a, b: lib.jvp(f, (a, b), (a * a, b * b))[1],
    "grad": lambda lib, f: lib.grad(lambda a, b: lib.np.sum(lib.np.sin(f(a, b))), (0, 1)),
    "jvp of grad": lambda lib, f: (
        lambda a, b: lib.jvp(lib.grad(lambda a, b: lib.np.sum(lib.np.sin(f(a, b))), (0, 1)), (a, b), (a * a, b * b))[1]
    ),
    "grad of grad": lambda lib, f: lib.grad(
        lambda a, b: lib.np.sum(lib.grad(lambda b: lib.np.sum(lib.np.sin(f(a, b))))(b) ** 2), (0, 1)
    ),
    "vmap of grad": lambda lib, f: (
        lambda a, b: lib.vmap(lib.grad(lambda a, b: lib.np.sum(f(a, b))), (None, 0))(a, lib.np.stack([b, -b]))
    ),
    "grad of vmap": lambda lib, f: lib.grad(
        lambda a, b: lib.np.sum(lib.vmap(f, (0, None))(lib.np.stack([a, 1.5 * a]), b) ** 2), (0, 1)
    ),
}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda value: value.__name__)
def test_custom_solves_same_is_given(function):
    """All transformations are compiled in one program: to compile each of its own takes longer."""
    # jax 0.12 raises an AssertionError for a right-hand side of which only a part is mapped.
    names = [name for name in TRANSFORMATIONS if (function, name) != (tree, "vmap of grad")]

    def of(lib):
        transformed = [TRANSFORMATIONS[name](lib, lambda a, b: function(lib, a, b)) for name in names]
        return lambda a, b: [f(a, b) for f in transformed]

    expected = jax.jit(of(THEIRS))(A, B)
    for compile_ours in (lambda f: f, lambda f: jit(f, backend="xla")):
        for name, ours, theirs in zip(names, compile_ours(of(OURS))(A, B), expected, strict=True):
            for x, y in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
                assert x.dtype == y.dtype, name
                np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-8, atol=1e-9, err_msg=name)
