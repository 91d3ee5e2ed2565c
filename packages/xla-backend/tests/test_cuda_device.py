"""NVIDIA's devices: arrays, platforms of programs, linear algebra, callbacks, errors. Run where there is one."""

import copy
import pickle
import sys

import numpy as np
import pytest

from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError
from lawful.staging import clear_caches, jit, pure_callback
from lawful.xla_backend import (
    XlaError,
    cache_info,
    default_backend,
    device_get,
    device_put,
    devices,
    from_dlpack,
    set_cache_dir,
)
from lawful.xla_backend._runtime import cuda

pytestmark = pytest.mark.skipif(cuda.why_absent() is not None, reason="no device of NVIDIA's, or no plugin for it")

DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


@pytest.fixture
def cpu():
    return devices("cpu")[0]


@pytest.fixture
def gpu():
    return devices("cuda")[0]


def test_cuda_is_the_default_without_jax(run_python) -> None:
    script = "import sys, lawful.xla_backend as x; print(x.default_backend(), x.devices(), 'jax' in sys.modules)"
    assert run_python(script).stdout == "cuda [CudaDevice(id=0)] False\n"
    assert default_backend() == "cuda"


def test_cpu_alone_by_the_variable(run_python) -> None:
    script = "import lawful.xla_backend as x; print(x.default_backend(), x.devices())"
    assert run_python(script, LAWFUL_PLATFORM="cpu").stdout == "cpu [CpuDevice(id=0)]\n"


# Where programs run


def test_program_follows_its_arguments(cpu, gpu) -> None:
    f, x = jit(lambda x: np.sin(x) * x), np.arange(5.0)
    for arg, device in ((x, gpu), (device_put(x, cpu), cpu), (device_put(x), gpu), (device_put(x, cpu), cpu)):
        out = f(arg)
        assert out.device is device
        np.testing.assert_allclose(out, np.sin(x) * x, rtol=1e-14)


def test_program_of_a_platform_moves_its_arguments(cpu, gpu) -> None:
    x = np.arange(5.0)
    for backend, device in (("cpu", cpu), ("cuda", gpu), ("gpu", gpu)):
        f = jit(lambda x, y: x * y + 1, backend=backend)
        for arg in (x, device_put(x, cpu), device_put(x, gpu)):
            out = f(arg, 2.0)
            assert out.device is device
            assert np.array_equal(out, x * 2 + 1)


def test_program_closes_over_arrays_of_another_platform(cpu, gpu) -> None:
    held = device_put(np.arange(4.0), cpu)
    out = jit(lambda x: x + held)(device_put(np.ones(4)))
    assert out.device is gpu
    assert np.array_equal(out, np.arange(4.0) + 1)


def test_arrays_of_two_platforms_are_refused(cpu) -> None:
    with pytest.raises(ArgumentValueError, match=r"one on cuda:0 and one on cpu:0; move them with device_put"):
        jit(lambda x, y: x + y)(device_put(1.0), device_put(2.0, cpu))


# Arrays


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "bfloat16", "float64", "complex128"])
def test_array_moves_there_and_back(cpu, gpu, dtype: str) -> None:
    x = np.array([[0, 1, 2], [3, 4, 5]]).astype(ops.convert_element_type(0, dtype).dtype)
    there = device_put(x)
    back = there.to_device(cpu)
    assert (there.device, back.device, back.to_device(gpu).device) == (gpu, cpu, gpu)
    for array in (there, back, back.to_device(gpu), there.copy(), copy.deepcopy(there)):
        assert array.dtype == x.dtype
        assert np.array_equal(device_get(array), x)
    assert isinstance(there.to_device("cpu"), np.ndarray)
    assert pickle.loads(pickle.dumps(there)).device is gpu


def test_array_is_not_numpy_memory() -> None:
    x = device_put(np.arange(3.0))
    with pytest.raises(ArgumentValueError, match="leave out copy=False"):
        np.asarray(x, copy=False)


def test_donated_array_is_deleted() -> None:
    x = device_put(np.arange(8.0))
    y = jit(lambda x: x + 1, donate_argnums=0)(x)
    assert x.is_deleted()
    assert np.array_equal(y, np.arange(8.0) + 1)


def test_dlpack_exchange_with_torch(gpu) -> None:
    torch = pytest.importorskip("torch", reason="an exchange with PyTorch")
    tensor = torch.from_dlpack(device_put(np.arange(6.0)))
    assert tensor.device.type == "cuda"
    assert tensor.tolist() == list(range(6))
    for dtype in (torch.float32, torch.bfloat16):
        array = from_dlpack((torch.arange(6, device="cuda") * 2).to(dtype))
        assert array.device is gpu
        assert array.astype(np.float64).tolist() == [0, 2, 4, 6, 8, 10]


