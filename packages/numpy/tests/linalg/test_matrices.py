"""`eye`, `tri` and triangles equal NumPy's: eagerly, compiled and differentiated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lawful import numpy as lnp
from lawful.autodiff import grad, jvp
from lawful.batching import vmap
from lawful.core import ArgumentValueError
from lawful.staging import jit

SIZES = [(0, None), (1, None), (3, None), (2, 5), (5, 2), (0, 3), (3, 0)]
DIAGONALS = (-9, -2, -1, 0, 1, 2, 9)


@pytest.mark.parametrize("name", ["eye", "tri"])
@pytest.mark.parametrize("dtype", [None, "bool", "int8", "float32", "complex64"])
def test_eye_and_tri_are_numpy_s(name: str, dtype: Any) -> None:
    function = getattr(lnp, name)
    sizes = [(rows, columns, k) for rows, columns in SIZES for k in DIAGONALS]

    def ours() -> list[Any]:
        return [function(*size, dtype) for size in sizes]

    expected = [getattr(np, name)(*size, dtype or float) for size in sizes]
    for found in (ours(), jit(ours)()):
        for got, wanted in zip(found, expected, strict=True):
            assert got.dtype == wanted.dtype
            np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("name", ["eye", "tri"])
def test_eye_and_tri_of_a_traced_diagonal(name: str) -> None:
    function, numpy_function = getattr(lnp, name), getattr(np, name)
    compiled = jit(lambda k: function(3, 4, k, np.float32), backend="numpy")
    for k in DIAGONALS:
        for dtype in (np.int8, np.uint64, np.int64):
            if k >= 0 or dtype != np.uint64:
                got = compiled(dtype(k))
                assert got.dtype == np.float32
                np.testing.assert_array_equal(got, numpy_function(3, 4, k))
    batched = vmap(lambda k: function(3, k=k))(np.array(DIAGONALS))
    np.testing.assert_array_equal(batched, [numpy_function(3, k=k) for k in DIAGONALS])
    scaled = grad(lambda x, k: (x * function(3, k=k)).sum())
    assert scaled(2.0, 1) == vmap(scaled, (None, 0))(2.0, np.array([1, 2]))[0] == numpy_function(3, k=1).sum()


@pytest.mark.parametrize("name", ["tril", "triu"])
def test_triangles_of_a_traced_diagonal(name: str) -> None:
    function, x = getattr(lnp, name), np.arange(12.0).reshape(3, 4)
    batched = vmap(lambda k: function(x, k))(np.array(DIAGONALS))
    for k, of_k in zip(DIAGONALS, batched, strict=True):
        np.testing.assert_array_equal(of_k, getattr(np, name)(x, k))
        np.testing.assert_array_equal(jit(function, backend="numpy")(x, k), of_k)


@pytest.mark.parametrize("name", ["eye", "tri"])
def test_eye_refuses_traced_lengths_and_float_diagonals(name: str) -> None:
    function = getattr(lnp, name)
    for k in (1.0, np.array([1, 2]), np.True_):
        for run in (lambda k: function(3, k=k), jit(lambda k: function(3, k=k), backend="numpy")):
            with pytest.raises(TypeError, match=rf"{name}: expected (an integer|integers) as the diagonal, got"):
                run(k)
    with pytest.raises(TypeError):
        jit(lambda n: function(n), backend="numpy")(3)


@pytest.mark.parametrize("name", ["eye", "tri"])
def test_eye_refuses_negative_lengths(name: str) -> None:
    for sizes in ((-1,), (2, -3)):
        with pytest.raises(ArgumentValueError, match=f"{name}: expected lengths that are not negative"):
            getattr(lnp, name)(*sizes)


@pytest.mark.parametrize("name", ["tril", "triu"])
@pytest.mark.parametrize("shape", [(3, 3), (2, 5), (5, 2), (2, 3, 4), (0, 3), (1, 1)])
def test_tril_triu_values_and_derivatives(name: str, shape: tuple[int, ...]) -> None:
    f, expected = getattr(lnp, name), getattr(np, name)
    x = np.random.default_rng(0).normal(size=shape) + 3.0
    for k in DIAGONALS:
        mask = expected(np.ones(shape), k)
        for _ in range(4):  # traced, cached, replayed
            np.testing.assert_array_equal(f(x, k), expected(x, k))
            np.testing.assert_array_equal(grad(lambda x, k=k: lnp.sum(f(x, k)))(x), mask)
            np.testing.assert_array_equal(grad(lambda x, k=k: lnp.sum(f(x, k=k)))(x), mask)
            out, tangent = jvp(lambda x, k=k: f(x, k), (x,), (2 * x,))
            np.testing.assert_array_equal(out, x * mask)
            np.testing.assert_array_equal(tangent, 2 * x * mask)
    for _ in range(4):
        np.testing.assert_array_equal(grad(lambda x: lnp.sum(f(x)))(x), expected(np.ones(shape)))
