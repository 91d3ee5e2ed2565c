"""Every import of jaxlib and every call into it: a new version of jaxlib touches this file only.

The rest of the backend sees clients, devices, buffers and executables as opaque objects, and MLIR as the
modules ``ir``, ``stablehlo`` and ``func``, which are handed on from here, and ``chlo()``.

>>> device = devices()[0]
>>> buffer = put(np.arange(3.0), device, ShapedArray((3,), "float64"))
>>> view(buffer)
array([0., 1., 2.])

What is known of jaxlib's private API, and holds for 0.11.2 to 0.12.0.1:

- ``jaxlib.xla_client`` has names for most of what is used here, and takes 4 ms to import; it is not needed.
- An executable and a handler of results check byte sizes only, not shapes and dtypes: callers compare avals.
- A buffer is let go, never deleted: ``delete`` aborts the process where dlpack has lent the memory out.
- ``_single_device_array_to_np_array_did_copy`` and dlpack imports try to import jax at each call; what is
  used here does not.
"""

from __future__ import annotations

import gc
import os
import threading
import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import nullcontext
from functools import cache
from io import BytesIO
from types import MappingProxyType
from typing import Any, NoReturn, Protocol, cast

import numpy as np

# Silences the lines that XLA logs as it starts; it reads this when it is loaded. Errors are still logged.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")

from lawful.core import ArgumentValueError, ShapedArray, no_collections

with no_collections():
    from jaxlib import _hlo, _jax
    from jaxlib.mlir import ir
    from jaxlib.mlir._mlir_libs import _chlo, _jax_mlir_ext
    from jaxlib.mlir.dialects import func, stablehlo
    from jaxlib.version import __version__ as jaxlib_version

from lawful.xla_backend._errors import ForkedProcessError, XlaError
from lawful.xla_backend._host_functions import CallbackFailure, HostFunctions, Turns

__all__ = ["func", "ir", "jaxlib_version", "stablehlo"]

# Each result would otherwise keep a traceback, 60 bytes that are only freed by a collection nobody calls.
_jax.set_tracebacks_enabled(False)


def _collect_garbage(phase: str, _: object) -> None:
    """Lets go of arrays that jaxlib read and is done with, which it does by itself at its next call only."""
    if phase == "stop":
        _jax.collect_garbage()


gc.callbacks.append(_collect_garbage)

#: What jaxlib raises when the compiler or the runtime fails.
RuntimeFailure = cast(type[Exception], _jax.JaxRuntimeError)
#: What the MLIR bindings raise when an operation or a module is not well formed.
MLIRError = cast(type[Exception], ir.MLIRError)


class Device(Hashable, Protocol):
    """A device that arrays live on, such as the CPU."""

    @property
    def id(self) -> int: ...
    @property
    def platform(self) -> str: ...
    @property
    def device_kind(self) -> str: ...
    @property
    def process_index(self) -> int: ...


class Buffer(Protocol):
    """The memory of an array on a device. Without jax it has no shape and no dtype."""

    def is_deleted(self) -> bool: ...
    def is_ready(self) -> bool: ...
    def block_until_ready(self) -> object: ...


# Clients and devices


def _make_cpu_client() -> Any:
    text = os.environ.get("LAWFUL_NUM_CPU_DEVICES", "1")
    if not text.isdecimal() or text == "0":
        raise ArgumentValueError(
            f"LAWFUL_NUM_CPU_DEVICES: expected a positive integer, got {text!r}; correct or unset it"
        )
    return _jax.get_tfrt_cpu_client(asynchronous=True, num_devices=int(text))


# How the client of a platform is made. A platform with a plugin (CUDA) adds a function here that finds the
# plugin's library, loads it with `xla_client.load_pjrt_plugin_dynamically` and calls `make_c_api_client`.
_client_makers: dict[str, Callable[[], Any]] = {"cpu": _make_cpu_client}
_clients: dict[str, Any] = {}
_lock = threading.Lock()
_forked = False


def platforms() -> tuple[str, ...]:
    """Returns the names of the platforms, the default one first."""
    return tuple(_client_makers)


