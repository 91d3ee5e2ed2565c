"""Tangents, cotangents and pairings: what derivatives are probed with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful import ops, tree
from lawful.core import ShapedArray, float0, get_aval, is_inexact
from lawful.laws._law import Inapplicable

Leaves = list[Any]


def is_floating(x: Any) -> bool:
    """Whether a leaf has tangents: floating or complex numbers."""
    return is_inexact(get_aval(x).dtype)


def is_wide(x: Any) -> bool:
    """Whether a leaf has floating numbers of most bits, of which finite differences can be taken."""
    return get_aval(x).dtype in (np.dtype(np.float64), np.dtype(np.complex128))


def is_wide_real(x: Any) -> bool:
    """Whether a leaf has real numbers of most bits."""
    return get_aval(x).dtype == np.dtype(np.float64)


def restrict(
    function: Callable[..., Any],
    args: Sequence[Any],
    accept: Callable[[Any], bool] = is_floating,
    accept_result: Callable[[Any], bool] | None = None,
) -> tuple[Callable[..., Leaves], Leaves]:
    """Returns a function of accepted leaves that gives the accepted leaves of its result, and these arguments.

    The other leaves are constants, closed over.

    Raises:
      Inapplicable: no leaf of the arguments, or none of the result, is accepted.
    """
    leaves, treedef = tree.flatten(tuple(args))
    chosen = [i for i, x in enumerate(leaves) if accept(x)]

    def restricted(*values: Any) -> Leaves:
        full = list(leaves)
        for i, value in zip(chosen, values, strict=True):
            full[i] = value
        return [x for x in tree.leaves(function(*tree.unflatten(treedef, full))) if (accept_result or accept)(x)]

    if not chosen:
        raise Inapplicable("law: expected an argument to differentiate by, got none")
    given = [leaves[i] for i in chosen]
    if not restricted(*given):
        raise Inapplicable("law: expected a result that can be differentiated, got none")
    return restricted, given


def normal(random: np.random.Generator, aval: ShapedArray) -> Any:
    """Returns a random tangent of a type: of dtype float0 for integers, a Python number for a weak type."""
    aval = aval.to_tangent_aval()
    if aval.dtype == float0:
        return np.zeros(aval.shape, float0)
    x = random.uniform(-1.0, 1.0, aval.shape)
    if aval.dtype.kind == "c":
        x = x + 1j * random.uniform(-1.0, 1.0, aval.shape)
    x = np.round(x, 3).astype(aval.dtype)
    return x.item() if aval.weak_type else x


def tangents_of(random: np.random.Generator, values: Any) -> Any:
    """Returns random tangents, or cotangents, of a pytree of arrays."""
    return tree.map(lambda x: normal(random, get_aval(x)), values)


def combine(a: float, xs: Any, b: float, ys: Any) -> Any:
    """Returns ``a x + b y`` of pytrees of tangents, of the same types."""

    def one(x: Any, y: Any) -> Any:
        if getattr(x, "dtype", None) == float0:
            return x
        out = np.asarray(a * np.asarray(x) + b * np.asarray(y)).astype(np.asarray(x).dtype)
        return out.item() if isinstance(x, float | complex) and not isinstance(x, np.generic) else out

    return tree.map(one, xs, ys)


def pairing(xs: Any, ys: Any) -> Any:
    """Returns the real part of the sum of products ``x y`` over all leaves: how cotangents act on tangents.

    It is made of lawful ops, so that it can be differentiated.
    """
    total: Any = np.float64(0.0)
    for x, y in zip(tree.leaves(xs), tree.leaves(ys), strict=True):
        if get_aval(x).dtype == float0 or get_aval(y).dtype == float0:
            continue
        product = ops.mul(x, y)
        total = ops.add(total, ops.reduce_sum(ops.real(product), tuple(range(get_aval(product).ndim))))
    return total


def scalarized(function: Callable[..., Leaves], seed: int) -> Callable[..., Any]:
    """Returns a function of the same arguments that gives one number: its results, weighted and added."""

    def loss(*args: Any) -> Any:
        results = function(*args)
        random = np.random.default_rng(seed)
        return pairing(results, [normal(random, get_aval(x).update(weak_type=False)) for x in results])

    return loss
