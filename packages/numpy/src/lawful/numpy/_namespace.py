"""All names of `lawful.numpy`, which is where they are looked up: what is not there yet comes from here."""

# ruff: noqa: F403  # each module says what is public in it
from lawful.numpy import (
    _averages,
    _broadcasting,
    _choice,
    _closeness,
    _concatenators,
    _constants,
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
from lawful.numpy._averages import *
from lawful.numpy._broadcasting import *
from lawful.numpy._choice import *
from lawful.numpy._closeness import *
from lawful.numpy._concatenators import *
from lawful.numpy._constants import *
from lawful.numpy._correlation import *
from lawful.numpy._counterparts import register_counterparts as _register_counterparts
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

__all__ = ["fft", "linalg"]
__all__ += _averages.__all__
__all__ += _broadcasting.__all__
__all__ += _choice.__all__
__all__ += _closeness.__all__
__all__ += _concatenators.__all__
__all__ += _constants.__all__
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

_register_counterparts({name: globals()[name] for name in __all__})
