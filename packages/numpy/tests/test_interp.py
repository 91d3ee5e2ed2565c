"""Extrapolation by `interp`, which NumPy's function does not have, and infinite and NaN coordinates."""

from functools import partial
from typing import Any

import numpy
import pytest

import lawful.numpy as lnp
from lawful.autodiff import grad, jacfwd, linear_transpose, vjp
from lawful.batching import vmap
from lawful.staging import jit

XP, FP = numpy.array([0.0, 1.0, 3.0]), numpy.array([10.0, 20.0, 0.0])
X = numpy.array([-2.0, 0.0, 0.5, 2.0, 3.0, 5.0])


def extrapolated(x: Any, xp: Any = XP, fp: Any = FP) -> Any:
    return lnp.interp(x, xp, fp, "extrapolate", "extrapolate")


@pytest.mark.parametrize(
    "run", [extrapolated, jit(extrapolated, backend="numpy"), vmap(extrapolated)], ids=["eager", "compiled", "batched"]
)
def test_interp_extrapolates(run: Any):
    numpy.testing.assert_allclose(run(X), [-10.0, 10.0, 15.0, 10.0, 0.0, -20.0])


def test_interp_extrapolates_on_one_side():
    numpy.testing.assert_allclose(lnp.interp(X, XP, FP, left="extrapolate"), [-10, 10, 15, 10, 0, 0])
    numpy.testing.assert_allclose(lnp.interp(X, XP, FP, -1, "extrapolate"), [-1, 10, 15, 10, 0, -20])


def test_interp_extrapolation_derivatives():
    numpy.testing.assert_allclose(vmap(grad(extrapolated))(X[[0, 2, 3, 5]]), [10.0, 10.0, -10.0, -10.0])
    # The value at -2 is fp[0] - 2 (fp[1] - fp[0]) / (xp[1] - xp[0]).
    for derivative in (grad, jacfwd):
        numpy.testing.assert_allclose(derivative(extrapolated, argnums=2)(-2.0, XP, FP), [3.0, -2.0, 0.0])
        numpy.testing.assert_allclose(derivative(extrapolated, argnums=1)(-2.0, XP, FP), [-30.0, 20.0, 0.0])


@pytest.mark.parametrize("right", [None, 9.0, "extrapolate"])
@pytest.mark.parametrize("run", [lambda f: f, partial(jit, backend="numpy"), vmap])
def test_interp_derivatives_at_the_last_point(run: Any, right: Any):
    """They are those of the last line, as they are those of the first line at the first point."""

    def f(x: Any, xp: Any, fp: Any) -> Any:
        return lnp.interp(x, xp, fp, right=right)

    x, xp, fp = (
        numpy.array([a, a]) if run is vmap else numpy.array(a) for a in (2.3, [0.1, 1.1, 2.3], [0.1, 1.3, 7.7])
    )
    assert numpy.all(run(f)(x, xp, fp) == 7.7)
    slope = 6.4 / 1.2
    for argnum, expected in enumerate([slope, [0.0, 0.0, -slope], [0.0, 0.0, 1.0]]):
        for derivative in (grad, jacfwd):
            found = run(derivative(f, argnum))(x, xp, fp)
            numpy.testing.assert_allclose(found[0] if run is vmap else found, expected, rtol=1e-13, atol=1e-15)


def test_interp_extrapolates_from_few_and_repeated_points():
    numpy.testing.assert_array_equal(extrapolated(X, XP[:1], FP[:1]), numpy.full(6, 10.0))
    repeated = numpy.array([0.0, 0.0, 1.0, 1.0])
    values = extrapolated(numpy.array([-2.0, 5.0]), repeated, numpy.array([1.0, 2.0, 3.0, 4.0]))
    numpy.testing.assert_array_equal(values, [1.0, 4.0])


@pytest.mark.parametrize("period", [None, 4.0])
def test_interp_refuses_other_strings(period: float | None):
    with pytest.raises(ValueError, match=r"interp: expected a number or 'extrapolate' as left, got 'nearest'; give"):
        lnp.interp(X, XP, FP, "nearest", period=period)
    with pytest.raises(ValueError, match=r"interp: expected a number or 'extrapolate' as right, got ''"):
        jit(lambda x: lnp.interp(x, XP, FP, None, "", period), backend="numpy")(X)


INF, NAN = numpy.inf, numpy.nan
EVERYWHERE = numpy.array([NAN, -INF, INF, -1.0, -0.0, 0.0, 0.5, 1.0, 1.5, 2.0, 5.0])
FIRST_COORDINATES = [[0, 1, 2], [0, 1, INF], [-INF, 1, 2], [-INF, 1, INF], [0, 1, NAN], [0, 1, 1], [1]]
SECOND_COORDINATES = [[1, 2, 4], [1, INF, 4], [1, NAN, 4], [NAN, 2, 4], [-INF, 2, INF], [INF] * 3, [1] * 3]


@pytest.mark.parametrize("options", [{"backend": "numpy"}, {}], ids=["numpy", "XLA where it is installed"])
@pytest.mark.filterwarnings("ignore:invalid value")
def test_interp_of_infinite_and_nan_coordinates(options: dict[str, str]):
    compiled = jit(lnp.interp, **options)
    for first in FIRST_COORDINATES:
        for second in SECOND_COORDINATES:
            xp = numpy.array(first, float)
            for fp in (numpy.array(second[: len(first)], float), numpy.array(second[: len(first)]) * (1 + 0j)):
                expected = numpy.interp(EVERYWHERE, xp, fp)
                numpy.testing.assert_array_equal(lnp.interp(EVERYWHERE, xp, fp), expected)
                numpy.testing.assert_array_equal(compiled(EVERYWHERE, xp, fp), expected)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_interp_derivatives_beside_infinite_coordinates():
    """The line from a point at infinity is constant; that to an infinite value has an infinite slope."""
    by_all = grad(lnp.interp, (0, 1, 2))
    for run in (by_all, jit(by_all)):
        slope, _, shares = run(0.0, numpy.array([-INF, 1.0, 2.0]), FP)
        numpy.testing.assert_array_equal(slope, 0.0)
        numpy.testing.assert_array_equal(shares, [0.0, 1.0, 0.0])
        slope, _, shares = run(0.0, numpy.array([0.0, 1.0, 2.0]), numpy.array([1.0, INF, 2.0]))
        numpy.testing.assert_array_equal(slope, INF)
        numpy.testing.assert_array_equal(shares, [1.0, 0.0, 0.0])


@pytest.mark.parametrize("wrap", [lambda f: f, jit], ids=["eager", "compiled"])
@pytest.mark.parametrize("fp", [FP, FP + 1j])
def test_interp_is_linear_in_second_coordinates(fp: Any, wrap: Any):
    """So it can be transposed, and be part of a reverse rule of which forward mode is derived."""
    ct = numpy.arange(6.0) + 0 * fp[0]
    [found] = wrap(lambda ct: linear_transpose(lambda fp: lnp.interp(X, XP, fp), fp)(ct))(ct)
    [expected] = vjp(lambda fp: lnp.interp(X, XP, fp), fp)[1](ct)
    numpy.testing.assert_allclose(found, expected, 1e-15)
    numpy.testing.assert_allclose(numpy.sum(found * fp), numpy.sum(ct * numpy.interp(X, XP, fp)), 1e-15)
