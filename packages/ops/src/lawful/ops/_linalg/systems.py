"""What systems of linear equations have in common: their types, and their batches."""

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
      name: of the op, for messages.
      a: the type of the matrices.
      b: that of the right-hand sides.
      left_side: whether the matrices stand on the left of the solution.
      cure: what else may help where the shapes do not fit.

    Raises:
      ArgumentTypeError: the dtypes are not equal, or LAPACK has not got them.
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
    """Returns the solutions of a batch of systems, and where the batch dimension is."""
    (a, b), (a_dim, b_dim) = args, dims
    if a_dim is not None:
        return primitive.bind(*align_to_front(args, dims), **params), 0
    # One matrix for the whole batch: its systems are more columns, or rows, of one system.
    assert b_dim is not None
    ndim = get_aval(b).ndim
    place = ndim - 1 if left_side else ndim - 3
    b = move_batch_dim(b, b_dim, place)
    shape = get_aval(b).shape
    first = ndim - 2 if left_side else ndim - 3
    merged = (*shape[:first], shape[first] * shape[first + 1], *shape[first + 2 :])
    return reshape(primitive.bind(a, reshape(b, merged), **params), shape), place
