"""``jax.numpy``: `lawful.numpy` with JAX's arguments, whose eager results are `lawful.jax.Array`s.

>>> import lawful.jax.numpy as jnp
>>> jnp.zeros(3).at[1].set(2.0)
Array([0., 2., 0.], dtype=float64)
"""

import functools as _functools
import typing as _typing
from typing import Any as _Any

import ml_dtypes as _ml_dtypes
import numpy as _numpy
from numpy.exceptions import ComplexWarning

from lawful import numpy as _lawful_numpy
from lawful.jax._support.array import Array as ndarray
from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.jax._support.namespaces.wrapping import returns_arrays as _returns_arrays
from lawful.jax._support.namespaces.wrapping import transforms as _transforms
from lawful.jax._support.numpy import creation as _creation
from lawful.jax._support.numpy import products as _products
from lawful.jax._support.numpy import scalar_types as _scalar_types
from lawful.jax._support.numpy import ufunc as _ufuncs
from lawful.jax._support.numpy.ufunc import frompyfunc, ufunc
from lawful.numpy._ufuncs.ufunc import Ufunc as _Ufunc

newaxis = None


def _wrapped(function: _Any, signature: _Any) -> _Any:
    """A function that returns functions is a transformation; those that are ufuncs in JAX are here too."""
    if isinstance(function, _Ufunc) and signature is not None and "args" in signature.parameters:
        return ufunc.of(function, signature)
    wrapped = (_transforms if function.__name__ == "vectorize" else _returns_arrays)(function, signature)
    if not function.__name__.endswith("_like"):
        return wrapped

    @_functools.wraps(wrapped)
    def of_described(*args: _Any, **kwargs: _Any) -> _Any:
        return wrapped(*map(_creation.described, args[:1]), *args[1:], **kwargs)

    return of_described


if _typing.TYPE_CHECKING:
    from lawful.jax._typed.numpy import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(
        __name__,
        _scalar_types,
        _creation,
        _products,
        _ufuncs,
        _lawful_numpy,
        _numpy,
        _ml_dtypes,
        submodules=("fft", "linalg"),
        wrap=_wrapped,
    )

__all__ = ["ComplexWarning", "frompyfunc", "ndarray", "newaxis", "ufunc"]
