"""The operands of a recorded equation, and the types of its results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from lawful.core import (
    ArgumentTypeError,
    ClosedJaxpr,
    Primitive,
    ShapedArray,
    eval_closed_jaxpr,
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
        with set_current(trace):
            args = operands_of_call(primitive, args, params)
    if trace.checked_axes:
        args, params = vary_alike(trace, trace.casts, primitive, args, params)
    return args, params


def operands_of_call(primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Sequence[Any]:
    """Returns operands of a recorded call with the weakness of the inputs of its jaxprs.

    >>> from lawful.core import parse_jaxpr
    >>> from lawful.staging import jit_p
    >>> operands_of_call(jit_p, [2.0], {"jaxpr": parse_jaxpr("{ lambda ; a:f64[]. let in (a,) }")})
    [np.float64(2.0)]
    """
    have = [get_aval(x) for x in args]
    wanted = with_weakness_of_jaxprs(primitive, have, params)
    return args if have == wanted else [*map(with_weakness_of, args, wanted)]


def eval_call(closed: ClosedJaxpr, *args: Any) -> list[Any]:
    """Returns the outputs of the jaxpr of a recorded call, at operands that may have another weakness than its inputs.

    The outputs have the types that the jaxpr states, as where the call is compiled.

    >>> from lawful.core import parse_jaxpr
    >>> eval_call(parse_jaxpr("{ lambda ; a:f64[]. let in (a,) }"), 2.0)
    [np.float64(2.0)]
    """
    return eval_closed_jaxpr(closed, *map(with_weakness_of, args, closed.in_avals))


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