def client(platform: str | None = None) -> Any:
    """Returns the one client of a platform, made at the first call.

    Raises:
      ArgumentValueError: there is no such platform.
      ForkedProcessError: this process was forked from one that had a client.
    """
    name = platforms()[0] if platform is None else platform
    found = _clients.get(name)
    if found is None or _forked:
        with _lock:
            if _forked:
                _refuse_forked()
            if name not in _client_makers:
                known = ", ".join(map(repr, _client_makers))
                raise ArgumentValueError(f"platform: expected one of {known}, got {name!r}; choose one of those")
            if name not in _clients:
                _clients[name] = _client_makers[name]()
            found = _clients[name]
    return found


@cache
def devices(platform: str | None = None) -> tuple[Device, ...]:
    """Returns the devices of a platform; the first is where arrays are put by default."""
    return tuple(client(platform).local_devices())


#: The type of devices.
DeviceType = cast(type, _jax.Device)


def is_device(x: object) -> bool:
    """Whether ``x`` is a device."""
    return isinstance(x, DeviceType)


@cache
def _device_list(device: Device) -> Any:
    return _jax.DeviceList((device,))


@cache
def _sharding(device: Device) -> Any:
    return _jax.GSPMDSharding(_device_list(device), _hlo.HloSharding.replicate())


def _refuse_forked(*_: object) -> NoReturn:
    raise ForkedProcessError(
        "XLA: expected a process that started afresh, got one forked after XLA was first used, where it would hang; "
        'start processes with multiprocessing.get_context("spawn")'
    )


def _after_fork() -> None:
    """Makes executables refuse to run in the child, at no cost to calls in the parent."""
    global _forked, _lock
    if _clients:
        _forked = True
        _lock = threading.Lock()
        for executable in list(_executables):
            executable.execute = _refuse_forked


os.register_at_fork(after_in_child=_after_fork)


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
    if _forked:
        _refuse_forked()
    assert x.shape == aval.shape, "the runtime does not check"
    if x.dtype != aval.dtype:
        x = x.astype(aval.dtype)
    try:
        return cast(
            Buffer,
            _jax.batched_device_put(
                aval,
                _sharding(device),
                [x],
                [device],
                True,
                host_buffer_semantics=_COPIED_DURING_CALL,
                enable_x64=True,
            ),
        )
    except RuntimeFailure as error:
        raise XlaError(f"device_put: expected {device} to take {aval}, got the runtime's error {error}") from error


# What the runtime wants of memory that it is to use in place.
_ALIGNMENT = 64


