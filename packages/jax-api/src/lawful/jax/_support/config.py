"""``jax.config``: the switches that programs set. Some act; others are fixed here, which a warning says."""

from __future__ import annotations

import contextlib
import importlib
import warnings
from collections.abc import Iterator
from typing import Any, Final

from lawful import staging
from lawful.core import ArgumentValueError, as_bool
from lawful.jax._support.devices import xla_backend

#: Switches that act, with their defaults.
_ACTING: Final[dict[str, Any]] = {
    "jax_debug_nans": False,
    "jax_debug_infs": False,
    "jax_disable_jit": False,
    "jax_explain_cache_misses": False,
    "jax_compilation_cache_dir": None,
    "jax_num_cpu_devices": -1,
}
#: Switches that have one value here, and why another one has no effect.
_FIXED: Final[dict[str, tuple[Any, str]]] = {
    "jax_enable_x64": (True, "types are x64 always: float64 is the default, and nothing is narrowed"),
    "jax_numpy_dtype_promotion": ("standard", "promotion is NumPy's"),
    "jax_numpy_rank_promotion": ("allow", "ranks are promoted as in NumPy"),
    "jax_default_prng_impl": ("threefry2x32", "keys are those of threefry"),
    "jax_threefry_partitionable": (True, "keys are those of partitionable threefry"),
    "jax_enable_custom_prng": (False, "keys are arrays of two words"),
    "jax_platforms": ("cpu", "programs run on the processor"),
    "jax_platform_name": ("cpu", "programs run on the processor"),
    "jax_random_seed_offset": (0, "keys are those of the seed itself"),
    "jax_high_dynamic_range_gumbel": (False, "random.gumbel takes mode= for each call"),
    "jax_allow_f16_reductions": (True, "reductions take every dtype"),
    "jax_no_tracing": (False, "functions are traced where they are called"),
    "jax_no_execution": (False, "eager operations are executed at once"),
    "jax_error_checking_behavior_divide": ("ignore", "results are checked by jax_debug_nans and jax_debug_infs"),
    "jax_error_checking_behavior_nan": ("ignore", "results are checked by jax_debug_nans and jax_debug_infs"),
    "jax_error_checking_behavior_oob": ("ignore", "known positions are checked, and traced ones are limited"),
}
#: Switches for which every value gives the same results: logs, dumps, checks of JAX's own, and advice to XLA.
_WITHOUT_EFFECT: Final[dict[str, Any]] = {
    "jax_captured_constants_warn_bytes": 2_000_000_000,
    "jax_check_tracer_leaks": False,
    "jax_compilation_cache_include_metadata_in_key": False,
    "jax_compilation_cache_max_size": -1,
    "jax_cpu_enable_async_dispatch": True,
    "jax_debug_key_reuse": False,
    "jax_debug_log_modules": "",
    "jax_default_device": None,
    "jax_default_matmul_precision": None,
    "jax_disable_most_optimizations": False,
    "jax_dump_ir_modes": "stablehlo",
    "jax_dump_ir_to": "",
    "jax_enable_checks": False,
    "jax_enable_compilation_cache": True,
    "jax_hlo_source_file_canonicalization_regex": None,
    "jax_include_full_tracebacks_in_locations": True,
    "jax_legacy_prng_key": "allow",
    "jax_log_compiles": False,
    "jax_logging_level": None,
    "jax_memory_fitting_level": None,
    "jax_optimization_level": None,
    "jax_persistent_cache_enable_xla_caches": None,
    "jax_persistent_cache_min_compile_time_secs": 1.0,
    "jax_persistent_cache_min_entry_size_bytes": 0,
    "jax_pjrt_client_create_options": None,
    "jax_pprint_use_color": True,
    "jax_raise_persistent_cache_errors": False,
    "jax_softmax_custom_jvp": True,
    "jax_traceback_filtering": "auto",
    "jax_traceback_in_locations_limit": 100,
    "jax_tracer_error_num_traceback_frames": 5,
    "jax_transfer_guard": "allow",
    "jax_transfer_guard_device_to_device": None,
    "jax_transfer_guard_device_to_host": None,
    "jax_transfer_guard_host_to_device": None,
    "jax_use_direct_linearize": True,
    "jax_use_shardy_partitioner": True,
    # They choose one of JAX's implementations.
    "jax_accurate_erf_inv": False,
    "jax_custom_jvp3": False,
    "jax_custom_vjp3": False,
    "jax_disable_bwd_checks": False,
    "jax_mutable_array_checks": True,
    "jax_ragged_dot_use_ragged_dot_instruction": True,
    "jax_remat3": False,
    "jax_remat_barrier_no_cotangents": False,
    "jax_scan3": False,
    "jax_thread_guard": False,
    "jax_use_hlo_logistic_lowering": None,
    "jax_use_simplified_jaxpr_constants": False,
    # Logs, dumps and the compilation cache.
    "jax_captured_constants_report_frames": 0,
    "jax_check_static_indices": False,
    "jax_compilation_cache_check_contents": False,
    "jax_compiler_detailed_logging_min_ops": 10,
    "jax_compiler_enable_remat_pass": True,
    "jax_embedded_constants_max_bytes": 32,
    "jax_include_debug_info_in_dumps": True,
    "jax_log_checkpoint_residuals": False,
    "jax_send_traceback_to_runtime": "off",
    "jax_source_url_schema": None,
}


