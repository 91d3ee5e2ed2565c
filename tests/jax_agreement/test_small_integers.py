"""Arrays of integers of 2 and 4 bits: they are stored, moved, compared and converted, and have no arithmetic."""

import contextlib
from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import lawful.jax.numpy as lawful_jnp
import lawful.numpy as lnp
from lawful import ops, random
from lawful.autodiff import grad, jvp, vjp
from lawful.batching import pmax, psum, psum_scatter, vmap
from lawful.control_flow import cond, fori_loop, scan, while_loop
from lawful.core import (
    ArgumentTypeError,
    as_dtype,
    float0,
    get_aval,
    parse_jaxpr,
    plain,
    short_name,
    storage_dtypes,
    supported_dtypes,
)
from lawful.staging import jit, make_jaxpr, pure_callback
from lawful.xla_backend import device_get, device_put

DTYPES = pytest.mark.parametrize("dtype", storage_dtypes, ids=str)
EVALUATIONS: dict[str, Callable[..., Any]] = {
    "eager": lambda f: f,
    "plain": lambda f: f,
    "on_a_device": lambda f: lambda *args: f(*map(device_put, args)),
    "compiled": jit,
    "compiled_by_numpy": lambda f: jit(f, backend="numpy"),
}
EVALUATED = pytest.mark.parametrize("evaluation", EVALUATIONS)


def evaluated(evaluation: str, f: Callable[..., Any], *args: Any) -> Any:
    with plain() if evaluation == "plain" else contextlib.nullcontext():
        return EVALUATIONS[evaluation](f)(*args)


def assert_same(found: Any, expected: Any, what: str = "") -> None:
    """Asserts that two arrays have one dtype, one shape and the same elements."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape), what
    np.testing.assert_array_equal(found.astype(complex), expected.astype(complex), what)


def numbers(dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Returns a matrix with every number of the dtype."""
    return np.arange(-8, 8, dtype=np.int8).reshape(4, 4).astype(dtype)


# Each gives an array of the dtype of its argument, and the same elements for an array of 8 bits.
MOVES: dict[str, Callable[[Any], Any]] = {
    "reshape": lambda x: x.reshape(2, 8),
    "transpose": lambda x: x.T,
    "slice": lambda x: x[1:3, ::-2],
    "element": lambda x: x[1, 2],
    "index": lambda x: x[np.array([0, 2])],
    "take": lambda x: lnp.take(x, np.array([0, 3, 1]), axis=1),
    "take_fill": lambda x: lnp.take(x, np.array([0, 9]), axis=1, mode="fill", fill_value=1),
    "take_along_axis": lambda x: lnp.take_along_axis(x, np.array([[0], [1], [2], [3]]), 1),
    "concatenate": lambda x: lnp.concatenate([x, x, x[:, :1]], 1),
    "stack": lambda x: lnp.stack([x, x.T], 1),
    "pad": lambda x: lnp.pad(x, 1, constant_values=1),
    "pad_inside": lambda x: ops.pad(x, x[0, 1], ((1, 1, 0), (0, -1, 1))),
    "broadcast_to": lambda x: lnp.broadcast_to(x, (3, 4, 4)),
    "tile": lambda x: lnp.tile(x, (2, 1)),
    "repeat": lambda x: lnp.repeat(x, 2, 0),
    "flip": lambda x: lnp.flip(x, 0),
    "roll": lambda x: lnp.roll(x, 1, 0),
    "copy": lambda x: lnp.copy(x),
    "split": lambda x: lnp.split(x, 2)[1],
    "where": lambda x: lnp.where(np.eye(4, dtype=bool), x, x.T),
    "where_number": lambda x: lnp.where(np.eye(4, dtype=bool), x, 1),
    "select_n": lambda x: ops.select_n(np.int32(1), x, x.T, x),
    "choose": lambda x: lnp.choose(np.array([0, 1, 1, 0]), [x[0], x[1]]),
    "triu": lambda x: lnp.triu(x),
    "dynamic_slice": lambda x: ops.dynamic_slice(x, (1, 1), (2, 2)),
    "dynamic_update_slice": lambda x: ops.dynamic_update_slice(x, x[:2, :2], (1, 1)),
    "set": lambda x: ops.at(x)[1].set(1),
    "scatter": lambda x: ops.at(x)[np.array([0, 2]), np.array([1, 1])].set(x[0, :2]),
    "sort_values": lambda x: ops.sort_key_val(np.arange(4)[::-1], x[0])[1],
    "zeros_like": lambda x: lnp.zeros_like(x),
    "ones_like": lambda x: lnp.ones_like(x),
    "full_like": lambda x: lnp.full_like(x, 1),
    "empty": lambda x: lnp.empty((2, 3), x.dtype),
    "eye": lambda x: lnp.eye(3, dtype=x.dtype),
    "arange": lambda x: lnp.arange(2, dtype=x.dtype),
    "list": lambda x: lnp.array([[1, 0], [1, 1]], dtype=x.dtype),
    "vmap": lambda x: vmap(lambda row, i: ops.dynamic_update_slice(row, row[:1], (i,)))(x, np.arange(4)),
    "scan": lambda x: scan(lambda carry, row: (row, carry), x[0], x)[1],
    "cond": lambda x: cond(ops.eq(x[0, 0], x[0, 0]), lambda x: x, lambda x: x.T, x),
    "while_loop": lambda x: while_loop(lambda c: ops.lt(c[0], 3), lambda c: (c[0] + 1, c[1].T), (0, x))[1],
    "fori_loop": lambda x: fori_loop(0, 3, lambda i, c: lnp.roll(c, 1), x),
    "permutation": lambda x: random.permutation(random.key(0), x),
    "callback": lambda x: pure_callback(lambda x: np.asarray(x).T, x, x),
    "barrier": lambda x: ops.optimization_barrier(x),
    "constant": lambda x: lnp.concatenate([np.tile(np.array([0, 1, 1], x.dtype), 700), x[0]]),
}


