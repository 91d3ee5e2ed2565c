"""`trim_leading_zeros` of products and quotients of polynomials."""

import numpy
import pytest

import lawful.numpy as lnp
from lawful.autodiff import grad, jacfwd, jacrev
from lawful.batching import vmap
from lawful.core import ConcretizationTypeError
from lawful.staging import jit


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([0.0, 0.0, 1.0, 2.0], [3.0, 4.0]),
        ([0, 2], [0, 0, 3, 0]),
        ([0.0, 0.0], [0.0, 1.0, 2.0]),
        ([0.0, numpy.nan, 1.0], [0.0]),
        ([0j, 1j], [2.0, 0.0]),
        (numpy.float64(2.0), [0.0, 3.0]),
    ],
)
def test_polymul_trims_leading_zeros_as_numpy(a: object, b: object):
    left, right = numpy.asarray(a), numpy.asarray(b)
    numpy.testing.assert_array_equal(lnp.polymul(left, right, trim_leading_zeros=True), numpy.polymul(left, right))


@pytest.mark.parametrize(
    ("u", "v"),
    [
        ([1.0, 2.0, 1.0], [1.0, 1.0]),
        ([1.0, 3.0, 3.0, 4.0], [1.0, 1.0, 1.0]),
        ([1.0, 0.3, 0.03, 0.001], [1.0, 0.2, 0.01]),
        ([1.0, 2.0], [1.0, 2.0, 3.0]),
    ],
)
def test_polydiv_trims_leading_zeros_as_numpy(u: list[float], v: list[float]):
    got = lnp.polydiv(numpy.array(u), numpy.array(v), trim_leading_zeros=True)
    for ours, theirs in zip(got, numpy.polydiv(u, v), strict=True):
        numpy.testing.assert_allclose(ours, theirs, atol=1e-14)


def test_trim_leading_zeros_derivatives():
    a, b = numpy.array([0.0, 1.0, 2.0]), numpy.array([3.0, 4.0])

    def product(a: object) -> object:
        return lnp.polymul(a, b, trim_leading_zeros=True)

    for jacobian in (jacfwd, jacrev):
        numpy.testing.assert_allclose(jacobian(product)(a), [[0, 3, 0], [0, 4, 3], [0, 0, 4]])
    assert grad(lambda u: lnp.polydiv(u, b, trim_leading_zeros=True)[1][0])(a)[2] == 1.0


def test_trim_leading_zeros_of_unknown_values_raises():
    a = numpy.array([1.0, 2.0])
    for name in ("polymul", "polydiv"):
        function = getattr(lnp, name)
        with pytest.raises(ConcretizationTypeError, match=rf"{name}: expected polynomials whose coeff.*; slice it"):
            jit(lambda a, f=function: f(a, a, trim_leading_zeros=True), backend="numpy")(a)
        with pytest.raises(ConcretizationTypeError, match=rf"{name}: .*trim_leading_zeros=True, got the tracer"):
            vmap(lambda a, f=function: f(a, a, trim_leading_zeros=True))(numpy.stack([a, a]))
    with pytest.raises(ValueError, match=r"polymul: expected a vector of coefficients"):
        lnp.polymul(numpy.eye(2), a, trim_leading_zeros=True)
    with pytest.raises(ValueError, match=r"polymul: expected polynomials with coefficients, got none"):
        lnp.polymul(a[:0], a, trim_leading_zeros=True)
