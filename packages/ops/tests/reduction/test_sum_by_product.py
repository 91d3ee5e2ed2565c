"""Sums and matrix products by BLAS equal NumPy's functions for every shape and memory layout."""

from __future__ import annotations

import itertools
import math
from typing import Any

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from lawful.core import get_aval
from lawful.ops import dot_general_p, reduce_sum_p
from lawful.ops._fast.sum_by_product import sum_by_product
from lawful.ops._products.matrix_products import product_of_matrices

REAL = ("float32", "float64")


@st.composite
def in_some_layout(draw: st.DrawFn, shape: tuple[int, ...], dtype: str) -> Any:
    """Draws an array whose memory is in any order, with gaps, backwards, read-only or repeated."""
    order = draw(st.permutations(range(len(shape))))
    steps = [draw(st.sampled_from((1, 1, 1, 2, -1))) for _ in shape]
    memory = tuple([shape[axis] * abs(steps[axis]) for axis in order])
    numbers = np.random.default_rng(draw(st.integers(0, 99))).normal(size=memory) * draw(st.sampled_from((1.0, 1e3)))
    x = numbers.astype(dtype).transpose(np.argsort(order)) if shape else numbers.astype(dtype)
    x = x[tuple([slice(None, None, step) for step in steps])]
    if draw(st.booleans()):
        x.flags.writeable = False
    assert x.shape == shape
    return x


@st.composite
def sums(draw: st.DrawFn) -> tuple[Any, tuple[int, ...]]:
    sizes = st.sampled_from((1, 2, 3, 5, 127, 128, 129, 300)) | st.integers(0, 40)
    shape = tuple(draw(st.lists(sizes, min_size=1, max_size=4).filter(lambda sizes: math.prod(sizes) <= 20_000)))
    ndim = len(shape)
    first, last = (tuple(range(k)) for k in (draw(st.integers(0, ndim)),) * 2)
    some = draw(st.lists(st.booleans(), min_size=ndim, max_size=ndim))
    axes = draw(
        st.sampled_from(
            (first, tuple(range(ndim - len(last), ndim)), tuple([axis for axis in range(ndim) if some[axis]]))
        )
    )
    return draw(in_some_layout(shape, draw(st.sampled_from(REAL)))), axes


@hypothesis.given(sums())
def test_sum_by_product_equals_numpy(drawn: tuple[Any, tuple[int, ...]]) -> None:
    x, axes = drawn
    got = reduce_sum_p.rule("impl")(x, axes=axes)
    expected = np.add.reduce(x, axis=axes, initial=x.dtype.type(0))
    assert (type(got), got.dtype, got.shape) == (type(expected), expected.dtype, expected.shape)
    exact = np.add.reduce(x.astype(np.longdouble), axis=axes)
    size = np.add.reduce(np.abs(x.astype(np.longdouble)), axis=axes)
    count = math.prod([x.shape[axis] for axis in axes])
    # The error bound of eight partial sums, which is NumPy's worst case; numbers that are not adjacent are added
    # sequentially.
    assert np.all(np.abs(got - exact) <= np.finfo(x.dtype).eps * size * max(count / 2, 1))


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("order", ["C", "F"])
def test_sum_by_product_of_small_arrays(order: Any, dtype: str) -> None:
    """Integers, whose sums do not depend on the order."""
    for shape in [shape for ndim in (1, 2, 3, 4) for shape in itertools.product((1, 2, 3), repeat=ndim)]:
        x = np.array(np.arange(math.prod(shape)).reshape(shape), dtype, order=order)
        for count in range(len(shape) + 1):
            for axes in itertools.combinations(range(len(shape)), count):
                got, expected = reduce_sum_p.rule("impl")(x, axes=axes), np.add.reduce(x, axis=axes, initial=0)
                assert (type(got), got.dtype, got.shape) == (type(expected), expected.dtype, expected.shape)
                np.testing.assert_array_equal(got, expected)


def test_sum_by_product_skips_other_memory_orders() -> None:
    x = np.asfortranarray(np.random.default_rng(0).normal(size=(5000, 3)))
    np.testing.assert_array_equal(reduce_sum_p.rule("impl")(x, axes=(0,)), np.add.reduce(x, axis=0))


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize(
    ("shape", "axes"),
    [((3, 4), (0,)), ((3, 4), (1,)), ((2, 3, 4), (0, 1)), ((2, 3, 4), (1, 2)), ((5,), (0,)), ((2, 1), (0,))],
)
def test_sum_by_product_of_zeros_and_infinities(shape: Any, axes: Any, dtype: str) -> None:
    """The sum of negative zeros is 0.0, because it begins with 0.0."""
    assert sum_by_product(shape, np.dtype(dtype), axes) is not None
    for first, others in ((-0.0, -0.0), (np.inf, 1.0), (np.inf, -np.inf), (np.nan, 1.0), (1.0, -np.inf)):
        x = np.full(shape, others, dtype)
        x.flat[0] = first
        with np.errstate(invalid="ignore"):
            got = reduce_sum_p.rule("impl")(x, axes=axes)
            expected = np.add.reduce(x, axis=axes, initial=0.0)
        np.testing.assert_array_equal(got, expected)
        np.testing.assert_array_equal(np.signbit(got) & (got == 0), np.signbit(expected) & (expected == 0))


