"""Pytrees of arrays as vectors.

>>> vector, unflatten = flatten({"a": 1.0, "b": [2.0, numpy.array([3.0, 4.0])]})
>>> vector
array([1., 2., 3., 4.])
>>> unflatten(2.0 * vector)
{'a': np.float64(2.0), 'b': [np.float64(4.0), array([6., 8.])]}
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy

import lawful.numpy as np
from lawful import tree
from lawful.autograd._tree import flatten as flatten_tree
from lawful.autograd._tree import in_order_of
from lawful.core import get_aval

Function = Callable[..., Any]


def flatten(value: Any) -> tuple[Any, Function]:
    """Returns the leaves of a pytree of arrays and numbers as one vector, and the function from vectors to trees.

    In the vector the leaves of a dict are in the order of its sorted keys; in the tree the keys have their own order.

    >>> vector, unflatten = flatten((1.0, [2.0]))
    >>> vector, unflatten(10.0 * vector)
    (array([1., 2.]), (np.float64(10.0), [np.float64(20.0)]))
    """
    leaves, sorted_tree = tree.flatten(value)
    positions, treedef = flatten_tree(in_order_of(value, sorted_tree.unflatten(range(len(leaves)))))
    shapes = [get_aval(x).shape for x in leaves]
    ends = numpy.cumsum([0, *map(_size, shapes)]).tolist()

    def unflatten(vector: Any) -> Any:
        parts = [vector[start:end] for start, end in pairwise(ends)]
        shaped = [_shaped(x, shape) for x, shape in zip(parts, shapes, strict=True)]
        return treedef.unflatten([shaped[i] for i in positions])

    vector = np.concatenate([np.ravel(x) for x in leaves]) if leaves else numpy.zeros(0)
    return vector, unflatten


def _size(shape: tuple[int, ...]) -> int:
    return int(numpy.prod(shape))


def _shaped(x: Any, shape: tuple[int, ...]) -> Any:
    """Returns part of a vector in a shape; an array of its own where nothing is traced."""
    if not shape:
        return x[0]
    return numpy.array(x).reshape(shape) if type(x) is numpy.ndarray else np.reshape(x, shape)


def flatten_func(func: Function, example: Any) -> tuple[Function, Function, Any]:
    """Returns a function of a vector, the function from vectors to trees, and an example as a vector.

    Args:
      func: a function of a pytree, and further arguments, that returns a pytree.
      example: its first argument.

    >>> f, unflatten, vector = flatten_func(lambda xs: [2.0 * xs[0], xs[1]], [1.0, 3.0])
    >>> vector, f(vector)
    (array([1., 3.]), array([2., 3.]))
    """
    vector, unflatten = flatten(example)
    return lambda x, *args: flatten(func(unflatten(x), *args))[0], unflatten, vector
