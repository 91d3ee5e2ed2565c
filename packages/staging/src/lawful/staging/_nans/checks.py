"""``debug_nans``: an error for the first operation that gives a NaN."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import ContextDecorator
from typing import Any, Literal, Never

import numpy as np

from lawful.core import (
    ArgumentTypeError,
    EvalTrace,
    NonFiniteError,
    Primitive,
    as_bool,
    eval_trace,
    evaluation_hook,
    is_inexact,
    new_trace,
    shorten,
)
from lawful.staging._nans.blame import Blame, special_masks
from lawful.staging._nans.observation import end_observation, start_observation, unchecked
from lawful.staging._nans.trace import KINDS, BlameTrace, CannotRepeatError
from lawful.staging._signature import function_name


class _Request:
    """Whether NaNs, and infinities, are to be looked for: by `set_debug_nans`, or in a block that is open."""

    __slots__ = ("wanted",)

    def __init__(self, nans: bool, infs: bool) -> None:
        self.wanted = nans, infs


_lock = threading.RLock()
#: The request of `set_debug_nans`, then one for each open block of any thread, the newest last. The last one holds.
_requests = [_Request(False, False)]
#: Whether NaNs, and infinities, are looked for.
_wanted = (False, False)


class CheckedEvalTrace(EvalTrace):
    """Evaluation that raises NonFiniteError for a NaN, or an infinity, in a result."""

    __slots__ = ()

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        if unchecked.state.busy:
            return super().process_primitive(primitive, args, params)
        overflow: Literal["ignore"] | None = "ignore" if _wanted[1] else None
        with unchecked(), np.errstate(invalid="ignore", over=overflow, divide=overflow):
            out = super().process_primitive(primitive, args, params)
            kind = _first_kind(out if primitive.multiple_results else [out])
            if kind is not None and not any([_is_special_number(x, kind) for x in args]):
                _raise(primitive, args, params, out, kind)
        return out


def _first_kind(outs: Sequence[Any]) -> int | None:
    for x in outs:
        for part in _local_parts(x):
            for kind, mask in enumerate(special_masks(part)):
                if mask is not None and _wanted[kind] and mask.any():
                    return kind
    return None


def _is_special_number(x: Any, kind: int) -> bool:
    """Whether an operand is NaN, or infinite, as a number: rules choose between such a constant and other values."""
    mask = special_masks(x)[kind] if np.shape(x) == () else None
    return mask is not None and bool(mask)


def _local_parts(x: Any) -> list[Any]:
    """Returns the arrays of this process that make up an array."""
    if getattr(x, "is_fully_addressable", True):
        return [x]
    return [shard.data for shard in x.addressable_shards]


def _raise(primitive: Primitive, args: Sequence[Any], params: dict[str, Any], out: Any, kind: int) -> None:
    name = params.get("name")
    where = f"{primitive.name} of {name}" if isinstance(name, str) else primitive.name
    message = f"debug_nans: expected {'finite ' * kind}numbers, got {KINDS[kind]} in a result of {where}"
    blame = None
    if all([getattr(x, "is_fully_addressable", True) for x in args]):
        try:
            blame = _evaluated_again(primitive, args, params, out, kind)
            message += f"\n{blame}" if blame else "; evaluated by NumPy, one equation after the other, it gives none"
            if blame is not None and (blame.given or (blame.cause is not None and blame.cause.given)):
                message += "\n  lawful.debug.blame_nan(f)(*args) of the whole function finds where that was made"
        except CannotRepeatError as error:
            message += f"; it is not evaluated again to find the equation, because it calls {error} for an effect"
    else:
        message += "; the equation is not looked for, because other processes have parts of the operands"
    raised = NonFiniteError(message)
    raised.blame = blame
    raise raised


def _evaluated_again(
    primitive: Primitive, args: Sequence[Any], params: dict[str, Any], out: Any, kind: int
) -> Blame | None:
    trace = BlameTrace(repeats=True)
    with new_trace(trace):
        operands = [trace.new_input(x, f"operand {i} of {primitive.name}") for i, x in enumerate(args)]
        if "expand" in primitive.rules:
            out = trace.process_primitive(primitive, operands, params)
        else:
            out = trace.judge(primitive, operands, params, out)
    # A predicate or an index knows what decided it, which need not be what is looked for.
    made = [x.made[kind] for x in (out if primitive.multiple_results else [out]) if is_inexact(x.aval.dtype)]
    return next((blame for blame in made if blame is not None), None)


def set_debug_nans(nans: bool, infs: bool = False) -> None:
    """Sets whether results are checked for NaNs and for infinities, in every thread, outside of blocks of `debug_nans`.

    Raises:
      ArgumentTypeError: a value is neither True nor False.

    >>> set_debug_nans(True)
    >>> set_debug_nans(False)
    """
    request = _Request(as_bool("set_debug_nans", "nans", nans), as_bool("set_debug_nans", "infs", infs))
    with _lock:
        _requests[0] = request
        _switch()


def _switch() -> None:
    """Starts or ends the checks, as the last request wants."""
    global _wanted
    before, _wanted = _wanted, _requests[-1].wanted
    if any(before) == any(_wanted):
        return
    # Functions of arrays must not call NumPy past the primitives, as they may where nothing is recorded.
    eval_trace.evaluates_constants = not any(_wanted)
    if any(_wanted):
        start_observation()
        evaluation_hook.override(CheckedEvalTrace)
    else:
        evaluation_hook.restore(CheckedEvalTrace)
        end_observation()


class debug_nans(ContextDecorator):
    """Raises NonFiniteError where an operation gives a NaN: within a ``with`` block, or a function that it decorates.

    Args:
      enable: False to check nothing within a block that checks.
      infs: whether an infinity is an error too.

    An eager operation is checked when it is evaluated, also those of derivatives. An operation between NumPy's arrays,
    such as ``x / x`` outside of transformations, is NumPy's own and is not checked. Only a NaN that is given as a
    number is a constant, which programs choose on purpose. A compiled function, a loop and a branch are checked when
    they return; if a result has a NaN, their equations are evaluated again, one after the other, to find the one that
    made it. Functions of ``debug.print``, ``debug.callback`` and ``io_callback`` are not called again. The error names
    the equation, its operands, the user's line, the rules through which it came from the line, and the iterations and
    branches that it is in; its attribute ``blame`` is a :class:`Blame`.

    It holds in every thread; of several open blocks the newest one decides. Operations run on the plain interpreters,
    and functions are traced once more, so eager code is slower. Without it, nothing is checked and nothing is slower.
    ``LAWFUL_DEBUG_NANS=1`` in the environment switches it on for a process that imports a transformation or
    ``lawful.numpy``; ``LAWFUL_DEBUG_NANS=infs`` looks for infinities too.

    Raises:
      NonFiniteError: a ``FloatingPointError``, within the block.
      ArgumentTypeError: it decorates a function without its parentheses, or gets another value than True or False.

    Law: a program whose operations give no NaN returns the same results, as exactly as when it is compiled. Source:
    ``jax.debug_nans``.

    >>> from lawful.ops import log
    >>> with debug_nans():
    ...     log(-1.0)
    Traceback (most recent call last):
    lawful.core...NonFiniteError: ...debug_nans: expected numbers, got NaN in a result of log
    NaN was made by log at ...
      log -1.0 = nan
    """

    def __init__(self, enable: bool = True, *given: Never, infs: bool = False) -> None:
        if given:
            raise ArgumentTypeError(
                f"debug_nans: expected one positional argument, got also {shorten(given[0])}; write "
                "debug_nans(infs=True) to look for infinities too"
            )
        if callable(enable):
            raise ArgumentTypeError(
                f"debug_nans: expected True or False, got the function {function_name(enable)}; "
                "write @debug_nans(), with parentheses"
            )
        if not isinstance(enable, bool | np.bool_):
            raise ArgumentTypeError(f"debug_nans: expected True or False, got {shorten(enable)}; pass one of them")
        self._wanted = bool(enable), as_bool("debug_nans", "infs", infs) and bool(enable)
        self._entered: list[_Request] = []

    def __enter__(self) -> None:
        request = _Request(*self._wanted)
        with _lock:
            self._entered.append(request)
            _requests.append(request)
            _switch()

    def __exit__(self, *error: object) -> None:
        with _lock:
            _requests.remove(self._entered.pop())
            _switch()
