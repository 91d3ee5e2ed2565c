"""`Ufunc`: the form of the elementwise functions, each a NumPy ufunc's name and promotion over lawful's ops."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy
from lawful.core import ArgumentTypeError
from lawful.ops import Elementwise, is_eager, promote


class Ufunc:
    """An elementwise function with the name, promotion and broadcasting of one of NumPy's ufuncs.

    Args:
      numpy_function: the ufunc. It computes eagerly, and decides how operands are promoted.
      op: gives the result from operands of one shape and dtype.
      doc: what it returns, where that is not what the op returns.

    Raises:
      ArgumentTypeError: the operands have a dtype that the ufunc is not defined for.
      ArgumentValueError: their shapes do not broadcast together.

    >>> from lawful import ops
    >>> arcsin = Ufunc(numpy.arcsin, ops.asin)
    >>> arcsin, arcsin(1)
    (<function lawful.numpy.arcsin>, np.float64(1.5707963267948966))
    """

    def __init__(self, numpy_function: numpy.ufunc, op: Elementwise | Callable[..., Any], doc: str = "") -> None:
        self.numpy_function = numpy_function
        self.nin = numpy_function.nin
        self.__name__ = self.__qualname__ = numpy_function.__name__
        self.__doc__ = doc or op.__doc__
        names = ["x"] if self.nin == 1 else [f"x{i}" for i in range(1, self.nin + 1)]
        self.__signature__ = inspect.Signature(
            [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names]
        )
        self._compute = op.primitive.bind if isinstance(op, Elementwise) else op

    def __repr__(self) -> str:
        return f"<function lawful.numpy.{self.__name__}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            self._refuse(kwargs)
        if len(args) != self.nin:
            raise ArgumentTypeError(f"{self.__name__}: expected {self.nin} arguments, got {len(args)}")
        if is_eager(*args):
            try:
                return self.numpy_function(*args)
            except (TypeError, ValueError, OverflowError):
                pass  # the path below says what is wrong
        return self._compute(*promote(self.__name__, self.numpy_function, args))

    def _refuse(self, kwargs: Mapping[str, Any]) -> NoReturn:
        raise ArgumentTypeError(
            f"{self.__name__}: expected arrays as the only arguments, got {', '.join(f'{key}=' for key in kwargs)}; "
            "convert with astype for dtype=, choose with where for where=, use the result in place of out="
        )
