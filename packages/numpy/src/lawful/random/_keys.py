"""Keys, the source of all randomness. A key is two words; the same key gives the same numbers."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful import ops
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    IntegerOverflowError,
    InvalidArgumentError,
    current,
    get_aval,
    require_size,
    shorten,
)

_WORD = 2**32


def key(seed: Any) -> Any:
    """Returns the key of a seed.

    Args:
      seed: an integer or a boolean, which may be traced; a Python integer from -2**63 to 2**64 - 1.

    Returns:
      An array of two words: shape (2,), dtype uint32. A batch of keys has its dimensions in front of these.

    Raises:
      ArgumentTypeError: the seed is not an integer scalar.
      IntegerOverflowError: it does not fit 64 bits: two seeds would have one key.

    Source: ``jax.random.key``, of which it is the raw data (``jax.random.key_data``).

    >>> key(0)
    array([0, 0], dtype=uint32)
    """
    aval = get_aval(seed) if not isinstance(seed, int) else None
    if aval is None:
        number = operator.index(seed)
        _require_range("key", "seed", number, -(2**63), 2**64)
        return np.array([number // _WORD % _WORD, number % _WORD], np.uint32)
    if aval.shape or aval.dtype.kind not in "biu":
        raise ArgumentTypeError(f"key: expected an integer as seed, got {aval}; give an int, such as key(0)")
    wide = ops.convert_element_type(seed, np.uint64)
    return _as_key(ops.shift_right_logical(wide, np.uint64(32)), wide)


def _require_range(name: str, what: str, number: int, least: int, beyond: int) -> None:
    if not least <= number < beyond:
        raise IntegerOverflowError(
            f"{name}: expected a {what} from {least} to {beyond - 1}, got {shorten(number)}; take its remainder "
            "if different numbers may share a key"
        )


def _as_key(high: Any, low: Any) -> Any:
    """Returns keys from the lowest 32 bits of two arrays of words."""
    words = [ops.expand_dims(ops.convert_element_type(word, np.uint32), (-1,)) for word in (high, low)]
    return ops.concatenate(words, get_aval(words[0]).ndim - 1)


def require_key(name: str, key: Any) -> None:
    """Raises ArgumentTypeError for what is no key, in the name of the function that was called."""
    aval = get_aval(key)
    if aval.dtype != np.uint32 or aval.shape != (2,):
        batch = "; map over a batch of keys with vmap" if aval.dtype == np.uint32 and aval.shape[-1:] == (2,) else ""
        raise InvalidArgumentError(
            f"{name}: expected a key, of type u32[2], got {aval}; make one with lawful.random.key(seed){batch}"
        )


def words_of(name: str, key: Any) -> tuple[Any, Any]:
    """Returns the two words of a key.

    Raises:
      ArgumentTypeError: it is none.
    """
    require_key(name, key)
    return key[0], key[1]


def shape_of(name: str, shape: Any) -> tuple[int, ...]:
    """Returns a shape as a tuple of integers.

    Raises:
      ArgumentTypeError: a size is not an integer that is known.
      ArgumentValueError: a size is negative.
    """
    sizes = tuple(shape) if isinstance(shape, Sequence) else (shape,)
    try:
        found = tuple(map(operator.index, sizes))
    except TypeError as error:
        raise ArgumentTypeError(
            f"{name}: expected a shape of integers, got {shape!r}; give Python integers, as shape=(2, 3)"
        ) from error
    if any(size < 0 for size in found):
        raise ArgumentValueError(f"{name}: expected sizes that are not negative, got {found}")
    return found


def _counts(shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Returns the flat index of each element of an array, as a high and a low word."""
    if not current.trace.evaluates_constants:  # not a constant of the program
        count = ops.reshape(ops.iota(np.uint64, math.prod(shape)), shape)
        high, low = ops.shift_right_logical(count, np.uint64(32)), ops.bitwise_and(count, np.uint64(_WORD - 1))
        return ops.convert_element_type(high, np.uint32), ops.convert_element_type(low, np.uint32)
    count = np.arange(math.prod(shape), dtype=np.uint64).reshape(shape)
    return (count >> np.uint64(32)).astype(np.uint32), (count & np.uint64(_WORD - 1)).astype(np.uint32)


def bits_of_64(name: str, key: Any, shape: tuple[int, ...]) -> Any:
    """Returns 64 random bits for each element of a shape, of dtype uint64."""
    require_size(shape, np.dtype(np.uint64))
    return ops.random_bits(words_of(name, key), _counts(shape))


def split(key: Any, num: Any = 2) -> Any:
    """Returns new keys made of one, which is not to be used again.

    Args:
      key: a key.
      num: how many, or the shape of the array of them.

    Returns:
      An array of keys: dtype uint32, shape (num, 2), or that of ``num`` with 2 behind.

    Raises:
      ArgumentTypeError: it is not a key.

    Law: the keys are those of ``jax.random.split`` with its default settings.

    >>> split(key(0))
    array([[1797259609, 2579123966],
           [ 928981903, 3453687069]], dtype=uint32)
    """
    wide = bits_of_64("split", key, shape_of("split", num))
    return _as_key(ops.shift_right_logical(wide, np.uint64(32)), wide)


def fold_in(key: Any, data: Any) -> Any:
    """Returns a new key made of one and an integer.

    Args:
      key: a key.
      data: an integer or boolean scalar, whose lowest 32 bits count; a Python integer from -2**31 to 2**32 - 1.

    Raises:
      ArgumentTypeError: it is not a key, or ``data`` is no integer scalar.
      IntegerOverflowError: a Python integer does not fit 32 bits.

    Law: the key is that of ``jax.random.fold_in`` with its default settings.

    >>> fold_in(key(0), 7)
    array([2716826189,  292468403], dtype=uint32)
    """
    if isinstance(data, int):
        _require_range("fold_in", "number as data", data, -(2**31), 2**32)
    aval = get_aval(data)
    if aval.shape or aval.dtype.kind not in "biu":
        raise ArgumentTypeError(f"fold_in: expected an integer as data, got {aval}; give one number for each new key")
    low = np.uint32(data % _WORD) if isinstance(data, int) else ops.convert_element_type(data, np.uint32)
    wide = ops.random_bits(words_of("fold_in", key), (np.uint32(0), low))
    return _as_key(ops.shift_right_logical(wide, np.uint64(32)), wide)
