"""The types of NumPy's arrays and scalars and of Python numbers, and errors of other values."""

import enum
from collections.abc import Callable
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lawful.core import (
    ArgumentTypeError,
    IntegerOverflowError,
    LawfulError,
    NonArrayError,
    ShapedArray,
    avals_of,
    get_aval,
    is_array,
    register_array_type,
    to_numpy,
)


class Level(enum.IntEnum):
    LOW = 3


class Celsius(float):
    pass


class Table(np.ndarray):
    pass


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (True, "~bool[]"),
        (3, "~i64[]"),
        (3.0, "~f64[]"),
        (3j, "~c128[]"),
        (np.float32(3), "f32[]"),
        (np.float64(3), "f64[]"),
        (np.True_, "bool[]"),
        (np.int8(3), "i8[]"),
        (np.ones((2, 3)), "f64[2,3]"),
        (np.ones((2, 0), np.complex64), "c64[2,0]"),
        (np.ones((), np.uint16), "u16[]"),
        (np.ones(2, ml_dtypes.bfloat16), "bf16[2]"),
        (ml_dtypes.bfloat16(1), "bf16[]"),
        (np.ones(2, ">f8"), "f64[2]"),
        (Level.LOW, "~i64[]"),
        (Celsius(3.0), "~f64[]"),
        (np.ones(2).view(Table), "f64[2]"),
    ],
)
def test_get_aval_type_of_arrays_and_numbers(x: Any, text: str) -> None:
    assert str(get_aval(x)) == text
    assert is_array(x)
    value = to_numpy(x)
    assert np.array_equal(value, np.asarray(x))
    assert get_aval(value) == get_aval(x)


class Opaque:
    def __repr__(self) -> str:
        return "Opaque" * 100


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (None, "got None of type NoneType"),
        ("text", "got 'text' of type str"),
        (b"text", "of type bytes"),
        (Decimal("1.5"), "of type Decimal"),
        ([1.0, 2.0], r"got the list \[1.0, 2.0\]; convert it with numpy.asarray"),
        ((1.0, 2.0), r"got the tuple \(1.0, 2.0\); convert it"),
        ([[1.0], [1.0, 2.0]], "got the ragged list .*; make its rows equally long"),
        ([1.0, [1.0, 2.0]], "got the ragged list .*; make its rows equally long"),
        ([[1.0], "a"], "list"),
        ({1.0}, "of type set"),
        ({"a": 1.0}, "of type dict"),
        (object(), "of type object"),
        (Opaque(), r"got Opaque.{1,60} of type Opaque"),
        (print, "of type builtin_function_or_method"),
        (float, "of type type"),
        (np, "of type module"),
        (slice(1), "of type slice"),
        (range(3), "of type range"),
        (np.ma.masked_array([1.0]), "MaskedArray; convert it with numpy.asarray"),
    ],
)
def test_get_aval_what_is_no_array_error(x: Any, words: str) -> None:
    for function in (get_aval, to_numpy):
        with pytest.raises(NonArrayError, match=words) as caught:
            function(x)
        assert isinstance(caught.value, TypeError)
        assert str(caught.value).startswith(f"{__file__}:")
        assert len(str(caught.value)) < 500, "a long value is cut short"
    assert not is_array(x)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_get_aval_matrix_whose_product_is_another_is_no_array() -> None:
    with pytest.raises(NonArrayError, match=r"matrix; convert it with numpy\.asarray"):
        get_aval(np.asmatrix(np.ones((2, 2))))


@pytest.mark.parametrize(
    "x",
    [
        np.array(["text"]),
        np.array([None]),
        np.array([1, "a"], object),
        np.array(["2020-01-01"], "datetime64[D]"),
        np.zeros(2, [("a", int)]),
        np.zeros(2, np.longdouble),
        np.str_("text"),
        np.datetime64("2020-01-01"),
        np.bytes_(b"text"),
    ],
    ids=lambda x: str(x.dtype),
)
def test_get_aval_array_of_dtype_lawful_has_not_error(x: Any) -> None:
    with pytest.raises(LawfulError) as caught:
        get_aval(x)
    assert isinstance(caught.value, TypeError)
    assert str(x.dtype) in str(caught.value)
    assert str(caught.value).startswith(f"{__file__}:")


@pytest.mark.parametrize("x", [2**63, -(2**63) - 1, 10**30, -(10**400), pytest.param(10**5000, id="5000 digits")])
def test_get_aval_integer_beyond_int64_is_an_overflow_error(x: int) -> None:
    for function in (get_aval, to_numpy):
        with pytest.raises(IntegerOverflowError, match="fits int64") as caught:
            function(x)
        assert isinstance(caught.value, OverflowError)
        assert len(str(caught.value)) < 300


@pytest.mark.parametrize("x", [2**63 - 1, -(2**63)])
def test_get_aval_last_integers_that_fit_do(x: int) -> None:
    assert get_aval(x) == ShapedArray((), int, weak_type=True)
    assert to_numpy(x) == x


def test_get_aval_numbers_keep_their_value() -> None:
    assert to_numpy(Level.LOW) == 3
    assert type(to_numpy(Celsius(3.0))) is float
    x = np.ones(3)
    assert to_numpy(x) is x


def test_get_aval_type_that_registers_is_an_array() -> None:
    class Interval:
        low = 1.0

    with pytest.raises(NonArrayError):
        get_aval(Interval())
    register_array_type(Interval, aval=lambda x: ShapedArray((), np.float64), to_numpy=lambda x: np.float64(x.low))
    assert get_aval(Interval()) == ShapedArray((), np.float64)
    assert to_numpy(Interval()) == 1.0

    class Narrower(Interval):
        pass

    assert not is_array(Narrower()), "subclasses register for themselves"


def test_get_aval_unsupported_dtypes_are_refused_each_time() -> None:
    for _ in range(2):
        with pytest.raises(ArgumentTypeError):
            get_aval(np.array(["text"]))


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    ("of", "words"),
    [
        (lambda x: [x, x], r"got the list of tracers \[.*; make an array of it by lawful.numpy.array"),
        (lambda x: (x,), r"got the tuple of tracers \(.*; make an array of it by lawful.numpy.array"),
        (lambda x: [[x, 1.0], [2.0, np.float32(3.0)]], "got the list of tracers"),
        (lambda x: [x, [x, x]], "got the ragged list .*; make its rows equally long"),
        (lambda x: [[x], [x, x]], "got the ragged list .*; make its rows equally long"),
        (lambda x: [[[x], [x, x]], [[x], [x, x]]], "got the ragged list"),
        (lambda x: [x, np.ones(2)], "got the ragged list"),
        (lambda x: [x, "a"], "of type list"),
        (lambda x: [x, None], "of type list"),
    ],
)
def test_get_aval_list_of_tracers_error(
    counting: SimpleNamespace, of: Callable[[Any], Any], words: str, known: bool
) -> None:
    with pytest.raises(NonArrayError, match=words):
        counting.count(lambda x: get_aval(of(x)), 1.0, known=known)


@pytest.mark.parametrize(
    "mistake", [lambda: get_aval("text"), lambda: avals_of(["text"]), lambda: ShapedArray((2, -1), float)]
)
def test_errors_do_not_show_that_a_cache_was_asked(mistake: Callable[[], object]) -> None:
    with pytest.raises((TypeError, ValueError)) as raised:
        mistake()
    assert raised.value.__context__ is None
