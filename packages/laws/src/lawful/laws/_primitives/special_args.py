"""Special numbers for the arguments of a primitive: zeros, ties, ends and poles of its domain, ends of its dtype."""

from __future__ import annotations

from typing import Any, Final

import ml_dtypes
import numpy as np

from lawful.core import Interval, Primitive, float0, get_aval, is_inexact, jaxprs_in_params
from lawful.laws._law.values import excluded_points

#: An integer that is above the number of bits of every integer, which shifts and powers may not read whole.
BEYOND_BITS: Final = 100
_MODERATE: Final = (0.0, -0.0, 1.0, -1.0)
#: Branch cuts of inverse functions begin at 1 and -1; roundings jump halfway between integers.
_JUMPS: Final = (2.0, -2.0, 0.5, -0.5)
#: How far the numbers just outside of a domain are from it.
_OUTSIDE: Final = 0.05
#: Smaller and larger numbers are replaced: finite differences of derivatives there are inaccurate.
_SMALL: Final = 1e-2
_LARGE: Final = 1e3


def special_args(
    random: np.random.Generator, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any], *, extreme: bool
) -> tuple[Any, ...]:
    """Returns arguments of which about half of the elements are special numbers.

    Args:
      random: draws.
      primitive: it has a declaration.
      args: arrays within its domain.
      params: its parameters.
      extreme: whether to put NaN, infinities, subnormal numbers and the ends of the dtype in too; not where a
        declaration prepares the arguments, or the primitive runs a program, which may have to end.
    """
    declaration = primitive.declaration
    assert declaration is not None, f"{primitive!r} has no declaration"
    runs_program = any(jaxprs_in_params(params))
    extreme = extreme and declaration.prepare is None and not runs_program
    last = len(declaration.domain) - 1
    pools = [_numbers(get_aval(x).dtype, declaration.domain[min(i, last)], extreme=extreme) for i, x in enumerate(args)]
    out = tuple(
        [
            # An integer may be a trip count.
            x if runs_program and not is_inexact(get_aval(x).dtype) else _mixed(random, x, args, pool, not extreme)
            for x, pool in zip(args, pools, strict=True)
        ]
    )
    if declaration.prepare is None:
        return out
    prepared = declaration.prepare(*map(np.asarray, out), **params)
    return tuple([np.asarray(y).item() if get_aval(x).weak_type else y for x, y in zip(out, prepared, strict=True)])


def _mixed(
    random: np.random.Generator, x: Any, args: tuple[Any, ...], pool: np.ndarray[Any, Any], moderate_only: bool
) -> Any:
    aval = get_aval(x)
    if aval.dtype == float0 or aval.dtype == np.bool_:
        return x
    out, chosen = np.asarray(x), random.choice(pool, aval.shape)
    out = np.where(random.random(aval.shape) < 0.5, chosen, out)
    others = [np.asarray(y) for y in args if y is not x and get_aval(y).update(weak_type=False) == aval]
    if others:
        out = np.where(random.random(aval.shape) < 0.25, others[0], out)
    if moderate_only:
        size = np.abs(out.astype(pool.dtype))
        out = np.where(((size > _SMALL) & (size < _LARGE)) | (size == 0), out, chosen)
    out = np.asarray(out).astype(aval.dtype)
    return out.item() if aval.weak_type else out


def _numbers(dtype: np.dtype[Any], interval: Interval, *, extreme: bool) -> np.ndarray[Any, Any]:
    """Returns the special numbers of a dtype for an argument in an interval."""
    with np.errstate(all="ignore"):
        if not is_inexact(dtype):
            return _integers(dtype, interval)
        points = [*excluded_points(interval), interval.low, interval.high]
        beside = [interval.low - _OUTSIDE, interval.high + _OUTSIDE]
        real = [*_MODERATE, *_MODERATE, *_JUMPS, *points, *beside]
        if extreme:
            ends = ml_dtypes.finfo(dtype)
            sizes = [float(size) for size in (ends.smallest_subnormal, ends.tiny, ends.max)]
            real += [np.nan, np.inf, -np.inf, *sizes, *[-size for size in sizes]]
        if dtype.kind != "c":
            return np.array(real).astype(dtype)
        parts: np.ndarray[Any, Any] = np.array([[(a, b) for a in real for b in (*_MODERATE, *real)]])
        return parts.astype(np.empty(0, dtype).real.dtype).view(dtype).reshape(-1)


def _integers(dtype: np.dtype[Any], interval: Interval) -> np.ndarray[Any, Any]:
    if dtype.kind not in "iu":
        return np.array([False, True]).astype(dtype)
    ends = np.iinfo(dtype)
    wanted = (0, 1, -1, 3, BEYOND_BITS, int(interval.low), int(interval.high), int(ends.min), int(ends.max))
    return np.array([number for number in wanted if ends.min <= number <= ends.max], dtype)
