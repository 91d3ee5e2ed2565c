"""Loops give in lawful what they give in jax: values, dtypes, derivatives, batches, and no more is kept."""

from types import SimpleNamespace

import jax
import numpy as np
import pytest

import lawful.numpy
from lawful import control_flow as flow
from lawful import tree
from lawful.autodiff import grad, hessian, jvp, linearize
from lawful.batching import vmap
from lawful.staging import jit

lax = jax.lax
OURS = SimpleNamespace(
    np=lawful.numpy, scan=flow.scan, fori_loop=flow.fori_loop, while_loop=flow.while_loop, map=flow.map,
    associative_scan=flow.associative_scan, cond=flow.cond, grad=grad, jvp=jvp, vmap=vmap, jit=jit, hessian=hessian,
)  # fmt: skip
THEIRS = SimpleNamespace(
    np=jax.numpy, scan=lax.scan, fori_loop=lax.fori_loop, while_loop=lax.while_loop, map=lax.map,
    associative_scan=lax.associative_scan, cond=lax.cond, grad=jax.grad, jvp=jax.jvp, vmap=jax.vmap, jit=jax.jit,
    hessian=jax.hessian,
)  # fmt: skip

random = np.random.default_rng(0)
W, H, XS = random.normal(size=(4, 4)) * 0.5, random.normal(size=4), random.normal(size=(6, 4))
ARGS = (W, H, XS)


def lstm(lib, w, h, xs):
    def step(carry, x):
        c, h = carry
        z = w @ h + x
        gate = 1 / (1 + lib.np.exp(-z))
        c = c * gate + lib.np.tanh(z) * gate
        h = lib.np.tanh(c) * gate
        return (c, h), h

    return lib.scan(step, (h, h), xs)


