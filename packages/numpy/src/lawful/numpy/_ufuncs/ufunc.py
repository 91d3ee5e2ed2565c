"""`Ufunc`: the class of elementwise functions, with NumPy's names and promotion over lawful's ops."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final, NoReturn

import numpy
from lawful.core import ArgumentTypeError, Hook, Tracer, get_aval, register_dispatch_module
from lawful.numpy._eager import PLAIN_TYPES, plain_types
from lawful.numpy._ufuncs import methods
from lawful.numpy._ufuncs.examples import EXAMPLES
from lawful.ops import Composite, Elementwise, is_eager, promote

register_dispatch_module(__name__)


class Ufunc:
    """An elementwise function with the name, promotion and broadcasting of one of NumPy's ufuncs.

    Its methods `reduce`, `accumulate`, `reduceat`, `outer` and `at` are NumPy's too.

    Args:
      numpy_function: the ufunc. It computes eagerly, and decides how operands are promoted.
      op: returns the result for operands of one shape and dtype, or a tuple of results. Its control flow depends on
        types only, not on values.
      doc: the docstring, if it differs from that of the op.
      promotes: whether operands are promoted to one dtype; if not, ``op`` gets them as they are.
      except_of: the dtype kinds for which NumPy is imprecise or undefined, and is not called.

    Raises:
      ArgumentTypeError: the operands have a dtype that the ufunc is not defined for.
      ArgumentValueError: their shapes do not broadcast together.

    >>> from lawful import ops
    >>> arcsin = Ufunc(numpy.arcsin, ops.asin)
    >>> arcsin, arcsin(1)
    (<function lawful.numpy.arcsin>, np.float64(1.5707963267948966))
    >>> Ufunc(numpy.add, ops.add).reduce(numpy.array([[1, 2], [3, 4]]), axis=1)
    array([3, 7])

    Source: ``numpy.ufunc``, ``jax.numpy.ufunc``.
    """

    def __init__(
        self,
        numpy_function: numpy.ufunc,
        op: Elementwise | Callable[..., Any],
        doc: str = "",
        *,
        promotes: bool = True,
        except_of: str = "",
    ) -> None:
        self.numpy_function = numpy_function
        self.except_of = except_of
        self.plain_types = plain_types(except_of) if except_of else PLAIN_TYPES
        self.nin, self.nout, self.nargs = numpy_function.nin, numpy_function.nout, numpy_function.nargs
        self.identity = numpy_function.identity
        self.__name__ = self.__qualname__ = numpy_function.__name__
        self.__module__ = "lawful.numpy"
        self.__doc__ = _with_example(doc or op.__doc__ or "", self.__name__)
        self.__signature__ = _signature(self.nin)
        self._application = (
            op.applied_as(self.__name__, numpy_function) if isinstance(op, Elementwise) and promotes else None
        )
        #: What `apply_ops` always calls; None if it depends on the operands.
        self.application = None if except_of or type(self).apply_ops is not Ufunc.apply_ops else self._application

        def compute(*args: Any) -> Any:
            return op(*(promote(self.__name__, numpy_function, args) if promotes else args))

        # A function of several ops is one composite, promotion included.
        self._compute = op if isinstance(op, Elementwise) else Composite(compute, self.nin)

    def __repr__(self) -> str:
        return f"<function lawful.numpy.{self.__name__}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            self._refuse(kwargs)
        if len(args) != self.nin:
            raise ArgumentTypeError(f"{self.__name__}: expected {self.nin} arguments, got {len(args)}")
        if not isinstance(args[0], Tracer) and is_eager(*args) and not self.is_exception(args):
            try:
                return self.numpy_function(*args)
            except (TypeError, ValueError, OverflowError):
                pass  # the path below raises the error
        return self.apply_ops(args)

    def is_exception(self, args: Sequence[Any]) -> bool:
        """Whether an operand has a dtype for which NumPy is not called."""
        return bool(self.except_of) and any([_kind(x) in self.except_of for x in args])

    def apply_ops(self, args: Sequence[Any]) -> Any:
        """Returns the result by lawful's ops: of traced operands, and where NumPy raises an error."""
        if self._application is not None and not self.is_exception(args):
            return self._application.apply(args)
        return self._compute(*args)

    @property
    def has_operator(self) -> bool:
        """Whether it is one op for operands of all dtypes, so that it has an `operator`."""
        return self.application is not None

    def operator(self, *args: Any) -> Any:
        """Returns the result as Python's operators give it: weak if all operands are; see `lawful.ops.Elementwise`."""
        assert isinstance(self._compute, Elementwise)
        return self._compute.applied_as(self.__name__, self.numpy_function, operator=True).apply(args)

    def _refuse(self, kwargs: Mapping[str, Any]) -> NoReturn:
        raise ArgumentTypeError(
            f"{self.__name__}: expected arrays as the only arguments, got {', '.join(f'{key}=' for key in kwargs)}; "
            "convert with astype for dtype=, choose with where for where=, use the result in place of out="
        )

    def _method(self, name: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Calls NumPy's method if nothing is traced, and the given function otherwise or if NumPy raises an error."""
        is_plain = is_eager(args[0]) and self.__name__ not in methods.WRONG_IN_NUMPY
        if is_plain and not any(isinstance(x, Tracer) for x in (*args, *kwargs.values())):
            try:
                return getattr(self.numpy_function, name)(*args, **kwargs)
            except (TypeError, ValueError, IndexError):
                pass  # the function below raises the error
        return function(self, *args, **kwargs)

    def reduce(
        self,
        array: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        """Returns the elements along a dimension combined by the function, from the first to the last.

        Args:
          array: an array.
          axis: the dimension; None for all, and a tuple for several, where the order does not matter.
          dtype: the dtype to which the elements are converted first.
          out: None only.
          keepdims: whether the dimension stays, with length 1.
          initial: the initial value.
          where: which elements are combined; there has to be an ``initial``, or a unit of the function.

        Raises:
          ArgumentTypeError: the function gives another dtype than it takes, or ``out`` is given.
          ArgumentValueError: the function has not two arguments and one result, there is no element and no unit, or
            the order matters of several dimensions.
          AxisError: there is no such dimension.

        Source: ``numpy.ufunc.reduce``.
        """
        methods.check(self, "reduce", out)
        options: dict[str, Any] = {"axis": axis, "dtype": dtype, "keepdims": keepdims}
        if initial is not None:
            options["initial"] = initial
        return self._method("reduce", methods.reduce, array, **options, where=where)

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """Returns, for each position along a dimension, the elements up to it combined; arguments as `reduce`.

        Source: ``numpy.ufunc.accumulate``.
        """
        methods.check(self, "accumulate", out)
        return self._method("accumulate", methods.accumulate, array, axis=axis, dtype=dtype)

    def reduceat(self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """Returns the combinations of slices: from each of some positions to the next one, which have to be known.

        A position that is not before the next one gives its element. Other arguments are those of `reduce`.

        Raises:
          ArgumentIndexError: a position is outside of the array.

        Source: ``numpy.ufunc.reduceat``.
        """
        methods.check(self, "reduceat", out)
        return self._method("reduceat", methods.reduceat, array, indices, axis=axis, dtype=dtype)

    def outer(self, A: Any, B: Any, /) -> Any:
        """Returns the function of each element of one array and each of another.

        Source: ``numpy.ufunc.outer``.
        """
        methods.check(self, "outer", None)
        return methods.outer(self, A, B)

    def at(self, a: Any, indices: Any, b: Any = None, /, *, inplace: bool = True) -> Any:
        """Returns the array with the function applied at positions, once for each time that one is named.

        Args:
          a: an array.
          indices: integers, slices or masks, as in ``a[indices]``.
          b: the second operands, which are broadcast, of a function of two.
          inplace: has to be False: nothing is overwritten.

        Raises:
          ArgumentValueError: ``inplace`` is true.
          ArgumentTypeError: the result has another kind than the array.
          ArgumentIndexError: a known position is outside of the array.

        Source: ``numpy.ufunc.at``, ``jax.numpy.ufunc.at``.
        """
        return methods.at(self, a, indices, b, inplace=inplace)


def _with_example(doc: str, name: str) -> str:
    """Returns a docstring with the example of a function of this package in place of that of an op."""
    return f"{doc.partition('>>>')[0].rstrip()}\n\n{EXAMPLES[name]}" if name in EXAMPLES else doc


def _kind(x: Any) -> str:
    return "i" if type(x) is int else get_aval(x).dtype.kind  # the integer may be beyond 64 bits


def _switch_call(call: Callable[..., Any]) -> None:
    Ufunc.__call__ = call  # type: ignore[method-assign]


#: The call of every ufunc. An accelerator replaces ``Ufunc.__call__`` itself, so that the choice costs nothing.
ufunc_hook: Final[Hook[Callable[..., Any]]] = Hook("calls of ufuncs", Ufunc.__call__, _switch_call)


@cache
def _signature(count: int) -> inspect.Signature:
    names = ["x"] if count == 1 else [f"x{i}" for i in range(1, count + 1)]
    return inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names])
