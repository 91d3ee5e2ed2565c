"""The functions of ``lawful.ops`` over a namespace like NumPy's: the common part of the adapters."""

from __future__ import annotations

from builtins import slice as Slice
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, Final

import numpy as np

#: NumPy's name of each elementwise function that has one.
numpy_names: Final[Mapping[str, str]] = {
    "abs": "abs",
    "acos": "arccos",
    "acosh": "arccosh",
    "add": "add",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "bitwise_and": "bitwise_and",
    "bitwise_not": "bitwise_not",
    "bitwise_or": "bitwise_or",
    "bitwise_xor": "bitwise_xor",
    "cbrt": "cbrt",
    "ceil": "ceil",
    "conj": "conj",
    "cos": "cos",
    "cosh": "cosh",
    "eq": "equal",
    "exp": "exp",
    "exp2": "exp2",
    "expm1": "expm1",
    "floor": "floor",
    "floor_divide": "floor_divide",
    "ge": "greater_equal",
    "gt": "greater",
    "imag": "imag",
    "is_finite": "isfinite",
    "le": "less_equal",
    "log": "log",
    "log1p": "log1p",
    "lt": "less",
    "matmul": "matmul",
    "max": "maximum",
    "min": "minimum",
    "mul": "multiply",
    "ne": "not_equal",
    "neg": "negative",
    "pow": "power",
    "real": "real",
    "rem": "fmod",
    "remainder": "remainder",
    "round_nearest_even": "rint",
    "shift_left": "left_shift",
    "shift_right_arithmetic": "right_shift",
    "sign": "sign",
    "sin": "sin",
    "sinh": "sinh",
    "sqrt": "sqrt",
    "square": "square",
    "sub": "subtract",
    "tan": "tan",
    "tanh": "tanh",
    "tensordot": "tensordot",
    "true_divide": "true_divide",
    "where": "where",
}


