"""Functions applied along dimensions, to every element, or where a condition holds."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy
from lawful import ops, tree
from lawful.batching import vmap
from lawful.control_flow import cond
from lawful.core import ArgumentTypeError, ArgumentValueError, Tracer, TracerArrayConversionError, get_aval
from lawful.numpy._eager import is_plain
from lawful.numpy._manipulation.broadcasting import broadcast_to
from lawful.numpy._manipulation.shape import moveaxis
from lawful.ops import canonical_axis, static_integers

__all__ = ["apply_along_axis", "apply_over_axes", "piecewise", "select", "vectorize"]

Function = Callable[..., Any]


def apply_along_axis(func1d: Function, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """Returns the results of a function of each vector along a dimension.

    Args:
      func1d: the function. Under a transformation it is mapped: called once, with a tracer.
      axis: the dimension, which the dimensions of the results replace.
      arr: an array.
      args: more arguments for the function, the same for each vector.
      kwargs: more arguments by name.

    Raises:
      AxisError: there is no such dimension.

    >>> apply_along_axis(numpy.cumsum, 1, numpy.array([[1, 2], [3, 4]]))
    array([[1, 3],
           [3, 7]])

    Source: ``numpy.apply_along_axis``.
    """
    if is_plain(arr):
        try:
            return numpy.apply_along_axis(functools.partial(_writable, func1d), axis, arr, *args, **kwargs)
        except (ValueError, IndexError, TracerArrayConversionError):
            pass  # the code below raises the error, or maps a function that closes over a tracer
    shape = get_aval(arr).shape
    axis = canonical_axis("apply_along_axis", axis, len(shape))
    function: Function = functools.partial(_call, func1d, args, kwargs)
    # The other dimensions are in front of those of the results, in order.
    for _ in range(len(shape) - 1):
        function = vmap(function)
    out = function(moveaxis(arr, axis, -1))
    added = get_aval(out).ndim - (len(shape) - 1)
    return moveaxis(out, tuple(range(len(shape) - 1, len(shape) - 1 + added)), tuple(range(axis, axis + added)))


def _writable(function: Function, *args: Any, **kwargs: Any) -> Any:
    """Returns a result as an ndarray: NumPy writes into an array of the first result's class."""
    return numpy.asarray(function(*args, **kwargs))


def _call(function: Function, args: Sequence[Any], kwargs: dict[str, Any], x: Any) -> Any:
    return function(x, *args, **kwargs)


def apply_over_axes(func: Function, a: Any, axes: Any) -> Any:
    """Returns the result of ``func(a, axis)``, of its result and the next dimension, and so on.

    Args:
      func: a function of an array and a dimension, that drops it or keeps it.
      a: an array.
      axes: the dimensions.

    Raises:
      ArgumentValueError: the function gives an array of another number of dimensions.

    >>> apply_over_axes(numpy.sum, numpy.ones((2, 3)), (0, 1))
    array([[6.]])

    Source: ``numpy.apply_over_axes``.
    """
    ndim = get_aval(a).ndim
    for axis in static_integers("apply_over_axes", "axes", axes):
        result = func(a, canonical_axis("apply_over_axes", axis, ndim))
        if get_aval(result).ndim != ndim:
            result = ops.expand_dims(result, (canonical_axis("apply_over_axes", axis, ndim),))
        if get_aval(result).ndim != ndim:
            raise ArgumentValueError(
                f"apply_over_axes: expected an array of {ndim} dimensions from the function, got {get_aval(result)}; "
                "let it keep the dimension, or drop it"
            )
        a = result
    return a


