"""NVIDIA's devices, through the plugin that JAX's wheels hold; jax itself is not imported.

The plugin is two distributions, ``jax-cuda13-plugin`` and ``jax-cuda13-pjrt`` (or ``cuda12``). Their versions must be
jaxlib's own: the kernels of linear algebra pass C++ objects to it. ``import jax_plugins.xla_cuda13`` would import jax,
so its library is found and loaded by path.
"""

from __future__ import annotations

import ctypes
import importlib
import warnings
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lawful.xla_backend._errors import PluginWarning, XlaError
from lawful.xla_backend._runtime import bindings, executables
from lawful.xla_backend._runtime.bindings import jaxlib_version
from lawful.xla_backend._runtime.handles import Options

_NAMES = ("cuda13", "cuda12")
# A name of our own in jaxlib's registry: jax, in the same process, registers the same library as "cuda".
_REGISTERED = "lawful_cuda"
# The name by which jaxlib looks for the library that loads a stored program.
_LOADER = "cuda"

# NVIDIA's libraries, those that others need first. Wheels put them where the dynamic loader does not look.
_LIBRARIES = (
    "cudart", "nvrtc", "cublasLt", "cublas", "nccl", "cupti", "nvJitLink", "cusparse", "cusolver", "cufft",
    "nvshmem_host", "cudnn",
)  # fmt: skip


def _installed() -> str | None:
    """Returns the name of the installed plugin."""
    for name in _NAMES:
        with suppress(ModuleNotFoundError):  # of `jax_plugins`, if no plugin is installed
            if find_spec(f"jax_plugins.xla_{name}") and find_spec(f"jax_{name}_plugin"):
                return name
    return None


def _count_devices() -> int:
    """Returns how many devices NVIDIA's driver shows, which respects ``CUDA_VISIBLE_DEVICES``."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int()
    failed = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    return 0 if failed else count.value


@cache
def why_absent() -> str | None:
    """Returns why there is no CUDA here, with what to do; None if there is.

    Warns:
      PluginWarning: there is a device, and the plugin is for another jaxlib.
    """
    name = _installed()
    if name is None:
        return f"install jax-cuda13-plugin and jax-cuda13-pjrt, both {jaxlib_version}, for NVIDIA's devices"
    if not _count_devices():
        return "NVIDIA's driver shows no device"
    from importlib.metadata import PackageNotFoundError, version  # imported late: it takes 20 ms

    for distribution in (f"jax-{name}-plugin", f"jax-{name}-pjrt"):
        try:
            found = version(distribution)
        except PackageNotFoundError:
            found = "none"
        if found != jaxlib_version:
            reason = f"install {distribution} {jaxlib_version}, as jaxlib is; got {found}"
            warnings.warn(f"cuda: expected a plugin for this jaxlib; {reason}", PluginWarning, stacklevel=2)
            return reason
    return None


def _folders(package: str) -> list[Path]:
    """Returns the folders of an installed package; it is not imported."""
    spec = find_spec(package)
    return [] if spec is None else [Path(path) for path in spec.submodule_search_locations or ()]


def _load_libraries() -> None:
    for library in _LIBRARIES:
        for folder in _folders("nvidia"):
            for path in sorted(folder.glob(f"*/lib/lib{library}.so.*")):
                # One that cannot be loaded may be one that is not needed; the plugin reports those that are.
                with suppress(OSError):
                    ctypes.CDLL(str(path))


def options() -> Options:
    """Returns XLA's flags for NVIDIA's devices: the folder with their compiler, if it was installed as a wheel."""
    for folder in _folders("nvidia"):
        for name in ("cu13", "cuda_nvcc"):
            if (folder / name / "nvvm").exists():
                return {"xla_gpu_cuda_data_dir": str(folder / name)}
    return {}


def make_client() -> Any:
    """Returns a new client of NVIDIA's devices.

    How much memory it takes at once is set by the same variables as for jax, ``XLA_PYTHON_CLIENT_PREALLOCATE`` and
    ``XLA_PYTHON_CLIENT_MEM_FRACTION``.

    Raises:
      XlaError: the plugin cannot use a device.
    """
    name = _installed()
    assert name is not None, "the caller asks `why_absent`"
    _load_libraries()
    from jaxlib import gpu_linalg, gpu_solver, xla_client  # imported late: their kernels need NVIDIA's libraries

    (folder,) = _folders(f"jax_plugins.xla_{name}")
    try:
        c_api = xla_client.load_pjrt_plugin_dynamically(_REGISTERED, str(folder / "xla_cuda_plugin.so"))
        extension = importlib.import_module(f"jax_{name}_plugin.cuda_plugin_extension")
        for type_name, type_id in extension.ffi_types().items():
            extension.register_custom_type(c_api, type_name, type_id)
        kernels = [(target, function, 1) for target, function in extension.ffi_handlers().items()]
        for module in (gpu_solver, gpu_linalg):
            kernels += module.registrations()["CUDA"]
        for target, function, api_version in kernels:
            extension.register_custom_call_target(c_api, target, function, "CUDA", api_version, 0)
        xla_client.initialize_pjrt_plugin(_REGISTERED)
        executables.set_platform_options("cuda", options())
        return xla_client.make_c_api_client(_REGISTERED, xla_client.generate_pjrt_gpu_plugin_options(), None)
    except (bindings.RuntimeFailure, ImportError) as error:
        raise XlaError(
            f"cuda: expected a device that the plugin can use, got its error {error}; set LAWFUL_PLATFORM=cpu to do "
            "without"
        ) from error


def prepare_loading() -> None:
    """Lets jaxlib load stored programs.

    If jax is imported afterwards, it finds its name taken and uses the CPU: import it before.
    """
    from jaxlib import xla_client  # imported late, as in `make_client`

    if not xla_client.pjrt_plugin_loaded(_LOADER):
        (folder,) = _folders(f"jax_plugins.xla_{_installed()}")
        xla_client.load_pjrt_plugin_dynamically(_LOADER, str(folder / "xla_cuda_plugin.so"))
