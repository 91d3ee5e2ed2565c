"""The operators and methods that tracers and device arrays share with NumPy's arrays.

An operator between weak values (tracers that stand for Python scalars, and Python scalars) gives a weak one, as
Python does; a method gives a strong one, as a function does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful.core import (
    ArgumentTypeError,
    InvalidArgumentError,
    NonArrayError,
    Tracer,
    array_types,
    cached_function,
    define_array_methods,
    get_aval,
    is_array,
    register_dispatch_module,
    shorten,
)
from lawful.ops._composite import Composite
from lawful.ops._elementwise import comparison
from lawful.ops._elementwise.arithmetic import arithmetic
from lawful.ops._elementwise.arithmetic.division import floor_divide, remainder, true_divide
from lawful.ops._elementwise.arithmetic.power import power_by_integer
from lawful.ops._elementwise.complex_parts import conj, imag, real
from lawful.ops._elementwise.compositions import round_integer
from lawful.ops._elementwise.conversion import convert_element_type, convert_element_type_p
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._indexing.at import At
from lawful.ops._indexing.getitem import getitem
from lawful.ops._indexing.take import take
from lawful.ops._numpy_protocol import numpy_reduction as reduction
from lawful.ops._numpy_protocol.array_namespace import array_namespace
from lawful.ops._numpy_protocol.dispatch import array_function, array_ufunc, function_of
from lawful.ops._numpy_protocol.numpy_methods import NumPyMethods
from lawful.ops._products.functions import matmul
from lawful.ops._shape.reshape import reshape, transpose
from lawful.ops._shape.squeeze import squeeze
from lawful.ops._support.array_like import from_array_like
from lawful.ops._support.large_integers import clip_operands
from lawful.ops._support.promotion import convert
from lawful.ops._support.structural import is_axis_of_scalar, strong

register_dispatch_module(__name__)

__all__ = ["ArrayMethods"]

Method = Callable[..., Any]

_TEXTS = (str, bytes)


def _as_array(other: Any) -> Any:
    """Returns an operand as an array; NotImplemented if its type may have a reflected operator."""
    if is_array(other):
        return other
    if isinstance(other, list | tuple):  # they have no reflected operators
        found = from_array_like(other)
        if found is other:
            raise NonArrayError(
                f"operand: expected an array or number, got {shorten(other)} of type {type(other).__name__}; "
                "convert it with lawful.numpy.asarray"
            )
        return found
    is_of_pandas = hasattr(other, "__pandas_priority__")  # it has operators too, and leaves them to the tracer
    if getattr(other, "__array_ufunc__", None) is not None and not is_of_pandas:
        return NotImplemented
    found = from_array_like(other)
    if found is other and is_of_pandas:
        raise NonArrayError(
            f"operand: expected numbers, got a {type(other).__name__} of other values; convert it with to_numpy(float)"
        )
    return NotImplemented if found is other else found


def _as_operand(other: Any) -> Any:
    """Returns an operand as `_as_array` does. Texts and None have no reflected operators, but subclasses may."""
    if type(other) in _TEXTS or other is None:
        advice = "return a value where it was made" if other is None else "convert it with float or int"
        raise NonArrayError(f"operand: expected an array or number, got {shorten(other)}; {advice}")
    return _as_array(other)


def _as_factor(other: Any) -> Any:
    """Returns an operand of * as `_as_operand` does; Python repeats a text by an integer."""
    return NotImplemented if type(other) in _TEXTS else _as_operand(other)


def _binary(function: Method, as_operand: Callable[[Any], Any] = _as_operand) -> tuple[Method, Method]:
    """Returns an operator's method and its reflected method."""

    def method(self: Any, other: Any) -> Any:
        if type(other) not in array_types:
            other = as_operand(other)
        return other if other is NotImplemented else function(self, other)

    def reflected(self: Any, other: Any) -> Any:
        if type(other) not in array_types:
            other = as_operand(other)
        return other if other is NotImplemented else function(other, self)

    return method, reflected


def _operator(op: Elementwise, as_operand: Callable[[Any], Any] = _as_operand) -> tuple[Method, Method]:
    """Returns what `_binary` does for ``op.operator``, with a call less: an eager gradient has thousands of these."""
    application = op.as_operator

    def method(self: Any, other: Any) -> Any:
        if type(other) not in array_types:
            other = as_operand(other)
        return other if other is NotImplemented else application.apply((self, other))

    def reflected(self: Any, other: Any) -> Any:
        if type(other) not in array_types:
            other = as_operand(other)
        return other if other is NotImplemented else application.apply((other, self))

    return method, reflected


def _unary(function: Method) -> Method:
    def method(self: Any) -> Any:
        return function(self)

    return method


def _power(x: Any, y: Any) -> Any:
    if type(y) is not int:
        return arithmetic.pow.operator(x, y)
    aval = get_aval(x)
    if aval.dtype.kind == "b" and not aval.weak_type:
        is_square = y == 2 and aval.ndim  # NumPy's `square` of an array has int8; powers have int64
        x = convert_element_type(x, np.int8 if is_square else np.int64)
    return _power_by(y)(x)


