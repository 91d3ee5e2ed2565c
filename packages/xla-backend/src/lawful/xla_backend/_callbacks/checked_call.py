"""A Python function as a compiled program calls it, with a check of its results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful.core import ArgumentTypeError, JaxprEqn, ShapedArray, float0, record, storage_dtypes


@record
class CheckedCall:
    """A Python function as a program calls it: it checks the types of the results, which the runtime does not.

    Attributes:
      function: of arrays of the types ``operands``; it gives a sequence of arrays.
      eqn: the equation that calls it.
      operands: the types of its arguments.
      results: the types that it must return.
      in_order: whether the order token is the first argument, and the first result.
    """

    function: Callable[..., Sequence[Any]]
    eqn: JaxprEqn
    operands: tuple[ShapedArray, ...]
    results: tuple[ShapedArray, ...]
    in_order: bool

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        order, arrays = (arrays[:1], arrays[1:]) if self.in_order else ((), arrays)
        given = [
            np.zeros(aval.shape, float0) if aval.dtype == float0 else x.astype(aval.dtype, copy=False)
            for x, aval in zip(arrays, self.operands, strict=True)
        ]
        found = self.function(*given)
        if len(found) != len(self.results):
            raise self._wrong(f"{len(self.results)} results", f"{len(found)}")
        for i, (x, aval) in enumerate(zip(found, self.results, strict=True)):
            is_array = isinstance(x, np.ndarray | np.generic)
            if not is_array or x.shape != aval.shape or x.dtype != aval.dtype:
                got = f"{x.dtype} of shape {x.shape}" if is_array else type(x).__name__
                raise self._wrong(f"{aval} as result {i}", got)
        return (*order, *[x.astype(storage_dtypes.get(x.dtype, x.dtype), copy=False) for x in found])

    def zeros(self, *arrays: Any) -> tuple[Any, ...]:
        """Returns results of the right types without calling the function."""
        order = arrays[:1] if self.in_order else ()
        return (*order, *[np.zeros(aval.shape, storage_dtypes.get(aval.dtype, aval.dtype)) for aval in self.results])

    def _wrong(self, expected: str, got: str) -> ArgumentTypeError:
        return ArgumentTypeError(
            f"{self.eqn.primitive.name}: expected {expected} of the Python function that its lowering rule calls, "
            f"got {got}; return NumPy arrays of the types of the equation's results",
            source=self.eqn.source,
        )
