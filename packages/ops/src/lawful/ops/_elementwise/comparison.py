"""Comparisons, and the logic of booleans and bits."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from ml_dtypes import bfloat16

from lawful.core import Interval, get_aval, is_inexact, promote_dtypes
from lawful.ops._elementwise.application import Application
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise
from lawful.ops._support.promotion import convert

__all__ = [
    "and_p",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "eq",
    "eq_p",
    "ge",
    "ge_p",
    "gt",
    "gt_p",
    "is_finite",
    "is_finite_p",
    "le",
    "le_p",
    "lt",
    "lt_p",
    "ne",
    "ne_p",
    "not_p",
    "or_p",
    "shift_left",
    "shift_left_p",
    "shift_right_arithmetic",
    "shift_right_arithmetic_p",
    "shift_right_logical",
    "shift_right_logical_p",
    "xor_p",
]

_BOOL = np.dtype(bool)


def lower_comparison(ctx: Any, x: Any, y: Any, direction: str) -> Any:
    """Lowers a comparison of operands of one dtype, complex ones included."""
    if ctx.avals_in[0].dtype.kind != "c" or direction in ("EQ", "NE"):
        return ctx.compare(x, y, direction)
    # As in NumPy: by real parts, then by imaginary parts; comparisons with NaN are false.
    hlo = ctx.hlo
    (a, b), (c, d) = ((hlo.real(z), hlo.imag(z)) for z in (x, y))
    ordered = hlo.and_(ctx.compare(b, b, "EQ"), ctx.compare(d, d, "EQ"))
    first = hlo.and_(ctx.compare(a, c, direction[0] + "T"), ordered)
    return hlo.or_(first, hlo.and_(ctx.compare(a, c, "EQ"), ctx.compare(b, d, direction)))


class _ComparisonApplication(Application):
    """Compares signed integers and uint64 by value, because no dtype holds both."""

    __slots__ = ()

    def apply(self, args: Sequence[Any]) -> Any:
        if len(args) == 2 and float not in map(type, args):
            args = [_beside(x, y) if type(x) is int else x for x, y in zip(args, reversed(args), strict=True)]
            signs = [_signedness(x) for x in args]
            name = self.primitive.name
            if signs == ["signed", "uint64"]:
                return _by_value(name, *args)
            if signs == ["uint64", "signed"]:
                return _by_value(_FLIPPED.get(name, name), *reversed(args))
        return super().apply(args)


class _Comparison(Elementwise):
    """A comparison."""

    application = _ComparisonApplication


_FLIPPED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}
_UINT64 = np.dtype(np.uint64)


def _beside(x: int, y: Any) -> Any:
    """Returns a value with a dtype that compares with ``y`` as a Python integer does.

    It is infinity if no integer dtype holds the integer. Beside a float the integer is one too, if it is in range.
    """
    if -(2**63) <= x < 2**63 or (type(y) is not int and is_inexact(get_aval(y).dtype)):
        return x
    return np.uint64(x) if 0 <= x < 2**64 else math.inf if x > 0 else -math.inf


def _signedness(x: Any) -> str:
    """Returns ``signed`` or ``uint64`` by the dtype, and ``any`` for a value that compares with both."""
    if type(x) is int:
        return "signed" if x < 0 else "any"
    dtype = get_aval(x).dtype
    return "uint64" if dtype == _UINT64 else "signed" if dtype.kind == "i" else "any"


def _by_value(name: str, x: Any, y: Any) -> Any:
    """Compares signed integers with uint64: negative ones are less than all, others are converted to uint64."""
    is_negative = lt(x, 0)
    found = _BY_NAME[name](convert(0 if type(x) is int else x, _UINT64), y)
    if name in ("ne", "lt", "le"):
        return bitwise_or(is_negative, found)
    return bitwise_and(bitwise_not(is_negative), found)


def _warns_of_nan(dtype: Any) -> bool:
    with np.errstate(invalid="raise"):
        try:
            np.less(np.array(np.nan, dtype), np.array(1.0, dtype))
        except FloatingPointError:
            return True
    return False


#: Whether NumPy, before 2.5, warns of NaN in a comparison of numbers of ml_dtypes, as in none of its own real numbers.
_WARNS: Final = _warns_of_nan(bfloat16)


def _without_warnings(function: np.ufunc) -> Callable[..., Any]:
    def quiet(x: Any, y: Any) -> Any:
        with np.errstate(invalid="ignore"):
            return function(x, y)

    return quiet


def _comparison(
    name: str, symbol: str, function: np.ufunc, of_123: str, *, commutes: bool = False, kinds: str = "fiub"
) -> Elementwise:
    def lower(ctx: Any, x: Any, y: Any) -> Any:
        return lower_comparison(ctx, x, y, name.upper())

    return elementwise(
        name,
        f"Returns whether ``x {symbol} y`` elementwise, as ``numpy.{function.__name__}``.",
        function,
        lower,
        arity=2,
        result=lambda dtype: _BOOL,
        kinds=kinds,
        commutes=commutes,
        of_ml_dtypes=_without_warnings(function) if _WARNS else None,
        of_class=_Comparison,
        example=(f"{name}(np.array([1, 2, 3]), 2)", f"array({of_123})"),
    )


eq = _comparison("eq", "==", np.equal, "[False,  True, False]", commutes=True, kinds="fiubc")
ne = _comparison("ne", "!=", np.not_equal, "[ True, False,  True]", commutes=True, kinds="fiubc")
lt = _comparison("lt", "<", np.less, "[ True, False, False]")
le = _comparison("le", "<=", np.less_equal, "[ True,  True, False]")
gt = _comparison("gt", ">", np.greater, "[False, False,  True]")
ge = _comparison("ge", ">=", np.greater_equal, "[False,  True,  True]")
_BY_NAME = {op.__name__: op for op in (eq, ne, lt, le, gt, ge)}


def _bitwise(
    name: str, symbol: str, function: np.ufunc, hlo: str, unit: float | None, example: tuple[str, str]
) -> Elementwise:
    return elementwise(
        name,
        f"Returns ``x {symbol} y`` of booleans, or of the bits of integers.",
        function,
        hlo,
        arity=2,
        kinds="iub",
        commutes=True,
        associates=True,
        unit=unit,
        example=example,
    )


bitwise_and = _bitwise("and", "&", np.bitwise_and, "and", None, example=("bitwise_and(0b1100, 0b1010)", "np.int64(8)"))
bitwise_or = _bitwise("or", "|", np.bitwise_or, "or", 0, example=("bitwise_or(0b1100, 0b1010)", "np.int64(14)"))
bitwise_xor = _bitwise("xor", "^", np.bitwise_xor, "xor", 0, example=("bitwise_xor(0b1100, 0b1010)", "np.int64(6)"))
bitwise_not = elementwise(
    "not",
    "Returns ``~x``: the opposite of booleans, or of the bits of integers.",
    np.invert,
    "not",
    kinds="iub",
    example=("bitwise_not(np.array([0, 5])), bitwise_not(True)", "(array([-1, -6]), np.False_)"),
)


def _lower_is_finite(ctx: Any, x: Any) -> Any:
    dtype = ctx.avals_in[0].dtype
    if dtype.kind == "c":
        return ctx.hlo.and_(ctx.hlo.is_finite(ctx.hlo.real(x)), ctx.hlo.is_finite(ctx.hlo.imag(x)))
    return ctx.full(ctx.avals_out[0], True) if dtype.kind in "iub" else ctx.hlo.is_finite(x)


is_finite = elementwise(
    "is_finite",
    "Returns whether ``x`` is neither infinite nor NaN.",
    np.isfinite,
    _lower_is_finite,
    result=lambda dtype: _BOOL,
    kinds="fiubc",
    example=("is_finite(np.array([1.0, np.inf, np.nan]))", "array([ True, False, False])"),
)


def _shifted_as(kind: str, x: Any, y: Any) -> Any:
    """Shifts integers to the right as signed (``i``) or unsigned (``u``) ones, which decides the bits shifted in."""
    # The operands of an eager call are not promoted yet.
    types = [getattr(z, "dtype", type(z)) for z in (x, y)]
    dtype = np.left_shift.resolve_dtypes((*types, None))[-1]
    seen_as = np.dtype(f"{kind}{dtype.itemsize}")
    return np.right_shift(np.asarray(x, dtype).view(seen_as), np.asarray(y, dtype).view(seen_as)).view(dtype)[()]


def _numpy_shift_right_arithmetic(x: Any, y: Any) -> Any:
    return _shifted_as("i", x, y)


def _numpy_shift_right_logical(x: Any, y: Any) -> Any:
    return _shifted_as("u", x, y)


def shift_right(x: Any, y: Any, /, *, operator: bool = False) -> Any:
    """Returns ``x >> y`` of integers, as ``numpy.right_shift``: filled by the sign of signed ones, else by zeros."""
    dtype, _ = promote_dtypes(*[(get_aval(z).dtype, get_aval(z).weak_type) for z in (x, y)])
    op = shift_right_logical if dtype.kind == "u" else shift_right_arithmetic
    return op.operator(x, y) if operator else op(x, y)


def _shift(name: str, doc: str, function: Callable[..., Any], kinds: str, example: tuple[str, str]) -> Elementwise:
    # Shifts by at least the number of bits depend on the machine, so the domain stays below the smallest one.
    return elementwise(
        name,
        doc,
        function,
        name,
        arity=2,
        promote_as=np.left_shift,
        kinds=kinds,
        domain=(Interval(-100.0, 100.0), Interval(0.0, 7.0)),
        example=example,
    )


shift_left = _shift(
    "shift_left",
    "Returns ``x << y`` of integers.",
    np.left_shift,
    "iu",
    example=("shift_left(np.array([1, 3]), 2)", "array([ 4, 12])"),
)
shift_right_arithmetic = _shift(
    "shift_right_arithmetic",
    "Returns the bits of integers moved to lower positions, filled by the sign: ``x >> y`` of signed ones.",
    _numpy_shift_right_arithmetic,
    "iu",
    example=("shift_right_arithmetic(np.array([16, -16]), 2)", "array([ 4, -4])"),
)
shift_right_logical = _shift(
    "shift_right_logical",
    "Returns the bits of integers moved to lower positions, filled by zeros: ``x >> y`` of unsigned ones.",
    _numpy_shift_right_logical,
    "iu",
    example=("shift_right_logical(np.int8(-1), np.int8(4))", "np.int8(15)"),
)
shift_left_p, shift_right_arithmetic_p, shift_right_logical_p = (
    op.primitive for op in (shift_left, shift_right_arithmetic, shift_right_logical)
)

eq_p, ne_p, lt_p, le_p, gt_p, ge_p = (op.primitive for op in (eq, ne, lt, le, gt, ge))
and_p, or_p, xor_p, not_p = (op.primitive for op in (bitwise_and, bitwise_or, bitwise_xor, bitwise_not))
is_finite_p = is_finite.primitive
