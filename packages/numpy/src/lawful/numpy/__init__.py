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

# ruff: noqa: F403  # each module says what is public in it
import builtins as _builtins
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

import numpy as _numpy
from lawful.numpy import (
    _averages,
    _broadcasting,
    _choice,
    _closeness,
    _concatenators,
    _correlation,
    _creation,
    _cumulative,
    _diagonals,
    _differences,
    _dtypes,
    _editing,
    _einsum,
    _elementwise,
    _functional,
    _grids,
    _histograms,
    _index_grids,
    _indexing,
    _joining,
    _kinds_of_numbers,
    _manipulation,
    _matrices,
    _medians,
    _nan_reductions,
    _number_parts,
    _packed_bits,
    _padding,
    _placing,
    _polynomial_roots,
    _polynomials,
    _products,
    _quantiles,
    _reduction,
    _searching,
    _sequences,
    _sets,
    _signals,
    _sorting,
    _splitting,
    _unique,
    _unique_results,
    _vector_products,
    _windows,
    fft,
    linalg,
)
from lawful.numpy._array_api_info import ARRAY_API_VERSION as _ARRAY_API_VERSION
from lawful.numpy._array_api_info import ArrayNamespaceInfo as _ArrayNamespaceInfo
from lawful.numpy._averages import *
from lawful.numpy._broadcasting import *
from lawful.numpy._choice import *
from lawful.numpy._closeness import *
from lawful.numpy._concatenators import *
from lawful.numpy._correlation import *
from lawful.numpy._creation import *
from lawful.numpy._cumulative import *
from lawful.numpy._diagonals import *
from lawful.numpy._differences import *
from lawful.numpy._dtypes import *
from lawful.numpy._editing import *
from lawful.numpy._einsum import *
from lawful.numpy._elementwise import *
from lawful.numpy._functional import *
from lawful.numpy._grids import *
from lawful.numpy._histograms import *
from lawful.numpy._index_grids import *
from lawful.numpy._indexing import *
from lawful.numpy._joining import *
from lawful.numpy._kinds_of_numbers import *
from lawful.numpy._left_out import left_out as _left_out
from lawful.numpy._left_out import missing as _missing
from lawful.numpy._manipulation import *
from lawful.numpy._matrices import *
from lawful.numpy._medians import *
from lawful.numpy._nan_reductions import *
from lawful.numpy._number_parts import *
from lawful.numpy._packed_bits import *
from lawful.numpy._padding import *
from lawful.numpy._placing import *
from lawful.numpy._polynomial_roots import *
from lawful.numpy._polynomials import *
from lawful.numpy._products import *
from lawful.numpy._quantiles import *
from lawful.numpy._reduction import *
from lawful.numpy._searching import *
from lawful.numpy._sequences import *
from lawful.numpy._sets import *
from lawful.numpy._signals import *
from lawful.numpy._sorting import *
from lawful.numpy._splitting import *
from lawful.numpy._unique import *
from lawful.numpy._unique_results import *
from lawful.numpy._vector_products import *
from lawful.numpy._windows import *
from lawful.ops import register_numpy_functions as _register_numpy_functions

__array_api_version__, __array_namespace_info__ = _ARRAY_API_VERSION, _ArrayNamespaceInfo

pi, e, euler_gamma = _numpy.pi, _numpy.e, _numpy.euler_gamma
inf, nan, newaxis = _numpy.inf, _numpy.nan, _numpy.newaxis
True_, False_ = _numpy.True_, _numpy.False_
dtype, issubdtype = _numpy.dtype, _numpy.issubdtype

__all__ = ["pi", "e", "euler_gamma", "inf", "nan", "newaxis", "True_", "False_", "dtype", "issubdtype", "fft", "linalg"]
__all__ += _averages.__all__
__all__ += _broadcasting.__all__
__all__ += _choice.__all__
__all__ += _closeness.__all__
__all__ += _concatenators.__all__
__all__ += _correlation.__all__
__all__ += _creation.__all__
__all__ += _cumulative.__all__
__all__ += _diagonals.__all__
__all__ += _differences.__all__
__all__ += _dtypes.__all__
__all__ += _editing.__all__
__all__ += _einsum.__all__
__all__ += _elementwise.__all__
__all__ += _functional.__all__
__all__ += _grids.__all__
__all__ += _histograms.__all__
__all__ += _index_grids.__all__
__all__ += _indexing.__all__
__all__ += _joining.__all__
__all__ += _kinds_of_numbers.__all__
__all__ += _manipulation.__all__
__all__ += _matrices.__all__
__all__ += _medians.__all__
__all__ += _nan_reductions.__all__
__all__ += _number_parts.__all__
__all__ += _packed_bits.__all__
__all__ += _padding.__all__
__all__ += _placing.__all__
__all__ += _polynomial_roots.__all__
__all__ += _polynomials.__all__
__all__ += _products.__all__
__all__ += _quantiles.__all__
__all__ += _reduction.__all__
__all__ += _searching.__all__
__all__ += _sequences.__all__
__all__ += _sets.__all__
__all__ += _signals.__all__
__all__ += _sorting.__all__
__all__ += _splitting.__all__
__all__ += _unique.__all__
__all__ += _unique_results.__all__
__all__ += _vector_products.__all__
__all__ += _windows.__all__


def _counterparts() -> dict[_Any, _Any]:
    """Returns the functions of NumPy that have the name of one here, with it."""
    pairs = ((vars(_numpy).get(name), globals()[name]) for name in __all__)
    return {theirs: ours for theirs, ours in pairs if _builtins.callable(theirs) and theirs is not ours}


_register_numpy_functions(
    _counterparts(),
    left_out={
        vars(_numpy)[name]: reason
        for name, reason in _left_out.items()
        # Not by getattr, which would import the submodules that NumPy imports late.
        if _builtins.callable(vars(_numpy).get(name))
    },
)

if not _TYPE_CHECKING:

    def __getattr__(name: str) -> _Any:
        raise _missing(name)
