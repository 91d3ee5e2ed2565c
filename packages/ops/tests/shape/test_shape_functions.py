"""The functions that change shapes: what they return, when they return the operand itself, and their errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lawful import ops
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    IntegerOverflowError,
    LawfulError,
    NonArrayError,
    ShapedArray,
    TracerIntegerConversionError,
    UndefinedPrimal,
    get_aval,
)

x = np.arange(6.0).reshape(2, 3)

NOTHING_TO_DO = {
    "broadcast_in_dim": lambda x: ops.broadcast_in_dim(x, (2, 3), (0, 1)),
    "reshape": lambda x: ops.reshape(x, (2, -1)),
    "transpose": lambda x: ops.transpose(x, (0, 1)),
    "squeeze": lambda x: ops.squeeze(x, ()),
    "expand_dims": lambda x: ops.expand_dims(x, ()),
    "slice": lambda x: ops.slice(x, (0, 0), (2, 3), (1, 1)),
    "slice_in_dim": lambda x: ops.slice_in_dim(x, None, None),
    "rev": lambda x: ops.rev(x, ()),
    "pad": lambda x: ops.pad(x, 0, [(0, 0, 0), (0, 0, 0)]),
    "concatenate": lambda x: ops.concatenate([x], 0),
}


@pytest.mark.parametrize("name", NOTHING_TO_DO)
def test_shape_functions_return_the_operand_if_unchanged(name: str, strictly: Any, abstract: Any) -> None:
    function = NOTHING_TO_DO[name]
    if name != "reshape":
        assert function(x) is x
    assert np.array_equal(function(x), x)
    with strictly() as trace:
        tracer = abstract((2, 3), "float32")
        assert function(tracer) is tracer
        assert function(x) is x
    assert not trace.names


CALLS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "broadcast_in_dim": (lambda x: ops.broadcast_in_dim(x, (4, 2, 3), (1, 2)), lambda x: np.broadcast_to(x, (4, 2, 3))),
    "reshape": (lambda x: ops.reshape(x, (3, -1)), lambda x: x.reshape(3, 2)),
    "reshape to one dimension": (lambda x: ops.reshape(x, -1), lambda x: x.reshape(-1)),
    "reshape in another order": (lambda x: ops.reshape(x, (6,), (1, 0)), lambda x: x.T.reshape(6)),
    "transpose": (lambda x: ops.transpose(x, (1, 0)), lambda x: x.T),
    "transpose from the end": (lambda x: ops.transpose(x, (-1, -2)), lambda x: x.T),
    "squeeze": (lambda x: ops.squeeze(ops.expand_dims(x, (1, 3)), (-1,)), lambda x: x[:, None]),
    "expand_dims": (lambda x: ops.expand_dims(x, (0, -1)), lambda x: x[None, :, :, None]),
    "expand_dims by one number": (lambda x: ops.expand_dims(x, -1), lambda x: x[..., None]),
    "slice": (lambda x: ops.slice(x, (0, 1), (2, 3)), lambda x: x[:, 1:]),
    "slice with strides": (lambda x: ops.slice(x, [0, 0], [2, 3], np.array([1, 2])), lambda x: x[:, ::2]),
    "slice_in_dim": (lambda x: ops.slice_in_dim(x, -2, None, axis=-1), lambda x: x[:, -2:]),
    "slice_in_dim with a stride": (lambda x: ops.slice_in_dim(x, 0, -1, 2, 1), lambda x: x[:, 0:-1:2]),
    "rev": (lambda x: ops.rev(x, (-1,)), lambda x: x[:, ::-1]),
    "split": (lambda x: ops.split(x, (1, 0, 2), axis=1)[2], lambda x: x[:, 1:]),
    "pad": (
        lambda x: ops.pad(x, x.dtype.type(7), [(1, 0, 1), (-1, 2, 0)]),
        lambda x: np.array([[7] * 4, [*x[0, 1:], 7, 7], [7] * 4, [*x[1, 1:], 7, 7]]).astype(x.dtype),
    ),
    "concatenate": (lambda x: ops.concatenate([x, x[:, :0], x], -1), lambda x: np.concatenate([x, x], 1)),
}


@pytest.mark.parametrize("dtype", ["float64", "int8", "bool", "complex64", ml_dtypes.bfloat16])
@pytest.mark.parametrize("name", CALLS)
def test_shape_function_equals_numpy(name: str, dtype: Any, strictly: Any, assert_same: Any) -> None:
    """A function equals NumPy's of the same name, eagerly and staged."""
    function, reference = CALLS[name]
    operand = x.astype(dtype)
    assert_same(function(operand), reference(operand))
    with strictly() as trace:
        assert_same(function(operand), reference(operand))
    assert trace.names


