"""XLA computes again what ``checkpoint`` says, and needs less memory by that."""

import functools
import re

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import checkpoint, checkpoint_policies, grad, value_and_grad
from lawful.batching import vmap
from lawful.control_flow import cond, scan
from lawful.staging import jit

LAYERS = 8
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(128, 16)).astype(np.float32)
WS = RANDOM.normal(size=(LAYERS, 16, 512)).astype(np.float32) / 4
VS = RANDOM.normal(size=(LAYERS, 512, 16)).astype(np.float32) / 16
HIDDEN_BYTES = 128 * 512 * 4


def layer(x, w, v):
    return x + ops.dot(ops.tanh(ops.dot(x, w)), v)


def unrolled(wrap, ws, vs, x):
    f = wrap(layer)
    for w, v in zip(ws, vs, strict=True):
        x = f(x, w, v)
    return ops.reduce_sum(x * x, (0, 1))


def looped(wrap, ws, vs, x):
    f = wrap(layer)
    x, _ = scan(lambda x, wv: (f(x, *wv), None), x, (ws, vs))
    return ops.reduce_sum(x * x, (0, 1))


def compiled(network, wrap):
    function = jit(grad(functools.partial(network, wrap), (0, 1)), backend="xla")
    return function.lower([*WS], [*VS], X).compile() if network is unrolled else function.lower(WS, VS, X).compile()


def products(program):
    return len(re.findall(r" dot\(", program.as_text()))


def temporary(program):
    return program.memory_analysis().temp_size_in_bytes


WRAPS = {
    "plain": lambda f: f,
    "checkpoint": checkpoint,
    "no barrier": functools.partial(checkpoint, prevent_cse=False),
    "dots": functools.partial(checkpoint, policy=checkpoint_policies.dots_saveable),
}


@pytest.fixture(scope="module")
def programs():
    return {name: compiled(unrolled, wrap) for name, wrap in WRAPS.items()}


def test_checkpoint_product_of_each_layer_is_computed_again(programs):
    found = {name: products(program) for name, program in programs.items()}
    assert found["checkpoint"] == found["plain"] + LAYERS
    assert found["dots"] == found["plain"]


def test_checkpoint_without_the_barrier_xla_undoes_it(programs):
    assert products(programs["no barrier"]) == products(programs["plain"])
    assert programs["no barrier"].cost_analysis()["flops"] < programs["checkpoint"].cost_analysis()["flops"]


def test_checkpoint_less_memory_is_needed(programs):
    """The hidden values of one layer at a time are in memory, not those of all layers."""
    found = {name: temporary(program) for name, program in programs.items()}
    assert found["plain"] > LAYERS * HIDDEN_BYTES
    assert found["no barrier"] > LAYERS * HIDDEN_BYTES
    assert found["checkpoint"] < 0.5 * LAYERS * HIDDEN_BYTES


def test_checkpoint_loop_keeps_the_carry_only():
    plain, remat, dots = (compiled(looped, WRAPS[name]) for name in ("plain", "checkpoint", "dots"))
    assert temporary(remat) < 0.5 * LAYERS * HIDDEN_BYTES < temporary(dots) < temporary(plain)
    assert products(remat) == products(plain) + 1
    assert products(dots) == products(plain)


def test_checkpoint_nests_need_memory_for_logarithm_of_layers():
    w, x = np.eye(8), np.ones((4096, 8))

    def layers(count):
        if count == 1:
            return lambda x: ops.sin(ops.dot(x, w))
        half = checkpoint(layers(count // 2))
        return lambda x: half(half(x))

    def values(count):
        program = jit(grad(lambda x: ops.reduce_sum(layers(count)(x), (0, 1))), backend="xla").lower(x).compile()
        return temporary(program) / x.nbytes, products(program)

    # 2ⁿ layers store n + 1 values; each halving recomputes half of the layers' products.
    assert [values(count) for count in (8, 64)] == [(4.0, 28), (7.0, 320)]


@pytest.mark.parametrize("network", [unrolled, looped])
def test_checkpoint_gradients_are_the_same(network):
    args = ([*WS], [*VS], X) if network is unrolled else (WS, VS, X)
    expected = grad(functools.partial(network, lambda f: f), (0, 1))(*args)
    for wrap in WRAPS.values():
        got = jit(grad(functools.partial(network, wrap), (0, 1)), backend="xla")(*args)
        for a, b in zip(got, expected, strict=True):
            scale = np.max(np.abs(b))
            np.testing.assert_allclose(np.asarray(a) / scale, np.asarray(b) / scale, rtol=0.0, atol=2e-5)


def sines(function, *args):
    return len(re.findall(r"stablehlo\.sine ", jit(function, backend="xla").lower(*args).as_text()))


def test_checkpoint_barriers_stand_before_what_is_computed_again():
    def f(x):
        return ops.reduce_sum(checkpoint(lambda x: ops.sin(ops.sin(x)))(x), (0,))

    x = np.ones(3)
    text = jit(grad(f), backend="xla").lower(x).as_text()
    assert text.count("stablehlo.optimization_barrier") == 1
    assert "optimization_barrier" not in jit(f, backend="xla").lower(x).as_text()
    assert sines(value_and_grad(f), x) == 3
    unprotected = jit(grad(lambda x: ops.reduce_sum(checkpoint(ops.sin, prevent_cse=False)(x), (0,))), backend="xla")
    assert "optimization_barrier" not in unprotected.lower(x).as_text()


@pytest.mark.parametrize(
    "transformation",
    [
        value_and_grad,
        lambda f: value_and_grad(jit(f, backend="xla")),
        lambda f: lambda x: vmap(value_and_grad(f))(np.ones((2, 1)) * x),
        lambda f: value_and_grad(lambda x: cond(x[0] > 0.0, f, lambda x: x[0], x)),
        lambda f: value_and_grad(lambda x: ops.reduce_sum(grad(f)(x), (0,))),
    ],
    ids=["grad", "grad of jit", "vmap of grad", "grad of cond", "grad of grad"],
)
def test_checkpoint_recomputes_in_compiled_programs(transformation):
    """Compiled programs recompute under every transformation."""

    def f(wrap):
        return lambda x: ops.reduce_sum(wrap(lambda x: ops.sin(ops.exp(ops.sin(ops.exp(x)))))(x), (0,))

    def work(wrap):
        program = jit(transformation(f(wrap)), backend="xla").lower(np.ones(1000)).compile()
        return program.cost_analysis()["transcendentals"]

    assert work(checkpoint) >= work(lambda f: f) + 2000