@DTYPES
@EVALUATED
def test_moves_of_small_integers(evaluation: str, dtype: np.dtype[Any]) -> None:
    """Every move in one program, and the same in 8 bits."""

    def moved(x: Any) -> Any:
        return {name: move(x) for name, move in MOVES.items()}

    x = numbers(dtype)
    found, expected = evaluated(evaluation, moved, x), moved(x.astype(storage_dtypes[dtype]))
    for name, of_8_bits in expected.items():
        assert_same(found[name], np.asarray(of_8_bits).astype(dtype), name)


@DTYPES
@EVALUATED
def test_take_out_of_bounds_fills_as_in_jax(evaluation: str, dtype: np.dtype[Any]) -> None:
    x, indices = numbers(dtype), np.array([0, 9])
    found = evaluated(evaluation, lambda x: lnp.take(x, indices, axis=1, mode="fill"), x)
    assert_same(found, jnp.take(jnp.asarray(x), indices, axis=1, mode="fill"))


# Conversions

_INTEGERS = np.array([-300, -17, -9, -8, -2, -1, 0, 1, 2, 3, 4, 7, 8, 15, 16, 127, 128, 200, 255, 300])
_FLOATS = np.array([*_INTEGERS, -1.7, -0.5, 0.5, 1.5, 3.9, 7.9, 15.9, 1e30, -1e30, np.nan, np.inf, -np.inf])
_ALL_DTYPES = [*supported_dtypes, *storage_dtypes]
_REAL_DTYPES = [*(dtype for dtype in supported_dtypes if dtype.kind != "c"), *storage_dtypes]


def _values(dtype: np.dtype[Any]) -> Any:
    with np.errstate(all="ignore"):
        return (_INTEGERS if dtype.kind in "iu" else _FLOATS).astype(dtype)


def _all_values() -> list[Any]:
    return [numbers(other) if other in storage_dtypes else _values(other) for other in _REAL_DTYPES]


@cache
def _to_by_jax(dtype: np.dtype[Any]) -> list[tuple[Any, Any]]:
    """Returns JAX's conversions of all values, and of these to int16, compiled as one program."""

    def converted(xs: Any) -> Any:
        found = [x.astype(dtype) for x in xs]
        return [(y, y.astype(np.int16)) for y in found]

    return jax.jit(converted)(_all_values())