class ArrayFunctions:
    """Array functions by the names of ``lawful.ops``, with the same arguments and meaning.

    Args:
      namespace: has what NumPy has, by NumPy's names; a function that it lacks is absent here too.
    """

    def __init__(self, namespace: Any) -> None:
        self.namespace = namespace
        for name, numpy_name in numpy_names.items():
            function = getattr(namespace, numpy_name, None)
            if function is not None and not hasattr(type(self), name):
                setattr(self, name, function)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        raise AttributeError(f"ops.{name}: there is no such function for this system")

    # Shapes

    def reshape(self, operand: Any, new_sizes: Sequence[int], dimensions: Sequence[int] | None = None) -> Any:
        if dimensions is not None:
            operand = self.transpose(operand, dimensions)
        return self.namespace.reshape(operand, tuple(new_sizes))

    def transpose(self, operand: Any, permutation: Sequence[int]) -> Any:
        return self.namespace.transpose(operand, tuple(permutation))

    def broadcast_in_dim(self, operand: Any, shape: Sequence[int], broadcast_dimensions: Sequence[int]) -> Any:
        sizes = [1] * len(shape)
        for dimension, size in zip(broadcast_dimensions, self.namespace.shape(operand), strict=True):
            sizes[dimension] = size
        return self.broadcast_to(self.reshape(operand, sizes), tuple(shape))

    def broadcast_to(self, operand: Any, shape: Sequence[int]) -> Any:
        """Broadcasts an array along axes of length one; it has the rank of the shape."""
        return self.namespace.broadcast_to(operand, tuple(shape))

    def expand_dims(self, array: Any, dimensions: Sequence[int]) -> Any:
        ndim = len(self.namespace.shape(array)) + len(dimensions)
        new = {dimension % ndim for dimension in dimensions}
        sizes = iter(self.namespace.shape(array))
        return self.reshape(array, [1 if i in new else next(sizes) for i in range(ndim)])

    def squeeze(self, array: Any, dimensions: Sequence[int]) -> Any:
        shape = self.namespace.shape(array)
        gone = {dimension % len(shape) for dimension in dimensions}
        return self.reshape(array, [size for i, size in enumerate(shape) if i not in gone])

    def rev(self, operand: Any, dimensions: Sequence[int]) -> Any:
        return self.namespace.flip(operand, tuple(dimensions))

    # Parts

    def slice(
        self,
        operand: Any,
        start_indices: Sequence[int],
        limit_indices: Sequence[int],
        strides: Sequence[int] | None = None,
    ) -> Any:
        steps = strides or (1,) * len(start_indices)
        index = tuple([Slice(*ends) for ends in zip(start_indices, limit_indices, steps, strict=True)])
        return operand[index] if index else operand

    def slice_in_dim(
        self, operand: Any, start_index: int | None, limit_index: int | None, stride: int = 1, axis: int = 0
    ) -> Any:
        index = [Slice(None)] * len(self.namespace.shape(operand))
        index[axis] = Slice(start_index, limit_index, stride)
        return operand[tuple(index)]

    def split(self, operand: Any, sizes: Sequence[int], axis: int = 0) -> list[Any]:
        starts = [sum(sizes[:i]) for i in range(len(sizes))]
        return [self.slice_in_dim(operand, i, i + size, axis=axis) for i, size in zip(starts, sizes, strict=True)]

    def getitem(self, x: Any, index: Any) -> Any:
        return x[index]

    def concatenate(self, operands: Sequence[Any], dimension: int) -> Any:
        return self.namespace.concatenate(list(operands), dimension)

    def pad(self, operand: Any, padding_value: Any, padding_config: Sequence[tuple[int, int, int]]) -> Any:
        for axis, (low, high, interior) in enumerate(padding_config):
            size = self.namespace.shape(operand)[axis]
            if interior and size > 1:
                operand = self._spread(operand, padding_value, axis, interior)
            before, after = (self._block(operand, padding_value, axis, max(count, 0)) for count in (low, high))
            operand = self.concatenate([before, operand, after], axis)
            size = self.namespace.shape(operand)[axis]
            operand = self.slice_in_dim(operand, max(-low, 0), size - max(-high, 0), axis=axis)
        return operand

    def _block(self, operand: Any, value: Any, axis: int, count: int) -> Any:
        shape = list(self.namespace.shape(operand))
        shape[axis] = count
        return self.broadcast_in_dim(value, shape, ())

    def _spread(self, operand: Any, value: Any, axis: int, interior: int) -> Any:
        """Inserts ``interior`` copies of a value between neighbours along an axis."""
        expanded = self.expand_dims(operand, (axis + 1,))
        filled = self.concatenate([expanded, self._block(expanded, value, axis + 1, interior)], axis + 1)
        shape = self.namespace.shape(operand)
        flat = self.reshape(filled, (*shape[:axis], shape[axis] * (interior + 1), *shape[axis + 1 :]))
        return self.slice_in_dim(flat, 0, (shape[axis] - 1) * (interior + 1) + 1, axis=axis)

    # Choices

    def select_n(self, which: Any, *cases: Any) -> Any:
        out = cases[0]
        for i, case in enumerate(cases[1:], 1):
            out = self.namespace.where(which >= i, case, out)
        return out

    def select(self, pred: Any, on_true: Any, on_false: Any) -> Any:
        return self.select_n(pred, on_false, on_true)

    def clamp(self, min: Any, x: Any, max: Any) -> Any:
        return self.namespace.minimum(self.namespace.maximum(x, min), max)

    # Reductions

    def reduce_sum(self, operand: Any, axes: Sequence[int]) -> Any:
        return self.namespace.sum(operand, axis=tuple(axes))

    def reduce_prod(self, operand: Any, axes: Sequence[int]) -> Any:
        return self.namespace.prod(operand, axis=tuple(axes))

    def reduce_max(self, operand: Any, axes: Sequence[int]) -> Any:
        return self._extremum(self.namespace.max, operand, axes, -1)

    def reduce_min(self, operand: Any, axes: Sequence[int]) -> Any:
        return self._extremum(self.namespace.min, operand, axes, 1)

    def _extremum(self, function: Callable[..., Any], operand: Any, axes: Sequence[int], sign: int) -> Any:
        """Returns a maximum or minimum; of no elements, which NumPy refuses, the end of the dtype."""
        shape = self.namespace.shape(operand)
        if all([shape[i] for i in axes]):
            return function(operand, axis=tuple(axes))
        dtype = self.namespace.result_type(operand)
        ends = {"b": (False, True), "f": (-np.inf, np.inf)}.get(dtype.kind)
        low, high = ends or (np.iinfo(dtype).min, np.iinfo(dtype).max)
        return self.full(
            [n for i, n in enumerate(shape) if i not in axes], np.asarray(high if sign > 0 else low, dtype)
        )

    def reduce_and(self, operand: Any, axes: Sequence[int]) -> Any:
        return self.namespace.all(operand, axis=tuple(axes))

    def reduce_or(self, operand: Any, axes: Sequence[int]) -> Any:
        return self.namespace.any(operand, axis=tuple(axes))

    def argmax(self, operand: Any, axis: int, index_dtype: Any) -> Any:
        return self.convert_element_type(self.namespace.argmax(operand, axis), index_dtype)

    def argmin(self, operand: Any, axis: int, index_dtype: Any) -> Any:
        return self.convert_element_type(self.namespace.argmin(operand, axis), index_dtype)

    def cumsum(self, operand: Any, axis: int = 0, reverse: bool = False) -> Any:
        return self._cumulative(self.namespace.cumsum, operand, axis, reverse)

    def cumprod(self, operand: Any, axis: int = 0, reverse: bool = False) -> Any:
        return self._cumulative(self.namespace.cumprod, operand, axis, reverse)

    def _cumulative(self, function: Callable[..., Any], operand: Any, axis: int, reverse: bool) -> Any:
        if not reverse:
            return function(operand, axis)
        return self.rev(function(self.rev(operand, (axis,)), axis), (axis,))

    # Products

    def dot_general(
        self, lhs: Any, rhs: Any, dimension_numbers: Any, precision: Any = None, preferred_element_type: Any = None
    ) -> Any:
        (contracting, batch), ndims = dimension_numbers, [len(self.namespace.shape(x)) for x in (lhs, rhs)]
        labels = [list(range(ndims[0])), list(range(ndims[0], sum(ndims)))]
        for left, right in (*zip(*contracting, strict=True), *zip(*batch, strict=True)):
            labels[1][right] = labels[0][left]
        bound = [{*contracting[side], *batch[side]} for side in (0, 1)]
        free = [[label for i, label in enumerate(labels[side]) if i not in bound[side]] for side in (0, 1)]
        letters = "abcdefghijklmnopqrstuvwxyz"
        out = [*[labels[0][i] for i in batch[0]], *free[0], *free[1]]
        left, right, result = ("".join(letters[i] for i in label) for label in (*labels, out))
        return self.namespace.einsum(f"{left},{right}->{result}", lhs, rhs)

    def dot(self, a: Any, b: Any) -> Any:
        return self.namespace.dot(a, b)

    def integer_pow(self, x: Any, y: int) -> Any:
        if y < 0:
            return self.namespace.true_divide(1.0, self.integer_pow(x, -y))
        factors = [x] * y
        return reduce(self.namespace.multiply, factors) if factors else self.full_like(x, 1)

    # Elementwise functions without a NumPy name

    def div(self, x: Any, y: Any) -> Any:
        if all(self.dtype_kind(value) in "iu" for value in (x, y)):
            # x minus the remainder with the sign of x is a multiple of y.
            return self.namespace.floor_divide(self.namespace.subtract(x, self.namespace.fmod(x, y)), y)
        return self.namespace.true_divide(x, y)

    def rsqrt(self, x: Any) -> Any:
        return self.namespace.true_divide(1.0, self.namespace.sqrt(x))

    def logistic(self, x: Any) -> Any:
        return self.namespace.true_divide(1.0, self.namespace.add(1.0, self.namespace.exp(self.namespace.negative(x))))

    def complex(self, x: Any, y: Any) -> Any:
        return self.namespace.add(x, self.namespace.multiply(1j, y))

    def dtype_kind(self, value: Any) -> str:
        """Returns the kind of a value's dtype, of ``b i u f c``."""
        kind: str = self.namespace.result_type(value).kind
        return kind

    def convert_element_type(self, operand: Any, new_dtype: Any) -> Any:
        return self.namespace.astype(operand, new_dtype)

    # New arrays

    def full(self, shape: Sequence[int], fill_value: Any, dtype: Any = None) -> Any:
        return self.namespace.full(tuple(shape), fill_value, dtype=dtype)

    def full_like(self, x: Any, fill_value: Any, dtype: Any = None, shape: Sequence[int] | None = None) -> Any:
        return self.full(self.namespace.shape(x) if shape is None else shape, fill_value, dtype or x.dtype)

    def iota(self, dtype: Any, size: int) -> Any:
        return self.namespace.arange(size, dtype=dtype)

    def broadcasted_iota(self, dtype: Any, shape: Sequence[int], dimension: int) -> Any:
        return self.broadcast_in_dim(self.iota(dtype, shape[dimension]), shape, (dimension,))