def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Any:
    """Returns, where a condition holds, the value of its function; where several hold, of the last one's.

    Args:
      x: an array.
      condlist: for each function where it counts: boolean arrays of the shape of ``x``.
      funclist: functions of an array, or numbers; one more than conditions for where none holds, zero by default.
      args: more arguments for the functions.
      kw: more arguments by name.

    Raises:
      ArgumentValueError: there are not as many functions as conditions, or one more.

    A function is called with all of ``x``, but elements that it does not count for are replaced with one that it counts
    for, and it is not evaluated if there is none. So it may be NaN, or have an infinite derivative, elsewhere.

    >>> piecewise(numpy.array([-1.0, 2.0]), [numpy.array([True, False])], [lambda x: -x, lambda x: 2 * x])
    array([1., 4.])

    Source: ``numpy.piecewise``, which calls functions with the elements that they count for.
    """
    conditions = _conditions(x, condlist)
    if len(funclist) not in (len(conditions), len(conditions) + 1):
        raise ArgumentValueError(
            f"piecewise: expected {len(conditions)} or {len(conditions) + 1} functions for {len(conditions)} "
            f"conditions, got {len(funclist)}; give one for each, and one for the rest"
        )
    dtype, shape = get_aval(x).dtype, get_aval(x).shape
    functions = list(funclist)
    rest = functions.pop() if len(functions) > len(conditions) else 0

    def value(function: Any, x: Any) -> Any:
        result = function(x, *args, **kw) if callable(function) else function
        return broadcast_to(ops.convert_element_type(result, dtype), shape)

    def guarded(function: Any, counts: Any) -> Any:
        if not callable(function) or 0 in shape:
            return value(function, x)
        zeros = ops.full(shape, 0, dtype)
        any_counts = ops.reduce_or(counts, tuple(range(len(shape))))
        if not isinstance(any_counts, Tracer):  # the function may branch on values
            return value(function, _where_it_counts(x, counts)) if any_counts else zeros
        return cond(any_counts, lambda x: value(function, _where_it_counts(x, counts)), lambda x: zeros, x)

    masks = [broadcast_to(ops.convert_element_type(condition, bool), shape) for condition in conditions]
    left = ops.full(shape, True, bool)
    results = []
    for mask, function in zip(reversed(masks), reversed(functions), strict=True):
        results.append((mask, guarded(function, ops.bitwise_and(left, mask))))
        left = ops.bitwise_and(left, ops.bitwise_not(mask))
    out = guarded(rest, left)
    for mask, result in reversed(results):
        out = ops.where(mask, result, out)
    return out


def _where_it_counts(x: Any, counts: Any) -> Any:
    """Returns an array in which elements that do not count are replaced by the first one that does."""
    size = get_aval(x).size
    first = ops.argmax(ops.reshape(counts, (size,)), 0, numpy.int64)
    element = ops.dynamic_index_in_dim(ops.reshape(x, (size,)), first, 0, keepdims=False)
    return ops.where(counts, x, element)


def _conditions(x: Any, condlist: Any) -> list[Any]:
    """Returns a list of conditions; NumPy accepts a single one too."""
    if not isinstance(condlist, list | tuple):
        return [condlist] if get_aval(condlist).ndim <= get_aval(x).ndim else list(condlist)
    if condlist and isinstance(condlist[0], bool | numpy.bool) and get_aval(x).ndim:
        return [numpy.array(condlist)]
    return list(condlist)


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    """Returns the elements of the first array whose condition holds, promoted and broadcast together.

    Args:
      condlist: boolean arrays.
      choicelist: an array for each condition.
      default: the elements where no condition holds.

    Raises:
      ArgumentValueError: there are not as many arrays as conditions, or none, or shapes do not broadcast.
      ArgumentTypeError: a condition is not boolean.

    >>> select([numpy.array([True, False])], [numpy.array([1, 2])], 9)
    array([1, 9])

    Source: ``numpy.select``.
    """
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ArgumentValueError(
            f"select: expected as many conditions as arrays, at least one, got {len(condlist)} and {len(choicelist)}; "
            "give an array for each condition"
        )
    for condition in condlist:
        if get_aval(condition).dtype != numpy.dtype(bool):
            raise ArgumentTypeError(
                f"select: expected boolean conditions, got {get_aval(condition)}; compare with zero"
            )
    *choices, out = ops.promote("select", None, [*choicelist, default])
    for condition, choice in zip(reversed(condlist), reversed(choices), strict=True):
        out = ops.where(condition, choice, out)
    return out


