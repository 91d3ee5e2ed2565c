"""Indexing equals NumPy's, eagerly and staged; errors."""

from __future__ import annotations

from typing import Any

import hypothesis
import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest

from lawful import ops
from lawful.core import (
    ArgumentIndexError,
    ArgumentTypeError,
    ArgumentValueError,
    TracerBoolConversionError,
    get_aval,
)

x = np.arange(24.0).reshape(2, 3, 4)


@st.composite
def arrays_and_indices(draw: Any) -> tuple[np.ndarray[Any, Any], Any]:
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    return array, draw(hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True, max_dims=6))


@hypothesis.given(arrays_and_indices())
def test_getitem_of_basic_index_equals_numpy(case: tuple[np.ndarray[Any, Any], Any]) -> None:
    array, index = case
    want = np.asarray(array[index])
    got = ops.getitem(array, index)
    np.testing.assert_array_equal(got, want)
    assert got.dtype == want.dtype


@hypothesis.given(arrays_and_indices())
@hypothesis.settings(suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
def test_getitem_of_staged_basic_index_equals_numpy(strictly: Any, case: tuple[np.ndarray[Any, Any], Any]) -> None:
    array, index = case
    want = np.asarray(array[index])
    with strictly() as trace:
        got = ops.getitem(array, index)
    np.testing.assert_array_equal(got, want)
    assert got.dtype == want.dtype
    assert set(trace.names) <= {"slice", "rev", "squeeze", "broadcast_in_dim"}
    assert len(trace.names) == len(set(trace.names))


@pytest.mark.parametrize(
    "index",
    [
        np.int8(1),
        np.array(-1),
        (np.uint64(1), slice(np.int64(0), np.array(2), np.int8(1))),
        slice(None, None, -1),
        (slice(10, -10, -3), ..., None),
        (slice(2**70), slice(-(2**70), None)),
    ],
)
def test_getitem_takes_integers_of_every_type(index: Any, strictly: Any, assert_same: Any) -> None:
    assert_same(ops.getitem(x, index), x[index])
    with strictly():
        assert_same(ops.getitem(x, index), x[index])


def test_getitem_of_whole_array_stages_nothing(strictly: Any, abstract: Any) -> None:
    with strictly() as trace:
        tracer = abstract((2, 3), "float64")
        for index in ((), ..., slice(None), (slice(0, 2), slice(None, 5))):
            assert ops.getitem(tracer, index) is tracer
    assert not trace.names


def test_getitem_of_scalars(strictly: Any) -> None:
    for scalar in (2.5, np.float32(2.5), np.array(2.5)):
        for stages in (False, True):
            with strictly(stages=stages):
                assert get_aval(ops.getitem(scalar, ())).shape == ()
                assert not get_aval(ops.getitem(scalar, ...)).weak_type
                assert ops.getitem(scalar, (None, ..., None)).shape == (1, 1)


@pytest.mark.parametrize(
    "index",
    [2, -3, (0, 3), (slice(None), slice(None), 4), (0, 0, 0, 0), (..., ...), 1.0, "text", np.float32(1), object()],
)
def test_getitem_raises_numpys_index_errors(index: Any, strictly: Any) -> None:
    with pytest.raises(IndexError):
        x[index]
    texts = set()
    for stages in (False, True):
        with strictly(stages=stages), pytest.raises(ArgumentIndexError, match="index: expected") as raised:
            ops.getitem(x, index)
        assert "test_getitem.py" in str(raised.value)
        texts.add(str(raised.value))
    assert len(texts) == 1


def test_getitem_out_of_bounds_error_names_dimension() -> None:
    with pytest.raises(ArgumentIndexError, match=r"from -3 to 2 for dimension 1 of the shape \(2, 3, 4\), got 3"):
        ops.getitem(x, (0, 3))
    with pytest.raises(ArgumentIndexError, match="leave out 1"):
        ops.getitem(x, (0, 0, 0, 0))


def test_getitem_with_step_of_zero_raises() -> None:
    with pytest.raises(ArgumentValueError, match="step other than 0"):
        ops.getitem(x, slice(None, None, 0))


@st.composite
def arrays_and_mixed_indices(draw: Any) -> tuple[np.ndarray[Any, Any], Any]:
    """Draws an array and an index of integers, slices, arrays of integers and booleans, new axes and an ellipsis."""
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4))
    batch = draw(st.sampled_from([(), (2,), (5,), (2, 5)]))
    entries: list[Any] = []
    dim, has_ellipsis = 0, False
    while dim < len(shape) and draw(st.integers(0, 9)):
        size = shape[dim]
        what = draw(st.sampled_from(["integer", "slice", "slice", "array", "array", "new", "ellipsis", "mask", "bool"]))
        if what == "integer":
            entries.append(draw(st.integers(-size, size - 1)))
        elif what == "slice":
            entries.append(draw(st.slices(size)))
        elif what == "array":
            own = draw(st.sampled_from([batch, batch[-1:], (1,) * len(batch)]))
            dtype = draw(st.sampled_from(["int64", "int32", "int8", "uint8"]))
            low = 0 if dtype == "uint8" else -size
            entries.append(draw(hnp.arrays(dtype, own, elements=st.integers(low, size - 1))))
        elif what == "new":
            entries.append(None)
        elif what == "ellipsis" and not has_ellipsis:
            has_ellipsis = True
            entries.append(...)
            dim += draw(st.integers(0, len(shape) - dim)) - 1
        elif what == "mask":
            ndim = draw(st.integers(1, len(shape) - dim))
            entries.append(draw(hnp.arrays(bool, shape[dim : dim + ndim])))
            dim += ndim - 1
        elif what == "bool":
            entries.append(draw(st.sampled_from([True, False, np.True_, np.array(False)])))
        dim += what not in ("new", "bool") and (what != "ellipsis" or entries[-1] is ...)
    return np.arange(np.prod(shape, dtype=int)).reshape(shape), tuple(entries)


