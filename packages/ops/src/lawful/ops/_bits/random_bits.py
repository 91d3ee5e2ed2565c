"""``random_bits``: a counter-based generator. Bits depend on a key and a count alone, so they are the same everywhere.

The function is threefry-2x32 with 20 rounds: J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy
as 1, 2, 3", SC 2011. It takes two words of key and two of count, and returns two words, packed into one of 64 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from lawful.core import (
    ArgumentTypeError,
    Call,
    Choose,
    Declaration,
    Primitive,
    ShapedArray,
    get_aval,
)
from lawful.ops._elementwise.arithmetic.arithmetic import add
from lawful.ops._elementwise.comparison import bitwise_or, bitwise_xor, shift_left, shift_right_logical
from lawful.ops._elementwise.conversion import convert_element_type
from lawful.ops._support.batch_dimensions import align_to_front
from lawful.ops._support.promotion import broadcast_shapes, broadcast_to, require_equal
from lawful.ops._support.structural import without_derivative

__all__ = ["random_bits", "random_bits_p"]

uint32, uint64 = np.dtype(np.uint32), np.dtype(np.uint64)

# The rotations of the second word in the four rounds of even and of odd groups.
_ROTATIONS: Final = ((13, 15, 26, 6), (17, 29, 16, 24))
# The constant that makes a third key word of two (Skein's, for 32 bits).
_PARITY: Final = 0x1BD11BDA
_GROUPS: Final = 5
# Results with more elements (over 128 KiB, more than stays in a processor's cache) are fused with their operands.
_LARGE: Final = 2**14

random_bits_p = Primitive("random_bits", pure_rules=True)
random_bits_p.def_rule("operations", lambda eqn: 100 * eqn.outvars[0].aval.size)


def _threefry(
    key: Sequence[Any], count: Sequence[Any], add: Callable[..., Any], xor: Callable[..., Any],
    rotate: Callable[[Any, int], Any], constant: Callable[[int], Any],
) -> tuple[Any, Any]:  # fmt: skip
    """Returns two words of random bits, by operations that are given for the type of the words."""
    words = (*key, xor(xor(*key), constant(_PARITY)))
    x, y = add(count[0], words[0]), add(count[1], words[1])
    for group in range(_GROUPS):
        for distance in _ROTATIONS[group % 2]:
            x = add(x, y)
            y = xor(rotate(y, distance), x)
        # Each group of four rounds ends with the addition of two of the three key words and of the group's number.
        x = add(x, words[(group + 1) % 3])
        y = add(y, add(words[(group + 2) % 3], constant(group + 1)))
    return x, y


@random_bits_p.def_impl
def _impl(*words: Any) -> Any:
    def rotate(x: Any, distance: int) -> Any:
        return (x << np.uint32(distance)) | (x >> np.uint32(32 - distance))

    words = tuple(np.asarray(word, np.uint32) for word in words)
    with np.errstate(over="ignore"):  # words wrap around
        high, low = _threefry(words[:2], words[2:], np.add, np.bitwise_xor, rotate, np.uint32)
    return (np.asarray(high, np.uint64) << np.uint64(32)) | np.asarray(low, np.uint64)


@random_bits_p.def_abstract_eval
def _abstract_eval(*words: ShapedArray) -> ShapedArray:
    if len(words) != 4:
        raise ArgumentTypeError(f"random_bits_p: expected two words of key and two of count, got {len(words)} operands")
    aval = require_equal("random_bits", words)
    _check_word("random_bits_p", aval)
    return ShapedArray(aval.shape, uint64)


def _check_word(name: str, aval: ShapedArray) -> None:
    if aval.dtype != uint32:
        raise ArgumentTypeError(f"{name}: expected words of dtype uint32, got {aval}; convert with astype")


without_derivative(random_bits_p)
random_bits_p.declare_absent("transpose", "it is not linear in any argument")


@random_bits_p.def_batch
def _batch(args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, int]:
    return random_bits_p.bind(*align_to_front(args, dims)), 0


@random_bits_p.def_lowering
def _lower(ctx: Any, *words: Any) -> Any:
    """Lowers the rounds so that no fused loop computes the key of one draw by another draw.

    In such a loop LLVM's vectorizer visits all of the ``2 ** rounds`` paths. A small draw is a call, which is not
    fused. A large one is inlined, to save passes over memory for its operands, between two barriers: one after its
    key, and one after its result, without which a chain of draws compiles in superlinear time.
    """
    is_large = ctx.avals_out[0].size > _LARGE
    if is_large:
        words = (*_materialize_key(ctx, words[:2]), *words[2:])
    (out,) = ctx.apply(_threefry_2x32, *words, inlined=is_large)
    return ctx.hlo.OptimizationBarrierOp([out]).results[0] if is_large else out


def _materialize_key(ctx: Any, words: Sequence[Any]) -> list[Any]:
    """Returns the words of a key with a barrier before their broadcast."""
    sources = [ctx.operand_of("stablehlo.broadcast_in_dim", word) for word in words]
    given = [word if source is None else source for word, source in zip(words, sources, strict=True)]
    behind = ctx.hlo.OptimizationBarrierOp(given).results
    return [
        result
        if source is None
        else ctx.hlo.broadcast_in_dim(word.type, result, word.owner.attributes["broadcast_dimensions"])
        for word, source, result in zip(words, sources, behind, strict=True)
    ]


def _threefry_2x32(*words: Any) -> Any:
    """Returns the bits, computed by ops."""

    def rotate(x: Any, distance: int) -> Any:
        return bitwise_or(shift_left(x, np.uint32(distance)), shift_right_logical(x, np.uint32(32 - distance)))

    high, low = _threefry(words[:2], words[2:], add, bitwise_xor, rotate, np.uint32)
    wide = shift_left(convert_element_type(high, uint64), np.uint64(32))
    return bitwise_or(wide, convert_element_type(low, uint64))


def random_bits(key: tuple[Any, Any], count: tuple[Any, Any]) -> Any:
    """Returns 64 random bits for each element of a count: threefry-2x32 of the key and the count.

    Args:
      key: two arrays of dtype uint32, which broadcast with the counts.
      count: two arrays of dtype uint32, the high and the low word.

    Returns:
      An array of dtype uint64, whose high and low 32 bits are the two words.

    Raises:
      ArgumentTypeError: a word is not of dtype uint32.
      ArgumentValueError: the shapes do not broadcast.

    Law: the bits are the same under every backend and transformation.

    >>> zero = np.uint32(0)
    >>> hex(random_bits((zero, zero), (zero, zero)))
    '0x6b20015999ba4efe'
    """
    words = (*key, *count)
    for word in words:
        _check_word("random_bits", get_aval(word))
    shape = broadcast_shapes("random_bits", *[get_aval(word).shape for word in words])
    return random_bits_p.bind(*[broadcast_to(word, shape) for word in words])


def _reference(*words: Any) -> Any:
    """Computes the bits with Python integers, element by element."""

    def one(*word: Any) -> Any:
        mask = 2**32 - 1
        high, low = _threefry(
            [int(w) for w in word[:2]], [int(w) for w in word[2:]], lambda a, b: (a + b) & mask, lambda a, b: a ^ b,
            lambda x, n: ((x << n) | (x >> (32 - n))) & mask, int,
        )  # fmt: skip
        return high << 32 | low

    out = [one(*element) for element in zip(*[np.ravel(w) for w in words], strict=True)]
    return np.array(out, np.uint64).reshape(np.shape(words[0]))


def _sample(choose: Choose) -> Call:
    return (ShapedArray(choose.shape(), uint32),) * 4, {}


random_bits_p.declaration = Declaration(sample=_sample, reference=_reference, kinds="u", differentiable=False)
