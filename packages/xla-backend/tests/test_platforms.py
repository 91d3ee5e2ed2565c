"""Platforms: which is the default, which are there, and what is built for NVIDIA's devices; no device is needed."""

import numpy as np
import pytest

from lawful import ops
from lawful.core import ArgumentTypeError
from lawful.staging import MissingBackendError, jit, make_jaxpr
from lawful.xla_backend import PluginWarning, devices
from lawful.xla_backend._lowering.module import lower
from lawful.xla_backend._runtime import bindings, cuda

without_cuda = pytest.mark.skipif(cuda.why_absent() is None, reason="there is a device of NVIDIA's")


def text_for_cuda(function, *args) -> str:
    closed = make_jaxpr(function)(*args)
    return str(lower(closed, name="f", platform="cuda").module)


@without_cuda
@pytest.mark.parametrize("name", ["cuda", "gpu"])
def test_devices_of_cuda_say_what_to_install(name: str) -> None:
    with pytest.raises(MissingBackendError, match=f"got '{name}'; install jax-cuda13-plugin and jax-cuda13-pjrt"):
        devices(name)
    with pytest.raises(MissingBackendError, match="install jax-cuda13-plugin"):
        jit(lambda x: x + 1, backend=name)(1.0)


def test_backend_of_a_platform_is_xla_there() -> None:
    result = jit(lambda x: np.sin(x), backend="cpu")(np.ones(3))
    assert result.device is devices("cpu")[0]
    assert np.array_equal(result, np.sin(np.ones(3)))


def test_backend_of_a_platform_is_found_by_name(run_python) -> None:
    script = 'from lawful.staging import jit; print(jit(lambda x: x + 1, backend="cpu")(1.0).device.platform)'
    assert run_python(script).stdout == "cpu\n"


@pytest.mark.parametrize(("value", "text"), [("tpu", "got 'tpu'"), ("CPU", "got 'CPU'")])
def test_platform_variable_with_an_unknown_name(run_python, value: str, text: str) -> None:
    done = run_python("import lawful.xla_backend as x; x.default_backend()", LAWFUL_PLATFORM=value)
    assert f"LAWFUL_PLATFORM: expected 'cpu' or 'cuda', {text}; choose one of those" in done.stderr


def test_platform_variable_asks_for_the_cpu_alone(run_python) -> None:
    script = "import lawful.xla_backend as x; print(x.default_backend()); x.devices('cuda')"
    done = run_python(script, LAWFUL_PLATFORM="cpu")
    assert done.stdout == "cpu\n"
    assert "unset LAWFUL_PLATFORM, which asks for the CPU alone" in done.stderr


@without_cuda
def test_plugin_for_another_jaxlib_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "_installed", lambda: "cuda13")
    monkeypatch.setattr(cuda, "_count_devices", lambda: 1)
    monkeypatch.setattr("importlib.metadata.version", lambda name: "0.1.0")
    expected = f"install jax-cuda13-plugin {bindings.jaxlib_version}, as jaxlib is; got 0.1.0"
    with pytest.warns(PluginWarning, match=expected):
        assert cuda.why_absent.__wrapped__() == expected


@without_cuda
def test_plugin_without_a_device_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "_installed", lambda: "cuda12")
    monkeypatch.setattr(cuda, "_count_devices", lambda: 0)
    assert cuda.why_absent.__wrapped__() == "NVIDIA's driver shows no device"


# Programs for CUDA


@pytest.mark.parametrize(
    ("function", "targets"),
    [
        (ops.cholesky, ["cusolver_potrf_ffi"]),
        (ops.lu, ["cusolver_getrf_ffi", "cu_lu_pivots_to_permutation"]),
        (ops.qr, ["cusolver_geqrf_ffi", "cusolver_orgqr_ffi"]),
        (ops.eigh, ["cusolver_syevd_ffi"]),
        (ops.svd, ["cusolver_gesvdj_ffi"]),
        (ops.eig, ["cuhybrid_eig_real"]),
        (lambda x: ops.eig(x + 1j), ["cuhybrid_eig_comp"]),
        (lambda x: ops.solve(x, x), ["cusolver_getrf_ffi", "stablehlo.triangular_solve"]),
        (lambda x: ops.solve_by_factors(*ops.lu(x)[::2], x), ["cusolver_getrf_ffi", "stablehlo.triangular_solve"]),
        (lambda x: ops.triangular_solve(x, x), ["stablehlo.triangular_solve"]),
    ],
)
def test_cuda_linear_algebra_calls_the_vendor(function, targets) -> None:
    text = text_for_cuda(function, np.eye(3))
    assert all(target in text for target in targets)
    assert "lapack" not in text


@pytest.mark.parametrize(("precision", "expected"), [(None, "HIGHEST"), ("default", "DEFAULT"), ("high", "HIGH")])
def test_cuda_products_are_exact_unless_told(precision: str | None, expected: str) -> None:
    x = np.ones((2, 2), np.float32)
    text = text_for_cuda(lambda x: ops.dot_general(x, x, (((1,), (0,)), ((), ())), precision=precision), x)
    assert f"precision = [{expected}, {expected}]" in text


@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool"])
def test_cuda_integer_convolution_is_refused_when_lowered(dtype: str) -> None:
    x = np.ones((1, 1, 6), dtype)
    with pytest.raises(ArgumentTypeError, match=f"expected floats on cuda, got {dtype}") as caught:
        text_for_cuda(lambda x: ops.conv_general_dilated(x, x[:, :, :2], (1,), "VALID"), x)
    assert __file__ in str(caught.value)


def test_cuda_densities_choose_no_branch() -> None:
    """A device would wait for the host, which chooses."""
    text = text_for_cuda(lambda x: ops.random_gamma_grad(x, x), np.ones(3))
    assert "stablehlo.case" not in text


def test_cuda_unique_scatter_is_one_operation() -> None:
    def write(x, unique):
        return ops.scatter(x, np.array([[0], [2]]), np.ones(2), ((), (0,), (0,), (), ()), unique_indices=unique)

    repeated, unique = (text_for_cuda(lambda x, u=u: write(x, u), np.zeros(4)) for u in (False, True))
    assert "stablehlo.maximum" in repeated
    assert "stablehlo.maximum" not in unique
