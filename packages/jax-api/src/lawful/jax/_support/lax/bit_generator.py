"""``rng_bit_generator`` of `jax.lax`: the bits that XLA generates on the processor, computed by ops.

The Philox-4x32 generator with 10 rounds, and threefry-2x32 with 20, are from J. Salmon, M. Moraes, R. Dror, D. Shaw,
"Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, as_dtype, get_aval
from lawful.ops._support.structural import Shape, static_integers

__all__ = ["RandomAlgorithm", "rng_bit_generator"]

_HALF: Final = np.uint64(32)
_LOW: Final = np.uint64(2**32 - 1)
#: Philox's multipliers of the first and third word, and the increments of the words of its key.
_MULTIPLIERS: Final = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_INCREMENTS: Final = (0x9E3779B9, 0xBB67AE85)
_ROUNDS: Final = 10


class RandomAlgorithm(enum.IntEnum):
    """The generator of `rng_bit_generator`; the default one is Philox. Source: ``jax.lax.RandomAlgorithm``.

    >>> str(RandomAlgorithm(2))
    'RNG_PHILOX'
    """

    RNG_DEFAULT = 0
    RNG_THREE_FRY = 1
    RNG_PHILOX = 2

    def __str__(self) -> str:
        return self.name


def rng_bit_generator(
    key: Any, shape: Any, dtype: Any = np.uint32, algorithm: Any = RandomAlgorithm.RNG_DEFAULT
) -> tuple[Any, Any]:
    """Returns the key for the next call, and random bits.

    Args:
      key: four words of dtype uint32, or two of dtype uint64: the first half is the key, the second one a count, which
        the key for the next call has increased.
      shape: that of the bits.
      dtype: an unsigned integer dtype.
      algorithm: a `RandomAlgorithm`. The bits are those of XLA on the processor under every backend.

    Raises:
      ArgumentTypeError: the key or the dtype is another one.
      ArgumentValueError: there is no such algorithm, or a length is negative.

    >>> from lawful.jax import lax
    >>> key, bits = lax.rng_bit_generator(np.array([1, 2, 3, 4], np.uint32), (2,))
    >>> key, bits
    (Array([1, 2, 4, 4], dtype=uint32), Array([ 512747620, 1298009047], dtype=uint32))

    Source: ``jax.lax.rng_bit_generator``.
    """
    name = "rng_bit_generator"
    aval, wanted, shape = get_aval(key), as_dtype(dtype), static_integers(name, "shape", shape)
    if (aval.shape, aval.dtype.name) not in (((4,), "uint32"), ((2,), "uint64")):
        raise ArgumentTypeError(
            f"{name}: expected a key of type u32[4] or u64[2], got {aval}; use jax.random otherwise"
        )
    if wanted.kind != "u":
        raise ArgumentTypeError(f"{name}: expected an unsigned integer dtype, got {wanted}; convert the bits")
    if any(size < 0 for size in shape):
        raise ArgumentValueError(f"{name}: expected lengths of at least 0, got the shape {shape}")
    if algorithm not in list(RandomAlgorithm):
        raise ArgumentValueError(f"{name}: expected a RandomAlgorithm, got {algorithm!r}; choose one of its members")
    words = _halves(key) if aval.dtype == np.uint64 else key
    word = [ops.slice_in_dim(words, i, i + 1) for i in range(4)]
    start = _joined(word[2], word[3])
    generate = _threefry if algorithm == RandomAlgorithm.RNG_THREE_FRY else _philox
    used, bits = generate(word[:2], start, shape, wide=wanted.itemsize == 8)
    after = ops.add(start, np.uint64(used))
    following = ops.concatenate([_joined(*word[:2]), after], 0)
    return (
        following if aval.dtype == np.uint64 else _halves(following),
        ops.convert_element_type(bits, wanted),
    )


def _low(x: Any) -> Any:
    return ops.convert_element_type(ops.bitwise_and(x, _LOW), np.uint32)


def _high(x: Any) -> Any:
    return ops.convert_element_type(ops.shift_right_logical(x, _HALF), np.uint32)


def _joined(low: Any, high: Any) -> Any:
    """Returns words of 64 bits, of halves of 32."""
    low, high = (ops.convert_element_type(half, np.uint64) for half in (low, high))
    return ops.bitwise_or(low, ops.shift_left(high, _HALF))


def _halves(x: Any) -> Any:
    """Returns the halves of words of 64 bits, the low ones first."""
    return _interleaved([_low(x), _high(x)])


def _interleaved(parts: Sequence[Any]) -> Any:
    """Returns vectors of one length, interleaved."""
    size = get_aval(parts[0]).size
    columns = [ops.reshape(part, (size, 1)) for part in parts]
    return ops.reshape(ops.concatenate(columns, 1), (size * len(parts),))


def _counts(start: Any, count: int) -> Any:
    return ops.add(ops.iota(np.uint64, count), ops.broadcast_in_dim(start, (count,), (0,)))


def _threefry(key: Sequence[Any], start: Any, shape: Shape, *, wide: bool) -> tuple[int, Any]:
    """Returns how many counts were used, and the bits. The two words of a count are one of 64 bits, or an element each.

    Of words of 32 bits, the first of each count is at an even position along one dimension, and the second follows it.
    It is the first dimension of even length, or else the longest.
    """
    even = [dim for dim, size in enumerate(shape) if size % 2 == 0]
    split = even[0] if even else max(range(len(shape)), key=shape.__getitem__, default=None)
    halved = shape if wide or split is None else (*shape[:split], -(-shape[split] // 2), *shape[split + 1 :])
    count = math.prod(halved)
    counts = _counts(start, count)
    # The first word is the high half of what random_bits returns.
    bits = ops.random_bits((key[0], key[1]), (_low(counts), _high(counts))) if count else counts
    first, second = _high(bits), _low(bits)
    if wide:
        return count, ops.reshape(_joined(first, second), shape)
    if split is None:
        return count, ops.reshape(first, shape)
    paired = (*halved[: split + 1], 1, *halved[split + 1 :])
    pairs = ops.concatenate([ops.reshape(word, paired) for word in (first, second)], split + 1)
    whole = ops.reshape(pairs, (*halved[:split], 2 * halved[split], *halved[split + 1 :]))
    return count, ops.slice_in_dim(whole, 0, shape[split], axis=split)


def _philox(key: Sequence[Any], start: Any, shape: Shape, *, wide: bool) -> tuple[int, Any]:
    """Returns how many counts were used, and the bits: four words for each count, in order.

    The count is of 128 bits, of which the high half begins with the key.
    """
    size = math.prod(shape)
    count = -(-size // (2 if wide else 4))
    counts = _counts(start, count)
    carry = ops.convert_element_type(ops.lt(counts, ops.broadcast_in_dim(start, (count,), (0,))), np.uint64)
    upper = ops.add(ops.broadcast_in_dim(_joined(*key), (count,), (0,)), carry)
    a, b, c, d = _low(counts), _high(counts), _low(upper), _high(upper)
    for i in range(_ROUNDS):
        first, second = (
            ops.add(word, np.uint32(i * step % 2**32)) for word, step in zip(key, _INCREMENTS, strict=True)
        )
        left, right = (
            ops.mul(ops.convert_element_type(x, np.uint64), factor)
            for x, factor in zip((a, c), _MULTIPLIERS, strict=True)
        )
        a, b, c, d = (
            ops.bitwise_xor(ops.bitwise_xor(_high(right), b), ops.broadcast_in_dim(first, (count,), (0,))),
            _low(right),
            ops.bitwise_xor(ops.bitwise_xor(_high(left), d), ops.broadcast_in_dim(second, (count,), (0,))),
            _low(left),
        )
    flat = _interleaved([_joined(a, b), _joined(c, d)] if wide else [a, b, c, d])
    return count, ops.reshape(ops.slice_in_dim(flat, 0, size), shape)