# Functions of elements and of subarrays

_TERM = r"\(\s*(?:\w+(?:\s*,\s*\w+)*)?\s*\)"
_SIGNATURE = rf"^\s*{_TERM}(?:\s*,\s*{_TERM})*\s*->\s*{_TERM}(?:\s*,\s*{_TERM})*\s*$"

Names = list[tuple[str, ...]]


def vectorize(
    pyfunc: Function | None = None,
    otypes: Any = None,
    doc: str | None = None,
    excluded: Collection[int | str] | None = None,
    cache: bool = False,
    signature: str | None = None,
) -> Function:
    """Returns a function that applies another one to all elements, or subarrays, of its arguments, broadcast together.

    Args:
      pyfunc: the function, of scalars or of what ``signature`` says. It is mapped: called once, with tracers.
      otypes: the dtypes of its results; by default what it gives.
      doc: the docstring; by default the function's own.
      excluded: positions or names of arguments that are passed as they are; those by name always are, and so is None
        if there is no ``signature``.
      cache: accepted, without effect: the function is called once.
      signature: which last dimensions an element of each argument and result has, such as ``"(m,n),(n)->(m)"``.

    Raises:
      ArgumentValueError: the signature is none, or the arguments, or the results, do not fit it, or ``excluded`` has a
        negative number.
      ArgumentTypeError: there are not as many arguments, or results, as the signature has, or ``excluded`` has what is
        neither an integer nor a string.

    >>> vectorize(lambda a, b: a @ b, signature="(n),(n)->()")(numpy.ones((2, 3)), numpy.ones(3))
    array([3., 3.])

    Source: ``numpy.vectorize``, ``jax.numpy.vectorize``.
    """
    if pyfunc is None:
        return functools.partial(vectorize, otypes=otypes, doc=doc, excluded=excluded, cache=cache, signature=signature)
    if signature is not None and not re.match(_SIGNATURE, signature):
        raise ArgumentValueError(
            f"vectorize: expected a signature such as '(m,n),(n)->(m)', got {signature!r}; correct it"
        )
    parsed = None if signature is None else [_names(side) for side in signature.split("->")]
    left_out = frozenset(excluded or ())
    for one in left_out:
        if not isinstance(one, int | str):
            raise ArgumentTypeError(f"vectorize: expected integers and strings as excluded, got {one!r}")
        if isinstance(one, int) and one < 0:
            raise ArgumentValueError(
                f"vectorize: expected positions from 0 as excluded, got {one}; count from the front"
            )

    @functools.wraps(pyfunc)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        argnums = [i for i in range(len(args)) if i not in left_out]
        if parsed is None:
            argnums = [i for i in argnums if args[i] is not None]
        elif nones := [i for i in argnums if args[i] is None]:
            raise ArgumentValueError(
                f"vectorize: expected arrays for the signature {signature!r}, got None as argument {nones[0]}; put its "
                "position into excluded, and leave it out of the signature"
            )
        given = [args[i] for i in argnums]
        names: Names = [()] * len(given) if parsed is None else parsed[0]
        if len(names) != len(given):
            raise ArgumentTypeError(
                f"vectorize: expected {len(names)} arguments for the signature {signature!r}, got {len(given)}; give "
                "as many"
            )

        def function(*values: Any) -> Any:
            full = list(args)
            for i, value in zip(argnums, values, strict=True):
                full[i] = value
            out = pyfunc(*full, **kwargs)
            return out if parsed is None else _checked(out, parsed[1], sizes, str(signature))

        sizes, loops = _dimensions(given, names)
        return _typed(_mapped(function, given, loops), otypes)

    if doc is not None:
        wrapper.__doc__ = doc
    return wrapper