def test_split_covers_the_dimension() -> None:
    assert [part.shape for part in ops.split(x, np.array([1, 0, 2]), axis=-1)] == [(2, 1), (2, 0), (2, 2)]


@pytest.mark.parametrize("scalar", [2.0, 3, True, 1j, np.float32(2.0), np.array(2.0)])
def test_shape_functions_of_scalars_are_strong(scalar: Any, strictly: Any) -> None:
    for stages in (False, True):
        with strictly(stages=stages):
            for out, shape in [
                (ops.broadcast_in_dim(scalar, (2,), ()), (2,)),
                (ops.broadcast_in_dim(scalar, (), ()), ()),
                (ops.reshape(scalar, (1, 1)), (1, 1)),
                (ops.reshape(scalar, ()), ()),
                (ops.transpose(scalar, ()), ()),
                (ops.squeeze(scalar, ()), ()),
                (ops.expand_dims(scalar, (0,)), (1,)),
                (ops.rev(scalar, ()), ()),
                (ops.pad(scalar, False, ()), ()),
                (ops.slice(scalar, (), ()), ()),
            ]:
                aval = get_aval(out)
                assert (aval.shape, aval.dtype, aval.weak_type) == (shape, get_aval(scalar).dtype, False)


def test_shape_functions_refuse_large_python_integers() -> None:
    with pytest.raises(IntegerOverflowError):
        ops.broadcast_in_dim(2**63, (2,), ())
    with pytest.raises(IntegerOverflowError):
        ops.pad(np.zeros(2, np.int8), 300, [(1, 1, 0)])


def test_broadcast_in_dim_is_a_read_only_view() -> None:
    out = ops.broadcast_in_dim(x, (1000, 2, 3), (1, 2))
    assert np.shares_memory(out, x)
    assert not out.flags.writeable
    assert out.strides == (0, *x.strides)
    assert x.flags.writeable


@pytest.mark.parametrize("view", [x.T, x[:, ::-1], x[:, 1:2], np.ones((0, 3)), x[None].astype(ml_dtypes.bfloat16)[0]])
def test_broadcast_in_dim_of_any_strides(view: Any) -> None:
    shape = (5, *view.shape)
    assert np.array_equal(ops.broadcast_in_dim(view, shape, (1, 2)), np.broadcast_to(view, shape))


@pytest.mark.parametrize(
    ("dtypes", "expected"),
    [
        (("int8", "uint8"), "int16"),
        (("int64", "uint64"), "float64"),
        (("float32", "int8"), "float32"),
        (("bool", "complex64"), "complex64"),
        ((ml_dtypes.bfloat16, "int32"), ml_dtypes.bfloat16),
    ],
)
def test_concatenate_promotes(dtypes: tuple[Any, Any], expected: Any, strictly: Any) -> None:
    operands = [np.ones(2, dtype) for dtype in dtypes]
    for stages in (False, True):
        with strictly(stages=stages):
            out = ops.concatenate(operands, 0)
        assert out.dtype == expected
        assert out.shape == (4,)


@pytest.mark.parametrize(
    ("value", "expected"), [(0, "float32"), (0.5, "float32"), (np.float64(1), "float64"), (1j, "complex64")]
)
def test_pad_promotes(value: Any, expected: str) -> None:
    assert ops.pad(np.ones(2, np.float32), value, [(1, 0, 0)]).dtype == expected


