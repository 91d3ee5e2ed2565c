"""The XLA backend of ``jit``: lowers a jaxpr to StableHLO, compiles it, and runs it on device arrays.

>>> from lawful.core import parse_jaxpr
>>> program = parse_jaxpr("{ lambda ; a:f64[2] . let b:f64[2] = mul a a in ( b ) }")
>>> compiled = backend.lower(program, name="square").compile()
>>> compiled(np.array([1.0, 3.0]))
[Array([1., 9.], dtype=float64)]
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn

import numpy as np
from numpy import ndarray

from lawful.core import ArgumentTypeError, ArgumentValueError, ClosedJaxpr, ShapedArray, float0, get_aval, to_numpy
from lawful.staging import CompilerOptions, register_backend
from lawful.xla_backend import _jaxlib
from lawful.xla_backend._array import Array
from lawful.xla_backend._compilation_cache import compilation_cache
from lawful.xla_backend._errors import DeletedArrayError, XlaError
from lawful.xla_backend._host_functions import CallbackFailure
from lawful.xla_backend._lowering import StableHLO, lower
from lawful.xla_backend._seats import Seat, fits, take_seats


class Backend:
    """What ``jit`` finds under the entry point ``xla``."""

    name: str = "xla"

    @property
    def platform(self) -> str:
        """The name of the platform that programs run on, such as ``"cpu"``."""
        return _jaxlib.platforms()[0]

    def lower(self, closed: ClosedJaxpr, *, name: str, donated: Sequence[int] = ()) -> Lowered:
        """Lowers a program to StableHLO.

        Args:
          closed: the program.
          name: the function's name, for messages and the lowered text.
          donated: the positions of the arguments that a call uses up: results may take their memory.

        Raises:
          MissingRuleError: a primitive has no lowering rule.
          LoweringError: a lowering rule builds an operation that is not well typed.
        """
        return Lowered(lower(closed, name=name, platform=self.platform, donated=donated), closed, name, donated)


class Lowered:
    """A program in StableHLO, which can be printed and compiled."""

    __slots__ = ("_lock", "_stablehlo", "donated", "in_avals", "name", "out_avals")

    def __init__(self, stablehlo: StableHLO, closed: ClosedJaxpr, name: str, donated: Sequence[int]) -> None:
        self._stablehlo = stablehlo
        self.in_avals = tuple(closed.in_avals)
        self.out_avals = tuple(closed.out_avals)
        self.name = name
        self.donated = tuple(donated)
        # A module's context belongs to one thread at a time.
        self._lock = threading.Lock()

    def as_text(self) -> str:
        """Returns the StableHLO module as text. Its large constants are the first arguments."""
        with self._lock:
            return str(self._stablehlo.module)

    def compile(self, compiler_options: CompilerOptions | None = None) -> Compiled:
        """Compiles the program for the default device.

        Args:
          compiler_options: XLA's own flags, as ``{"xla_backend_optimization_level": 0}``.

        Raises:
          XlaError: XLA refuses the program or an option.
        """
        return Compiled(self, _jaxlib.devices()[0], compiler_options or {})

    def _load(self, device: _jaxlib.Device, options: _jaxlib.Options) -> _jaxlib.Executable:
        returned = [aval for aval in self.out_avals if aval.dtype != float0]
        with self._lock:
            return compilation_cache().compile(
                self._stablehlo.module, device, returned, options, self._stablehlo.functions
            )

    def _put_consts(self, device: _jaxlib.Device) -> list[Any]:
        return [_buffer_on(const, get_aval(const), device) for const in self._stablehlo.consts]


def _buffer_on(x: Any, aval: ShapedArray, device: _jaxlib.Device) -> Any:
    """Returns a buffer of a value on a device: an Array's own if it is there already."""
    if type(x) is Array:
        return x._live_buffer() if x._device is device else _jaxlib.copy_buffer(x._live_buffer(), device)
    return _jaxlib.put(x if type(x) is np.ndarray else np.asarray(to_numpy(x), dtype=aval.dtype), device, aval)