def collatz(lib, n):
    def step(s):
        m, count = s
        return lib.np.where(m % 2 == 0, m // 2, 3 * m + 1), count + 1

    return lib.while_loop(lambda s: s[0] > 1, step, (n, 0))[1]


# Functions of a library and the arguments W, H, XS. The functions of the second table have no reverse mode in JAX.
PROGRAMS = {
    "rnn": lambda lib, w, h, xs: lib.scan(lambda h, x: ((y := lib.np.tanh(w @ h + x)), y * x), h, xs),
    "lstm": lstm,
    "reversed": lambda lib, w, h, xs: lib.scan(lambda h, x: (lib.np.sin(w @ h) * x, h), h, xs, reverse=True),
    "unrolled": lambda lib, w, h, xs: lib.scan(lambda h, x: (lib.np.sin(w @ h) * x, h), h, xs, unroll=4),
    "no slices": lambda lib, w, h, xs: lib.scan(lambda c, _: (lib.np.cos(w @ c), c[0]), h, None, 3),
    "several slices": lambda lib, w, h, xs: lib.scan(
        lambda c, x: (c * x[0]["a"] + x[1], x[0]), h, ({"a": xs, "b": np.arange(6)}, xs[:, 0])
    ),
    "a number in the carry": lambda lib, w, h, xs: lib.scan(lambda c, x: (c + x @ h, c), 0.0, xs),
    "a dead part": lambda lib, w, h, xs: lib.scan(
        lambda c, x: ((c[0] * x, lib.np.sin(c[1] * x)), lib.np.exp(c[1])), (h, h), xs
    )[0][0],
    "the same in each iteration": lambda lib, w, h, xs: lib.scan(lambda c, x: (lib.np.exp(w) @ c + x, None), h, xs)[0],
    "linear": lambda lib, w, h, xs: lib.scan(lambda c, x: (c + x, c * 2.0), h, xs),
    "a choice in it": lambda lib, w, h, xs: lib.scan(
        lambda c, x: (lib.cond(x[0] > 0.0, lambda c: lib.np.sin(c), lambda c: c * x, c), None), h, xs
    )[0],
    "in a choice": lambda lib, w, h, xs: lib.cond(
        h[0] > 0.0, lambda h: lib.scan(lambda c, x: (w @ c * x, None), h, xs)[0], lambda h: h * 2.0, h
    ),
    "in a scan": lambda lib, w, h, xs: lib.scan(
        lambda c, x: lib.scan(lambda d, y: (lib.np.sin(d * y), d), c, w), h, xs
    ),
    "compiled inside": lambda lib, w, h, xs: lib.scan(
        lambda c, x: (lib.jit(lambda a, b: lib.np.tanh(w @ a + b))(c, x), None), h, xs
    )[0],
    "a gradient in it": lambda lib, w, h, xs: lib.scan(
        lambda c, x: (c - 0.1 * lib.grad(lambda c: lib.np.sum((w @ c - x) ** 2))(c), None), h, xs
    )[0],
    "a batch in it": lambda lib, w, h, xs: lib.scan(
        lambda c, x: (lib.vmap(lambda row: lib.np.sin(row @ c))(w), None), h, xs
    )[0],
    "fori": lambda lib, w, h, xs: lib.fori_loop(0, 6, lambda i, h: lib.np.tanh(w @ h + lib.np.take(xs, i, axis=0)), h),
    "fori from 2": lambda lib, w, h, xs: lib.fori_loop(2, 5, lambda i, s: (s[0] * i + s[1], w @ s[1]), (h, h)),
    "map": lambda lib, w, h, xs: lib.map(lambda x: lib.np.sin(w @ x) * h, xs),
    "map in batches": lambda lib, w, h, xs: lib.map(lambda x: lib.np.sin(w @ x) * h, xs, batch_size=4),
    "cumulative sums": lambda lib, w, h, xs: lib.associative_scan(lib.np.add, lib.np.sin(xs)),
    "products from the end": lambda lib, w, h, xs: lib.associative_scan(lib.np.multiply, xs, reverse=True, axis=1),
    "linear recurrence": lambda lib, w, h, xs: lib.associative_scan(
        lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), (lib.np.sin(xs), xs * h)
    ),
}
FORWARD_ONLY = {
    "while": lambda lib, w, h, xs: lib.while_loop(lambda c: lib.np.sum(c * c) > 0.1, lambda c: w @ c * 0.7, h),
    "while of a tree": lambda lib, w, h, xs: lib.while_loop(
        lambda s: s["i"] < 4,
        lambda s: {"i": s["i"] + 1, "x": lib.np.sin(w @ s["x"]) + lib.np.take(xs, s["i"], axis=0)},
        {"i": 0, "x": h},
    ),
    "a while in a scan": lambda lib, w, h, xs: lib.scan(
        lambda c, x: (lib.while_loop(lambda d: lib.np.sum(d * d) > 0.1, lambda d: w @ d * 0.7, c) + x, None), h, xs
    )[0],
}

every_program = pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
any_program = pytest.mark.parametrize(
    "program", [*PROGRAMS.values(), *FORWARD_ONLY.values()], ids=[*PROGRAMS, *FORWARD_ONLY]
)


def require_same(got, expected, tolerance=1e-10, said=""):
    ours, theirs = tree.leaves(got), jax.tree.leaves(expected)
    assert len(ours) == len(theirs)
    for x, y in zip(ours, theirs, strict=True):
        assert np.shape(x) == np.shape(y), said
        assert np.asarray(x).dtype == y.dtype, said
        if y.dtype != jax.dtypes.float0:
            np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=tolerance, atol=tolerance, err_msg=said)


def total(lib, program):
    def summed(*args):
        return sum(lib.np.sum(lib.np.sin(y)) for y in tree.leaves(program(lib, *args)))

    return summed


TANGENTS = tuple(np.cos(x) for x in ARGS)


