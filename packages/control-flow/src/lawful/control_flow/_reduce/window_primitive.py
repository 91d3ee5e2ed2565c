"""``reduce_window_p``: reduction over windows by any computation, given as a jaxpr of scalars."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from lawful.control_flow._reduce.declaration import general_reduction
from lawful.core import (
    get_aval,
)
from lawful.ops import (
    broadcast_in_dim,
    concatenate,
    expand_dims,
    pad,
    slice,
    sliding_window,
)


def _stack_windows(
    x: Any,
    init: Any,
    *,
    window_dimensions: Any,
    window_strides: Any,
    padding: Any,
    base_dilation: Any,
    window_dilation: Any,
) -> Any:
    """Returns, for each position in the window, the elements of all windows at that position."""
    counts = sliding_window.window_shape(
        "reduce_window", get_aval(x).shape, window_dimensions=window_dimensions, window_strides=window_strides,
        padding=padding, base_dilation=base_dilation, window_dilation=window_dilation,
    )  # fmt: skip
    x = pad(x, init, [(low, high, step - 1) for (low, high), step in zip(padding, base_dilation, strict=True)])
    if 0 in counts:
        return broadcast_in_dim(init, (int(np.prod(window_dimensions)), *counts), ())
    parts = []
    for inside in product(*map(range, window_dimensions)):
        starts = [k * spread for k, spread in zip(inside, window_dilation, strict=True)]
        limits = [
            start + sliding_window.dilated(count, stride)
            for start, count, stride in zip(starts, counts, window_strides, strict=True)
        ]
        parts.append(expand_dims(slice(x, starts, limits, window_strides), (0,)))
    return concatenate(parts, 0)


def _is_padded(*, padding: Any, base_dilation: Any, **_: Any) -> bool:
    return any(max(pair) > 0 for pair in padding) or any(step > 1 for step in base_dilation)


def _lower_reduce_window(ctx: Any, types: Any, operands: Any, inits: Any, **params: Any) -> Any:
    return ctx.hlo.ReduceWindowOp(types, operands, inits, **sliding_window.window_attributes(ctx, params))


reduce_window_p = general_reduction(
    "reduce_window",
    lambda shape, **params: sliding_window.window_shape("reduce_window_p", shape, **params),
    _stack_windows,
    lambda params, dim: (sliding_window.batched(params, dim), 0),
    _lower_reduce_window,
    sliding_window.sample_windows,
    _is_padded,
)
