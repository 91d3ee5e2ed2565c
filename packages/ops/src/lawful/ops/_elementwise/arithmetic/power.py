"""Powers with a static integer exponent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from lawful import ops
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    Interval,
    ShapedArray,
    by_elements,
    get_aval,
    is_float,
    is_inexact,
    of_numpy,
)
from lawful.ops._elementwise.arithmetic.arithmetic import div_p, mul, mul_p
from lawful.ops._elementwise.arithmetic.signs import copysign
from lawful.ops._elementwise.complex_lowering import by_parts
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise
from lawful.ops._support.large_integers import require_fitting
from lawful.ops._support.promotion import OfKinds, convert, promote

__all__ = ["integer_pow", "integer_pow_p"]

#: Up to this exponent products are as precise as a power, and faster.
_FEW_PRODUCTS = 64
#: Up to this exponent float64 has every integer; beyond it an odd exponent is rounded to an even one.
_EXACT = 2**53
_FLOAT64 = np.dtype(np.float64)


@by_elements
def _numpy_integer_pow(x: Any, *, y: int) -> Any:
    if type(x) is np.ndarray and x.dtype is _FLOAT64 and x.ndim and -_EXACT <= y <= _EXACT:
        return np.power(x, np.int64(y))  # the same as below, in the common case
    if not -_EXACT <= y <= _EXACT and is_float(np.asarray(x).dtype):
        power = np.power(x, np.float64(y))
        return np.asarray(np.copysign(power, x) if y % 2 else power).astype(np.asarray(x).dtype)[()]
    if type(x) is np.float64 or type(x) is float:
        return np.power(x, float(y))
    dtype = np.asarray(x).dtype
    if y < 0:
        _require_inexact(dtype, y)
    if dtype.kind == "c":
        # The order of products decides the parts of infinity times zero: it is that of `_lower`.
        power = _product(np.multiply, x, abs(y))
        power = np.ones_like(x) if power is None else power
        return np.array(np.true_divide(np.ones_like(x), power) if y < 0 else power, dtype)[()]
    return np.asarray(np.power(x, np.asarray(y, dtype if dtype.kind in "iu" else np.int64))).astype(dtype)[()]


def _require_inexact(dtype: np.dtype[Any], y: int) -> None:
    if not is_inexact(dtype):
        raise ArgumentTypeError(
            f"integer_pow_p: expected an exponent that is not negative for {dtype}, got {y}; convert to float first"
        )


def _lower(ctx: Any, x: Any, *, y: int) -> Any:
    """Multiplies by the binary digits of a small exponent; each product adds a rounding error."""
    aval = ctx.avals_in[0]
    if abs(y) >= _FEW_PRODUCTS and is_float(aval.dtype):
        return _lower_large(ctx, x, y)
    result = _product(ctx.hlo.multiply, x, abs(y))
    one = ctx.full(aval, 1)
    if result is None:
        return one
    return _divide(ctx, one, result) if y < 0 else result


def _lower_large(ctx: Any, x: Any, y: int) -> Any:
    """Raises to a float: in float64 if the dtype lacks the exponent, and with the sign of an odd one."""
    aval = ctx.avals_in[0]
    if float(aval.dtype.type(y)) == y:
        return ctx.hlo.power(x, ctx.full(aval, y))
    wide = aval.update(dtype=np.dtype(np.float64))
    base = ctx.hlo.convert(ctx.tensor_type(wide), x)
    out = ctx.hlo.power(base, ctx.full(wide, y))
    if y % 2 and abs(y) > _EXACT:
        (out,) = ctx.apply(copysign, out, base)
    return ctx.hlo.convert(ctx.tensor_type(aval), out)


_divide = by_parts("div", lambda ctx, x, y: ctx.hlo.divide(x, y))


def _product(multiply: Callable[[Any, Any], Any], x: Any, y: int) -> Any:
    """Returns ``x ** y`` for ``y > 0``, by squares; None for ``y = 0``."""
    result, square = None, x
    while y:
        if y % 2:
            result = square if result is None else multiply(result, square)
        y //= 2
        if y:
            square = multiply(square, square)
    return result


def _derivative(t: Any, ans: Any, x: Any, *, y: int) -> Any:
    # Operators, so that the derivative of a weak value is weak.
    if y == 0:
        return mul.operator(t, 0)
    power = power_by_integer(x, y - 1, operator=True)
    # The dtype may lack the exponent, and infinity times a power that is 0 would be NaN.
    most = float(ml_dtypes.finfo(get_aval(x).dtype).max)
    factor: float = y
    while abs(factor) > most:
        power, factor = mul.operator(power, most), factor / most
    return mul.operator(t, mul.operator(power, factor))


_integer_pow = elementwise(
    "integer_pow",
    "Returns ``x ** y`` for a static integer ``y``.",
    _numpy_integer_pow,
    _lower,
    derivatives=(_derivative,),
    promote_as=OfKinds("biufc"),
    kinds="fc",
    domain=(Interval(0.4, 2.0),),
    params=lambda choose: {"y": choose.integer(-3, 4)},
)
integer_pow_p = _integer_pow.primitive


_impl, _specialise = integer_pow_p.rule("impl"), integer_pow_p.rule("numpy")


@integer_pow_p.def_rule_as("numpy")
def _specialised(avals: Sequence[ShapedArray], compile: Any, *, y: int) -> Callable[..., Any]:
    (aval,) = avals
    if aval.dtype != _FLOAT64 or not -_EXACT <= y <= _EXACT or integer_pow_p.rule("impl") is not _impl:
        general: Callable[..., Any] = _specialise(avals, compile, y=y)
        return general
    if aval.shape:
        whole = np.int64(y)
        return by_elements(of_numpy(lambda x: np.power(x, whole)))
    exponent, function = float(y), partial(_numpy_integer_pow, y=y)
    if aval.weak_type:
        return of_numpy(lambda x: np.power(x, exponent).item())
    return of_numpy(lambda x: function(x) if type(x) is np.ndarray else np.power(x, exponent))


@integer_pow_p.def_expand
def _expand(x: Any, *, y: int) -> Any:
    aval = get_aval(x)
    one = ops.with_weakness_of(ops.full(aval.shape, 1, aval.dtype), aval)
    if y == 0:
        return one
    product = _product(mul_p.bind, x, abs(y))
    return product if y > 0 else div_p.bind(one, product)


@integer_pow_p.def_abstract_eval
def _abstract_eval(x: ShapedArray, *, y: int) -> ShapedArray:
    if y < 0:
        _require_inexact(x.dtype, y)
    return x


def integer_pow(x: Any, y: int) -> Any:
    """Returns ``x ** y`` elementwise for a static integer ``y``, by multiplications.

    Args:
      x: an array of numbers; integers only with ``y`` not negative.
      y: the exponent.

    Raises:
      ArgumentValueError: ``x`` has integers and ``y`` is negative, as in NumPy.
      IntegerOverflowError: ``x`` has integers of a dtype that cannot hold ``y``, as in NumPy.

    >>> integer_pow(np.array([1.0, 3.0]), 2)
    array([1., 9.])

    Source: ``jax.lax.integer_pow``.
    """
    return power_by_integer(x, y, operator=False)


def power_by_integer(x: Any, y: int, *, operator: bool) -> Any:
    """Returns ``x ** y``, as a function or as a Python operator."""
    if not isinstance(y, int | np.integer):
        raise ArgumentTypeError(f"integer_pow: expected an integer exponent, got {y!r}; use pow")
    aval = get_aval(x)
    if not -(2**63) <= y < 2**63 and not (is_inexact(aval.dtype) and abs(y) < 2**1023):
        return (ops.pow.operator if operator else ops.pow)(x, int(y))  # an error, except for uint64
    if operator and aval.weak_type and not is_inexact(aval.dtype):
        # As Python: True ** 2 is an integer, and 2 ** -1 is 0.5.
        x = convert(x, np.dtype(np.float64 if y < 0 else np.int64), True)
        aval = get_aval(x)
    if not is_inexact(aval.dtype):
        require_fitting(int(y), aval.dtype)
        if y < 0:
            raise ArgumentValueError(
                f"integer_pow: expected an exponent that is not negative for integers, got {y}; convert to float first"
            )
    if y == 1 and (operator or not aval.weak_type):
        return x
    if aval.weak_type or not is_inexact(aval.dtype):
        (x,) = promote("integer_pow", None, (x,), operator=operator)
    return integer_pow_p.bind(x, y=int(y))
