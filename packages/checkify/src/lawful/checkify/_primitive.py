"""``check``: a condition that a program states, with the values for the message where it does not hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from lawful import numpy as lawful_numpy
from lawful import tree
from lawful.core import ArgumentTypeError, Primitive, ShapedArray, Tracer, get_aval, is_array, shorten
from lawful.ops import move_batch_dim
from lawful.staging import HostFunction


class CheckError(ValueError):
    """A check failed. The text is the check's, without the user's line, as for errors that a callback raises.

    >>> import numpy as np
    >>> from lawful.checkify import check
    >>> check(False, "expected less than {}", np.array(2.0))
    Traceback (most recent call last):
    lawful.checkify._primitive.CheckError: expected less than 2.0 (`check` failed)

    Source: ``jax.experimental.checkify.JaxRuntimeError``.
    """


#: Its operands are the condition and the leaves of the values; its parameters:
#: - ``message``: a format string, or a text;
#: - ``in_tree``: the tree of the ``(args, kwargs)`` to format; None for a text;
#: - ``debug``: whether only `checkify` looks at it.
check_p = Primitive("check", multiple_results=True, effectful=True, pure_rules=True)


def check(pred: Any, msg: str, *fmt_args: Any, debug: bool = False, **fmt_kwargs: Any) -> None:
    """States a condition of a program. Where it fails, `checkify` returns an error; without `checkify`, it is raised.

    Args:
      pred: a boolean of shape ``()``.
      msg: a format string.
      fmt_args: pytrees of arrays of any shape and dtype, which ``msg`` formats as NumPy arrays.
      debug: whether it is ignored without `checkify`.
      fmt_kwargs: the same, by name.

    Raises:
      CheckError: the condition fails where no `checkify` returns the error, also in a compiled program.
      ArgumentTypeError: ``pred`` is not a boolean of shape ``()``, or a value is no array.
      KeyError: ``msg`` formats a value by a name that is not given.
      IndexError: ``msg`` formats a value by a position that is not given.

    >>> import numpy as np
    >>> check(2.0 > 1.0, "expected more, got {}", np.array(2.0))

    Source: ``jax.experimental.checkify.check``.
    """
    if not is_array(pred) or get_aval(pred).shape or get_aval(pred).dtype != bool:
        raise ArgumentTypeError(
            f"check: expected a boolean without dimensions, got {shorten(pred)}; use lawful.numpy.all"
        )
    leaves, in_tree = tree.flatten((fmt_args, fmt_kwargs))
    for leaf in leaves:
        if not hasattr(leaf, "dtype") or not is_array(leaf):
            raise ArgumentTypeError(f"check: expected arrays to format, got {shorten(leaf)}; use lawful.numpy.asarray")
    if not any(isinstance(x, Tracer) for x in (pred, *leaves)):
        failure(msg, in_tree, leaves)  # raises for a text that lacks a value
    check_p.bind(pred, *leaves, message=msg + " (`check` failed)", in_tree=in_tree, debug=debug)


def debug_check(pred: Any, msg: str, *fmt_args: Any, **fmt_kwargs: Any) -> None:
    """States a condition that counts under `checkify` only.

    Args:
      pred: a boolean of shape ``()``.
      msg: a format string.
      fmt_args: pytrees of arrays to format; see `check`.
      fmt_kwargs: the same, by name.

    Raises:
      ArgumentTypeError: ``pred`` is not a boolean of shape ``()``, or a value is no array.
      KeyError: ``msg`` formats a value by a name that is not given.
      IndexError: ``msg`` formats a value by a position that is not given.

    >>> debug_check(False, "never seen")

    Source: ``jax.experimental.checkify.debug_check``.
    """
    check(pred, msg, *fmt_args, debug=True, **fmt_kwargs)


def failure(message: str, in_tree: Any, leaves: Sequence[Any]) -> str:
    """Returns the text of an error, formatted with its values if it has a tree of them.

    >>> failure("negative: {}", tree.structure(((1.0,), {})), [-2.0])
    'negative: -2.0'
    """
    if in_tree is None:
        return message
    args, kwargs = tree.unflatten(in_tree, [*map(numpy.asarray, leaves)])
    return message.format(*args, **kwargs)


@check_p.def_impl
def _impl(pred: Any, *leaves: Any, message: str, in_tree: Any, debug: bool) -> list[Any]:
    if not debug and not pred:
        raise CheckError(failure(message, in_tree, leaves))
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
