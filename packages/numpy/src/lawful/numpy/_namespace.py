"""All names of `lawful.numpy`, which imports the lazy ones from here."""

# ruff: noqa: F403  # each module lists its public names
from typing import TYPE_CHECKING

from lawful.numpy import (
    _constants,
    _creation,
    _dtypes,
    _frompyfunc,
    _functional,
    _indexing,
    _linalg,
    _logic,
    _manipulation,
    _polynomials,
    _reductions,
    _signal,
    _sorting,
    _statistics,
    _ufuncs,
    fft,
    linalg,
)
from lawful.numpy._constants import *
from lawful.numpy._counterparts import register_counterparts as _register_counterparts
from lawful.numpy._creation.arrays import *
from lawful.numpy._creation.grids import *
from lawful.numpy._creation.matrices import *
from lawful.numpy._creation.ranges import *
from lawful.numpy._dtypes import *
from lawful.numpy._frompyfunc import *
from lawful.numpy._functional import *
from lawful.numpy._indexing.concatenators import *
from lawful.numpy._indexing.elements import *
from lawful.numpy._indexing.index_grids import *
from lawful.numpy._indexing.placing import *
from lawful.numpy._linalg.diagonals import *
from lawful.numpy._linalg.einsum import *
from lawful.numpy._linalg.products import *
from lawful.numpy._linalg.vector_products import *
from lawful.numpy._logic.closeness import *
from lawful.numpy._logic.number_parts import *
from lawful.numpy._logic.number_tests import *
from lawful.numpy._logic.packed_bits import *
from lawful.numpy._manipulation.broadcasting import *
from lawful.numpy._manipulation.editing import *
from lawful.numpy._manipulation.joining import *
from lawful.numpy._manipulation.padding import *
from lawful.numpy._manipulation.shape import *
from lawful.numpy._manipulation.splitting import *
from lawful.numpy._polynomials.calculus import *
from lawful.numpy._polynomials.coefficients import *
from lawful.numpy._polynomials.fitting import *
from lawful.numpy._polynomials.roots import *
from lawful.numpy._reductions.averages import *
from lawful.numpy._reductions.cumulative import *
from lawful.numpy._reductions.nan_reductions import *
from lawful.numpy._reductions.reductions import *
from lawful.numpy._signal.correlation import *
from lawful.numpy._signal.differences import *
from lawful.numpy._signal.samples import *
from lawful.numpy._signal.windows import *
from lawful.numpy._sorting.searching import *
from lawful.numpy._sorting.sets import *
from lawful.numpy._sorting.sorting import *
from lawful.numpy._sorting.unique import *
from lawful.numpy._sorting.unique_results import *
from lawful.numpy._statistics.histograms import *
from lawful.numpy._statistics.medians import *
from lawful.numpy._statistics.quantiles import *
from lawful.numpy._ufuncs.choice import *
from lawful.numpy._ufuncs.elementwise import *

# A type checker follows the imports above; it cannot read `__all__` of a module that is an attribute.
if not TYPE_CHECKING:
    __all__ = ["fft", "linalg"]
    __all__ += _constants.__all__
    __all__ += _creation.arrays.__all__
    __all__ += _creation.grids.__all__
    __all__ += _creation.matrices.__all__
    __all__ += _creation.ranges.__all__
    __all__ += _dtypes.__all__
    __all__ += _frompyfunc.__all__
    __all__ += _functional.__all__
    __all__ += _indexing.concatenators.__all__
    __all__ += _indexing.elements.__all__
    __all__ += _indexing.index_grids.__all__
    __all__ += _indexing.placing.__all__
    __all__ += _linalg.diagonals.__all__
    __all__ += _linalg.einsum.__all__
    __all__ += _linalg.products.__all__
    __all__ += _linalg.vector_products.__all__
    __all__ += _logic.closeness.__all__
    __all__ += _logic.number_tests.__all__
    __all__ += _logic.number_parts.__all__
    __all__ += _logic.packed_bits.__all__
    __all__ += _manipulation.broadcasting.__all__
    __all__ += _manipulation.editing.__all__
    __all__ += _manipulation.joining.__all__
    __all__ += _manipulation.padding.__all__
    __all__ += _manipulation.shape.__all__
    __all__ += _manipulation.splitting.__all__
    __all__ += _polynomials.calculus.__all__
    __all__ += _polynomials.coefficients.__all__
    __all__ += _polynomials.fitting.__all__
    __all__ += _polynomials.roots.__all__
    __all__ += _reductions.cumulative.__all__
    __all__ += _reductions.nan_reductions.__all__
    __all__ += _reductions.reductions.__all__
    __all__ += _signal.correlation.__all__
    __all__ += _signal.differences.__all__
    __all__ += _signal.samples.__all__
    __all__ += _signal.windows.__all__
    __all__ += _sorting.searching.__all__
    __all__ += _sorting.sets.__all__
    __all__ += _sorting.sorting.__all__
    __all__ += _sorting.unique.__all__
    __all__ += _sorting.unique_results.__all__
    __all__ += _reductions.averages.__all__
    __all__ += _statistics.histograms.__all__
    __all__ += _statistics.medians.__all__
    __all__ += _statistics.quantiles.__all__
    __all__ += _ufuncs.choice.__all__
    __all__ += _ufuncs.elementwise.__all__
    _register_counterparts({name: globals()[name] for name in __all__})