@cached_function("powers by integers", 256)
def _power_by(y: int) -> Composite:
    def power(x: Any) -> Any:
        return power_by_integer(x, y, operator=True)

    return Composite(power)


def _axes_of(x: Any, axes: tuple[Any, ...]) -> tuple[int, ...]:
    """Returns the permutation of ``x.transpose(*axes)``."""
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], Sequence)):
        axes = tuple(axes[0] or ())
    ndim = get_aval(x).ndim
    return tuple(axis % ndim for axis in axes) if axes else tuple(reversed(range(ndim)))


def _as_number(x: Any) -> Any:
    """Returns the array itself; a Python boolean as the integer that Python's own methods make of it."""
    aval = get_aval(x)
    return convert(x, np.dtype(np.int64), True) if aval.weak_type and aval.dtype.kind == "b" else x


def _part(function: Method, x: Any) -> Any:
    """Returns a part of a number, weak if the number is: Python's numbers have these methods too."""
    part = function(x)
    return convert(part, get_aval(part).dtype, get_aval(x).weak_type)


class ArrayMethods(NumPyMethods):
    """The operators, methods and properties of NumPy's arrays, by ``lawful.ops``.

    >>> from lawful.core import register_array_type
    >>> class Celsius(ArrayMethods):
    ...     degrees = np.array([20.0, 25.0])
    >>> register_array_type(Celsius, aval=lambda x: get_aval(x.degrees), to_numpy=lambda x: x.degrees)
    >>> Celsius() * 1.8 + 32.0, Celsius().mean()
    (array([68., 77.]), np.float64(22.5))
    """

    __slots__ = ()

    __add__, __radd__ = _operator(arithmetic.add)
    __sub__, __rsub__ = _operator(arithmetic.sub)
    __mul__, __rmul__ = _operator(arithmetic.mul, _as_factor)
    __truediv__, __rtruediv__ = _operator(true_divide)
    __floordiv__, __rfloordiv__ = _binary(lambda x, y: floor_divide(x, y, operator=True))
    __mod__, __rmod__ = _binary(lambda x, y: remainder(x, y, operator=True))
    __divmod__, __rdivmod__ = _binary(lambda x, y: (floor_divide(x, y, operator=True), remainder(x, y, operator=True)))
    __pow__, __rpow__ = _binary(_power)
    __matmul__, __rmatmul__ = _binary(matmul)
    __and__, __rand__ = _operator(comparison.bitwise_and)
    __or__, __ror__ = _operator(comparison.bitwise_or)
    __xor__, __rxor__ = _operator(comparison.bitwise_xor)
    __eq__, _ = _operator(comparison.eq, _as_array)
    __ne__, _ = _operator(comparison.ne, _as_array)
    __lt__, _ = _operator(comparison.lt)
    __le__, _ = _operator(comparison.le)
    __gt__, _ = _operator(comparison.gt)
    __ge__, _ = _operator(comparison.ge)
    __neg__ = _unary(arithmetic.neg.operator)
    __abs__ = _unary(arithmetic.abs.operator)
    __invert__ = _unary(comparison.bitwise_not.operator)

    __array_ufunc__ = array_ufunc
    __array_function__ = array_function
    __array_namespace__ = array_namespace

    def __pos__(self) -> Any:
        if get_aval(self).dtype.kind == "b" and not get_aval(self).weak_type:
            raise InvalidArgumentError(
                f"positive: expected numbers, got {get_aval(self)}; convert booleans with astype(int)"
            )
        return _as_number(self)

    __lshift__, __rlshift__ = _operator(comparison.shift_left)
    __rshift__, __rrshift__ = _binary(lambda x, y: comparison.shift_right(x, y, operator=True))

    def __round__(self, ndigits: int | None = None) -> Any:
        self, aval = _as_number(self), get_aval(self)
        if aval.dtype.kind == "b" and not aval.weak_type:
            raise ArgumentTypeError(f"round: expected a number, got {aval}; convert booleans with astype(int)")
        if aval.dtype.kind == "c" and not aval.shape:
            raise ArgumentTypeError(
                f"round: expected a real number, got {aval}, of which there is no nearest integer; "
                "write x.round() to round both parts"
            )
        if ndigits is not None or aval.shape:
            rounded = self.round(ndigits or 0)
            return convert(rounded, get_aval(rounded).dtype, aval.weak_type)
        if not isinstance(self, Tracer) or self.concrete() is not None:
            return int(self.round())  # of any size
        # A weak integer, as Python's round returns an int; a number outside of int64 is converted as by astype.
        return convert_element_type_p.bind(self.round(), new_dtype=np.dtype(np.int64), weak_type=True)

    def __getitem__(self, index: Any) -> Any:
        return getitem(self, index)

    @property
    def at(self) -> At:
        """Functional updates: ``x.at[index].set(y)`` is the array with these elements replaced."""
        return At(self)

    def __iter__(self) -> Any:
        return iter([self[i] for i in range(_length(self))])

    def __contains__(self, value: Any) -> bool:
        return bool(reduction.any(comparison.eq(self, value)))

    @property
    def T(self) -> Any:
        """The transpose: all dimensions reversed."""
        return transpose(self, tuple(reversed(range(get_aval(self).ndim))))

    @property
    def mT(self) -> Any:
        """The matrix transpose: the last two dimensions swapped."""
        ndim = get_aval(self).ndim
        if ndim < 2:
            raise ArgumentTypeError(f"mT: expected an array of at least 2 dimensions, got {get_aval(self)}")
        return self.swapaxes(-1, -2)

    @property
    def real(self) -> Any:
        """The real part; the array itself where it is real."""
        return _part(real, self) if get_aval(self).dtype.kind == "c" else _as_number(self)

    @property
    def imag(self) -> Any:
        """The imaginary part; zeros where the array is real."""
        return _part(imag, _as_number(self))

    def astype(
        self,
        dtype: Any,
        order: str = "K",
        casting: str = "unsafe",
        subok: bool = True,
        copy: bool = True,
        device: None = None,
    ) -> Any:
        """Returns the array converted to a dtype; raises ArgumentTypeError if ``casting`` does not allow it."""
        if casting != "unsafe" and not np.can_cast(get_aval(self).dtype, dtype, casting):  # type: ignore[arg-type]
            raise ArgumentTypeError(
                f"astype: expected dtypes that casting={casting!r} allows, got {get_aval(self).dtype} to {dtype}; "
                "leave out casting"
            )
        return convert_element_type(self, dtype)

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> Any:
        """Returns the elements in another shape, of which one size may be -1."""
        new_sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], Sequence) else shape
        return reshape(self, new_sizes) if order == "C" else function_of(np.reshape)(self, new_sizes, order=order)

    def ravel(self, order: str = "C") -> Any:
        """Returns the elements in one dimension."""
        if order != "C":
            return function_of(np.ravel)(self, order=order)
        return reshape(self, (-1,) if get_aval(self).size else (0,))

    flatten = ravel

    def transpose(self, *axes: Any) -> Any:
        """Returns the array with its dimensions permuted; reversed without ``axes``."""
        return transpose(self, _axes_of(self, axes))

    def swapaxes(self, axis1: int, axis2: int) -> Any:
        """Returns the array with two dimensions swapped."""
        order = list(range(get_aval(self).ndim))
        order[axis1], order[axis2] = order[axis2], order[axis1]
        return transpose(self, tuple(order))

    def squeeze(self, axis: Any = None) -> Any:
        """Returns the array without dimensions of size 1, all of them or those given."""
        shape = get_aval(self).shape
        if axis is None or is_axis_of_scalar(axis, len(shape)):
            axis = tuple(i for i, size in enumerate(shape) if size == 1)
        return squeeze(self, (axis,) if isinstance(axis, int) else tuple(axis))

    def take(self, indices: Any, axis: int | None = None, out: None = None, mode: str | None = None) -> Any:
        """Returns the elements at positions along an axis, of the flattened array by default."""
        return take(self, indices, axis, out, mode)

    def conj(self) -> Any:
        """Returns the complex conjugate; the array itself where it is real."""
        return _part(conj, self) if get_aval(self).dtype.kind == "c" else _as_number(self)

    conjugate = conj

    def copy(self) -> Any:
        """Returns the array: it is immutable."""
        return self

    def dot(self, other: Any) -> Any:
        """Returns the matrix product; the product where one is a scalar."""
        if get_aval(self).ndim and get_aval(other).ndim:
            return matmul(self, other)
        return arithmetic.mul(strong(self), strong(other))  # NumPy converts a Python number before promotion

    def clip(self, min: Any = None, max: Any = None, out: None = None) -> Any:
        """Returns the elements limited to an interval."""
        result: Any
        result, min, max = clip_operands(self, min, max)
        if min is not None:
            result = arithmetic.max(result, min)
        return result if max is None else arithmetic.min(result, max)

    def round(self, decimals: int = 0, out: None = None) -> Any:
        """Returns the elements rounded to a number of decimals, halves to the even neighbour."""
        dtype = get_aval(self).dtype
        if dtype.kind == "b" and decimals:
            raise InvalidArgumentError(
                f"round: expected numbers to round to {decimals} decimals, got {get_aval(self)}; convert booleans with "
                "astype(int)"
            )
        if dtype.kind in "iu":
            return self if decimals >= 0 else round_integer(self, -decimals)
        if not decimals:
            return arithmetic.round_nearest_even(self)
        scale, (before, after) = 10.0 ** abs(decimals), (arithmetic.mul, true_divide)
        if decimals < 0:  # a quotient by 100 is exact where a product with 0.01 is not
            before, after = after, before
        return convert_element_type(after(arithmetic.round_nearest_even(before(self, scale)), scale), dtype)


def _length(x: Any) -> int:
    shape = get_aval(x).shape
    if not shape:
        raise ArgumentTypeError(f"iteration: expected an array with at least one dimension, got {get_aval(x)}")
    return shape[0]


define_array_methods(ArrayMethods)
