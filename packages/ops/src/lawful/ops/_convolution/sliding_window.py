"""The geometry of windows that slide over an array: their positions, sizes and number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful import ops
from lawful.core import ArgumentValueError, Choose, InvalidArgumentError
from lawful.ops._support.structural import Shape, static_integers

__all__ = ["padtype_to_pads"]

Pads = tuple[tuple[int, int], ...]
Params = dict[str, Any]


def padtype_to_pads(
    in_shape: Sequence[int], window_shape: Sequence[int], window_strides: Sequence[int], padding: str
) -> list[tuple[int, int]]:
    """Returns how much to pad each dimension, before and after, for a padding that is named.

    Args:
      in_shape: the lengths of the dimensions.
      window_shape: the lengths of the window.
      window_strides: the distances of two windows.
      padding: ``"VALID"`` for none; ``"SAME"`` for as much as gives a window for each stride, the odd element after
        the last one; ``"SAME_LOWER"`` for the odd element before the first one.

    Raises:
      ArgumentValueError: there is no such name.

    >>> padtype_to_pads((5, 4), (2, 2), (2, 1), "SAME")
    [(0, 1), (0, 1)]

    Source: ``jax.lax.padtype_to_pads``.
    """
    name = str(padding).upper()
    if name == "VALID":
        return [(0, 0)] * len(in_shape)
    if name not in ("SAME", "SAME_LOWER"):
        raise ArgumentValueError(
            f"padding: expected 'VALID', 'SAME', 'SAME_LOWER' or pairs of integers, got {padding!r}; give one of them"
        )
    pads = []
    for size, window, stride in zip(in_shape, window_shape, window_strides, strict=True):
        total = int(max((-(-size // stride) - 1) * stride + window - size, 0))
        less, more = total // 2, total - total // 2
        pads.append((less, more) if name == "SAME" else (more, less))
    return pads


def dilated(size: int, dilation: int) -> int:
    """Returns the length of a dimension with ``dilation - 1`` holes between any two elements."""
    return (size - 1) * dilation + 1 if size else 0


def window_params(
    name: str,
    shape: Shape,
    window_dimensions: Any,
    window_strides: Any = None,
    padding: Any = "VALID",
    base_dilation: Any = None,
    window_dilation: Any = None,
) -> Params:
    """Returns the parameters of primitives with windows, from the arguments of their functions.

    Args:
      name: the function, for error messages.
      shape: the shape of the operand.
      window_dimensions: the lengths of the window.
      window_strides: the distances of two windows; None for 1.
      padding: pairs of integers, or a name that `padtype_to_pads` knows.
      base_dilation: the distances of two elements of the operand; None for 1.
      window_dilation: the distances of two elements of the window; None for 1.

    Raises:
      ArgumentTypeError: one of them is not of integers.
      ArgumentValueError: their numbers are not those of the operand's dimensions, or one is out of bounds.
    """
    ones = (1,) * len(shape)
    params = {
        key: ones if value is None else static_integers(name, key, value)
        for key, value in (
            ("window_dimensions", window_dimensions),
            ("window_strides", window_strides),
            ("base_dilation", base_dilation),
            ("window_dilation", window_dilation),
        )
    }
    window_shape(name, shape, padding=((0, 0),) * len(shape), **params, any_length=True)
    if isinstance(padding, str):
        lengths = [dilated(size, step) for size, step in zip(shape, params["base_dilation"], strict=True)]
        window = [dilated(*pair) for pair in zip(params["window_dimensions"], params["window_dilation"], strict=True)]
        pads: Any = padtype_to_pads(lengths, window, params["window_strides"], padding)
    else:
        pads = [static_integers(name, "an entry of padding", pair) for pair in padding]
    return {**params, "padding": tuple([tuple(pair) for pair in pads])}


def window_shape(
    name: str,
    shape: Shape,
    *,
    window_dimensions: Shape,
    window_strides: Shape,
    padding: Pads,
    base_dilation: Shape,
    window_dilation: Shape,
    any_length: bool = False,
) -> Shape:
    """Returns the number of windows along each dimension.

    Raises:
      ArgumentValueError: the parameters do not fit the shape.
    """
    groups = (window_dimensions, window_strides, padding, base_dilation, window_dilation)
    if any(len(group) != len(shape) for group in groups) or any(len(pair) != 2 for pair in padding):
        raise ArgumentValueError(
            f"{name}: expected an entry for each of the operand's {len(shape)} dimensions, got window_dimensions="
            f"{window_dimensions}, window_strides={window_strides}, padding={padding}, base_dilation={base_dilation}, "
            f"window_dilation={window_dilation}; give as many of each"
        )
    for key, values in (
        ("window_strides", window_strides),
        ("base_dilation", base_dilation),
        ("window_dilation", window_dilation),
        ("window_dimensions", window_dimensions),
    ):
        if any(value < 1 for value in values):
            raise InvalidArgumentError(f"{name}: expected {key} of at least 1, got {values}; correct them")
    sizes = []
    for size, window, stride, (low, high), step, spread in zip(shape, *groups, strict=True):
        padded = low + dilated(size, step) + high
        if padded < 0 and not any_length:
            raise ArgumentValueError(
                f"{name}: expected a padding that leaves at least no elements, got {padding} of the shape {shape}; "
                "drop fewer elements"
            )
        sizes.append(max((padded - dilated(window, spread)) // stride + 1, 0))
    return tuple(sizes)


def windows(
    x: Any,
    fill: Any,
    *,
    window_dimensions: Shape,
    window_strides: Shape,
    padding: Pads,
    base_dilation: Shape,
    window_dilation: Shape,
) -> Any:
    """Returns a view of the windows of a NumPy array that is padded and dilated with a value."""
    config = tuple([(low, high, step - 1) for (low, high), step in zip(padding, base_dilation, strict=True)])
    if any(map(any, config)):
        x = ops.pad_p.rule("impl")(x, fill, padding_config=config)
    spread = [dilated(*pair) for pair in zip(window_dimensions, window_dilation, strict=True)]
    if any(size < window for size, window in zip(x.shape, spread, strict=True)):
        count = [max(size - window + 1, 0) for size, window in zip(x.shape, spread, strict=True)]
        count = [-(-size // stride) for size, stride in zip(count, window_strides, strict=True)]
        return np.zeros((*count, *window_dimensions), x.dtype)
    view: Any = np.lib.stride_tricks.sliding_window_view(x, spread) if x.ndim else x
    steps = [slice(None, None, step) for step in (*window_strides, *window_dilation)]
    return view[(*steps, ...)]


def batched(params: Params, dim: int) -> Params:
    """Returns the parameters for an operand with one more dimension, along which windows have length 1."""
    entries = {
        "window_dimensions": 1,
        "window_strides": 1,
        "padding": (0, 0),
        "base_dilation": 1,
        "window_dilation": 1,
    }
    return {
        key: (*value[:dim], entries[key], *value[dim:]) if key in entries else value for key, value in params.items()
    }


def sample_windows(choose: Choose, shape: Shape) -> Params:
    """Draws parameters that fit a shape."""

    def numbers(low: int, high: int) -> Shape:
        return tuple(choose.integer(low, high) for _ in shape)

    def pair(size: int) -> tuple[int, int]:
        low = choose.integer(-min(size, 1), 2)
        return low, choose.integer(-1 if size + low > 0 else 0, 2)

    base = numbers(1, 2) if choose.integer(0, 2) == 2 else (1,) * len(shape)
    spread = numbers(1, 2) if choose.integer(0, 2) == 2 else (1,) * len(shape)
    return {
        "window_dimensions": numbers(1, 3),
        "window_strides": numbers(1, 2),
        "padding": tuple(pair(dilated(size, step)) for size, step in zip(shape, base, strict=True)),
        "base_dilation": base,
        "window_dilation": spread,
    }


def window_attributes(ctx: Any, params: Params) -> dict[str, Any]:
    """Returns the attributes of StableHLO's ``reduce_window``."""
    padding = np.array(params["padding"], np.int64).reshape(-1, 2)
    dilation = params["window_dilation"]
    if padding.min(initial=0) < 0 and all([size == 1 for size in params["window_dimensions"]]):
        # Dilation does not change a window of one element. XLA removes undilated ones in a simplification that ignores
        # negative padding, and aborts.
        dilation = [2] * len(dilation)
    return {
        "window_dimensions": ctx.i64_array(params["window_dimensions"]),
        "window_strides": ctx.i64_array(params["window_strides"]),
        "base_dilations": ctx.i64_array(params["base_dilation"]),
        "window_dilations": ctx.i64_array(dilation),
        "padding": ctx.ir.DenseElementsAttr.get(padding, shape=padding.shape),
    }
