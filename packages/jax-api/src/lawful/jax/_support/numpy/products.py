"""Products of `jax.numpy`, with JAX's ``precision`` and ``preferred_element_type``.

Numbers are multiplied in their own dtype, or in the preferred one where it is wider: ``precision`` changes nothing on
the processor.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy

from lawful import numpy as lawful_numpy
from lawful.core import ArgumentValueError, Tracer, as_dtype, is_array
from lawful.numpy import linalg

_OWN = ("precision", "preferred_element_type")
_PRECISIONS = (None, "default", "fastest", "high", "bfloat16_3x", "tensorfloat32", "float32", "highest", "bfloat16")


def _preferring(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a product that computes in a preferred dtype."""

    @functools.wraps(function)
    def product(*args: Any, precision: Any = None, preferred_element_type: Any = None, **kwargs: Any) -> Any:
        if isinstance(precision, str) and precision.lower() not in _PRECISIONS:
            raise ArgumentValueError(f"{function.__name__}: expected a precision of {_PRECISIONS}, got {precision!r}")
        if preferred_element_type is None:
            return function(*args, **kwargs)
        wanted = as_dtype(preferred_element_type)
        converted = [_at_least(x, wanted) for x in args]
        return lawful_numpy.astype(function(*converted, **kwargs), wanted)

    known = inspect.signature(function)
    own = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in _OWN]
    last = [p for p in known.parameters.values() if p.kind is p.VAR_KEYWORD]
    others = [p for p in known.parameters.values() if p.kind is not p.VAR_KEYWORD]
    product.__signature__ = inspect.Signature([*others, *own, *last])  # type: ignore[attr-defined]
    return product


def _at_least(x: Any, wanted: numpy.dtype[Any]) -> Any:
    if isinstance(x, str | int | float | complex | list | tuple) or not (isinstance(x, Tracer) or is_array(x)):
        return x
    return lawful_numpy.astype(x, lawful_numpy.promote_types(x.dtype, wanted))


convolve = _preferring(lawful_numpy.convolve)
correlate = _preferring(lawful_numpy.correlate)
dot = _preferring(lawful_numpy.dot)
einsum = _preferring(lawful_numpy.einsum)
inner = _preferring(lawful_numpy.inner)
matmul = _preferring(lawful_numpy.matmul)
tensordot = _preferring(lawful_numpy.tensordot)
vdot = _preferring(lawful_numpy.vdot)
vecdot = _preferring(lawful_numpy.vecdot)
multi_dot = _preferring(linalg.multi_dot)
