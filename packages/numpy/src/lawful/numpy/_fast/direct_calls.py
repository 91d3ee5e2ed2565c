"""Direct calls of NumPy's functions, with one pass over the arguments.

NumPy's function of few numbers takes less time than a Python call that looks at each argument several times. So each
function gets a wrapper for its number of arrays, which tests the common case only, and leaves all others to the
function. NumPy is called without its own dispatch, which looks for arguments that overload a function: there are none.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy
from lawful.core import Tracer, current, register_dispatch_module
from lawful.numpy._eager import ARRAY_TYPES, PLAIN_TYPES, DirectCall, direct_hook
from lawful.numpy._integers import GREATEST, LEAST, is_large

register_dispatch_module(__name__)

ndarray = numpy.ndarray
_FLOAT64: Final = numpy.dtype(numpy.float64)
#: The types of arguments that are no arrays.
_STATIC: Final = frozenset([*(PLAIN_TYPES - ARRAY_TYPES), type(None), str, tuple, type])
#: The errors after which the function of this package is called, which explains them.
_ERRORS: Final = (TypeError, ValueError, OverflowError, IndexError, ZeroDivisionError)
#: Functions that call the method of the array, which is 3× faster.
_METHODS: Final = {
    getattr(numpy, name): getattr(ndarray, name)
    for name in (
        *("sum", "prod", "max", "min", "any", "all", "mean", "var", "std"),
        *("argmax", "argmin", "cumsum", "cumprod"),
    )
}


def accelerated(function: Callable[..., Any], call: DirectCall) -> Callable[..., Any]:
    """Returns a function that calls NumPy directly, or the given function: see `DirectCall`."""
    theirs, types = call.numpy_function, call.types
    if theirs in _METHODS:  # scalars have others
        of_scalars = _along_axis(function, call, inspect.unwrap(theirs), types)
        return functools.wraps(function)(_along_axis(of_scalars, call, getattr(ndarray, theirs.__name__), ARRAY_TYPES))
    if call.sequence:
        wrap = _of_sequence_along_axis if call.axis else _of_sequence
    elif call.arrays is None:
        wrap = _of_arrays
    else:
        wrap = (_of_statics, _along_axis if call.axis else _of_one, _of_two, _of_three)[call.arrays]
    return functools.wraps(function)(wrap(function, call, inspect.unwrap(theirs), types))


class _Missing:
    """Stands for an argument that is not given."""


def _of_one(function: Any, call: DirectCall, theirs: Any, types: frozenset[Any]) -> Callable[..., Any]:
    most, names, traced = call.most, call.names, call.traced

    def wrapper(x: Any = _Missing, y: Any = _Missing, /, *args: Any, **kwargs: Any) -> Any:
        if direct_hook.use is not accelerated:
            pass
        # A test of identity is 2× faster than a lookup.
        elif (
            (dtype := x.dtype) is _FLOAT64 or dtype in types
            if type(x) is ndarray
            else type(x) in types and (type(x) is not int or LEAST <= x <= GREATEST)
        ):
            if current.trace.evaluates_constants:
                try:
                    if y is _Missing:
                        if not kwargs:
                            return theirs(x)
                        if _are_static(kwargs, names):
                            return theirs(x, **kwargs)
                    elif type(y) in _STATIC and most > 1 and (type(y) is not int or LEAST <= y <= GREATEST):
                        if not args and not kwargs:
                            return theirs(x, y)
                        if len(args) < most - 1 and _are_static_types(args) and _are_static(kwargs, names):
                            return theirs(x, y, *args, **kwargs)
                except _ERRORS:
                    pass  # the function explains the error
        elif traced is not None and isinstance(x, Tracer):
            if y is _Missing and not kwargs:
                return traced(x)
            if len(args) < most - 1 and "out" not in kwargs:
                return traced(*_given(x, y), *args, **kwargs)
        return function(*_given(x, y), *args, **kwargs)

    return wrapper


def _along_axis(function: Any, call: DirectCall, theirs: Any, types: frozenset[Any]) -> Callable[..., Any]:
    # As above; and the axis, which is often a keyword argument, takes no dictionary.
    most, names, traced = call.most, call.names, call.traced

    def wrapper(x: Any = _Missing, /, axis: Any = _Missing, *args: Any, **kwargs: Any) -> Any:
        if direct_hook.use is not accelerated:
            pass
        elif (
            (dtype := x.dtype) is _FLOAT64 or dtype in types
            if type(x) is ndarray
            else type(x) in types and (type(x) is not int or LEAST <= x <= GREATEST)
        ):
            if current.trace.evaluates_constants:
                try:
                    if axis is _Missing:
                        if not kwargs:
                            return theirs(x)
                        if _are_static(kwargs, names):
                            return theirs(x, **kwargs)
                    elif type(axis) in _STATIC:  # NumPy refuses a large one
                        if not args:
                            if not kwargs:
                                return theirs(x, axis)
                            if _are_static(kwargs, names):
                                return theirs(x, axis, **kwargs)
                        elif len(args) < most - 1 and _are_static_types(args) and _are_static(kwargs, names):
                            return theirs(x, axis, *args, **kwargs)
                except _ERRORS:
                    pass
        elif traced is not None and isinstance(x, Tracer) and "out" not in kwargs and len(args) < most - 1:
            return traced(x, **kwargs) if axis is _Missing else traced(x, axis, *args, **kwargs)
        return function(*_given(x), **_named(axis), **kwargs) if not args else function(x, axis, *args, **kwargs)

    return wrapper


def _given(*args: Any) -> tuple[Any, ...]:
    return tuple([x for x in args if x is not _Missing])


def _named(axis: Any) -> dict[str, Any]:
    return {} if axis is _Missing else {"axis": axis}


def _of_two(function: Any, call: DirectCall, theirs: Any, types: frozenset[Any]) -> Callable[..., Any]:
    most, names, traced = call.most, call.names, call.traced

    def wrapper(x: Any = _Missing, y: Any = _Missing, z: Any = _Missing, /, *args: Any, **kwargs: Any) -> Any:
        if y is _Missing or direct_hook.use is not accelerated:
            pass
        elif (
            (dtype := x.dtype) is _FLOAT64 or dtype in types
            if type(x) is ndarray
            else type(x) in types and (type(x) is not int or LEAST <= x <= GREATEST)
        ) and (
            (dtype := y.dtype) is _FLOAT64 or dtype in types
            if type(y) is ndarray
            else type(y) in types and (type(y) is not int or LEAST <= y <= GREATEST)
        ):
            if current.trace.evaluates_constants:
                try:
                    if z is _Missing:
                        if not kwargs:
                            return theirs(x, y)
                        if _are_static(kwargs, names):
                            return theirs(x, y, **kwargs)
                    elif type(z) in _STATIC and most > 2 and not is_large(z):
                        if not args and not kwargs:
                            return theirs(x, y, z)
                        if len(args) < most - 2 and _are_static_types(args) and _are_static(kwargs, names):
                            return theirs(x, y, z, *args, **kwargs)
                except _ERRORS:
                    pass
        elif traced is not None and (isinstance(x, Tracer) or isinstance(y, Tracer)):
            if z is _Missing and not kwargs:
                return traced(x, y)
            if len(args) < most - 2 and "out" not in kwargs:
                return traced(*_given(x, y, z), *args, **kwargs)
        return function(*_given(x, y, z), *args, **kwargs)

    return wrapper


def _of_three(function: Any, call: DirectCall, theirs: Any, types: frozenset[Any]) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 3 and not kwargs and direct_hook.use is accelerated:
            for x in args:
                if (x.dtype if type(x) is ndarray else type(x)) not in types or (type(x) is int and is_large(x)):
                    break
            else:
                if current.trace.evaluates_constants:
                    try:
                        return theirs(*args)
                    except _ERRORS:
                        pass
        return function(*args, **kwargs)

    return wrapper


def _of_arrays(function: Any, call: DirectCall, theirs: Any, types: frozenset[Any]) -> Callable[..., Any]:
    names, results = call.names, call.results

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if args and direct_hook.use is accelerated:
            for x in args:
                if (x.dtype if type(x) is ndarray else type(x)) not in types or (type(x) is int and is_large(x)):
                    break
            else:
                if current.trace.evaluates_constants:
                    try:
                        if not kwargs:
                            result = theirs(*args)
                            if results is None or result.dtype in results:
                                return result
                        elif results is None and _are_static(kwargs, names):
                            return theirs(*args, **kwargs)
                    except _ERRORS:
                        pass
        return function(*args, **kwargs)

    return wrapper


def _of_statics(function: Any, call: DirectCall, theirs: Any, types: frozenset[Any]) -> Callable[..., Any]:
    most, names = call.most, call.names

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if (
            len(args) <= most
            and _are_static_types(args)
            and (not kwargs or _are_static(kwargs, names))
            and current.trace.evaluates_constants
            and direct_hook.use is accelerated
        ):
            try:
                return theirs(*args, **kwargs)
            except _ERRORS:
                pass
        return function(*args, **kwargs)

    return wrapper


def _of_sequence(function: Any, call: DirectCall, theirs: Any, types: frozenset[Any]) -> Callable[..., Any]:
    results, is_array = call.results, call.arrays == 1

    def wrapper(arrays: Any = _Missing, /, *args: Any, **kwargs: Any) -> Any:
        if args or kwargs or direct_hook.use is not accelerated:
            pass
        elif type(arrays) is list or type(arrays) is tuple:
            for x in arrays:  # as `_are_plain`, without a call
                cls = type(x)
                if cls is ndarray:
                    if x.dtype not in types:
                        break
                elif cls is not float and cls not in types:
                    break
            else:
                if current.trace.evaluates_constants:
                    try:
                        result = theirs(arrays)
                        if results is None or result.dtype in results:
                            return result
                    except _ERRORS:
                        pass
        elif is_array and type(arrays) is ndarray and arrays.dtype in types and current.trace.evaluates_constants:
            return theirs(arrays)
        return function(*_given(arrays), *args, **kwargs)

    return wrapper


def _of_sequence_along_axis(function: Any, call: DirectCall, theirs: Any, types: frozenset[Any]) -> Callable[..., Any]:
    names, results = call.names, call.results

    def wrapper(arrays: Any = _Missing, /, axis: Any = _Missing, *args: Any, **kwargs: Any) -> Any:
        if args:
            return function(arrays, axis, *args, **kwargs)
        if (
            direct_hook.use is accelerated
            and (type(arrays) is list or type(arrays) is tuple)
            and _are_plain(arrays, types)
            and current.trace.evaluates_constants
        ):
            try:
                if not kwargs or _are_static(kwargs, names):
                    options = kwargs if axis is _Missing else {"axis": axis, **kwargs}
                    if axis is _Missing or type(axis) in _STATIC:
                        result = theirs(arrays, **options)
                        if results is None or result.dtype in results:
                            return result
            except _ERRORS:
                pass
        return function(*_given(arrays), **_named(axis), **kwargs)

    return wrapper


def _are_plain(arrays: Sequence[Any], types: frozenset[Any]) -> bool:
    for x in arrays:
        cls = type(x)
        if cls is ndarray:
            dtype = x.dtype
            if dtype is not _FLOAT64 and dtype not in types:
                return False
        elif cls is not float and cls not in types:
            return False
    return True


def _are_static_types(args: tuple[Any, ...]) -> bool:
    for x in args:  # noqa: SIM110  # a loop is 2× faster than a generator
        if type(x) not in _STATIC or (type(x) is int and not LEAST <= x <= GREATEST):
            return False
    return True


def _are_static(kwargs: dict[str, Any], names: frozenset[str]) -> bool:
    for name, value in kwargs.items():  # a loop is 2× faster than a generator
        if type(value) not in _STATIC or name not in names or (type(value) is int and is_large(value)):
            return False
    return True
