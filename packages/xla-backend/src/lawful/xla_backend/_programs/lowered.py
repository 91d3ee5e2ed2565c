"""``Lowered``: a program in StableHLO."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from lawful.core import ArgumentValueError, ClosedJaxpr, SourceLine, float0, get_aval
from lawful.staging import CompilerOptions
from lawful.xla_backend._arrays.placed import Place
from lawful.xla_backend._arrays.sharding import Sharding
from lawful.xla_backend._cache.settings import compilation_cache
from lawful.xla_backend._lowering.module import located_lines, lower
from lawful.xla_backend._lowering.partitioning import partitioned
from lawful.xla_backend._programs.arguments import buffer_on
from lawful.xla_backend._programs.compiled import Compiled
from lawful.xla_backend._programs.partitioned import Partitioned
from lawful.xla_backend._programs.placement import Placement, is_sharded, placement_of, single_device
from lawful.xla_backend._runtime import bindings, clients
from lawful.xla_backend._runtime.executables import Executable
from lawful.xla_backend._runtime.handles import Device, Options, Target


class Lowered:
    """A program in StableHLO, which can be printed and compiled.

    >>> from lawful.staging import jit
    >>> "stablehlo.multiply" in jit(lambda x: x * x).lower(3.0).as_text()
    True
    """

    __slots__ = (
        "_closed",
        "_lock",
        "_stablehlo",
        "donated",
        "follows_arguments",
        "in_avals",
        "name",
        "out_avals",
        "platform",
    )

    def __init__(
        self, closed: ClosedJaxpr, name: str, donated: Sequence[int], platform: str, *, follows_arguments: bool
    ) -> None:
        self._stablehlo = lower(closed, name=name, platform=platform, donated=donated)
        # It is lowered again for arguments on another platform.
        self._closed = closed if follows_arguments else None
        self.platform = platform
        #: Whether a call runs where its arguments are.
        self.follows_arguments = follows_arguments
        self.in_avals = tuple(closed.in_avals)
        self.out_avals = tuple(closed.out_avals)
        self.name = name
        self.donated = tuple(donated)
        # A module's context belongs to one thread at a time.
        self._lock = threading.Lock()

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        """Returns the program as text. Its large constants are the first arguments.

        Args:
          dialect: ``"stablehlo"``, which is the default, or ``"hlo"``.
          debug_info: whether StableHLO is printed with its locations, which are unknown.

        Raises:
          ArgumentValueError: the dialect is another.
        """
        ir = self.compiler_ir(dialect)
        with self._lock:
            if dialect == "hlo":
                return str(ir.as_hlo_text())
            return str(ir.operation.get_asm(enable_debug_info=debug_info))

    def line_sources(self) -> list[SourceLine | None]:
        """Returns, for each line of `as_text`, the user's line of the equation that it was built for.

        It is None where there is none: for a line of several equations, or of the program itself, and throughout for a
        program of one platform only. The program is lowered once more, so that one that nobody asks pays nothing.
        """
        text = self.as_text().splitlines()
        if self._closed is None:
            return [None] * len(text)
        lines = located_lines(self._closed, name=self.name, platform=self.platform)
        assert [line for line, _ in lines] == text, "the same program is lowered to the same text"
        return [source for _, source in lines]

    def compiler_ir(self, dialect: str | None = None) -> Any:
        """Returns jaxlib's module of StableHLO, or its computation of HLO; see `as_text`."""
        if dialect not in (None, "stablehlo", "hlo"):
            raise ArgumentValueError(
                f"lowered {self.name}: expected stablehlo or hlo as dialect, got {dialect!r}; leave it out"
            )
        if dialect != "hlo":
            return self._stablehlo.module
        with self._lock:
            return bindings.computation(self._stablehlo.module)

    def compile(
        self,
        compiler_options: CompilerOptions | None = None,
        *,
        shardings: Sequence[Sharding | None] | None = None,
        devices: Sequence[Device] | None = None,
    ) -> Compiled:
        """Compiles the program for the first device of the platform, or for the devices that it or its arguments name.

        Args:
          compiler_options: XLA's own flags, as ``{"xla_backend_optimization_level": 0}``.
          shardings: how each argument lies on several devices; None where it does not.
          devices: the devices, where meshes without devices leave them open.

        Raises:
          ArgumentValueError: these are other devices than those that the program or its arguments name, or not as many
            as the meshes have; or nothing says which devices a mesh without devices has.
          XlaError: XLA refuses the program or an option.
        """
        args = shardings or ()
        place: Device | Placement
        if self.is_distributed(args):
            place = self.placement(args, devices)
        else:
            place = self.default_device if devices is None else single_device(self.name, devices)
        return self.compile_for(place, compiler_options or {})

    def compile_for(self, place: Device | Placement, options: Options) -> Compiled:
        """Compiles the program for a device, or for several."""
        if isinstance(place, Placement):
            return Partitioned(self.on_platform(bindings.platform_of(place.devices[0])), place, options)
        return Compiled(self.on_platform(bindings.platform_of(place)), place, options)

    @property
    def default_device(self) -> Device:
        """Where the program runs on values of the host, if it names no mesh."""
        return clients.default_device(self.platform)

    @property
    def meshes(self) -> tuple[Sharding, ...]:
        """A sharding on each mesh that the program names."""
        return self._stablehlo.shardings

    def known_shardings(self, place: Placement) -> list[tuple[Sharding, int]]:
        """Returns the shardings that the program gives values, and those of its arguments, with their dimensions."""
        of_arguments = zip(place.arguments, [aval.ndim for aval in self.in_avals], strict=True)
        return [*self._stablehlo.named, *of_arguments]

    def is_distributed(self, args: Sequence[Any]) -> bool:
        """Whether a call runs in partitions: the program names a mesh, or an argument or constant is sharded."""
        named = bool(self._stablehlo.shardings or self._stablehlo.abstract)
        return named or any(map(is_sharded, args)) or any(map(is_sharded, self._consts))

    def placement(self, args: Sequence[Any], devices: Sequence[Device] | None = None) -> Placement:
        """Returns where a call in partitions runs; without arguments, where it would with values of the host.

        Raises:
          ArgumentValueError: two Arrays are on different devices, or one is not where the program runs; or nothing says
            which devices a mesh without devices has.
        """
        program = self._stablehlo
        avals = [*map(get_aval, program.consts), *self.in_avals]
        args = args or [None] * len(self.in_avals)
        mesh = program.shardings[0] if program.shardings else None
        return placement_of(self.name, program.consts, args, avals, mesh, program.abstract, devices)

    def on_platform(self, platform: str) -> Lowered:
        """Returns the program lowered for a platform where it follows its arguments to."""
        if platform == self.platform:
            return self
        assert self._closed is not None, "there is no other platform"
        return Lowered(self._closed, self.name, self.donated, platform, follows_arguments=True)

    @property
    def _consts(self) -> tuple[Any, ...]:
        return self._stablehlo.consts

    def _load(self, place: Device | Placement, options: Options) -> Executable:
        returned = [aval for aval in self.out_avals if aval.dtype != float0]
        with self._lock:
            target: Target
            if not isinstance(place, Placement):
                module, target = self._stablehlo.module, place
            else:
                kept = [
                    sharding
                    for sharding, aval in zip(place.arguments, self.in_avals, strict=True)
                    if aval.dtype != float0
                ]
                module, target = partitioned(self._stablehlo, [*place.consts, *kept]), place.devices
            executable = compilation_cache().compile(module, target, returned, options, self._stablehlo.functions)
            if (processes := clients.processes()) is not None:
                processes.watch(executable, self.name, module, target)
            return executable

    def _put_consts(self, place: Device | Placement) -> list[Any]:
        consts = self._consts
        places: Sequence[Place] = place.consts if isinstance(place, Placement) else [place] * len(consts)
        return [buffer_on(const, get_aval(const), at) for const, at in zip(consts, places, strict=True)]
