"""`associative_scan` returns all partial combinations, in logarithmic depth, along any axis and in both directions."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, jvp
from lawful.batching import vmap
from lawful.control_flow import associative_scan
from lawful.staging import jit as jit_by
from lawful.staging import make_jaxpr

jit = partial(jit_by, backend="numpy")

random = np.random.default_rng(2)


def first(a: Any, b: Any) -> Any:
    return a


def matmul(a: Any, b: Any) -> Any:
    return ops.dot_general(a, b, (((2,), (1,)), ((0,), (0,))))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", range(12))
def test_associative_scan_sums_along_any_axis(length: int, reverse: bool, require_same: Callable[..., None]) -> None:
    for axis in range(-3, 3):
        x = np.moveaxis(random.normal(size=(length, 2, 3)), 0, axis)
        expected = np.flip(np.cumsum(np.flip(x, axis), axis), axis) if reverse else np.cumsum(x, axis)
        require_same(associative_scan(ops.add, x, reverse, axis), expected, 1e-14)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", [1, 2, 3, 6, 9])
def test_associative_scan_of_noncommutative_functions(length: int, reverse: bool) -> None:
    """Products of matrices, compositions of maps, and the first of two."""
    matrices = random.normal(size=(length, 2, 2))
    order = list(range(length))[::-1] if reverse else list(range(length))
    found = associative_scan(matmul, matrices, reverse)
    product = None
    for i in order:
        product = matrices[i] if product is None else product @ matrices[i]
        np.testing.assert_allclose(found[i], product)
    x = random.normal(size=length)
    np.testing.assert_array_equal(associative_scan(first, x, reverse), np.full(length, x[order[0]]))

    def composed(f: Any, g: Any) -> Any:
        return {"a": g["a"] * f["a"], "b": g["a"] * f["b"] + g["b"]}

    maps = {"a": random.normal(size=length), "b": random.normal(size=length)}
    y, found = 0.0, associative_scan(composed, maps, reverse)
    for i in order:
        y = maps["a"][i] * y + maps["b"][i]
        np.testing.assert_allclose(found["b"][i], y)


def test_associative_scan_dtypes(require_same: Callable[..., None]) -> None:
    n = np.array([3, 1, 4, 1, 5], np.int32)
    require_same(associative_scan(ops.max, n), np.maximum.accumulate(n))
    b = np.array([1, 0, 1, 1, 0], bool)
    require_same(associative_scan(ops.bitwise_xor, b), np.logical_xor.accumulate(b))
    z = n * (1 + 0.5j)
    require_same(associative_scan(ops.mul, z), np.multiply.accumulate(z), 1e-12)


def test_associative_scan_depth_and_work() -> None:
    def calls_and_elements(length: int) -> tuple[int, int]:
        sizes = []

        def fn(a: Any, b: Any) -> Any:
            sizes.append(a.shape[0])
            return a + b

        associative_scan(fn, np.ones(length))
        return len(sizes), sum(sizes)

    for length in (2, 3, 64, 100, 1000):
        calls, elements = calls_and_elements(length)
        assert calls <= 2 * np.log2(length)
        assert elements < 2 * length
    equations = [len(make_jaxpr(partial(associative_scan, ops.add))(np.ones(n)).eqns) for n in (64, 128, 256)]
    assert equations[1] - equations[0] == equations[2] - equations[1]


@pytest.mark.parametrize("reverse", [False, True])
def test_associative_scan_derivatives_and_batches(reverse: bool, require_same: Callable[..., None]) -> None:
    x, v = random.normal(size=5), random.normal(size=5)
    flip = slice(None, None, -1) if reverse else slice(None)

    def products(x: Any) -> Any:
        return associative_scan(ops.mul, x, reverse)

    def expected(x: Any) -> Any:
        rows, total = [], None
        for i in range(5)[flip]:
            total = x[i] if total is None else total * x[i]
            rows.append(ops.reshape(total, (1,)))
        return ops.concatenate(rows[flip], 0)

    require_same(jvp(products, (x,), (v,)), jvp(expected, (x,), (v,)), 1e-13)
    weighted = [lambda x, f=f: ops.reduce_sum(f(x) * v, (0,)) for f in (products, expected)]
    require_same(grad(weighted[0])(x), grad(weighted[1])(x), 1e-13)
    require_same(jit(grad(weighted[0]))(x), grad(weighted[1])(x), 1e-13)
    rows = np.stack([x, v])
    require_same(vmap(products)(rows), np.stack([products(x), products(v)]), 1e-14)


def test_associative_scan_result_shares_no_memory() -> None:
    x = np.ones(1)
    out = associative_scan(ops.add, x)
    out[...] = 7.0
    assert x[0] == 1.0