@any_program
def test_loops_values_and_forward_mode(program):
    """JAX's values are those of its forward mode; ours are compiled in one program with it."""
    expected = jax.jit(lambda *args: jax.jvp(lambda *xs: program(THEIRS, *xs), args, TANGENTS))(*ARGS)
    require_same(program(OURS, *ARGS), expected[0])
    require_same(jvp(lambda *args: program(OURS, *args), ARGS, TANGENTS), expected)

    def both(*args):
        return program(OURS, *args), jvp(lambda *xs: program(OURS, *xs), args, TANGENTS)

    require_same(jit(both)(*ARGS), (expected[0], expected))


@every_program
def test_loops_reverse_mode_and_hessians(program):
    """JAX compiles both as one program."""

    def both(w, h, xs):
        gradient = jax.grad(total(THEIRS, program), (0, 1, 2))(w, h, xs)
        return gradient, jax.hessian(lambda h: total(THEIRS, program)(w, h, xs))(h)

    gradient, expected = jax.jit(both)(*ARGS)
    require_same(grad(total(OURS, program), (0, 1, 2))(*ARGS), gradient)
    require_same(jit(grad(total(OURS, program), (0, 1, 2)))(*ARGS), gradient)
    require_same(hessian(lambda h: total(OURS, program)(W, h, XS))(H), expected, 1e-8)


AXES = ((None, 0, None), (0, None, 0), (None, None, 1), (0, 0, 0))
BATCHES = [
    [x if axis is None else np.stack([x, x * 0.5, -x], axis) for x, axis in zip(ARGS, axes, strict=True)]
    for axes in AXES
]


@any_program
def test_loops_batches(program):
    """JAX maps along all axes in one program: to compile each of its own takes longer."""

    def mapped(lib, axes, args):
        return lib.vmap(lambda *xs: program(lib, *xs), axes)(*args)

    theirs = jax.jit(lambda batches: [mapped(THEIRS, *case) for case in zip(AXES, batches, strict=True)])(BATCHES)
    for axes, args, expected in zip(AXES, BATCHES, theirs, strict=True):
        require_same(mapped(OURS, axes, args), expected, said=f"along {axes}")


ASSOCIATIVE = ("cumulative sums", "products from the end", "linear recurrence")
LOOPS = {name: program for name, program in PROGRAMS.items() if name not in ASSOCIATIVE}

# JAX counts loops in int32, lawful in int64.
COUNTERS = 6 * 8


@pytest.mark.parametrize("program", LOOPS.values(), ids=LOOPS)
def test_loops_no_more_is_kept_for_the_backward_pass(program):
    """Bytes of the residuals, each array once."""

    def size(arrays):
        return sum(np.asarray(x).nbytes for x in {id(x): x for x in arrays}.values())

    ours = size(linearize(lambda *args: program(OURS, *args), *ARGS)[1].jaxpr.consts)
    theirs = size(jax.tree.leaves(jax.vjp(lambda *args: program(THEIRS, *args), *map(jax.numpy.asarray, ARGS))[1]))
    assert ours <= theirs + COUNTERS


def test_loops_integers_in_a_while_loop():
    for n in (1, 7, 27):
        require_same(collatz(OURS, np.int64(n)), jax.jit(lambda n: collatz(THEIRS, n))(n))
    ns = np.array([1, 7, 27, 2])
    require_same(vmap(lambda n: collatz(OURS, n))(ns), jax.vmap(lambda n: collatz(THEIRS, n))(ns))


@pytest.mark.parametrize("program", FORWARD_ONLY.values(), ids=FORWARD_ONLY)
def test_reverse_mode_of_while_loops_is_forward_mode_of_jax(program):
    """In jax they have no other."""
    expected = jax.jit(jax.jacfwd(total(THEIRS, program), (0, 1, 2)))(*ARGS)
    require_same(grad(total(OURS, program), (0, 1, 2))(*ARGS), expected, 1e-9)
    require_same(jit(grad(total(OURS, program), (0, 1, 2)))(*ARGS), expected, 1e-9)
