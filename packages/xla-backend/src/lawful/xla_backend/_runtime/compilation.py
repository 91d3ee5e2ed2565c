"""Compiles MLIR modules, and loads compiled programs from bytes."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

from lawful.core import ShapedArray
from lawful.xla_backend._runtime import bindings, cuda, executables, lapack
from lawful.xla_backend._runtime.executables import Executable
from lawful.xla_backend._runtime.handles import Options, Target


def compile_module(module: Any, target: Target, out_avals: Sequence[ShapedArray], options: Options) -> Executable:
    """Compiles an MLIR module, which has been verified, for one device or several.

    Args:
      module: an ``ir.Module`` with a public function ``main``.
      target: where it will run.
      out_avals: the types of its results.
      options: XLA's own flags.

    Raises:
      XlaError: the compiler refuses the program or the options.
    """
    loaded = executables.compile_module(module, target, options)
    return Executable(loaded, target, out_avals)


def deserialize(
    serialized: bytes, target: Target, out_avals: Sequence[ShapedArray], options: Options = MappingProxyType({})
) -> Executable:
    """Loads the result of :meth:`Executable.serialize`, with the same jaxlib on a machine with the same instructions.

    Args:
      serialized: the bytes. Pass none from an unknown source: jaxlib may crash, or run anything.
      target: where it will run, the one that it was compiled for.
      out_avals: the types of its results.
      options: those that it was compiled with.

    Raises:
      XlaError: the bytes are damaged.
    """
    lapack.load_for(serialized)
    if bindings.platform_of(executables.first_device(target)) == "cuda":
        cuda.prepare_loading()
    loaded = executables.load_serialized(serialized, target, options)
    return Executable(loaded, target, out_avals)
