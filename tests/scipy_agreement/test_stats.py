"""`lawful.stats`: SciPy's values; compiled, batched and differentiated."""

import itertools
from typing import Any

import jax
import numpy as np
import pytest
import scipy.stats

import lawful.jax
from lawful import laws, random, stats, tree
from lawful.autodiff import grad
from lawful.core import ArgumentTypeError, ArgumentValueError, as_dtype
from lawful.ops import AxisError
from lawful.staging import jit

from ._held import agree, compiled, held

RANDOM = np.random.default_rng(0)
TIES = RANDOM.integers(0, 4, (4, 6))
WITH_NAN = np.where(TIES == 3, np.nan, TIES)
SAMPLES = RANDOM.normal(size=(2, 7))
WEIGHTS = RANDOM.uniform(1, 2, 7)
POINTS = RANDOM.normal(size=(2, 4))
DTYPES = "bool", "int8", "uint16", "int64", "float16", "bfloat16", "float32"


@pytest.mark.parametrize("axis", [0, 1, -1, None])
@pytest.mark.parametrize("keepdims", [False, True])
def test_mode_is_that_of_scipy(axis: int | None, keepdims: bool) -> None:
    for x in (TIES, WITH_NAN, np.array([[0.0, -0.0], [1.0, 2.0]])):
        found, expected = stats.mode(x, axis, keepdims=keepdims), scipy.stats.mode(x, axis, keepdims=keepdims)
        agree(found, stats.ModeResult(*map(np.asarray, expected)))


@pytest.mark.parametrize("method", ["average", "min", "max", "dense", "ordinal"])
def test_rankdata_is_that_of_scipy(method: str) -> None:
    for x, axis in itertools.product((TIES, WITH_NAN, TIES[:, :1]), (0, 1, None)):
        agree(stats.rankdata(x, method, axis=axis), scipy.stats.rankdata(x, method, axis=axis).astype(float))
    assert stats.rankdata(np.zeros((0, 2)), method, axis=0).shape == (0, 2)


