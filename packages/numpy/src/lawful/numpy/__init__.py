"""The NumPy namespace of lawful: NumPy's names, arguments and promotion; functions that differentiate, batch, compile.

Eagerly they compute with NumPy and give NumPy arrays; under a transformation they run the ops of `lawful.ops`. With
this module installed, NumPy's own functions of these names do the same with tracers: ``numpy.sum(x)``. Lists are
arrays for `array` and `asarray` only.

>>> import lawful.numpy as np
>>> def softmax(x):
...     unnormalized = np.exp(x - np.max(x, axis=-1, keepdims=True))
...     return unnormalized / np.sum(unnormalized, axis=-1, keepdims=True)
>>> softmax(np.array([[0.0, 0.0], [1000.0, 0.0]]))
array([[0.5, 0.5],
       [1. , 0. ]])
"""

# ruff: noqa: F403  # each module lists its public names
import os as _os
import typing as _typing

from lawful.core import lazy_imports as _lazy_imports
from lawful.numpy import _fast as _fast  # installs the accelerators, which the functions below are made with

# isort: split
from lawful.numpy._array_api_info import ARRAY_API_VERSION as _ARRAY_API_VERSION
from lawful.numpy._array_api_info import ArrayNamespaceInfo as _ArrayNamespaceInfo
from lawful.numpy._constants import *
from lawful.numpy._counterparts import register_counterparts as _register_counterparts
from lawful.numpy._creation.arrays import *
from lawful.numpy._dtypes import *
from lawful.numpy._left_out import missing as _missing
from lawful.numpy._linalg.products import *
from lawful.numpy._logic.number_tests import *
from lawful.numpy._manipulation.broadcasting import *
from lawful.numpy._manipulation.joining import *
from lawful.numpy._manipulation.shape import *
from lawful.numpy._reductions.averages import *
from lawful.numpy._reductions.reductions import *
from lawful.numpy._ufuncs.choice import *
from lawful.numpy._ufuncs.elementwise import *

__array_api_version__, __array_namespace_info__ = _ARRAY_API_VERSION, _ArrayNamespaceInfo

if _typing.TYPE_CHECKING:
    from lawful.numpy._namespace import *
else:
    _register_counterparts({name: x for name, x in globals().items() if name[0] != "_"})
    __getattr__, __dir__ = _lazy_imports(__name__, "_namespace", missing=_missing)
    if _os.environ.get("LAWFUL_DEBUG_NANS"):
        from lawful import staging as _staging  # noqa: F401  # it switches `debug_nans` on
