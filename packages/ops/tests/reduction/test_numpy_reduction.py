"""The functions with NumPy's names equal NumPy's: values, dtypes, shapes, errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lawful.core import LawfulError, get_aval
from lawful.ops._numpy_protocol import numpy_reduction as reductions

Strictly = Callable[..., Any]

DTYPES = [
    "bool",
    "int8",
    "int32",
    "int64",
    "uint8",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
SHAPES_AND_AXES: list[tuple[tuple[int, ...], Any]] = [
    ((), None),
    ((), ()),
    ((3,), None),
    ((3,), -1),
    ((2, 3), 0),
    ((2, 3), (0, -1)),
    ((2, 3), ()),
    ((2, 3, 4), (2, 0)),
    ((2, 3, 4), [1]),
    ((0, 3), 1),
    ((3, 0), 0),
]


def draw(shape: tuple[int, ...], dtype: str) -> Any:
    random = np.random.default_rng(len(shape) + sum(shape))
    x = random.integers(0, 3, shape) if np.dtype(dtype).kind in "bui" else random.uniform(-2, 2, shape)
    if dtype.startswith("complex"):
        x = x + 1j * random.uniform(-2, 2, shape)
    return np.asarray(x).astype(dtype)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "var", "std", "all", "any"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_reductions_equal_numpy(name: str, dtype: str, strictly: Strictly) -> None:
    if name in ("max", "min") and dtype.startswith("complex"):
        pytest.skip("complex numbers are not ordered")
    for shape, axis in SHAPES_AND_AXES:
        for keepdims in (False, True):
            x = draw(shape, dtype)
            numpy_axis = tuple(axis) if isinstance(axis, list) else axis
            want = getattr(np, name)(x, axis=numpy_axis, keepdims=keepdims)
            got = getattr(reductions, name)(x, axis=axis, keepdims=keepdims)
            with strictly():
                staged = getattr(reductions, name)(x, axis=axis, keepdims=keepdims)
            assert get_aval(staged) == get_aval(got)
            assert np.shape(got) == want.shape
            assert got.dtype == want.dtype
            tolerance = {"float16": 4e-3, "float32": 1e-5, "complex64": 1e-5}.get(dtype, 1e-12)
            np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_numpy_argmax_and_argmin_equal_numpy(name: str) -> None:
    x = np.array([[1, 3, 3, 0], [np.nan, 1, np.nan, 0], [0, 0, 0, 0]])
    for axis in (None, 0, 1, -1):
        for keepdims in (False, True):
            got = getattr(reductions, name)(x, axis=axis, keepdims=keepdims)
            want = getattr(np, name)(x, axis=axis, keepdims=keepdims)
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var"])
@pytest.mark.parametrize("dtype", ["int32", "float32", "bool", "float64"])
def test_numpy_reductions_take_dtype(name: str, dtype: str) -> None:
    x = draw((3, 4), "int8")
    if name == "var" and dtype in ("int32", "bool"):
        pytest.skip("NumPy truncates the mean")
    want = getattr(np, name)(x, axis=0, dtype=dtype)
    got = getattr(reductions, name)(x, axis=0, dtype=dtype)
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-5)


def test_var_ddof() -> None:
    x = draw((3, 4), "float64")
    np.testing.assert_allclose(reductions.var(x, axis=1, ddof=1), np.var(x, axis=1, ddof=1))
    np.testing.assert_allclose(reductions.std(x, ddof=2.5), np.std(x, ddof=2.5))


def test_numpy_reductions_keep_bfloat16() -> None:
    x = np.ones(1000, ml_dtypes.bfloat16)
    for name in ("sum", "mean", "var", "std", "prod", "max"):
        assert getattr(reductions, name)(x).dtype == ml_dtypes.bfloat16
    assert reductions.sum(x) == 1000
    assert reductions.mean(x * ml_dtypes.bfloat16(300)) == 300


def test_mean_of_large_float16_is_finite() -> None:
    assert reductions.mean(np.full(100, 60000, np.float16)) == np.float16(60000)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "mean", "std", "all", "argmax"])
def test_numpy_reductions_of_python_scalars_are_strong(name: str, strictly: Strictly) -> None:
    got = getattr(reductions, name)(2.0)
    assert isinstance(got, np.generic)
    with strictly():
        assert get_aval(getattr(reductions, name)(2.0)) == get_aval(got)


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
@pytest.mark.parametrize(("shape", "axis"), [((0,), None), ((0, 3), 0), ((3, 0, 0), 1), ((2, 0), 1)])
def test_numpy_extrema_of_no_elements_raise(name: str, shape: tuple[int, ...], axis: int | None) -> None:
    with pytest.raises(ValueError, match=r"empty|zero-size"):
        getattr(np, name)(np.zeros(shape), axis=axis)
    with pytest.raises(ValueError, match=f"{name}: expected at least one element") as info:
        getattr(reductions, name)(np.zeros(shape), axis=axis)
    assert isinstance(info.value, LawfulError)


@pytest.mark.parametrize("name", ["sum", "max", "mean", "any", "argmin", "var"])
def test_numpy_reductions_with_wrong_axes_raise(name: str) -> None:
    function = getattr(reductions, name)
    with pytest.raises(np.exceptions.AxisError, match=f"{name}: expected an axis"):
        function(np.ones((2, 3)), axis=2)
    with pytest.raises(TypeError, match=f"{name}: expected integers"):
        function(np.ones((2, 3)), axis=0.5)
    if name != "argmin":
        with pytest.raises(ValueError, match=f"{name}: expected different axes"):
            function(np.ones((2, 3)), axis=(0, -2))
