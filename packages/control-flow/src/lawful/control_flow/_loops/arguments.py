"""Checks of loop arguments: functions, integers, trip counts, arrays to slice."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from lawful import tree
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    InvalidArgumentError,
    ShapedArray,
    Tracer,
    TracerIntegerConversionError,
    get_aval,
    is_array,
)
from lawful.ops import convert_element_type


def require_function(name: str, argument: str, value: Any) -> None:
    """Raises ArgumentTypeError if an argument is not a function."""
    if not callable(value):
        raise ArgumentTypeError(
            f"{name}: expected a function as {argument}, got {type(value).__name__}; wrap it in a lambda"
        )


def strong(x: Any) -> Any:
    """Returns a weak value as a strong one of its dtype."""
    aval = get_aval(x)
    return convert_element_type(x, aval.dtype) if aval.weak_type else x


def integer(name: str, argument: str, value: Any, least: int) -> int:
    """Returns an argument as an int.

    Raises:
      TracerIntegerConversionError: it is an abstract tracer.
      ArgumentTypeError: it is not an integer.
      ArgumentValueError: it is less than ``least``.
    """
    if isinstance(value, Tracer):
        raise TracerIntegerConversionError(
            f"{name}: expected a known integer as {argument}, got the traced {get_aval(value)}; make it static"
        )
    try:
        number = operator.index(value)
    except TypeError:
        got = get_aval(value) if is_array(value) else type(value).__name__
        raise ArgumentTypeError(f"{name}: expected an integer as {argument}, got {got}; give an int") from None
    if number < least:
        raise ArgumentValueError(f"{name}: expected {argument} of at least {least}, got {number}; give a larger one")
    return number


def trip_count(name: str, xs: Any, avals: Sequence[ShapedArray], length: Any) -> int:
    """Returns the trip count of a loop over slices, on which ``length`` and all arrays must agree.

    Args:
      name: the construct, for error messages.
      xs: a tree of arrays that are sliced along their first dimension.
      avals: the types of its leaves.
      length: the trip count if it is given, else None.

    Raises:
      TracerIntegerConversionError: the length is an abstract tracer.
      ArgumentTypeError: the length is not an integer.
      InvalidArgumentError: an array has no dimension.
      ArgumentValueError: the lengths differ, or there is neither an array nor a length.
    """
    if isinstance(length, Tracer):
        raise TracerIntegerConversionError(
            f"{name}: expected a known integer as length, got the traced {get_aval(length)}; the trip count "
            "decides shapes: make it static, or use while_loop or fori_loop"
        )
    wanted = None if length is None else integer(name, "length", length, 0)
    labels = [f"xs{tree.keystr(path)}" for path, _ in tree.leaves_with_path(xs)]
    for label, aval in zip(labels, avals, strict=True):
        if not aval.shape:
            raise InvalidArgumentError(
                f"{name}: expected arrays to slice, got {aval} at {label}; give it a first dimension, or let the "
                "function close over it"
            )
    lengths = {aval.shape[0] for aval in avals} | (set() if wanted is None else {wanted})
    if not lengths:
        raise ArgumentValueError(f"{name}: expected arrays in xs, or a length, got neither; give xs")
    if len(lengths) > 1:
        found = [f"{aval.shape[0]} at {label}" for label, aval in zip(labels, avals, strict=True)]
        found += [] if wanted is None else [f"length={wanted}"]
        raise ArgumentValueError(
            f"{name}: expected first dimensions of one length, got {', '.join(found)}; cut or pad them"
        )
    return int(lengths.pop())
