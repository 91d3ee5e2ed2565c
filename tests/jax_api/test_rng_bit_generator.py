"""`lax.rng_bit_generator` has the bits of JAX's on the processor."""

from typing import Any

import jax
import numpy as np
import pytest

import lawful.jax
from lawful.batching import vmap
from lawful.core import ArgumentTypeError, ArgumentValueError
from lawful.jax import lax
from lawful.staging import jit

ALGORITHMS = list(lax.RandomAlgorithm)
KEYS = [
    np.array([1, 2, 3, 4], np.uint32),
    # The count overflows.
    np.array([0xFFFFFFF1, 7, 0xFFFFFFFE, 0xFFFFFFFF], np.uint32),
    np.array([0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF], np.uint32),
    np.array([9, 5, 0xFFFFFFFE, 0xFFFFFFF1], np.uint32),
]


def compare(key: Any, shape: tuple[int, ...], dtype: str, algorithm: Any) -> None:
    theirs = jax.lax.rng_bit_generator(key, shape, dtype, algorithm=jax.lax.RandomAlgorithm(int(algorithm)))
    ours = lax.rng_bit_generator(key, shape, dtype, algorithm=algorithm)
    for x, y in zip(ours, theirs, strict=True):
        assert type(x) is lawful.jax.Array
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x, np.asarray(y))


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (5,), (6,), (3, 2), (2, 3), (3, 5), (5, 3, 5), (4, 3, 2), (3, 0), (0,)])
def test_rng_bit_generator_shapes_agree_with_jax(shape: tuple[int, ...], algorithm: Any) -> None:
    compare(KEYS[0], shape, "uint32", algorithm)


@pytest.mark.parametrize("algorithm", ALGORITHMS[1:], ids=str)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize("key", KEYS, ids=["plain", "overflow", "ones", "near"])
def test_rng_bit_generator_keys_agree_with_jax(key: Any, dtype: str, algorithm: Any) -> None:
    compare(key, (3, 5), dtype, algorithm)
    if dtype != "uint16":
        compare(key.view(np.uint64), (), dtype, algorithm)


@pytest.mark.parametrize("algorithm", ALGORITHMS[1:], ids=str)
@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_rng_bit_generator_compiled_and_batched(backend: str, algorithm: Any) -> None:
    def call(key: Any) -> Any:
        return lax.rng_bit_generator(key, (2, 3), algorithm=algorithm)

    expected = [call(key) for key in KEYS]
    for found in (
        [jit(call, backend=backend)(key) for key in KEYS],
        [*zip(*jit(vmap(call), backend=backend)(np.stack(KEYS)), strict=True)],
    ):
        for ours, wanted in zip(found, expected, strict=True):
            for x, y in zip(ours, wanted, strict=True):
                np.testing.assert_array_equal(x, y)


def test_rng_bit_generator_arguments_error() -> None:
    for key in (np.zeros(4, np.int32), np.zeros(2, np.uint32), np.uint32(1)):
        with pytest.raises(ArgumentTypeError, match=r"rng_bit_generator: expected a key of type u32\[4\] or u64\[2\]"):
            lax.rng_bit_generator(key, (2,))
    with pytest.raises(ArgumentTypeError, match="rng_bit_generator: expected an unsigned integer dtype, got int32"):
        lax.rng_bit_generator(KEYS[0], (2,), "int32")
    with pytest.raises(ArgumentTypeError, match="rng_bit_generator: expected integers as shape"):
        lax.rng_bit_generator(KEYS[0], 2.5)
    with pytest.raises(ArgumentValueError, match="rng_bit_generator: expected lengths of at least 0"):
        lax.rng_bit_generator(KEYS[0], (-1,))
    with pytest.raises(ArgumentValueError, match="rng_bit_generator: expected a RandomAlgorithm, got 7"):
        lax.rng_bit_generator(KEYS[0], (2,), algorithm=7)