@cache
def _from_by_jax(dtype: np.dtype[Any]) -> list[Any]:
    """Returns JAX's conversions to all dtypes, compiled as one program."""
    return jax.jit(lambda x: [x.astype(other) for other in _ALL_DTYPES])(numbers(dtype))


@DTYPES
@EVALUATED
def test_conversion_to_small_integers_as_in_jax(evaluation: str, dtype: np.dtype[Any]) -> None:
    """Integers wrap around, floats become the nearest integer, and NaN becomes 0."""
    values = _all_values()

    def converted(xs: Any) -> Any:
        found = [ops.convert_element_type(x, dtype) for x in xs]
        return found, [ops.convert_element_type(y, np.int16) for y in found]

    for x, expected, *ys in zip(values, _to_by_jax(dtype), *evaluated(evaluation, converted, values), strict=True):
        assert_same(ys[0], expected[0], str(x.dtype))
        assert_same(ys[1], expected[1], str(x.dtype))


@DTYPES
@EVALUATED
def test_conversion_from_small_integers_as_in_jax(evaluation: str, dtype: np.dtype[Any]) -> None:
    x = numbers(dtype)
    found = evaluated(evaluation, lambda x: [lnp.astype(x, other) for other in _ALL_DTYPES], x)
    for y, expected, other in zip(found, _from_by_jax(dtype), _ALL_DTYPES, strict=True):
        assert_same(y, expected, str(other))


@DTYPES
@EVALUATED
def test_creation_of_small_integers_as_in_jax(evaluation: str, dtype: np.dtype[Any]) -> None:
    name = dtype.name
    calls: dict[str, Callable[[Any], Any]] = {
        "array": lambda xp: xp.array([[1, -1], [8, 100]], dtype=name),
        "array_of_array": lambda xp: xp.array(np.array([1, -1, 8, 100]), dtype=dtype),
        "asarray": lambda xp: xp.asarray(numbers(dtype)),
        "number": lambda xp: xp.asarray(9, dtype=dtype),
        "bool": lambda xp: xp.array([True, False], dtype=dtype),
        "zeros": lambda xp: xp.zeros((2, 3), dtype),
        "ones": lambda xp: xp.ones(3, name),
        "full": lambda xp: xp.full((2,), 9, name),
        "scalar_type": lambda xp: xp.zeros(2, getattr(lawful_jnp if xp is lnp else xp, name)),
    }
    found = evaluated(evaluation, lambda: {key: call(lnp) for key, call in calls.items()})
    for key, call in calls.items():
        assert_same(found[key], call(jnp), key)
    assert_same(lnp.array(np.array([1.7, 300.0, np.nan]), dtype), jnp.array([1.7, 300.0, np.nan]).astype(dtype))


@pytest.mark.parametrize("name", ["int2", "int4", "uint2", "uint4"])
def test_scalar_types_of_small_integers(name: str) -> None:
    scalar_type, dtype = getattr(lawful_jnp, name), np.dtype(getattr(ml_dtypes, name))
    assert scalar_type == dtype
    assert as_dtype(scalar_type) == as_dtype(name) == dtype
    assert_same(scalar_type(1), np.array(1, dtype))
    assert_same(lawful_jnp.arange(3.0).astype(scalar_type), jnp.arange(3.0).astype(dtype))


# Comparisons

_COMPARISONS = (lnp.equal, lnp.not_equal, lnp.less, lnp.less_equal, lnp.greater, lnp.greater_equal)


@DTYPES
@EVALUATED
def test_comparison_of_small_integers_is_by_value(evaluation: str, dtype: np.dtype[Any]) -> None:
    x = numbers(dtype)
    wide = x.astype(np.int16)
    operands: list[Any] = [1, -1, 300, -300, True, 1.5, np.int16(-3), np.float32(-0.5), numbers(as_dtype("uint2"))]
    found = evaluated(evaluation, lambda x: [f(x, y) for f in _COMPARISONS for y in (x.T, *operands)], x)
    exact = [y.astype(np.int16) if getattr(y, "ndim", 0) else y for y in operands]
    expected = [f(wide, y) for f in _COMPARISONS for y in (wide.T, *exact)]
    for a, b in zip(found, expected, strict=True):
        assert_same(a, b)


