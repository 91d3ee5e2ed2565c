"""`fft` and its derivatives agree with jax.lax.fft: every type, one to three dimensions, both precisions."""

import itertools

import jax
import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import jvp, vjp
from lawful.batching import vmap
from lawful.staging import jit

TYPES = ("FFT", "IFFT", "RFFT", "IRFFT")
LENGTHS = ((1,), (2,), (5,), (8,), (1, 4), (4, 3), (3, 6), (2, 3, 4), (3, 2, 5), (2, 1, 1))
CASES = list(itertools.product(TYPES, LENGTHS, (np.float32, np.float64)))


def signal(random, fft_type, lengths, dtype, batch=(2,)):
    shape = (*lengths[:-1], lengths[-1] // 2 + 1) if fft_type == "IRFFT" else lengths
    x = random.normal(size=batch + shape)
    if fft_type != "RFFT":
        x = x + 1j * random.normal(size=batch + shape)
        dtype = np.result_type(dtype, np.complex64)
    return x.astype(dtype)


def close(got, expected):
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.dtype == expected.dtype
    tolerance = 2e-5 if got.dtype in (np.float32, np.complex64) else 1e-12
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("fft_type", "lengths", "dtype"), CASES)
def test_fft_values_and_derivatives(fft_type, lengths, dtype):
    random = np.random.default_rng(sum(lengths))
    x, t = (signal(random, fft_type, lengths, dtype) for _ in range(2))

    def ours(x):
        return ops.fft(x, fft_type, lengths)

    def theirs(x):
        return jax.lax.fft(x, fft_type, lengths)

    # Compiled as a whole: op by op jax takes longer.
    def all_of_theirs(x, t):
        out, tangent = jax.jvp(theirs, (x,), (t,))
        ct = out * dtype(0.5) + dtype(1)
        return out, tangent, ct, jax.vjp(theirs, x)[1](ct)[0]

    expected, expected_tangent, ct, expected_cotangent = map(np.asarray, jax.jit(all_of_theirs)(x, t))
    for function in (ours, jit(ours)):
        out, tangent = jvp(function, (x,), (t,))
        close(out, expected)
        close(tangent, expected_tangent)
    close(vjp(ours, x)[1](ct)[0], expected_cotangent)


@pytest.mark.parametrize("fft_type", TYPES)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_fft_mapped(fft_type, axis):
    x = np.moveaxis(signal(np.random.default_rng(0), fft_type, (3, 4), np.float64, (5,)), 0, axis)
    got = vmap(lambda x: ops.fft(x, fft_type, (3, 4)), axis)(x)
    close(got, jax.vmap(lambda x: jax.lax.fft(x, fft_type, (3, 4)), axis)(x))


@pytest.mark.parametrize("dtype", [np.int32, np.bool_, np.uint8, np.float32])
def test_fft_other_dtypes_are_converted(dtype):
    x = np.arange(6).astype(dtype)
    np.testing.assert_allclose(ops.fft(x, "fft", 6), np.asarray(jax.lax.fft(x, "fft", (6,))), atol=1e-5)
    np.testing.assert_allclose(ops.fft(x, ops.FftType.RFFT, 6), np.asarray(jax.lax.fft(x, "rfft", (6,))), atol=1e-5)
