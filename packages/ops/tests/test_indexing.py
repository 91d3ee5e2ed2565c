"""Basic indexing equals NumPy's, eagerly and staged, and explains what is not supported."""

from __future__ import annotations

from typing import Any

import hypothesis
import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest

from lawful import ops
from lawful.core import ArgumentIndexError, ArgumentTypeError, ArgumentValueError, get_aval

x = np.arange(24.0).reshape(2, 3, 4)


@st.composite
def arrays_and_indices(draw: Any) -> tuple[np.ndarray[Any, Any], Any]:
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    return array, draw(hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True, max_dims=6))


@hypothesis.given(arrays_and_indices())
def test_every_basic_index_gives_what_numpy_gives(case: tuple[np.ndarray[Any, Any], Any]) -> None:
    array, index = case
    want = np.asarray(array[index])
    got = ops.getitem(array, index)
    np.testing.assert_array_equal(got, want)
    assert got.dtype == want.dtype


@hypothesis.given(arrays_and_indices())
@hypothesis.settings(suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
def test_every_basic_index_is_staged_as_numpy_has_it(strictly: Any, case: tuple[np.ndarray[Any, Any], Any]) -> None:
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
def test_integers_of_every_type_are_indices(index: Any, strictly: Any, assert_same: Any) -> None:
    assert_same(ops.getitem(x, index), x[index])
    with strictly():
        assert_same(ops.getitem(x, index), x[index])


def test_nothing_is_staged_for_the_whole_array(strictly: Any, abstract: Any) -> None:
    with strictly() as trace:
        tracer = abstract((2, 3), "float64")
        for index in ((), ..., slice(None), (slice(0, 2), slice(None, 5))):
            assert ops.getitem(tracer, index) is tracer
    assert not trace.names


def test_scalars_take_an_ellipsis_and_new_dimensions(strictly: Any) -> None:
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
def test_what_numpy_raises_an_index_error_for_does_here(index: Any, strictly: Any) -> None:
    with pytest.raises(IndexError):
        x[index]
    texts = set()
    for stages in (False, True):
        with strictly(stages=stages), pytest.raises(ArgumentIndexError, match="index: expected") as raised:
            ops.getitem(x, index)
        assert "test_indexing.py" in str(raised.value)
        texts.add(str(raised.value))
    assert len(texts) == 1


def test_the_message_of_an_index_out_of_bounds_names_the_dimension() -> None:
    with pytest.raises(ArgumentIndexError, match=r"from -3 to 2 for dimension 1 of the shape \(2, 3, 4\), got 3"):
        ops.getitem(x, (0, 3))
    with pytest.raises(ArgumentIndexError, match="leave out 1"):
        ops.getitem(x, (0, 0, 0, 0))


def test_a_step_of_zero_is_a_value_error() -> None:
    with pytest.raises(ArgumentValueError, match="step other than 0"):
        ops.getitem(x, slice(None, None, 0))


@pytest.mark.parametrize(
    "index",
    [np.array([0, 1]), [0, 1], ([0, 1], 0), True, np.True_, x > 2, (0, np.array([True, False, True])), np.array(True)],
)
def test_arrays_of_indices_are_not_supported_yet(index: Any, strictly: Any) -> None:
    for stages in (False, True):
        with strictly(stages=stages), pytest.raises(ArgumentTypeError, match="not supported yet: choose elements with"):
            ops.getitem(x, index)


def test_a_traced_index_says_what_to_do(strictly: Any, abstract: Any) -> None:
    with strictly():
        for index in (abstract((), "int64"), (0, abstract((2,), "int32")), slice(abstract((), "int64"), None)):
            with pytest.raises(ArgumentTypeError, match=r"a tracer i.*static_argnums"):
                ops.getitem(x, index)
        with pytest.raises(ArgumentIndexError):
            ops.getitem(x, abstract((), "float32"))
