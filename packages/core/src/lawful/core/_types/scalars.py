"""Scalars as the text that jaxprs hold, to the last bit, and back.

>>> scalar_text(np.float32(0.1)), read_scalar("0.1", np.dtype("float32"))
('0.1', np.float32(0.1))
"""

from __future__ import annotations

import re
from typing import Any, Final

import ml_dtypes
import numpy as np

from lawful.core._types.dtypes import as_dtype, float0, kind, storage_dtypes

# A NaN other than NumPy's is written with its bits: its sign and payload are part of the value.
FLOAT: Final = r"(?:-?(?:\d+(?:\.\d*)?(?:e[+-]?\d+)?|inf)|nan(?:\(0x[0-9a-f]+\))?)"
SIGN: Final = r"(?:\+|(?=-))"
COMPLEX: Final = rf"\({FLOAT}{SIGN}{FLOAT}j\)"
#: Every scalar, as a pattern.
SCALAR: Final = rf"(?:True|False|{COMPLEX}|{FLOAT})"

_INTEGER = re.compile(r"-?\d+")
_PARTS = re.compile(rf"\(({FLOAT}){SIGN}({FLOAT})j\)")


def scalar_text(x: Any) -> str:
    """Returns the text of a Python or NumPy scalar, without its type.

    Raises:
      ArgumentTypeError: its dtype is not supported.

    Law: ``read_scalar(scalar_text(x), dtype of x)`` has the bits of ``x``.
    """
    if type(x) is float and x == x:
        return repr(x)
    if type(x) is int:
        return str(x)
    array = np.asarray(x)
    dtype = array.dtype if array.dtype == float0 else as_dtype(array.dtype)
    match kind(dtype):
        case "V":
            return "0" if dtype == float0 else str(int(x))
        case "b":
            return str(bool(x))
        case "i" | "u":
            return str(int(x))
        case "c":
            real, imag = (_float_text(part) for part in array.reshape(1).view(_part(dtype)))
            return f"({real}{'' if imag.startswith('-') else '+'}{imag}j)"
        case _:
            return _float_text(array)


def _float_text(array: Any) -> str:
    value = float(array)
    dtype = array.dtype
    if value != value:
        bits = int(np.asarray(array).view(_bits(dtype)))
        return "nan" if bits == int(np.array(np.nan, dtype).view(_bits(dtype))) else f"nan({bits:#x})"
    text = str(array[()])
    if _INTEGER.fullmatch(text):
        text += ".0"
    # NumPy's own text depends on the user's print options.
    return text if float(dtype.type(float(text))) == value else repr(value)


def read_scalar(text: str, dtype: np.dtype[Any]) -> Any:
    """Returns the NumPy scalar of a dtype that a text stands for; inverse to :func:`scalar_text`.

    Raises:
      ValueError: the text is no scalar of that dtype; the message says what was expected.
    """
    match kind(dtype):
        case "V" if dtype in storage_dtypes:
            return _read_integer(text, dtype)
        case "V":
            if text == "0":
                return np.zeros((), dtype)[()]
            raise ValueError("0, which stands for the only value of float0")
        case "b":
            if text in ("True", "False"):
                return np.bool_(text == "True")
            raise ValueError("True or False")
        case "i" | "u":
            return _read_integer(text, dtype)
        case "c":
            parts = _PARTS.fullmatch(text)
            if parts is None:
                raise ValueError("a complex number, such as (1.0-2.0j)")
            return np.array([_read_float(part, _part(dtype)) for part in parts.groups()]).view(dtype)[0]
        case _:
            return _read_float(text, dtype)


def read_python_scalar(text: str) -> Any:
    """Returns the Python bool, int, float or complex that a text without a type stands for."""
    if _INTEGER.fullmatch(text):
        return int(text)
    if text in ("True", "False"):
        return text == "True"
    return read_scalar(text, np.dtype(np.complex128 if text.endswith("j)") else np.float64)).item()


def _read_integer(text: str, dtype: np.dtype[Any]) -> Any:
    bounds: Any = ml_dtypes.iinfo(dtype)
    if _INTEGER.fullmatch(text) and bounds.min <= int(text) <= bounds.max:
        return dtype.type(int(text))
    raise ValueError(f"an integer from {bounds.min} to {bounds.max}")


def _read_float(text: str, dtype: np.dtype[Any]) -> Any:
    if text.startswith("nan("):
        width = 8 * dtype.itemsize
        bits = int(text[4:-1], 16)
        value = np.array(bits if bits < 2**width else 0, _bits(dtype)).view(dtype)[()]
        if value == value:
            raise ValueError(f"the bits of a NaN of {width} bits")
        return value
    try:
        return dtype.type(float(text))
    except ValueError:
        raise ValueError("a floating-point number") from None


def _part(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of the real part of a complex number."""
    return np.dtype(f"f{dtype.itemsize // 2}")


def _bits(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The unsigned integers of the same size as a float."""
    return np.dtype(f"u{dtype.itemsize}")
