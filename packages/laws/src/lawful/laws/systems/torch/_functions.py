"""The functions of ``lawful.ops`` over PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from lawful.laws.systems._array_functions import ArrayFunctions
from lawful.laws.systems.torch import _namespace
from lawful.laws.systems.torch._namespace import tensor_of, torch


class TorchFunctions(ArrayFunctions):
    """Array functions by lawful's names, over tensors."""

    def __init__(self) -> None:
        super().__init__(_namespace)

    def slice_in_dim(
        self, operand: Any, start_index: int | None, limit_index: int | None, stride: int = 1, axis: int = 0
    ) -> Any:
        return super().slice_in_dim(tensor_of(operand), start_index, limit_index, stride, axis)

    def slice(
        self,
        operand: Any,
        start_indices: Sequence[int],
        limit_indices: Sequence[int],
        strides: Sequence[int] | None = None,
    ) -> Any:
        return super().slice(tensor_of(operand), start_indices, limit_indices, strides)

    def select_n(self, which: Any, *cases: Any) -> Any:
        return super().select_n(tensor_of(which), *cases)

    def reduce_and(self, operand: Any, axes: Sequence[int]) -> Any:
        return _namespace.fold(torch.bitwise_and, -1, operand, axes)

    def reduce_or(self, operand: Any, axes: Sequence[int]) -> Any:
        return _namespace.fold(torch.bitwise_or, 0, operand, axes)

    def reduce_xor(self, operand: Any, axes: Sequence[int]) -> Any:
        return _namespace.fold(torch.bitwise_xor, 0, operand, axes)

    def cummax(self, operand: Any, axis: int = 0, reverse: bool = False) -> Any:
        return self._cumulative(lambda x, axis: torch.cummax(tensor_of(x), axis).values, operand, axis, reverse)

    def cummin(self, operand: Any, axis: int = 0, reverse: bool = False) -> Any:
        return self._cumulative(lambda x, axis: torch.cummin(tensor_of(x), axis).values, operand, axis, reverse)

    def logistic(self, x: Any) -> Any:
        return torch.sigmoid(tensor_of(x) if self.dtype_kind(x) == "f" else tensor_of(x, "float64"))

    def full_like(self, x: Any, fill_value: Any, dtype: Any = None, shape: Sequence[int] | None = None) -> Any:
        size = _namespace.shape(x) if shape is None else shape
        return self.full(size, fill_value, dtype or _namespace.result_type(x))


#: The functions, as programs name them.
ops: Final = TorchFunctions()
