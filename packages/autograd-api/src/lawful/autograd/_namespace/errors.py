"""Errors about values, such as that of a singular matrix, where the values of what is traced are known."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any, Final

import numpy

from lawful import tree
from lawful.autograd._primitive.function import getval
from lawful.core import Tracer

Function = Callable[..., Any]

_NUMBERS: Final = (float, numpy.float64)


def raising(of_values: Function, of_tracers: Function) -> Function:
    """Returns a function of tracers that raises the errors which a library's function raises for the values.

    Args:
      of_values: the library's function.
      of_tracers: lawful's function, which gives NaN or infinity where the other one raises.

    Values of a program that is being recorded are not known: they give NaN.

    >>> from lawful.autograd import grad
    >>> inverse = raising(numpy.linalg.inv, lambda a: a / 0.0)
    >>> with numpy.errstate(all="ignore"):
    ...     grad(lambda a: inverse(a)[0, 0])(numpy.zeros((2, 2)))
    Traceback (most recent call last):
    numpy.linalg.LinAlgError: Singular matrix
    """

    @wraps(of_tracers, updated=())
    def function(*args: Any, **kwargs: Any) -> Any:
        result = of_tracers(*args, **kwargs)
        if not all(map(_is_plausible, result if isinstance(result, tuple) else (result,))):
            values = tree.map(getval, (args, kwargs))
            if not any([isinstance(x, Tracer) for x in tree.leaves(values)]):
                of_values(*values[0], **values[1])
        return result

    return function


def _is_plausible(x: Any) -> bool:
    """Whether a result shows that there was no error: all elements are finite, and there is one."""
    value = getval(x)
    if isinstance(value, Tracer):
        return True
    if type(value) in _NUMBERS:
        return math.isfinite(value)
    return bool(numpy.size(value) and numpy.isfinite(value).all())
