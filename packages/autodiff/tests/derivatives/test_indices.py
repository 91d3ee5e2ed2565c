"""Indexing where an array is differentiated at values: by arrays of positions, as NumPy has it, once and again."""

from __future__ import annotations

import copy
from itertools import product
from typing import Any

import hypothesis
import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest

from lawful.autodiff import grad, jvp, linearize
from lawful.core import ArgumentIndexError
from lawful.ops import GatherDimensionNumbers, gather

Case = tuple[np.ndarray[Any, Any], Any]


@st.composite
def look_ups(draw: Any) -> Case:
    """Draws an array, and an index of it by arrays of integers among numbers, slices, ``...`` and new dimensions."""
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=5))
    looked_up = draw(hnp.mutually_broadcastable_shapes(num_shapes=len(shape), min_dims=0, max_dims=2, max_side=3))
    entries: list[Any] = []
    for size, positions in zip(shape, looked_up.input_shapes, strict=True):
        kind = draw(st.sampled_from(["array", "array", "number", "slice"]))
        if kind == "slice" or not size:
            entries.append(draw(st.slices(size)))
        elif kind == "number":
            entries.append(draw(st.integers(-size, size - 1)))
        else:
            dtype = draw(st.sampled_from([np.int64, np.int8, np.int32, np.uint8]))
            lowest = 0 if dtype is np.uint8 else -size
            entries.append(draw(hnp.arrays(dtype, positions, elements=st.integers(lowest, size - 1))))
    if draw(st.booleans()):
        entries.insert(draw(st.integers(0, len(entries))), draw(st.sampled_from([None, Ellipsis])))
    return np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape), tuple(entries)


@hypothesis.settings(max_examples=10 * hypothesis.settings.default.max_examples)
@hypothesis.given(look_ups())
def test_getitem_values_and_derivatives_are_those_of_numpy(case: Case) -> None:
    x, index = case
    given = copy.deepcopy(index)
    want = np.asarray(x[index])
    weights = np.arange(1.0, 1.0 + want.size).reshape(want.shape)
    scattered = np.zeros_like(x)
    np.add.at(scattered, index, weights)
    # The second call derives a rule, later calls replay it, and many replays compile it.
    for _ in range(4):
        out, tangent = jvp(lambda x: x[index], (x,), (-x,))
        np.testing.assert_array_equal(out, want)
        np.testing.assert_array_equal(tangent, -want)
        gradient = grad(lambda x: (x[index] * weights).sum())(x)
        np.testing.assert_array_equal(gradient, scattered)
    assert str(index) == str(given), "nobody writes into the user's arrays"


def test_getitem_grad_negative_int8_indices() -> None:
    """Negative int8 indices count from the end of a dimension longer than 127."""
    where = np.array([-1, -128, 5], np.int8)
    gradient = grad(lambda x: x[where].sum())(np.arange(200.0))
    np.testing.assert_array_equal(np.flatnonzero(gradient), [5, 72, 199])


def test_getitem_no_position_of_no_element() -> None:
    x = np.zeros((0, 3))
    np.testing.assert_array_equal(jvp(lambda x: x[np.zeros((0, 2), int)], (x,), (x,)), np.zeros((2, 0, 2, 3)))


@pytest.mark.parametrize(
    ("index", "dtype"),
    [
        *product([[4], [-5], [0, 127], [[1], [-128]]], [np.int8, np.int64]),
        ([2**64 - 1], np.uint64),
    ],
)
def test_getitem_position_outside_is_error_whatever_came_before(index: Any, dtype: Any) -> None:
    x = np.arange(8.0).reshape(4, 2)
    inside, outside = np.zeros(np.shape(index), dtype), np.array(index, dtype)
    for where, chosen in ((inside, outside), ((slice(None), inside), (slice(None), outside))):
        grad(lambda x, where=where: x[where].sum())(x)
        with pytest.raises(ArgumentIndexError, match="choose one inside the array"):
            grad(lambda x, chosen=chosen: x[chosen].sum())(x)


def test_getitem_error_of_an_empty_dimension_names_the_position() -> None:
    with pytest.raises(ArgumentIndexError, match="got 7"):
        grad(lambda x: x[np.array([7])].sum())(np.zeros(0))


def test_getitem_positions_overwritten_change_no_derivative() -> None:
    x, where = np.arange(4.0), np.array([3, 0])
    for _ in range(3):
        out, f_jvp = linearize(lambda x: x[where] * x[where], x)
        where[:] = 1
        np.testing.assert_array_equal(f_jvp(np.ones(4)), 2.0 * out**0.5)
        where[:] = 3, 0


def test_getitem_positions_too_large_for_int64_are_the_last() -> None:
    numbers = GatherDimensionNumbers(offset_dims=(), collapsed_slice_dims=(0,), start_index_map=(0,))
    where = np.array([[2**64 - 1], [1]], np.uint64)
    for _ in range(60):  # by then it is compiled
        out, tangent = jvp(lambda x: gather(x, where, numbers, (1,), mode="clip"), (np.arange(3.0),), (np.arange(3.0),))
        np.testing.assert_array_equal([out, tangent], [[2.0, 1.0]] * 2)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "index",
    [
        [2, 0, 0],
        [-1, 3],
        np.array([], int),
        np.array([True, False, True, False]),
        np.array([False] * 4),
        np.array([[3, 0], [1, 1]]),
        np.array([[3, 0], [-1, 1]], np.int8),
        (np.array([1, 1]), np.array([0, -2])),
        (np.array([[1], [2]]), np.array([0, 1])),
        (np.array([3, 3]), 1),
        (2, np.array([0, 1, 0])),
        (slice(None), np.array([1, 0, 1])),
        (np.array([3, 3]), slice(0, 1)),
    ],
    ids=str,
)
def test_getitem_derivatives_in_many_calls(index: Any, dtype: Any) -> None:
    """They stay NumPy's once the rules are compiled."""
    x = np.arange(8.0, dtype=dtype).reshape(4, 2)
    weights = np.linspace(0.3, 1.7, x[index].size, dtype=dtype).reshape(x[index].shape)
    expected = np.zeros_like(x)
    np.add.at(expected, index, weights)
    for _ in range(60):
        gradient = grad(lambda x: (x[index] * weights).sum())(x)
        assert gradient.dtype == x.dtype
        assert gradient.flags.writeable
        np.testing.assert_array_equal(gradient, expected)


def test_getitem_rows_of_a_vector_in_many_calls() -> None:
    x, weights = np.arange(4.0), np.array([0.5, 1.5, 2.5])
    for index in ([2, 0, 2], [-1, 0, -1], [True, True, False, True]):
        expected = np.zeros(4)
        np.add.at(expected, index, weights)
        for where in (index, np.array(index)):
            for _ in range(60):
                np.testing.assert_array_equal(grad(lambda x, where=where: (x[where] * weights).sum())(x), expected)


def test_getitem_mask_overwritten_changes_no_derivative() -> None:
    x, mask = np.arange(1.0, 5.0), np.array([True, False, True, True])
    for _ in range(3):
        out, f_jvp = linearize(lambda x: x[mask] * x[mask], x)
        mask[:] = False
        np.testing.assert_array_equal(f_jvp(np.ones(4)), 2.0 * out**0.5)
        mask[:] = True, False, True, True
