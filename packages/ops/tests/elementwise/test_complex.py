"""Complex numbers and their parts: values, promotion, and JAX's conventions for their derivatives."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, ShapedArray, UndefinedPrimal, get_aval

z = np.array([1 + 2j, -3j])


@pytest.mark.parametrize("name", ["real", "imag", "conj"])
@pytest.mark.parametrize(
    "x", [z, z.astype("complex64"), np.complex64(1 + 2j), np.ones(2, "float32"), np.arange(3), 2.0, 1j]
)
def test_real_imag_conj_equal_numpy_and_are_strong(name: str, x: Any, strictly: Any, assert_same: Any) -> None:
    function, want = getattr(ops, name), np.asarray(getattr(np, name)(np.asarray(x)))
    assert_same(function(x), want)
    with strictly():
        out = function(x)
    assert_same(out, want)
    assert not get_aval(out).weak_type


@pytest.mark.parametrize(
    ("dtypes", "expected"),
    [
        (("float64", "float64"), "complex128"),
        (("float32", "float32"), "complex64"),
        (("float32", "float64"), "complex128"),
        (("float16", "float16"), "complex64"),
        ((ml_dtypes.bfloat16, "float32"), "complex64"),
        (("int8", "int8"), "complex128"),
        (("bool", "float32"), "complex64"),
    ],
)
def test_complex_promotes(dtypes: tuple[Any, Any], expected: str, strictly: Any, assert_same: Any) -> None:
    x, y = np.ones(2, dtypes[0]), np.zeros((3, 1), dtypes[1])
    want = np.ones((3, 2), expected)
    assert_same(ops.complex(x, y), want)
    with strictly():
        assert_same(ops.complex(x, y), want)


@pytest.mark.parametrize(("x", "y", "expected"), [(1, 2.0, "complex128"), (np.float32(1), 2.0, "complex64")])
def test_complex_of_scalars_is_strong(x: Any, y: Any, expected: str, assert_same: Any) -> None:
    assert_same(ops.complex(x, y), np.dtype(expected).type(1 + 2j))


def test_complex_errors() -> None:
    with pytest.raises(ArgumentTypeError, match="expected two real parts"):
        ops.complex(z, 1.0)
    with pytest.raises(ArgumentValueError, match="broadcast together"):
        ops.complex(np.ones(2), np.ones(3))
    for primitive, dtype in [(ops.real_p, "float32"), (ops.complex_p, "float16"), (ops.conj_p, "float64")]:
        avals = [ShapedArray((2,), dtype)] * (2 if primitive is ops.complex_p else 1)
        with pytest.raises(ArgumentTypeError, match=f"{primitive.name}_p: expected .*; call "):
            primitive.rule("abstract_eval")(*avals)


@pytest.mark.parametrize("name", ["real", "imag", "conj", "complex"])
def test_complex_parts_transpose_as_in_jax(name: str) -> None:
    jax = pytest.importorskip("jax")
    operands = [np.array([1.0, 2.0]), np.array([3.0, -4.0])] if name == "complex" else [z]
    primitive = getattr(ops, f"{name}_p")
    ct = primitive.bind(*operands) * (2 - (1j if name in ("conj", "complex") else 0))
    with jax.enable_x64(True):
        want = jax.linear_transpose(getattr(jax.lax, name), *operands)(jax.numpy.asarray(ct))
    got = primitive.rule("transpose")(ct, *[UndefinedPrimal(get_aval(x)) for x in operands])
    for ours, theirs in zip(got, want, strict=True):
        np.testing.assert_array_equal(ours, theirs)
