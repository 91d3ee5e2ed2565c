"""Functions of NumPy's namespace that do not follow from NumPy's and lawful's: those that make arrays of anything."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any, Final

import numpy

import lawful.numpy as np
from lawful import tree
from lawful.autodiff import stop_gradient
from lawful.autograd._namespace.function import OfTracers
from lawful.autograd._primitive.function import getval
from lawful.core import ArgumentValueError, Tracer

_ABSENT: Final = object()
#: Types of arguments that need no conversion.
_PLAIN: Final = frozenset([numpy.ndarray, float, int, bool, numpy.float64, numpy.bool_])


def _holds_tracers(x: Any) -> bool:
    return isinstance(x, Tracer) or (
        isinstance(x, list | tuple) and any([isinstance(leaf, Tracer) for leaf in tree.leaves(x)])
    )


def array(A: Any, *args: Any, **kwargs: Any) -> Any:
    """Returns an array of an array-like, which may hold tracers; the other arguments are those of ``numpy.array``.

    >>> from lawful.autograd import grad
    >>> grad(lambda x: np.sum(array([x, x * x])))(3.0)
    np.float64(7.0)
    """
    if not _holds_tracers(A):
        return numpy.array(A, *args, **kwargs)
    return np.array(A, *args, **kwargs)


def asarray(a: Any, *args: Any, **kwargs: Any) -> Any:
    """Returns an array-like, which may hold tracers, as an array; other arguments are those of ``numpy.asarray``.

    >>> from lawful.autograd import grad
    >>> grad(lambda x: np.sum(asarray([x, x * x])))(3.0)
    np.float64(7.0)
    """
    if not _holds_tracers(a):
        return numpy.asarray(a, *args, **kwargs)
    return np.asarray(a, *args, **kwargs)


def where(condition: Any, x: Any = _ABSENT, y: Any = _ABSENT) -> Any:
    """Returns elements of one array or another; arguments are those of ``numpy.where``, and may be lists of tracers.

    Of Python's numbers and lists alone come Python's numbers and lists. A user may define its derivatives by ``defvjp``
    and ``defjvp``, as those of the functions that Autograd calls primitives.

    >>> from lawful.autograd import grad
    >>> where(True, 1.0, 2.0), grad(lambda x: where(x > 0.0, x * x, 0.0))(3.0)
    (1.0, np.float64(6.0))
    """
    types = type(condition), type(x), type(y)
    if numpy.ndarray in types and _PLAIN.issuperset(types):
        return numpy.where(condition, x, y)
    others = [cls for cls in types if cls not in _PLAIN]
    if others and all([issubclass(cls, Tracer) for cls in others]):  # the common case of tracers
        return _where.apply(numpy.bool_(condition) if types[0] is bool else condition, x, y)
    if types == (bool, float, float):
        return x if condition else y
    if (x is _ABSENT) != (y is _ABSENT):
        raise ArgumentValueError(
            "where: expected a condition, or a condition, x and y, got others; give both or neither"
        )
    given: Any = (condition,) if x is _ABSENT else (condition, x, y)
    if any(map(_holds_tracers, given)):
        given = [x if type(x) in _PLAIN or isinstance(x, Tracer) else array(x) for x in given]
        apply = np.where if x is _ABSENT else _where.apply
        return apply(numpy.bool_(condition) if type(condition) is bool else given[0], *given[1:])
    found = numpy.where(*given)
    if len(given) == 3 and not any(map(_holds_arrays, given)):
        return found.tolist()
    return found


_where: Final = OfTracers("where", numpy.where, np.where)
where.own_rules = _where.own_rules  # type: ignore[attr-defined]


def _holds_arrays(x: Any) -> bool:
    is_list = isinstance(x, list | tuple)
    return any(map(_holds_arrays, x)) if is_list else isinstance(x, numpy.ndarray | numpy.generic)


def make_diagonal(D: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Returns matrices with vectors as diagonals, which are along the last dimension.

    Args:
      D: an array.
      offset: has to be 0.
      axis1: has to be -1.
      axis2: has to be -2.

    Raises:
      NotImplementedError: another diagonal is asked for.

    >>> make_diagonal(numpy.array([1.0, 2.0]), axis1=-1, axis2=-2)
    array([[1., 0.],
           [0., 2.]])
    """
    if (offset, axis1, axis2) != (0, -1, -2):
        raise NotImplementedError("make_diagonal: expected offset=0, axis1=-1 and axis2=-2; use diag of a matrix")
    D = np.asarray(D)
    return D[..., None] * numpy.eye(D.shape[-1])


class Concatenator:
    """``r_`` or ``c_`` of NumPy, whose parts may be traced.

    Args:
      of_values: NumPy's.
      of_tracers: lawful's.
    """

    def __init__(self, of_values: Any, of_tracers: Any) -> None:
        self._of_values = of_values
        self._of_tracers = of_tracers

    def __getitem__(self, parts: Any) -> Any:
        parts = tuple(map(_part, parts)) if isinstance(parts, tuple) else _part(parts)
        traced = any(map(_holds_tracers, parts if isinstance(parts, tuple) else (parts,)))
        return (self._of_tracers if traced else self._of_values)[parts]


def _part(x: Any) -> Any:
    return array(x) if isinstance(x, list) else x


def of_iterables(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that joins a sequence of arrays, for any iterable of arrays.

    >>> of_iterables(numpy.hstack)({"a": 1.0, "b": 2.0}.values())
    array([1., 2.])
    """

    @wraps(function)
    def joined(arrays: Any, *args: Any, **kwargs: Any) -> Any:
        is_sequence = isinstance(arrays, list | tuple | numpy.ndarray | Tracer)
        return function(arrays if is_sequence else list(arrays), *args, **kwargs)

    return joined


def absolute(x: Any, *args: Any, **kwargs: Any) -> Any:
    """Returns the absolute value of a traced array, whose derivative at 0 is 0, as Autograd's.

    ``maximum(x, 0.0) + log1p(exp(-absolute(x)))``, which is ``log(1 + exp(x))``, has the derivative 1/2 at 0 by it, as
    that of ``maximum`` is 1/2.
    """
    if args or kwargs or not isinstance(x, Tracer) or x.dtype.kind != "f":
        return np.abs(x, *args, **kwargs)
    value = getval(x)
    library: ModuleType = numpy
    if isinstance(value, Tracer):
        value, library = stop_gradient(value), np
    return x * library.copysign(library.sign(value), value)  # so that -0.0 gives 0.0


def real_if_close(a: Any, tol: float = 100) -> Any:
    """Returns a traced array, its real part if the values of the imaginary part are within some machine epsilons."""
    value = getval(a)
    return a if numpy.iscomplexobj(numpy.real_if_close(value, tol)) else np.real(a)
