"""The methods of NumPy's arrays that are NumPy's functions: of tracers and device arrays they are lawful's functions.

A reduction with the common arguments is one of this package. Other arguments, and other functions, are found as for
a call of ``numpy.sum(x, where=mask)``: in ``lawful.numpy``, if it is installed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from lawful.core import ArgumentTypeError, as_dtype, define_array_methods, get_aval
from lawful.ops._bits.bitcast import bitcast_convert_type
from lawful.ops._elementwise.complex_parts import complex as of_parts
from lawful.ops._elementwise.complex_parts import imag, real
from lawful.ops._elementwise.conversion import convert_element_type
from lawful.ops._numpy_protocol import numpy_reduction as reduction
from lawful.ops._numpy_protocol.dispatch import function_of
from lawful.ops._shape.reshape import reshape
from lawful.ops._shape.slicing import rev

__all__ = ["NumPyMethods"]

#: The default of each other argument is None, or 0, which may be passed on.
_DEFAULTS: Final = {"keepdims": False}


def _reduced(name: str, x: Any, out: Any, options: dict[str, Any], **arguments: Any) -> Any:
    """Returns a reduction by this package; by `lawful.numpy` with the rarer arguments."""
    if out is None and not options:
        given = {key: value for key, value in arguments.items() if value is not _DEFAULTS.get(key)}
        return getattr(reduction, name)(x, **given)
    return function_of(getattr(np, name))(x, out=out, **arguments, **options)


def _method(name: str, doc: str) -> Callable[..., Any]:
    function = getattr(np, name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return function_of(function)(self, *args, **kwargs)

    method.__name__, method.__doc__ = name, doc
    return method


class NumPyMethods:
    """Methods that call the function of the same name."""

    __slots__ = ()

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, **options: Any) -> Any:
        """Returns the sum over axes, all by default."""
        return _reduced("sum", self, out, options, axis=axis, dtype=dtype, keepdims=keepdims)

    def prod(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, **options: Any) -> Any:
        """Returns the product over axes, all by default."""
        return _reduced("prod", self, out, options, axis=axis, dtype=dtype, keepdims=keepdims)

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, **options: Any) -> Any:
        """Returns the mean over axes, all by default."""
        return _reduced("mean", self, out, options, axis=axis, dtype=dtype, keepdims=keepdims)

    def var(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: bool = False,
        **options: Any,
    ) -> Any:
        """Returns the variance over axes, all by default."""
        options = options if dtype is None else {"dtype": dtype, **options}
        return _reduced("var", self, out, options, axis=axis, ddof=ddof, keepdims=keepdims)

    def std(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: bool = False,
        **options: Any,
    ) -> Any:
        """Returns the standard deviation over axes, all by default."""
        options = options if dtype is None else {"dtype": dtype, **options}
        return _reduced("std", self, out, options, axis=axis, ddof=ddof, keepdims=keepdims)

    def max(self, axis: Any = None, out: Any = None, keepdims: bool = False, **options: Any) -> Any:
        """Returns the largest element over axes, all by default."""
        return _reduced("max", self, out, options, axis=axis, keepdims=keepdims)

    def min(self, axis: Any = None, out: Any = None, keepdims: bool = False, **options: Any) -> Any:
        """Returns the smallest element over axes, all by default."""
        return _reduced("min", self, out, options, axis=axis, keepdims=keepdims)

    def all(self, axis: Any = None, out: Any = None, keepdims: bool = False, **options: Any) -> Any:
        """Returns whether all elements are true over axes, all by default."""
        return _reduced("all", self, out, options, axis=axis, keepdims=keepdims)

    def any(self, axis: Any = None, out: Any = None, keepdims: bool = False, **options: Any) -> Any:
        """Returns whether any element is true over axes, all by default."""
        return _reduced("any", self, out, options, axis=axis, keepdims=keepdims)

    def argmax(self, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
        """Returns the position of the largest element along an axis, of the flattened array by default."""
        return _reduced("argmax", self, out, {}, axis=axis, keepdims=keepdims)

    def argmin(self, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
        """Returns the position of the smallest element along an axis, of the flattened array by default."""
        return _reduced("argmin", self, out, {}, axis=axis, keepdims=keepdims)

    argpartition = _method("argpartition", "Returns the positions of a partition along an axis, the last by default.")
    argsort = _method("argsort", "Returns the positions of the elements in order along an axis, the last by default.")
    choose = _method("choose", "Returns elements of several arrays, chosen by these positions.")
    cumprod = _method("cumprod", "Returns the products of the elements up to each, of the flattened array by default.")
    cumsum = _method("cumsum", "Returns the sums of the elements up to each, of the flattened array by default.")
    diagonal = _method("diagonal", "Returns a diagonal of two axes, the first two by default.")
    nonzero = _method("nonzero", "Returns the positions of the elements that are not zero, which have to be known.")
    ptp = _method("ptp", "Returns the largest element minus the smallest over axes, all by default.")
    repeat = _method("repeat", "Returns the elements repeated along an axis, of the flattened array by default.")
    searchsorted = _method("searchsorted", "Returns the positions at which elements keep the array sorted.")
    trace = _method("trace", "Returns the sum of a diagonal of two axes, the first two by default.")

    def compress(self, condition: Any, axis: int | None = None, out: None = None, **options: Any) -> Any:
        """Returns the elements along an axis where a known condition is true, of the flattened array by default."""
        return function_of(np.compress)(condition, self, axis, out, **options)

    def view(self, dtype: Any = None) -> Any:
        """Returns the same bits as numbers of another dtype; the last dimension changes with the size of these.

        Raises:
          ArgumentTypeError: the array has no dimension that could change.
        """
        aval = get_aval(self)
        new = aval.dtype if dtype is None else as_dtype(dtype)
        if new == aval.dtype:
            return self
        if new.kind == "c" or aval.dtype.kind == "c":
            return _view_of_complex(self, new)
        if aval.dtype.kind == "b":
            return convert_element_type(self, np.uint8).view(new)
        if new.kind == "b":
            return convert_element_type(NumPyMethods.view(self, np.uint8), new)
        old_size, new_size = aval.dtype.itemsize, new.itemsize
        if old_size == new_size:
            return bitcast_convert_type(self, new)
        if not aval.ndim or aval.shape[-1] * old_size % new_size:
            raise ArgumentTypeError(
                f"view: expected a last dimension of whole elements of {new}, got {aval}; reshape it first"
            )
        leading, length = aval.shape[:-1], aval.shape[-1] * old_size // new_size
        if new_size < old_size:
            return reshape(bitcast_convert_type(self, new), (*leading, length))
        return bitcast_convert_type(reshape(self, (*leading, length, new_size // old_size)), new)

    def byteswap(self) -> Any:
        """Returns the numbers whose bytes have the opposite order."""
        dtype = get_aval(self).dtype
        if dtype.kind == "c":
            return of_parts(real(self).byteswap(), imag(self).byteswap())
        if dtype.itemsize == 1:
            return self
        octets = bitcast_convert_type(self, np.uint8)
        return bitcast_convert_type(rev(octets, (get_aval(octets).ndim - 1,)), dtype)


def _view_of_complex(x: Any, new: np.dtype[Any]) -> Any:
    """Returns a view from or to a complex dtype, by way of its real and imaginary parts side by side."""
    aval = get_aval(x)
    if aval.dtype.kind == "c":
        if not aval.ndim:
            raise ArgumentTypeError(f"view: expected a dimension that may change, got {aval}; reshape it first")
        parts = function_of(np.stack)([real(x), imag(x)], -1)
        return reshape(parts, (*aval.shape[:-1], 2 * aval.shape[-1])).view(new)
    parts = NumPyMethods.view(x, np.dtype(f"f{new.itemsize // 2}"))
    shape = get_aval(parts).shape
    if not shape or shape[-1] % 2:
        raise ArgumentTypeError(f"view: expected a last dimension of whole elements of {new}, got {aval}; reshape it")
    parts = reshape(parts, (*shape[:-1], shape[-1] // 2, 2))
    return of_parts(parts[..., 0], parts[..., 1])


class Writing:
    """A method of NumPy's arrays that writes to them. Tracers do not have it; the error says what to write instead."""

    def __init__(self, instead: str) -> None:
        self.instead = instead

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, x: Any, owner: type) -> Any:
        raise AttributeError(
            f"{owner.__name__}: expected a method that returns its result, got {self.name}, which writes to the array; "
            f"write {self.instead}",
            name=self.name,
            obj=x,
        )


class _WritingMethods:
    fill = Writing("x = numpy.full_like(x, value)")
    itemset = Writing("x = x.at[index].set(value)")
    partition = Writing("x = numpy.partition(x, kth)")
    put = Writing("x = x.at[indices].set(values)")
    resize = Writing("x = numpy.resize(x, shape)")
    setfield = Writing("x = x.at[...].set(value)")
    sort = Writing("x = numpy.sort(x)")


define_array_methods(NumPyMethods)
define_array_methods(_WritingMethods)
