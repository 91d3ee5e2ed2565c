"""``reduce_p``: reduction over dimensions by any computation, given as a jaxpr of scalars."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful.control_flow._reduce.declaration import general_reduction
from lawful.core import (
    ArgumentTypeError,
    get_aval,
)
from lawful.ops import (
    reshape,
    transpose,
)


def _remaining(ndim: int, dimensions: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(axis for axis in range(ndim) if axis not in dimensions)


def _infer_reduce(shape: tuple[int, ...], *, dimensions: tuple[int, ...]) -> tuple[int, ...]:
    if len(set(dimensions)) < len(dimensions) or not set(dimensions) <= set(range(len(shape))):
        raise ArgumentTypeError(
            f"reduce_p: expected different dimensions below {len(shape)}, got {dimensions}; call reduce"
        )
    return tuple(shape[axis] for axis in _remaining(len(shape), dimensions))


def _stack_elements(x: Any, init: Any, *, dimensions: tuple[int, ...]) -> Any:
    shape = get_aval(x).shape
    remaining = _remaining(len(shape), dimensions)
    result_shape = tuple(shape[axis] for axis in remaining)
    count = int(np.prod([shape[axis] for axis in dimensions], dtype=np.int64))
    return reshape(transpose(x, (*dimensions, *remaining)), (count, *result_shape))


def _lower_reduce(ctx: Any, types: Any, operands: Any, inits: Any, *, dimensions: tuple[int, ...]) -> Any:
    return ctx.hlo.ReduceOp(types, operands, inits, ctx.i64_array(dimensions))


reduce_p = general_reduction(
    "reduce",
    _infer_reduce,
    _stack_elements,
    lambda params, dim: ({**params, "dimensions": tuple(axis + 1 for axis in params["dimensions"])}, 0),
    _lower_reduce,
    lambda choose, shape: {"dimensions": tuple(axis for axis in range(len(shape)) if choose.one_of((True, False)))},
)
