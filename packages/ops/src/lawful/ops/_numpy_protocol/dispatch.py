"""NumPy's functions of tracers and device arrays: ``numpy.sin(x)`` and ``numpy.sum(x)`` call lawful's functions.

NumPy hands calls over to its arguments: of a ufunc by ``__array_ufunc__``, of any other function by
``__array_function__``. One table maps NumPy's functions to lawful's. This package registers those of its ops. Other
distributions call `register_numpy_functions`, in a module that an entry point of the group ``lawful.numpy_functions``
names. These modules, and all lazy imports of packages, are loaded when a function is first missing.

A tracer never becomes a NumPy array: a function that lawful lacks is an error that says what to do. A device array has
a value, so NumPy computes what lawful does not.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import ModuleType
from typing import Any, Final, NoReturn, cast

import numpy as np

from lawful import tree
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    Hook,
    LawfulError,
    NonArrayError,
    Tracer,
    get_aval,
    is_array,
    load_lazy_imports,
    to_numpy,
)
from lawful.ops._bits import gcd as _gcd
from lawful.ops._elementwise import comparison as _comparison
from lawful.ops._elementwise.arithmetic import arithmetic as _arithmetic
from lawful.ops._elementwise.arithmetic import length as _length
from lawful.ops._elementwise.arithmetic.division import floor_divide, remainder, true_divide
from lawful.ops._elementwise.comparison import shift_right
from lawful.ops._elementwise.complex_parts import imag, real
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._elementwise.select import where
from lawful.ops._elementwise.transcendental import exponential as _exponential
from lawful.ops._elementwise.transcendental import hyperbolic as _hyperbolic
from lawful.ops._elementwise.transcendental import logaddexp as _logaddexp
from lawful.ops._elementwise.transcendental import trigonometric as _trigonometric
from lawful.ops._numpy_protocol import libraries
from lawful.ops._numpy_protocol import numpy_reduction as reduction
from lawful.ops._products.functions import dot, matmul, tensordot
from lawful.ops._reduction.cumulative import cummax, cummin
from lawful.ops._shape.iota import full_like
from lawful.ops._shape.squeeze import expand_dims
from lawful.ops._support.array_like import from_array_like

__all__ = ["call_with_values", "register_numpy_functions"]

Function = Callable[..., Any]

_functions: dict[Function, Function] = {}
_left_out: dict[Function, str] = {}


def register_numpy_functions(
    functions: Mapping[Function, Function], left_out: Mapping[Function, str] | None = None
) -> None:
    """Makes functions of NumPy run others where an argument is a tracer or a device array.

    Args:
      functions: for each function of NumPy one with the same arguments, of which it may have fewer. The one for a ufunc
        may have its methods too.
      left_out: for functions that there is none for, why, and what to do instead.

    >>> shape = _functions[np.shape]
    >>> register_numpy_functions({np.shape: shape})
    >>> _functions[np.shape] is shape
    True
    """
    _functions.update(functions)
    _left_out.update(left_out or {})


def _declared(*modules: ModuleType) -> dict[Function, Function]:
    """Returns the elementwise ops of some modules, by the ufuncs in their declarations."""
    ops = [op for module in modules for op in vars(module).values() if isinstance(op, Elementwise)]
    return {op.numpy_function: op for op in ops if isinstance(op.numpy_function, np.ufunc)}


register_numpy_functions(
    {
        **_declared(_arithmetic, _comparison, _gcd, _length, _logaddexp, _exponential, _hyperbolic, _trigonometric),
        # Ops whose NumPy function is not the ufunc itself.
        **{getattr(np, op.__name__): op for op in (_exponential.log1p, _exponential.expm1)},
        np.sign: _arithmetic.sign,
        np.true_divide: true_divide,
        np.right_shift: shift_right,
        np.floor_divide: floor_divide,
        np.remainder: remainder,
        np.divmod: lambda x, y: (floor_divide(x, y), remainder(x, y)),
        np.matmul: matmul,
        **{getattr(np, f.__name__): f for f in (dot, tensordot, where, real, imag)},
        **{getattr(np, name): getattr(reduction, name) for name in ("sum", "prod", "max", "min", "all", "any")},
        **{getattr(np, name): getattr(reduction, name) for name in ("mean", "var", "std", "argmax", "argmin")},
        # Functions that work without lawful.numpy too.
        np.zeros_like: lambda a: full_like(a, 0),
        np.ones_like: lambda a: full_like(a, 1),
        np.full_like: full_like,
        np.shape: lambda a: get_aval(a).shape,
        np.ndim: lambda a: get_aval(a).ndim,
    }
)

# The functions for the methods of ufuncs, if lawful's function for the ufunc has no such method.
_AS_FUNCTION: dict[tuple[Any, str], Function] = {
    (np.add, "reduce"): reduction.sum,
    (np.multiply, "reduce"): reduction.prod,
    (np.maximum, "reduce"): reduction.max,
    (np.minimum, "reduce"): reduction.min,
    (np.logical_and, "reduce"): reduction.all,
    (np.logical_or, "reduce"): reduction.any,
    (np.maximum, "accumulate"): cummax,
    (np.minimum, "accumulate"): cummin,
}


@cache
def _load_entry_points() -> bool:
    """Registers the functions of other distributions; returns whether there are any, as ``lawful-numpy``."""
    # A lazy import, because it takes as long as that of all lawful modules.
    from importlib.metadata import entry_points

    points = entry_points(group="lawful.numpy_functions")
    for point in points:
        point.load()
    return len(points) > 0


def _find(function: Function) -> Function | None:
    """Returns lawful's function for one of NumPy, if there is one."""
    found = _functions.get(function) or libraries.found.get(function)
    for load in (load_lazy_imports, _load_entry_points, load_lazy_imports):
        if found is None:
            load()
            found = _functions.get(function)
    if found is None and isinstance(function, np.ufunc):
        # A ufunc that is not public and is called by a method of ndarray, such as that of `numpy.clip`.
        found = _functions.get(getattr(np, function.__name__, function)) or libraries.counterpart(function)
    return found


