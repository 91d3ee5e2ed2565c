"""Signs of numbers by their sign bit, also of zero and NaN."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful import ops
from lawful.core import get_aval
from lawful.ops._elementwise.arithmetic.arithmetic import abs, neg
from lawful.ops._elementwise.comparison import lt
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise
from lawful.ops._elementwise.select import where

__all__ = ["copysign", "signbit", "with_zero_of_sign", "with_zero_of_sign_p"]


def signbit(x: Any) -> Any:
    """Returns whether the sign of real floating ``x`` is minus elementwise, also of zero and NaN.

    >>> signbit(np.array([-1.0, -0.0, 0.0]))
    array([ True,  True, False])
    """
    return lt(ops.bitcast_convert_type(x, f"int{8 * get_aval(x).dtype.itemsize}"), 0)


def copysign(x: Any, y: Any) -> Any:
    """Returns the absolute value of ``x`` with the sign of ``y`` elementwise, of one real floating dtype.

    >>> copysign(np.array([1.0, -2.0]), np.array([-0.0, 3.0]))
    array([-1.,  2.])
    """
    size = abs(x)
    return where(signbit(y), neg(size), size)


def _numpy_with_zero_of_sign(x: Any, y: Any) -> Any:
    dtype = np.result_type(x, y)  # a Python scalar takes the dtype of the other operand
    return np.where(np.equal(x, 0), np.copysign(dtype.type(0), y, dtype=dtype), x).astype(dtype)[()]


def _lower_with_zero_of_sign(ctx: Any, x: Any, y: Any) -> Any:
    aval = ctx.avals_in[0]
    bits = aval.update(dtype=f"int{8 * aval.dtype.itemsize}")
    is_negative = ctx.compare(ctx.hlo.bitcast_convert(ctx.tensor_type(bits), y), ctx.full(bits, 0), "LT")
    zero = ctx.hlo.select(is_negative, ctx.full(aval, -0.0), ctx.full(aval, 0.0))
    return ctx.hlo.select(ctx.compare(x, ctx.full(aval, 0), "EQ"), zero, x)


# Not a selection of `copysign`, whose derivative at zero differs.
with_zero_of_sign: Elementwise = elementwise(
    "with_zero_of_sign",
    "Returns ``x``, but where it is zero with the sign of ``y``.",
    _numpy_with_zero_of_sign,
    _lower_with_zero_of_sign,
    arity=2,
    derivatives=(lambda t, ans, x, y: t, None),
    linear=((0,),),
    promote_as=np.copysign,
    example=("with_zero_of_sign(np.array([0.0, 2.0]), -1.0)", "array([-0.,  2.])"),
)
with_zero_of_sign_p = with_zero_of_sign.primitive
