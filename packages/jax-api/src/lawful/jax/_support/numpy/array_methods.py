"""The operators and methods of `Array`, and those of JAX's arrays that tracers have too."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy

from lawful import numpy as lawful_numpy
from lawful import ops
from lawful.core import Tracer, define_array_methods
from lawful.jax._support.array import Array, ArrayAt, ArrayAtIndex, as_jax, placed, plain, weak

Method = Callable[..., Any]


def _operator(method: Method) -> Method:
    """Returns an operator that does what it does between tracers, so that programs compute the same eagerly."""

    def operate(self: Array, *others: Any) -> Any:
        with numpy.errstate(all="ignore"):
            result = method(plain(self), *map(plain, others))
        return weak(result) if type(result) in _PYTHON_SCALARS else as_jax(result)

    return operate


def _in_place(method: Method) -> Method:
    def operate(self: Array, other: Any) -> Any:
        return method(self, other)

    return operate


def _method(function: Method) -> Method:
    def call(self: Array, *args: Any, **kwargs: Any) -> Any:
        with numpy.errstate(all="ignore"):
            return as_jax(function(self.view(numpy.ndarray), *map(plain, args), **kwargs))

    # Its examples are those of the function: they use other names.
    call.__name__, call.__doc__ = function.__name__, (function.__doc__ or "").strip().partition("\n\n")[0]
    return call


def _update(name: str) -> Method:
    def update(self: Any, *values: Any, out_sharding: Any = None, **kwargs: Any) -> Any:
        with numpy.errstate(all="ignore"):
            return placed(as_jax(getattr(ops.AtIndex, name)(self, *map(plain, values), **kwargs)), out_sharding)

    return update


def _with_place(method: Method) -> Method:
    """Returns a method whose result is laid out as the argument ``out_sharding`` says."""

    @functools.wraps(method)
    def call(self: Any, *args: Any, out_sharding: Any = None, **kwargs: Any) -> Any:
        return placed(method(self, *args, **kwargs), out_sharding)

    return call


def _with_keywords(name: str, method: Method) -> Method:
    """Returns a method that is the function of `jax.numpy` of its name where keywords are given that only that has."""

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs and not _KEYWORDS.isdisjoint(kwargs):
            return getattr(importlib.import_module("lawful.jax.numpy"), name)(self, *args, **kwargs)
        return method(self, *args, **kwargs)

    return call


_KEYWORDS = frozenset({"promote_integers", "method", "fill_value", "unique_indices", "indices_are_sorted"})
_PYTHON_SCALARS = (bool, int, float, complex)
_OPERATORS = (
    *("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "rfloordiv", "mod", "rmod"),
    *("divmod", "rdivmod", "pow", "rpow", "matmul", "rmatmul", "and", "rand", "or", "ror", "xor", "rxor", "lshift"),
    *("rlshift", "rshift", "rrshift", "eq", "ne", "lt", "le", "gt", "ge", "neg", "abs", "invert", "round"),
)
_IN_PLACE = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift")
_METHODS = (
    *("all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "choose", "clip", "conj"),
    *("conjugate", "copy", "cumprod", "cumsum", "diagonal", "max", "mean", "min", "nonzero", "prod", "ptp"),
    *("ravel", "repeat", "round", "searchsorted", "sort", "squeeze", "std", "sum", "swapaxes", "take", "trace", "var"),
)


def _dot(
    self: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None, out_sharding: Any = None
) -> Any:
    """Returns the product with an array; see `lawful.jax.numpy.dot`."""
    given = {"precision": precision, "preferred_element_type": preferred_element_type}
    products = importlib.import_module("lawful.jax._support.numpy.products")
    return placed(products.dot(self, b, **{name: x for name, x in given.items() if x is not None}), out_sharding)


def _define_methods() -> None:
    for name in _OPERATORS:
        setattr(Array, f"__{name}__", _operator(getattr(ops.ArrayMethods, f"__{name}__")))
    # `x += y` binds x to a new array.
    for name in _IN_PLACE:
        setattr(Array, f"__i{name}__", _in_place(getattr(Array, f"__{name}__")))
    for name in _METHODS:
        setattr(Array, name, _method(getattr(lawful_numpy, name)))
    Array.compress = _method(ops.ArrayMethods.compress)  # type: ignore[method-assign]
    # In a program of NumPy's it would sort in place, so lawful's tracers have no such method by themselves.
    define_array_methods(type("Sorting", (), {"sort": lawful_numpy.sort}))
    Array.dot = _method(_dot)  # type: ignore[method-assign]
    define_array_methods(type("Products", (), {"dot": _dot}))
    for name in ("flatten", "reshape", "transpose"):
        setattr(Array, name, _method(getattr(numpy.ndarray, name)))
    # Tracers have JAX's arguments too.
    for name in ("flatten", "ravel", "repeat", "reshape"):
        setattr(Array, name, _with_place(getattr(Array, name)))
        define_array_methods(type("Placed", (), {name: _with_place(getattr(Tracer, name))}))
    for name in ("prod", "searchsorted", "sum", "take"):
        setattr(Array, name, _with_keywords(name, getattr(Array, name)))
        define_array_methods(type("Keywords", (), {name: _with_keywords(name, getattr(Tracer, name))}))
    define_array_methods(type("Updated", (), {"at": property(ArrayAt, doc=Array.at.__doc__)}))
    for name in vars(ops.AtIndex):
        if not name.startswith("_"):
            setattr(ArrayAtIndex, name, _update(name))


_define_methods()
