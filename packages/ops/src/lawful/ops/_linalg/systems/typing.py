"""Typing and batching of systems of linear equations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lawful.core import ArgumentTypeError, ArgumentValueError, Primitive, ShapedArray, get_aval
from lawful.ops._linalg.matrices import matrix_dtypes
from lawful.ops._shape.reshape import reshape
from lawful.ops._support.batch_dimensions import align_to_front, move_batch_dim


def infer_system(name: str, a: ShapedArray, b: ShapedArray, *, left_side: bool = True, cure: str = "") -> ShapedArray:
    """Returns the type of the solution of a system.

    Args:
      name: the op, for error messages.
      a: the type of the matrices.
      b: the type of the right-hand sides.
      left_side: whether the matrices are on the left of the solution.
      cure: more advice for the error message about shapes.

    Raises:
      ArgumentTypeError: the dtypes are not equal, or LAPACK does not support them.
      ArgumentValueError: the shapes do not fit.
    """
    if a.dtype not in matrix_dtypes or a.dtype != b.dtype:
        raise ArgumentTypeError(
            f"{name}: expected arrays of one dtype, {', '.join(dtype.name for dtype in matrix_dtypes)}, got {a} and "
            f"{b}; convert with astype"
        )
    if (
        a.ndim < 2
        or a.ndim != b.ndim
        or a.shape[-1] != a.shape[-2]
        or a.shape[:-2] != b.shape[:-2]
        or a.shape[-1] != b.shape[-2 if left_side else -1]
    ):
        needed = "(…, m, m) and (…, m, n)" if left_side else "(…, m, m) and (…, n, m)"
        raise ArgumentValueError(f"{name}: expected shapes {needed}, got {a.shape} and {b.shape}; transpose one{cure}")
    return ShapedArray(b.shape, b.dtype)


def batch_system(
    primitive: Primitive, args: Sequence[Any], dims: Sequence[int | None], params: dict[str, Any], *, left_side: bool
) -> tuple[Any, int]:
    """Returns the solutions of a batch of systems, and their batch dimension; the right-hand sides are the last."""
    (*matrices, b), (*matrix_dims, b_dim) = args, dims
    if any(dim is not None for dim in matrix_dims):
        return primitive.bind(*align_to_front(args, dims), **params), 0
    # With one matrix for the whole batch, the batch is merged into the columns, or rows, of one system.
    assert b_dim is not None
    ndim = get_aval(b).ndim
    out_dim = ndim - 1 if left_side else ndim - 3
    b = move_batch_dim(b, b_dim, out_dim)
    shape = get_aval(b).shape
    first = ndim - 2 if left_side else ndim - 3
    merged = (*shape[:first], shape[first] * shape[first + 1], *shape[first + 2 :])
    return reshape(primitive.bind(*matrices, reshape(b, merged), **params), shape), out_dim
