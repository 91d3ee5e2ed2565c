"""Results of functions that are differentiated: whether they depend on the argument, and are of one element."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import lawful.numpy as np
from lawful.autograd import _tree as tree
from lawful.core import ArgumentTypeError, ShapedArray, Tracer, current, get_aval, is_array, is_inexact

Function = Callable[..., Any]


def noticed(fun: Function) -> Function:
    """Returns a function that warns if its result does not depend on what it is differentiated by."""

    def checked(*args: Any, **kwargs: Any) -> Any:
        result = fun(*args, **kwargs)
        if not isinstance(result, Tracer) or result._trace is not current.trace:
            warn_if_independent(result)
            return tree.ordered(result)
        return result

    return checked


def flattened(fun: Function) -> Function:
    """Returns the function of `noticed` with `Flat` for a result that is a tuple, list or dict."""
    checked = noticed(fun)

    def flat(*args: Any, **kwargs: Any) -> Any:
        result = checked(*args, **kwargs)
        return tree.Flat(*tree.flatten(result)) if isinstance(result, tuple | list | dict) else result

    return flat


def warn_if_independent(result: Any) -> None:
    """Warns if no leaf of a result is a tracer of the current trace."""
    if not any([isinstance(x, Tracer) and x._trace is current.trace for x in tree.leaves(result)]):
        warnings.warn("Output seems independent of input.", stacklevel=2)


def as_number(name: str, result: Any) -> Any:
    """Returns a result of one element as a real scalar.

    Args:
      name: of the operator, for messages.
      result: what the function returned.

    Raises:
      ArgumentTypeError: it has more elements, is complex or no array.
    """
    if isinstance(result, Tracer):
        aval = result.aval
        if not aval.shape and aval.dtype.kind == "f" and result._trace is current.trace:
            return result
    else:
        aval = _aval_of(name, result)
    if aval.size != 1 or aval.dtype.kind == "c":
        raise ArgumentTypeError(
            f"{name}: only applies to real scalar-output functions, got a result of type {aval}; sum it up, or use "
            "jacobian, elementwise_grad or holomorphic_grad"
        )
    warn_if_independent(result)
    result = result if is_inexact(aval.dtype) else np.astype(np.asarray(result), float)
    return np.reshape(result, ()) if aval.shape else result


def _aval_of(name: str, result: Any) -> ShapedArray:
    if is_array(result):
        return get_aval(result)
    raise ArgumentTypeError(
        f"{name}: expected a function that returns a real number, got a {type(result).__name__}; return one number, "
        "the rest with grad_and_aux, or use make_vjp"
    )


def summed(name: str, result: Any) -> Any:
    """Returns the sum of all elements of a result.

    Args:
      name: of the operator, for messages.
      result: a real array, or a pytree of them.

    Raises:
      ArgumentTypeError: it is complex.
    """
    if isinstance(result, tuple | list | dict):
        total: Any = sum([summed(name, x) for x in tree.leaves(result)])
        return total
    aval = _aval_of(name, result)
    if aval.dtype.kind == "c":
        raise ArgumentTypeError(
            f"{name}: only applies to real-output functions, got a result of type {aval}; take a real part"
        )
    if not isinstance(result, Tracer) or result._trace is not current.trace:
        warn_if_independent(result)
        result = result if is_inexact(aval.dtype) else np.astype(np.asarray(result), float)
    return np.sum(result) if aval.shape else result
