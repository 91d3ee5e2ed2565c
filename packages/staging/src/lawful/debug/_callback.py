"""``debug.callback``: a Python function that a program calls for what it does."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from lawful import tree
from lawful.core import Primitive, ShapedArray, Tracer, is_array, user_source
from lawful.ops import move_batch_dim
from lawful.staging import HostCall, HostFunction, call_each_element, function_name, require_callable, require_usable

debug_callback_p = Primitive("debug_callback", multiple_results=True, effectful=True, pure_rules=True)


def callback(callback: Callable[..., Any] | None = None, *args: Any, ordered: bool = False, **kwargs: Any) -> Any:
    """Calls ``callback(*args, **kwargs)`` when the program runs, once each time that it gets there.

    Args:
      callback: a function of pytrees of NumPy arrays; what it returns does not count. Without it, the function
        ``callback(ordered=…)`` is returned, whose keyword arguments are all the callback's own.
      args: pytrees, of whose arrays and numbers the function gets copies as arrays; it is given all else as it is.
      ordered: whether its order among the other ordered calls is guaranteed. Here all calls of a program, also the
        unordered ones, run in the order of the program.
      kwargs: the same as ``args``, by name.

    It computes nothing: under ``jvp``, ``grad`` and their like it is called with primal values, once, and is not
    transposed; ``checkpoint`` calls it again where it computes again. Under ``vmap`` it is called for each element in
    order, or once where no argument is mapped; in a branch only if it is taken; in a loop in each iteration. A
    compiled program that calls Python blocks until all calls have returned, and raises their errors.

    Law: what is called, and how often, does not depend on whether a function is compiled. Source:
    ``jax.debug.callback``.

    >>> from lawful.staging import jit
    >>> seen = []
    >>> @jit
    ... def double(x):
    ...     callback(seen.append, x)
    ...     return x + x
    >>> float(double(3.0)), seen
    (6.0, [array(3.)])
    """
    if callback is None:
        return functools.partial(_call, ordered)
    return _call(ordered, callback, *args, **kwargs)


def _call(ordered: bool, callback: Callable[..., Any], /, *args: Any, **kwargs: Any) -> None:
    require_callable("debug.callback", callback)
    call_on_host(f"debug.callback of {function_name(callback)}", callback, args, kwargs, ordered)


def call_on_host(
    label: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], ordered: bool
) -> None:
    """Binds the primitive for the call of a function of pytrees."""
    leaves, in_tree = tree.flatten((args, kwargs))
    arrays = []
    static = []
    for position, leaf in enumerate(leaves):
        if is_array(leaf):
            if isinstance(leaf, Tracer):
                require_usable(leaf)
            arrays.append(leaf)
        else:
            static.append((position, leaf))
    call = HostFunction(label, function, in_tree, tuple(static), source=user_source())
    debug_callback_p.bind(*arrays, callback=call, ordered=ordered)


@debug_callback_p.def_impl
def _impl(*args: Any, callback: HostCall, ordered: bool) -> list[Any]:
    return callback(*args)


@debug_callback_p.def_abstract_eval
def _abstract_eval(*avals: ShapedArray, callback: HostCall, ordered: bool) -> list[ShapedArray]:
    return []


@debug_callback_p.def_jvp
def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[list[Any], list[Any]]:
    return debug_callback_p.bind(*primals, **params), []


@debug_callback_p.def_batch
def _batch(
    args: Sequence[Any], dims: Sequence[int | None], *, axis_data: Any, callback: HostCall, ordered: bool
) -> tuple[list[Any], list[int]]:
    operands = [x if dim is None else move_batch_dim(x, dim) for x, dim in zip(args, dims, strict=True)]
    each = call_each_element(callback, dims, axis_data.size)
    return debug_callback_p.bind(*operands, callback=each, ordered=ordered), []


@debug_callback_p.def_lowering
def _lower(ctx: Any, *operands: Any, callback: HostCall, ordered: bool) -> Any:
    return ctx.callback(callback, operands)


debug_callback_p.declare_absent("transpose", "it gives nothing that a cotangent could belong to")
