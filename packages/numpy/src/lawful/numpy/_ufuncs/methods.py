"""Methods of ufuncs: `reduce`, `accumulate`, `reduceat`, `outer`, `at`.

Sums, products and extrema are ops. Other associative functions combine halves, in logarithmically many steps; the rest
combine the elements one by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy
from lawful import ops
from lawful.core import (
    ArgumentIndexError,
    ArgumentTypeError,
    ArgumentValueError,
    as_dtype,
    get_aval,
)
from lawful.numpy._manipulation.broadcasting import broadcast_to
from lawful.numpy._reductions.arguments import require_initial, require_mask
from lawful.ops import canonical_axis, numpy_reduction, reduced_axes, static_integers

if TYPE_CHECKING:
    from lawful.numpy._ufuncs.ufunc import Ufunc

#: Associative functions.
_ASSOCIATIVE = frozenset(
    {
        *("add", "multiply", "maximum", "minimum", "fmax", "fmin", "logaddexp", "logaddexp2", "hypot", "gcd", "lcm"),
        *("bitwise_and", "bitwise_or", "bitwise_xor", "logical_and", "logical_or", "logical_xor"),
    }
)
#: NumPy's vectorized loops of these overwrite elements that are read later, so that its reductions along the last
#: dimension are wrong.
WRONG_IN_NUMPY = frozenset({"arctan2", "power", "float_power"})
#: For these NumPy converts narrow integers to 64 bits first.
_WIDENED = frozenset({"add", "multiply"})
_LOGICAL = frozenset({"logical_and", "logical_or", "logical_xor"})

_CUMULATIVE: dict[str, Callable[..., Any]] = {
    "add": ops.cumsum,
    "multiply": ops.cumprod,
    "maximum": ops.cummax,
    "minimum": ops.cummin,
}


class Declared(Protocol):
    """A ufunc of any class."""

    __name__: str
    nin: int
    nout: int

    def __call__(self, *args: Any) -> Any:
        """Returns the function of each element."""


def check(ufunc: Declared, method: str, out: Any) -> None:
    """Raises an error if a function does not have two arguments and one result, or if ``out`` is given."""
    if ufunc.nin != 2 or ufunc.nout != 1:
        raise ArgumentValueError(
            f"{ufunc.__name__}.{method}: expected a function of two arguments with one result, got one of {ufunc.nin} "
            f"with {ufunc.nout}; call the function"
        )
    if out is not None:
        raise ArgumentTypeError(
            f"{ufunc.__name__}.{method}: expected no out=, got one: arrays are not overwritten; use the result"
        )


def _converted(ufunc: Ufunc, method: str, array: Any, dtype: Any) -> Any:
    """Returns an array in the dtype in which the function computes.

    Raises:
      ArgumentTypeError: the result has another dtype, as for comparisons.
    """
    aval = get_aval(array)
    if dtype is None and ufunc.__name__ in _WIDENED and aval.dtype.kind in "biu":
        dtype = numpy.uint64 if aval.dtype.kind == "u" else numpy.int64
    if ufunc.__name__ in _LOGICAL:
        return array if aval.dtype.kind == "b" else ops.ne(array, aval.dtype.type(0))
    x = ops.convert_element_type(array, aval.dtype if dtype is None else as_dtype(dtype))
    one, _ = ops.promote(ufunc.__name__, ufunc.numpy_function, (x, x))
    if get_aval(_combination(ufunc, numpy.ones((), get_aval(one).dtype))).dtype != get_aval(one).dtype:
        raise ArgumentTypeError(
            f"{ufunc.__name__}.{method}: expected a function that gives numbers of the dtype that it takes, got "
            f"{ufunc.__name__} for {aval}; combine the elements with others"
        )
    return ops.convert_element_type(x, get_aval(one).dtype)


def _combination(ufunc: Ufunc, x: Any) -> Any:
    with numpy.errstate(all="ignore"):
        return ufunc(x, x)


# Reductions


def reduce(
    ufunc: Ufunc,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """Returns the elements along some dimensions combined by a function."""
    name = f"{ufunc.__name__}.reduce"
    x = _converted(ufunc, "reduce", array, dtype)
    ndim = get_aval(x).ndim
    axes = reduced_axes(name, axis, ndim)
    if len(axes) > 1 and ufunc.__name__ not in _ASSOCIATIVE:
        raise ArgumentValueError(
            f"{name}: expected at most one dimension of a function whose order matters, got {axes}; reduce one by one"
        )
    unit = ufunc.identity if initial is None else initial
    require_initial(name, initial)
    if where is not True:
        require_mask(name, where)
        if unit is None:
            raise ArgumentValueError(
                f"{name}: expected an initial value with where=, got none: there may be no element; give initial="
            )
        x = ops.where(where, x, ops.convert_element_type(unit, get_aval(x).dtype))
    size = math.prod([get_aval(x).shape[axis] for axis in axes])
    if not size and unit is None:
        raise ArgumentValueError(
            f"{name}: expected at least one element, got a zero-size array of shape {get_aval(x).shape}; give initial="
        )
    out = _reduced(ufunc, x, axes, size, unit)
    if initial is not None:
        out = ufunc(ops.convert_element_type(initial, get_aval(out).dtype), out) if size else out
    return ops.expand_dims(out, axes) if keepdims and ndim else out


def _reduced(ufunc: Ufunc, x: Any, axes: tuple[int, ...], size: int, unit: Any) -> Any:
    aval = get_aval(x)
    remaining = [axis for axis in range(aval.ndim) if axis not in axes]
    if not size:
        return ops.full([aval.shape[axis] for axis in remaining], unit, aval.dtype)
    whole = _WHOLE.get(ufunc.__name__)
    if whole is not None:
        return whole(x, axes)
    parts = ops.reshape(ops.transpose(x, (*axes, *remaining)), (size, *[aval.shape[axis] for axis in remaining]))
    if ufunc.__name__ not in _ASSOCIATIVE:
        out = _element(parts, 0)
        for i in range(1, size):
            out = ufunc(out, _element(parts, i))
        return out
    while size > 1:
        half = size // 2
        pairs = ufunc(ops.slice_in_dim(parts, 0, half), ops.slice_in_dim(parts, half, 2 * half))
        parts = ops.concatenate([pairs, ops.slice_in_dim(parts, 2 * half, size)], 0) if size % 2 else pairs
        size = half + size % 2
    return _element(parts, 0)


def _element(x: Any, i: int) -> Any:
    return ops.squeeze(ops.slice_in_dim(x, i, i + 1), (0,))


def _bitwise(reduction: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axes: reduction(x, axes)


_WHOLE: dict[str, Callable[..., Any]] = {
    "add": lambda x, axes: numpy_reduction.sum(x, axes, get_aval(x).dtype),
    "multiply": lambda x, axes: numpy_reduction.prod(x, axes, get_aval(x).dtype),
    "maximum": numpy_reduction.max,
    "minimum": numpy_reduction.min,
    "logical_and": numpy_reduction.all,
    "logical_or": numpy_reduction.any,
    "bitwise_and": _bitwise(ops.reduce_and),
    "bitwise_or": _bitwise(ops.reduce_or),
    "bitwise_xor": _bitwise(ops.reduce_xor),
}


def accumulate(ufunc: Ufunc, array: Any, axis: int = 0, dtype: Any = None) -> Any:
    """Returns the elements up to each position along a dimension combined by a function."""
    name = f"{ufunc.__name__}.accumulate"
    x = _converted(ufunc, "accumulate", array, dtype)
    aval = get_aval(x)
    if not aval.ndim:
        raise ArgumentTypeError(f"{name}: expected an array of at least one dimension, got a scalar; reshape it")
    axis = canonical_axis(name, axis, aval.ndim)
    cumulative = _CUMULATIVE.get(ufunc.__name__)
    is_defined = aval.dtype.kind not in ("b" if ufunc.__name__ in _WIDENED else "bc")
    if cumulative is not None and is_defined:
        return cumulative(x, axis)
    size = aval.shape[axis]

    def part(x: Any, start: int, stop: int) -> Any:
        return ops.slice_in_dim(x, start, stop, axis=axis)

    if ufunc.__name__ in _ASSOCIATIVE:
        step = 1
        while step < size:  # each step doubles the number of elements that are combined at a position
            following = ufunc(part(x, 0, size - step), part(x, step, size))
            x = ops.concatenate([part(x, 0, step), following], axis)
            step *= 2
        return x
    parts = [part(x, 0, 1)] if size else []
    for i in range(1, size):
        parts.append(ufunc(parts[-1], part(x, i, i + 1)))
    return ops.concatenate(parts, axis) if parts else x


def reduceat(ufunc: Ufunc, array: Any, indices: Any, axis: int = 0, dtype: Any = None) -> Any:
    """Returns the combinations of slices between positions, or the element at one that is not before the next."""
    name = f"{ufunc.__name__}.reduceat"
    x = _converted(ufunc, "reduceat", array, dtype)
    aval = get_aval(x)
    axis = canonical_axis(name, axis, aval.ndim)
    starts, size = static_integers(name, "indices", indices), aval.shape[axis]
    for start in starts:
        if not 0 <= start < size:
            raise ArgumentIndexError(f"{name}: expected positions from 0 to {size - 1}, got {start}; name an element")
    stops = [*starts[1:], *[size] * bool(starts)]
    parts = [
        reduce(ufunc, ops.slice_in_dim(x, start, max(stop, start + 1), axis=axis), axis, aval.dtype, True)
        for start, stop in zip(starts, stops, strict=True)
    ]
    return ops.concatenate(parts, axis) if parts else ops.slice_in_dim(x, 0, 0, axis=axis)


# Outer products, and updates at positions


def outer(ufunc: Declared, a: Any, b: Any) -> Any:
    """Returns the function of each element of one array and each of another."""
    ndim = get_aval(a).ndim
    return ufunc(ops.expand_dims(a, tuple(range(ndim, ndim + get_aval(b).ndim))), b)


def at(ufunc: Ufunc, a: Any, indices: Any, b: Any, *, inplace: bool) -> Any:
    """Returns an array with the function applied at positions, once for each time that one is named."""
    check_update(ufunc, b, inplace)
    update = _UPDATES.get(ufunc.__name__)
    if update is not None:
        return getattr(ops.at(a)[indices], update)(b)
    positions, given = updates(f"{ufunc.__name__}.at", a, indices, b)
    aval = get_aval(a)
    out = ops.reshape(a, (aval.size,))
    for i in range(get_aval(positions).size):
        position = ops.getitem(positions, i)
        value = ufunc(ops.getitem(out, position), *[ops.getitem(x, i) for x in given])
        out = ops.at(out)[position].set(value)
    return ops.reshape(out, aval.shape)


def check_update(ufunc: Declared, b: Any, inplace: bool) -> None:
    """Raises an error if an array would be overwritten, or if there are not as many operands as arguments."""
    name = f"{ufunc.__name__}.at"
    if inplace:
        raise ArgumentValueError(
            f"{name}: expected inplace=False, got True: arrays are not overwritten; pass it and use the result"
        )
    if (b is None) != (ufunc.nin == 1) or ufunc.nout != 1 or ufunc.nin > 2:
        raise ArgumentTypeError(
            f"{name}: expected {ufunc.nin} operands of a function with one result, got {1 if b is None else 2} of one "
            f"with {ufunc.nout}; give as many"
        )


def updates(name: str, a: Any, indices: Any, b: Any) -> tuple[Any, list[Any]]:
    """Returns positions in the flattened array, possibly repeated, and for each of them the second operand, if any."""
    aval = get_aval(a)
    positions = ops.getitem(ops.reshape(ops.iota("int64", aval.size), aval.shape), indices)
    shape = get_aval(positions).shape
    given = [] if b is None else [ops.reshape(broadcast(name, b, shape), (-1,))]
    return ops.reshape(positions, (-1,)), given


def broadcast(name: str, x: Any, shape: tuple[int, ...]) -> Any:
    """Returns an array broadcast to a shape; the error names the method."""
    try:
        return broadcast_to(x, shape)
    except ArgumentValueError as error:
        raise ArgumentValueError(f"{name}: {error.message}") from error


_UPDATES = {
    "add": "add",
    "subtract": "subtract",
    "multiply": "multiply",
    "maximum": "max",
    "minimum": "min",
}
