"""``closure_convert``: a function that takes what it closes over as arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lawful import tree
from lawful.autodiff import match_tree
from lawful.core import ArgumentTypeError, Tracer, eval_jaxpr, get_aval, is_inexact
from lawful.ops import with_weakness_of
from lawful.staging import function_name, in_avals, merge_lists, require_callable, trace_tree


def closure_convert(fun: Callable[..., Any], *example_args: Any) -> tuple[Callable[..., Any], list[Any]]:
    """Returns ``fun`` as a function that also takes what it closes over of enclosing transformations, and that.

    A rule of a custom derivative must not close over what is being differentiated: it takes it as an argument.

    Args:
      fun: a function of pytrees of arrays that returns such a tree.
      example_args: arguments of the types that it will be called with, or ``ShapeDtypeStruct`` in their place.

    Returns:
      ``(converted_fun, consts)`` with ``converted_fun(*args, *consts) = fun(*args)``. Of what ``fun`` closes over,
      ``consts`` has the floating and complex values that are being transformed; others, which have no derivative,
      stay in the function.

    Raises:
      NonArrayError: a leaf of the arguments or of the result is not an array.
      ArgumentTypeError: ``converted_fun`` is called with other types, or not with all of ``consts``.

    Source: ``jax.closure_convert``.

    >>> from lawful.autodiff import grad
    >>> def f(x):
    ...     converted, consts = closure_convert(lambda y: x * y, 1.0)
    ...     return converted(5.0, *consts)
    >>> grad(f)(2.0)
    5.0
    """
    require_callable("closure_convert", fun)
    name = f"closure_convert of {function_name(fun)}"
    leaves, in_tree = tree.flatten((example_args, {}))
    avals = in_avals(name, (example_args, {}), leaves)
    closed, out_tree = trace_tree("closure_convert", fun, in_tree, avals)
    hoisted = [isinstance(x, Tracer) and is_inexact(get_aval(x).dtype) for x in closed.consts]
    consts = [x for x, is_hoisted in zip(closed.consts, hoisted, strict=True) if is_hoisted]
    staying = [x for x, is_hoisted in zip(closed.consts, hoisted, strict=True) if not is_hoisted]
    arity = len(example_args)

    def converted_fun(*args: Any) -> Any:
        if len(args) != arity + len(consts):
            raise ArgumentTypeError(
                f"{name}: expected {arity} arguments and then the {len(consts)} constants, got {len(args)}; "
                "call converted_fun(*args, *consts)"
            )
        given = match_tree(name, "arguments", "example arguments", in_tree, (args[:arity], {}))
        expected = [*map(get_aval, consts), *avals]
        values = [*args[arity:], *given]
        for aval, x in zip(expected, values, strict=True):
            have = get_aval(x)
            if (have.shape, have.dtype) != (aval.shape, aval.dtype):
                raise ArgumentTypeError(
                    f"{name}: expected arguments of the types of the example, {', '.join(map(str, expected))} with the "
                    f"constants first, got {have} for {aval}; convert the closure again for other types"
                )
        typed = [*map(with_weakness_of, values, expected)]
        all_consts = merge_lists(hoisted, staying, typed[: len(consts)])
        return tree.unflatten(out_tree, eval_jaxpr(closed.jaxpr, all_consts, *typed[len(consts) :]))

    return converted_fun, consts
