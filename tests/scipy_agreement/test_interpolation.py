"""`lawful.ndimage`, `lawful.interpolate` and `lawful.cluster`: SciPy's values; compiled, batched, differentiated."""

import itertools
from typing import Any

import jax
import numpy as np
import pytest
import scipy.cluster.vq
import scipy.interpolate
import scipy.ndimage

from lawful import tree
from lawful.autodiff import grad
from lawful.cluster.vq import vq
from lawful.core import ArgumentValueError, as_dtype
from lawful.interpolate import RegularGridInterpolator
from lawful.ndimage import map_coordinates
from lawful.staging import jit

from ._held import agree, compiled, held

RANDOM = np.random.default_rng(0)
IMAGE = RANDOM.normal(size=(4, 5))
#: JAX's modes, and SciPy's names of the same.
MODES = {
    "constant": "grid-constant",
    "nearest": "nearest",
    "wrap": "grid-wrap",
    "mirror": "mirror",
    "reflect": "reflect",
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", [0, 1])
def test_map_coordinates_is_that_of_scipy(mode: str, order: int) -> None:
    places = [RANDOM.uniform(-9, 12, 300), RANDOM.uniform(-9, 12, 300)]
    for image in (IMAGE, IMAGE[:1], IMAGE + 1j * IMAGE[::-1]):
        expected = scipy.ndimage.map_coordinates(image, places, order=order, mode=MODES[mode], cval=2.5)
        agree(map_coordinates(image, places, order, mode, 2.5), expected)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "bfloat16", "float32", "complex64"])
def test_map_coordinates_is_that_of_jax(mode: str, order: int, dtype: str) -> None:
    places = [np.array([-3.5, -1.0, -0.5, -0.25, 0.0, 1.5, 2.5, 3.0, 3.5, 5.75]), np.linspace(-2, 6, 10)]
    image = (5 * np.abs(IMAGE)).astype(as_dtype(dtype))
    with jax.enable_x64(True):
        expected = jax.scipy.ndimage.map_coordinates(image, places, order, mode, 2)
    agree(map_coordinates(image, places, order, mode, 2), np.asarray(expected))


@pytest.mark.parametrize("mode", MODES)
def test_map_coordinates_derivatives_batches_and_programs(mode: str) -> None:
    places = np.array([[-3.3, -0.7, 0.2, 1.6, 3.3, 7.9], [2.2, 4.1, -1.8, 6.6, 0.3, 3.2]])  # between kinks
    held(lambda x, a, b: map_coordinates(x, [a, b], 1, mode, 2.5), (IMAGE, *places))


def test_map_coordinates_at_infinity_and_nan() -> None:
    places = np.array([np.nan, np.inf, -np.inf, 1e30])
    for order in (0, 1):
        for mode in ("constant", "nearest"):
            found = map_coordinates(np.arange(1.0, 4.0), [places], order, mode, 9.0)
            beyond = [9.0, 9.0, 9.0] if mode == "constant" else [3.0, 1.0, 3.0]
            np.testing.assert_array_equal(found[1:], beyond)
            assert order == 0 or np.isnan(found[0])
            compiled(lambda x, order=order, mode=mode: map_coordinates(x, [places], order, mode, 9.0), (IMAGE[0],))
    assert map_coordinates(np.array(3), [], 1) == 3


def test_map_coordinates_refuses_wrong_arguments() -> None:
    for args in ((IMAGE, [1.0], 1), (IMAGE, [1.0, 2.0], 2), (IMAGE, [1.0, 2.0], 1, "some"), (IMAGE[:0], [1.0, 2.0], 1)):
        with pytest.raises(ArgumentValueError, match="map_coordinates: expected"):
            map_coordinates(*args)


GRID = np.array([0.0, 1.0, 2.5, 4.0]), np.array([-1.0, 0.0, 0.5, 2.0, 3.0])
POINTS = np.stack([RANDOM.uniform(-1, 5, 40), RANDOM.uniform(-2, 4, 40)], axis=-1)


