"""Dtypes: the supported ones, their names in jaxprs, and their promotion.

Promotion is NumPy 2's (NEP 50), extended to the low-precision floats of ``ml_dtypes``, for which NumPy has
no answer beside an integer or a Python number: a floating dtype wins over integers, as in NumPy's own table
for arrays and Python scalars.
"""

from __future__ import annotations

from functools import cache, reduce
from typing import Any

import ml_dtypes
import numpy as np

from lawful.core._errors import ArgumentTypeError
from lawful.tree.base import cached_function

#: The dtype of the tangent of an integer or boolean: it has no values (as in JAX).
float0 = np.dtype([("float0", np.void, 0)])

bfloat16 = np.dtype(ml_dtypes.bfloat16)

_LOW_PRECISION = tuple(
    np.dtype(getattr(ml_dtypes, name))
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2fnuz")
)

#: Integers of 2 and 4 bits, and the dtype of 8 bits that holds each one. Arrays of them are stored, moved, compared and
#: converted; they have no arithmetic.
storage_dtypes = {
    np.dtype(getattr(ml_dtypes, f"{kind}{bits}")): np.dtype(f"{kind}8") for kind in ("int", "uint") for bits in (2, 4)
}

_SHORT_NAMES: dict[np.dtype[Any], str] = {
    np.dtype(bool): "bool",
    **{np.dtype(f"int{n}"): f"i{n}" for n in (8, 16, 32, 64)},
    **{np.dtype(f"uint{n}"): f"u{n}" for n in (8, 16, 32, 64)},
    **{np.dtype(f"float{n}"): f"f{n}" for n in (16, 32, 64)},
    np.dtype("complex64"): "c64",
    np.dtype("complex128"): "c128",
    float0: "float0",
    bfloat16: "bf16",
    **{dtype: dtype.name.replace("float", "f") for dtype in _LOW_PRECISION[1:]},
    **{dtype: dtype.name.replace("uint", "u").replace("int", "i") for dtype in storage_dtypes},
}
# NumPy compares identical dtype objects fast, and converts an array to the identical dtype without a copy.
_THE_ONE = {dtype: dtype for dtype in _SHORT_NAMES}
_BY_SHORT_NAME = {name: dtype for dtype, name in _SHORT_NAMES.items()}

#: Every dtype that a lawful array can have and that has arithmetic; beside these there are `storage_dtypes` and float0.
supported_dtypes = tuple(dtype for dtype in _SHORT_NAMES if dtype not in (float0, *storage_dtypes))

# The dtype of a Python scalar, which is also the rank of its kind in promotion.
_WEAK_DTYPES = {
    bool: np.dtype(bool),
    int: np.dtype(np.int64),
    float: np.dtype(np.float64),
    complex: np.dtype(np.complex128),
}
_RANK = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


def kind(dtype: np.dtype[Any]) -> str:
    """Returns the kind of a dtype, ``b i u f c`` as NumPy has them, and ``f`` for the floats of ml_dtypes.

    A dtype without arithmetic, one of `storage_dtypes` or float0, is of NumPy's kind ``V``.

    >>> kind(np.dtype("float32")), kind(np.dtype("int8")), kind(np.dtype("bool"))
    ('f', 'i', 'b')
    """
    return "f" if dtype in _LOW_PRECISION else dtype.kind


def is_of_ml_dtypes(dtype: np.dtype[Any]) -> bool:
    """Whether a dtype is a float of ml_dtypes, whose NaNs NumPy sorts anywhere: float32 has all of its numbers.

    >>> import ml_dtypes
    >>> is_of_ml_dtypes(np.dtype(ml_dtypes.bfloat16)), is_of_ml_dtypes(np.dtype("float32"))
    (True, False)
    """
    return dtype in _LOW_PRECISION


def is_float(dtype: np.dtype[Any]) -> bool:
    """Whether a dtype is real floating.

    >>> is_float(np.dtype("float32")), is_float(np.dtype("complex64"))
    (True, False)
    """
    return kind(dtype) == "f"


def is_complex(dtype: np.dtype[Any]) -> bool:
    """Whether a dtype is complex.

    >>> is_complex(np.dtype("complex64")), is_complex(np.dtype("float32"))
    (True, False)
    """
    return dtype.kind == "c"


def is_inexact(dtype: np.dtype[Any]) -> bool:
    """Whether a dtype is floating or complex: one that has tangents.

    >>> is_inexact(np.dtype("complex64")), is_inexact(np.dtype("int32"))
    (True, False)
    """
    return dtype.kind in "fc" or dtype in _LOW_PRECISION


