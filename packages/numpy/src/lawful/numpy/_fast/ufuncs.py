"""Ufuncs of values: NumPy's ufunc is called at once if the dtypes are those of the common case."""

from __future__ import annotations

from typing import Any, Final

import numpy
from lawful.core import current, register_dispatch_module
from lawful.numpy._integers import GREATEST, LEAST
from lawful.numpy._ufuncs.ufunc import Ufunc, ufunc_hook

register_dispatch_module(__name__)

ndarray = numpy.ndarray
_FLOAT64: Final = numpy.dtype(numpy.float64)


class _Missing:
    """Stands for an operand that is not given."""


def call(self: Ufunc, x: Any = _Missing, y: Any = _Missing, /, *rest: Any, **kwargs: Any) -> Any:
    """Calls a ufunc: NumPy's if its operands are plain arrays."""
    dtype = None
    if kwargs or rest:
        pass
    # A test of identity is 2× faster than a lookup, and no ufunc excepts float64.
    elif (
        (dtype := x.dtype) is _FLOAT64 or dtype in self.plain_types
        if type(x) is ndarray
        else type(x) in self.plain_types and (type(x) is not int or LEAST <= x <= GREATEST)
    ):
        try:
            if y is _Missing:
                if self.nin == 1 and current.trace.evaluates_constants:
                    return self.numpy_function(x)
            elif (
                y.dtype is dtype or y.dtype in self.plain_types
                if type(y) is ndarray
                else type(y) in self.plain_types and (type(y) is not int or LEAST <= y <= GREATEST)
            ) and (self.nin == 2 and current.trace.evaluates_constants):
                return self.numpy_function(x, y)
        except (TypeError, ValueError, OverflowError):
            pass  # the path below raises the error
    is_one = y is _Missing
    if rest or kwargs or x is _Missing or self.nin != (1 if is_one else 2):
        given = [z for z in (x, y, *rest) if z is not _Missing]
        return ufunc_hook.plain(self, *given, **kwargs)  # raises
    args = (x,) if is_one else (x, y)
    return self.apply_ops(args) if self.application is None else self.application.apply(args)
