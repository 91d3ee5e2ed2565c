"""`frompyfunc`: ufuncs of functions of scalars, whose methods are loops."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy
from lawful import ops
from lawful.control_flow import scan
from lawful.core import (
    ArgumentIndexError,
    ArgumentTypeError,
    ArgumentValueError,
    Tracer,
    as_dtype,
    get_aval,
)
from lawful.numpy._functional import vectorize
from lawful.numpy._manipulation.broadcasting import broadcast_to
from lawful.numpy._manipulation.shape import moveaxis
from lawful.numpy._reductions.arguments import require_initial, require_mask
from lawful.numpy._ufuncs import methods
from lawful.ops import canonical_axis, reduced_axes, static_integers
from lawful.staging import ShapeDtypeStruct, eval_shape

__all__ = ["frompyfunc"]


def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, *, identity: Any = None) -> PythonUfunc:
    """Returns a function of scalars as a ufunc: applied to each element of arrays, with the methods of ufuncs.

    Args:
      func: the function, of ``nin`` scalars, with ``nout`` results: an array, or a tuple of arrays. It is mapped:
        called with tracers.
      nin: the number of arguments.
      nout: the number of results.
      identity: the unit of a function of two arguments, with which reductions begin; None if it has none.

    Raises:
      ArgumentTypeError: the function is not callable, or a number is not an integer.
      ArgumentValueError: a number is less than one.

    >>> import operator
    >>> add = frompyfunc(operator.add, 2, 1, identity=0)
    >>> add(numpy.array([1, 2]), 10), add.reduce(numpy.array([1, 2, 3]))
    (array([11, 12]), np.int64(6))
    >>> add.outer(numpy.array([1, 2]), numpy.array([10, 20]))
    array([[11, 21],
           [12, 22]])

    Source: ``numpy.frompyfunc``, which gives arrays of objects; ``jax.numpy.frompyfunc``.
    """
    if not callable(func):
        raise ArgumentTypeError(
            f"frompyfunc: expected a function of scalars, got {func!r} of type {type(func).__name__}; pass a function"
        )
    return PythonUfunc(func, _count("nin", nin), _count("nout", nout), identity)


def _count(name: str, n: Any) -> int:
    try:
        count = operator.index(n)
    except TypeError:
        raise ArgumentTypeError(f"frompyfunc: expected an integer as {name}, got {n!r}; give a number") from None
    if count < 1:
        raise ArgumentValueError(f"frompyfunc: expected {name} to be at least 1, got {count}; give a number")
    return count


class PythonUfunc:
    """A function of scalars that is applied to each element of arrays; see `frompyfunc`.

    The methods `reduce`, `accumulate`, `reduceat` and `outer` are those of functions of two arguments with one result.
    They combine elements one by one, in order, by `lawful.control_flow.scan`.

    Source: ``numpy.ufunc``, ``jax.numpy.ufunc``.
    """

    def __init__(self, func: Callable[..., Any], nin: int, nout: int, identity: Any) -> None:
        self.nin, self.nout, self.nargs = nin, nout, nin + nout
        self.identity = identity
        self.__name__ = self.__qualname__ = getattr(func, "__name__", type(func).__name__)
        self.__doc__ = func.__doc__
        self.__wrapped__ = func
        self._mapped = vectorize(self._checked)

    def __repr__(self) -> str:
        return f"<function lawful.numpy.frompyfunc({self.__name__}, {self.nin}, {self.nout})>"

    def _checked(self, *args: Any) -> Any:
        """Returns the results for scalars; raises an error if there are not as many as declared."""
        results = self.__wrapped__(*args)
        count = len(results) if isinstance(results, tuple | list) else 1
        if count != self.nout or (self.nout == 1 and isinstance(results, tuple | list)):
            expected = "one result" if self.nout == 1 else f"a tuple of {self.nout} results"
            got = f"a {type(results).__name__} of {count}" if isinstance(results, tuple | list) else "one"
            raise ArgumentTypeError(
                f"{self.__name__}: expected {expected} from the function, got {got}; correct it, or nout"
            )
        return tuple(results) if self.nout > 1 else results

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the results for each element of the arguments, broadcast together.

        Raises:
          ArgumentTypeError: there are not ``nin`` arguments, or not ``nout`` results.
          ArgumentValueError: the shapes do not broadcast together.
        """
        if names := [f"{name}=" for name, x in kwargs.items() if x is not None]:
            raise ArgumentTypeError(
                f"{self.__name__}: expected arrays as the only arguments, got {', '.join(names)}; "
                "choose with where for where=, use the result in place of out="
            )
        if len(args) != self.nin:
            raise ArgumentTypeError(f"{self.__name__}: expected {self.nin} arguments, got {len(args)}")
        for x in args:
            get_aval(x)
        return self._mapped(*args)

    def _converted(self, method: str, array: Any, dtype: Any) -> Any:
        """Returns an array in the dtype of the results: that which the function gives for two elements."""
        x = array if dtype is None else ops.convert_element_type(array, as_dtype(dtype))
        given = get_aval(x).dtype
        found = self._result_dtype(given)
        stays = found == given or (dtype is None and self._result_dtype(found) == found)
        if not stays or not numpy.can_cast(given, found, "same_kind"):
            raise ArgumentTypeError(
                f"{self.__name__}.{method}: expected a function that gives numbers of the dtype that it takes, got "
                f"{found} for {given}; convert what it returns with astype"
            )
        return ops.convert_element_type(x, found)

    def _result_dtype(self, dtype: Any) -> Any:
        element = ShapeDtypeStruct((), dtype)
        return get_aval(eval_shape(self._checked, element, element)).dtype

    def reduce(
        self,
        a: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        """Returns the elements along a dimension combined by the function, from the first to the last.

        Args:
          a: an array.
          axis: the dimension; None for the flattened array.
          dtype: the dtype to which the elements are converted first; by default that of the results.
          out: None only.
          keepdims: whether the dimension stays, with length 1.
          initial: the initial value, by default the ``identity``; the first element if there is neither.
          where: which elements are combined; there has to be an ``initial``, or an ``identity``.

        Raises:
          ArgumentTypeError: the function gives another dtype than it takes, or ``out`` is given.
          ArgumentValueError: the function has not two arguments and one result, there is no element and no identity, or
            there are several dimensions.
          AxisError: there is no such dimension.

        >>> difference = frompyfunc(lambda x, y: x - y, 2, 1)
        >>> difference.reduce(numpy.array([[1, 2], [3, 5]]), axis=1)
        array([-1, -2])

        Source: ``numpy.ufunc.reduce``.
        """
        methods.check(self, "reduce", out)
        name = f"{self.__name__}.reduce"
        require_initial(name, initial)
        where = None if where is True else where
        require_mask(name, where)
        x = self._converted("reduce", a, dtype)
        aval = get_aval(x)
        axes = reduced_axes(name, axis, aval.ndim)
        if len(axes) > 1 and axis is not None:
            raise ArgumentValueError(
                f"{name}: expected at most one dimension of a function whose order matters, got {axes}; reduce one by "
                "one"
            )
        start = self.identity if initial is None else initial
        if where is not None and start is None:
            raise ArgumentValueError(
                f"{name}: expected an initial value with where=, got none: there may be no element; give initial="
            )
        remaining = [i for i in range(aval.ndim) if i not in axes]
        shape = tuple(aval.shape[i] for i in remaining)
        size = math.prod([aval.shape[i] for i in axes])
        if not size and start is None:
            raise ArgumentValueError(
                f"{name}: expected at least one element, got a zero-size array of shape {aval.shape}; give initial="
            )

        def elements(x: Any) -> Any:
            return ops.reshape(ops.transpose(x, (*axes, *remaining)), (size, *shape))

        mask = None if where is None else elements(methods.broadcast(name, where, aval.shape))
        if start is None:
            result = self._combined(elements(x), None)
        else:
            result = self._combined(elements(x), broadcast_to(ops.convert_element_type(start, aval.dtype), shape), mask)
        return ops.expand_dims(result, axes) if keepdims and aval.ndim else result

    def _combined(self, x: Any, start: Any, mask: Any = None) -> Any:
        """Returns the elements along the first dimension combined, from an initial value or the first one."""
        if start is None:
            start, x = ops.getitem(x, 0), x[1:]

        def step(carry: Any, element: Any) -> tuple[Any, None]:
            if mask is None:
                return self._mapped(carry, element), None
            element, counts = element
            return ops.where(counts, self._mapped(carry, element), carry), None

        return scan(step, start, x if mask is None else (x, mask))[0] if get_aval(x).shape[0] else start

    def accumulate(self, a: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """Returns, for each position along a dimension, the elements up to it combined; arguments as `reduce`.

        >>> frompyfunc(lambda x, y: x - y, 2, 1).accumulate(numpy.array([1, 2, 3]))
        array([ 1, -1, -4])

        Source: ``numpy.ufunc.accumulate``.
        """
        methods.check(self, "accumulate", out)
        name = f"{self.__name__}.accumulate"
        x = self._converted("accumulate", a, dtype)
        if not get_aval(x).ndim:
            raise ArgumentTypeError(f"{name}: expected an array of at least one dimension, got a scalar; reshape it")
        (axis,) = static_integers(name, "the dimension", axis)
        axis = canonical_axis(name, axis, get_aval(x).ndim)
        if get_aval(x).shape[axis] < 2:
            return x
        x = moveaxis(x, axis, 0)

        def step(carry: Any, element: Any) -> tuple[Any, Any]:
            result = self._mapped(carry, element)
            return result, result

        _, following = scan(step, ops.getitem(x, 0), x[1:])
        return moveaxis(ops.concatenate([x[:1], following], 0), 0, axis)

    def reduceat(self, a: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """Returns the combinations of slices: from each of some positions to the next one.

        A position that is not before the next one gives its element. Other arguments are those of `reduce`.

        Raises:
          ArgumentTypeError: the positions are not integers.
          ArgumentValueError: they are not a vector.
          ArgumentIndexError: a known position is outside of the array; one that is traced is clamped.

        >>> frompyfunc(lambda x, y: x - y, 2, 1).reduceat(numpy.array([1, 2, 3, 4]), [0, 2])
        array([-1, -1])

        Source: ``numpy.ufunc.reduceat``.
        """
        methods.check(self, "reduceat", out)
        name = f"{self.__name__}.reduceat"
        x = self._converted("reduceat", a, dtype)
        if not get_aval(x).ndim:
            raise ArgumentTypeError(f"{name}: expected an array of at least one dimension, got a scalar; reshape it")
        (axis,) = static_integers(name, "the dimension", axis)
        axis = canonical_axis(name, axis, get_aval(x).ndim)
        x = moveaxis(x, axis, 0)
        size = get_aval(x).shape[0]
        if isinstance(indices, Tracer):
            return moveaxis(self._slices_combined(name, x, indices), 0, axis)
        starts = static_integers(name, "indices", indices)
        for start in starts:
            if not 0 <= start < size:
                raise ArgumentIndexError(
                    f"{name}: expected positions from 0 to {size - 1}, got {start}; name an element"
                )
        # Only the elements of a slice are combined: others may be outside of the function's domain.
        parts = [
            ops.expand_dims(self._combined(x[start : max(stop, start + 1)], None), (0,))
            for start, stop in zip(starts, [*starts[1:], *[size] * bool(starts)], strict=True)
        ]
        return moveaxis(ops.concatenate(parts, 0) if parts else x[:0], 0, axis)

    def _slices_combined(self, name: str, x: Any, starts: Any) -> Any:
        """Returns the combinations of slices along the first dimension, from traced positions: one loop for all."""
        aval, shape = get_aval(starts), get_aval(x).shape
        if aval.dtype.kind not in "iu":
            raise ArgumentTypeError(f"{name}: expected integers as indices, got {aval}; convert them with astype")
        if aval.ndim != 1:
            raise ArgumentValueError(f"{name}: expected a vector of indices, got {aval}; ravel it")
        starts = ops.clamp(0, ops.convert_element_type(starts, numpy.int64), max(shape[0] - 1, 0))
        stops = ops.concatenate([starts[1:], ops.full((1,), shape[0], numpy.int64)], 0)
        column = (aval.shape[0], *(1,) * (len(shape) - 1))

        def step(carry: Any, element: Any) -> tuple[Any, None]:
            i, x = element
            counts = ops.reshape(ops.bitwise_and(ops.gt(i, starts), ops.lt(i, stops)), column)
            return ops.where(counts, self._mapped(carry, x), carry), None

        return scan(step, ops.getitem(x, starts), (ops.iota("int64", shape[0]), x))[0]

    def outer(self, A: Any, B: Any, /) -> Any:
        """Returns the function of each element of one array and each of another.

        Source: ``numpy.ufunc.outer``.
        """
        methods.check(self, "outer", None)
        return methods.outer(self, A, B)

    def at(self, a: Any, indices: Any, b: Any = None, /, *, inplace: bool = False) -> Any:
        """Returns the array with the function applied at positions, once for each time that one is named.

        Args:
          a: an array.
          indices: integers, slices or masks, as in ``a[indices]``.
          b: the second operands, which are broadcast, of a function of two.
          inplace: False only: nothing is overwritten.

        Raises:
          ArgumentValueError: ``inplace`` is true.
          ArgumentTypeError: the result has another kind than the array, or there are not as many operands as arguments.
          ArgumentIndexError: a known position is outside of the array.

        >>> frompyfunc(lambda x, y: x - y, 2, 1).at(numpy.array([1, 2, 3]), numpy.array([0, 0]), 10)
        array([-19,   2,   3])

        Source: ``numpy.ufunc.at``, ``jax.numpy.ufunc.at``.
        """
        name = f"{self.__name__}.at"
        methods.check_update(self, b, inplace)
        positions, given = methods.updates(name, a, indices, b)
        aval = get_aval(a)

        def step(flat: Any, update: Any) -> tuple[Any, None]:
            position, *operands = update
            value = self._mapped(ops.getitem(flat, position), *operands)
            return ops.at(flat)[position].set(value), None

        flat = ops.reshape(a, (aval.size,))
        if get_aval(positions).size:
            flat, _ = scan(step, flat, (positions, *given))
        return ops.reshape(flat, aval.shape)
