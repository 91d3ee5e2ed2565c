"""The exponential and the logarithm."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lawful.core import Interval, of_numpy
from lawful.ops._elementwise.arithmetic.arithmetic import add, div, mul
from lawful.ops._elementwise.arithmetic.evaluation import lower_by
from lawful.ops._elementwise.branch_cuts import CUT_BELOW_MINUS_ONE, CUT_BELOW_ZERO
from lawful.ops._elementwise.complex_lowering import by_parts, corrected
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise
from lawful.ops._elementwise.transcendental.log_length import log_length, near_circle
from lawful.ops._support.dtypes import accumulation_dtype

__all__ = [
    "exp",
    "exp2",
    "exp2_p",
    "exp_p",
    "expm1",
    "expm1_p",
    "log",
    "log1p",
    "log1p_p",
    "log_p",
]


@of_numpy
def _numpy_log1p(x: Any) -> Any:
    if not np.iscomplexobj(x):
        return np.log1p(x)
    x = np.asarray(x)
    out = x.copy()
    out.real += 1
    out = np.asarray(np.log(out))  # not NumPy's log1p, in which the length of a large number overflows
    with np.errstate(all="ignore"):
        near = near_circle(x.real, x.imag)
        out.real[near] = log_length(x.real[near], x.imag[near])
    return out.astype(x.dtype, copy=False)[()]


@of_numpy
def _numpy_expm1(x: Any) -> Any:
    if not np.iscomplexobj(x):
        return np.expm1(x)
    with np.errstate(invalid="ignore", over="ignore"):
        # Elsewhere infinity and overflow are as in exp.
        is_moderate = np.isfinite(x) & (np.real(x) < 40)
        return np.where(is_moderate, np.expm1(x), np.exp(x) - 1)[()]


def _lower_exp2(ctx: Any, x: Any) -> Any:
    # Not the exponential of a product, whose rounding error it would amplify.
    (aval,) = ctx.avals_in
    wide = aval.update(dtype=accumulation_dtype(aval.dtype))
    out = ctx.hlo.power(ctx.full(wide, 2), ctx.hlo.convert(ctx.tensor_type(wide), x))
    return ctx.hlo.convert(ctx.tensor_type(aval), out)


exp: Elementwise = elementwise(
    "exp",
    "Returns the exponential.",
    np.exp,
    corrected("exp", lower_by("exponential")),
    derivatives=(lambda t, ans, x: mul(t, ans),),
    kinds="fc",
    example=("exp(np.array([0.0, 1.0])).round(3)", "array([1.   , 2.718])"),
)
exp2: Elementwise = elementwise(
    "exp2",
    "Returns ``2 ** x``.",
    np.exp2,
    by_parts("exp2", _lower_exp2),
    derivatives=(lambda t, ans, x: mul(t, mul(ans, math.log(2.0))),),
    kinds="fc",
    example=("exp2(np.array([0.5, 3.0])).round(3)", "array([1.414, 8.   ])"),
)
expm1: Elementwise = elementwise(
    "expm1",
    "Returns ``exp(x) - 1``, exact near 0.",
    _numpy_expm1,
    corrected("expm1", lower_by("exponential_minus_one")),
    promote_as=np.expm1,
    # Not ans + 1, which cancels where ans is near -1.
    derivatives=(lambda t, ans, x: mul(t, exp(x)),),
    kinds="fc",
    example=("float(expm1(1e-20))", "1e-20"),
)
log: Elementwise = elementwise(
    "log",
    "Returns the natural logarithm.",
    np.log,
    corrected("log", lower_by("log")),
    derivatives=(lambda t, ans, x: div(t, x),),
    kinds="fc",
    excluded=(CUT_BELOW_ZERO,),
    domain=(Interval(0.3, 2.0),),
    example=("log(np.array([1.0, 10.0])).round(3)", "array([0.   , 2.303])"),
)
log1p: Elementwise = elementwise(
    "log1p",
    "Returns ``log(1 + x)``, exact near 0.",
    _numpy_log1p,
    corrected("log1p", lower_by("log_plus_one")),
    promote_as=np.log1p,
    derivatives=(lambda t, ans, x: div(t, add(x, 1)),),
    kinds="fc",
    excluded=(CUT_BELOW_MINUS_ONE,),
    domain=(Interval(-0.8, 0.8),),
    example=("float(log1p(1e-20))", "1e-20"),
)

exp_p = exp.primitive
exp2_p = exp2.primitive
expm1_p = expm1.primitive
log_p = log.primitive
log1p_p = log1p.primitive
