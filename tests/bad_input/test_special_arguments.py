"""Arguments at the edge of what a function of arrays takes: one outcome eagerly and compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful.core import ArgumentTypeError, ArgumentValueError, ShapeMismatchError
from lawful.staging import jit

INF = np.inf
COMPLEX = np.array([[0, complex(INF, 1), -1 + 2j], [1, 2, complex(np.nan, 1)]])

#: The same as NumPy's.
SAME: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "mean of infinite numbers": (lambda n, x: n.mean(x, 1, where=np.array([True, True, False])), COMPLEX),
    "mean of nothing": (lambda n, x: n.mean(x, 1, where=np.array(False)), COMPLEX),
    "nanmean of infinite numbers": (lambda n, x: n.nanmean(x, 0), COMPLEX.astype("complex64")),
    "mean of a scalar, axis": (lambda n, x: n.mean(x, 0, where=np.array(True)), np.float64(2)),
    "std of a scalar, axis": (lambda n, x: n.std(x, -1, where=np.array(True), keepdims=True), np.int64(2)),
    "nanvar of a scalar, axis": (lambda n, x: n.nanvar(x, 0, where=np.array(False)), np.uint64(2)),
    "nanmax from NaN": (lambda n, x: n.nanmax(x, 0, initial=np.nan), np.array([[1, np.nan, 2.0], [3, np.nan, np.inf]])),
    "nanmin from NaN": (
        lambda n, x: n.nanmin(x, 1, initial=np.nan, where=np.array([True, False, False])),
        np.array([[1, np.nan, 2.0], [np.nan, np.nan, np.inf]]),
    ),
    "nanmin from a number": (lambda n, x: n.nanmin(x, 1, initial=1.5), np.array([[np.nan, np.nan], [3.0, 1.0]])),
    "nanmax of a complex scalar": (lambda n, x: n.nanmax(x, 0), np.array(complex(1, np.nan))),
    "pad with medians, NaN": (lambda n, x: n.pad(x, 1, "median"), np.array([[1, np.nan, 2.0], [3, 4, 5]])),
    "pad with medians, integers": (lambda n, x: n.pad(x, 1, "median"), np.array([[1, 4], [3, 8]])),
    "pad with medians, complex": (lambda n, x: n.pad(x, 1, "median"), COMPLEX),
    "tensordot with an integer": (lambda n, x: n.tensordot(x, 2, 0), np.float32(0.5)),
    "tensordot with a float": (lambda n, x: n.tensordot(2.0, x, 0), np.array([1, 2], np.float16)),
    "unwrap at the least integer": (lambda n, x: n.unwrap(x), np.array([0, -128, -128, 5], np.int8)),
    **{
        f"{name} of complex numbers as {dtype}, {text}": (
            lambda n, x, name=name, dtype=dtype, options=options: getattr(n, name)(x, dtype=dtype, **options),
            np.array([1 + 2j, 3 - 1j, 2]),
        )
        for name in ("var", "std", "nanvar", "nanstd")
        for dtype in ("float64", "float32", "complex64", "int64", "bool")
        if dtype not in ("int64", "bool") or not name.startswith("nan")
        for text, options in {
            "all": {},
            "some": {"where": np.array([True, True, False])},
            "mean": {"mean": 2.0},
            "ddof": {"ddof": 1},
        }.items()
    },
    "var of floats as integers": (lambda n, x: n.var(x, 1, "int64"), np.array([[0.5, 1.7, 9.0], [1, 2, 7]])),
    "var of integers that wraps": (lambda n, x: n.var(x, 1, "int8"), np.array([[100, 100, 27], [1, 2, 7]], np.int8)),
    "mean of integers that wraps": (lambda n, x: n.mean(x, dtype="int8"), np.array([100, 100, 27], np.int8)),
    "mean as integers, where": (
        lambda n, x: n.mean(x, dtype="int64", where=np.array([True, True, False])),
        np.array([1.0, 3, 9]),
    ),
    "nanmin, where=True": (lambda n, x: n.nanmin(x, where=True), np.array([np.nan, 2.0])),
    "max, where=True": (lambda n, x: n.max(x, 0, where=True), np.array([[3, 2], [1, 5]])),
    "packbits of a scalar, axis": (lambda n, x: n.packbits(x, axis=0), np.uint8(1)),
    "packbits of a scalar, last axis": (lambda n, x: n.packbits(x, -1, "little"), np.True_),
    "nanquantile of no booleans": (lambda n, x: n.nanquantile(x, 0.5), np.zeros(0, bool)),
    "nanpercentile of no booleans": (lambda n, x: n.nanpercentile(x, 50, axis=0), np.zeros((0, 3), bool)),
    "percentile of float32, uint8": (
        lambda n, x: (
            n.quantile(x, np.array([10, 50], "uint8") / 100)
            if n is np
            else n.percentile(x, np.array([10, 50], "uint8"))
        ),
        np.array([3, 1, 7], np.float32),
    ),
    "diff with a list": (lambda n, x: n.diff(x, prepend=[0, 1], append=(2.5,)), np.array([1, 4])),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", SAME)
def test_special_argument_gives_what_numpy_gives(name: str) -> None:
    call, x = SAME[name]
    expected = call(np, x)
    for found in (call(lnp, x), *[jit(lambda x: call(lnp, x), backend=backend)(x) for backend in ("numpy", "xla")]):
        array = np.asarray(found)
        assert array.dtype == expected.dtype
        np.testing.assert_allclose(array.real, expected.real, 1e-6)
        np.testing.assert_allclose(array.imag, expected.imag, 1e-6)


ERRORS: dict[str, tuple[Callable[[Any], Any], Any, type[Exception]]] = {
    "polyval of a scalar": (lambda x: lnp.polyval(x, 2.0), np.float64(1), ArgumentValueError),
    "choose from a number": (lambda x: lnp.choose(x, 5), np.array([0, 1]), ArgumentTypeError),
    "polyder of a scalar": (lnp.polyder, np.float64(1), ArgumentValueError),
    "polyint of a scalar": (lnp.polyint, np.float64(1), ArgumentValueError),
    "linspace of two shapes": (lambda x: lnp.linspace(x, np.ones(3)), np.ones(2), ShapeMismatchError),
    "logspace of two shapes": (lambda x: lnp.logspace(x, np.ones(3)), np.ones(2), ShapeMismatchError),
    "geomspace of two shapes": (lambda x: lnp.geomspace(x, np.zeros(3)), np.ones(2), ShapeMismatchError),
    "matmul with a number": (lambda x: lnp.matmul(x, -1), np.zeros(0, np.uint64), ArgumentValueError),
    "nanvar of floats as integers": (lambda x: lnp.nanvar(x, dtype="int8"), np.ones(2), ArgumentTypeError),
    "nanstd of complex numbers as booleans": (
        lambda x: lnp.nanstd(x, dtype=bool),
        np.ones(2, complex),
        ArgumentTypeError,
    ),
    "nanmean of floats as integers": (lambda x: lnp.nanmean(x, dtype=int), np.ones(2), ArgumentTypeError),
    "unwrap of complex numbers": (lnp.unwrap, np.ones((2, 3), complex), ArgumentTypeError),
}


@pytest.mark.parametrize("name", ERRORS)
def test_special_argument_is_refused(name: str) -> None:
    call, x, error = ERRORS[name]
    for function in (call, jit(call, backend="numpy")):
        with pytest.raises(error) as caught:
            function(x)
        assert type(caught.value) is error


@pytest.mark.parametrize("x", [np.float64(np.nan), np.nan, np.array(np.nan), np.complex128(complex(np.nan, 1))])
@pytest.mark.parametrize("name", ["nanmin", "nanmax"])
def test_nan_extremum_of_a_scalar_with_initial(name: str, x: Any) -> None:
    """NumPy leaves out ``initial`` where a scalar is NaN."""
    function = getattr(lnp, name)
    for run in (lambda f: f, *[lambda f, b=backend: jit(f, backend=b) for backend in ("numpy", "xla")]):
        assert run(lambda x: function(x, initial=3))(x) == 3
        assert run(lambda x: function(x, initial=3, where=np.array(False)))(x) == 3
        assert run(lambda x: function(x, initial=np.nan))(2.0) == 2


@pytest.mark.parametrize("q", [np.array([1, 0]), np.int64(1), np.array(1), 1, np.array([True, False])], ids=repr)
@pytest.mark.parametrize("method", ["linear", "weibull", "averaged_inverted_cdf", "interpolated_inverted_cdf", "lower"])
@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_quantile_of_integer_shares(name: str, method: str, q: Any) -> None:
    """The dtype does not depend on whether a share is a scalar or in an array, as in NumPy it does."""
    x = np.array([[3, 1, 7], [2, 5, 4]])

    def call(x: Any) -> Any:
        return getattr(lnp, name)(x, q, axis=1, method=method)

    eager, compiled = call(x), jit(call, backend="numpy")(x)
    is_position = method == "lower" or (method == "linear" and np.asarray(q).dtype.kind != "b")
    assert eager.dtype == compiled.dtype == (np.int64 if is_position else np.float64)
    expected = np.array([[7, 5], [1, 2]])[0 if np.ndim(q) == 0 else slice(None)]
    np.testing.assert_array_equal(eager, expected)
    np.testing.assert_array_equal(compiled, expected)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_average_of_no_element_and_no_line() -> None:
    x = np.zeros((0, 0), int)
    for function in (lnp.average, jit(lnp.average, static_argnums=1, backend="numpy")):
        assert np.asarray(function(x, 0)).shape == (0,)


@pytest.mark.parametrize("name", ["polyadd", "polysub"])
def test_sum_of_polynomials_of_arrays(name: str) -> None:
    """Shorter ones get zeros in front, also where NumPy puts them elsewhere."""
    function = getattr(lnp, name)
    x, y = np.array([[2, 5], [3, 4]]), np.array([7.0])
    expected = getattr(np, name)(x.astype(float), np.array([[0, 0], [7.0, 7.0]]))
    for call in (function, jit(function, backend="numpy")):
        np.testing.assert_array_equal(call(x, y), expected)
