"""Tangents, cotangents and their pairing, for laws of derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful import tree
from lawful.core import ShapedArray, float0, get_aval, is_inexact
from lawful.laws._law.implementation import Implementation
from lawful.laws._law.law import Inapplicable, Trial

Leaves = list[Any]


def is_floating(aval: ShapedArray) -> bool:
    """Whether a leaf has tangents: floating or complex numbers."""
    return is_inexact(aval.dtype)


def is_wide(aval: ShapedArray) -> bool:
    """Whether a leaf has wide enough floats (64 bits) for finite differences."""
    return aval.dtype in (np.dtype(np.float64), np.dtype(np.complex128))


def is_wide_real(aval: ShapedArray) -> bool:
    """Whether a leaf has real numbers of 64 bits."""
    return aval.dtype == np.dtype(np.float64)


def restrict(
    trial: Trial,
    accept: Callable[[ShapedArray], bool] = is_floating,
    accept_result: Callable[[ShapedArray], bool] | None = None,
) -> tuple[Callable[..., Leaves], Leaves]:
    """Returns a function of accepted leaves that gives the accepted leaves of its result, and these arguments.

    The other leaves are constants, closed over.

    Raises:
      Inapplicable: no leaf of the arguments, or none of the result, is accepted.
    """
    function, aval = trial.function, trial.system.aval
    leaves, treedef = tree.flatten(trial.args)
    chosen = [i for i, x in enumerate(leaves) if accept(get_aval(x))]

    def restricted(*values: Any) -> Leaves:
        full = list(leaves)
        for i, value in zip(chosen, values, strict=True):
            full[i] = value
        return [x for x in tree.leaves(function(*tree.unflatten(treedef, full))) if (accept_result or accept)(aval(x))]

    if not chosen:
        raise Inapplicable("law: expected an argument to differentiate by, got none")
    given = [leaves[i] for i in chosen]
    if not any(map(accept_result or accept, _result_avals(trial))):
        raise Inapplicable("law: expected a result that can be differentiated, got none")
    return restricted, given


def _result_avals(trial: Trial) -> Sequence[ShapedArray]:
    """Returns the types of a function's results."""
    return [trial.system.aval(x) for x in tree.leaves(trial.value(trial.function, trial.args))]


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


def tangents_of(trial: Trial, values: Any) -> Any:
    """Returns random tangents, or cotangents, of a pytree of arrays."""
    return tree.map(lambda x: normal(trial.random, trial.system.aval(x)), values)


def differentiable(trial: Trial) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Returns a case's function and arguments, for derivatives by all of them.

    Where the system has no tangents of integers, only the floating leaves are left.

    Raises:
      Inapplicable: there are none.
    """
    if trial.has("integer tangents"):
        return trial.function, trial.args
    function, leaves = restrict(trial)
    return function, tuple(leaves)


def combine(a: float, xs: Any, b: float, ys: Any) -> Any:
    """Returns ``a x + b y`` of pytrees of tangents, of the same types."""

    def one(x: Any, y: Any) -> Any:
        if getattr(x, "dtype", None) == float0:
            return x
        out = np.asarray(a * np.asarray(x) + b * np.asarray(y)).astype(np.asarray(x).dtype)
        return out.item() if isinstance(x, float | complex) and not isinstance(x, np.generic) else out

    return tree.map(one, xs, ys)


def pairing(system: Implementation, xs: Any, ys: Any) -> Any:
    """Returns the real part of the sum of products ``x y`` over all leaves: how cotangents act on tangents.

    It is made of the system's array functions, so that it can be differentiated.
    """
    ops = system.ops
    total: Any = system.array(np.float64(0.0))
    for x, y in zip(tree.leaves(xs), tree.leaves(ys), strict=True):
        left, right = system.aval(x), system.aval(y)
        if left.dtype == float0 or right.dtype == float0:
            continue
        product = ops.mul(x, y)
        real = ops.real(product) if "c" in (left.dtype.kind, right.dtype.kind) else product
        total = ops.add(total, ops.reduce_sum(real, tuple(range(left.ndim))))
    return total


def scalarized(system: Implementation, function: Callable[..., Leaves], seed: int) -> Callable[..., Any]:
    """Returns a function of the same arguments whose result is one number: a weighted sum of the results."""
    weights: dict[tuple[ShapedArray, ...], Leaves] = {}

    def loss(*args: Any) -> Any:
        results = function(*args)
        avals = tuple([system.aval(x).update(weak_type=False) for x in results])
        if avals not in weights:
            random = np.random.default_rng(seed)
            weights[avals] = [normal(random, aval) for aval in avals]
        return pairing(system, results, [system.array(x) for x in weights[avals]])

    return loss


def require_range(system: Implementation, typed: Any, *derivatives: Any) -> None:
    """Raises Inapplicable if a program of float16 has derivatives along other directions that are infinite or NaN.

    Then numbers on the way overflow, and linearity does not hold. Wider floats are far from their ends.

    Args:
      system: the implementation whose values these are.
      typed: a pytree of arguments and results, for their dtypes.
      derivatives: pytrees of NumPy arrays, the derivatives of one program along some directions.
    """
    if not any(system.aval(x).dtype == np.float16 for x in tree.leaves(typed)):
        return
    finite = {
        all(np.isfinite(x).all() for x in tree.leaves(each) if is_inexact(get_aval(x).dtype)) for each in derivatives
    }
    if len(finite) > 1:
        raise Inapplicable("law: expected derivatives in the range of float16, got some that overflow on the way")
