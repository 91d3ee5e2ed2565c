"""Functional updates equal NumPy's assignment and the ``at`` of its ufuncs, eagerly and staged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.core import ArgumentIndexError, ArgumentTypeError, ArgumentValueError, get_aval

x = np.arange(1.0, 25.0).reshape(2, 3, 4)

METHODS = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "mul": np.multiply,
    "divide": np.divide,
    "power": np.power,
    "min": np.minimum,
    "max": np.maximum,
}
INDICES = [
    (),
    0,
    -1,
    (slice(None), 1),
    (..., slice(None, None, -1)),
    (slice(None), slice(None, None, 2), None, slice(3, 0, -2)),
    np.array([1, 0]),
    np.array([1, 1, 1]),
    (slice(None), np.array([[0, 2], [0, 1]]), slice(1, 3)),
    (np.array([0, 1, 0]), slice(None), np.array([3, 3, 3])),
    (slice(None), slice(0, 3, 2), np.array([0, 0, 2])),
    x > 7,
    (1, np.array([True, False, True])),
    True,
    False,
    slice(5, 9),
]


def _want(method: str, index: Any, values: Any, array: Any = x) -> Any:
    out = array.copy()
    if method == "set":
        out[index] = values
    else:
        METHODS[method].at(out, index, values)
    return out


@pytest.mark.parametrize("index", INDICES, ids=repr)
@pytest.mark.parametrize("method", ["set", *METHODS])
def test_at_updates_equal_numpy(method: str, index: Any, strictly: Any, assert_same: Any) -> None:
    shape = x[index].shape
    for values in (1.5, np.linspace(0.5, 2.0, int(np.prod(shape))).reshape(shape), np.float32(0.5)):
        want = _want(method, index, values)
        for stages in (False, True):
            with strictly(stages=stages):
                got = getattr(ops.at(x)[index], method)(values)
            assert get_aval(got).dtype == want.dtype
            np.testing.assert_allclose(np.asarray(got), want, rtol=1e-14)


def test_at_does_not_change_its_operand() -> None:
    before = x.copy()
    ops.at(x)[0].set(0.0)
    ops.at(x)[np.array([0, 0])].add(1.0)
    np.testing.assert_array_equal(x, before)


def test_at_set_of_repeated_index_keeps_the_last() -> None:
    np.testing.assert_array_equal(ops.at(np.zeros(3))[np.array([1, 1, 1])].set(np.array([1.0, 2.0, 3.0])), [0, 3, 0])


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "float16", "bfloat16", "float32", "complex64"])
def test_at_keeps_the_dtype(dtype: str, strictly: Any) -> None:
    array = ops.convert_element_type(np.array([1, 0, 1]), dtype)
    for stages in (False, True):
        with strictly(stages=stages):
            for method in ("set", "add", "multiply"):
                got = getattr(ops.at(array)[np.array([0, 0, 2])], method)(array)
                assert get_aval(got).dtype == array.dtype


def test_at_add_and_multiply_of_booleans() -> None:
    array, values = np.array([True, False, False]), np.array([False, True])
    for method in ("add", "multiply", "min", "max"):
        index = np.array([0, 1])
        np.testing.assert_array_equal(
            getattr(ops.at(array)[index], method)(values), _want(method, index, values, array), method
        )


def test_at_known_index_out_of_bounds(strictly: Any) -> None:
    """A known index out of bounds is an error, unless a mode says what to do."""
    row = np.arange(3.0)
    for stages in (False, True):
        with strictly(stages=stages):
            for index in (3, -4, np.array([0, 7])):
                with pytest.raises(ArgumentIndexError, match="choose one inside"):
                    ops.at(row)[index].set(1.0)
                np.testing.assert_array_equal(ops.at(row)[index].get(mode="clip"), np.take(row, index, mode="clip"))
                want = row if np.ndim(index) == 0 else _want("add", 0, 9.0, row)
                np.testing.assert_array_equal(ops.at(row)[index].add(9.0, mode="drop"), want)
            assert np.isnan(ops.at(row)[3].get(mode="fill"))
            assert ops.at(row)[3].get(mode="fill", fill_value=-1.0) == -1.0
            np.testing.assert_array_equal(
                ops.at(row)[-1].set(9.0, wrap_negative_indices=False, mode="drop"), row, "-1 is outside"
            )


def test_at_get_fill_default_by_dtype() -> None:
    for dtype, want in {"int8": -128, "uint16": 65535, "bool": True, "float32": np.nan, "complex64": np.nan}.items():
        got = ops.at(np.zeros(2, dtype))[np.array([5])].get(mode="fill")
        np.testing.assert_array_equal(got, np.array([want], dtype))


def test_at_apply_updates_elements() -> None:
    np.testing.assert_allclose(ops.at(x)[:, 1].apply(np.sqrt), _want("set", (slice(None), 1), np.sqrt(x[:, 1])))


@pytest.mark.parametrize(
    ("index", "values", "error"),
    [
        (0, np.zeros(5), ArgumentValueError),
        (np.array([0, 1]), np.zeros((3, 3, 4)), ArgumentValueError),
        (0, 1j, ArgumentTypeError),
        (0, np.zeros((), complex), ArgumentTypeError),
        ("text", 1.0, ArgumentIndexError),
    ],
)
def test_at_values_that_do_not_fit_raise(index: Any, values: Any, error: type[Exception], strictly: Any) -> None:
    texts = set()
    for stages in (False, True):
        with strictly(stages=stages), pytest.raises(error, match=r"expected .*, got .*; ") as raised:
            ops.at(x)[index].set(values)
        assert "test_at.py" in str(raised.value)
        texts.add(str(raised.value))
    assert len(texts) == 1


def test_at_unknown_mode_raises() -> None:
    with pytest.raises(ArgumentValueError, match="'clip', 'fill', 'drop'"):
        ops.at(x)[0].set(1.0, mode="wrap")


def test_at_float_into_integers_raises() -> None:
    with pytest.raises(ArgumentTypeError, match="would lose a part"):
        ops.at(np.arange(3))[0].set(0.5)
    with pytest.raises(OverflowError):
        ops.at(np.zeros(3, np.uint8))[0].set(300)
