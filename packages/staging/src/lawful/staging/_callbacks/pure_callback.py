"""``pure_callback``: a Python function of NumPy arrays as an operation of a program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from lawful import tree
from lawful.core import (
    ArgumentValueError,
    MissingRuleError,
    Primitive,
    ShapedArray,
)
from lawful.ops import add_batch_dim, move_batch_dim
from lawful.staging._callbacks.host_function import HostFunction, batched_results, call_each_element, host_function

pure_callback_p = Primitive("pure_callback", multiple_results=True, pure_rules=True)

#: The ways in which `vmap` calls a function, and how an argument that is not mapped comes.
_VMAP_METHODS: Final = ("sequential", "sequential_unrolled", "expand_dims", "broadcast_all")


def pure_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    vmap_method: str | None = None,
    **kwargs: Any,
) -> Any:
    """Returns ``callback(*args, **kwargs)``, computed by Python when the program runs, also under ``jit``.

    Args:
      callback: a function of pytrees of NumPy arrays. It is pure: it has no effects, and its result depends on its
        arguments only, so that a program may call it more or less often than it says, or not at all where nothing
        needs the result. It may call functions made by ``jit``.
      result_shape_dtypes: the pytree that it returns, with ``ShapeDtypeStruct`` or arrays as leaves.
      args: pytrees of arrays, of which the function gets copies.
      vmap_method: how ``vmap`` calls it: ``"sequential"``, once for each element, ``"sequential_unrolled"`` likewise;
        ``"expand_dims"``, once, with the batch dimension in front of every array, of length 1 where an argument is not
        mapped; ``"broadcast_all"``, once, with a batch dimension of full length everywhere. By default ``vmap`` raises.
      kwargs: the same as ``args``, by name.

    A compiled program that calls Python is waited for, so that what ``callback`` raises comes out of the call.

    Raises:
      ArgumentTypeError: what it returns differs from ``result_shape_dtypes`` in structure, shape or dtype; names the
        place. A Python number stands for a scalar of any dtype that it promotes to.
      ArgumentValueError: there is no such ``vmap_method``.
      MissingRuleError: its derivative is asked for. Give one by ``custom_jvp`` or ``custom_vjp``.

    Law: ``jit(f) = f``. Source: ``jax.pure_callback``.

    >>> import numpy as np
    >>> from lawful.staging import ShapeDtypeStruct, jit
    >>> f = jit(lambda x: pure_callback(np.cumsum, ShapeDtypeStruct(x.shape, x.dtype), x))
    >>> np.asarray(f(np.array([1.0, 2.0, 3.0])))
    array([1., 3., 6.])
    """
    leaves, call = host_function("pure_callback", callback, result_shape_dtypes, args, kwargs)
    if vmap_method is not None and vmap_method not in _VMAP_METHODS:
        raise ArgumentValueError(
            f"{call.label}: expected vmap_method {_methods()}, got {vmap_method!r}; choose one of those"
        )
    return tree.unflatten(call.out_tree, pure_callback_p.bind(*leaves, callback=call, vmap_method=vmap_method))


def _methods() -> str:
    return f"{', '.join(map(repr, _VMAP_METHODS[:-1]))} or {_VMAP_METHODS[-1]!r}"


@pure_callback_p.def_impl
def _impl(*args: Any, callback: HostFunction, **_: Any) -> list[Any]:
    return callback(*args)


@pure_callback_p.def_abstract_eval
def _abstract_eval(*avals: ShapedArray, callback: HostFunction, **_: Any) -> list[ShapedArray]:
    return list(callback.results)


@pure_callback_p.def_batch
def _batch(
    args: Sequence[Any], dims: Sequence[int | None], *, axis_data: Any, callback: Any, vmap_method: str | None
) -> tuple[list[Any], list[int]]:
    if vmap_method is None:
        raise MissingRuleError(
            f"vmap of {callback.label}: expected a vmap_method, got None; give pure_callback vmap_method={_methods()}"
        )
    size = axis_data.size
    if vmap_method.startswith("sequential"):
        operands = [x if dim is None else move_batch_dim(x, dim) for x, dim in zip(args, dims, strict=True)]
        batched: Any = call_each_element(callback, dims, size)
    else:
        shared = 1 if vmap_method == "expand_dims" else size
        operands = [
            add_batch_dim(x, shared) if dim is None else move_batch_dim(x, dim)
            for x, dim in zip(args, dims, strict=True)
        ]
        batched = replace(callback, results=batched_results(callback, size))
    outs = pure_callback_p.bind(*operands, callback=batched, vmap_method=vmap_method)
    return outs, [0] * len(outs)


@pure_callback_p.def_lowering
def _lower(ctx: Any, *operands: Any, callback: HostFunction, **_: Any) -> Any:
    return ctx.callback(callback, operands)


_NO_DERIVATIVE: Final = (
    "a Python function has no derivative that could be found; wrap the function that calls it in "
    "lawful.custom_rules.custom_jvp or custom_vjp, and give the derivative there"
)
pure_callback_p.declare_absent("jvp", _NO_DERIVATIVE)
pure_callback_p.declare_absent("transpose", _NO_DERIVATIVE)