def function_of(function: Function) -> Function:
    """Returns lawful's function for one of NumPy, with all of its arguments: that of ``lawful.numpy``, if installed.

    Raises:
      ArgumentTypeError: there is none.
    """
    _load_entry_points()  # their functions may have more arguments
    load_lazy_imports()
    found = _find(function)
    if found is None:
        raise ArgumentTypeError(
            f"{function.__name__}: expected an installed function of arrays, got none; install lawful-numpy"
        )
    return found


def array_ufunc(self: Any, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """Calls a ufunc with a tracer or a device array among its arguments."""
    return ufunc_call_hook.use(ufunc, method, inputs, kwargs)


def _call_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if any(not is_array(x) and hasattr(x, "__array_ufunc__") for x in inputs):
        return NotImplemented  # another library's array may have an implementation
    function = _ufunc_method(ufunc, method)
    name = _name(ufunc) + ("" if method == "__call__" else f".{method}")
    of_library = ufunc in libraries.found
    if not any(isinstance(x, Tracer) for x in inputs):
        # A function of ours for a library's ufunc may call the ufunc for values.
        return _of_values(name, getattr(ufunc, method), None if of_library else function, inputs, kwargs)
    if function is not None and (not kwargs if of_library else _accepts(function, kwargs)):
        return _of_array_likes(function, inputs, kwargs)
    if method == "at":
        raise ArgumentTypeError(
            f"{name}: expected an operation that makes a new array, got one that writes into a traced array or with "
            f"traced values; write x = lawful.{name}(x, indices, values, inplace=False), or x.at[indices].add(values)"
        )
    _refuse(name, ufunc, function, kwargs)


#: Calls a ufunc: ``use(ufunc, method, inputs, kwargs)``.
ufunc_call_hook: Final[Hook[Callable[[np.ufunc, str, tuple[Any, ...], dict[str, Any]], Any]]] = Hook(
    "calls of ufuncs", _call_ufunc
)


def numpy_function(function: Function) -> Function | None:
    """Returns the function that is registered for one of NumPy."""
    return _functions.get(function)


def _name(ufunc: np.ufunc) -> str:
    """Returns the name of a ufunc, with that of its library if it is known."""
    if hasattr(np, ufunc.__name__):
        return f"numpy.{ufunc.__name__}"
    found = libraries.owner(ufunc)
    return ufunc.__name__ if found is None else f"{found[0]}.{found[1][0]}"


def array_function(
    self: Any, function: Function, types: Iterable[type], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Calls a NumPy function with a tracer or a device array among its arguments."""
    if any(not (issubclass(cls, np.ndarray) or _is_ours(cls)) for cls in types):
        return NotImplemented
    found = _find(function)
    name = f"{getattr(function, '__module__', None) or 'numpy'}.{function.__name__}"
    if not any(issubclass(cls, Tracer) for cls in types):
        return _of_values(name, function, found, args, kwargs)
    if found is not None and _accepts(found, kwargs):
        return _of_array_likes(found, args, kwargs)
    _refuse(name, function, found, kwargs)


def _of_array_likes(function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Calls lawful's function, which takes arrays, with arguments of NumPy's, which converts what it is given."""
    try:
        return function(*args, **kwargs)
    except NonArrayError:
        converted = [*map(_converted, args)], {key: _converted(x) for key, x in kwargs.items()}
        if all(map(operator.is_, (*args, *kwargs.values()), (*converted[0], *converted[1].values()))):
            raise
        return function(*converted[0], **converted[1])


def _converted(x: Any) -> Any:
    """Returns an array-like as an array; a sequence of arrays, as `concatenate` takes, with its elements converted."""
    if isinstance(x, list | tuple) and any([isinstance(element, Tracer) for element in x]):
        converted = [*map(from_array_like, x)]
        return x if all(map(operator.is_, x, converted)) else converted
    return from_array_like(x)


def _is_ours(cls: type) -> bool:
    return getattr(cls, "__array_ufunc__", None) is array_ufunc


def _ufunc_method(ufunc: np.ufunc, method: str) -> Function | None:
    """Returns the function for a call or a method of a ufunc; none for ``at``, which writes into its argument."""
    if method in ("__call__", "at"):
        return _find(ufunc) if method == "__call__" else None
    _load_entry_points()  # their functions may have methods
    load_lazy_imports()
    function = _find(ufunc)
    found = getattr(function, method, None)
    if found is not None:
        return cast(Function, found)
    if method == "outer":
        return _outer(ufunc)
    found = _AS_FUNCTION.get((ufunc, method))
    return None if found is None else _along_first(found)


def _outer(ufunc: np.ufunc) -> Function | None:
    function = _find(ufunc)
    if function is None or ufunc.nin != 2 or ufunc.signature is not None:
        return None

    def outer(x: Any, y: Any) -> Any:
        ndim = get_aval(x).ndim
        return function(expand_dims(x, tuple(range(ndim, ndim + get_aval(y).ndim))), y)

    return outer


def _along_first(function: Function) -> Function:
    """Returns a function that reduces along the first dimension by default, as the methods of ufuncs do."""

    def method(array: Any, axis: Any = 0, dtype: Any = None, keepdims: bool = False, initial: Any = None) -> Any:
        given = {"dtype": dtype, "keepdims": keepdims or None, "initial": initial}
        return function(array, axis=axis, **{name: value for name, value in given.items() if value is not None})

    return method


@cache
def _parameters(function: Function) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters)


@cache
def _takes_any_keyword(function: Function) -> bool:
    return any(p.kind is p.VAR_KEYWORD for p in inspect.signature(function).parameters.values())


def _accepts(function: Function, kwargs: Mapping[str, Any]) -> bool:
    """Returns whether a function accepts these keywords; ``out`` only if it is None."""
    if not kwargs:
        return True
    return kwargs.get("out") is None and (kwargs.keys() <= _parameters(function) or _takes_any_keyword(function))


def _of_values(
    name: str, function: Function, found: Function | None, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Calls lawful's function with device arrays, or NumPy's with their values if lawful has none that accepts them."""
    if found is not None and _accepts(found, kwargs):
        try:
            return found(*args, **kwargs)
        except LawfulError:
            pass  # NumPy accepts more, such as lists
    return call_with_values(name, function, args, kwargs)


def call_with_values(name: str, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls a function of NumPy with the values of device arrays.

    Args:
      name: the function, for error messages.
      function: the function.
      args: its arguments, in which device arrays may be anywhere.
      kwargs: those by name.

    Raises:
      ArgumentValueError: it would write into a device array.

    >>> call_with_values("numpy.sort", np.sort, (np.array([2, 1]),), {})
    array([1, 2])
    """

    def value(x: Any) -> Any:
        if not _is_ours(type(x)):
            return x
        view = np.asarray(to_numpy(x)).view()
        view.flags.writeable = False  # it may be a copy, in which writes would be lost
        return view

    args, kwargs = tree.map(value, (args, kwargs))
    try:
        return function(*args, **kwargs)
    except ValueError as error:
        if "read-only" in str(error):
            raise ArgumentValueError(
                f"{name}: expected an array that can be written to, got a device array, which is immutable; change a "
                "copy, y = numpy.array(x), or use the function of lawful.numpy with inplace=False"
            ) from error
        raise


def _refuse(name: str, function: Function, found: Function | None, kwargs: Mapping[str, Any]) -> NoReturn:
    if kwargs.get("out") is not None:
        raise ArgumentTypeError(
            f"{name}: expected no out=, got one: an array cannot be overwritten with traced values; use the "
            "result, and write x = x + y in place of x += y"
        )
    if found is None:
        default = (
            "compute it outside of the transformation, write it with functions of lawful.numpy and lawful.special, or "
            "give it rules of your own: lawful.staging.pure_callback with a derivative by "
            "lawful.custom_rules.custom_jvp, or primitive of lawful.autograd.extend"
            if _load_entry_points()
            else "install lawful-numpy, which has nearly all of NumPy's functions"
        )
        raise ArgumentTypeError(
            f"{name}: expected a function that lawful has too, got a tracer in one that it has not: "
            f"{_left_out.get(function, default)}"
        )
    unknown = ", ".join(f"{key}=" for key in kwargs if key not in _parameters(found))
    raise ArgumentTypeError(
        f"{name}: expected arguments that lawful's function has too, got {unknown} with a tracer; leave it out: "
        "convert with astype for dtype=, choose with lawful.numpy.where for where="
    )
