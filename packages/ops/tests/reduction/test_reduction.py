"""Reductions: precision, empty reductions, errors, derivatives at ties and zeros."""

from __future__ import annotations

import pickle
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lawful import ops
from lawful.core import (
    ArgumentTypeError,
    LawfulError,
    ShapedArray,
    Trace,
    Tracer,
    Zero,
    current,
    get_aval,
    instantiate_zeros,
    new_trace,
    register_array_type,
    set_current,
)


class Dual(Tracer):
    """A value with its tangent, for higher derivatives without the autodiff package."""

    __slots__ = ("aval", "primal", "source", "tangent")

    def __init__(self, trace: Trace, primal: Any, tangent: Any) -> None:
        self._trace, self.primal, self.tangent = trace, primal, tangent
        self.aval, self.source = get_aval(primal), None


class DualTrace(Trace):
    def process_primitive(self, primitive: Any, args: Any, params: Any) -> Any:
        assert self.parent is not None
        mine = [isinstance(x, Dual) and x._trace is self for x in args]
        with set_current(self.parent):
            if not any(mine):
                return primitive.bind(*args, **params)
            primals = [x.primal if is_mine else x for x, is_mine in zip(args, mine, strict=True)]
            tangents = [
                x.tangent if is_mine else Zero(get_aval(x).to_tangent_aval())
                for x, is_mine in zip(args, mine, strict=True)
            ]
            return Dual(self, *primitive.rule("jvp")(primals, tangents, **params))


register_array_type(Dual, aval=lambda x: x.aval)


def derivative(function: Any, x: Any, t: Any) -> Any:
    """Returns the derivative of a function of one array along ``t``."""
    with new_trace(DualTrace(current.trace, "test")) as _:
        trace = current.trace
        out = function(Dual(trace, x, t))
    return instantiate_zeros(out.tangent)


def unit_vectors(size: int) -> list[np.ndarray[Any, Any]]:
    return list(np.eye(size))


def test_reduce_sum_in_low_precision_does_not_stall() -> None:
    ones = np.ones(1000, ml_dtypes.bfloat16)
    assert ops.reduce_sum(ones, (0,)) == 1000
    assert ops.reduce_sum(ones, (0,)).dtype == ml_dtypes.bfloat16


def test_reductions_keep_the_dtype() -> None:
    assert ops.reduce_sum(np.full(3, 100, np.int8), (0,)) == np.int8(44)
    assert ops.reduce_sum(np.ones(3, np.float32), (0,)).dtype == np.float32


@pytest.mark.parametrize(
    ("reduce", "dtype", "expected"),
    [
        (ops.reduce_max, "float64", -np.inf),
        (ops.reduce_min, "float32", np.inf),
        (ops.reduce_max, "int8", -128),
        (ops.reduce_min, "uint8", 255),
        (ops.reduce_max, bool, False),
        (ops.reduce_max, ml_dtypes.float8_e4m3fn, -448),
        (ops.reduce_sum, "float64", 0),
        (ops.reduce_prod, "int32", 1),
        (ops.reduce_and, bool, True),
        (ops.reduce_and, "uint8", 255),
        (ops.reduce_or, "int8", 0),
    ],
)
def test_reductions_of_no_elements_are_the_identity(reduce: Any, dtype: Any, expected: Any) -> None:
    out = reduce(np.zeros((2, 0), dtype), (1,))
    assert out.dtype == np.dtype(dtype)
    assert out.tolist() == [expected] * 2


def test_reductions_take_negative_axes_in_any_order() -> None:
    x = np.arange(24).reshape(2, 3, 4)
    np.testing.assert_array_equal(ops.reduce_sum(x, (-1, 0)), x.sum((0, 2)))
    np.testing.assert_array_equal(ops.reduce_sum(x, ()), x)


@pytest.mark.parametrize("count_of_zeros", [0, 1, 2, 3])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
def test_reduce_prod_derivative_with_zeros(size: int, count_of_zeros: int) -> None:
    x = np.arange(2.0, 2.0 + size)
    x[:count_of_zeros] = 0
    got = [derivative(lambda x: ops.reduce_prod(x, (0,)), x, t) for t in unit_vectors(size)]
    np.testing.assert_allclose(got, [np.prod(np.delete(x, i)) for i in range(size)])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: ops.reduce_prod(x, (0,)),
        lambda x: ops.reduce_sum(ops.mul(ops.cumprod(x), np.array([0, 0, 0, 0, 1.0])), (0,)),
    ],
)
@pytest.mark.parametrize("zeros", [(), (1,), (0, 3), (0, 1, 2)])
def test_reduce_prod_second_derivative_with_zeros(zeros: tuple[int, ...], function: Any) -> None:
    x = np.array([2.0, 3.0, -1.0, 0.5, 4.0])
    x[list(zeros)] = 0
    size = len(x)
    got = [
        [derivative(lambda x, t=t: derivative(function, x, t), x, s) for t in unit_vectors(size)]
        for s in unit_vectors(size)
    ]
    want = [[0 if i == j else np.prod(np.delete(x, [i, j])) for i in range(size)] for j in range(size)]
    np.testing.assert_allclose(got, want)


