"""Arguments to differentiate by, and derivatives that a user gives, as the transformations take them."""

from __future__ import annotations

from typing import Any

import numpy

import lawful.numpy as np
from lawful.autograd import _tree as tree
from lawful.core import ArgumentTypeError, ArgumentValueError, Tracer, float0, get_aval, is_array, is_inexact, shorten
from lawful.tree import keystr, leaves_with_path

_FLOATS = (float, numpy.float64)
_ARRAYS = (numpy.ndarray, Tracer)


def as_variable(x: Any) -> Any:
    """Returns an argument to differentiate by: arrays of integers as floats, and dicts in their own order.

    Raises:
      ArgumentTypeError: it is an integer or no array, or a leaf of it is.
    """
    if type(x) in _FLOATS or (isinstance(x, _ARRAYS) and x.dtype.kind in "fc"):
        return x
    if isinstance(x, tuple | list | dict):
        try:
            return tree.ordered(x, _as_leaf)
        except _RefusedLeaf:
            pairs = leaves_with_path(tree.ordered(x))
            path, leaf = next((path, leaf) for path, leaf in pairs if _is_refused(leaf))
            raise _refusal(leaf, f" at {keystr(path)} of the argument" if path else "") from None
    if _is_refused(x):
        raise _refusal(x)
    return _as_leaf(x)


class _RefusedLeaf(Exception):
    """A leaf is an integer or no array."""


def _as_leaf(x: Any) -> Any:
    if isinstance(x, _ARRAYS):
        if x.dtype.kind in "iub":
            return np.astype(x, float) if isinstance(x, Tracer) else x.astype(float)
    elif _is_refused(x):
        raise _RefusedLeaf
    return x


def _is_refused(x: Any) -> bool:
    """Whether something is neither an array nor a number that is no integer."""
    return not is_array(x) or not (isinstance(x, _ARRAYS) or is_inexact(get_aval(x).dtype))


def _refusal(x: Any, where: str = "") -> ArgumentTypeError:
    """Returns the error for what is no variable, with where it is."""
    got, cure = shorten(x), "convert it with numpy.asarray, or leave it out"
    if is_array(x):
        cure = f"write it as a float, {float(x)!r}, or leave it out"
    elif isinstance(x, dict):
        cure = f"a {type(x).__name__} is no tree: write dict(x)"
    elif hasattr(type(x), "__array__") and hasattr(type(x), "__len__"):
        got = f"a {type(x).__name__} of length {len(x)}"
        cure = "convert it with to_numpy(float)" if hasattr(x, "to_numpy") else "convert it with numpy.asarray"
    return ArgumentTypeError(
        f"Can't differentiate w.r.t. type {type(x)}: expected floats or arrays of them, got {got}{where}; {cure}"
    )


def as_derivative(g: Any, like: Any) -> Any:
    """Returns a tangent or cotangent with the structure, shapes and dtypes of a value.

    Args:
      g: a tree of arrays, numbers, or lists of them.
      like: the value that it belongs to.
    """
    cls = type(like)
    if cls is type(g) is numpy.ndarray and g.dtype == like.dtype and g.shape == like.shape and g.dtype.kind in "fc":
        return g
    if cls in _FLOATS and type(g) in _FLOATS:
        return cls(g)
    if isinstance(like, tuple | list | dict):
        leaves, treedef = tree.flatten(like)
        given = tree.leaves(tree.in_order_of(like, g))
        if len(given) != len(leaves):
            raise ArgumentValueError(
                f"derivative: expected a tree like the value that it belongs to, {treedef}, got {shorten(g)}; give a "
                "number or array for each leaf"
            )
        return tree.ordered(treedef.unflatten([_as_derivative(x, leaf) for x, leaf in zip(given, leaves, strict=True)]))
    return _as_derivative(g, like)


def _as_derivative(g: Any, like: Any) -> Any:
    aval = get_aval(like).to_tangent_aval()
    if aval.dtype == float0:
        return numpy.zeros(aval.shape, float0)
    if isinstance(g, Tracer | numpy.ndarray | numpy.generic) and g.dtype == aval.dtype and g.shape == aval.shape:
        return g
    g = g if isinstance(g, Tracer) else np.asarray(g)
    if g.dtype.kind == "c" and aval.dtype.kind != "c":
        g = np.real(g)
    return np.broadcast_to(np.astype(g, aval.dtype), aval.shape)


def as_result(x: Any) -> Any:
    """Returns a value or derivative with NumPy's numbers for Python's, and zeros of floats by integers."""
    cls = type(x)
    if cls is float:  # the common cases first
        return numpy.float64(x)
    if cls is numpy.ndarray:
        return numpy.zeros(x.shape) if x.dtype == float0 else x
    if cls is complex:
        return numpy.complex128(x)
    return tree.map(as_result, x) if isinstance(x, tuple | list | dict) else x
