"""`lax.scatter_apply` beside JAX's, and its derivatives, which JAX has not."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import lawful.jax
from lawful.autodiff import grad, jvp
from lawful.batching import vmap
from lawful.core import ArgumentTypeError, ArgumentValueError
from lawful.jax import lax
from lawful.staging import jit

X = np.array([0.0, 1.5, 2.0, 3.0, 0.25])
TABLE = np.arange(20.0).reshape(4, 5) / 7

ELEMENTS: tuple[Any, ...] = ((), (0,), (0,))
CALLS: dict[str, tuple[np.ndarray[Any, Any], Any, tuple[Any, ...], tuple[int, ...]]] = {
    "one": (X, [[3]], ELEMENTS, (1,)),
    "several": (X, [[3], [1]], ELEMENTS, (2,)),
    "repeated": (X, [[3], [1], [3], [3]], ELEMENTS, (4,)),
    "outside": (X, [[3], [7], [-1], [3]], ELEMENTS, (4,)),
    "windows": (X, [[1], [2]], ((1,), (), (0,)), (2, 3)),
    "windows outside": (X, [[1], [3], [-1]], ((1,), (), (0,)), (3, 3)),
    "rows": (TABLE, [[1], [3], [1]], ((1,), (0,), (0,)), (3, 5)),
    "one window": (TABLE, [1, 2], ((0, 1), (), (0, 1)), (2, 3)),
    "none": (X, np.zeros((0, 1), int), ELEMENTS, (0,)),
}


def call(lib: Any, func: Callable[[Any], Any], numbers: tuple[Any, ...], shape: Any, **options: Any) -> Any:
    named = lib.ScatterDimensionNumbers(*numbers)
    return lambda x, indices: lib.scatter_apply(x, indices, func, named, update_shape=shape, **options)


@pytest.mark.parametrize("mode", [None, "clip", "drop"])
@pytest.mark.parametrize("name", CALLS)
def test_scatter_apply_agrees_with_jax(name: str, mode: Any) -> None:
    x, indices, numbers, shape = CALLS[name]
    indices = np.asarray(indices)
    ours = call(lax, lambda v: v * v + 0.5, numbers, shape, mode=mode)
    theirs = call(jax.lax, lambda v: v * v + 0.5, numbers, shape, mode=mode)
    stacked = np.stack([x, x + 1])
    both = np.asarray(jax.jit(lambda xs: [theirs(x, indices) for x in xs])(stacked))
    expected = both[0]
    out = ours(x, indices)
    assert type(out) is lawful.jax.Array
    np.testing.assert_allclose(out, expected, rtol=1e-14)
    for backend in ("numpy", "xla"):
        np.testing.assert_allclose(jit(ours, backend=backend)(x, indices), expected, rtol=1e-14)
    np.testing.assert_allclose(vmap(ours, (0, None))(stacked, indices), both, rtol=1e-14)
    np.testing.assert_allclose(vmap(ours)(stacked, np.stack([indices, indices])), both, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["int32", "float32", "complex128", "bool"])
def test_scatter_apply_keeps_the_dtype(dtype: str) -> None:
    x = np.array([3, 0, 2]).astype(dtype)
    for func in (lambda v: v, lambda v: 1, lambda v: v * 2 if dtype != "bool" else v):
        ours = call(lax, func, ELEMENTS, (2,))(x, np.array([[0], [0]]))
        theirs = call(jax.lax, lambda v, func=func: jax.numpy.asarray(func(v), v.dtype), ELEMENTS, (2,))
        expected = theirs(x, np.array([[0], [0]]))
        assert ours.dtype == expected.dtype
        np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize("name", CALLS)
def test_scatter_apply_derivatives_with_repeated_indices(name: str) -> None:
    """JAX differentiates no scatter of a function: the reference is the square of the elements, written in JAX."""
    x, indices, numbers, shape = CALLS[name]
    indices = np.asarray(indices)
    ours = call(lax, lambda v: v * v + 0.5, numbers, shape)
    counts = np.asarray(call(jax.lax, lambda v: v + 1, numbers, shape)(np.zeros(x.shape), indices))

    def reference(x: Any) -> Any:
        for i in range(int(counts.max())):
            x = jax.numpy.where(counts > i, x * x + 0.5, x)
        return x

    tangent, weights = np.cos(1 + np.arange(x.size)).reshape(x.shape), np.arange(1.0, 1 + x.size).reshape(x.shape)

    def derivatives(x: Any) -> Any:
        return jax.jvp(reference, (x,), (tangent,))[1], jax.grad(lambda x: (weights * reference(x)).sum())(x)

    expected, slope = jax.jit(derivatives)(x)  # one program: to compile op by op takes longer
    for f in (lambda x: ours(x, indices), jit(lambda x: ours(x, indices), backend="xla")):
        np.testing.assert_allclose(jvp(f, (x,), (tangent,))[1], expected, rtol=1e-12)
        np.testing.assert_allclose(grad(lambda x, f=f: (weights * f(x)).sum())(x), slope, rtol=1e-12)


def test_scatter_apply_derivative_elsewhere_does_not_matter() -> None:
    """The square root has no derivative at the first element, which is not in a window."""
    found = grad(lambda x: call(lax, lawful.jax.numpy.sqrt, ELEMENTS, (3,))(x, np.array([[3], [3], [9]])).sum())(X)
    np.testing.assert_allclose(found, [1, 1, 1, 0.25 * 3**-0.75, 1])


@pytest.mark.parametrize("func", [lambda v: v > 0, lambda v: lawful.jax.numpy.stack([v, v]), lambda v: v * 1j])
def test_scatter_apply_result_of_func_error(func: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"expected func to return a scalar of dtype float64, got .*; reduce"):
        call(lax, func, ELEMENTS, (1,))(X, np.array([[3]]))


def test_scatter_apply_arguments_error() -> None:
    with pytest.raises(ArgumentTypeError, match=r"scatter_apply: expected update_shape=\(1,\), .*, got \(2,\)"):
        call(lax, lambda v: v, ELEMENTS, (2,))(X, np.array([[3]]))
    with pytest.raises(ArgumentTypeError, match="scatter_apply: expected integers as indices"):
        call(lax, lambda v: v, ELEMENTS, (1,))(X, np.array([[3.0]]))
    with pytest.raises(ArgumentTypeError, match="scatter_apply: expected dimension_numbers"):
        lax.scatter_apply(X, np.array([[3]]), lambda v: v, None, update_shape=(1,))
    with pytest.raises(ArgumentValueError, match="mode: expected"):
        call(lax, lambda v: v, ELEMENTS, (1,), mode="wrap")(X, np.array([[3]]))