# Programs


def test_float32_products_are_exact() -> None:
    x = np.random.default_rng(0).normal(size=(256, 256)).astype(np.float32)
    exact = x.astype(np.float64) @ x
    numbers = (((1,), (0,)), ((), ()))
    error = {
        precision: np.abs(jit(lambda x, p=precision: ops.dot_general(x, x, numbers, precision=p))(x) - exact).max()
        for precision in (None, "highest", "default")
    }
    assert error[None] == error["highest"] < 1e-4 < error["default"]  # tensorfloat32 has 10 bits


def test_repeated_indices_write_the_last() -> None:
    indices = np.random.default_rng(0).integers(0, 100, 50_000)
    expected = np.zeros(100)
    expected[indices] = np.arange(50_000.0)
    found = jit(lambda x, i, y: ops.scatter(x, i[:, None], y, ((), (0,), (0,), (), ())))(
        np.zeros(100), indices, np.arange(50_000.0)
    )
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool"])
def test_integer_convolution_is_refused(dtype: str) -> None:
    x = np.ones((1, 1, 6), dtype)
    with pytest.raises(ArgumentTypeError, match=f"expected floats on cuda, got {dtype}"):
        jit(lambda x: ops.conv_general_dilated(x, x[:, :, :2], (1,), "VALID"))(x)


def test_callbacks_run_on_the_host(gpu) -> None:
    out = jit(lambda x: pure_callback(lambda v: np.asarray(v) * 2, x, x) + 1)(np.arange(4.0))
    assert out.device is gpu
    assert np.array_equal(out, np.arange(4.0) * 2 + 1)


def test_callback_error_is_raised() -> None:
    def fail(value):
        raise ValueError("planted")

    with pytest.raises(ValueError, match="planted"):
        jit(lambda x: pure_callback(fail, x, x))(np.arange(4.0))
    assert float(jit(lambda x: x + 1)(1.0)) == 2.0


def test_too_little_memory_is_our_error() -> None:
    with pytest.raises(XlaError, match="RESOURCE_EXHAUSTED"):
        jit(lambda: ops.broadcast(1.0, (10**12,)))().block_until_ready()
    assert float(jit(lambda x: x * 2)(3.0)) == 6.0


def test_compiled_programs_are_stored(tmp_path) -> None:
    set_cache_dir(tmp_path)
    try:
        for count, function in enumerate((lambda x: ops.cholesky(x) + 1, lambda x: ops.eig(x)[0]), start=1):
            first = np.asarray(jit(function)(np.eye(3)))
            clear_caches()
            assert np.array_equal(jit(function)(np.eye(3)), first)
            assert (cache_info().misses, cache_info().hits) == (count, count)
    finally:
        set_cache_dir(None)


# Linear algebra and FFT


def matrices(dtype, *shape: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    x = rng.normal(size=shape) + (1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else 0)
    return x.astype(dtype)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def assert_close(found, expected) -> None:
    expected = np.asarray(expected)
    tolerance = 1e3 * np.finfo(expected.dtype).eps
    np.testing.assert_allclose(np.asarray(found), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
def test_cholesky_agrees_with_lapack(dtype) -> None:
    x = matrices(dtype, 2, 5, 5)
    x = x @ adjoint(x) + 5 * np.eye(5, dtype=dtype)
    assert_close(jit(ops.cholesky)(x), ops.cholesky(x))
    assert np.isnan(jit(ops.cholesky)(-x)).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 7, 4), (4, 7), (2, 5, 5), (300, 300)])
def test_lu_factors_give_the_matrix(dtype, shape) -> None:
    """Of complex matrices cuSOLVER chooses other pivots than LAPACK, which compares the sums of both parts."""
    x = matrices(dtype, *shape)
    factors, pivots, permutation = map(np.asarray, jit(ops.lu)(x))
    rank = min(shape[-2:])
    lower = np.tril(factors[..., :rank], -1) + np.eye(shape[-2], rank, dtype=dtype)
    assert_close(lower @ np.triu(factors[..., :rank, :]), np.take_along_axis(x, permutation[..., None], -2))
    assert np.array_equal(permutation, ops.lu_pivots_to_permutation(pivots, shape[-2]))
    if np.dtype(dtype).kind == "f" and max(shape) < 10:
        assert_close(factors, ops.lu(x)[0])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("conjugate", [False, True])
