"""Promotion and broadcasting: from the arguments of functions to the operands of strict primitives.

Promotion is NumPy 2's, by ``ufunc.resolve_dtypes`` of the NumPy function itself, so that a function and its NumPy
namesake agree on every mixture of dtypes and Python scalars.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import ml_dtypes
import numpy as np

from lawful import ops
from lawful.core import (
    ArgumentTypeError,
    Hook,
    IntegerOverflowError,
    InvalidArgumentError,
    Primitive,
    ShapedArray,
    ShapeMismatchError,
    Tracer,
    cached_function,
    get_aval,
    is_float,
    is_inexact,
    kind,
    promote_dtypes,
    python_scalar_dtype,
    python_scalar_types,
    record,
    require_arithmetic,
    shorten,
    storage_dtypes,
    to_numpy,
)
from lawful.ops._support.large_integers import BEYOND_FLOATS, converted_integer, require_fitting, without_narrowing

__all__ = ["promote"]

# Operators that treat Python booleans as integers: True + True is 2.
_ARITHMETIC_OF_BOOLS = frozenset(
    {
        *(np.add, np.subtract, np.multiply, np.floor_divide, np.remainder, np.power),
        *(np.negative, np.positive, np.absolute, np.invert, np.left_shift, np.right_shift),
    }
)
COMPARISONS: Final = frozenset({np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal})
_FLOAT64 = np.dtype(np.float64)
_WIDENINGS = (np.dtype(np.int64), _FLOAT64, np.dtype(np.complex128))
_RANK = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}
_PYTHON_TYPE = {"b": np.dtype(bool), "i": int, "f": float, "c": complex}


@record
class OfKinds:
    """The promotion of a function that is defined for some dtype kinds, without a ufunc.

    Booleans and integers become float64, or complex128, and real numbers complex, where the function takes only these.

    Attributes:
      kinds: the dtype kinds, letters of ``b i u f c``.
    """

    kinds: str

    def promoted(self, name: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """Returns the dtype to compute in, for operands of a common one.

        Raises:
          ArgumentTypeError: the function has no meaning for such operands.
        """
        if kind(dtype) in self.kinds:
            return dtype
        for wider in _WIDENINGS:
            if wider.kind in self.kinds and _RANK[wider.kind] > _RANK[kind(dtype)]:
                return promote_dtypes((dtype, False), (wider, kind(dtype) == "f"))[0]
        raise InvalidArgumentError(
            f"{name}: expected operands of a dtype that it is defined for, got {dtype}; convert with astype"
        )


#: The promotion of a function: a ufunc's, that of some dtype kinds, or the plain one.
PromoteAs = np.ufunc | OfKinds | None


@cached_function("dtypes of operands", 4096)
def operand_dtypes(
    name: str, function: PromoteAs, operator: bool, *operands: tuple[np.dtype[Any], bool]
) -> tuple[np.dtype[Any], bool]:
    """Returns the dtype that a NumPy function converts its operands to, and whether all of them are weak.

    Args:
      name: the op, for error messages.
      function: the NumPy function or the dtype kinds; None for plain promotion.
      operator: whether a Python operator was used.
      operands: the ``(dtype, weak_type)`` of each operand.

    Raises:
      ArgumentTypeError: the function has no meaning for such operands.
    """
    if function is not None:
        require_arithmetic(name, *[dtype for dtype, _ in operands])
    common, weak = promote_dtypes(*operands)
    if weak and operator and common.kind == "b" and function in _ARITHMETIC_OF_BOOLS:
        return np.dtype(np.int64), True
    if function is None:
        return common, weak
    if isinstance(function, OfKinds):
        return function.promoted(name, common), weak
    # If all are Python scalars NumPy compares integers as objects; here they have a dtype.
    types = tuple(_PYTHON_TYPE[dtype.kind] if is_weak and not weak else dtype for dtype, is_weak in operands)
    low_precision = any(_is_low_precision(dtype) for dtype in types)
    if low_precision:  # NumPy does not promote these; resolve_dtypes only tells whether the function is defined
        types = (np.dtype(np.float16) if _is_low_precision(common) else common,) * len(operands)
    try:
        resolved = function.resolve_dtypes((*types, *(None,) * function.nout))  # type: ignore[arg-type]
    except TypeError as error:
        names = " and ".join(("Python " if is_weak else "") + dtype.name for dtype, is_weak in operands)
        raise InvalidArgumentError(
            f"{name}: expected operands of a dtype that it is defined for, got {names}; convert with astype"
        ) from error
    if low_precision:
        return common, weak
    loop = set(resolved[: function.nin])
    # NumPy compares int64 with uint64 by a loop of its own; a primitive has operands of one dtype.
    return (loop.pop() if len(loop) == 1 else common), weak


def _is_low_precision(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and is_float(dtype) and not np.issubdtype(dtype, np.floating)


def convert(x: Any, dtype: np.dtype[Any], weak_type: bool = False) -> Any:
    """Returns ``x`` with another dtype or weakness, itself where it has these already.

    A constant is converted at once, also while a program is being recorded.
    """
    if dtype is _FLOAT64 and not weak_type and (type(x) is float or (type(x) is int and abs(x) < 2**53)):
        return np.float64(x)  # the common case
    if type(x) is int:
        x = converted_integer(x, dtype)
    aval = get_aval(x)
    if aval.dtype == dtype and aval.weak_type == weak_type:
        return x
    if isinstance(x, Tracer):
        return ops.convert_element_type_p.bind(x, new_dtype=dtype, weak_type=weak_type)
    value = to_numpy(x)
    if type(value) in python_scalar_types and dtype == python_scalar_dtype(type(value)) and not weak_type:
        return dtype.type(value)
    value = cast(value, dtype)
    return value.item() if weak_type else value


def cast(x: Any, dtype: np.dtype[Any]) -> Any:
    """Returns the NumPy value ``x`` as another dtype; of a complex one that becomes real, the real part.

    A float outside of the range of an integer dtype becomes the nearest integer in it, and NaN 0, as in XLA.

    Raises:
      IntegerOverflowError: a Python integer does not fit, as in NumPy.
    """
    if type(x) is int:
        require_fitting(x, dtype)
    if type(x) is float and dtype is _FLOAT64:
        return np.float64(x)
    array = np.asarray(x)
    if array.dtype.kind in "biu" and dtype.char in "fdFD":  # always in range
        return array.astype(dtype)[()]
    if array.dtype in storage_dtypes:  # ml_dtypes converts them to some dtypes only
        array = array.astype(np.int8)
    if array.dtype.kind == "c" and dtype.kind not in "cb":
        array = array.real
    with np.errstate(invalid="ignore", over="ignore"):  # no warnings out of range, as in XLA
        converted = array.astype(dtype)
        if (dtype.kind in "iu" or dtype in storage_dtypes) and is_inexact(array.dtype):
            converted = _saturated(array, converted)
    return converted[()]


def _saturated(x: Any, converted: Any) -> Any:
    """Returns floats converted to integers and clamped to their range; in NumPy that depends on the processor."""
    bounds: Any = ml_dtypes.iinfo(converted.dtype)
    floats = x if x.dtype.kind == "f" else x.astype(np.float32)  # ml_dtypes compares more slowly
    # The first floats out of range. Both are exact in float64, and infinite where a smaller dtype cannot hold them.
    above, below = floats.dtype.type(float(bounds.max) + 1), floats.dtype.type(float(bounds.min) - 1)
    out_of_range = ~((floats < above) & (floats > below))
    if out_of_range.any():
        lowest, zero, highest = map(converted.dtype.type, (bounds.min, 0, bounds.max))
        nearest = np.where(floats > 0, highest, np.where(floats < 0, lowest, zero))
        converted = np.where(out_of_range, nearest, converted)
    return converted


def broadcast_shapes(name: str, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the common shape by NumPy's rules; raises ShapeMismatchError if there is none."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError as error:
        raise ShapeMismatchError(
            f"{name}: expected shapes that broadcast together, got {' and '.join(map(str, shapes))}; "
            "reshape or transpose one so that the dimensions, from the last, are equal or 1"
        ) from error


def broadcast_to(x: Any, shape: tuple[int, ...]) -> Any:
    """Returns ``x`` broadcast by NumPy's rules to a shape that it is known to broadcast to."""
    have = get_aval(x).shape
    if have == shape:
        return x
    kept = _kept_axes(have, shape)
    if len(kept) < len(have):
        x = ops.reshape(x, tuple(have[axis] for axis in kept))
    return ops.broadcast_in_dim(x, shape, _last_axes(kept, have, shape))


