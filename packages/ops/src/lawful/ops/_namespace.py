"""All names of `lawful.ops`, for its lazy imports."""

# ruff: noqa: F403  # each module says what is public in it
from typing import TYPE_CHECKING

from lawful.ops import (
    _bits,
    _convolution,
    _elementwise,
    _fft,
    _indexing,
    _linalg,
    _numpy_protocol,
    _optimization_barrier,
    _products,
    _reduction,
    _shape,
    _special,
    _support,
)
from lawful.ops._bits.bitcast import *
from lawful.ops._bits.bits import *
from lawful.ops._bits.gcd import *
from lawful.ops._bits.random_bits import *
from lawful.ops._composite import Composite as Composite
from lawful.ops._composite import composite as composite
from lawful.ops._convolution import sliding_window as sliding_window
from lawful.ops._convolution.convolution import *
from lawful.ops._convolution.dimension_numbers import *
from lawful.ops._convolution.functions import *
from lawful.ops._convolution.patches import *
from lawful.ops._convolution.reduce_window import *
from lawful.ops._convolution.select_and_gather import *
from lawful.ops._convolution.sliding_window import *
from lawful.ops._elementwise.application import *
from lawful.ops._elementwise.arithmetic.arithmetic import *
from lawful.ops._elementwise.arithmetic.division import *
from lawful.ops._elementwise.arithmetic.length import *
from lawful.ops._elementwise.arithmetic.power import *
from lawful.ops._elementwise.arithmetic.power_derivative import *
from lawful.ops._elementwise.arithmetic.rounding import *
from lawful.ops._elementwise.arithmetic.signs import *
from lawful.ops._elementwise.comparison import *
from lawful.ops._elementwise.complex_parts import *
from lawful.ops._elementwise.compositions import *
from lawful.ops._elementwise.conversion import *
from lawful.ops._elementwise.declaration import *
from lawful.ops._elementwise.select import *
from lawful.ops._elementwise.transcendental.exponential import *
from lawful.ops._elementwise.transcendental.hyperbolic import *
from lawful.ops._elementwise.transcendental.logaddexp import *
from lawful.ops._elementwise.transcendental.trigonometric import *
from lawful.ops._fft import *
from lawful.ops._indexing.at import *
from lawful.ops._indexing.dynamic_slice import *
from lawful.ops._indexing.dynamic_slice_functions import *
from lawful.ops._indexing.gather_scatter.gather import *
from lawful.ops._indexing.gather_scatter.scatter import *
from lawful.ops._indexing.gather_scatter.windows import *
from lawful.ops._indexing.getitem import *
from lawful.ops._indexing.positions import *
from lawful.ops._indexing.take import *
from lawful.ops._indexing.take_along_dimension import *
from lawful.ops._linalg.cholesky import *
from lawful.ops._linalg.determinants import *
from lawful.ops._linalg.eigenvalues.eig import *
from lawful.ops._linalg.eigenvalues.eigh import *
from lawful.ops._linalg.eigenvalues.hessenberg import *
from lawful.ops._linalg.eigenvalues.schur import *
from lawful.ops._linalg.eigenvalues.tridiagonal import *
from lawful.ops._linalg.householder import *
from lawful.ops._linalg.inverse import *
from lawful.ops._linalg.qr import *
from lawful.ops._linalg.svd import *
from lawful.ops._linalg.symmetric_product import *
from lawful.ops._linalg.systems.factors import *
from lawful.ops._linalg.systems.lu import *
from lawful.ops._linalg.systems.solve import *
from lawful.ops._linalg.systems.triangular_solve import *
from lawful.ops._linalg.systems.tridiagonal_solve import *
from lawful.ops._numpy_protocol import numpy_reduction as numpy_reduction
from lawful.ops._numpy_protocol.dispatch import *
from lawful.ops._numpy_protocol.libraries import *
from lawful.ops._numpy_protocol.methods import *
from lawful.ops._optimization_barrier import *
from lawful.ops._products.dot_general import *
from lawful.ops._products.functions import *
from lawful.ops._products.precision import *
from lawful.ops._products.ragged import *
from lawful.ops._reduction.arg_reduction import *
from lawful.ops._reduction.cumulative import *
from lawful.ops._reduction.product_derivatives import *
from lawful.ops._reduction.reduction import *
from lawful.ops._reduction.sort import *
from lawful.ops._reduction.top_k import *
from lawful.ops._shape.iota import *
from lawful.ops._shape.joining import *
from lawful.ops._shape.ranks import *
from lawful.ops._shape.reshape import *
from lawful.ops._shape.slicing import *
from lawful.ops._shape.split import *
from lawful.ops._shape.squeeze import *
from lawful.ops._special.bessel import *
from lawful.ops._special.box_cox import *
from lawful.ops._special.entropy import *
from lawful.ops._special.error_functions.error_function import *
from lawful.ops._special.error_functions.faddeeva import *
from lawful.ops._special.error_functions.fresnel import *
from lawful.ops._special.error_functions.owens_t import *
from lawful.ops._special.error_functions.scaled_error_function import *
from lawful.ops._special.exponential_integrals import *
from lawful.ops._special.gamma.complex_gamma import *
from lawful.ops._special.gamma.densities import *
from lawful.ops._special.gamma.digamma_differences import *
from lawful.ops._special.gamma.digamma_means import *
from lawful.ops._special.gamma.gamma_function import *
from lawful.ops._special.gamma.incomplete_beta import *
from lawful.ops._special.gamma.incomplete_gamma import *
from lawful.ops._special.gamma.log_gamma import *
from lawful.ops._special.spence import *
from lawful.ops._special.trigonometric_integrals import *
from lawful.ops._support.array_like import *
from lawful.ops._support.batch_dimensions import *
from lawful.ops._support.eager import *
from lawful.ops._support.errors import *
from lawful.ops._support.promotion import *
from lawful.ops._support.structural import *

