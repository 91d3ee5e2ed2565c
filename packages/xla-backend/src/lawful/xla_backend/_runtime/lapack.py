"""LAPACK, that of SciPy, for programs on the CPU, and for kernels of NVIDIA's plugin that compute on the host."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

import numpy as np
from jaxlib import _jax


@cache
def _register_lapack() -> None:
    """Registers LAPACK's routines. ``initialize`` loads SciPy's LAPACK; a call before it ends the process."""
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


@cache
def load_hybrid_lapack() -> None:
    """Loads SciPy's LAPACK for the kernels of NVIDIA's plugin that compute on the host, ``cuhybrid_…``."""
    from jaxlib import gpu_solver

    gpu_solver.initialize_hybrid_kernels()


def load_for(serialized: bytes) -> None:
    """Loads what a compiled program calls, given its bytes."""
    if b"lapack_" in serialized:
        _register_lapack()
    if b"cuhybrid_" in serialized:
        load_hybrid_lapack()
