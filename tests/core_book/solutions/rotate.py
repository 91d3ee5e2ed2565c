"""Exercise 1: an op. ``rotate(x, shift)`` moves the elements of the last dimension in a circle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful import ops
from lawful.core import Primitive, ShapedArray, Zero

rotate_p = Primitive("rotate", pure_rules=True)


def rotate(x: Any, shift: int) -> Any:
    """Returns ``numpy.roll(x, shift, axis=-1)``."""
    return rotate_p.bind(x, shift=shift)


@rotate_p.def_impl
def _impl(x: Any, *, shift: int) -> Any:
    return np.roll(x, shift, axis=-1)


@rotate_p.def_abstract_eval
def _abstract_eval(x: ShapedArray, *, shift: int) -> ShapedArray:
    if not x.shape:
        raise TypeError(f"rotate: expected an array with at least one dimension, got {x}")
    return x


@rotate_p.def_jvp
def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, shift: int) -> tuple[Any, Any]:
    (x,), (x_dot,) = primals, tangents
    return rotate(x, shift), x_dot if type(x_dot) is Zero else rotate(x_dot, shift)


@rotate_p.def_transpose
def _transpose(ct: Any, x: Any, *, shift: int) -> list[Any]:
    return [Zero(x.aval) if type(ct) is Zero else rotate(ct, -shift)]


@rotate_p.def_batch
def _batch(args: Sequence[Any], dims: Sequence[int | None], *, shift: int) -> tuple[Any, int]:
    (x,) = ops.align_to_front(args, dims)
    return rotate(x, shift), 0


@rotate_p.def_lowering
def _lowering(ctx: Any, x: Any, *, shift: int) -> Any:
    def composed(x: Any) -> Any:
        size = x.shape[-1]
        at = -shift % size if size else 0
        return ops.concatenate([x[..., at:], x[..., :at]], x.ndim - 1)

    return ctx.apply(composed, x)