def _names(side: str) -> Names:
    return [tuple(re.findall(r"\w+", term)) for term in re.findall(_TERM, side)]


def _dimensions(args: Sequence[Any], names: Names) -> tuple[dict[str, int], list[tuple[int, ...]]]:
    """Returns the lengths of named dimensions, and for each argument the shape in front of them."""
    sizes: dict[str, int] = {}
    loops = []
    for x, dims in zip(args, names, strict=True):
        shape = get_aval(x).shape
        if len(shape) < len(dims):
            raise ArgumentValueError(f"vectorize: expected an array with the dimensions {dims}, got {get_aval(x)}")
        loops.append(shape[: len(shape) - len(dims)])
        for name, size in zip(dims, shape[len(shape) - len(dims) :], strict=True):
            if sizes.setdefault(name, size) != size:
                raise ArgumentValueError(
                    f"vectorize: expected dimensions {name!r} of one length, got {sizes[name]} and {size}; slice one"
                )
    return sizes, loops


def _checked(out: Any, names: Names, sizes: dict[str, int], signature: str) -> Any:
    """Returns the results of a function; raises an error if they do not fit its signature."""
    results = out if isinstance(out, tuple) else (out,)
    if len(results) != len(names):
        raise ArgumentTypeError(
            f"vectorize: expected {len(names)} results for the signature {signature!r}, got {len(results)}; return as "
            "many"
        )
    sizes = dict(sizes)
    for x, dims in zip(results, names, strict=True):
        shape = get_aval(x).shape
        if len(shape) != len(dims):
            raise ArgumentValueError(
                f"vectorize: expected a result with the dimensions {dims} for the signature {signature!r}, got "
                f"{get_aval(x)}; correct one of them"
            )
        for name, size in zip(dims, shape, strict=True):
            if sizes.setdefault(name, size) != size:
                raise ArgumentValueError(
                    f"vectorize: expected a result whose dimension {name!r} has length {sizes[name]} for the signature "
                    f"{signature!r}, got {get_aval(x)}; correct one of them"
                )
    return out


def _mapped(function: Function, args: Sequence[Any], loops: list[tuple[int, ...]]) -> Any:
    """Maps a function over the dimensions in front of the named ones."""
    try:
        loop = numpy.broadcast_shapes(*loops)
    except ValueError as error:
        raise ArgumentValueError(f"vectorize: expected dimensions that broadcast together, got {loops}") from error
    axes: list[tuple[int | None, ...]] = []
    squeezed = []
    for x, shape in zip(args, loops, strict=True):
        ones = [i for i, size in enumerate(shape) if size != loop[len(loop) - len(shape) + i]]
        squeezed.append(ops.squeeze(x, ones))
        missing = len(loop) - len(shape)
        axes.append(tuple(None if i < missing or i - missing in ones else 0 for i in range(len(loop))))
    for level in reversed(range(len(loop))):
        in_axes = tuple(axis[level] for axis in axes)
        if any(axis is not None for axis in in_axes):
            function = vmap(function, in_axes)
        else:
            function = _repeated(function, loop[level])
    return function(*squeezed)


def _repeated(function: Function, size: int) -> Function:
    def wrapper(*args: Any) -> Any:
        def repeat(x: Any) -> Any:
            return broadcast_to(x, (size, *get_aval(x).shape))

        return tree.map(repeat, function(*args))

    return wrapper


def _typed(results: Any, otypes: Any) -> Any:
    if otypes is None:
        return results
    dtypes = [numpy.dtype(letter) for letter in otypes]
    if not isinstance(results, tuple):
        return ops.convert_element_type(results, dtypes[0])
    return tuple(ops.convert_element_type(x, dtype) for x, dtype in zip(results, dtypes, strict=True))
