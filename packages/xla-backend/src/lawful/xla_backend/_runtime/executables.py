"""The calls into jaxlib for compiled programs, on one device or in partitions on several.

Facts about jaxlib's private API, valid for 0.11.2 to 0.12.0.1:

- An executable and a handler of results check byte sizes only, not shapes and dtypes: callers compare avals.
- In jaxlib 0.11, 32 running programs whose partitions wait for each other wait forever.
- Two threads that start programs in partitions at the same time may both find that no other such program runs. The
  partitions of both share the runtime's threads then, and may wait for each other forever.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, cast

import numpy as np

from lawful.core import ShapedArray, no_collections

with no_collections():
    from jaxlib import _jax

from lawful.xla_backend._errors import XlaError
from lawful.xla_backend._runtime import fork, partitions
from lawful.xla_backend._runtime.bindings import (
    RuntimeFailure,
    jaxlib_version,
    platform_of,
    single_device_list,
    single_device_sharding,
)
from lawful.xla_backend._runtime.handles import Device, MemoryAnalysis, Options, Target

# How many programs of several partitions may run at a time in jaxlib 0.11, which has room for 32 programs.
_MAX_RUNNING: Final = 16
_running: Final[deque[Any]] = deque()
# One thread at a time starts a program in several partitions.
_starting: Final = threading.Lock()
#: Whether it is jaxlib 0.11.
is_limited: Final = tuple(map(int, jaxlib_version.split(".")[:2])) < (0, 12)


def _in_order(loaded: Any) -> Callable[..., Any]:
    """Returns the call of a program of several partitions, which one thread at a time starts."""

    def execute(buffers: list[Any], with_tokens: bool = False) -> Any:
        with _starting:
            return loaded.execute_sharded(buffers, with_tokens=with_tokens)

    return execute


def _limited(loaded: Any) -> Callable[..., Any]:
    """Returns a call like `_in_order`, which waits while too many programs of several partitions run."""
    in_order = _in_order(loaded)

    def execute(buffers: list[Any], with_tokens: bool = False) -> Any:
        started = in_order(buffers, with_tokens=True)
        if with_tokens:  # the caller waits for its end
            return started
        _running.append(started.consume_token())
        if len(_running) > _MAX_RUNNING:
            _running.popleft().block_until_ready()
        return started

    return execute


class Executable:
    """A compiled program, loaded on one device, or in partitions on several.

    Attributes:
      target: the device, or the devices of its partitions.
      execute: starts the program: ``execute(buffers).consume_with_handlers(handlers)`` is what ``run`` does.
      handlers: they make buffers of its results.
      assignments: which device has which part of each result; none where there is one device.
    """

    __slots__ = ("__weakref__", "_loaded", "assignments", "execute", "handlers", "target")

    def __init__(self, loaded: Any, target: Target, out_avals: Sequence[ShapedArray]) -> None:
        self._loaded = loaded
        self.execute = loaded.execute_sharded
        self.assignments: list[partitions.Assignment] = []
        if isinstance(target, tuple):
            self.assignments = partitions.result_assignments(loaded, out_avals, len(target))
            shardings = [partitions.runtime_sharding(target, assignment) for assignment in self.assignments]
            if len(target) > 1:
                self.execute = _limited(loaded) if is_limited else _in_order(loaded)
        else:
            shardings = [single_device_sharding(target)] * len(out_avals)
        self.handlers = [
            _jax.array_result_handler(aval, sharding, True) for aval, sharding in zip(out_avals, shardings, strict=True)
        ]
        self.target = target
        fork.register_executable(self)

    def run(self, buffers: list[Any]) -> list[Any]:
        """Starts the program and returns its results, which may not be computed yet.

        The arguments must have the shapes and dtypes that were compiled for: only their sizes are checked here.
        """
        results: list[Any] = self.execute(buffers).consume_with_handlers(self.handlers)
        return results

    def run_to_end(self, buffers: list[Any]) -> list[Any]:
        """Runs the program, waits until it has ended, and returns its results; for programs with side effects.

        Raises:
          RuntimeFailure: the program fails.
        """
        started = self.execute(buffers, with_tokens=True)
        ended = started.consume_token()
        results: list[Any] = started.consume_with_handlers(self.handlers)
        ended.block_until_ready()
        return results

    def hlo_text(self) -> str:
        """Returns the program after optimization, as HLO text."""
        return cast(str, self._loaded.get_hlo_text())

    def cost_analysis(self) -> dict[str, float]:
        """Returns the compiler's counts of floating-point operations, bytes accessed and others, by name."""
        return dict(sorted(self._loaded.cost_analysis().items()))

    def memory_analysis(self) -> MemoryAnalysis:
        """Returns the bytes of arguments, results, temporaries and code."""
        stats = self._loaded.get_compiled_memory_stats()
        return MemoryAnalysis(*[getattr(stats, name) for name in MemoryAnalysis._fields])

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


