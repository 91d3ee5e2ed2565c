"""``scatter_apply`` of `jax.lax`: a function applied to windows of an array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from lawful import ops
from lawful.batching import vmap
from lawful.control_flow import fori_loop
from lawful.core import ArgumentTypeError, Tracer, get_aval
from lawful.ops._indexing.gather_scatter.windows import (
    GatherScatterMode,
    Windows,
    check_indices,
    has_one_window,
    plain_dimension_numbers,
    windows_of_updates,
)
from lawful.ops._support.structural import static_integers

__all__ = ["scatter_apply"]


def scatter_apply(
    operand: Any,
    scatter_indices: Any,
    func: Callable[[Any], Any],
    dimension_numbers: Any,
    *,
    update_shape: Any = (),
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
) -> Any:
    """Returns ``operand`` with ``func`` applied to the elements of windows, as often as windows contain an element.

    Args:
      operand: an array.
      scatter_indices: integers, of which the last dimension is the index vector.
      func: a function of a scalar that returns a scalar of the same dtype.
      dimension_numbers: how the dimensions belong together; a ``ScatterDimensionNumbers``.
      update_shape: the shape of the updates that `scatter` would take.
      indices_are_sorted: a promise that may make it faster.
      unique_indices: a promise that windows do not overlap, which saves a loop.
      mode: what becomes of a window that is partly outside: ``"clip"`` moves it inside, ``"drop"``, the default,
        leaves it out, ``"promise_in_bounds"`` says that there is none.

    Raises:
      ArgumentTypeError: the shapes and dimension numbers do not fit together, or ``func`` returns another type.
      ArgumentValueError: there is no such mode.

    It differentiates as often as ``func`` does, where JAX's function has no derivative.

    >>> from lawful.jax import lax
    >>> numbers = lax.ScatterDimensionNumbers((), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,))
    >>> indices = numpy.array([[1], [2], [1]])
    >>> lax.scatter_apply(numpy.array([5.0, 6.0, 7.0]), indices, lambda x: 10 * x, numbers, update_shape=(3,))
    Array([  5., 600.,  70.], dtype=float64)

    Source: ``jax.lax.scatter_apply``.
    """
    windows, numbers = _windows(operand, scatter_indices, dimension_numbers, update_shape)
    chosen = GatherScatterMode.from_any(mode)
    options: Any = {"indices_are_sorted": indices_are_sorted, "unique_indices": unique_indices, "mode": chosen}
    updates = windows.gathered

    def read(x: Any, fill_value: Any = None) -> Any:
        return ops.gather(x, scatter_indices, windows.numbers, windows.sizes, fill_value=fill_value, **options)

    def applied(x: Any, inputs: Any) -> Any:
        # Windows that contain the same element write the same value.
        return ops.scatter(x, scatter_indices, _elementwise(func, inputs), numbers, **options)

    operand = numpy.asarray(operand) if not isinstance(operand, Tracer) else operand
    if 0 in updates:
        return operand
    first = read(operand)
    once = applied(operand, first)
    if unique_indices or has_one_window(windows):
        return once
    zeros = numpy.zeros(get_aval(operand).shape, numpy.int32)
    counts = ops.scatter_add(zeros, scatter_indices, numpy.ones(updates, numpy.int32), numbers, **options)
    needed = read(counts, fill_value=0)

    def again(i: Any, x: Any) -> Any:
        # Where nothing is left to do, func is evaluated at the original element: its derivative exists there.
        current, left = read(x), ops.gt(needed, ops.convert_element_type(i, numpy.int32))
        values = _elementwise(func, ops.select_n(left, first, current))
        return ops.scatter(x, scatter_indices, ops.select_n(left, current, values), numbers, **options)

    return fori_loop(1, ops.reduce_max(needed, tuple(range(len(updates)))), again, once)


def _windows(operand: Any, indices: Any, dimension_numbers: Any, update_shape: Any) -> tuple[Windows, Any]:
    name = "scatter_apply"
    numbers = plain_dimension_numbers(name, dimension_numbers)
    shape = static_integers(name, "update_shape", update_shape)
    check_indices(name, get_aval(indices))
    windows = windows_of_updates(get_aval(operand).shape, get_aval(indices).shape, shape, numbers)
    windows.check(name)
    if windows.gathered != shape:
        raise ArgumentTypeError(
            f"{name}: expected update_shape={windows.gathered}, a window for each index vector of {get_aval(indices)}, "
            f"got {shape}; correct it"
        )
    return windows, dimension_numbers


def _elementwise(func: Callable[[Any], Any], x: Any) -> Any:
    """Returns a function of a scalar applied to each element."""
    aval = get_aval(x)

    def scalar(element: Any) -> Any:
        out = func(element)
        found = get_aval(out)
        if found.shape or not (found.dtype == aval.dtype or found.weak_type):
            raise ArgumentTypeError(
                f"scatter_apply: expected func to return a scalar of dtype {aval.dtype}, got {found}; "
                "reduce or convert it"
            )
        return ops.convert_element_type(out, aval.dtype)

    return ops.reshape(vmap(scalar)(ops.reshape(x, (aval.size,))), aval.shape)
