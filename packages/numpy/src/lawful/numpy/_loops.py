"""Functions whose loops are traced once for each type of their arguments, and not at each call."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any, TypeVar, cast

from lawful.core import current
from lawful.staging import jit

F = TypeVar("F", bound=Callable[..., Any])


def traced_once(*static: int) -> Callable[[F], F]:
    """Returns a decorator of functions with loops: a loop traces the functions that it is given, at each call.

    Where values are known, also under a derivative or ``vmap``, the function is that of ``jit``. In a program that is
    recorded, its equations stand there themselves, with the lines of this call.

    Args:
      static: positions of hashable arguments that are no arrays.

    >>> from lawful.control_flow import fori_loop
    >>> @traced_once(1)
    ... def power(x, n):
    ...     print("traced")
    ...     return fori_loop(0, n, lambda _, y: x * y, 1.0)
    >>> power(2.0, 3), power(3.0, 3)
    traced
    (np.float64(8.0), np.float64(27.0))
    """

    def decorate(function: F) -> F:
        compiled = jit(function, static_argnums=static, backend="numpy")

        @wraps(function)
        def wrapper(*args: Any) -> Any:
            if current.trace.evaluates_constants:
                with suppress(TypeError, ValueError):  # the function raises the error, without the name of jit
                    return compiled(*args)
            return function(*args)

        return cast(F, wrapper)

    return decorate