# A program that was found running after so many of its calls has no seats from then on.
_MOST_LOSSES = 8


class Compiled:
    """A compiled program: called with flat arguments, gives the list of flat results.

    It runs on the device that its Array arguments are on; for any but the default one it is compiled when it
    is first needed there.
    """

    __slots__ = (
        "_consts",
        "_device",
        "_donated",
        "_elsewhere",
        "_executable",
        "_float0_results",
        "_in_avals",
        "_losses",
        "_lowered",
        "_name",
        "_options",
        "_result_avals",
        "_run",
        "_simple",
        "_spare_seats",
        "_takes_values",
        "run_one",
    )

    def __init__(self, lowered: Lowered, device: _jaxlib.Device, options: _jaxlib.Options) -> None:
        self._executable = lowered._load(device, options)
        self._run = self._executable.run
        self._consts = lowered._put_consts(device)
        self._device = device
        self._name = lowered.name
        self._in_avals = [*lowered.in_avals]
        self._donated = lowered.donated
        self._result_avals = tuple(aval for aval in lowered.out_avals if aval.dtype != float0)
        self._float0_results = [(i, aval) for i, aval in enumerate(lowered.out_avals) if aval.dtype == float0]
        self._options = options
        self._elsewhere: dict[_jaxlib.Device, Compiled] = {}
        # With one device nothing is ever compiled again, and the module need not be kept.
        self._lowered = lowered if len(_jaxlib.devices(device.platform)) > 1 else None
        # What runs it, where that is all that there is to a call.
        needs_more = self._consts or self._donated or self._float0_results or not self._result_avals
        is_simple = type(self._executable) is _jaxlib.Executable and self._lowered is None and not needs_more
        self._simple = self._executable if is_simple else None
        is_map = is_simple and len(self._in_avals) == len(self._result_avals) == 1
        #: Gives the result of one Array of exactly the type compiled for, as `run_exact` does; else None.
        self.run_one = _map_of(self._executable, self._in_avals[0], self._result_avals[0]) if is_map else None
        # Had the last call arguments of the host's? Their seats, of as many calls as there were at a time.
        self._takes_values = False
        self._spare_seats: list[list[Seat]] = []
        # How many calls found the program running still, and gave their seats away. Seats are for programs that say
        # by a result that they have ended, and that use up no argument.
        can_have_seats = self._result_avals and not self._float0_results and not self._donated
        self._losses = 0 if can_have_seats else _MOST_LOSSES

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
            # Only Arrays have these. Types are interned, so that lists of the same ones are compared at once.
            if [x._aval for x in args] != self._in_avals:
                return None
            buffers = [x._buffer for x in args]
        except AttributeError:
            return self._run_values(args)
        simple = self._simple
        if simple is None:
            if self._lowered is not None and any([x._device is not self._device for x in args]):
                return None
            return self._call_buffers(self._consts + buffers if self._consts else buffers, args)
        # What `_call_buffers` does then, written out: its frames and loop are a tenth of the call of a small program.
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
        """Does what `run_exact` does where some arguments are values of the host."""
        if len(args) != len(self._in_avals):
            return None
        try:
            seats = self._spare_seats.pop()
        except IndexError:
            seats = [Seat(aval) for aval in self._in_avals]
        while True:
            buffers, has_written = self._consts.copy(), False
            for position, seat in enumerate(seats):
                x = args[position]
                kind = type(x)
                if kind is not seat.kind:
                    break
                if kind is Array:
                    if x._aval is not seat.aval or x._device is not self._device:
                        break
                    buffers.append(x._buffer)
                    continue
                if kind is ndarray:
                    if x.dtype is not seat.dtype or x.shape != seat.shape:
                        break
                elif kind is int and not fits(x):
                    break
                if seat.values is None:
                    buffers.append(_jaxlib.put(np.asarray(x, seat.dtype), self._device, seat.aval))
                else:
                    seat.values[...] = x
                    buffers.append(seat.buffer)
                    has_written = True
            else:
                results = self._call_buffers(buffers, args)
                # All results of a program are there at once. Until then it may read the seats.
                if not has_written or results[0]._buffer.is_ready():
                    self._spare_seats.append(seats)
                else:
                    self._losses += 1
                return results
            if not take_seats(seats, args, self._device, may_write=self._losses < _MOST_LOSSES):
                self._spare_seats.append(seats)
                return None
            self._takes_values = any(seat.kind is not Array for seat in seats)

    def _call_any(self, args: tuple[Any, ...]) -> list[Any]:
        """Calls with arguments of which some are not Arrays of exactly the type compiled for, on this device."""
        device = _common_device(self._name, args)
        if device is not None and device is not self._device:
            return self._on(device)._call_any(args)
        buffers = self._consts.copy()
        for position, (x, aval) in enumerate(zip(args, self._in_avals, strict=True)):
            actual = x if type(x) is np.ndarray else get_aval(x)
            # The runtime compares sizes only: anything else of as many bytes would be read as this type.
            if actual.shape != aval.shape or (actual.dtype != aval.dtype and get_aval(x).dtype != aval.dtype):
                raise ArgumentTypeError(
                    f"{self._name}: expected {aval} as argument {position} of the compiled program, "
                    f"got {get_aval(x)}; pass what it was compiled for, or compile it for this type"
                )
            if aval.dtype != float0:
                buffers.append(_buffer_on(x, aval, self._device))
        return self._call_buffers(buffers, args)

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
        if raised is not None:  # here, where no other exception becomes its context
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
        """Puts the Arrays of results in the places of their buffers, and returns the list."""
        device = self._device
        for place, aval in enumerate(self._result_avals):
            array = Array()
            array._buffer = results[place]
            array._aval = aval
            array._device = device
            results[place] = array
        return results

    def _on(self, device: _jaxlib.Device) -> Compiled:
        """Returns the program compiled for another device."""
        assert self._lowered is not None, "there is no other device"
        found = self._elsewhere.get(device)
        if found is None:
            found = self._elsewhere[device] = Compiled(self._lowered, device, self._options)
        return found

    # Mistakes

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
        if not isinstance(error, _jaxlib.RuntimeFailure):
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

    def as_text(self) -> str:
        """Returns the program after XLA's optimizations, as HLO text."""
        return self._executable.hlo_text()

    def cost_analysis(self) -> dict[str, float]:
        """Returns the compiler's counts: ``"flops"``, ``"bytes accessed"``, ``"transcendentals"`` and others."""
        return self._executable.cost_analysis()

    def memory_analysis(self) -> dict[str, int]:
        """Returns the bytes of arguments, results, temporaries and code, by name."""
        return self._executable.memory_analysis()