def test_pad_with_negative_config_equals_jax() -> None:
    lax = pytest.importorskip("jax").lax
    rng = np.random.default_rng(0)
    for size in range(4):
        operand = rng.integers(0, 9, size).astype(np.int32)
        for low in (-3, -1, 0, 2):
            for high in (-2, 0, 1):
                for interior in range(2):
                    config = [(low, high, interior)]
                    try:
                        want = lax.pad(operand, np.int32(9), config)
                    except ValueError:
                        with pytest.raises(ArgumentValueError):
                            ops.pad(operand, 9, config)
                        continue
                    np.testing.assert_array_equal(ops.pad(operand, 9, config), want)


def test_broadcast_in_dim_batch_between_dimensions(strictly: Any) -> None:
    for primitive, dim, params in [
        (ops.broadcast_in_dim_p, 1, {"shape": (4, 2, 3), "broadcast_dimensions": (1, 2)}),
        (ops.slice_p, 2, {"start_indices": (0, 1), "limit_indices": (2, 3), "strides": None}),
        (ops.rev_p, 1, {"dimensions": (0, 1)}),
        (ops.reshape_p, 2, {"new_sizes": (6,)}),
    ]:
        with strictly() as trace:
            primitive.rule("batch")((np.stack([x, x, x], axis=dim),), (dim,), **params)
        assert trace.names == [primitive.name]


def test_broadcast_in_dim_transpose_sums_repeated_dims(strictly: Any) -> None:
    with strictly() as trace:
        (ct,) = ops.broadcast_in_dim_p.rule("transpose")(
            x[None], UndefinedPrimal(ShapedArray((2, 3), "float64")), shape=(1, 2, 3), broadcast_dimensions=(1, 2)
        )
    assert trace.names == ["reshape"]
    assert np.array_equal(ct, x)


ERRORS: dict[str, tuple[Callable[[Any], Any], type[LawfulError], type[Exception]]] = {
    "reshape: expected a shape with 6": (lambda x: ops.reshape(x, (4,)), ArgumentValueError, ValueError),
    "reshape: expected one -1": (lambda x: ops.reshape(x, (-1, 4)), ArgumentValueError, ValueError),
    "reshape: expected one -1, and": (lambda x: ops.reshape(x, (-1, -1)), ArgumentValueError, ValueError),
    "reshape: expected lengths that are not": (lambda x: ops.reshape(x, (-2, -3)), ArgumentValueError, ValueError),
    "reshape: expected integers as new_sizes": (lambda x: ops.reshape(x, (2.0, 3)), ArgumentTypeError, TypeError),
    "transpose: expected each of the 2": (lambda x: ops.transpose(x, (0,)), ArgumentValueError, ValueError),
    "transpose: expected different axes": (lambda x: ops.transpose(x, (0, 0)), ArgumentValueError, ValueError),
    "transpose: expected an axis": (lambda x: ops.transpose(x, (0, 2)), ArgumentValueError, np.exceptions.AxisError),
    "squeeze: expected dimensions of length 1": (lambda x: ops.squeeze(x, (0,)), ArgumentValueError, ValueError),
    "squeeze: expected an axis": (lambda x: ops.squeeze(x, (2,)), ArgumentValueError, np.exceptions.AxisError),
    "expand_dims: expected an axis": (lambda x: ops.expand_dims(x, (3,)), ArgumentValueError, np.exceptions.AxisError),
    "expand_dims: expected different": (lambda x: ops.expand_dims(x, (0, -4)), ArgumentValueError, ValueError),
    "broadcast_in_dim: expected a dimension": (
        lambda x: ops.broadcast_in_dim(x, (2, 3), (0,)),
        ArgumentValueError,
        ValueError,
    ),
    "broadcast_in_dim: expected increasing": (
        lambda x: ops.broadcast_in_dim(x, (3, 2), (1, 0)),
        ArgumentValueError,
        ValueError,
    ),
    "broadcast_in_dim: expected an operand": (
        lambda x: ops.broadcast_in_dim(x, (4, 3), (0, 1)),
        ArgumentValueError,
        ValueError,
    ),
    "broadcast_in_dim: expected lengths": (
        lambda x: ops.broadcast_in_dim(x, (-1, 2, 3), (1, 2)),
        ArgumentValueError,
        ValueError,
    ),
    "slice: expected an index": (lambda x: ops.slice(x, (0,), (2,)), ArgumentTypeError, TypeError),
    "slice: expected 0 <= start": (lambda x: ops.slice(x, (0, 0), (2, 4)), ArgumentTypeError, TypeError),
    "slice: expected 0 <= start <=": (lambda x: ops.slice(x, (2, 0), (1, 3)), ArgumentTypeError, TypeError),
    "slice: expected 0 <= start <= limit": (lambda x: ops.slice_in_dim(x, -3, None), ArgumentTypeError, TypeError),
    "split: expected sizes that add": (lambda x: ops.split(x, (1, 2)), ArgumentValueError, ValueError),
    "rev: expected different": (lambda x: ops.rev(x, (0, 0)), ArgumentValueError, ValueError),
    "pad: expected (low": (lambda x: ops.pad(x, 0, [(1, 1, 0)]), ArgumentValueError, ValueError),
    "pad: expected (low, high": (lambda x: ops.pad(x, 0, [(1, 1), (0, 0)]), ArgumentValueError, ValueError),
    "pad: expected a scalar": (lambda x: ops.pad(x, x, [(1, 1, 0)] * 2), ArgumentTypeError, TypeError),
    "pad: expected an interior": (lambda x: ops.pad(x, 0, [(-3, 0, 0), (0, 0, 0)]), ArgumentValueError, ValueError),
    "concatenate: expected arrays with": (lambda x: ops.concatenate([], 0), ArgumentValueError, ValueError),
    "concatenate: expected arrays": (lambda x: ops.concatenate([1.0, 2.0], 0), ArgumentValueError, ValueError),
    "concatenate: expected shapes": (lambda x: ops.concatenate([x, x[0]], 0), ArgumentValueError, ValueError),
    "concatenate: expected shapes that": (lambda x: ops.concatenate([x, x[:1]], 1), ArgumentValueError, ValueError),
    "concatenate: expected an axis": (
        lambda x: ops.concatenate([x, x], 2),
        ArgumentValueError,
        np.exceptions.AxisError,
    ),
}


