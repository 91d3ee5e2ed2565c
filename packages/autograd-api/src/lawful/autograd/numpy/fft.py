"""NumPy's ``fft``: NumPy's own functions for values, and lawful's for what is traced."""

import typing as _typing

import numpy.fft as _fft

from lawful.autograd._namespace.lookup import namespace_of as _namespace_of

if _typing.TYPE_CHECKING:
    from lawful.autograd._typed.numpy_fft import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace_of(__name__, _fft, "lawful.numpy.fft")
    __all__ = [name for name in __dir__() if name[0] != "_"]