class Config:
    """The switches, as attributes; `update` sets one.

    Source: ``jax.config``.
    """

    def __init__(self) -> None:
        fixed = {name: value for name, (value, _) in _FIXED.items()}
        self.values: dict[str, Any] = {**_ACTING, **fixed, **_WITHOUT_EFFECT}

    def __getattr__(self, name: str) -> Any:
        try:
            return vars(self)["values"][name]
        except KeyError:
            raise AttributeError(f"config: there is no switch {name!r}") from None

    def update(self, name: str, value: Any) -> None:
        """Sets a switch; warns where its value has no effect here.

        Raises:
          AttributeError: there is no such switch.
          ArgumentTypeError: the value of a switch that acts is of another type.
        """
        if name not in self.values:
            raise AttributeError(f"config.update: expected the name of a switch, got {name!r}")
        if name in _FIXED:
            only, reason = _FIXED[name]
            if value != only and not (isinstance(value, str) and only in value.split(",")) and value is not None:
                warnings.warn(f"config: {name}={value!r} has no effect; {reason}", UserWarning, stacklevel=2)
            return
        if _ACTING.get(name) is False:
            value = _as_switch(name, value)
        values = {**self.values, name: value}
        if name == "jax_num_cpu_devices" and value != -1:
            importlib.import_module("lawful.parallel").set_cpu_device_count(value)
        if name == "jax_disable_jit":
            staging.set_jit_disabled(value)
        if name in ("jax_debug_nans", "jax_debug_infs"):
            staging.set_debug_nans(values["jax_debug_nans"], values["jax_debug_infs"])
        if name == "jax_explain_cache_misses":
            staging.set_explain_cache_misses(value)
        if name == "jax_compilation_cache_dir" and xla_backend is not None:
            xla_backend.set_cache_dir(value)
        self.values = values

    def read(self, name: str) -> Any:
        """Returns the value of a switch."""
        return getattr(self, name)

    @property
    def x64_enabled(self) -> bool:
        """Whether types are x64: yes."""
        return True

    def parse_flags_with_absl(self) -> None:
        """Does nothing: there are no flags."""

    config_with_absl = parse_flags_with_absl


def _as_switch(name: str, value: Any) -> bool:
    """Returns True or False; 1 and 0 say the same, as in JAX."""
    if isinstance(value, int) and value in (0, 1):
        return bool(value)
    return as_bool("config.update", name, value)


config: Final = Config()


def switch(name: str) -> Any:
    """Returns the context manager of a switch, such as ``jax.debug_nans(True)``."""

    @contextlib.contextmanager
    def context(new_val: Any = True) -> Iterator[None]:
        before = config.read(name)
        config.update(name, new_val)
        try:
            yield
        finally:
            config.update(name, before)

    context.__name__ = context.__qualname__ = name.removeprefix("jax_")
    context.__doc__ = f"""Sets ``config.{name}`` within a ``with`` block.

    >>> import lawful.jax as jax
    >>> with jax.{context.__name__}({config.read(name)!r}):
    ...     print(jax.config.read({name!r}))
    {config.read(name)}
    """
    return context


def refused(name: str, reason: str) -> Any:
    """Returns a function that raises ArgumentValueError with a reason."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise ArgumentValueError(f"{name}: {reason}")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Raises ArgumentValueError: {reason}."
    return refuse
