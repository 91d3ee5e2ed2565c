"""The context managers of switches, such as ``jax.disable_jit()`` and ``jax.enable_x64(True)``."""

from typing import Any

from lawful.jax._support.config import switch

check_tracer_leaks = checking_leaks = switch("jax_check_tracer_leaks")
debug_infs = switch("jax_debug_infs")
debug_key_reuse = switch("jax_debug_key_reuse")
debug_nans = switch("jax_debug_nans")
default_device = switch("jax_default_device")
default_matmul_precision = switch("jax_default_matmul_precision")
default_prng_impl = switch("jax_default_prng_impl")
enable_checks = switch("jax_enable_checks")
enable_custom_prng = switch("jax_enable_custom_prng")
enable_x64 = switch("jax_enable_x64")
explain_cache_misses = switch("jax_explain_cache_misses")
legacy_prng_key = switch("jax_legacy_prng_key")
log_compiles = switch("jax_log_compiles")
numpy_dtype_promotion = switch("jax_numpy_dtype_promotion")
numpy_rank_promotion = switch("jax_numpy_rank_promotion")
softmax_custom_jvp = switch("jax_softmax_custom_jvp")
threefry_partitionable = switch("jax_threefry_partitionable")
transfer_guard = transfer_guard_device_to_device = switch("jax_transfer_guard")
transfer_guard_device_to_host = transfer_guard_host_to_device = transfer_guard


_disable_jit = switch("jax_disable_jit")


def disable_jit(disable: bool = True) -> Any:
    """Runs functions without compilation within a ``with`` block.

    >>> from lawful.jax import jit
    >>> with disable_jit():
    ...     jit(lambda x: x if x > 0 else -x)(-3.0)
    Array(3., dtype=float64, weak_type=True)
    """
    return _disable_jit(disable)
