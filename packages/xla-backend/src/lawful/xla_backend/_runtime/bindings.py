"""The imports of jaxlib and the calls into it: a new version affects this file, and those that it lists below.

`executables` compiles and runs programs, `partitions` is about arrays on several devices, `distributed` about several
processes, `lapack` and `cuda` load kernels and a plugin.

The rest of the backend sees clients, devices, buffers and executables as opaque objects, and MLIR as the
modules ``ir``, ``stablehlo`` and ``func``, which are re-exported here, and ``chlo()``.

>>> from lawful.xla_backend._runtime.clients import devices
>>> buffer = put(np.arange(3.0), devices()[0], ShapedArray((3,), "float64"))
>>> view(buffer)
array([0., 1., 2.])

Facts about jaxlib's private API, valid for 0.11.2 to 0.12.0.1:

- ``jaxlib.xla_client`` has names for most of what is used here, and takes 4 ms to import; it is not needed.
- A buffer is dropped, never deleted: ``delete`` aborts the process if dlpack has lent out the memory.
- ``_single_device_array_to_np_array_did_copy`` and dlpack imports try to import jax at each call; the
  functions called here do not.
"""

from __future__ import annotations

import gc
import math
import os
from collections.abc import Callable
from functools import cache
from io import BytesIO
from typing import Any, cast

import numpy as np

# XLA reads this when it is loaded: no log lines at start; errors are still logged.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")

from lawful.core import ShapedArray, no_collections

with no_collections():
    from jaxlib import _hlo, _jax
    from jaxlib.mlir import ir
    from jaxlib.mlir._mlir_libs import _chlo, _jax_mlir_ext
    from jaxlib.mlir.dialects import func, stablehlo
    from jaxlib.version import __version__ as jaxlib_version

from lawful.xla_backend._errors import DeletedArrayError, XlaError
from lawful.xla_backend._runtime import fork
from lawful.xla_backend._runtime.handles import Buffer, Device

__all__ = ["func", "ir", "jaxlib_version", "stablehlo"]

# Each result would otherwise hold a traceback of 60 bytes, which only an explicit collection frees.
_jax.set_tracebacks_enabled(False)


def _collect_garbage(phase: str, _: object) -> None:
    """Frees arrays that jaxlib has finished reading; by itself it frees them only at its next call."""
    if phase == "stop":
        _jax.collect_garbage()


gc.callbacks.append(_collect_garbage)

#: jaxlib's exception for a failure of the compiler or the runtime.
RuntimeFailure = cast(type[Exception], _jax.JaxRuntimeError)
#: The exception of the MLIR bindings for an ill-formed operation or module.
MLIRError = cast(type[Exception], ir.MLIRError)


# Clients and devices


def make_cpu_client(num_devices: int) -> Any:
    """Returns a new client of the CPU, which counts as so many devices."""
    return _jax.get_tfrt_cpu_client(asynchronous=True, num_devices=num_devices)


#: jaxlib's names of platforms that are called otherwise here.
PLATFORM_NAMES = {"gpu": "cuda"}


def platform_of(device: Device) -> str:
    """Returns the name of a device's platform, ``"cpu"`` or ``"cuda"``."""
    return PLATFORM_NAMES.get(device.platform, device.platform)


#: The type of devices.
DeviceType = cast(type, _jax.Device)


def is_device(x: object) -> bool:
    """Whether ``x`` is a device."""
    return isinstance(x, DeviceType)


@cache
def single_device_list(device: Device) -> Any:
    """Returns the runtime's list of one device."""
    return _jax.DeviceList((device,))


@cache
def single_device_sharding(device: Device) -> Any:
    """Returns the runtime's sharding of arrays on one device."""
    return _jax.GSPMDSharding(single_device_list(device), _hlo.HloSharding.replicate())


# Buffers

_COPIED_DURING_CALL = _jax.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL


def put(x: np.ndarray[Any, Any], device: Device, aval: ShapedArray) -> Buffer:
    """Returns a buffer with a copy of ``x``, which may be changed as soon as this returns.

    jaxlib's default, no copy for aligned arrays, would let such a change show in the buffer, sometimes.

    Args:
      x: the array, strided in any way, in either byte order.
      device: where to put it.
      aval: its shape and dtype.

    Raises:
      XlaError: there is too little memory.
    """
    if fork.is_forked:
        fork.refuse()
    assert x.shape == aval.shape, "the runtime does not check"
    if x.dtype != aval.dtype:
        x = x.astype(aval.dtype)
    try:
        return cast(
            Buffer,
            _jax.batched_device_put(
                aval,
                single_device_sharding(device),
                [x],
                [device],
                True,
                host_buffer_semantics=_COPIED_DURING_CALL,
                enable_x64=True,
            ),
        )
    except RuntimeFailure as error:
        raise XlaError(f"device_put: expected {device} to take {aval}, got the runtime's error {error}") from error


# The alignment in bytes of memory that the runtime uses in place.
_ALIGNMENT = 64


