"""Dispatch to NumPy's own functions for plain arrays."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

import numpy
from lawful.core import (
    ArgumentTypeError,
    Hook,
    Tracer,
    python_scalar_dtype,
    python_scalar_types,
    record,
    supported_dtypes,
)
from lawful.numpy._integers import is_large
from lawful.ops import Composite, is_eager

F = TypeVar("F", bound=Callable[..., Any])

# Some of NumPy's sums of float16 are computed in float16; ops sum in float32, eagerly and compiled.
_NARROW = numpy.dtype(numpy.float16)
_OBJECTS = numpy.dtype(object)
_ARRAYS = (numpy.ndarray, numpy.generic)


@record
class DirectCall:
    """When a function of NumPy gives what a function of this package gives.

    The first arguments must be NumPy arrays, and nothing may be traced. NumPy promotes their dtypes as lawful does;
    float16 is left out. All other arguments are static: numbers, texts, types, None and tuples of these. Where NumPy's
    function raises an error, the function of this package is called.

    Attributes:
      numpy_function: NumPy's function.
      arrays: how many of the first arguments are arrays; None for all of them.
      sequence: whether the first argument is a sequence of arrays; with ``arrays=1``, it may be one array too.
      types: the dtypes of the arrays, and the types of scalars in their place: such as `PLAIN_TYPES`.
      most: the most positional arguments.
      names: the keyword arguments.
      axis: whether the second argument is named ``axis``.
      results: the dtypes of results that are right; None for all.
      traced: what the function of this package calls where an array is traced; None if it looks at more.
    """

    numpy_function: Callable[..., Any]
    arrays: int | None
    sequence: bool
    types: frozenset[Any]
    most: int
    names: frozenset[str]
    axis: bool = False
    results: frozenset[Any] | None = None
    traced: Callable[..., Any] | None = None


def _unchanged(function: Any, call: DirectCall) -> Any:
    return function


#: Wraps a function whose direct calls of NumPy an accelerator may make: ``use(function, call)`` returns the function.
direct_hook: Final[Hook[Callable[[Any, DirectCall], Any]]] = Hook("direct calls of NumPy", _unchanged)


def direct(
    numpy_function: Callable[..., Any],
    *,
    arrays: int | None = 1,
    sequence: bool = False,
    types: frozenset[Any] | None = None,
    most: int | None = None,
    names: tuple[str, ...] = (),
    axis: bool = False,
    results: frozenset[Any] | None = None,
) -> Callable[[F], F]:
    """Returns a decorator that lets an accelerator call NumPy's function: see `DirectCall`.

    Args:
      numpy_function: gives what the decorated function gives, or raises an error.
      arrays: how many of the first arguments are arrays; None for all of them.
      sequence: whether the first argument is an array or a sequence of them.
      types: the dtypes of the arrays, and the types of scalars in their place; by default no scalars.
      most: the most positional arguments; by default the number of arrays.
      names: the keyword arguments.
      axis: whether the second argument is named ``axis``.
      results: the dtypes of results that are right, if all arguments are arrays; None for all.
    """
    call = DirectCall(
        numpy_function, arrays, sequence, ARRAY_TYPES if types is None else types,
        (arrays or 0) if most is None else most, frozenset(names), axis, results,
    )  # fmt: skip

    def decorate(function: F) -> F:
        return cast(F, direct_hook.use(function, call))

    return decorate


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

        composite = Composite(function, arrays, sequence=sequence, looks=looks)
        apply = composite.__call__

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if kwargs and kwargs.get("where", kwargs) is None:
                del kwargs["where"]  # NumPy takes None for False
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
                    result = numpy_function(*args, **kwargs)
                    if _is_supported(result, sequence):
                        return result
                except (TypeError, ValueError, OverflowError, IndexError):
                    pass  # the decorated function raises the error
            if (kwargs and kwargs.get("out") is not None) or (len(args) > out < len(names) and args[out] is not None):
                raise ArgumentTypeError(
                    f"{function.__name__}: expected no out=, got one: arrays are not overwritten; use the result"
                )
            return apply(*args, **kwargs)

        call = DirectCall(
            numpy_function, None if sequence else arrays, sequence, PLAIN_TYPES, out, known - {"where"},
            names[1:2] == ("axis",), ARRAY_TYPES if sequence else None, composite,
        )  # fmt: skip
        return cast(F, direct_hook.use(wrapper, call))

    return decorate


def is_plain(*args: Any) -> bool:
    """Whether NumPy can compute with these arguments: plain arrays and numbers, while no program is recorded."""
    return is_eager(*args) and not any(getattr(x, "dtype", None) == _NARROW for x in args)


def plain_types(except_of: str) -> frozenset[Any]:
    """Returns the dtypes of plain arrays and the types of plain numbers, but for those of some dtype kinds."""
    dtypes = [dtype for dtype in supported_dtypes if is_plain(numpy.empty(0, dtype)) and dtype.kind not in except_of]
    numbers = [cls for cls in python_scalar_types if python_scalar_dtype(cls).kind not in except_of]
    return frozenset([*dtypes, *[dtype.type for dtype in dtypes], *numbers])


#: The dtypes of plain arrays and the types of plain numbers, and the dtypes alone.
PLAIN_TYPES: Final = plain_types("")
ARRAY_TYPES: Final = frozenset([dtype for dtype in PLAIN_TYPES if isinstance(dtype, numpy.dtype)])


def _is_mask(where: Any) -> bool:
    """Whether ``where=`` is boolean; NumPy accepts numbers and lists too."""
    return bool(numpy.asarray(where).dtype.kind == "b")


def _is_supported(result: Any, sequence: bool) -> bool:
    """Whether a result is of a dtype of plain arrays; NumPy gives objects for integers beyond 64 bits in lists."""
    dtype = getattr(result, "dtype", None)
    return dtype in ARRAY_TYPES if sequence else dtype != _OBJECTS


def _is_not_plain(x: Any) -> bool:
    """Whether an argument is a large integer or an array that is not plain; the fast path is another argument."""
    return isinstance(x, Tracer) or is_large(x) or (isinstance(x, _ARRAYS) and not is_plain(x))


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