@pytest.mark.parametrize("message", ERRORS)
def test_shape_functions_errors(message: str, strictly: Any) -> None:
    function, ours, numpys = ERRORS[message]
    texts = []
    for stages in (False, True):
        with strictly(stages=stages), pytest.raises(ours) as raised:
            function(x)
        assert isinstance(raised.value, numpys)
        texts.append(str(raised.value))
        assert message in texts[-1]
        assert "; " in texts[-1]
        assert "test_shape_functions.py" in texts[-1]
    assert texts[0] == texts[1]


def test_shape_functions_with_traced_lengths_raise(strictly: Any, abstract: Any) -> None:
    with strictly(), pytest.raises(TracerIntegerConversionError, match="static_argnums"):
        ops.reshape(x, (abstract((), "int64"), 2))


def test_shape_functions_refuse_other_values() -> None:
    with pytest.raises(NonArrayError):
        ops.reshape("text", (1,))
    with pytest.raises(NonArrayError):
        ops.transpose([[1, 2]], (1, 0))
    with pytest.raises(ArgumentTypeError):
        ops.reshape(np.array(["text"]), (1, 1))


def test_shape_primitives_are_strict() -> None:
    aval = ShapedArray((2,), "float32")
    with pytest.raises(ArgumentTypeError, match="one dtype"):
        ops.concatenate_p.rule("abstract_eval")(aval, ShapedArray((2,), "int8"), dimension=0)
    with pytest.raises(ArgumentTypeError, match="operand's dtype"):
        ops.pad_p.rule("abstract_eval")(aval, ShapedArray((), "int8"), padding_config=((0, 0, 0),))
    for primitive, params in [
        (ops.rev_p, {"dimensions": (-1,)}),
        (ops.squeeze_p, {"dimensions": (-1,)}),
        (ops.transpose_p, {"permutation": (-1,)}),
        (ops.reshape_p, {"new_sizes": (-1,)}),
    ]:
        with pytest.raises(ArgumentValueError):
            primitive.rule("abstract_eval")(aval, **params)
