"""Elements on which backends differ from evaluation; they are not compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import ml_dtypes
import numpy as np

from lawful import tree
from lawful.core import (
    Declaration,
    Primitive,
    Trace,
    Unequal,
    eval_closed_jaxpr,
    eval_trace,
    get_aval,
    is_inexact,
    jaxprs_in_params,
    set_current,
)
from lawful.laws._law.law import Inapplicable
from lawful.laws._law.values import inner_interval
from lawful.staging import make_jaxpr

#: The distance of products, or of sums of a thousand elements, from the ends of the dtype.
_ROOM: Final = 1e3


def _is_flushed(x: Any) -> Any:
    tiny = _tiny(x)
    return np.any([(part != 0) & (np.abs(part) < tiny) for part in _parts(x)], 0)


def _may_be_flushed_on_the_way(x: Any) -> Any:
    tiny, largest = _tiny(x), _largest(x)
    is_small = [(part != 0) & (np.abs(part) < 4 * tiny) for part in _parts(x)]
    is_large = [np.isfinite(part) & (np.abs(part) > largest / 8) for part in _parts(x)]
    return np.any([*is_small, *is_large], 0)


def _may_leave_the_range(x: Any) -> Any:
    tiny, largest = _tiny(x), _largest(x)
    sizes = [np.abs(part) for part in _parts(x)]
    is_small = [(size > 0) & (size < np.sqrt(tiny) * _ROOM) for size in sizes]
    is_large = [np.isfinite(size) & (size > np.sqrt(largest) / _ROOM) for size in sizes]
    return np.any([*is_small, *is_large], 0)


#: Exclusions of real elementwise operations, of complex ones, and of all other operations.
SUBNORMAL: Final = Unequal("xla", _is_flushed, "XLA on the CPU takes subnormal numbers for zeros")
NEARLY_SUBNORMAL: Final = Unequal(
    "xla",
    _may_be_flushed_on_the_way,
    "the parts of a complex result are products of which some are subnormal, and XLA on the CPU takes these for zeros",
)
OF_OTHER_ORDER: Final = Unequal(
    "xla", _may_leave_the_range, "the order of sums and products decides whether they overflow, or are subnormal"
)


def comparable_args(
    declaration: Declaration, backends: Any, args: tuple[Any, ...], params: dict[str, Any]
) -> tuple[Any, ...]:
    """Returns arguments in which elements at which one of the backends is unequal are replaced by moderate ones.

    Raises:
      Inapplicable: what is unequal is no element.
    """
    last = len(declaration.domain) - 1
    moderate = [sum(inner_interval(declaration.domain[min(i, last)])) / 2 for i in range(len(args))]
    out = list(args)
    for i, x in enumerate(args):
        rule = _rule_of_dtype(declaration, get_aval(x).dtype)
        if rule is not None and rule.backend in backends:
            out[i] = _replaced(x, rule.point(np.asarray(x)), moderate[i])
    for unequal in declaration.unequal:
        if unequal.backend in backends:
            mask = np.asarray(unequal.point(*[np.asarray(x) for x in out], **params))
            if mask.any() and not declaration.pointwise:
                raise Inapplicable(f"{unequal.backend}: {unequal.reason}")
            out = [_replaced(x, mask, point) for x, point in zip(out, moderate, strict=True)]
    return tuple(out)


def meets_unequal_points(function: Callable[..., Any], args: Sequence[Any], backends: Sequence[str]) -> bool:
    """Whether a function applies a primitive at a point that its declaration says one of the backends is unequal at.

    >>> from lawful import ops
    >>> [meets_unequal_points(ops.pow, (x, 2.5 + 0j), ["xla"]) for x in (complex("inf"), 2j)]
    [True, False]
    """
    closed = make_jaxpr(function)(*args)
    watch = _Watch(backends)
    with np.errstate(all="ignore"), set_current(watch):
        eval_closed_jaxpr(closed, *tree.leaves(tuple(args)))
    return watch.met


class _Watch(Trace):
    """Evaluates, and looks at the arguments of each primitive, within calls, branches and loops too.

    Attributes:
      met: whether a backend is unequal at some of them.
    """

    __slots__ = ("backends", "met")

    def __init__(self, backends: Sequence[str]) -> None:
        super().__init__(eval_trace, "meets_unequal_points")
        self.evaluates_constants = False
        self.backends = backends
        self.met = False

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        if "expand" in primitive.rules and any(jaxprs_in_params(params)):
            return primitive.rule("expand")(*args, **params)
        self.met = self.met or _is_unequal(primitive.declaration, self.backends, args, params)
        return eval_trace.process_primitive(primitive, args, params)


def _is_unequal(
    declaration: Declaration | None, backends: Sequence[str], args: Sequence[Any], params: dict[str, Any]
) -> bool:
    if declaration is None:
        return False
    points = [each.point(*map(np.asarray, args), **params) for each in declaration.unequal if each.backend in backends]
    for x in args:
        rule = _rule_of_dtype(declaration, get_aval(x).dtype)
        if rule is not None and rule.backend in backends:
            points.append(rule.point(np.asarray(x)))
    return any(map(np.any, points))


def within_range(x: Any) -> Any:
    """Replaces elements of a real value whose products may overflow or be subnormal."""
    return _replaced(x, _may_leave_the_range(np.asarray(x)), 1.0) if is_inexact(get_aval(x).dtype) else x


def _rule_of_dtype(declaration: Declaration, dtype: np.dtype[Any]) -> Unequal | None:
    if not is_inexact(dtype):
        return None
    if not declaration.pointwise:
        return OF_OTHER_ORDER
    return NEARLY_SUBNORMAL if dtype.kind == "c" else SUBNORMAL


def _replaced(x: Any, mask: Any, value: float) -> Any:
    aval = get_aval(x)
    if not np.any(mask) or not is_inexact(aval.dtype):
        return x
    out = np.where(mask, np.asarray(value, aval.dtype), x).astype(aval.dtype)
    return out.item() if aval.weak_type else out


def _parts(x: Any) -> tuple[Any, ...]:
    return (x.real, x.imag) if x.dtype.kind == "c" else (x.astype(np.float64),)


def _tiny(x: Any) -> float:
    return float(ml_dtypes.finfo(x.dtype).tiny)


def _largest(x: Any) -> float:
    return float(ml_dtypes.finfo(x.dtype).max)
