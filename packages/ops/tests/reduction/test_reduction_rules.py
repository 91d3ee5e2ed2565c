"""Every rule of the reductions, position searches, cumulative reductions and of dot_general, over drawn calls."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.core import (
    Interval,
    Primitive,
    UndefinedPrimal,
    Zero,
    as_dtype,
    get_aval,
    instantiate_zeros,
    is_inexact,
    kind,
)

PRIMITIVES = [
    ops.reduce_sum_p,
    ops.reduce_prod_p,
    ops.reduce_max_p,
    ops.reduce_min_p,
    ops.reduce_and_p,
    ops.reduce_or_p,
    ops.reduce_xor_p,
    ops.argmax_p,
    ops.argmin_p,
    ops.cumsum_p,
    ops.cumprod_p,
    ops.cummax_p,
    ops.cummin_p,
    ops.dot_general_p,
]
DIFFERENTIABLE = [p for p in PRIMITIVES if p.declaration is not None and p.declaration.differentiable]
LINEAR = [p for p in PRIMITIVES if p.declaration is not None and p.declaration.linear]
# Results are rounded once, to these dtypes; the order of sums may differ.
TOLERANCE = {"float8_e4m3fn": 0.13, "bfloat16": 1e-2, "float16": 2e-3, "float32": 1e-4, "complex64": 1e-4}


Calls = Callable[..., Iterator[tuple[list[Any], dict[str, Any], Any]]]
Strictly = Callable[..., Any]
Compiled = Callable[..., Any]


def assert_close(got: Any, want: Any, dtype: np.dtype[Any]) -> None:
    if is_inexact(dtype):
        wide = np.complex128 if kind(dtype) == "c" else np.float64
        tolerance = TOLERANCE.get(dtype.name, 1e-9)
        got, want = np.asarray(got).astype(wide), np.asarray(want).astype(wide)
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)
    else:
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("primitive", PRIMITIVES, ids=str)
def test_reduction_evaluation_equals_reference(primitive: Primitive, calls: Calls) -> None:
    assert primitive.declaration is not None
    assert primitive.declaration.reference is not None
    for args, params, _ in calls(primitive):
        got = primitive.bind(*args, **params)
        want = primitive.declaration.reference(*args, **params)
        assert_close(got, want, get_aval(got).dtype)


@pytest.mark.parametrize("primitive", PRIMITIVES, ids=str)
def test_reduction_abstract_eval_equals_value(primitive: Primitive, calls: Calls) -> None:
    for args, params, _ in calls(primitive):
        aval = primitive.rule("abstract_eval")(*map(get_aval, args), **params)
        got = primitive.bind(*args, **params)
        assert isinstance(got, np.ndarray | np.generic)
        assert get_aval(got) == aval


@pytest.mark.parametrize("primitive", [p for p in PRIMITIVES if p.name.startswith("reduce")], ids=str)
def test_reduction_of_python_scalar_is_strong(primitive: Primitive) -> None:
    value = True if primitive in (ops.reduce_and_p, ops.reduce_or_p, ops.reduce_xor_p) else 2.0
    aval = primitive.rule("abstract_eval")(get_aval(value), axes=())
    assert not aval.weak_type
    assert get_aval(primitive.bind(value, axes=())) == aval


@pytest.mark.parametrize("primitive", DIFFERENTIABLE, ids=str)
def test_reduction_jvp_equals_finite_differences(
    primitive: Primitive, calls: Calls, doubles: Any, strictly: Strictly
) -> None:
    step = 1e-6
    for args, params, choose in calls(primitive, doubles):
        if "preferred_element_type" in params:
            params["preferred_element_type"] = None
        for nonzero in itertools.product((False, True), repeat=len(args)):
            directions = [choose.array(get_aval(x), Interval()) * use for x, use in zip(args, nonzero, strict=True)]
            tangents = [t if use else Zero(get_aval(t)) for t, use in zip(directions, nonzero, strict=True)]
            with strictly():
                ans, tangent = primitive.rule("jvp")(args, tangents, **params)
            np.testing.assert_array_equal(ans, primitive.bind(*args, **params))
            assert (type(tangent) is Zero) or any(nonzero)
            tangent_aval = tangent.aval if type(tangent) is Zero else get_aval(tangent)
            assert tangent_aval == get_aval(ans)
            after, before = (
                primitive.bind(*[x + sign * step * t for x, t in zip(args, directions, strict=True)], **params)
                for sign in (1, -1)
            )
            # The maximum of no elements is constant, and infinite.
            finite = np.isfinite(ans)
            expected = np.zeros(np.shape(ans), np.asarray(ans).dtype)
            np.subtract(after, before, out=expected, where=finite)
            expected /= 2 * step
            np.testing.assert_allclose(instantiate_zeros(tangent), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("primitive", PRIMITIVES, ids=str)
def test_reduction_jvp_of_integers_is_zero(primitive: Primitive, calls: Calls) -> None:
    for args, params, _ in calls(primitive, {"i": ("int32",), "u": ("uint8",), "b": ("bool",)}, 20):
        if any(is_inexact(x.dtype) for x in args):
            continue
        zeros = [Zero(get_aval(x).to_tangent_aval()) for x in args]
        ans, tangent = primitive.rule("jvp")(args, zeros, **params)
        assert type(tangent) is Zero
        assert tangent.aval == get_aval(ans).to_tangent_aval()


@pytest.mark.parametrize("primitive", LINEAR, ids=str)
def test_reduction_transpose_inner_products(
    primitive: Primitive, calls: Calls, doubles: Any, strictly: Strictly
) -> None:
    assert primitive.declaration is not None
    for args, params, choose in calls(primitive, doubles):
        ans = primitive.bind(*args, **params)
        ct = choose.array(get_aval(ans), Interval())
        for (position,) in primitive.declaration.linear:
            given = [UndefinedPrimal(get_aval(x)) if i == position else x for i, x in enumerate(args)]
            with strictly():
                cotangents = primitive.rule("transpose")(ct, *given, **params)
            assert [c is None for c in cotangents] == [i != position for i in range(len(args))]
            cotangent = cotangents[position]
            assert get_aval(cotangent) == get_aval(args[position])
            np.testing.assert_allclose(
                np.sum(np.multiply(ct, ans)), np.sum(np.multiply(cotangent, args[position])), rtol=1e-9, atol=1e-9
            )
            zero = primitive.rule("transpose")(Zero(get_aval(ans)), *given, **params)[position]
            assert type(zero) is Zero
            assert zero.aval == get_aval(args[position])


@pytest.mark.parametrize("primitive", PRIMITIVES, ids=str)
def test_reduction_batch_equals_stacked_loop(primitive: Primitive, calls: Calls, strictly: Strictly) -> None:
    size = 3
    for args, params, choose in calls(primitive):
        places = [[None, *range(x.ndim + 1)] for x in args]
        for dims in itertools.product(*places):
            if all(dim is None for dim in dims):
                continue
            stacks = [
                [x if dim is None else choose.array(get_aval(x), Interval()) for _ in range(size)]
                for x, dim in zip(args, dims, strict=True)
            ]
            batched = [
                stack[0] if dim is None else np.stack(stack, axis=dim) for stack, dim in zip(stacks, dims, strict=True)
            ]
            with strictly():
                out, out_dim = primitive.rule("batch")(batched, dims, **params)
            want = np.stack([primitive.bind(*row, **params) for row in zip(*stacks, strict=True)], axis=out_dim)
            assert get_aval(out) == get_aval(want)
            assert_close(out, want, want.dtype)


@pytest.mark.parametrize("primitive", PRIMITIVES, ids=str)
def test_reduction_lowering_equals_numpy(primitive: Primitive, calls: Calls, compiled: Compiled) -> None:
    for args, params, _ in calls(primitive, draws=25):
        assert_close(compiled(primitive, args, params), primitive.bind(*args, **params), args[0].dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
@pytest.mark.parametrize(
    "primitive", [p for p in PRIMITIVES if p is not ops.dot_general_p and "f" in p.declaration.kinds], ids=str
)
def test_reduction_lowering_of_nan_and_infinity(primitive: Primitive, dtype: str, compiled: Compiled) -> None:
    nan, inf = np.nan, np.inf
    rows = [[1, nan, 3, nan], [nan, inf, 0, 1], [inf, inf, 1, 2], [-inf, 2, -inf, 1], [0, 1, 2, nan], [nan] * 4]
    x = np.array(rows).astype(as_dtype(dtype))
    params: dict[str, Any] = {"axes": (1,)}
    if primitive.name.startswith("arg"):
        params["index_dtype"] = np.dtype("int32")
    if primitive.name.startswith("cum"):
        params = {"axis": 1, "reverse": False}
    with np.errstate(invalid="ignore"):
        want = primitive.bind(x, **params)
    np.testing.assert_array_equal(
        compiled(primitive, [x], params).astype(np.float64), np.asarray(want).astype(np.float64)
    )


@pytest.mark.parametrize("primitive", [ops.reduce_sum_p, ops.reduce_prod_p, ops.cumsum_p, ops.cumprod_p], ids=str)
def test_reduction_lowering_of_integer_overflow(primitive: Primitive, compiled: Compiled) -> None:
    x = np.full((5, 7), 100, np.int8)
    params = {"axes": (0, 1)} if primitive.name.startswith("reduce") else {"axis": 0, "reverse": True}
    np.testing.assert_array_equal(compiled(primitive, [x], params), primitive.bind(x, **params))


def test_reference_of_cumulative_products_begins_at_the_end() -> None:
    """Where a partial product overflows, the order decides whether it is infinite, or NaN after a zero."""
    x = np.array([[3e38], [2.0], [0.0], [1.0]], np.float32)
    assert ops.cumprod_p.declaration is not None
    for reverse in (False, True):
        with np.errstate(over="ignore", invalid="ignore"):
            found = ops.cumprod_p.bind(x, axis=0, reverse=reverse)
            expected = ops.cumprod_p.declaration.reference(x, axis=0, reverse=reverse)
        np.testing.assert_array_equal(found, expected)
