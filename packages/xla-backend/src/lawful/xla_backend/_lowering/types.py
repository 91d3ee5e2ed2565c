"""MLIR's types, attributes and constants for lawful's avals, cached for each module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from lawful.core import ShapedArray, float0, require_size, storage_dtypes
from lawful.xla_backend._runtime.bindings import ir, stablehlo

_Maker = Callable[[], Any]


def _signless(width: int) -> _Maker:
    return lambda: ir.IntegerType.get_signless(width)


def _unsigned(width: int) -> _Maker:
    return lambda: ir.IntegerType.get_unsigned(width)


_ELEMENT_TYPES: dict[np.dtype[Any], _Maker] = {
    np.dtype(bool): _signless(1),
    **{np.dtype(f"int{width}"): _signless(width) for width in (8, 16, 32, 64)},
    **{np.dtype(f"uint{width}"): _unsigned(width) for width in (8, 16, 32, 64)},
    np.dtype(np.float16): lambda: ir.F16Type.get(),
    np.dtype(np.float32): lambda: ir.F32Type.get(),
    np.dtype(np.float64): lambda: ir.F64Type.get(),
    np.dtype(np.complex64): lambda: ir.ComplexType.get(ir.F32Type.get()),
    np.dtype(np.complex128): lambda: ir.ComplexType.get(ir.F64Type.get()),
    np.dtype(ml_dtypes.bfloat16): lambda: ir.BF16Type.get(),
    np.dtype(ml_dtypes.float8_e4m3fn): lambda: ir.Float8E4M3FNType.get(),
    np.dtype(ml_dtypes.float8_e5m2): lambda: ir.Float8E5M2Type.get(),
    np.dtype(ml_dtypes.float8_e4m3b11fnuz): lambda: ir.Float8E4M3B11FNUZType.get(),
    np.dtype(ml_dtypes.float8_e4m3fnuz): lambda: ir.Float8E4M3FNUZType.get(),
    np.dtype(ml_dtypes.float8_e5m2fnuz): lambda: ir.Float8E5M2FNUZType.get(),
}


def _comparison_type(dtype: np.dtype[Any]) -> str:
    if dtype.kind in "bu":
        return "UNSIGNED"
    return "SIGNED" if dtype.kind == "i" else "FLOAT"


class TypeTable:
    """The types and attributes of one MLIR context, which must be current in every call."""

    __slots__ = ("_comparisons", "_dtypes", "_elements", "_tensors")

    def __init__(self) -> None:
        self._elements: dict[np.dtype[Any], Any] = {dtype: make() for dtype, make in _ELEMENT_TYPES.items()}
        self._dtypes: dict[Any, np.dtype[Any]] = {element: dtype for dtype, element in self._elements.items()}
        # XLA fails on some operations of 2 and 4 bits: a program holds such integers in 8 bits between its ends.
        self._elements.update({dtype: self._elements[held] for dtype, held in storage_dtypes.items()})
        # A float0 array has no values; bool is MLIR's smallest element type.
        self._elements[float0] = self._elements[np.dtype(bool)]
        self._tensors: dict[ShapedArray, Any] = {}
        self._comparisons: dict[tuple[Any, str], tuple[Any, Any]] = {}

    def element_type(self, dtype: np.dtype[Any]) -> Any:
        """Returns the type of an element."""
        return self._elements[dtype]

    def dtype_of(self, element_type: Any) -> np.dtype[Any]:
        """Returns the dtype that an element type stands for."""
        return self._dtypes[element_type]

    def tensor_type(self, aval: ShapedArray) -> Any:
        """Returns the type of arrays of a type."""
        found = self._tensors.get(aval)
        if found is None:
            require_size(aval.shape, aval.dtype)
            found = self._tensors[aval] = ir.RankedTensorType.get(aval.shape, self._elements[aval.dtype])
        return found

    def passed_type(self, aval: ShapedArray) -> Any:
        """Returns the type of an argument or a result of the whole program."""
        if aval.dtype not in storage_dtypes:
            return self.tensor_type(aval)
        make = _unsigned if aval.dtype.name.startswith("u") else _signless
        return ir.RankedTensorType.get(aval.shape, make(int(aval.dtype.name[-1]))())

    def comparison(self, element_type: Any, direction: str) -> tuple[Any, Any]:
        """Returns the attributes of a comparison: its direction, and the interpretation of the bits."""
        key = element_type, direction
        found = self._comparisons.get(key)
        if found is None:
            compare_type = _comparison_type(self._dtypes[element_type])
            found = stablehlo.ComparisonDirectionAttr.get(direction), stablehlo.ComparisonTypeAttr.get(compare_type)
            self._comparisons[key] = found
        return found

    def constant(self, value: np.ndarray[Any, Any], shape: tuple[int, ...] | None = None) -> Any:
        """Builds a constant here; a scalar with a ``shape`` is repeated over it, in the space of one element."""
        if value.dtype == float0:
            value = np.zeros(value.shape, bool)
        dtype = storage_dtypes.get(value.dtype, value.dtype)
        value = np.asarray(value, dtype=dtype.newbyteorder("="), order="C")
        element_type = self._elements[value.dtype]
        shape = value.shape if shape is None else shape
        return stablehlo.constant(ir.DenseElementsAttr.get(value, type=element_type, shape=shape))

    def zeros(self, aval: ShapedArray) -> Any:
        """Builds an array of zeros here."""
        dtype = np.dtype(bool) if aval.dtype == float0 else aval.dtype
        return self.constant(np.zeros((), dtype), aval.shape)
