"""``check_p``: a condition that a program states, with the values for the message where it does not hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lawful import numpy as lawful_numpy
from lawful import tree
from lawful.core import Primitive, ShapedArray
from lawful.jax._support.array import seal
from lawful.ops import move_batch_dim
from lawful.staging import HostFunction


class JaxRuntimeError(ValueError):
    """A check failed. The text is the check's, as for errors of a callback.

    Source: ``jax.experimental.checkify.JaxRuntimeError``.
    """


#: Its operands are the condition and the leaves of the values; its parameters:
#: - ``message``: a format string;
#: - ``in_tree``: the tree of the ``(args, kwargs)`` to format;
#: - ``debug``: whether only `checkify` looks at it.
check_p = Primitive("check", multiple_results=True, effectful=True, pure_rules=True)


def failure(message: str, in_tree: Any, leaves: Sequence[Any]) -> str:
    """Returns the text of a failed check.

    >>> failure("negative: {}", tree.structure(((1.0,), {})), [-2.0])
    'negative: -2.0 (`check` failed)'
    """
    args, kwargs = tree.unflatten(in_tree, [*map(seal, leaves)])
    return message.format(*args, **kwargs) + " (`check` failed)"


@check_p.def_impl
def _impl(pred: Any, *leaves: Any, message: str, in_tree: Any, debug: bool) -> list[Any]:
    if not debug and not pred:
        raise JaxRuntimeError(failure(message, in_tree, leaves))
    return []


@check_p.def_abstract_eval
def _abstract_eval(*avals: ShapedArray, **params: Any) -> list[ShapedArray]:
    return []


@check_p.def_jvp
def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[list[Any], list[Any]]:
    return check_p.bind(*primals, **params), []


@check_p.def_batch
def _batch(
    args: Sequence[Any], dims: Sequence[int | None], *, axis_data: Any, **params: Any
) -> tuple[list[Any], list[int]]:
    if not axis_data.size:
        return [], []
    pred, *leaves = [x if dim is None else move_batch_dim(x, dim) for x, dim in zip(args, dims, strict=True)]
    first = 0
    if dims[0] is not None:
        first = lawful_numpy.argmin(pred)
        pred = lawful_numpy.all(pred)
    values = [
        x if dim is None else lawful_numpy.take(x, first, axis=0) for x, dim in zip(leaves, dims[1:], strict=True)
    ]
    return check_p.bind(pred, *values, **params), []


@check_p.def_lowering
def _lower(ctx: Any, *operands: Any, message: str, in_tree: Any, debug: bool) -> Any:
    def raise_failure(pred: Any, *leaves: Any) -> None:
        _impl(pred, *leaves, message=message, in_tree=in_tree, debug=debug)

    args = tree.structure(((0,) * len(operands), {}))
    return ctx.callback(HostFunction("check", raise_failure, args), operands)


check_p.declare_absent("transpose", "it gives nothing that a cotangent could belong to")
