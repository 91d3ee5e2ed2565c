"""The type of an array: equal types are one object, immutable, and print as in jaxprs."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from lawful.core import (
    ArgumentTypeError,
    InvalidArgumentError,
    ShapedArray,
    UndefinedPrimal,
    Zero,
    float0,
    instantiate_zeros,
    is_inexact,
    supported_dtypes,
    zeros,
)


def test_shaped_array_equal_types_are_one_object() -> None:
    for dtype in supported_dtypes:
        assert ShapedArray((2, 3), dtype) is ShapedArray((2, 3), dtype)
    assert ShapedArray((2,), float) is ShapedArray((np.int64(2),), "float64")
    assert ShapedArray([2], np.float64) is ShapedArray((2,), float)


@pytest.mark.parametrize(
    "other",
    [ShapedArray((3,), float), ShapedArray((2,), "f4"), ShapedArray((), float), ShapedArray((), float, weak_type=True)],
)
def test_shaped_array_different_types_differ(other: ShapedArray) -> None:
    one = ShapedArray((2,), float)
    assert one != other
    assert not one == other  # noqa: SIM201
    assert len({one, other}) == 2
    assert one != "f64[2]"


def test_shaped_array_equality_does_not_depend_on_table_of_types() -> None:
    one = ShapedArray((2, 3), float)
    for size in range(20_000):  # more than the table holds
        ShapedArray((size, 7, 7), "int8")
    other = ShapedArray((2, 3), float)
    assert one == other
    assert hash(one) == hash(other)


def test_shaped_array_type_is_immutable() -> None:
    aval = ShapedArray((2,), float)
    with pytest.raises(AttributeError, match="immutable"):
        aval.shape = (3,)
    assert aval.update(shape=(3,), dtype="f4", weak_type=False) is ShapedArray((3,), "f4")
    assert aval.update() is aval


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_shaped_array_copies_are_the_same_type(copied: Any) -> None:
    for aval in (ShapedArray((2,), "bfloat16"), ShapedArray((), int, weak_type=True), ShapedArray((2,), float0)):
        assert copied(aval) is aval


def test_shaped_array_size_and_dimensions() -> None:
    aval = ShapedArray((2, 0, 3), float)
    assert (aval.ndim, aval.size) == (3, 0)
    assert ShapedArray((), float).size == 1
    huge = ShapedArray((2**40, 2**40), "int8")
    assert huge.size == 2**80, "no overflow"


def test_shaped_array_text_is_that_of_jaxprs() -> None:
    assert str(ShapedArray((2, 3), "float32")) == "f32[2,3]"
    assert repr(ShapedArray((), bool, weak_type=True)) == "ShapedArray(~bool[])"


def test_shaped_array_unsupported_dtype_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="expected one of"):
        ShapedArray((2,), object)


@pytest.mark.parametrize(
    ("shape", "match"), [((2, -1), "not negative, got the shape"), ((2.5,), "integers as shape"), (None, "integers as")]
)
def test_shaped_array_of_no_shape_is_refused(shape: Any, match: str) -> None:
    with pytest.raises(InvalidArgumentError, match=match):
        ShapedArray(shape, float)


def test_shaped_array_tangents_have_type_of_the_value_or_float0() -> None:
    for dtype in supported_dtypes:
        aval = ShapedArray((2,), dtype)
        assert aval.to_tangent_aval() is (aval if is_inexact(dtype) else ShapedArray((2,), float0))
    weak = ShapedArray((), float, weak_type=True)
    assert weak.to_tangent_aval() is weak


@pytest.mark.parametrize("dtype", [*supported_dtypes, float0], ids=str)
def test_shaped_array_zeros_of_every_type(dtype: np.dtype[Any]) -> None:
    aval = ShapedArray((2, 0), dtype)
    x = zeros(aval)
    assert (x.shape, x.dtype) == ((2, 0), dtype)
    one = zeros(ShapedArray((1,), dtype))
    assert dtype == float0 or not one.any()


def test_instantiate_zeros_leaves_anything_else_alone() -> None:
    x = np.ones(3)
    assert instantiate_zeros(x) is x
    z = instantiate_zeros(Zero(ShapedArray((2,), "float32")))
    assert z.dtype == np.float32
    assert z.tolist() == [0.0, 0.0]
    assert repr(Zero(ShapedArray((2,), "float32"))) == "Zero(f32[2])"
    assert repr(UndefinedPrimal(ShapedArray((2,), "float32"))) == "UndefinedPrimal(f32[2])"
