"""Products of arrays as matrix products of NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from lawful.core import ArgumentTypeError, cached_function, of_numpy, record

Shape = tuple[int, ...]
Pair = tuple[Shape, Shape]
#: ``((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch))``
DimensionNumbers = tuple[Pair, Pair]


@record
class Plan:
    """A product of two shapes as a product of matrices, or of stacks of them.

    Attributes:
      lhs_free: the dimensions of the first operand that the result has, except batch dimensions.
      rhs_free: those of the second operand.
      lhs_matrices: the shape of the first operand with its dimensions in the order batch, free, contracted, each
        group merged; the first is omitted if there are no batch dimensions.
      rhs_matrices: the same of the second operand in the order batch, contracted, free.
      shape: the shape of the result.
    """

    lhs_free: Shape
    rhs_free: Shape
    lhs_matrices: Shape
    rhs_matrices: Shape
    shape: Shape


@cached_function("plans of dot_general", 4096)
def plan_of(lhs: Shape, rhs: Shape, numbers: DimensionNumbers) -> Plan:
    """Checks the dimension numbers, and returns the plan for two shapes."""
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = numbers
    _check_pairs("contracting", lhs, rhs, lhs_contract, rhs_contract)
    _check_pairs("batch", lhs, rhs, lhs_batch, rhs_batch)
    for side, shape, used in (("lhs", lhs, lhs_contract + lhs_batch), ("rhs", rhs, rhs_contract + rhs_batch)):
        if len(set(used)) < len(used) or not set(used) <= set(range(len(shape))):
            raise ArgumentTypeError(
                f"dot_general: expected contracting and batch dimensions of {side} that are different and in 0 to "
                f"{len(shape) - 1}, got {numbers} for the shapes {lhs} and {rhs}; name each dimension at most once"
            )
    lhs_free = remaining_axes(len(lhs), lhs_contract, lhs_batch)
    rhs_free = remaining_axes(len(rhs), rhs_contract, rhs_batch)
    batch_shape = _sizes(lhs, lhs_batch)
    batch = (math.prod(batch_shape),) if lhs_batch else ()
    contract = math.prod(_sizes(lhs, lhs_contract))
    return Plan(
        lhs_free,
        rhs_free,
        (*batch, math.prod(_sizes(lhs, lhs_free)), contract),
        (*batch, contract, math.prod(_sizes(rhs, rhs_free))),
        batch_shape + _sizes(lhs, lhs_free) + _sizes(rhs, rhs_free),
    )


def _sizes(shape: Shape, axes: Shape) -> Shape:
    return tuple([shape[axis] for axis in axes])


def remaining_axes(ndim: int, *used: Iterable[int]) -> Shape:
    """Returns the dimensions that are not used."""
    taken = {axis for axes in used for axis in axes}
    return tuple([axis for axis in range(ndim) if axis not in taken])


def _check_pairs(what: str, lhs: Shape, rhs: Shape, lhs_axes: Shape, rhs_axes: Shape) -> None:
    fits = len(lhs_axes) == len(rhs_axes) and all(
        a < len(lhs) and b < len(rhs) and lhs[a] == rhs[b] for a, b in zip(lhs_axes, rhs_axes, strict=True)
    )
    if not fits:
        raise ArgumentTypeError(
            f"dot_general: expected {what} dimensions in pairs of equal length, got the dimensions {lhs_axes} of the "
            f"shape {lhs} and {rhs_axes} of the shape {rhs}; name others, or reshape one operand"
        )


def by_matrices(lhs: Any, rhs: Any, numbers: DimensionNumbers) -> Any:
    """Returns the product of two arrays, by one call of ``numpy.matmul``."""
    plan = plan_of(lhs.shape, rhs.shape, numbers)
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = numbers
    # If two dimensions are swapped these are views, which BLAS takes without a copy.
    left = lhs.transpose(lhs_batch + plan.lhs_free + lhs_contract).reshape(plan.lhs_matrices)
    right = rhs.transpose(rhs_batch + rhs_contract + plan.rhs_free).reshape(plan.rhs_matrices)
    return np.matmul(left, right).reshape(plan.shape)[()]


#: Up to so many bytes of a result, by its dtype kind, `numpy.ndarray.dot` is faster than `numpy.matmul`: 2x for
#: matrices of 3 × 3, 1.2x for 64 × 32. For larger ones its initialization with zeros takes longer.
_MOST_BYTES = {"f": 16_384, "c": 8_192}


@cached_function("NumPy products of dot_general", 4096)
def product_of_matrices(
    lhs: Shape, rhs: Shape, dtype: np.dtype[Any], numbers: DimensionNumbers
) -> Callable[..., Any] | None:
    """Returns the function of NumPy for an outer product, or of vectors or matrices of such shapes; None for others."""
    (lhs_contract, rhs_contract), (lhs_batch, _) = numbers
    if not (lhs and rhs):
        return np.multiply
    if not (lhs_contract or lhs_batch):
        column = lhs + (1,) * len(rhs)
        return of_numpy(lambda x, y: np.multiply(x.reshape(column), y))
    if lhs_batch or len(lhs_contract) != 1 or max(len(lhs), len(rhs)) > 2:
        return None
    size = math.prod(plan_of(lhs, rhs, numbers).shape) * dtype.itemsize
    is_small = size <= _MOST_BYTES.get(dtype.kind, -1)
    has_scalar = 1 in (math.prod(lhs), math.prod(rhs))  # 0 of which `numpy.ndarray.dot` multiplies by NaN to 0
    multiply = np.ndarray.dot if is_small and not has_scalar else np.matmul
    swap_lhs, swap_rhs = len(lhs) == 2 and lhs_contract == (0,), rhs_contract == (1,)
    if swap_lhs:
        return of_numpy((lambda x, y: multiply(x.T, y.T)) if swap_rhs else (lambda x, y: multiply(x.T, y)))
    return of_numpy(lambda x, y: multiply(x, y.T)) if swap_rhs else multiply