@pytest.mark.parametrize("transpose", [False, True])
def test_systems_agree_with_lapack(dtype, transpose: bool, conjugate: bool) -> None:
    a, b = matrices(dtype, 2, 5, 5), matrices(dtype, 2, 5, 3)

    def solve(a, b):
        return ops.solve_p.bind(a, b, transpose_a=transpose, conjugate_a=conjugate)

    assert_close(jit(solve)(a, b), solve(a, b))
    large, right = matrices(dtype, 200, 200), matrices(dtype, 200, 3)
    found = np.asarray(jit(solve)(large, right))
    operator = np.swapaxes(large, -1, -2) if transpose else large
    assert_close((np.conj(operator) if conjugate else operator) @ found / 30, right / 30)
    a = a + 4 * np.eye(5, dtype=dtype)
    for left in (False, True):
        for lower in (False, True):
            for unit in (False, True):

                def triangular(a, b, left=left, lower=lower, unit=unit):
                    return ops.triangular_solve(
                        a, b, left_side=left, lower=lower, transpose_a=transpose, conjugate_a=conjugate,
                        unit_diagonal=unit,
                    )  # fmt: skip

                right = b if left else np.swapaxes(b, -1, -2).copy()
                scaled = 0.1 * a if unit else a
                assert_close(jit(triangular)(scaled, right), triangular(scaled, right))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("shape", [(3, 7, 4), (4, 7), (2, 50, 40), (40, 50)])
def test_qr_and_svd_factors_give_the_matrix(dtype, full: bool, shape) -> None:
    x = matrices(dtype, *shape)
    q, r = map(np.asarray, jit(lambda x: ops.qr(x, full_matrices=full))(x))
    assert_close(q @ r, x)
    assert_close(np.abs(r), np.abs(ops.qr(x, full_matrices=full)[1]))
    u, s, vh = map(np.asarray, jit(lambda x: ops.svd(x, full_matrices=full))(x))
    expected = ops.svd(x, full_matrices=full)
    assert (u.shape, vh.shape) == (expected[0].shape, expected[2].shape)
    assert_close(s, expected[1])
    rank = s.shape[-1]
    assert_close((u[..., :rank] * s[..., None, :]) @ vh[..., :rank, :], x)
    assert_close(adjoint(u) @ u, np.broadcast_to(np.eye(u.shape[-1], dtype=dtype), (*u.shape[:-2], *[u.shape[-1]] * 2)))
    assert_close(jit(lambda x: ops.svd(x, compute_uv=False))(x), expected[1])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lower", [False, True])
def test_eigenvectors_agree_with_lapack(dtype, lower: bool) -> None:
    x = matrices(dtype, 2, 5, 5)
    w, left, right = map(np.asarray, jit(ops.eig)(x))
    for found, expected in zip((w, left, right), ops.eig(x), strict=True):
        assert_close(found, expected)
    x = x + adjoint(x)
    v, w = map(np.asarray, jit(lambda x: ops.eigh(x, lower=lower, symmetrize_input=False))(x))
    assert_close(w, ops.eigh(x)[1])
    assert_close(x @ v, v * w[..., None, :])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fft_agrees_with_numpy(dtype) -> None:
    x = matrices(dtype, 3, 8, 6)
    forward = jit(lambda x: ops.fft(x, "RFFT", (8, 6)))(x)
    assert_close(forward, ops.fft(x, "RFFT", (8, 6)))
    assert_close(jit(lambda x: ops.fft(x, "IRFFT", (8, 6)))(forward), x)
    z = x.astype(np.result_type(dtype, np.complex64))
    assert_close(jit(lambda x: ops.fft(x, "IFFT", (6,)))(z), ops.fft(z, "IFFT", (6,)))


def test_jax_is_not_imported() -> None:
    assert "jax" not in sys.modules


@pytest.mark.parametrize("first", ["lawful", "jax"])
def test_jax_in_the_same_process_keeps_its_devices(run_python, first: str) -> None:
    pytest.importorskip("jax", reason="a process with both")
    ours = "from lawful.staging import jit\nassert jit(lambda x: x + 1)(1.0).device.platform == 'gpu'\n"
    theirs = "import jax\nassert jax.numpy.ones(2).device.platform == 'gpu'\n"
    done = run_python((ours + theirs if first == "lawful" else theirs + ours) + "print('both')")
    assert (done.stdout, done.returncode) == ("both\n", 0), done.stderr