def _map_of(executable: _jaxlib.Executable, in_aval: ShapedArray, out_aval: ShapedArray) -> Callable[[Any], Any]:
    """Returns `run_exact` of a program of one argument and one result, as a function from the one to the other.

    All that it needs is at hand, and no list is made: of the call of a small program this saves a tenth.
    """
    execute, handlers, device = executable.execute, executable.handlers, executable.device

    def run(x: Any) -> Any:
        if type(x) is not Array or x._aval is not in_aval:
            return None
        try:
            results = execute([x._buffer]).consume_with_handlers(handlers)
        except Exception:  # the plain way fails as well, and explains it
            return None
        array = Array()
        array._buffer = results[0]
        array._aval = out_aval
        array._device = device
        return array

    return run


def _common_device(name: str, args: tuple[Any, ...]) -> _jaxlib.Device | None:
    """Returns the device of the Arrays among the arguments; None if there is no Array."""
    found: _jaxlib.Device | None = None
    for x in args:
        if type(x) is Array and x._device is not found:
            if found is not None:
                raise ArgumentValueError(
                    f"{name}: expected all Arrays on one device, got one on {found} and one on {x._device}; "
                    "move them with device_put(x, device)"
                )
            found = x._device
    return found


backend: Final = Backend()
register_backend(backend)