@pytest.mark.parametrize("method", ["linear", "nearest"])
@pytest.mark.parametrize("fill", [np.nan, 7.0, None])
def test_regular_grid_is_that_of_scipy(method: str, fill: Any) -> None:
    points = np.concatenate([POINTS, [[np.nan, 0.0], [1.0, 0.5], [4.0, 3.0], [0.0, -1.0], [1.75, 0.25]]])
    for values in (IMAGE, RANDOM.normal(size=(4, 5, 2)), IMAGE + 1j * IMAGE[::-1]):
        for grid in (GRID, (GRID[0][::-1], GRID[1])):
            args = grid, values, method, False, fill
            ours, theirs = RegularGridInterpolator(*args), scipy.interpolate.RegularGridInterpolator(*args)
            for xi in (points, points.reshape(3, 15, 2), (points[:, 0], points[0, 1]), points[3]):
                agree(ours(xi), theirs(xi))
            agree(ours(points, "linear"), theirs(points, "linear"))


def test_regular_grid_is_a_pytree() -> None:
    interpolator = RegularGridInterpolator(GRID, IMAGE)
    found = jit(lambda f, x: f(x), backend="numpy")(interpolator, POINTS)
    agree(found, interpolator(POINTS))
    assert len(tree.leaves(interpolator)) == 4
    gradient = grad(lambda f: f(np.array([[0.25, -0.75]]))[0])(interpolator)
    expected = np.zeros((4, 5))
    expected[:2, :2] = np.outer([0.75, 0.25], [0.75, 0.25])
    np.testing.assert_allclose(gradient.values, expected)


def test_regular_grid_derivatives_batches_and_programs() -> None:
    assert np.all(np.abs(POINTS[:6, :, None] - np.stack([np.resize(g, 5) for g in GRID])) > 1e-2)  # away from kinks
    for fill in (0.0, None):
        held(
            lambda a, b, values, x, fill=fill: RegularGridInterpolator((a, b), values, fill_value=fill)(x),
            (*GRID, IMAGE, POINTS[:6]),
        )
    line = RegularGridInterpolator((np.arange(3),), np.arange(3.0))
    agree(line(np.array([0.5, 1.5])), np.array([0.5, 1.5]))


def test_regular_grid_refuses_wrong_arguments() -> None:
    for args in (
        (GRID, IMAGE.T),
        ((GRID[0][[0, 2, 1, 3]], GRID[1]), IMAGE),
        (GRID, IMAGE, "cubic"),
        (GRID, IMAGE, "linear", True),
    ):
        with pytest.raises(ArgumentValueError, match="RegularGridInterpolator: expected"):
            RegularGridInterpolator(*args)
    with pytest.raises(ArgumentValueError, match="coordinates"):
        RegularGridInterpolator(GRID, IMAGE)(np.ones((2, 3)))


def test_vq_is_that_of_scipy() -> None:
    for observations, codes in ((IMAGE, IMAGE[::-1] + 0.3), (IMAGE[0], IMAGE[1]), (IMAGE, IMAGE[[0, 0]])):
        found, expected = vq(observations, codes), scipy.cluster.vq.vq(observations, codes)
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_allclose(found[1], expected[1], atol=1e-7)
    for dtypes in itertools.product(("int8", "bool", "float32"), ("float32", "int64")):
        x, y = (np.abs(3 * IMAGE).astype(dtype) for dtype in dtypes)
        wide = vq(x.astype(float), y.astype(float))[1]
        agree(vq(x, y)[1], wide.astype("float32" if dtypes == ("float32", "float32") else "float64"), 1e-6)
    held(lambda x, y: vq(x, y)[1], (IMAGE, IMAGE[:2] + 1.0))
    compiled(vq, (IMAGE, IMAGE[:3] + 0.5))
    for args in ((IMAGE, IMAGE[0]), (IMAGE, IMAGE[:0]), (IMAGE, IMAGE[:, :2])):
        with pytest.raises(ArgumentValueError, match="vq: expected"):
            vq(*args)
