"""Bits: values and derivatives as jax.lax's, eagerly and compiled."""

import itertools

import jax
import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad
from lawful.staging import jit

SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1.1, 3e5, -1e-7, 1e300, 1e-300, 5e-324])


def assert_as_jax(function, reference, *args):
    expected = np.asarray(reference(*args))
    for got in (function(*args), jit(function, backend="xla")(*args)):
        assert np.asarray(got).dtype == expected.dtype
        np.testing.assert_array_equal(np.asarray(got), expected)


@pytest.mark.parametrize("dtype", [f"{kind}{width}" for kind in ("int", "uint") for width in (8, 16, 32, 64)])
def test_bits_counts(dtype):
    bounds = np.iinfo(dtype)
    x = np.random.default_rng(0).integers(bounds.min, bounds.max, 200, dtype, endpoint=True)
    for name in ("population_count", "clz"):
        assert_as_jax(getattr(ops, name), getattr(jax.lax, name), x)


@pytest.mark.parametrize(
    "bits", [(1, 0), (2, 1), (4, 3), (5, 2), (5, 10), (8, 7), (8, 23), (11, 10), (11, 52), (20, 60)]
)
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_reduce_precision(bits, dtype):
    random = np.random.default_rng(0)
    x = np.concatenate([SPECIAL, random.normal(size=500), 10 ** random.uniform(-20, 20, 500)])
    with np.errstate(over="ignore", under="ignore"):
        x = x.astype(dtype)
    if dtype == "float16":  # jax rounds a subnormal float16 after it has made it a float32
        x = x[(np.abs(x) >= np.finfo(dtype).tiny) | (x == 0) | np.isnan(x)]
    assert_as_jax(lambda x: ops.reduce_precision(x, *bits), lambda x: jax.lax.reduce_precision(x, *bits), x)


@pytest.mark.parametrize("dtypes", list(itertools.permutations(["float64", "int32", "uint16", "int8", "float16"], 2)))
def test_bits_bitcasts(dtypes):
    old, new = map(np.dtype, dtypes)
    shape = (3, new.itemsize // old.itemsize) if new.itemsize > old.itemsize else (3, 2)
    x = np.random.default_rng(0).integers(1, 100, shape).astype(old)
    assert_as_jax(lambda x: ops.bitcast_convert_type(x, new), lambda x: jax.lax.bitcast_convert_type(x, new), x)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_nextafter(dtype):
    with np.errstate(over="ignore", under="ignore"):
        x, y = (z.astype(dtype) for z in np.meshgrid(SPECIAL, SPECIAL))
    assert_as_jax(ops.nextafter, jax.lax.nextafter, x, y)


def test_bits_derivatives():
    x = 1.1
    assert grad(ops.nextafter)(x, 2.0) == jax.grad(jax.lax.nextafter)(x, 2.0) == 1.0
    assert grad(ops.nextafter, 1)(x, 2.0) == jax.grad(jax.lax.nextafter, 1)(x, 2.0) == 0.0
    reduce = [lambda x, module=module: module.reduce_precision(x, 8, 7) for module in (ops, jax.lax)]
    assert grad(reduce[0])(x) == jax.grad(reduce[1])(x) == 1.0
