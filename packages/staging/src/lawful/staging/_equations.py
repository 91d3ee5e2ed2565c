"""The operands of a recorded equation, and the types of its results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from lawful.core import (
    ArgumentTypeError,
    Primitive,
    ShapedArray,
    get_aval,
    holds_constants,
    set_current,
    shorten,
    vary_alike,
    with_weakness_of_jaxprs,
)
from lawful.ops import with_weakness_of

if TYPE_CHECKING:
    from lawful.staging._recorder import Recorder


def operands_of(
    trace: Recorder, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]
) -> tuple[Sequence[Any], dict[str, Any]]:
    """Returns the operands and the parameters of the equation for a primitive applied to ``args``."""
    if "stage" in primitive.rules:  # a call of a Python function, which becomes a jaxpr
        args, params = primitive.rule("stage")(trace, args, params)
    if "hoist" in primitive.rules and holds_constants(params):
        args, params = primitive.rule("hoist")(args, params)
    if "weakness" in primitive.rules:
        args = _with_weakness_of_jaxprs(trace, primitive, args, params)
    if trace.checked_axes:
        args, params = vary_alike(trace, trace.casts, primitive, args, params)
    return args, params


def _with_weakness_of_jaxprs(
    trace: Recorder, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]
) -> Sequence[Any]:
    have = [get_aval(x) for x in args]
    wanted = with_weakness_of_jaxprs(primitive, have, params)
    if have == wanted:
        return args
    with set_current(trace):
        return [*map(with_weakness_of, args, wanted)]


def result_avals(primitive: Primitive, out: Any) -> list[ShapedArray]:
    """Returns what an abstract evaluation gave as a list of types; raises ArgumentTypeError if it is none."""
    values = [out] if not primitive.multiple_results else [*out] if isinstance(out, Iterable) else out
    if isinstance(values, list) and all(type(getattr(value, "aval", value)) is ShapedArray for value in values):
        return [getattr(value, "aval", value) for value in values]
    wanted = "a list of ShapedArray" if primitive.multiple_results else "a ShapedArray"
    raise ArgumentTypeError(
        f"abstract evaluation of '{primitive.name}': expected {wanted}, got {shorten(out)} of type "
        f"{type(out).__name__}; return a ShapedArray for each result, and a list of them if and only if the primitive "
        "has multiple_results"
    )
