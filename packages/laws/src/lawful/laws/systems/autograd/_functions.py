"""The functions of ``lawful.ops`` over ``autograd.numpy``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, Final

import numpy as np

from lawful.laws.systems._array_functions import ArrayFunctions

try:
    import autograd.numpy as anp
    from autograd.tracer import getval, isbox
except ImportError as error:
    raise ImportError(
        "lawful.laws.systems.autograd: expected Autograd, which is not installed; do `pip install autograd`"
    ) from error


def value_of(x: Any) -> Any:
    """Returns the value of a variable, under any number of traces."""
    while getval(x) is not x:
        x = getval(x)
    return x


def _constant(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a NumPy function with a derivative of zero."""
    return lambda *args: function(*map(value_of, args))


class AutogradFunctions(ArrayFunctions):
    """Array functions by lawful's names, over ``autograd.numpy``."""

    def __init__(self) -> None:
        super().__init__(anp)
        for name in ("bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "eq", "ge", "gt", "le", "lt", "ne"):
            self._wrap(name)
        for name in ("shift_left", "shift_right_arithmetic", "ceil", "floor", "round_nearest_even", "is_finite"):
            self._wrap(name)

    def _wrap(self, name: str) -> None:
        setattr(self, name, _constant(getattr(self, name)))

    def rem(self, x: Any, y: Any) -> Any:
        if all(kind in "iu" for kind in (self.dtype_kind(x), self.dtype_kind(y))):
            return np.fmod(value_of(x), value_of(y))
        quotient = np.trunc(np.true_divide(value_of(x), value_of(y)))
        return anp.subtract(x, anp.multiply(quotient, y))

    def broadcast_to(self, operand: Any, shape: Sequence[int]) -> Any:
        # Autograd's broadcast_to has a gradient of wrong shape if an axis of length 1 becomes one of length 0.
        return anp.add(operand, np.zeros(shape)) if isbox(operand) else np.broadcast_to(operand, shape)

    def rev(self, operand: Any, dimensions: Sequence[int]) -> Any:
        reversed_axes = [slice(None, None, -1 if i in dimensions else None) for i in range(anp.ndim(operand))]
        return operand[tuple(reversed_axes)] if reversed_axes else operand

    def integer_pow(self, x: Any, y: int) -> Any:
        return anp.power(x, float(y)) if self.dtype_kind(x) in "fc" else reduce(np.multiply, [x] * y, 1)

    def convert_element_type(self, operand: Any, new_dtype: Any) -> Any:
        if np.dtype(new_dtype) == anp.result_type(operand):
            return operand
        return np.asarray(value_of(operand)).astype(new_dtype)

    def reduce_xor(self, operand: Any, axes: Sequence[int]) -> Any:
        return np.bitwise_xor.reduce(value_of(operand), axis=tuple(axes))

    def reduce_and(self, operand: Any, axes: Sequence[int]) -> Any:
        return np.bitwise_and.reduce(value_of(operand), axis=tuple(axes))

    def reduce_or(self, operand: Any, axes: Sequence[int]) -> Any:
        return np.bitwise_or.reduce(value_of(operand), axis=tuple(axes))

    def full(self, shape: Sequence[int], fill_value: Any, dtype: Any = None) -> Any:
        value = fill_value if dtype is None else self.convert_element_type(fill_value, dtype)
        return self.broadcast_in_dim(value, shape, ())


#: The functions, as programs name them.
ops: Final = AutogradFunctions()
