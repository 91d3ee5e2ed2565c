"""``checkpoint`` keeps what jax keeps, computes again what jax computes again, and gives what jax gives."""

import functools
import re
from collections import Counter
from types import SimpleNamespace

import jax
import numpy as np
import pytest
from jax._src.ad_checkpoint import saved_residuals as saved_residuals_of_jax
from jax.ad_checkpoint import checkpoint_name as checkpoint_name_of_jax

import lawful.numpy
from lawful import autodiff
from lawful.batching import vmap
from lawful.control_flow import cond, scan
from lawful.custom_rules import closure_convert
from lawful.staging import jit

OURS = SimpleNamespace(
    np=lawful.numpy, checkpoint=autodiff.checkpoint, policies=autodiff.checkpoint_policies, grad=autodiff.grad,
    name=autodiff.checkpoint_name, jvp=autodiff.jvp, hessian=autodiff.hessian, vmap=vmap, cond=cond, scan=scan,
    jit=functools.partial(jit, backend="xla"), closure_convert=closure_convert,
)  # fmt: skip
THEIRS = SimpleNamespace(
    np=jax.numpy, checkpoint=jax.checkpoint, policies=jax.checkpoint_policies, grad=jax.grad,
    name=checkpoint_name_of_jax, jvp=jax.jvp, hessian=jax.hessian, vmap=jax.vmap, cond=jax.lax.cond, scan=jax.lax.scan,
    jit=jax.jit, closure_convert=jax.closure_convert,
)  # fmt: skip

RANDOM = np.random.default_rng(0)
W, V, X = RANDOM.normal(size=(3, 4)), RANDOM.normal(size=(4, 3)), RANDOM.normal(size=3)
BATCH = RANDOM.normal(size=(2, 3, 4)), RANDOM.normal(size=(2, 4, 3))


def mlp(lib, w, v, x):
    h = lib.name(lib.np.sin(x @ w), "h")
    g = lib.name(lib.np.cos(h @ v), "g")
    return lib.np.sin(g)


def layers(lib, w, v, x):
    f = lib.checkpoint(lambda x: lib.np.sin(lib.np.sin(x @ w) @ v))
    return f(f(x))


def compiled_inside(lib, w, v, x):
    return lib.np.sin(lib.jit(lambda x: lib.np.sin(lib.np.sin(x @ w) @ v))(x))


def mapped(lib, w, v, x):
    return lib.np.sin(lib.vmap(lambda a, b: lib.np.sin(a @ b))(*BATCH) * lib.np.sin(x @ w @ v))


FUNCTIONS = [mlp, layers, compiled_inside, mapped]
POLICIES = {
    "none": lambda policies: None,
    "everything_saveable": lambda policies: policies.everything_saveable,
    "nothing_saveable": lambda policies: policies.nothing_saveable,
    "dots_saveable": lambda policies: policies.dots_saveable,
    "dots_with_no_batch_dims_saveable": lambda policies: policies.dots_with_no_batch_dims_saveable,
    "save_only_these_names": lambda policies: policies.save_only_these_names("h"),
    "save_any_names_but_these": lambda policies: policies.save_any_names_but_these("h"),
    "save_from_both_policies": lambda policies: policies.save_from_both_policies(
        policies.dots_saveable, policies.save_only_these_names("g")
    ),
}


def checkpointed(lib, function, policy):
    return lib.checkpoint(functools.partial(function, lib), policy=POLICIES[policy](lib.policies))


def types_and_kinds(found):
    """The shapes that are kept, each with the kind of its origin."""
    kinds = Counter()
    for aval, origin in found:
        if aval.shape:  # scalars stand in our programs
            kind = re.sub(r"^from ", "", origin).split(" at ")[0].split(" from ")[0]
            # Operations are not called the same, nor does jax look into compiled functions.
            kinds[aval.shape, "output" if kind.startswith("output") else kind] += 1
    return kinds


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("policy", POLICIES)
def test_checkpoint_same_is_kept(function, policy):
    theirs = saved_residuals_of_jax(checkpointed(THEIRS, function, policy), W, V, X)
    ours = autodiff.saved_residuals(checkpointed(OURS, function, policy), W, V, X)
    assert types_and_kinds(ours) == types_and_kinds(theirs)