def test_sem_is_that_of_scipy() -> None:
    for x, axis, ddof in itertools.product(
        (TIES, WITH_NAN, SAMPLES, SAMPLES + 1j * SAMPLES[::-1]), (0, 1, None), (0, 1)
    ):
        for keepdims in (False, True):
            expected = scipy.stats.sem(x, axis, ddof, keepdims=keepdims)
            agree(stats.sem(x, axis, ddof, keepdims=keepdims), np.real(expected))
    expected = scipy.stats.sem(WITH_NAN, 1, nan_policy="omit")
    agree(stats.sem(WITH_NAN, 1, nan_policy="omit"), np.asarray(expected))
    assert np.isnan(stats.sem(np.ones(1)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_statistics_of_dtypes(dtype: str) -> None:
    x = TIES.astype(as_dtype(dtype))
    exact = x.astype(float)
    agree(stats.mode(x).count, stats.mode(exact).count)
    agree(stats.mode(x).mode, stats.mode(exact).mode.astype(x.dtype))
    agree(stats.rankdata(x, axis=1), stats.rankdata(exact, axis=1))
    agree(stats.sem(x), stats.sem(exact).astype(float if x.dtype.kind in "biu" else x.dtype))
    compiled(lambda x: (stats.mode(x), stats.rankdata(x, axis=0)), (x,), ("numpy",))


def test_statistics_compiled_batched_and_differentiated() -> None:
    compiled(lambda x: (stats.mode(x), stats.rankdata(x, "dense"), stats.rankdata(x, axis=1)), (WITH_NAN,))
    held(lambda x: stats.sem(x, axis=1), (SAMPLES,))
    found = grad(lambda x: stats.mode(x).mode)(np.array([2.0, 1.0, 3.0]))
    np.testing.assert_array_equal(found, [0.0, 1.0, 0.0])


def test_statistics_refuse_wrong_arguments() -> None:
    for call in (
        lambda: stats.mode(TIES, nan_policy="omit"),
        lambda: stats.rankdata(TIES, nan_policy="raise"),
        lambda: stats.rankdata(TIES, "some"),
        lambda: stats.sem(TIES, nan_policy="raise"),
        lambda: stats.mode(SAMPLES * 1j),
        lambda: stats.mode(TIES[:0]),
    ):
        with pytest.raises(ArgumentValueError, match="expected"):
            call()
    with pytest.raises(AxisError):
        stats.mode(TIES, 2)


def estimates(bw_method: Any, weights: Any, dims: int = 2) -> tuple[Any, Any]:
    args = SAMPLES[:dims], bw_method, weights
    return stats.gaussian_kde(*args), scipy.stats.gaussian_kde(*args)


@pytest.mark.parametrize("bw_method", [None, "silverman", 0.3, lambda estimate: 2 * estimate.neff**-0.5])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("dims", [1, 2])
def test_gaussian_kde_is_that_of_scipy(bw_method: Any, weights: Any, dims: int) -> None:
    ours, theirs = estimates(bw_method, weights, dims)
    for name in ("dataset", "weights", "neff", "covariance", "inv_cov", "d", "n"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-12)
    points = POINTS[:dims]
    for name in ("evaluate", "pdf", "logpdf", "__call__"):
        agree(getattr(ours, name)(points), getattr(theirs, name)(points))
    agree(ours(points[:, 0]), theirs(points[:, 0]))
    covariance = np.eye(dims) + 0.1
    agree(ours.integrate_gaussian(points[:, 0], covariance), theirs.integrate_gaussian(points[:, 0], covariance))
    others = estimates(None, None, dims)
    agree(ours.integrate_kde(others[0]), theirs.integrate_kde(others[1]))
    if dims == 1:
        agree(ours.integrate_box_1d(-1.0, 0.5), theirs.integrate_box_1d(-1.0, 0.5))
        agree(ours.integrate_box_1d(-np.inf, np.inf), np.asarray(1.0))
        assert 0 < ours.integrate_box_1d(9.0, 10.0) < 1e-12


def test_gaussian_kde_draws_as_jax() -> None:
    ours = lawful.jax.scipy.stats.gaussian_kde(SAMPLES, weights=WEIGHTS)
    with jax.enable_x64(True):
        theirs = jax.scipy.stats.gaussian_kde(SAMPLES, weights=WEIGHTS)
        for shape in ((), (3,)):
            expected = np.asarray(theirs.resample(jax.random.key(1), shape))
            agree(ours.resample(lawful.jax.random.key(1), shape), expected)
        assert isinstance(ours(POINTS), lawful.jax.Array)
    drawn = stats.gaussian_kde(SAMPLES, 0.5).resample(random.key(0), (40, 500)).reshape(2, -1)
    np.testing.assert_allclose(np.mean(drawn, 1), np.mean(SAMPLES, 1), atol=0.03)
    expected = np.cov(SAMPLES, bias=True) + stats.gaussian_kde(SAMPLES, 0.5).covariance
    np.testing.assert_allclose(np.cov(drawn), expected, atol=0.05)


def test_gaussian_kde_derivatives_batches_and_programs() -> None:
    held(lambda x, w, p: stats.gaussian_kde(x, weights=w).logpdf(p), (SAMPLES, WEIGHTS, POINTS), rtol=1e-4)
    laws.check_grads(lambda x: stats.gaussian_kde(x).integrate_box_1d(-0.5, x[0]), (SAMPLES[0],), 2)
    estimate = stats.gaussian_kde(SAMPLES)
    agree(jit(lambda k: k(POINTS), backend="numpy")(estimate), estimate(POINTS))
    assert len(tree.leaves(estimate)) == 5


def test_gaussian_kde_refuses_wrong_arguments() -> None:
    estimate = stats.gaussian_kde(SAMPLES)
    for call in (
        lambda: stats.gaussian_kde(SAMPLES, "some"),
        lambda: stats.gaussian_kde(SAMPLES, weights=WEIGHTS[:2]),
        lambda: stats.gaussian_kde(np.ones(1)),
        lambda: estimate(np.ones((3, 4))),
        lambda: estimate.integrate_box_1d(0, 1),
        lambda: estimate.integrate_gaussian(np.ones(3), np.eye(3)),
        lambda: estimate.integrate_kde(stats.gaussian_kde(SAMPLES[0])),
    ):
        with pytest.raises(ArgumentValueError, match="expected"):
            call()
    with pytest.raises(ArgumentTypeError, match="real"):
        stats.gaussian_kde(SAMPLES * 1j)