# A type checker reads the imports above; it cannot read `__all__` of a module that is an attribute.
if not TYPE_CHECKING:
    __all__ = ["Composite", "composite", "numpy_reduction", "sliding_window"]
    __all__ += _bits.bitcast.__all__
    __all__ += _bits.bits.__all__
    __all__ += _bits.gcd.__all__
    __all__ += _bits.random_bits.__all__
    __all__ += _convolution.convolution.__all__
    __all__ += _convolution.dimension_numbers.__all__
    __all__ += _convolution.functions.__all__
    __all__ += _convolution.patches.__all__
    __all__ += _convolution.reduce_window.__all__
    __all__ += _convolution.select_and_gather.__all__
    __all__ += _convolution.sliding_window.__all__
    __all__ += _elementwise.application.__all__
    __all__ += _elementwise.arithmetic.arithmetic.__all__
    __all__ += _elementwise.comparison.__all__
    __all__ += _elementwise.compositions.__all__
    __all__ += _elementwise.complex_parts.__all__
    __all__ += _elementwise.conversion.__all__
    __all__ += _elementwise.declaration.__all__
    __all__ += _elementwise.arithmetic.division.__all__
    __all__ += _elementwise.arithmetic.length.__all__
    __all__ += _elementwise.transcendental.logaddexp.__all__
    __all__ += _elementwise.arithmetic.power.__all__
    __all__ += _elementwise.arithmetic.power_derivative.__all__
    __all__ += _elementwise.arithmetic.rounding.__all__
    __all__ += _elementwise.select.__all__
    __all__ += _elementwise.arithmetic.signs.__all__
    __all__ += _elementwise.transcendental.exponential.__all__
    __all__ += _elementwise.transcendental.hyperbolic.__all__
    __all__ += _elementwise.transcendental.trigonometric.__all__
    __all__ += _fft.__all__
    __all__ += _indexing.at.__all__
    __all__ += _indexing.dynamic_slice.__all__
    __all__ += _indexing.dynamic_slice_functions.__all__
    __all__ += _indexing.gather_scatter.gather.__all__
    __all__ += _indexing.getitem.__all__
    __all__ += _indexing.positions.__all__
    __all__ += _indexing.gather_scatter.scatter.__all__
    __all__ += _indexing.take.__all__
    __all__ += _indexing.take_along_dimension.__all__
    __all__ += _indexing.gather_scatter.windows.__all__
    __all__ += _linalg.cholesky.__all__
    __all__ += _linalg.determinants.__all__
    __all__ += _linalg.eigenvalues.eig.__all__
    __all__ += _linalg.eigenvalues.eigh.__all__
    __all__ += _linalg.eigenvalues.hessenberg.__all__
    __all__ += _linalg.householder.__all__
    __all__ += _linalg.inverse.__all__
    __all__ += _linalg.systems.lu.__all__
    __all__ += _linalg.systems.factors.__all__
    __all__ += _linalg.qr.__all__
    __all__ += _linalg.eigenvalues.schur.__all__
    __all__ += _linalg.systems.solve.__all__
    __all__ += _linalg.svd.__all__
    __all__ += _linalg.symmetric_product.__all__
    __all__ += _linalg.systems.triangular_solve.__all__
    __all__ += _linalg.eigenvalues.tridiagonal.__all__
    __all__ += _linalg.systems.tridiagonal_solve.__all__
    __all__ += _support.array_like.__all__
    __all__ += _numpy_protocol.dispatch.__all__
    __all__ += _numpy_protocol.libraries.__all__
    __all__ += _numpy_protocol.methods.__all__
    __all__ += _optimization_barrier.__all__
    __all__ += _products.dot_general.__all__
    __all__ += _products.functions.__all__
    __all__ += _products.precision.__all__
    __all__ += _products.ragged.__all__
    __all__ += _reduction.arg_reduction.__all__
    __all__ += _reduction.cumulative.__all__
    __all__ += _reduction.product_derivatives.__all__
    __all__ += _reduction.reduction.__all__
    __all__ += _reduction.sort.__all__
    __all__ += _reduction.top_k.__all__
    __all__ += _shape.iota.__all__
    __all__ += _shape.joining.__all__
    __all__ += _shape.ranks.__all__
    __all__ += _shape.reshape.__all__
    __all__ += _shape.slicing.__all__
    __all__ += _shape.split.__all__
    __all__ += _shape.squeeze.__all__
    __all__ += _special.bessel.__all__
    __all__ += _special.box_cox.__all__
    __all__ += _special.gamma.complex_gamma.__all__
    __all__ += _special.gamma.densities.__all__
    __all__ += _special.gamma.digamma_differences.__all__
    __all__ += _special.gamma.digamma_means.__all__
    __all__ += _special.entropy.__all__
    __all__ += _special.error_functions.error_function.__all__
    __all__ += _special.exponential_integrals.__all__
    __all__ += _special.error_functions.faddeeva.__all__
    __all__ += _special.error_functions.fresnel.__all__
    __all__ += _special.gamma.log_gamma.__all__
    __all__ += _special.gamma.gamma_function.__all__
    __all__ += _special.gamma.incomplete_beta.__all__
    __all__ += _special.gamma.incomplete_gamma.__all__
    __all__ += _special.error_functions.owens_t.__all__
    __all__ += _special.error_functions.scaled_error_function.__all__
    __all__ += _special.spence.__all__
    __all__ += _special.trigonometric_integrals.__all__
    __all__ += _support.batch_dimensions.__all__
    __all__ += _support.eager.__all__
    __all__ += _support.errors.__all__
    __all__ += _support.promotion.__all__
    __all__ += _support.structural.__all__
    __all__.sort()
