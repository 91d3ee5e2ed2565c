"""Scalars are printed and read back to the last bit, in every dtype."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.core import supported_dtypes
from lawful.core._types.scalars import read_python_scalar, read_scalar, scalar_text


@pytest.mark.parametrize("dtype", supported_dtypes, ids=str)
@given(data=st.data())
def test_reading_the_text_of_a_scalar_gives_its_bits(dtype: np.dtype[Any], data: st.DataObject, toy: SimpleNamespace):
    x = data.draw(toy.scalars(dtype))
    back = read_scalar(scalar_text(x), dtype)
    assert back.dtype == dtype
    assert back.tobytes() == x.tobytes()


@pytest.mark.parametrize("dtype", [dtype for dtype in supported_dtypes if dtype.itemsize <= 2], ids=str)
def test_all_scalars_of_small_dtypes_are_told_apart(dtype: np.dtype[Any], toy: SimpleNamespace):
    count = 2 if dtype == np.bool_ else 2 ** (8 * dtype.itemsize)
    scalars = [toy.scalar_of_bits(dtype, bits) for bits in range(count)]
    texts = [scalar_text(x) for x in scalars]
    assert len(set(texts)) == count
    assert all(read_scalar(text, dtype).tobytes() == x.tobytes() for text, x in zip(texts, scalars, strict=True))


@given(data=st.data())
def test_scalar_text_reading_text_of_python_number_gives_number(data: st.DataObject, toy: SimpleNamespace):
    x = data.draw(toy.python_numbers)
    back = read_python_scalar(scalar_text(x))
    assert type(back) is type(x)
    assert back == x if type(x) in (bool, int) else np.asarray(back).tobytes() == np.asarray(x).tobytes()


def test_scalar_text_numbers_look_as_in_numpy():
    numbers = [1.0, -0.0, 1e300, np.float32(0.1), np.float16(0.1), 2 + 0j, complex(-0.0, np.nan), np.inf, True, -3]
    texts = ["1.0", "-0.0", "1e+300", "0.1", "0.1", "(2.0+0.0j)", "(-0.0+nanj)", "inf", "True", "-3"]
    assert [scalar_text(x) for x in numbers] == texts


@given(data=st.data())
def test_scalar_text_print_options_do_not_matter(data: st.DataObject, toy: SimpleNamespace):
    x = data.draw(toy.scalars(np.dtype(data.draw(st.sampled_from(["float32", "float64", "complex128"])))))
    with np.printoptions(legacy="1.13", precision=2, suppress=True):
        text = scalar_text(x)
    assert read_scalar(text, x.dtype).tobytes() == x.tobytes()


@pytest.mark.parametrize(
    ("text", "dtype", "expected"),
    [
        ("1.0", "int8", "an integer from -128 to 127"),
        ("128", "int8", "an integer from -128 to 127"),
        ("-1", "uint16", "an integer from 0 to 65535"),
        ("1", "bool", "True or False"),
        ("True", "float32", "a floating-point number"),
        ("1.0", "complex64", "a complex number"),
        ("nan(0x1)", "float32", "the bits of a NaN of 32 bits"),
        ("nan(0x7ff8000000000001)", "float32", "the bits of a NaN of 32 bits"),
    ],
)
def test_scalar_text_of_another_dtype_is_refused(text: str, dtype: str, expected: str):
    with pytest.raises(ValueError, match=expected):
        read_scalar(text, np.dtype(dtype))