@pytest.mark.parametrize(
    ("shape", "dtype", "axes", "why"),
    [
        ((1000,), "float64", (0,), "NumPy adds up halves, which is more exact"),
        ((3, 1000), "float64", (1,), "NumPy adds up halves, which is more exact"),
        ((1000, 1), "float64", (0,), "NumPy adds up halves, which is more exact"),
        ((2, 3, 4), "float64", (1,), "it is no product of a matrix and a vector"),
        ((2, 3, 4), "float64", (0, 2), "it is no product of a matrix and a vector"),
        ((3, 4), "float64", (), "nothing is added"),
        ((1, 4), "float64", (0,), "nothing is added"),
        ((0, 4), "float64", (0,), "nothing is added"),
        ((4, 0), "float64", (0,), "there is no sum"),
        ((3, 4), "complex128", (0,), "an infinity times 1 + 0j is not a number"),
        ((3, 4), "int64", (0,), "BLAS has no integers"),
        ((3, 4), "float16", (0,), "BLAS has no halves"),
    ],
)
def test_sum_by_product_leaves_other_sums_to_numpy(shape: Any, dtype: str, axes: Any, why: str) -> None:
    assert sum_by_product(shape, np.dtype(dtype), axes) is None, why


@pytest.mark.parametrize("dtype", REAL)
def test_sum_by_product_of_many_caches_no_ones(dtype: str) -> None:
    function = sum_by_product((100_000, 2), np.dtype(dtype), (0,))
    assert function is not None
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    assert not [x for x in held if isinstance(x, np.ndarray)]
    found = function(np.ones((100_000, 2), dtype))
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, [100_000, 100_000])


@st.composite
def products(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    """Draws two vectors or matrices, and their contracted dimensions."""
    sizes = st.sampled_from((1, 2, 3, 17, 64)) | st.integers(0, 9)
    lhs = draw(st.lists(sizes, min_size=1, max_size=2))
    rhs = draw(st.lists(sizes, min_size=1, max_size=2))
    i, j = draw(st.sampled_from(range(len(lhs)))), draw(st.sampled_from(range(len(rhs))))
    rhs[j] = lhs[i]
    dtype = draw(st.sampled_from(("float32", "float64", "complex64", "complex128", "int32", "bool")))
    real = in_some_layout(tuple(lhs), dtype), in_some_layout(tuple(rhs), dtype)
    return draw(real[0]), draw(real[1]), (((i,), (j,)), ((), ()))


@hypothesis.given(products())
def test_dot_general_of_vectors_and_matrices_equals_matmul(drawn: tuple[Any, Any, Any]) -> None:
    x, y, numbers = drawn
    got = dot_general_p.rule("impl")(x, y, dimension_numbers=numbers, preferred_element_type=None)
    (i,), (j,) = numbers[0]
    left, right = np.moveaxis(x, i, -1), np.moveaxis(y, j, 0)
    expected = np.matmul(left, right)
    assert (type(got), got.dtype, got.shape) == (type(expected), expected.dtype, expected.shape)
    if x.dtype.kind in "fc":
        size = np.matmul(np.abs(left), np.abs(right))
        assert np.all(np.abs(got - expected) <= np.finfo(x.dtype).eps * size * (left.shape[-1] + 2))
    else:
        np.testing.assert_array_equal(got, expected)


def test_product_of_matrices_by_size() -> None:
    matrix = (((1,), (0,)), ((), ()))
    for dtype, small, large in (("float64", 2048, 2049), ("float32", 4096, 4097), ("complex64", 1024, 1025)):
        assert product_of_matrices((small, 3), (3, 1), np.dtype(dtype), matrix) is np.ndarray.dot
        assert product_of_matrices((large, 3), (3, 1), np.dtype(dtype), matrix) is np.matmul
    assert product_of_matrices((2, 3), (3, 1), np.dtype("int64"), matrix) is np.matmul
    assert product_of_matrices((2, 3, 4), (4, 1), np.dtype("float64"), (((2,), (0,)), ((), ()))) is None
    assert product_of_matrices((2, 3), (2, 3), np.dtype("float64"), (((1,), (1,)), ((0,), (0,)))) is None
    assert product_of_matrices((2, 3), (2, 3), np.dtype("float64"), (((0, 1), (0, 1)), ((), ()))) is None
    assert product_of_matrices((), (3,), np.dtype("float64"), (((), ()), ((), ()))) is np.multiply


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("shapes", [((2,), (3,)), ((2, 3), (4,)), ((0,), (3,)), ((2,), (1, 3)), ((), (3,)), ((), ())])
def test_outer_product_is_matrix_product(shapes: tuple[tuple[int, ...], tuple[int, ...]], dtype: str) -> None:
    """An outer product, which is one call of ``numpy.multiply``, is the product of a column and a row."""
    rng = np.random.default_rng(0)
    x, y = [np.asarray(3 * rng.normal(size=shape)).astype(dtype) for shape in shapes]
    expected = np.matmul(x.reshape(-1, 1), y.reshape(1, -1)).reshape(x.shape + y.shape)
    params = {"dimension_numbers": (((), ()), ((), ())), "precision": None, "preferred_element_type": None}
    specialised = dot_general_p.rule("numpy")([get_aval(x), get_aval(y)], None, **params)
    for got in (dot_general_p.bind(x, y, **params), specialised(x, y)):
        assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_array_equal(got, expected)
