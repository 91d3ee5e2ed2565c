"""``io_callback``: a Python function with side effects as an operation of a program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from lawful import tree
from lawful.core import Primitive, ShapedArray
from lawful.ops import move_batch_dim
from lawful.staging._callbacks.host_function import HostCall, call_each_element, host_function

io_callback_p = Primitive("io_callback", multiple_results=True, effectful=True, pure_rules=True)


def io_callback(
    callback: Callable[..., Any], result_shape_dtypes: Any, *args: Any, ordered: bool = False, **kwargs: Any
) -> Any:
    """Returns ``callback(*args, **kwargs)``, which Python computes each time that the program gets there.

    Args:
      callback: a function of pytrees of NumPy arrays, of which it gets copies. It may have side effects: read a file,
        draw a number, count. It may call functions made by `jit`.
      result_shape_dtypes: the pytree that it returns, with ``ShapeDtypeStruct`` or arrays as leaves; None for nothing.
      args: pytrees of arrays.
      ordered: whether its order among the other ordered calls is guaranteed. Here all calls of a program, also the
        unordered ones, run in the order of the program.
      kwargs: the same as ``args``, by name.

    It is called also where nothing needs the result. Under `vmap` it is called for each element in order, or once where
    no argument is mapped; in a branch only if it is taken; in a loop in each iteration; `checkpoint` calls it again
    where it computes again. A compiled program that calls Python blocks until all calls have returned, and raises their
    errors.

    Raises:
      ArgumentTypeError: what it returns differs from ``result_shape_dtypes`` in structure, shape or dtype.
      MissingRuleError: its derivative is asked for. Pass ``stop_gradient(x)``, or use ``custom_jvp`` or ``custom_vjp``.

    Law: what is called, and how often, does not depend on whether a function is compiled. Source:
    ``jax.experimental.io_callback``.

    >>> import itertools
    >>> import numpy as np
    >>> from lawful.staging import jit
    >>> count = itertools.count()
    >>> numbered = jit(lambda x: x + io_callback(lambda: next(count), np.array(0)))
    >>> float(numbered(10.0)), float(numbered(10.0))
    (10.0, 11.0)
    """
    leaves, call = host_function("io_callback", callback, result_shape_dtypes, args, kwargs)
    outs = io_callback_p.bind(*leaves, callback=call, ordered=bool(ordered))
    return tree.unflatten(call.out_tree, outs)


@io_callback_p.def_impl
def _impl(*args: Any, callback: HostCall, ordered: bool) -> list[Any]:
    return callback(*args)


@io_callback_p.def_abstract_eval
def _abstract_eval(*avals: ShapedArray, callback: HostCall, ordered: bool) -> list[ShapedArray]:
    return list(callback.results)


@io_callback_p.def_batch
def _batch(
    args: Sequence[Any], dims: Sequence[int | None], *, axis_data: Any, callback: HostCall, ordered: bool
) -> tuple[list[Any], list[int]]:
    operands = [x if dim is None else move_batch_dim(x, dim) for x, dim in zip(args, dims, strict=True)]
    each = call_each_element(callback, dims, axis_data.size)
    outs = io_callback_p.bind(*operands, callback=each, ordered=ordered)
    return outs, [0] * len(outs)


@io_callback_p.def_lowering
def _lower(ctx: Any, *operands: Any, callback: HostCall, ordered: bool) -> Any:
    return ctx.callback(callback, operands)


_NO_DERIVATIVE: Final = (
    "a Python function has no derivative that could be found; call it with lawful.autodiff.stop_gradient(x), or give "
    "the derivative by lawful.custom_rules.custom_jvp or custom_vjp"
)
io_callback_p.declare_absent("jvp", _NO_DERIVATIVE)
io_callback_p.declare_absent("transpose", _NO_DERIVATIVE)
