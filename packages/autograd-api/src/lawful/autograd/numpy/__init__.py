"""NumPy's namespace: NumPy's own functions for values, and lawful's for what is traced.

>>> import lawful.autograd.numpy as np
>>> from lawful.autograd import grad
>>> grad(lambda x: np.sum(np.sin(x) * [1.0, 2.0]))(np.zeros(2))
array([1., 2.])
"""

import typing as _typing
from typing import Any as _Any

import numpy as _numpy

import lawful.numpy as _ours
from lawful.autograd._namespace import arrays as _arrays
from lawful.autograd._namespace.arrays import array, asarray, make_diagonal, where
from lawful.autograd._namespace.lookup import namespace_of as _namespace_of
from lawful.autograd._namespace.vectorize import vectorize

if _typing.TYPE_CHECKING:
    from lawful.autograd._typed.numpy import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace_of(
        __name__,
        _numpy,
        "lawful.numpy",
        submodules=("linalg", "fft", "random", "numpy_boxes", "numpy_vjps", "numpy_vspaces"),
        instead={
            "real_if_close": _arrays.real_if_close,
            **dict.fromkeys(["abs", "absolute", "fabs"], _arrays.absolute),
        },
    )
    concatenate, stack, vstack, hstack, column_stack = [
        _arrays.of_iterables(__getattr__(name)) for name in ("concatenate", "stack", "vstack", "hstack", "column_stack")
    ]
    row_stack: _Any = vstack
r_, c_ = _arrays.Concatenator(_numpy.r_, _ours.r_), _arrays.Concatenator(_numpy.c_, _ours.c_)
if not _typing.TYPE_CHECKING:
    __all__ = [
        "array",
        "asarray",
        "make_diagonal",
        "vectorize",
        "where",
        *[name for name in __dir__() if name[0] != "_"],
    ]
__version__: _Any = _numpy.__version__
