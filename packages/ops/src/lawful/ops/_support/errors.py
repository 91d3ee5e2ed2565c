"""Errors of ops."""

from __future__ import annotations

import numpy as np

from lawful.core import ArgumentValueError

__all__ = ["AxisError"]


class AxisError(ArgumentValueError, np.exceptions.AxisError):
    """An axis is named that the array does not have. ``except numpy.exceptions.AxisError`` catches it too.

    >>> from lawful import ops
    >>> ops.squeeze(np.ones((1, 2)), 2)
    Traceback (most recent call last):
    lawful.ops._support.errors.AxisError: ...: squeeze: expected an axis of an array with 2 dimensions, got 2...
    """

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (str(self),)


def _rebuild(message: str) -> AxisError:
    """Unpickles the error, whose text already includes the source line."""
    error = AxisError.__new__(AxisError)
    np.exceptions.AxisError.__init__(error, message)
    error.source = None
    return error
