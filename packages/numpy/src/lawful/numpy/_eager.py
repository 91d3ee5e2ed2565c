"""Dispatch to NumPy's own functions for plain arrays."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy
from lawful.core import ArgumentTypeError, Tracer
from lawful.ops import Composite, is_eager

F = TypeVar("F", bound=Callable[..., Any])

# Some of NumPy's sums of float16 are computed in float16; ops sum in float32, eagerly and compiled.
_NARROW = numpy.dtype(numpy.float16)
_ARRAYS = (numpy.ndarray, numpy.generic)


def eager(
    numpy_function: Callable[..., Any], *, arrays: int = 1, sequence: bool = False, looks: bool = True
) -> Callable[[F], F]:
    """Returns a decorator that calls NumPy's function if the arguments are plain arrays.

    The decorated function defines the arguments, the result and the errors: it is called if an argument is traced,
    on a device, or of a dtype that NumPy does not have, and if NumPy raises an error. An argument ``out`` in its
    signature is refused.

    Args:
      numpy_function: NumPy's function, which accepts the same arguments.
      arrays: how many of the first arguments are arrays.
      sequence: whether the first argument is a sequence of arrays.
      looks: whether the control flow may depend on values that are not traced: see `Composite`.
    """

    def decorate(function: F) -> F:
        # The names of inspect.signature, 20× faster, since a hundred functions are decorated at import.
        code = inspect.unwrap(function).__code__
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        known = frozenset(names) - {"out"}
        out = names.index("out") if "out" in names else len(names)

        apply = Composite(function, arrays, sequence=sequence, looks=looks).__call__

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            # With a tracer, NumPy would dispatch back to this function.
            if (
                not (args and isinstance(args[0], Tracer))
                and len(args) <= out
                and kwargs.keys() <= known
                and _all_plain(args, arrays, sequence)
                and not any(map(_is_not_plain, (*args[1:], *kwargs.values())))
                and ("where" not in kwargs or _is_mask(kwargs["where"]))
            ):
                try:
                    return numpy_function(*args, **kwargs)
                except (TypeError, ValueError, OverflowError, IndexError):
                    pass  # the decorated function raises the error
            if (kwargs and kwargs.get("out") is not None) or (len(args) > out < len(names) and args[out] is not None):
                raise ArgumentTypeError(
                    f"{function.__name__}: expected no out=, got one: arrays are not overwritten; use the result"
                )
            return apply(*args, **kwargs)

        return cast(F, wrapper)

    return decorate


def is_plain(*args: Any) -> bool:
    """Whether NumPy can compute with these arguments: plain arrays and numbers, while no program is recorded."""
    return is_eager(*args) and not any(getattr(x, "dtype", None) == _NARROW for x in args)


def _is_mask(where: Any) -> bool:
    """Whether ``where=`` is boolean; NumPy accepts numbers and lists too."""
    return where is None or numpy.asarray(where).dtype.kind == "b"


def _is_not_plain(x: Any) -> bool:
    """Whether an argument is an array that is not plain; the fast path is an argument that is no array."""
    return isinstance(x, Tracer) or (isinstance(x, _ARRAYS) and not is_plain(x))


def _all_plain(args: tuple[Any, ...], arrays: int, sequence: bool) -> bool:
    if sequence:
        if not args or type(args[0]) not in (list, tuple):
            return False
        args = tuple(args[0])
    else:
        if len(args) < arrays:
            return False
        args = args[:arrays]
    return is_plain(*args)
