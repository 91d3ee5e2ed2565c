"""Random draws compile on XLA in time that is linear in their number: threefry is a function that is not inlined."""

import re
import subprocess
import sys

import numpy as np
import pytest

from lawful import random
from lawful.staging import jit

SHAPES = [(), (1,), (8,), (100,), (3, 4)]
DRAWS = {
    "uniform": random.uniform,
    "normal": random.normal,
    "randint": lambda key, shape: random.randint(key, shape, 0, 10),
}


def chained(draw, shape, number):
    def program(key):
        total = 0
        for _ in range(number):
            key, half = random.split(key)
            total = total + draw(half, shape)
        return total

    return program


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_random_bits_is_one_function_for_each_shape(shape):
    text = jit(chained(random.uniform, shape, 4), backend="xla").lower(random.key(0)).as_text()
    functions = re.findall(r"func\.func private @(threefry\w*)", text)
    assert len(functions) == len({(2,), shape})
    assert len(re.findall(r"call @threefry\w*.*inlineable = \"false\"", text)) == 8


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_random_bits_of_large_shapes_are_fused(draw):
    """A large draw is no call, and each computation holds one generator: 22 exclusive ors."""
    compiled = jit(lambda key: draw(random.split(key)[0], (20_000,)), backend="xla").lower(random.key(0)).compile()
    computations = compiled.as_text().split("\n}\n")
    assert not any(re.search(r"u64\[20000\]\S* call\(", text) for text in computations)
    halves = 2 if draw is DRAWS["randint"] else 1
    assert max(len(re.findall(r" xor\(", text)) for text in computations) <= 22 * halves


@pytest.mark.parametrize("draw", [random.uniform, random.normal, random.exponential])
def test_compiled_large_draws_are_fused_one_by_one(draw):
    """However many are chained, no computation holds more than one generator: 22 exclusive ors."""
    compiled = jit(chained(draw, (20_000,), 6), backend="xla").lower(random.key(0)).compile()
    counts = [len(re.findall(r" xor\(", text)) for text in compiled.as_text().split("\n}\n")]
    assert max(counts) <= 22
    assert sum(counts) <= 12 * 22


def test_compiled_draws_grow_linearly():
    """The optimized program of 2n draws is twice that of n: nothing is inlined or computed twice."""
    sizes = [
        len(jit(chained(random.uniform, (8,), n), backend="xla").lower(random.key(0)).compile().as_text())
        for n in (2, 4, 8)
    ]
    assert sizes[2] - sizes[1] <= 2.2 * (sizes[1] - sizes[0])


PROGRAM = """
import numpy as np
from tests.compiled.test_random_compiled import DRAWS, chained
from lawful import random
from lawful.batching import vmap
from lawful.control_flow import scan
from lawful.staging import jit

for name, draw in DRAWS.items():
    for shape in [(8,), (100,)]:
        program = chained(draw, shape, 3)
        found, expected = jit(program, backend="xla")(random.key(7)), program(random.key(7))
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12)

def three_ways(key):
    keys = random.split(key, 3)
    more = random.split(keys[0], 3)
    return random.normal(keys[1], (8,)) + random.normal(more[2], (8,))

def of_many_keys(key):
    keys = random.split(random.split(key, 20_000)[7], 20_000)
    return random.uniform(keys[0], (8,)) + random.uniform(keys[1], (20_000,))[:8]

def step(key, _):
    key, half = random.split(key)
    return key, random.uniform(half, (8,))

def looped(key):
    return scan(step, key, None, length=3)

key = random.key(3)
for program in (three_ways, looped, of_many_keys, vmap(chained(random.uniform, (8,), 2))):
    argument = random.split(key, 4) if program not in (three_ways, looped, of_many_keys) else key
    found, expected = jit(program, backend="xla")(argument), program(argument)
    found, expected = (x[1] if isinstance(x, tuple) else x for x in (found, expected))
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12)
"""


def test_chained_draws_compile_and_agree_with_eager_ones():
    """In a process of its own, so that a compilation that does not end is a failure."""
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, timeout=240)


def test_random_bits_of_empty_shapes_compile():
    found = jit(chained(random.uniform, (0, 3), 2), backend="xla")(random.key(0))
    assert np.asarray(found).shape == (0, 3)