def tangent_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Returns the dtype of tangents of values of ``dtype``: itself, or float0 for integers and booleans."""
    return dtype if is_inexact(dtype) else float0


def short_name(dtype: np.dtype[Any]) -> str:
    """Returns the name of a dtype in a jaxpr.

    >>> short_name(np.dtype("float64")), short_name(np.dtype(bool))
    ('f64', 'bool')
    """
    return _SHORT_NAMES[dtype]


def from_short_name(name: str) -> np.dtype[Any]:
    """Returns the dtype that has this name in a jaxpr; raises KeyError if none has."""
    return _BY_SHORT_NAME[name]


@cache
def _checked(dtype: np.dtype[Any]) -> np.dtype[Any]:
    native = dtype.newbyteorder("=") if dtype.kind != "V" else dtype
    if native not in _SHORT_NAMES:
        raise ArgumentTypeError(
            f"dtype: expected one of {', '.join(map(str, (*supported_dtypes, *storage_dtypes)))}, got {dtype}; "
            "convert with astype" + ("(float), or with to_numpy(float) if it is of pandas" if dtype.kind == "O" else "")
        )
    return _THE_ONE[native]


def as_dtype(dtype: Any) -> np.dtype[Any]:
    """Returns ``dtype`` (a NumPy dtype, scalar type, Python type or name) as a supported NumPy dtype.

    Raises:
      ArgumentTypeError: lawful has no arrays of that dtype.

    >>> as_dtype("bfloat16")
    dtype(bfloat16)
    """
    if isinstance(dtype, np.dtype):
        return _checked(dtype)
    if isinstance(dtype, str) and hasattr(ml_dtypes, dtype):
        return _checked(np.dtype(getattr(ml_dtypes, dtype)))
    try:
        converted = np.dtype(dtype)
    except TypeError as error:
        raise ArgumentTypeError(
            f"dtype: expected a dtype or its name, got {dtype!r}; use for example 'float64'"
        ) from error
    return _checked(converted)


def require_arithmetic(name: str, *dtypes: np.dtype[Any]) -> None:
    """Raises ArgumentTypeError if a dtype is one of `storage_dtypes`.

    >>> require_arithmetic("add", as_dtype("uint4"))
    Traceback (most recent call last):
    lawful...ArgumentTypeError: ...: add: expected a dtype with arithmetic, got uint4; convert with astype('uint8')
    """
    for dtype in dtypes:
        if dtype in storage_dtypes:
            raise ArgumentTypeError(
                f"{name}: expected a dtype with arithmetic, got {dtype}; convert with astype('{storage_dtypes[dtype]}')"
            )


def _promote_low_precision(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """Promotes two dtypes of which at least one is a low-precision float."""
    low, other = (a, b) if a in _LOW_PRECISION else (b, a)
    if a == b or kind(other) in "biu":
        return low
    halves = {bfloat16, np.dtype(np.float16)}
    if {a, b} == halves:
        return np.dtype(np.float32)
    if other in _LOW_PRECISION and not halves & {a, b}:
        raise ArgumentTypeError(f"promotion: expected dtypes with a common one, got {a} and {b}; convert with astype")
    return low if low in halves and other in _LOW_PRECISION else other


def _promote_strong(dtypes: tuple[np.dtype[Any], ...]) -> np.dtype[Any]:
    if dtypes[1:] == dtypes[:-1]:
        return dtypes[0]
    require_arithmetic("promotion", *dtypes)
    low = [dtype for dtype in dtypes if dtype in _LOW_PRECISION]
    native = [dtype for dtype in dtypes if dtype not in _LOW_PRECISION]
    # All at once, because NumPy's promotion is not associative: int16, uint16 and float32 make a float32.
    return reduce(_promote_low_precision, [np.result_type(*native), *low] if native else low)


def _promote_weak(strong: np.dtype[Any], weak: np.dtype[Any]) -> np.dtype[Any]:
    """Promotes an array's dtype with a Python scalar's: only the scalar's kind counts."""
    if strong in storage_dtypes and weak.kind in "bi":
        return strong
    require_arithmetic("promotion", strong)
    if _RANK[kind(weak)] <= _RANK[kind(strong)]:
        return strong
    if kind(weak) == "c" and kind(strong) == "f":
        return np.dtype(np.complex128) if strong == np.float64 else np.dtype(np.complex64)
    return weak


@cached_function("promoted dtypes", 4096)
def promote_dtypes(*operands: tuple[np.dtype[Any], bool]) -> tuple[np.dtype[Any], bool]:
    """Promotes pairs ``(dtype, weak_type)`` by NEP 50. The result is weak if all operands are.

    >>> promote_dtypes((np.dtype("float32"), False), (np.dtype("float64"), True))
    (dtype('float32'), False)
    """
    strong = tuple(dtype for dtype, is_weak in operands if not is_weak)
    weak = [dtype for dtype, is_weak in operands if is_weak]
    if not strong:
        return max(weak, key=lambda dtype: _RANK[dtype.kind]), True
    dtype = _promote_strong(strong)
    for weak_dtype in weak:
        dtype = _promote_weak(dtype, weak_dtype)
    return dtype, False


def python_scalar_dtype(python_type: type) -> np.dtype[Any]:
    """Returns the dtype that a Python bool, int, float or complex has on its own.

    >>> python_scalar_dtype(int), python_scalar_dtype(float)
    (dtype('int64'), dtype('float64'))
    """
    return _WEAK_DTYPES[python_type]