@hypothesis.example((np.zeros((2, 1, 1)), (..., np.array([1]), np.array([False]))))
@hypothesis.example((np.zeros((2, 1)), (5, np.array([], int))))
@hypothesis.example((np.zeros((1, 2, 1)), (0, ..., True, 1)))
@hypothesis.example((np.zeros((2, 1)), (np.array([5]), np.array([], int))))
@hypothesis.given(arrays_and_mixed_indices())
@hypothesis.settings(suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture], max_examples=200)
def test_getitem_equals_numpy(strictly: Any, assert_same: Any, case: tuple[np.ndarray[Any, Any], Any]) -> None:
    array, index = case
    try:
        want = np.asarray(array[index])
    except IndexError:
        for stages in (False, True):
            with strictly(stages=stages), pytest.raises(ArgumentIndexError):
                ops.getitem(array, index)
        return
    assert_same(ops.getitem(array, index), want)
    with strictly():
        assert_same(np.asarray(ops.getitem(array, index)), want)


@pytest.mark.parametrize(
    "index",
    [
        np.array([0, 1]),
        [0, 1],
        ([0, 1], 0),
        True,
        np.True_,
        x > 2,
        (0, np.array([True, False, True])),
        np.array(True),
        [],
        [True, False],
        (slice(None), np.array([0, 1]), slice(None), None),
        (np.array([[0], [1]]), slice(None), np.array([0, 1])),
    ],
)
def test_getitem_takes_arrays_and_lists(index: Any, strictly: Any, assert_same: Any) -> None:
    for stages in (False, True):
        with strictly(stages=stages):
            assert_same(np.asarray(ops.getitem(x, index)), np.asarray(x[index]))


@pytest.mark.parametrize(
    "index",
    [np.array([0, 2]), (0, [3]), (0, [0, -4]), np.array([True, False, True]), x[0] > 2, ([0, 1], [0, 1, 2]), [0.5]],
)
def test_getitem_with_arrays_that_do_not_fit_raises(index: Any, strictly: Any) -> None:
    with pytest.raises(IndexError):
        x[index]
    for stages in (False, True):
        with strictly(stages=stages), pytest.raises(ArgumentIndexError, match=r"index: expected .*; "):
            ops.getitem(x, index)


def test_getitem_of_traced_masks_and_ends_raises(strictly: Any, abstract: Any) -> None:
    with strictly():
        with pytest.raises(ArgumentTypeError, match=r"a tracer i64.*dynamic_slice.*static_argnums"):
            ops.getitem(x, slice(abstract((), "int64"), None))
        with pytest.raises(TracerBoolConversionError, match=r"where\(mask, x, y\).*size=n"):
            ops.getitem(x, abstract((2,), "bool"))
        with pytest.raises(ArgumentIndexError):
            ops.getitem(x, abstract((), "float32"))
