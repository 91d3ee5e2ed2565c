"""Selection and clamping: NumPy's promotion and broadcasting, edges, derivatives and errors."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, ShapedArray, Zero, get_aval, instantiate_zeros

f32 = np.linspace(-2, 2, 3, dtype=np.float32)

OPERANDS = [
    1,
    2.5,
    True,
    1j,
    np.float32(3),
    f32,
    np.arange(3, dtype=np.int8),
    np.ones((2, 1)),
    np.ones(3, "uint64"),
    np.zeros((2, 3), bool),
]
CONDITIONS = [True, 0, np.array([True, False, True]), np.array([[0.0], [np.nan]]), np.array(2j), np.int8(3)]


@pytest.mark.parametrize("condition", CONDITIONS, ids=repr)
def test_where_equals_numpy(condition: Any, strictly: Any, assert_same: Any) -> None:
    for x, y in itertools.product(OPERANDS, OPERANDS):
        want = np.where(condition, x, y)
        assert_same(ops.where(condition, x, y), want)
        with strictly():
            out = ops.where(condition, x, y)
        assert_same(out, want)
        assert not get_aval(out).weak_type


@pytest.mark.parametrize("other", [1, 2.5, np.int32(3), np.ones(2, "int8")])
def test_where_takes_low_precision(other: Any) -> None:
    x = np.ones(2, ml_dtypes.bfloat16)
    assert ops.where(np.array([True, False]), x, other).dtype == ml_dtypes.bfloat16


def test_where_does_not_broadcast_a_scalar_condition(strictly: Any) -> None:
    with strictly() as trace:
        ops.where(True, f32, f32)
    assert trace.names == ["select_n"]


def test_where_errors(strictly: Any) -> None:
    for stages in (False, True):
        with strictly(stages=stages), pytest.raises(ArgumentValueError, match="where: expected shapes that broadcast"):
            ops.where(np.array([True, False]), f32, 0)


@pytest.mark.parametrize("dtype", ["float64", "int8", "bool", "complex64", ml_dtypes.bfloat16])
def test_select_n_takes_the_named_case(dtype: Any, strictly: Any, assert_same: Any) -> None:
    cases = [np.arange(i, i + 4).astype(dtype) for i in range(3)]
    which = np.array([2, 0, 1, 1], np.int32)
    want = np.array([cases[c][i] for i, c in enumerate(which)])
    with strictly():
        assert_same(ops.select_n(which, *cases), want)
        assert_same(ops.select_n(np.int32(1), *cases), cases[1])
        assert_same(ops.select_n(1, *cases), cases[1])
        assert_same(ops.select_n(which == 1, *cases[:2]), np.where(which == 1, cases[1], cases[0]))
        assert_same(ops.select_n(False, cases[0]), cases[0])


def test_select_n_out_of_range_takes_the_nearest_case() -> None:
    lax = pytest.importorskip("jax").lax
    which = np.array([-5, -1, 0, 1, 2, 3, 100], np.int32)
    cases = [np.full(7, i, np.float32) for i in range(3)]
    np.testing.assert_array_equal(ops.select_n(which, *cases), lax.select_n(which, *cases))


def test_select_n_promotes_and_broadcasts_its_cases(assert_same: Any) -> None:
    assert_same(ops.select_n(np.array([True, False]), 1, np.ones(2, "float32")), np.array([1, 1], "float32"))
    assert_same(ops.select(np.array([True, False]), np.arange(2), 2.5), np.array([0, 2.5]))
    assert not get_aval(ops.select(True, 1.0, 2.0)).weak_type


@pytest.mark.parametrize(
    ("which", "cases", "message"),
    [
        (np.array([0.0, 1.0]), 2, "expected which to be int32, or bool"),
        (np.array([0, 1]), 2, "expected which to be int32, or bool"),
        (np.array([True, False]), 3, "expected which to be int32, or bool"),
        (np.array([True]), 2, "expected which to be a scalar or of the shape"),
    ],
)
def test_select_n_explains_a_wrong_selector(which: Any, cases: int, message: str, strictly: Any) -> None:
    for stages in (False, True):
        with strictly(stages=stages), pytest.raises(ArgumentTypeError, match=message):
            ops.select_n(which, *[np.ones(2)] * cases)


def test_select_n_needs_a_case() -> None:
    with pytest.raises(ArgumentValueError, match="at least one case"):
        ops.select_n(True)


def test_select_n_and_clamp_primitives_are_strict() -> None:
    boolean, wide, narrow = ShapedArray((), "bool"), ShapedArray((2,), "float64"), ShapedArray((2,), "float32")
    with pytest.raises(ArgumentTypeError, match="one shape and dtype"):
        ops.select_n_p.rule("abstract_eval")(boolean, wide, narrow)
    with pytest.raises(ArgumentTypeError, match="clamp_p"):
        ops.clamp_p.rule("abstract_eval")(wide, narrow, narrow)
    with pytest.raises(ArgumentTypeError, match="clamp_p"):
        ops.clamp_p.rule("abstract_eval")(*[wide.update(dtype="complex64")] * 3)


def test_select_n_has_no_derivative_by_which(strictly: Any) -> None:
    which = np.array([0, 1], np.int32)
    tangent = Zero(get_aval(which).to_tangent_aval())
    with strictly():
        ans, out = ops.select_n_p.rule("jvp")((which, f32[:2], f32[1:]), (tangent, f32[:2], Zero(get_aval(f32[1:]))))
    np.testing.assert_array_equal(ans, [f32[0], f32[2]])
    np.testing.assert_array_equal(out, [f32[0], 0])


@pytest.mark.parametrize("bounds", [(-1, 1), (-1.0, 1.5), (f32 - 1, np.float32(1)), (np.float32(1), np.float32(-1))])
@pytest.mark.parametrize("x", [f32, np.arange(-3, 4)[:, None], np.array([np.nan, np.inf, -np.inf]), 0.25, 7])
def test_clamp_equals_numpy_clip(bounds: Any, x: Any, strictly: Any, assert_same: Any) -> None:
    low, high = bounds
    want = np.minimum(np.maximum(x, low), high)
    assert_same(ops.clamp(low, x, high), want)
    with strictly():
        out = ops.clamp(low, x, high)
    assert_same(out, want)
    assert not get_aval(out).weak_type


def test_clamp_keeps_scalar_bounds(strictly: Any) -> None:
    with strictly() as trace:
        ops.clamp(0, f32, 1)
    assert trace.names == ["clamp"]


@pytest.mark.parametrize("scalar_bounds", [False, True])
def test_clamp_derivative_equals_jax(scalar_bounds: bool, strictly: Any) -> None:
    jax = pytest.importorskip("jax")
    x = np.array([-2.0, -1.0, 0.0, 1.0, 3.0])  # below, on, between, on, above
    low, high = (np.float64(-1), np.float64(1)) if scalar_bounds else (np.full(5, -1.0), np.full(5, 1.0))
    tangents = [
        np.float64(10) if scalar_bounds else np.arange(10.0, 15),
        np.arange(1.0, 6),
        np.full(np.shape(high), 7.0),
    ]
    with jax.enable_x64(True):
        for used in itertools.product((True, False), repeat=3):
            given = [np.broadcast_to(t, 5) * use for t, use in zip(tangents, used, strict=True)]
            _, want = jax.jvp(jax.lax.clamp, (np.full(5, -1.0), x, np.full(5, 1.0)), tuple(given))
            with strictly():
                ans, got = ops.clamp_p.rule("jvp")(
                    (low, x, high), [t if use else Zero(get_aval(t)) for t, use in zip(tangents, used, strict=True)]
                )
            np.testing.assert_array_equal(ans, np.clip(x, -1, 1))
            np.testing.assert_array_equal(instantiate_zeros(got), want)
            assert (type(got) is Zero) == (not any(used))


@pytest.mark.parametrize("x", [-2.0, 0.0, 2.0])
def test_clamp_derivative_with_bounds_in_the_wrong_order(x: float) -> None:
    """The value is the upper bound, and so is the tangent."""
    primals, tangents = [np.float64(v) for v in (1.0, x, -1.0)], [np.float64(v) for v in (3.0, 5.0, 7.0)]
    assert ops.clamp_p.rule("jvp")(primals, tangents)[1] == 7.0
