"""``Compiled``: a program that XLA compiled, which runs on device arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy import ndarray

from lawful.core import ArgumentTypeError, ArgumentValueError, Cache, ShapedArray, float0, get_aval
from lawful.staging import compiling
from lawful.xla_backend._arrays.array import Array
from lawful.xla_backend._arrays.placed import Place, single_sharding
from lawful.xla_backend._arrays.sharding import Sharding
from lawful.xla_backend._callbacks.host_functions import CallbackFailure
from lawful.xla_backend._errors import DeletedArrayError, XlaError
from lawful.xla_backend._programs.arguments import buffer_on, common_device
from lawful.xla_backend._programs.placement import Placement
from lawful.xla_backend._programs.staging_buffers import StagingSets, fits, set_types
from lawful.xla_backend._runtime import bindings, clients
from lawful.xla_backend._runtime.executables import Executable
from lawful.xla_backend._runtime.handles import Device, MemoryAnalysis, Options

if TYPE_CHECKING:
    from lawful.xla_backend._programs.lowered import Lowered


class Compiled:
    """A compiled program: called with flat arguments, gives the list of flat results.

    It runs on the device that its Array arguments are on; for any but the default one, and for Arrays on several
    devices, it is compiled when it is first needed there.

    >>> from lawful.core import parse_jaxpr
    >>> from lawful.xla_backend import backend
    >>> program = parse_jaxpr("{ lambda ; a:f64[2] . let b:f64[2] = mul a a in ( b ) }")
    >>> np.asarray(backend.lower(program, name="square").compile()(np.array([1.0, 3.0]))[0])
    array([1., 9.])
    """

    __slots__ = (
        "_compiled_elsewhere",
        "_consts",
        "_device",
        "_donated",
        "_executable",
        "_float0_results",
        "_in_avals",
        "_lowered",
        "_name",
        "_options",
        "_place",
        "_recent",
        "_result_avals",
        "_run",
        "_simple",
        "_staging_sets",
        "_takes_values",
        "run_one",
    )

    def __init__(self, lowered: Lowered, place: Device | Placement, options: Options) -> None:
        self._executable = lowered._load(place, options)
        self._run = self._executable.run
        self._consts = lowered._put_consts(place)
        self._place = place
        self._device: Device = place.devices[0] if isinstance(place, Placement) else place
        self._name = lowered.name
        self._in_avals = [*lowered.in_avals]
        self._donated = lowered.donated
        self._result_avals = tuple(aval for aval in lowered.out_avals if aval.dtype != float0)
        self._float0_results = [(i, aval) for i, aval in enumerate(lowered.out_avals) if aval.dtype == float0]
        self._options = options
        # The program compiled for other devices, and the last of these that ran.
        self._compiled_elsewhere: Cache[Device | Placement, Compiled] = Cache("programs on other devices", 64)
        self._recent: Compiled | None = None
        # With one device no program is compiled again, so the module is dropped.
        self._lowered = lowered if clients.has_several_devices() else None
        # The executable, if a call does nothing but run it.
        needs_more = self._consts or self._donated or self._float0_results or not self._result_avals
        is_simple = type(self._executable) is Executable and self._lowered is None and not needs_more
        self._simple = self._executable if is_simple else None
        is_map = is_simple and len(self._in_avals) == len(self._result_avals) == 1
        #: Returns the result for one Array of exactly the compiled type, as `run_exact` does; otherwise None.
        self.run_one = map_of(self._executable, self._device, *self._in_avals, *self._result_avals) if is_map else None
        # Whether the last call had NumPy values as arguments.
        self._takes_values = False
        # Only a result shows that a program has ended. A donated argument is written to.
        may_write = not self._float0_results and not self._donated
        self._staging_sets = StagingSets(self._in_avals, self._result_avals, may_write=may_write)

    def __call__(self, *args: Any) -> list[Any]:
        """Runs the program. The results may still be being computed when this returns.

        Args:
          args: Arrays, NumPy arrays and scalars, or Python scalars, of the types that were compiled for; weakness
            does not matter. An Array in a donated position cannot be used afterwards.

        Raises:
          ArgumentTypeError: an argument has another type, or there are too few or too many.
          ArgumentValueError: Arrays are on different devices, or an Array is donated and passed a second time.
          DeletedArrayError: an argument was donated or deleted before.

        A program that calls Python functions has ended when this returns, and what one of them raises is raised here.
        """
        device = self._device
        buffers = self._consts.copy()
        in_avals = self._in_avals
        if len(args) != len(in_avals):
            self._refuse_count(args)
        for x, aval in zip(args, in_avals, strict=False):
            if type(x) is Array and x._aval is aval and x._device is device:
                buffers.append(x._buffer)
            else:
                return self._call_any(args)
        return self._call_buffers(buffers, args)

    def run_exact(self, args: Sequence[Any]) -> list[Any] | None:
        """Runs the program if all arguments are of exactly the types compiled for, and on its device or the host's.

        Args:
          args: any values.

        Returns:
          The results, as a call gives them; None if an argument is something else.

        Law: where it is not None, it is what a call gives. It saves `jit` finding out what the arguments are.
        """
        if self._takes_values:
            return self._run_values(args)
        try:
            # Only Arrays have these attributes. Types are interned, so the lists are compared by identity first.
            if [x._aval for x in args] != self._in_avals:
                return None
            buffers = [x._buffer for x in args]
        except AttributeError:
            return self._run_values(args)
        simple = self._simple
        if simple is None:
            if self._lowered is not None and any([x._device is not self._device for x in args]):
                recent = self._recent
                return None if recent is None else recent.run_exact(args)
            return self._call_buffers(self._consts + buffers if self._consts else buffers, args)
        # `_call_buffers`, inlined: a tenth of the time of a small program's call.
        try:
            results = simple.execute(buffers).consume_with_handlers(simple.handlers)
        except Exception as error:
            self._explain_failure(args, error)
        if len(results) > 1:
            return self._arrays(results)
        array = Array()
        array._buffer = results[0]
        array._aval = self._result_avals[0]
        array._device = self._device
        return [array]

    def _run_values(self, args: Sequence[Any]) -> list[Any] | None:
        """`run_exact` for arguments that include values of the host."""
        if len(args) != len(self._in_avals):
            return None
        staged = self._staging_sets.take()
        while True:
            buffers = self._consts.copy()
            for position, staging in enumerate(staged.buffers):
                x = args[position]
                arg_type = type(x)
                if arg_type is not staging.arg_type:
                    break
                if arg_type is Array:
                    if x._aval is not staging.aval or x._device is not self._device:
                        break
                    buffers.append(x._buffer)
                    continue
                if arg_type is ndarray:
                    if x.dtype is not staging.dtype or x.shape != staging.shape:
                        break
                elif arg_type is int and not fits(x):
                    break
                if staging.values is None:
                    buffers.append(bindings.put(np.asarray(x, staging.dtype), self._device, staging.aval))
                else:
                    staging.values[...] = x
                    buffers.append(staging.buffer)
            else:
                results = self._call_buffers(buffers, args)
                self._staging_sets.give_back(staged, results)
                return results
            if not set_types(staged, args, self._device):
                self._staging_sets.give_back_unused(staged)
                return None
            self._takes_values = any(staging.arg_type is not Array for staging in staged.buffers)

    def _call_any(self, args: tuple[Any, ...]) -> list[Any]:
        """Calls with arguments that are not all Arrays of exactly the compiled type on this device."""
        place = self._place_of_call(args)
        if place != self._place:
            return self._elsewhere(place)._call_any(args)
        return self._call_buffers(self._buffers(args, [self._device] * len(args)), args)

    def _place_of_call(self, args: tuple[Any, ...]) -> Device | Placement:
        """Returns where a call runs; Arrays that are elsewhere are moved there."""
        lowered = self._lowered
        if lowered is not None and lowered.is_distributed(args):
            return lowered.placement(args)
        device = common_device(self._name, args)
        if device is None or device is self._device:
            return self._place
        assert lowered is not None, "there is no other device"
        follows = lowered.follows_arguments or device.client is self._device.client
        return device if follows else self._place

    def _buffers(self, args: tuple[Any, ...], places: Sequence[Place]) -> list[Any]:
        """Returns the buffers of the constants, and of the arguments at some places, whose types have to fit."""
        buffers = self._consts.copy()
        for position, (x, aval, place) in enumerate(zip(args, self._in_avals, places, strict=True)):
            actual = x if type(x) is np.ndarray else get_aval(x)
            # The runtime compares sizes only: it would read other types of the same size as this one.
            if actual.shape != aval.shape or (actual.dtype != aval.dtype and get_aval(x).dtype != aval.dtype):
                raise ArgumentTypeError(
                    f"{self._name}: expected {aval} as argument {position} of the compiled program, "
                    f"got {get_aval(x)}; pass what it was compiled for, or compile it for this type"
                )
            if aval.dtype != float0:
                buffers.append(buffer_on(x, aval, place))
        return buffers

    def _call_buffers(self, buffers: list[Any], args: Sequence[Any]) -> list[Any]:
        if self._donated:
            self._check_donated(args, buffers)
        raised = None
        try:
            results = self._run(buffers)
        except CallbackFailure as failure:
            raised = failure.error
        except Exception as error:
            self._explain_failure(args, error)
        if raised is not None:  # outside of the handler, so that no other exception becomes its context
            raise raised
        if self._donated:
            for position in self._donated:
                if type(args[position]) is Array:
                    args[position]._discard(f"donated to {self._name} as its argument {position}")
        self._arrays(results)
        if self._float0_results:
            for position, aval in self._float0_results:
                results.insert(position, np.zeros(aval.shape, float0))
        return results

    def _arrays(self, results: list[Any]) -> list[Any]:
        """Replaces the buffers of results by Arrays, in place, and returns the list."""
        device = self._device
        for position, aval in enumerate(self._result_avals):
            array = Array()
            array._buffer = results[position]
            array._aval = aval
            array._device = device
            results[position] = array
        return results

    def _elsewhere(self, place: Device | Placement) -> Compiled:
        """Returns the program compiled for another device, or for devices and shardings."""
        assert self._lowered is not None, "there is no other device"
        found = self._compiled_elsewhere.lookup(place)
        if found is None:
            with compiling(self._name, "its arguments are on other devices, or are distributed otherwise"):
                found = self._lowered.compile_for(place, self._options)
            self._compiled_elsewhere.insert(place, found)
        self._recent = found
        return found

    # Errors

    def _refuse_count(self, args: tuple[Any, ...]) -> NoReturn:
        raise ArgumentTypeError(
            f"{self._name}: expected {len(self._in_avals)} arguments of the compiled program, got {len(args)}; "
            "pass one for each leaf that it was compiled for"
        )

    def _check_donated(self, args: Sequence[Any], buffers: list[Any]) -> None:
        for position in self._donated:
            x = args[position]
            if type(x) is Array and sum(buffer is x._buffer for buffer in buffers) > 1:
                raise ArgumentValueError(
                    f"{self._name}: expected the Array donated as argument {position} to be used nowhere else in the "
                    f"call, got the {x.aval} also as another argument or constant; donate x.copy()"
                )

    def _explain_failure(self, args: Sequence[Any], error: Exception) -> NoReturn:
        for x in args:
            if type(x) is Array and x.is_deleted():
                raise x._deleted_error() from None
        if not isinstance(error, bindings.RuntimeFailure):
            raise error
        if any(const.is_deleted() for const in self._consts):
            raise DeletedArrayError(
                f"{self._name}: expected the arrays that it closes over to be there still, got one that was donated or "
                "deleted; pass that array as an argument"
            ) from error
        raise XlaError(
            f"{self._name}: expected the compiled program to run, got the runtime's error {error}"
        ) from error

    # Introspection

    @property
    def input_shardings(self) -> list[Sharding]:
        """Where the program takes each argument."""
        return [single_sharding(self._device)] * len(self._in_avals)

    @property
    def output_shardings(self) -> list[Sharding]:
        """Where the program gives each result."""
        return [single_sharding(self._device)] * (len(self._result_avals) + len(self._float0_results))

    def as_text(self) -> str:
        """Returns the program after XLA's optimizations, as HLO text."""
        return self._executable.hlo_text()

    def cost_analysis(self) -> dict[str, float]:
        """Returns the compiler's counts: ``"flops"``, ``"bytes accessed"``, ``"transcendentals"`` and others."""
        return self._executable.cost_analysis()

    def memory_analysis(self) -> MemoryAnalysis:
        """Returns the bytes of arguments, results, temporaries and code."""
        return self._executable.memory_analysis()


def map_of(executable: Executable, place: Place, in_aval: ShapedArray, out_aval: ShapedArray) -> Callable[[Any], Any]:
    """Returns `run_exact` of a program of one argument and one result, as a function from the one to the other.

    It makes no list, which saves a tenth of the call of a small program. After a fork `execute` is another function.
    """
    handlers = executable.handlers

    def run(x: Any) -> Any:
        if type(x) is not Array or x._aval is not in_aval:
            return None
        try:
            results = executable.execute([x._buffer]).consume_with_handlers(handlers)
        except Exception:  # the general path fails as well, and explains it
            return None
        array = Array()
        array._buffer = results[0]
        array._aval = out_aval
        array._device = place
        return array

    return run