def broadcast_arrays_to(args: Sequence[Any], shape: tuple[int, ...]) -> list[Any]:
    """Returns operands broadcast to a shape, but for scalars."""
    return [broadcast_to(x, shape) if get_aval(x).shape else x for x in args]


def broadcast_steps(have: tuple[int, ...], shape: tuple[int, ...]) -> list[tuple[Primitive, dict[str, Any]]]:
    """Returns the primitives, with their parameters, that ``broadcast_to`` applies."""
    if have == shape:
        return []
    kept = _kept_axes(have, shape)
    steps: list[tuple[Primitive, dict[str, Any]]] = []
    if len(kept) < len(have):
        steps.append((ops.reshape_p, {"new_sizes": tuple([have[axis] for axis in kept])}))
    return [*steps, (ops.broadcast_in_dim_p, {"shape": shape, "broadcast_dimensions": _last_axes(kept, have, shape)})]


def _kept_axes(have: tuple[int, ...], shape: tuple[int, ...]) -> list[int]:
    """Returns the dimensions that are not repeated when a shape is broadcast to another one."""
    offset = len(shape) - len(have)
    return [axis for axis, size in enumerate(have) if size == shape[offset + axis]]


def _last_axes(axes: Sequence[int], have: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """Returns dimensions of a shape as dimensions of a longer one, aligned at the last."""
    return tuple([len(shape) - len(have) + axis for axis in axes])


#: An argument number, with the operand's new dtype and weakness.
Conversion = tuple[int, np.dtype[Any], bool]


class Promotion:
    """The conversions and the broadcasting that operands of some types need. It is hashed by identity.

    Attributes:
      conversions: the conversions of operands.
      shape: the shape that operands are broadcast to; None if they have it.
      array_shape: the shape that arrays beside scalars are broadcast to; None if they have it.
    """

    __slots__ = ("array_shape", "conversions", "shape")

    def __init__(self, conversions: tuple[Conversion, ...], shapes: Sequence[tuple[int, ...]], name: str) -> None:
        arrays = {shape for shape in shapes if shape}
        common = broadcast_shapes(name, *shapes) if len(arrays) > 1 else next(iter(arrays), ())
        self.conversions = conversions
        self.shape = None if all([shape == common for shape in shapes]) else common
        self.array_shape = common if len(arrays) > 1 else None


def promote(
    name: str, function: PromoteAs, args: Sequence[Any], *, operator: bool = False, keep_scalars: bool = False
) -> Sequence[Any]:
    """Returns operands of equal shape and dtype, which a strict primitive takes.

    Args:
      name: the function, for error messages.
      function: the NumPy function or the dtype kinds whose promotion is used; None for the plain one.
      args: arrays, numbers or tracers.
      operator: whether a Python operator was used, which gives a weak result of weak operands; a function
        gives a strong one.
      keep_scalars: whether scalars beside arrays stay scalars, as elementwise primitives take them.

    >>> promote("add", np.add, [np.arange(3), 2.5])
    [array([0., 1., 2.]), array([2.5, 2.5, 2.5])]
    """
    try:
        return _promoted(name, function, args, operator, keep_scalars)
    except IntegerOverflowError:
        fitting = with_fitting_integers(args, name, function, operator)
        return _promoted(name, function, fitting, operator, keep_scalars)


def _promoted(name: str, function: PromoteAs, args: Sequence[Any], operator: bool, keep_scalars: bool) -> Sequence[Any]:
    promotion = promotion_of_hook.use(name, function, args, operator)
    if promotion.conversions:
        args = [*args]
        for i, dtype, weak in promotion.conversions:
            args[i] = convert(args[i], dtype, weak)
    if keep_scalars:
        return args if promotion.array_shape is None else broadcast_arrays_to(args, promotion.array_shape)
    shape = promotion.shape
    return args if shape is None else [broadcast_to(x, shape) for x in args]


def with_fitting_integers(args: Sequence[Any], name: str, function: PromoteAs, operator: bool) -> list[Any]:
    """Returns operands with Python integers beyond int64 as uint64 or float, by the dtype of the other operands.

    A function that converts integers to floats converts large ones too.

    Args:
      args: the operands.
      name: as for `promote`, as the rest.
      function: the promotion.
      operator: whether it is an operator.

    Raises:
      IntegerOverflowError: the other operands are not of these dtypes, or there is no such integer.
    """
    large = [type(x) is int and not -(2**63) <= x < 2**63 for x in args]
    avals = [get_aval(x) for x, is_large in zip(args, large, strict=True) if not is_large]
    dtype = promote_dtypes(*[(aval.dtype, aval.weak_type) for aval in avals])[0] if avals else None
    rest = iter(avals)
    types = [_WEAK_INTEGER if is_large else ((aval := next(rest)).dtype, aval.weak_type) for is_large in large]
    loop = operand_dtypes(name, function, operator, *types)[0] if dtype is not None and any(large) else None

    def fitting(x: Any) -> Any:
        if dtype == np.uint64 and 0 <= x < 2**64:
            return np.uint64(x)
        if dtype is not None and kind(dtype) in "fc" and abs(x) < BEYOND_FLOATS:
            return float(x)
        if loop is not None and kind(loop) in "fc" and abs(x) < BEYOND_FLOATS:
            with np.errstate(over="ignore"):  # infinity, as in NumPy
                return np.asarray(float(x)).astype(loop)[()]
        if dtype is None:
            get_aval(x)  # raises the error of an integer by itself
        expected = f"integer: expected a value that fits {dtype}"
        raise IntegerOverflowError(f"{expected}, got {shorten(x)}; convert the array first")

    if not any(large):
        large = [type(x) is int for x in args]
    return [fitting(x) if is_large else x for x, is_large in zip(args, large, strict=True)]


_WEAK_INTEGER: Final = (np.dtype(np.int64), True)


def promotion_of(name: str, function: PromoteAs, args: Sequence[Any], operator: bool) -> Promotion:
    """Returns the promotion of arguments."""
    avals = [get_aval(x) for x in args]
    types = [(aval.dtype, aval.weak_type) for aval in avals]
    if function in COMPARISONS:
        types = without_narrowing(args, types)
    dtype, weak = operand_dtypes(name, function, operator, *types)
    keep_weak = weak and operator
    conversions = [
        (i, dtype, keep_weak)
        for i, (x, aval) in enumerate(zip(args, avals, strict=True))
        if aval.dtype != dtype or (aval.weak_type and type(x) in python_scalar_types and not keep_weak)
    ]
    if weak and not operator and not conversions:
        conversions = [(0, dtype, False)]
    return Promotion(tuple(conversions), [aval.shape for aval in avals], name)


promotion_of_hook: Final[Hook[Callable[..., Promotion]]] = Hook("types of operands", promotion_of)


def require_equal(name: str, avals: Sequence[ShapedArray], *, scalars: bool = False) -> ShapedArray:
    """Returns the common shape and dtype of a strict primitive's operands; raises ArgumentTypeError if they differ.

    The result is weak if all are.

    Args:
      name: the primitive.
      avals: the types of the operands.
      scalars: whether scalars may stand beside operands of another shape.
    """
    first = avals[0]
    weak = first.weak_type
    for aval in avals[1:]:
        if aval is not first:
            weak = weak and aval.weak_type
            if aval.dtype == first.dtype and aval.shape != first.shape and scalars and not first.shape:
                first = aval
            elif aval.dtype != first.dtype or not (aval.shape == first.shape or (scalars and not aval.shape)):
                beside = ", or scalars beside them" if scalars else ""
                raise ArgumentTypeError(
                    f"{name}_p: expected operands of one shape and dtype{beside}, got {', '.join(map(str, avals))}; "
                    f"call lawful.ops.{name}, which promotes and broadcasts"
                )
    return first if weak == first.weak_type else first.update(weak_type=weak)
