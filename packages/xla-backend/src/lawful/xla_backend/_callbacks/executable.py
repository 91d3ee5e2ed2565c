"""Compiled programs that call Python functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from lawful.core import ShapedArray
from lawful.xla_backend._callbacks.concurrency import ConcurrencyLimit
from lawful.xla_backend._callbacks.host_functions import CallbackFailure, HostFunctions, PartitionedFunctions
from lawful.xla_backend._errors import XlaError
from lawful.xla_backend._runtime import bindings, executables, fork
from lawful.xla_backend._runtime.handles import Options, Target

# Up to 0.11 at most this many programs run at a time.
_limit = ConcurrencyLimit(32) if tuple(map(int, bindings.jaxlib_version.split(".")[:2])) < (0, 12) else None


class CallingExecutable(executables.Executable):
    """A compiled program that calls Python functions: it has ended when ``run`` returns."""

    __slots__ = ("_functions",)

    def __init__(self, loaded: Any, target: Target, out_avals: Sequence[ShapedArray], functions: HostFunctions) -> None:
        super().__init__(loaded, target, out_avals)
        self._functions = functions

    def run(self, buffers: list[Any]) -> list[Any]:
        """Runs the program and returns its results.

        Raises:
          CallbackFailure: a function raised an exception.
        """
        if fork.is_forked:
            fork.refuse()
        # With all arguments ready, the program runs on this thread. The runtime has few threads: if all of them were in
        # functions that wait for other programs, none would proceed.
        for buffer in buffers:
            buffer.block_until_ready()
        functions = self._functions
        run = functions.run() if isinstance(functions, PartitionedFunctions) else nullcontext()
        with nullcontext() if _limit is None else _limit.slot():
            try:
                with run:
                    return self.run_to_end(buffers)
            except bindings.RuntimeFailure as error:
                raised = self._functions.raised(error)
                if raised is None:
                    raise
                raise CallbackFailure(raised) from None

    def serialize(self) -> bytes:
        """Raises XlaError: the functions cannot be stored."""
        raise XlaError(
            "serialize: expected a program that calls no Python function, got one that does; compile it where it runs"
        )


def compile_with_functions(
    module: Any,
    target: Target,
    out_avals: Sequence[ShapedArray],
    options: Options,
    functions: Sequence[Callable[..., tuple[Any, ...]]],
) -> CallingExecutable:
    """Compiles an MLIR module that calls Python functions, for one device or several.

    Args:
      module: a verified ``ir.Module`` with a public function ``main``.
      target: where it will run.
      out_avals: the types of its results.
      options: XLA's own flags.
      functions: those that it calls by ``executables.CALLBACK_TARGETS``, by number.

    Raises:
      XlaError: the compiler refuses the program or the options.
    """
    several = isinstance(target, tuple) and len(target) > 1
    called = PartitionedFunctions(functions) if several else HostFunctions(functions)
    loaded = executables.compile_module(module, target, options, called.entries())
    return CallingExecutable(loaded, target, out_avals, called)