def shared_memory(aval: ShapedArray, device: Device) -> tuple[np.ndarray[Any, Any] | None, Buffer]:
    """Returns an array, and the buffer that holds whatever is written to it; None where the device takes a copy.

    Nothing is to be written while a program may read it.
    """
    size = aval.size * aval.dtype.itemsize
    memory = np.empty(size + _ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % _ALIGNMENT
    values = memory[start : start + size].view(aval.dtype).reshape(aval.shape)
    buffer = _jax.batched_device_put(aval, _sharding(device), [values], [device], True, enable_x64=True)
    is_shared = size > 0 and view(buffer).ctypes.data == values.ctypes.data
    return values if is_shared else None, buffer


def view(buffer: Any) -> np.ndarray[Any, Any]:
    """Returns the values of a buffer, read-only, without a copy on the CPU; waits until they are computed.

    The view keeps the memory alive. A buffer with a view is copied when it is donated: the view never changes.
    """
    try:
        return cast("np.ndarray[Any, Any]", buffer._to_np_array_did_copy()[0])
    except RuntimeFailure as error:
        raise XlaError(f"array: expected a computed value, got the runtime's error {error}") from error


def copy_buffer(buffer: Buffer, device: Device) -> Buffer:
    """Returns a copy of a buffer on a device, which may be the one that it is on."""
    if _forked:
        _refuse_forked()
    [copied] = _jax.batched_copy_array_to_devices_with_sharding(
        [buffer], [_device_list(device)], [_sharding(device)], [_jax.ArrayCopySemantics.ALWAYS_COPY]
    )
    return cast(Buffer, copied)


# 0.11 makes capsules of dlpack's first form only, which a consumer has to accept whatever it asked for.
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
    _ = context.dialects["func"]  # to look a dialect up loads it
    stablehlo.register_dialect(context)
    _chlo.register_dialect(context)
    return context


@cache
def chlo() -> Any:
    """Returns the CHLO dialect; its import takes 5 ms, and few programs need it."""
    from jaxlib.mlir.dialects import chlo

    return chlo


def bytecode(module: Any) -> bytes:
    """Returns a module as MLIR's bytecode, the same for the same module in every process."""
    written = BytesIO()
    module.operation.write_bytecode(written)
    return written.getvalue()


# LAPACK


@cache
def _register_lapack() -> None:
    """Lets programs call LAPACK. A call of it before ``initialize``, which loads SciPy's, ends the process."""
    from jaxlib import lapack
    from jaxlib.cpu import _lapack

    for platform, targets in lapack.registrations().items():
        for name, function, api_version in targets:
            _jax.register_custom_call_target(name, function, platform, api_version)
    _lapack.initialize()


def lapack_target(routine: str, dtype: np.dtype[Any]) -> str:
    """Returns the name by which a program on the CPU calls a routine of LAPACK, ``"potrf"``, for a dtype."""
    from jaxlib import lapack

    _register_lapack()
    return cast(str, lapack.build_lapack_fn_target(f"{routine}_ffi", dtype))


# Executables

Options = Mapping[str, str | bool | int | float]


class Executable:
    """A compiled program, loaded on one device.

    Attributes:
      device: the device.
      execute: starts the program: ``execute(buffers).consume_with_handlers(handlers)`` is what ``run`` does.
      handlers: they make buffers of its results.
    """

    __slots__ = ("__weakref__", "_loaded", "device", "execute", "handlers")

    def __init__(self, loaded: Any, device: Device, out_avals: Sequence[ShapedArray]) -> None:
        self._loaded = loaded
        self.execute = loaded.execute_sharded
        self.handlers = [_jax.array_result_handler(aval, _sharding(device), True) for aval in out_avals]
        self.device = device
        _executables.add(self)

    def run(self, buffers: list[Any]) -> list[Any]:
        """Starts the program and returns its results, which may still be being computed.

        The arguments must have the shapes and dtypes that were compiled for: only their sizes are checked here.
        """
        results: list[Any] = self.execute(buffers).consume_with_handlers(self.handlers)
        return results

    def hlo_text(self) -> str:
        """Returns the program after optimization, as HLO text."""
        return cast(str, self._loaded.get_hlo_text())

    def cost_analysis(self) -> dict[str, float]:
        """Returns the compiler's counts of floating-point operations, bytes accessed and others, by name."""
        return dict(sorted(self._loaded.cost_analysis().items()))

    def memory_analysis(self) -> dict[str, int]:
        """Returns the bytes of arguments, results, temporaries and code, by name."""
        stats = self._loaded.get_compiled_memory_stats()
        names = ("argument", "output", "alias", "temp", "generated_code")
        return {f"{name}_size_in_bytes": getattr(stats, f"{name}_size_in_bytes") for name in names}

    def serialize(self) -> bytes:
        """Returns the compiled program as bytes, which :func:`deserialize` loads on the same kind of machine.

        Raises:
          XlaError: the platform cannot do it.
        """
        try:
            return cast(bytes, self._loaded.client.serialize_executable(self._loaded))
        except RuntimeFailure as error:
            raise XlaError(
                f"serialize: expected a program that can be stored, got the runtime's error {error}"
            ) from error


_executables: weakref.WeakSet[Executable] = weakref.WeakSet()


# Programs that call Python

#: The name by which a program calls one of the functions that it is compiled with. It gives them arrays of its own.
CALLBACK_TARGET = "xla_ffi_python_cpu_callback"


# Up to 0.11 no more programs than these run at a time.
_turns = Turns(32) if tuple(map(int, jaxlib_version.split(".")[:2])) < (0, 12) else None


class CallingExecutable(Executable):
    """A compiled program that calls Python functions: it has ended when ``run`` returns."""

    __slots__ = ("_functions",)

    def __init__(self, loaded: Any, device: Device, out_avals: Sequence[ShapedArray], functions: HostFunctions) -> None:
        super().__init__(loaded, device, out_avals)
        self._functions = functions

    def run(self, buffers: list[Any]) -> list[Any]:
        """Runs the program and returns its results.

        Raises:
          CallbackFailure: a function raised an exception.
        """
        if _forked:
            _refuse_forked()
        # With nothing to wait for it runs on this thread. The runtime has few threads of its own: were they all in
        # functions that wait for other programs, nothing would go on.
        for buffer in buffers:
            buffer.block_until_ready()
        with nullcontext() if _turns is None else _turns.one():
            try:
                started = self.execute(buffers, with_tokens=True)
                ended = started.consume_token()
                results = cast("list[Any]", started.consume_with_handlers(self.handlers))
                ended.block_until_ready()
            except RuntimeFailure as error:
                raised = self._functions.raised(error)
                if raised is None:
                    raise
                raise CallbackFailure(raised) from None
        return results

    def serialize(self) -> bytes:
        """Raises XlaError: the functions cannot be stored."""
        raise XlaError(
            "serialize: expected a program that calls no Python function, got one that does; compile it where it runs"
        )


def _compile_options(device: Device, options: Options) -> Any:
    compile_options = _jax.CompileOptions()
    compile_options.num_replicas = compile_options.num_partitions = 1
    compile_options.device_assignment = _jax.DeviceAssignment.create(np.array([[device.id]], np.int32))
    if options:
        compile_options.env_option_overrides = list(options.items())
    return compile_options


def compile_module(
    module: Any,
    device: Device,
    out_avals: Sequence[ShapedArray],
    options: Options,
    functions: Sequence[Callable[..., tuple[Any, ...]]] = (),
) -> Executable:
    """Compiles an MLIR module, which has been verified, for one device.

    Args:
      module: an ``ir.Module`` with a public function ``main``.
      device: where it will run.
      out_avals: the types of its results.
      options: XLA's own flags, as ``{"xla_backend_optimization_level": 0}``.
      functions: what the program calls by ``CALLBACK_TARGET``, by number. The runtime checks nothing that they return.

    Raises:
      XlaError: the compiler refuses the program or the options.
    """
    called = HostFunctions(functions)
    try:
        loaded = client(device.platform).compile_and_load(
            module, _device_list(device), _compile_options(device, options), called.entries()
        )
    except RuntimeFailure as error:
        raise XlaError(f"compile: expected a program that XLA compiles, got the compiler's error {error}") from error
    return CallingExecutable(loaded, device, out_avals, called) if functions else Executable(loaded, device, out_avals)


def options_fingerprint(device: Device, options: Options) -> bytes:
    """Returns bytes that differ when two programs of the same text would be compiled differently."""
    serialized = cast(bytes, _compile_options(device, options).SerializeAsString())
    return serialized + str(jaxlib_version).encode()


@cache
def machine_fingerprint(device: Device) -> bytes:
    """Returns bytes that differ when a program is compiled differently for another machine.

    They tell the instructions of the processor, and how many processors there are to share the work.
    """
    topology = cast(bytes, _jax.get_topology_for_devices([device]).serialize())
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return topology + f" {processors}".encode()


def deserialize(
    serialized: bytes, device: Device, out_avals: Sequence[ShapedArray], options: Options = MappingProxyType({})
) -> Executable:
    """Loads what :meth:`Executable.serialize` gave, by the same jaxlib on a machine with the same instructions.

    Args:
      serialized: the bytes. They are not checked enough to be of an unknown source: jaxlib may crash, or run anything.
      device: where it will run, the one that it was compiled for.
      out_avals: the types of its results.
      options: those that it was compiled with.

    Raises:
      XlaError: the bytes are damaged.
    """
    if b"lapack_" in serialized:
        _register_lapack()
    try:
        loaded = client(device.platform).deserialize_executable(
            serialized, _device_list(device), _compile_options(device, options)
        )
    except RuntimeFailure as error:
        raise XlaError(
            f"deserialize: expected a compiled program, got damaged bytes ({error}); compile again"
        ) from error
    return Executable(loaded, device, out_avals)