@pytest.mark.parametrize(("reduce", "x"), [(ops.reduce_max, [3.0, 1, 3, 2]), (ops.reduce_min, [1.0, 2, 1, 3])])
def test_reduce_max_derivative_of_ties(reduce: Any, x: list[float]) -> None:
    got = [derivative(lambda x: reduce(x, (0,)), np.array(x), t) for t in unit_vectors(4)]
    np.testing.assert_array_equal(got, [0.5, 0, 0.5, 0])


def test_cummax_derivative_of_ties() -> None:
    x = np.array([3.0, 1, 3, 3, 5])
    got = np.stack([derivative(ops.cummax, x, t) for t in unit_vectors(5)], axis=1)
    third = 1 / 3
    want = [[1, 0, 0, 0, 0], [1, 0, 0, 0, 0], [0.5, 0, 0.5, 0, 0], [third, 0, third, third, 0], [0, 0, 0, 0, 1]]
    np.testing.assert_allclose(got, want)


@pytest.mark.parametrize("size", range(9))
@pytest.mark.parametrize("reverse", [False, True])
def test_cumprod_derivative_with_zeros(size: int, reverse: bool) -> None:
    x = np.arange(1.0, size + 1)
    x[1::3] = 0
    for i, t in enumerate(unit_vectors(size)):
        others = np.where(t == 1, 1, x)
        want = (
            np.cumprod(others[::-1])[::-1] * (np.arange(size) <= i)
            if reverse
            else np.cumprod(others) * (np.arange(size) >= i)
        )
        np.testing.assert_allclose(derivative(lambda x: ops.cumprod(x, reverse=reverse), x, t), want)


def test_reduce_max_derivative_with_nan() -> None:
    with np.errstate(invalid="ignore"):
        assert np.isnan(derivative(lambda x: ops.reduce_max(x, (0,)), np.array([1.0, np.nan]), np.ones(2)))


def test_reductions_with_wrong_axis_raise_axis_error() -> None:
    with pytest.raises(
        np.exceptions.AxisError, match=r"reduce_sum: expected an axis of an array with 2 dimensions, got 2"
    ):
        ops.reduce_sum(np.ones((2, 3)), (2,))
    with pytest.raises(ops.AxisError) as info:
        ops.cumsum(np.ones(3), 1)
    assert isinstance(info.value, LawfulError | ValueError)
    assert isinstance(info.value, IndexError)
    assert str(pickle.loads(pickle.dumps(info.value))) == str(info.value)


def test_reductions_with_repeated_axis_raise() -> None:
    with pytest.raises(ValueError, match=r"reduce_sum: expected different axes, got \(0, 0\)"):
        ops.reduce_sum(np.ones((2, 3)), (0, -2))


@pytest.mark.parametrize(
    ("reduce", "dtype"),
    [(ops.reduce_sum, bool), (ops.reduce_xor, complex), (ops.reduce_and, float), (ops.reduce_prod, bool)],
)
def test_reductions_refuse_other_dtypes(reduce: Any, dtype: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="convert with astype"):
        reduce(np.ones((2,), dtype), (0,))
    primitive = getattr(ops, f"{reduce.__name__}_p")
    with pytest.raises(ArgumentTypeError, match="convert with astype"):
        primitive.rule("abstract_eval")(ShapedArray((2,), dtype), axes=(0,))


@pytest.mark.parametrize("axes", [(-1,), (2,), (0, 0)])
def test_reduce_sum_primitive_refuses_other_axes(axes: tuple[int, ...]) -> None:
    with pytest.raises(ArgumentTypeError, match="reduce_sum_p: expected axes that are different and in 0 to 1"):
        ops.reduce_sum_p.rule("abstract_eval")(ShapedArray((2, 3), float), axes=axes)


def test_cumsum_of_many_elements_is_exact() -> None:
    x = np.arange(1000)
    np.testing.assert_array_equal(ops.cumsum(x), np.cumsum(x))
    np.testing.assert_array_equal(ops.cumsum(x, reverse=True), np.cumsum(x[::-1])[::-1])
