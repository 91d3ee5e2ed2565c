"""Device arrays are indexed and functionally updated as NumPy's are, compiled too, also outside of the array."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lawful import ops
from lawful.staging import jit
from lawful.xla_backend import device_put

X = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize(
    "index",
    [
        np.array([1, 0]),
        ([0, 1], slice(None), [3, 3]),
        X > 7,
        (1, np.array([True, False, True])),
        True,
        (slice(None, None, -1), None, np.array([[2], [0]])),
    ],
    ids=repr,
)
def test_an_array_is_indexed_as_numpy_s(index: Any) -> None:
    x = device_put(X)
    np.testing.assert_array_equal(x[index], X[index])
    want = X.copy()
    want[index] = 9.0
    np.testing.assert_array_equal(x.at[index].set(9.0), want)
    np.testing.assert_array_equal(x, X)


def test_indexing_arrays_are_indices() -> None:
    i = device_put(np.array([1, 1]))
    np.testing.assert_array_equal(device_put(X)[i], X[[1, 1]])
    np.testing.assert_array_equal(ops.getitem(X, (slice(None), i)), X[:, [1, 1]])
    np.testing.assert_array_equal(device_put(X).at[i].add(1.0)[1], X[1] + 2.0)


def test_indexing_assignment_says_how_to_write_it() -> None:
    x = device_put(X)
    with pytest.raises(TypeError, match=r"x = x\.at\[\.\.\.\]\.set\(value\)"):
        x[0] = 1.0

    def assigns(x: Any) -> Any:
        x[0] = 1.0
        return x

    with pytest.raises(TypeError, match=r"x = x\.at\[\.\.\.\]\.set\(value\)"):
        jit(assigns)(X)


DTYPES = [
    "bool",
    "int8",
    "uint16",
    "int64",
    "uint64",
    "float16",
    ml_dtypes.bfloat16,
    "float32",
    "complex64",
    "complex128",
]
NUMBERS = ops.GatherDimensionNumbers((), (0,), (0,))
TO_NUMBERS = ops.ScatterDimensionNumbers((), (0,), (0,))
INDEX_DTYPES = ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("mode", ["clip", "fill", "promise_in_bounds"])
def test_gathers_and_scatters_of_every_dtype_are_numpy_s(dtype: Any, mode: str) -> None:
    x = np.arange(5).astype(dtype)
    inside = mode == "promise_in_bounds"
    at = np.array([[0], [3], [3], [4]] if inside else [[-3], [9], [3], [3]])

    def read(x: Any, at: Any) -> Any:
        return ops.gather(x, at, NUMBERS, (1,), mode=mode)

    # NumPy's comparison does not know a NaN of bfloat16.
    np.testing.assert_array_equal(np.asarray(jit(read)(x, at)).astype(complex), read(x, at).astype(complex))
    updates = np.array([3, 1, 2, 4]).astype(dtype)
    for name in ("scatter", "scatter_add", "scatter_sub", "scatter_mul", "scatter_min", "scatter_max"):
        kinds = getattr(ops, f"{name}_p").declaration.kinds
        if np.dtype(dtype).kind in kinds or (np.dtype(dtype).kind == "V" and "f" in kinds):
            write = lambda x, at, u, name=name: getattr(ops, name)(x, at, u, TO_NUMBERS, mode=mode)  # noqa: E731
            np.testing.assert_array_equal(jit(write)(x, at, updates), write(x, at, updates), name)


@pytest.mark.parametrize("dtype", INDEX_DTYPES)
def test_indexing_indices_of_every_dtype_at_their_bounds(dtype: str) -> None:
    # The array is longer than small index dtypes can count.
    x = np.arange(300.0)
    bounds = np.iinfo(dtype)
    at = np.array([[bounds.min], [bounds.max], [5]], dtype)
    for mode in ("clip", "fill"):
        read = lambda x, at, mode=mode: ops.gather(x, at, NUMBERS, (1,), mode=mode)  # noqa: E731
        np.testing.assert_array_equal(jit(read)(x, at), read(x, at))
        write = lambda x, at, mode=mode: ops.scatter_add(x, at, np.ones(3), TO_NUMBERS, mode=mode)  # noqa: E731
        np.testing.assert_array_equal(jit(write)(x, at), write(x, at))
    for start in at[:, 0]:
        np.testing.assert_array_equal(jit(lambda x, i: x[i])(x[:100], start), x[:100][np.clip(int(start), -100, 99)])


def test_index_vectors_of_no_numbers() -> None:
    """For which XLA (jaxlib 0.12) fails, so that they are lowered to others."""
    numbers = ops.ScatterDimensionNumbers((1,), (), ())
    for name in ("scatter", "scatter_add", "scatter_max"):
        write = lambda x, at, u, name=name: getattr(ops, name)(x, at, u, numbers)  # noqa: E731
        args = np.arange(3.0), np.zeros((2, 0), int), np.arange(6.0).reshape(2, 3)
        np.testing.assert_array_equal(jit(write)(*args), write(*args), name)
    scalar = ops.ScatterDimensionNumbers((), (), ())
    args = np.float64(1.0), np.zeros((3, 0), int), np.arange(3.0)
    assert float(jit(lambda x, at, u: ops.scatter_add(x, at, u, scalar))(*args)) == 4.0
