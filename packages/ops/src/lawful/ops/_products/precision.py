"""The precision of products: the dtype of their sums, and how exactly accelerators multiply."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    Unequal,
    cached_function,
    kind,
    promote_dtypes,
    require_arithmetic,
)
from lawful.ops._support.dtypes import accumulation_dtype

__all__ = ["Precision"]

#: The parameter ``precision``, for each operand: ``default``, ``high`` or ``highest``.
Precisions = tuple[str, str] | None

_KIND_RANK = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


def _is_nearly_infinite(*args: Any, **_: Any) -> bool:
    for x in map(np.asarray, args):
        if x.dtype.kind == "c":
            limit = np.sqrt(np.finfo(x.dtype).max)
            if not (np.maximum(np.abs(x.real), np.abs(x.imag)) < limit).all():
                return True
    return False


#: For the declarations of sums and products of complex numbers.
OF_COMPLEX_INFINITY = Unequal(
    "", _is_nearly_infinite, "in complex products the order decides the parts of infinity times zero"
)


class Precision(enum.Enum):
    """How exactly an accelerator multiplies float32 numbers; on the CPU they are always exact.

    ``DEFAULT`` is the fastest (tensorfloat32 on a GPU that has it), ``HIGHEST`` is float32. Without a precision,
    products are as with ``HIGHEST``; in JAX, as with ``DEFAULT``.

    >>> from lawful import ops
    >>> ops.dot_general(np.ones(3), np.ones(3), (((0,), (0,)), ((), ())), precision=Precision.HIGHEST)
    np.float64(3.0)

    Source: ``jax.lax.Precision``.
    """

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2

    @classmethod
    def _missing_(cls, value: object) -> Precision | None:
        """Returns the precision of a name that `dot_general` takes, as ``Precision("float32")``."""
        name = _NAMES.get(value.lower()) if isinstance(value, str) else None
        return None if name is None else cls[name.upper()]


_NAMES: dict[str | Precision, str] = {
    **dict.fromkeys(("default", "fastest", "bfloat16"), "default"),
    **dict.fromkeys(("high", "bfloat16_3x", "tensorfloat32"), "high"),
    **dict.fromkeys(("highest", "float32"), "highest"),
    **{precision: precision.name.lower() for precision in Precision},
}


def canonical_precision(name: str, precision: Any) -> Precisions:
    """Returns the precision of both operands from an argument: None, one for both, or a pair.

    Raises:
      ArgumentValueError: it is neither a `Precision` nor the name of one.
    """
    if precision is None:
        return None
    pair = precision if isinstance(precision, list | tuple) else (precision, precision)
    names = [_NAMES[x] for x in pair if isinstance(x, str | Precision) and x in _NAMES]
    if len(pair) != 2 or len(names) != 2:
        known = ", ".join([name for name in _NAMES if isinstance(name, str)])
        raise ArgumentValueError(
            f"{name}: expected a precision of None, lawful.ops.Precision.HIGHEST, its name ({known}), or a pair of "
            f"these, got {precision!r}; give one of them"
        )
    return names[0], names[1]


def precision_config(ctx: Any, precision: Precisions) -> Any:
    """Returns the attribute of a product in StableHLO. Without a precision it is exact on every platform."""
    if precision is None:
        if ctx.platform == "cpu":
            return None
        precision = ("highest", "highest")
    return ctx.ir.ArrayAttr.get([ctx.hlo.PrecisionAttr.get(name.upper()) for name in precision])


@cached_function("result dtypes of products", 1024)
def result_dtype(name: str, dtype: np.dtype[Any], preferred: np.dtype[Any] | None) -> np.dtype[Any]:
    """Returns the dtype of sums of products of ``dtype``: the preferred one, if there is one.

    Raises:
      ArgumentTypeError: the preferred one cannot hold such numbers.
    """
    require_arithmetic(name, dtype, *([] if preferred is None else [preferred]))
    if preferred is None:
        return dtype
    if _KIND_RANK[kind(preferred)] < _KIND_RANK[kind(dtype)]:
        raise ArgumentTypeError(
            f"{name}: expected a preferred_element_type that products of {dtype} can be added in, "
            f"got {preferred}; convert the result with astype"
        )
    return preferred


@cached_function("sum dtypes of products", 1024)
def sum_dtype(dtype: np.dtype[Any], result: np.dtype[Any]) -> np.dtype[Any]:
    """Returns the dtype in which products are added: one that holds both operands and the result.

    Integers are added in that of the result, because overflow wraps around.
    """
    if kind(result) in "iu":
        return result
    return accumulation_dtype(promote_dtypes((dtype, False), (result, False))[0])
