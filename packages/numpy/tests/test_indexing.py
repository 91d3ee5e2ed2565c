"""Positions of elements, and updates at positions: functions that overwrite, or whose shape depends on values."""

import warnings

import numpy
import pytest

import lawful.numpy as np
from lawful.core import ArgumentValueError, ConcretizationTypeError
from lawful.staging import jit, make_jaxpr

X = numpy.array([[0.0, 5.0, 0.0], [7.0, -1.0, 0.0]])


def test_nonzero_is_numpy_s():
    for x in (X, X[0], X.astype(bool), numpy.zeros((0, 2)), numpy.zeros(3)):
        for got, want in zip(np.nonzero(x), numpy.nonzero(x), strict=True):
            numpy.testing.assert_array_equal(got, want)
        numpy.testing.assert_array_equal(np.flatnonzero(x), numpy.flatnonzero(x))


@pytest.mark.parametrize("backend", [None, "numpy"])
def test_nonzero_traced_with_size(backend):
    for size, fill, want in (
        (2, None, [[0, 1], [1, 0]]),
        (3, None, [[0, 1, 1], [1, 0, 1]]),
        (5, None, [[0, 1, 1, 0, 0], [1, 0, 1, 0, 0]]),
        (4, -1, [[0, 1, 1, -1], [1, 0, 1, -1]]),
        (4, (8, 9), [[0, 1, 1, 8], [1, 0, 1, 9]]),
        (0, None, [[], []]),
    ):
        for f in (
            lambda x, size=size, fill=fill: np.nonzero(x, size=size, fill_value=fill),
            jit(lambda x, size=size, fill=fill: np.nonzero(x, size=size, fill_value=fill), backend=backend),
        ):
            numpy.testing.assert_array_equal(f(X), want)
    numpy.testing.assert_array_equal(jit(lambda x: np.flatnonzero(x, size=3), backend=backend)(X), [1, 3, 4])
    numpy.testing.assert_array_equal(
        jit(lambda x: np.nonzero(x, size=2), backend=backend)(numpy.zeros((0, 3))), [[0, 0]] * 2
    )


def test_nonzero_traced_without_size_is_an_error():
    with pytest.raises(ConcretizationTypeError, match="size=n"):
        make_jaxpr(np.nonzero)(X)
    with pytest.raises(TypeError, match="at least one dimension"):
        np.nonzero(1.0)


@pytest.mark.parametrize("backend", [None, "numpy"])
def test_put_along_axis_gives_what_numpy_writes(backend):
    for axis in (0, 1, -1):
        order = numpy.argsort(X, axis=axis)[:1, :1]
        want = X.copy()
        numpy.put_along_axis(want, order, 9.0, axis)
        f = jit(lambda x, i, axis=axis: np.put_along_axis(x, i, 9.0, axis, inplace=False), backend=backend)
        numpy.testing.assert_array_equal(f(X, order), want)
    assert X[0, 0] == 0.0


@pytest.mark.parametrize("text", ["r", "c"])
def test_r_and_c_as_matrices_are_numpy_s(text):
    for joined, expected in ((np.r_, numpy.r_), (np.c_, numpy.c_)):
        for parts in ((X[0], X[1]), (X, X)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PendingDeprecationWarning)  # of numpy.matrix
                want = numpy.asarray(expected[(text, *parts)])
            numpy.testing.assert_array_equal(joined[(text, *parts)], want, strict=True)
            numpy.testing.assert_array_equal(jit(lambda *x, j=joined: j[(text, *x)])(*parts), want, strict=True)
    row = numpy.array([[1.0, *X[0]]])
    numpy.testing.assert_array_equal(np.r_[text, 1, X[0]], row if text == "r" else row.T, strict=True)
    with pytest.raises(ArgumentValueError, match="at most two dimensions"):
        np.r_[text, X[None]]
    with pytest.raises(ArgumentValueError, match="'r' or 'c' as text, got 'x'"):
        np.r_["x", X]


def test_array_of_a_range():
    for r in (range(5), range(0), range(7, 1, -2)):
        numpy.testing.assert_array_equal(np.array(r), numpy.array(r), strict=True)
        numpy.testing.assert_array_equal(np.asarray(r, "float32"), numpy.asarray(r, "float32"), strict=True)
