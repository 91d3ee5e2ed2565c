"""NumPy's ``random``, as it is: its functions are given values."""

import typing as _typing

import numpy.random as _random

from lawful.autograd._namespace.lookup import values_only as _values_only

if _typing.TYPE_CHECKING:
    from lawful.autograd._typed.numpy_random import *  # noqa: F403
else:
    __getattr__, __dir__ = _values_only(__name__, _random)
    __all__ = [name for name in __dir__() if name[0] != "_"]
