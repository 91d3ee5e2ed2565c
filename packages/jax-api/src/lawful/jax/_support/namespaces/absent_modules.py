"""Why `lawful.jax` does not have a module of JAX."""

from __future__ import annotations

from typing import Final

_BUILT = "it is about how JAX is built"
_DEVICES = "it is about JAX's accelerators and their compilers"
_EXTEND = "of jax.extend, lawful has core, for primitives of one's own, linear_util and source_info_util"
_KERNELS = "kernels of one's own are not part of lawful; a primitive with a lowering rule has its own StableHLO"
_PROFILER = "use a profiler of Python, and cost and peak_memory of lawful.autodiff"
_PERSISTENT = "compiled programs outlive a process in the compilation cache: jax_compilation_cache_dir"
_REFERENCES = "mutable references are not part of lawful, whose arrays are immutable"

#: By name of JAX's module.
REASONS: Final = {
    "jax.collect_profile": _PROFILER,
    "jax.export": _PERSISTENT,
    "jax.ffi": "foreign functions are called by jax.pure_callback",
    "jax.lib": _BUILT,
    "jax.monitoring": "explain_cache_misses and cache_report of lawful.staging tell of traces and compilations",
    "jax.profiler": _PROFILER,
    "jax.ref": _REFERENCES,
    "jax.tools": _BUILT,
    "jax.experimental.array_serialization": "arrays are NumPy's; use numpy.savez",
    "jax.experimental.buffer_callback": "use jax.pure_callback or io_callback",
    "jax.experimental.colocated_python": _DEVICES,
    "jax.experimental.compilation_cache": _PERSISTENT,
    "jax.experimental.compute_on": _DEVICES,
    "jax.experimental.custom_partitioning": "use jax.shard_map",
    "jax.experimental.fused": _DEVICES,
    "jax.experimental.hijax": _BUILT,
    "jax.experimental.jax2tf": "programs of TensorFlow are not part of lawful",
    "jax.experimental.key_reuse": "keys are arrays, whose uses are not checked",
    "jax.experimental.mosaic": _KERNELS,
    "jax.experimental.overlap": _DEVICES,
    "jax.experimental.pallas": _KERNELS,
    "jax.experimental.profiler": _PROFILER,
    "jax.experimental.random": "use jax.random",
    "jax.experimental.rnn": "use lax.scan",
    "jax.experimental.roofline": "use cost of lawful.autodiff",
    "jax.experimental.scheduling_groups": _DEVICES,
    "jax.experimental.serialize_executable": _PERSISTENT,
    "jax.experimental.source_mapper": "use the command lawful show --html, which gives the line of each equation",
    "jax.experimental.thunky": _BUILT,
    "jax.experimental.topologies": _DEVICES,
    "jax.experimental.transfer": _DEVICES,
    "jax.extend.backend": _EXTEND,
    "jax.extend.ifrt_programs": _EXTEND,
    "jax.extend.lowering": _EXTEND,
    "jax.extend.mlir": _EXTEND,
    "jax.extend.pallas": _EXTEND,
    "jax.extend.random": _EXTEND,
    "jax.extend.sharding": _EXTEND,
    "jax.extend.xla": _EXTEND,
    "jax.interpreters.pxla": _BUILT,
}


def why_absent(module: str) -> str | None:
    """Returns why `lawful.jax` does not have a module of JAX, or one that contains it; None if it is not known."""
    while module not in REASONS and "." in module:
        module = module.rpartition(".")[0]
    return REASONS.get(module)
