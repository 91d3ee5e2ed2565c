"""Functions of tensors by NumPy's names, with NumPy's promotion and broadcasting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any, Final

import numpy as np

try:
    import torch as torch
except ImportError as error:
    raise ImportError(
        "lawful.laws.systems.torch: expected PyTorch, which is not installed; do `pip install torch`"
    ) from error

# The tensor dtypes that NumPy has too.
_NAMES: Final = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")
_NUMPY_DTYPES: Final = {getattr(torch, name): np.dtype(name) for name in (*_NAMES, "complex64", "complex128")}
_TORCH_DTYPES: Final = {dtype: torch_dtype for torch_dtype, dtype in _NUMPY_DTYPES.items()}


def numpy_dtype(tensor: Any) -> np.dtype[Any]:
    """Returns the NumPy dtype of a tensor."""
    return _NUMPY_DTYPES[tensor.dtype]


def tensor_of(value: Any, dtype: Any = None) -> Any:
    """Returns an array or number as a tensor, a copy, of NumPy's dtype for it; a tensor as it is.

    Args:
      value: an array, number or tensor.
      dtype: NumPy's name of the dtype to convert to.
    """
    if not isinstance(value, torch.Tensor):
        value = torch.tensor(np.array(value))
    return value if dtype is None else value.to(_TORCH_DTYPES[np.dtype(dtype)])


def result_type(*values: Any) -> np.dtype[Any]:
    """Returns the promoted dtype of values, by NumPy's rules."""
    return np.result_type(*[numpy_dtype(x) if isinstance(x, torch.Tensor) else x for x in values])


def _of_floats(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that first converts integers to float64."""

    def promoted(*args: Any) -> Any:
        dtype = result_type(*args)
        return function(*[tensor_of(x, dtype if dtype.kind in "fc" else np.float64) for x in args])

    return promoted


def _of_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: function(*[tensor_of(x, result_type(*args)) for x in args])


def _of_floats_only(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a rounding function that leaves integers unchanged."""
    return lambda x: function(x) if result_type(x).kind == "f" else tensor_of(x)


_float_names: Final = (
    *("arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "cos", "cosh", "exp", "exp2", "expm1"),
    *("log", "log1p", "sin", "sinh", "sqrt", "tan", "tanh", "true_divide"),
)
_number_names: Final = (
    *("abs", "add", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "greater"),
    *("greater_equal", "isfinite", "less", "less_equal", "maximum", "minimum", "multiply", "negative", "not_equal"),
    *("sign", "square", "subtract", "matmul", "dot"),
)

for _name in _float_names:
    globals()[_name] = _of_floats(getattr(torch, _name))
for _name in _number_names:
    globals()[_name] = _of_numbers(getattr(torch, _name))


def _dividing(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a division that gives 0 for integer division by zero, as NumPy does; PyTorch raises an error."""

    def divided(x: Any, y: Any) -> Any:
        if x.dtype.is_floating_point:
            return function(x, y)
        by_zero = y == 0
        return torch.where(by_zero, torch.zeros_like(y), function(x, torch.where(by_zero, torch.ones_like(y), y)))

    return _of_numbers(divided)


floor_divide, fmod, remainder = _dividing(torch.floor_divide), _dividing(torch.fmod), _dividing(torch.remainder)
power = _of_numbers(torch.pow)
equal = _of_numbers(torch.eq)
left_shift, right_shift = _of_numbers(torch.bitwise_left_shift), _of_numbers(torch.bitwise_right_shift)
ceil, floor, rint = _of_floats_only(torch.ceil), _of_floats_only(torch.floor), _of_floats(torch.round)


def astype(x: Any, dtype: Any) -> Any:
    return tensor_of(x, dtype)


def shape(x: Any) -> tuple[int, ...]:
    return tuple(np.shape(x)) if not isinstance(x, torch.Tensor) else tuple(x.shape)


def reshape(x: Any, new_shape: Sequence[int]) -> Any:
    return torch.reshape(tensor_of(x), tuple(new_shape))


def transpose(x: Any, axes: Sequence[int]) -> Any:
    return torch.permute(tensor_of(x), tuple(axes))


def broadcast_to(x: Any, new_shape: Sequence[int]) -> Any:
    return torch.broadcast_to(tensor_of(x), tuple(new_shape))


def flip(x: Any, axis: Sequence[int]) -> Any:
    return torch.flip(tensor_of(x), tuple(axis))


def concatenate(arrays: Sequence[Any], axis: int) -> Any:
    dtype = result_type(*arrays)
    return torch.cat([tensor_of(x, dtype) for x in arrays], axis)


def where(condition: Any, x: Any, y: Any) -> Any:
    dtype = result_type(x, y)
    return torch.where(tensor_of(condition, bool), tensor_of(x, dtype), tensor_of(y, dtype))


def full(new_shape: Sequence[int], value: Any, dtype: Any = None) -> Any:
    return broadcast_to(tensor_of(value, dtype), new_shape)


def arange(size: int, dtype: Any = None) -> Any:
    return tensor_of(np.arange(size, dtype=dtype))


# Reductions: for PyTorch, an empty tuple of axes means all axes.


def sum(x: Any, axis: Sequence[int]) -> Any:
    x = tensor_of(x)
    return torch.sum(x, tuple(axis), dtype=x.dtype) if axis else x


def max(x: Any, axis: Sequence[int]) -> Any:
    return torch.amax(tensor_of(x), tuple(axis)) if axis else tensor_of(x)


def min(x: Any, axis: Sequence[int]) -> Any:
    return torch.amin(tensor_of(x), tuple(axis)) if axis else tensor_of(x)


def prod(x: Any, axis: Sequence[int]) -> Any:
    x = tensor_of(x)
    return reduce(lambda y, i: torch.prod(y, i, dtype=x.dtype), sorted(axis, reverse=True), x)


def fold(function: Callable[[Any, Any], Any], unit: int, x: Any, axis: Sequence[int]) -> Any:
    """Reduces an array by a binary function; the result for no elements is the unit."""
    x = tensor_of(x)
    for i in sorted(axis, reverse=True):
        start = torch.full_like(torch.sum(x, i, dtype=x.dtype), unit)
        x = reduce(function, torch.unbind(x, i), start)
    return x


def argmax(x: Any, axis: int) -> Any:
    x = tensor_of(x)
    return torch.argmax(x if x.dtype != torch.bool else x.to(torch.int64), axis)


def argmin(x: Any, axis: int) -> Any:
    x = tensor_of(x)
    return torch.argmin(x if x.dtype != torch.bool else x.to(torch.int64), axis)


def _cumulative(function: Callable[..., Any], x: Any, axis: int) -> Any:
    x = tensor_of(x)
    return function(x, axis, dtype=x.dtype)


cumsum, cumprod = partial(_cumulative, torch.cumsum), partial(_cumulative, torch.cumprod)


def einsum(subscripts: str, x: Any, y: Any) -> Any:
    dtype = result_type(x, y)
    if dtype.kind == "b":
        return einsum(subscripts, astype(x, np.int64), astype(y, np.int64)) > 0
    return torch.einsum(subscripts, tensor_of(x, dtype), tensor_of(y, dtype))


def tensordot(x: Any, y: Any, axes: Any = 2) -> Any:
    dtype = result_type(x, y)
    return torch.tensordot(tensor_of(x, dtype), tensor_of(y, dtype), axes)
