"""JAX's functions of keys: here a key is its two words."""

from __future__ import annotations

from typing import Any

import numpy

from lawful import random
from lawful.core import ArgumentValueError, get_aval
from lawful.ops import convert_element_type


def key(seed: Any, *, impl: Any = None, dtype: Any = None) -> Any:
    """Returns the key of a seed: an array of two words.

    Raises:
      ArgumentValueError: another generator than threefry is asked for.

    >>> key(7)
    array([0, 7], dtype=uint32)
    """
    if impl not in (None, "threefry2x32", "fry"):
        raise ArgumentValueError(f"key: expected the generator 'threefry2x32', got {impl!r}; leave out impl")
    return random.key(int(seed) if isinstance(seed, numpy.integer) else seed)


PRNGKey = key


def bits(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Returns random bits, of dtype uint64 by default; see `lawful.random.bits`.

    >>> bits(key(7), (2,), "uint32").shape
    (2,)
    """
    return random.bits(key, shape, numpy.uint64 if dtype is None else dtype)


def randint(key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any = None) -> Any:
    """Returns random integers; bounds that are floats are rounded towards zero; see `lawful.random.randint`.

    >>> randint(key(0), (5,), 0.5, 10.7)
    array([5, 1, 5, 7, 3])
    """
    low, high = (
        convert_element_type(bound, int) if get_aval(bound).dtype.kind in "fV" else bound for bound in (minval, maxval)
    )
    return random.randint(key, shape, low, high, int if dtype is None else dtype)


def key_data(keys: Any) -> Any:
    """Returns the words of keys: they are themselves.

    >>> key_data(key(7))
    array([0, 7], dtype=uint32)
    """
    get_aval(keys)
    return keys


def wrap_key_data(key_bits_array: Any, *, impl: Any = None, dtype: Any = None) -> Any:
    """Returns words as keys: they are themselves.

    >>> wrap_key_data(numpy.array([0, 7], "uint32"))
    array([0, 7], dtype=uint32)
    """
    get_aval(key_bits_array)
    return key_bits_array


def clone(key: Any) -> Any:
    """Returns a key, which may be used again: use is not checked.

    >>> clone(key(7))
    array([0, 7], dtype=uint32)
    """
    return key


def key_impl(keys: Any) -> str:
    """Returns the name of the generator.

    >>> key_impl(key(7))
    'threefry2x32'
    """
    return "threefry2x32"
