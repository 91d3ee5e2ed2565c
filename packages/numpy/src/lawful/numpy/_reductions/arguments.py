"""The arguments ``where`` and ``initial`` of reductions."""

from __future__ import annotations

from typing import Any

from lawful.core import ArgumentTypeError, ArgumentValueError, InvalidArgumentError, NonArrayError, get_aval


def require_mask(name: str, where: Any) -> None:
    """Raises InvalidArgumentError if ``where`` is not None and no array of booleans."""
    if where is None:
        return
    try:
        aval = get_aval(where)
    except NonArrayError:
        got = f"the {type(where).__name__} {where!r}" if isinstance(where, list | tuple) else repr(where)
        raise InvalidArgumentError(
            f"{name}: expected an array of booleans as where, got {got}; convert it with numpy.asarray(where, bool)"
        ) from None
    if aval.dtype.kind != "b":
        raise InvalidArgumentError(
            f"{name}: expected booleans as where, got {aval}; compare with zero, as in where=x != 0"
        )


def require_initial(name: str, initial: Any) -> None:
    """Raises an error if ``initial`` is not None and not a scalar: ArgumentTypeError if it is no array at all."""
    if initial is None or type(initial) is int:
        return
    try:
        aval = get_aval(initial)
    except NonArrayError:
        raise ArgumentTypeError(
            f"{name}: expected a scalar as initial, got {initial!r} of type {type(initial).__name__}; give a number"
        ) from None
    if aval.shape:
        raise ArgumentValueError(f"{name}: expected a scalar as initial, got {aval}; combine the result with the array")