def aligned(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Returns a new array, not initialized, with memory that the runtime can use in place."""
    size = math.prod(shape) * dtype.itemsize
    memory = np.empty(size + _ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % _ALIGNMENT
    return memory[start : start + size].view(dtype).reshape(shape)


def shared_memory(aval: ShapedArray, device: Device) -> tuple[np.ndarray[Any, Any] | None, Buffer | None]:
    """Returns an array, and a buffer with its memory; None for the array if the device has memory of its own.

    Nothing is to be written while a program may read it.
    """
    if platform_of(device) != "cpu":
        return None, None
    values = aligned(aval.shape, aval.dtype)
    buffer = _jax.batched_device_put(aval, single_device_sharding(device), [values], [device], True, enable_x64=True)
    is_shared = aval.size > 0 and view(buffer).ctypes.data == values.ctypes.data
    return values if is_shared else None, buffer


# Where this process is one of several: waits for a buffer, and explains the runtime's errors.
_wait: Callable[[Any], None] | None = None
_explained: Callable[[Exception], Exception] | None = None


def set_processes(wait: Callable[[Any], None], explained: Callable[[Exception], Exception]) -> None:
    """Sets what waits for the results of programs over several processes, and what explains their errors."""
    global _wait, _explained
    _wait, _explained = wait, explained


def wait(buffer: Any) -> None:
    """Waits until a buffer is computed.

    Raises:
      XlaError: the program failed.
    """
    if _wait is not None:
        _wait(buffer)
    try:
        buffer.block_until_ready()
    except RuntimeFailure as error:
        raise _no_value(error) from error


def view(buffer: Any) -> np.ndarray[Any, Any]:
    """Returns the values of a buffer, read-only, without a copy on the CPU; waits until they are computed.

    The view keeps the memory alive. A buffer with a view is copied when it is donated: the view never changes.
    """
    if _wait is not None:
        _wait(buffer)
    try:
        return cast("np.ndarray[Any, Any]", buffer._to_np_array_did_copy()[0])
    except RuntimeFailure as error:
        raise _no_value(error) from error


def _no_value(error: Exception) -> Exception:
    if "deleted" in str(error):
        return DeletedArrayError(
            "array: expected an array that is still there, got a shard of one that was donated; keep x.copy()"
        )
    if _explained is not None and (explained := _explained(error)) is not error:
        return explained
    return XlaError(f"array: expected a computed value, got the runtime's error {error}")


def copy_buffer(buffer: Buffer, device: Device) -> Buffer:
    """Returns a copy of a buffer on a device, which may be the one that it is on."""
    if fork.is_forked:
        fork.refuse()
    [copied] = _jax.batched_copy_array_to_devices_with_sharding(
        [buffer], [single_device_list(device)], [single_device_sharding(device)], [_jax.ArrayCopySemantics.ALWAYS_COPY]
    )
    return cast(Buffer, copied)


# jaxlib 0.11 makes only capsules of dlpack's first version, which every consumer must accept.
_DLPACK_VERSIONED = "max_version" in (_jax.buffer_to_dlpack_managed_tensor.__doc__ or "")


def export_dlpack(
    buffer: Buffer, *, stream: int | None = None, max_version: tuple[int, int] | None = None, copied: bool = False
) -> Any:
    """Returns a dlpack capsule of a buffer's memory, without a copy."""
    if _DLPACK_VERSIONED:
        return _jax.buffer_to_dlpack_managed_tensor(buffer, stream=stream, max_version=max_version, copied=copied)
    return _jax.buffer_to_dlpack_managed_tensor(buffer, stream=stream)


def import_dlpack(capsule: Any, device: Device) -> Buffer:
    """Returns a buffer with a copy of the tensor in a dlpack capsule, which has to be compact."""
    return copy_buffer(_jax.dlpack_managed_tensor_to_buffer(capsule, device, None), device)


# MLIR

_dialects = ir.DialectRegistry()
_jax_mlir_ext.register_dialects(_dialects)


def new_context() -> Any:
    """Returns a fresh MLIR context with the dialects of StableHLO, at 0.15 ms.

    Every module has a context of its own: nothing is shared between threads, and the types and constants that
    a context keeps for its lifetime go with the module.
    """
    context = ir.Context(load_on_create_dialects=[])
    context.enable_multithreading(False)
    context.append_dialect_registry(_dialects)
    _ = context.dialects["func"]  # the lookup loads the dialect
    stablehlo.register_dialect(context)
    _chlo.register_dialect(context)
    return context


@cache
def chlo() -> Any:
    """Returns the CHLO dialect; its import takes 5 ms, and few programs need it."""
    from jaxlib.mlir.dialects import chlo

    return chlo


@cache
def sdy() -> Any:
    """Returns Shardy's dialect, of programs on several devices; its import takes 30 ms.

    A context knows it after ``sdy().register_dialect(context)``.
    """
    from jaxlib.mlir.dialects import sdy

    return sdy


def bytecode(module: Any) -> bytes:
    """Returns a module as MLIR's bytecode, the same for the same module in every process."""
    written = BytesIO()
    module.operation.write_bytecode(written)
    return written.getvalue()


def computation(module: Any) -> Any:
    """Returns a module of StableHLO as a computation of HLO."""
    return _jax.mlir.mlir_module_to_xla_computation(bytecode(module), use_tuple_args=False)