# Refusals

_INT8 = np.arange(4, dtype=np.int8)
ARITHMETIC: dict[str, Callable[[Any], Any]] = {
    "add": lambda x: lnp.add(x, x),
    "add_number": lambda x: lnp.add(x, 1),
    "add_int8": lambda x: lnp.add(x, _INT8),
    "multiply_float": lambda x: ops.mul(x, np.float32(2)),
    "negative": lambda x: ops.neg(x),
    "sign": lambda x: lnp.sign(x),
    "sin": lambda x: lnp.sin(x),
    "maximum": lambda x: lnp.maximum(x, x),
    "clip": lambda x: lnp.clip(x, 0, 1),
    "clamp": lambda x: ops.clamp(0, x, 1),
    "invert": lambda x: lnp.invert(x),
    "shift": lambda x: lnp.left_shift(x, 1),
    "logical_and": lambda x: lnp.logical_and(x, x),
    "sum": lambda x: lnp.sum(x),
    "max": lambda x: lnp.max(x),
    "argmax": lambda x: lnp.argmax(x),
    "cumsum": lambda x: lnp.cumsum(x),
    "sort": lambda x: lnp.sort(x),
    "top_k": lambda x: ops.top_k(x, 2),
    "dot": lambda x: lnp.dot(x, x),
    "dot_into": lambda x: ops.dot_general(
        _INT8, _INT8, (((0,), (0,)), ((), ())), preferred_element_type=x.dtype
    ),
    "convolve": lambda x: lnp.convolve(x, x),
    "psum": lambda x: vmap(lambda x: psum(x, "i"), axis_name="i")(x),
    "psum_scatter": lambda x: vmap(lambda x: psum_scatter(x, "i"), axis_name="i")(x.reshape(2, 2)),
    "pmax": lambda x: vmap(lambda x: pmax(x, "i"), axis_name="i")(x),
    "add_at": lambda x: ops.at(x)[0].add(1),
    "bitcast": lambda x: ops.bitcast_convert_type(x, "int8"),
    "where_of_dtypes": lambda x: lnp.where(_INT8 > 1, x, _INT8),
    "where_float": lambda x: lnp.where(_INT8 > 1, x, 1.5),
    "concatenate_of_dtypes": lambda x: lnp.concatenate([x, _INT8]),
}  # fmt: skip


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_of_small_integers_is_refused(name: str) -> None:
    for dtype in map(as_dtype, ("int4", "uint2")):
        match = rf": expected a dtype with arithmetic, got {dtype}; convert with astype\('{storage_dtypes[dtype]}'\)$"
        for evaluation in EVALUATIONS:
            with pytest.raises(ArgumentTypeError, match=match):
                evaluated(evaluation, ARITHMETIC[name], np.array([0, 1, 2, 3], dtype))


def test_operators_of_small_integers_are_refused() -> None:
    operations: list[Callable[[Any], Any]] = [
        lambda x: x + x, lambda x: x * 2, lambda x: -x, lambda x: x @ x, lambda x: x.sum()
    ]  # fmt: skip
    for operation in operations:
        for f in (operation, jit(operation)):
            with pytest.raises(ArgumentTypeError, match=r"got int4; convert with astype\('int8'\)"):
                f(lawful_jnp.array([1, 2], "int4"))


def test_promotion_of_small_integers() -> None:
    assert lnp.promote_types("int4", "int4") == lnp.result_type("int4", 1) == lnp.result_type("int4", True) == "int4"
    for other in ("bool", "int8", "uint4", "float32", "bfloat16", "complex64"):
        with pytest.raises(ArgumentTypeError, match=r"promotion: .*; convert with astype\('u?int8'\)"):
            lnp.promote_types(other, "int4")
    for number in (1.5, 1j):
        with pytest.raises(ArgumentTypeError, match=r"promotion: .* got uint2; convert with astype\('uint8'\)"):
            lnp.result_type("uint2", number)


