"""``Partitioned``: a compiled program that runs in partitions on several devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from lawful.xla_backend._arrays.array import Array
from lawful.xla_backend._arrays.sharding import Sharding
from lawful.xla_backend._arrays.tiling import sharding_of
from lawful.xla_backend._callbacks.host_functions import within
from lawful.xla_backend._errors import XlaError
from lawful.xla_backend._programs.compiled import Compiled, map_of
from lawful.xla_backend._programs.placement import Placement, is_sharded
from lawful.xla_backend._runtime import clients
from lawful.xla_backend._runtime.executables import Executable
from lawful.xla_backend._runtime.handles import Options

if TYPE_CHECKING:
    from lawful.xla_backend._programs.lowered import Lowered


class Partitioned(Compiled):
    """A program compiled for arguments that are split over devices in one way; for others it is compiled again."""

    __slots__ = ("_in_places", "_out_places")

    _place: Placement
    checks_shardings: Final = True

    def __init__(self, lowered: Lowered, placement: Placement, options: Options) -> None:
        super().__init__(lowered, placement, options)
        self._lowered = lowered
        # The shortest paths do not look where arguments are.
        self._simple = self.run_one = None
        self._in_places: list[Sharding] = [*placement.arguments]
        meshes = [*placement.meshes, *lowered.meshes]
        named = lowered.known_shardings(placement)
        found = [sharding_of(assignment, meshes, named) for assignment in self._executable.assignments]
        # A result that lies as an argument has its sharding: as the next argument it is compared by identity.
        known = {sharding: sharding for sharding in self._in_places}
        self._out_places = [known.get(sharding, sharding) for sharding in found]
        needs_more = self._consts or self._donated or self._float0_results or clients.processes() is not None
        is_map = type(self._executable) is Executable and len(self._in_avals) == len(self._result_avals) == 1
        if is_map and not needs_more:
            self.run_one = self._map()

    def __call__(self, *args: Any) -> list[Any]:
        """Runs the program, as `Compiled` does."""
        results = self.run_exact(args)
        return self._call_any(args) if results is None else results

    def run_exact(self, args: Sequence[Any]) -> list[Any] | None:
        """Runs the program if all arguments are Arrays of exactly the types and shardings compiled for."""
        try:
            # Types are interned and shardings mostly the same objects: the lists are compared by identity first.
            if [x._aval for x in args] != self._in_avals:
                return None
            if [x._device for x in args] != self._in_places:
                return self._run_recent(args)
            buffers = [x._buffer for x in args]
        except AttributeError:  # values of the host
            return self._run_recent(args)
        return self._call_buffers(self._consts + buffers if self._consts else buffers, args)

    def _map(self) -> Callable[[Any], Any]:
        """Returns `run_exact` of a program of one argument and one result, as a function from the one to the other."""
        [in_aval], [out_aval] = self._in_avals, self._result_avals
        [in_place], [out_place] = self._in_places, self._out_places
        mapped = map_of(self._executable, out_place, in_aval, out_aval)

        def run(x: Any) -> Any:
            if type(x) is not Array or x._device is not in_place or within.partitions:
                return None
            return mapped(x)

        return run

    def run_here(self, *args: Any) -> list[Any]:
        """Runs the program where it was compiled for: values that are nowhere yet are put there."""
        if len(args) != len(self._in_avals):
            self._refuse_count(args)
        if any(map(is_sharded, args)):
            return self(*args)
        return self._call_buffers(self._buffers(args, self._in_places), args)

    def _run_recent(self, args: Sequence[Any]) -> list[Any] | None:
        recent = self._recent
        return None if recent is None else recent.run_exact(args)

    def _call_any(self, args: tuple[Any, ...]) -> list[Any]:
        if len(args) != len(self._in_avals):
            self._refuse_count(args)
        assert self._lowered is not None
        if not self._lowered.is_distributed(args):
            return self._elsewhere(self._lowered.default_device)._call_any(args)
        placement = self._lowered.placement(args)
        if placement != self._place:
            return self._elsewhere(placement)._call_any(args)
        return self._call_buffers(self._buffers(args, self._in_places), args)

    def _call_buffers(self, buffers: list[Any], args: Sequence[Any]) -> list[Any]:
        if within.partitions and len(self._place.devices) > 1:
            # The devices' threads wait for the function that this thread runs.
            raise XlaError(
                f"{self._name}: expected a program on one device in a Python function called by one on several "
                "devices, got one on several; compute with numpy.asarray(x) there, or call it outside of the program"
            )
        return super()._call_buffers(buffers, args)

    @property
    def input_shardings(self) -> list[Sharding]:
        """Where the program takes each argument."""
        return [*self._in_places]

    @property
    def output_shardings(self) -> list[Sharding]:
        """Where the program gives each result; those of dtype float0 are on the host, and count as whole."""
        found: list[Sharding] = [*self._out_places]
        for position, aval in self._float0_results:
            found.insert(position, found[0].with_dimension_axes(((),) * aval.ndim))
        return found

    def _arrays(self, results: list[Any]) -> list[Any]:
        for position, (aval, place) in enumerate(zip(self._result_avals, self._out_places, strict=True)):
            array = Array()
            array._buffer = results[position]
            array._aval = aval
            array._device = place
            results[position] = array
        return results
