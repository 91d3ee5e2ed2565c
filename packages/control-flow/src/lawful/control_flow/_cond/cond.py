"""``cond`` and ``switch``: one of several functions, chosen by a value that may be traced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful import tree
from lawful.control_flow._cond.branches import trace_branches
from lawful.control_flow._cond.primitive import cond_p
from lawful.control_flow._loops.arguments import strong
from lawful.core import ArgumentTypeError, ArgumentValueError, get_aval, is_array
from lawful.ops import clamp, convert_element_type, ne
from lawful.staging import copy_aliased, flatten_outputs, is_jit_disabled, known_value


def cond(pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any) -> Any:
    """Returns ``true_fun(*operands)`` if ``pred`` holds, and ``false_fun(*operands)`` if not.

    Only the branch taken is computed. Both are traced, so that they can be checked against each other, and must give
    results of one structure, shape and dtype.

    Args:
      pred: a boolean scalar, or a number that is compared with zero.
      true_fun: a function of pytrees of arrays that returns such a tree. It may close over arrays and tracers.
      false_fun: the same.
      operands: the arguments of both.

    Under ``vmap`` it stays a ``cond`` while the predicate is the same for all elements; else both branches are
    computed and each element selects. Its derivative is that of the branch taken all the same.

    Raises:
      ArgumentTypeError: the predicate is not a scalar, or the branches differ in structure, shape or dtype.

    Law: equal to the branch taken, under every transformation. Source: ``jax.lax.cond``.

    >>> cond(True, lambda x: x + 1.0, lambda x: x - 1.0, 3.0)
    np.float64(4.0)
    """
    for name, fun in (("true_fun", true_fun), ("false_fun", false_fun)):
        if not callable(fun):
            raise ArgumentTypeError(
                f"cond: expected a function as {name}, got {type(fun).__name__}; wrap it in a lambda"
            )
    if not is_array(pred) or get_aval(pred).shape:
        got = get_aval(pred) if is_array(pred) else type(pred).__name__
        raise ArgumentTypeError(
            f"cond: expected a boolean scalar as predicate, got {got}; reduce it with all or any, or use where"
        )
    index = convert_element_type(pred if get_aval(pred).dtype == bool else ne(pred, 0), np.int32)
    return _choose("cond", index, (false_fun, true_fun), ("false_fun", "true_fun"), operands)


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """Returns ``branches[index](*operands)``, the index limited to those that exist.

    Args:
      index: an integer scalar.
      branches: functions of pytrees of arrays whose results have one structure, shape and dtype.
      operands: the arguments of all.

    Raises:
      ArgumentTypeError: the index is not an integer scalar, a branch is not a function, or the branches differ in
        structure, shape or dtype.
      ArgumentValueError: there are no branches.

    Source: ``jax.lax.switch``.

    >>> switch(7, [lambda x: x, lambda x: x * 10.0], 3.0)
    np.float64(30.0)
    """
    branches = tuple(branches)
    if not branches:
        raise ArgumentValueError("switch: expected at least one branch, got none")
    for i, branch in enumerate(branches):
        if not callable(branch):
            raise ArgumentTypeError(
                f"switch: expected functions as branches, got {type(branch).__name__} as branch {i}; "
                "wrap it in a lambda"
            )
    if not is_array(index) or get_aval(index).shape or get_aval(index).dtype.kind not in "iu":
        got = get_aval(index) if is_array(index) else type(index).__name__
        raise ArgumentTypeError(f"switch: expected an integer scalar as index, got {got}; use cond for a boolean")
    aval = get_aval(index)
    within = clamp(np.asarray(0, aval.dtype), index, np.asarray(len(branches) - 1, aval.dtype))
    names = tuple(f"branch {i}" for i in range(len(branches)))
    return _choose("switch", convert_element_type(within, np.int32), branches, names, operands)


def _choose(
    name: str, index: Any, functions: tuple[Callable[..., Any], ...], names: tuple[str, ...], operands: tuple[Any, ...]
) -> Any:
    if is_jit_disabled():
        chosen = known_value(int, index)
        if chosen is not None:
            outputs, out_tree = flatten_outputs(f"{name} of {names[chosen]}", functions[chosen](*operands))
            return tree.unflatten(out_tree, [strong(x) for x in outputs])
    leaves, in_tree = tree.flatten(operands)
    branches, consts, out_tree = trace_branches(name, functions, names, in_tree, operands, leaves, get_aval(index).vma)
    outs = cond_p.bind(index, *consts, *leaves, branches=branches)
    return tree.unflatten(out_tree, copy_aliased(outs, [*consts, *leaves]))