def test_dtypes_without_arrays_are_refused() -> None:
    for name in ("int1", "uint1", "float4_e2m1fn"):
        with pytest.raises(ArgumentTypeError, match=f"expected one of bool, .*, int4, .*, got {name}; convert"):
            as_dtype(name)


# Transformations


@DTYPES
def test_derivatives_pass_over_small_integers(dtype: np.dtype[Any]) -> None:
    q, w = numbers(dtype)[:, 1], np.arange(4.0)
    scaled = grad(lambda w, q: lnp.sum(w * lnp.astype(q, w.dtype)))
    for f in (scaled, jit(scaled)):
        assert_same(f(w, q), q.astype(float))
    weights = lawful_jnp.asarray(q)
    out, tangent = jvp(lambda q: q[::-1], (weights,), (np.zeros(4, float0),))
    assert_same(out, q[::-1])
    assert tangent.dtype == float0
    out, pullback = vjp(lambda q: lnp.astype(q, float), q)
    (cotangent,) = pullback(np.ones(4))
    assert (get_aval(cotangent).shape, get_aval(cotangent).dtype) == ((4,), float0)
    with pytest.raises(ArgumentTypeError, match=rf"expected floating inputs, got {short_name(dtype)}\[4\]"):
        grad(lambda q: lnp.sum(lnp.astype(q, float)))(q)


@DTYPES
def test_jaxpr_of_small_integers_is_parsed_again(dtype: np.dtype[Any]) -> None:
    name = short_name(dtype)
    program = make_jaxpr(lambda x: lnp.where(lnp.greater(x, 0), x, lnp.full((4, 4), -1, dtype)))(numbers(dtype))
    text = str(program)
    assert f"a:{name}[4,4]" in text
    assert f"{np.array(-1).astype(dtype)}:{name}[]" in text
    assert str(parse_jaxpr(text)) == text
    beyond = text.replace(f"{np.array(-1).astype(dtype)}:{name}[]", f"16:{name}[]")
    with pytest.raises(ValueError, match="an integer from"):
        parse_jaxpr(beyond)


def test_program_holds_small_integers_in_8_bits() -> None:
    """XLA for the CPU ends the process for some operations of 4 bits; arguments and results have 4."""
    text = jit(lambda x: x.T).lower(numbers(as_dtype("uint4"))).as_text()
    assert "main(%arg0: tensor<4x4xui4>) -> tensor<4x4xui4>" in text
    assert "stablehlo.transpose" in text
    assert "tensor<4x4xui8>) -> tensor<4x4xui8>" in text


# Devices


@DTYPES
@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (3, 5), (1001,)])
def test_device_put_of_small_integers(shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    x = np.resize(numbers(dtype), shape)
    for view in (x, x.T, x[..., ::-2] if shape else x):
        found = device_put(view)
        assert_same(found, view)
        assert_same(device_get(found), view)
        assert_same(jit(lambda x: x, donate_argnums=0)(found), view)


# Dtype functions


@DTYPES
def test_dtype_functions_as_in_jax(dtype: np.dtype[Any]) -> None:
    found, expected = lnp.iinfo(dtype), jnp.iinfo(dtype)
    assert (found.min, found.max, found.bits) == (expected.min, expected.max, expected.bits)
    assert lawful_jnp.iinfo(dtype.name).max == found.max
    for kind in ("bool", "signed integer", "unsigned integer", "integral", "real floating", "numeric"):
        assert lnp.isdtype(dtype, kind) == jnp.isdtype(dtype, kind)
    for category in ("integer", "signedinteger", "unsignedinteger", "number", "floating"):
        assert lnp.issubdtype(dtype, getattr(lnp, category)) == jnp.issubdtype(dtype, getattr(jnp, category))
    assert jax.dtypes.itemsize_bits(dtype) == found.bits
    with pytest.raises(ArgumentTypeError, match="use iinfo"):
        lnp.finfo(dtype)
