"""Python numbers beside arrays: functions that make an array of each operand give them the dtype of the others.

For NumPy's functions, and lawful's, such a number is a float64: ``numpy.append(x, 2.0)`` widens a float32 ``x``. For
JAX's it yields to the dtype of the arrays. Some functions of NumPy have float64 results for float32 operands alone.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, Final

import numpy

from lawful import numpy as lawful_numpy
from lawful.core import Tracer, get_aval, is_array, is_inexact

Function = Callable[..., Any]

_NUMBERS: Final = frozenset({bool, int, float, complex})
#: The functions of operands, with the names that these have there.
_OPERANDS: Final = {
    **dict.fromkeys(("dot", "inner", "kron", "tensordot", "vdot"), ("a", "b")),
    "outer": ("a", "b", "A", "B"),  # the method of ufuncs too
    # Also multivariate_normal's; the other densities have elementwise arguments, which yield by themselves.
    **dict.fromkeys(("logpdf", "pdf"), ("x", "mean", "cov")),
    "append": ("arr", "values"),
    "block_diag": ("arrs",),
    "clip": ("arr", "min", "max"),
    "diff": ("a", "prepend", "append"),
    "einsum": ("operands",),
    "logsumexp": ("a", "b"),
    "polyval": ("p", "x"),
    "toeplitz": ("c", "r"),
}
#: The functions that compute in float64, and those of their operands that have the dtype of JAX's result. A float32
#: stays one.
_WIDENING: Final = {
    "arange": ("start", "stop", "step"),
    "bincount": ("weights",),
    "corrcoef": ("x", "y"),
    "cov": ("m", "y", "aweights"),
    "float_power": ("x1", "x2"),
    "geomspace": ("start", "stop"),
    "interp": ("x", "xp", "fp", "left", "right", "period"),
    "polyder": ("p",),
    "polyint": ("p", "k"),
    "vander": ("x",),
}
#: The functions of a list of operands, or of nested lists.
_OF_LISTS: Final = frozenset(
    ["array", "asarray", "block", "column_stack", "concat", "concatenate", "dstack", "hstack", "stack", "vstack"]
)


def numbers_beside_arrays(function: Function) -> Function:
    """Returns a function that gives Python numbers among its operands the dtype of the arrays among them.

    Args:
      function: a function of lawful's; it is returned as it is if its numbers yield by themselves.

    >>> numbers_beside_arrays(lawful_numpy.append)(numpy.ones(1, "float32"), 2.0)
    array([1., 2.], dtype=float32)
    """
    name = getattr(function, "__name__", "")
    if name in _OF_LISTS:
        return _of_list(function)
    names = _WIDENING.get(name) or _OPERANDS.get(name, ())
    if not names:
        return function
    parameters = inspect.signature(function).parameters
    positions = [i for i, parameter in enumerate(parameters) if parameter in names]
    if any(parameters[name].kind is inspect.Parameter.VAR_POSITIONAL for name in names if name in parameters):
        positions = [*range(positions[0], positions[0] + 64)]
    is_widening = name in _WIDENING
    names_dtype = _finder_of_dtype(function)

    @functools.wraps(function, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        given = [i for i in positions if i < len(args)]
        named = [name for name in names if name in kwargs]
        operands = [*[args[i] for i in given], *[kwargs[name] for name in named]]
        if is_widening:
            result = function(*args, **kwargs)
            if names_dtype(args, kwargs):
                return result
            dtype = _common_dtype(operands)
            return lawful_numpy.astype(result, dtype) if dtype is not None and is_inexact(dtype) else result
        if not any(map(is_number, operands)) or (dtype := _common_dtype(operands)) is None:
            return function(*args, **kwargs)
        typed = [_typed(x, dtype) if i in given and is_number(x) else x for i, x in enumerate(args)]
        return function(*typed, **kwargs | {name: _typed(kwargs[name], dtype) for name in named})

    return call


def _finder_of_dtype(function: Function) -> Callable[[tuple[Any, ...], dict[str, Any]], bool]:
    """Returns a function that tells whether arguments of a function name the dtype of the result."""
    parameters = [*inspect.signature(function).parameters.values()]
    found = [i for i, parameter in enumerate(parameters) if parameter.name == "dtype"]
    by_position = [i for i in found if parameters[i].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]

    def names_dtype(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        return kwargs.get("dtype") is not None or any([i < len(args) and args[i] is not None for i in by_position])

    return names_dtype


def _of_list(function: Function) -> Function:
    names_dtype = _finder_of_dtype(function)
    name = next(iter(inspect.signature(function).parameters))

    @functools.wraps(function, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        values = args[0] if args else kwargs.get(name)
        if type(values) in (list, tuple) and not names_dtype(args, kwargs):
            leaves = [*_leaves(values)]
            if any(map(is_number, leaves)) and (dtype := _common_dtype(leaves)) is not None:
                typed = _typed(values, dtype)
                with suppress(TypeError, ValueError):  # the error shows the numbers as they were given
                    return function(typed, *args[1:], **kwargs) if args else function(**kwargs | {name: typed})
        return function(*args, **kwargs)

    return call


def _leaves(x: Any) -> Iterator[Any]:
    for part in x:
        if type(part) in (list, tuple):
            yield from _leaves(part)
        else:
            yield part


def is_number(x: Any) -> bool:
    """Whether an operand is a Python number, or a tracer of one.

    >>> is_number(1.0), is_number(numpy.float32(1.0))
    (True, False)
    """
    return type(x) in _NUMBERS or (isinstance(x, Tracer) and get_aval(x).weak_type)


def _common_dtype(operands: Iterable[Any]) -> numpy.dtype[Any] | None:
    """Returns the dtype of numbers and arrays together; None if there are no arrays."""
    found = [x for x in operands if is_number(x) or isinstance(x, Tracer) or is_array(x)]
    return None if all(map(is_number, found)) else lawful_numpy.result_type(*found)


def _typed(x: Any, dtype: numpy.dtype[Any]) -> Any:
    """Returns an operand with its numbers, also those in lists, as scalars of a dtype.

    An integer that the dtype cannot hold stays a number, as a bound of ``clip`` that bounds nothing.
    """
    if type(x) in (list, tuple):
        return [_typed(part, dtype) for part in x]
    if not is_number(x) or (type(x) is int and not _holds(dtype, x)):
        return x
    return lawful_numpy.astype(x, dtype) if isinstance(x, Tracer) else numpy.asarray(x, dtype)


def _holds(dtype: numpy.dtype[Any], x: int) -> bool:
    return dtype.kind not in "iu" or bool(numpy.iinfo(dtype).min <= x <= numpy.iinfo(dtype).max)