#: The target of a custom call of a Python function, by platform. Its operands are arrays made for the call.
CALLBACK_TARGETS = {"cpu": "xla_ffi_python_cpu_callback", "cuda": "xla_ffi_python_gpu_callback"}


_platform_options: dict[str, Options] = {}


def set_platform_options(platform: str, options: Options) -> None:
    """Sets XLA's flags for all programs of a platform."""
    _platform_options[platform] = options


def first_device(target: Target) -> Device:
    """Returns the device, or the first one of several, that a program runs on."""
    return target[0] if isinstance(target, tuple) else target


def _device_list(target: Target) -> Any:
    return partitions.device_list(target) if isinstance(target, tuple) else single_device_list(target)


def _compile_options(target: Target, options: Options) -> Any:
    compile_options = _jax.CompileOptions()
    devices = target if isinstance(target, tuple) else (target,)
    assignment = _jax.DeviceAssignment.create(np.array([[device.id for device in devices]], np.int32))
    compile_options.num_replicas = 1
    compile_options.num_partitions = len(devices)
    compile_options.device_assignment = assignment
    if isinstance(target, tuple):
        build_options = compile_options.executable_build_options
        build_options.num_replicas = 1
        build_options.num_partitions = len(devices)
        build_options.device_assignment = assignment
        build_options.use_spmd_partitioning = build_options.use_shardy_partitioner = True
        # Results are split as the compiler finds best, unless the program says how.
        build_options.allow_spmd_sharding_propagation_to_output = [True]
    options = {**_platform_options.get(platform_of(devices[0]), {}), **options}
    if options:
        compile_options.env_option_overrides = list(options.items())
    return compile_options


def compile_module(
    module: Any,
    target: Target,
    options: Options,
    functions: Sequence[Callable[..., tuple[Any, ...]]] = (),
) -> Any:
    """Compiles an MLIR module, which has been verified; returns what `Executable` wraps.

    Args:
      module: an ``ir.Module`` with a public function ``main``; with shardings if it is for several devices.
      target: where it will run.
      options: XLA's own flags, as ``{"xla_backend_optimization_level": 0}``.
      functions: those that the program calls by ``CALLBACK_TARGETS``, by number. The runtime does not check their
        results.

    Raises:
      XlaError: the compiler refuses the program or the options.
    """
    try:
        return first_device(target).client.compile_and_load(
            module, _device_list(target), _compile_options(target, options), list(functions)
        )
    except RuntimeFailure as error:
        raise XlaError(f"compile: expected a program that XLA compiles, got the compiler's error {error}") from error


def load_serialized(serialized: bytes, target: Target, options: Options) -> Any:
    """Loads the bytes of `Executable.serialize`; returns what `Executable` wraps. Its kernels must be registered.

    Raises:
      XlaError: the bytes are damaged.
    """
    try:
        client = first_device(target).client
        return client.deserialize_executable(serialized, _device_list(target), _compile_options(target, options))
    except RuntimeFailure as error:
        raise XlaError(
            f"deserialize: expected a compiled program, got damaged bytes ({error}); compile again"
        ) from error


def options_fingerprint(target: Target, options: Options) -> bytes:
    """Returns bytes that differ when two programs of the same text would be compiled differently."""
    serialized = cast(bytes, _compile_options(target, options).SerializeAsString())
    return serialized + str(jaxlib_version).encode()


@cache
def machine_fingerprint(device: Device) -> bytes:
    """Returns bytes that differ when a program is compiled differently for another machine.

    They encode the processor's instructions and the number of processors.
    """
    topology = cast(bytes, _jax.get_topology_for_devices([device]).serialize())
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return topology + f" {processors}".encode()