TRANSFORMATIONS = {
    "value": lambda lib, f: f,
    "grad": lambda lib, f: lib.grad(lambda *args: lib.np.sum(f(*args)), (0, 1, 2)),
    "jvp of grad": lambda lib, f: (
        lambda *args: lib.jvp(lib.grad(lambda *xs: lib.np.sum(f(*xs)), (0, 1, 2)), args, args)[1]
    ),
    "grad of grad": lambda lib, f: lib.grad(
        lambda *args: lib.np.sum(lib.grad(lambda *xs: lib.np.sum(f(*xs)), 2)(*args) ** 2), (0, 1, 2)
    ),
    "hessian": lambda lib, f: lib.hessian(lambda *args: lib.np.sum(f(*args)), 2),
    "vmap of grad": lambda lib, f: (
        lambda w, v, x: lib.vmap(lib.grad(lambda *xs: lib.np.sum(f(*xs))), (None, None, 0))(w, v, lib.np.stack([x, -x]))
    ),
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_checkpoint_same_is_given(function):
    """JAX compiles all transformations in one program: to compile each of its own takes longer."""

    def transformed(lib, transformation):
        policy = list(POLICIES)[(len(transformation) + len(function.__name__)) % len(POLICIES)]
        return TRANSFORMATIONS[transformation](lib, checkpointed(lib, function, policy))

    theirs = jax.jit(lambda *args: {name: transformed(THEIRS, name)(*args) for name in TRANSFORMATIONS})(W, V, X)
    for name in TRANSFORMATIONS:
        f = transformed(OURS, name)
        compiled = (len(name) + len(function.__name__)) % 2 == 0
        ours = (OURS.jit(f) if compiled else f)(W, V, X)
        for found, expected in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs[name]), strict=True):
            assert found.dtype == expected.dtype, name
            np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-9, atol=1e-10, err_msg=name)


def loss(lib, function, policy):
    return lambda w, v, x: lib.np.sum(checkpointed(lib, function, policy)(w, v, x))


@pytest.mark.parametrize("function", [mlp, layers])
@pytest.mark.parametrize("policy", ["none", "dots_saveable", "save_only_these_names"])
def test_checkpoint_compiled_programs_compute_as_often(function, policy):
    """The compiled gradient has as many products and sines as jax's: XLA merges neither more nor less."""
    counts = []
    for lib in (OURS, THEIRS):
        text = lib.jit(lib.grad(loss(lib, function, policy), (0, 1, 2))).lower(W, V, X).compile().as_text()
        counts.append({name: len(re.findall(rf" {name}\(", text)) for name in ("dot", "sine", "cosine")})
    assert counts[0] == counts[1]


def test_checkpoint_scanned_layers_keep_what_jax_keeps():
    def network(lib, policy):
        body = lib.checkpoint(
            lambda h, w: (lib.np.sin(lib.name(lib.np.sin(w @ h), "h")), None), policy=POLICIES[policy](lib.policies)
        )
        return lambda ws, x: lib.np.sum(lib.scan(body, x, ws)[0])

    ws = RANDOM.normal(size=(5, 3, 3))
    for policy in ("none", "dots_saveable", "save_only_these_names", "everything_saveable"):
        theirs = Counter(a.shape for a, _ in saved_residuals_of_jax(network(THEIRS, policy), ws, X) if a.shape)
        ours = Counter(a.shape for a, _ in autodiff.saved_residuals(network(OURS, policy), ws, X) if a.shape)
        assert ours == theirs, policy
        np.testing.assert_allclose(
            autodiff.grad(network(OURS, policy))(ws, X), jax.grad(network(THEIRS, policy))(ws, X), rtol=1e-10
        )


def test_checkpoint_converted_closures_are_called_alike():
    def f(lib, x, n):
        converted, consts = lib.closure_convert(lambda y, z: {"a": x * y * n, "b": z}, 1.0, X)
        assert len(consts) == 1
        return lib.np.sum(converted(5.0, X * x, *consts)["a"] * converted(2.0, X * x, *consts)["b"])

    for transformation in (lambda lib, g: lib.grad(g), lambda lib, g: lib.grad(lib.grad(g))):
        ours, theirs = (transformation(lib, functools.partial(f, lib))(2.0, 3) for lib in (OURS, THEIRS))
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-12)
