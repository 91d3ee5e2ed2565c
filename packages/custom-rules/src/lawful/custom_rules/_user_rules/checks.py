"""Checks of the results of users' rules: structure, shapes and dtypes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

from lawful import tree
from lawful.core import (
    ArgumentTypeError,
    InvalidArgumentError,
    ShapedArray,
    Tracer,
    TreeStructureError,
    Zero,
    current,
    eval_trace,
    float0,
    get_aval,
    is_array,
    set_current,
    shorten,
)
from lawful.custom_rules._call.site import describe_result, tree_difference
from lawful.custom_rules._cotangent_types import may_be_of_number
from lawful.ops import convert_element_type
from lawful.staging import require_usable


def one_cotangent_each(label: str, of_what: str, count: int, result: Any) -> tuple[Any, ...]:
    """Returns a rule's result as a tuple.

    Args:
      label: the rule, for messages.
      of_what: what each cotangent belongs to, for messages.
      count: the number of cotangents.
      result: the result.

    Raises:
      ArgumentTypeError: it is not a tuple or list of ``count`` cotangents.
    """
    if isinstance(result, tuple | list) and len(result) == count:
        return tuple(result)
    raise ArgumentTypeError(
        f"{label}: expected a tuple of {count} cotangent{'s' * (count != 1)}, one for each {of_what}, got "
        f"{describe_result(result)}; return (ct,) for one argument, and None in the place of zeros"
    )


def pair_of(label: str, parts: str, pair: Any) -> tuple[Any, Any]:
    """Returns a rule's result as a pair.

    Args:
      label: the rule, for messages.
      parts: the pair, for messages.
      pair: the result.

    Raises:
      ArgumentTypeError: it is not a tuple or list of two.
    """
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise ArgumentTypeError(f"{label}: expected a pair {parts}, got {describe_result(pair)}; return both")
    first, second = pair
    return first, second


def checked_leaves(
    label: str, what: str, name: str, treedef: Any, avals: Sequence[ShapedArray], value: Any, *,
    none_is_zero: bool = False, of_number: bool = False,
) -> list[Any]:  # fmt: skip
    """Returns the leaves of a tree of tangents or cotangents, with exactly the expected types.

    Args:
      label: the rule, for messages.
      what: what a leaf is, for messages.
      name: the name of the tree in messages.
      treedef: the expected structure.
      avals: the expected types of the leaves. Where there is no derivative the type is float0, and the leaf that is
        returned is a symbolic zero.
      value: the tree.
      none_is_zero: whether it is a tree of cotangents: None stands for a tree of zeros, any value may stand where there
        is no derivative, and the cotangent of a Python number may have another dtype.
      of_number: whether the rule got the cotangent of a Python number, which decides no dtype.

    Raises:
      ArgumentTypeError: the structure is another one.
      InvalidArgumentError: the shape or dtype of a leaf is another one.
    """
    leaves, have = tree.flatten(value)
    if have != treedef and none_is_zero:
        leaves, have = _with_zeros(treedef, value, avals)
    if have != treedef:
        raise ArgumentTypeError(
            f"{label}: expected {name} of the tree {treedef}, got {tree.structure(value)} "
            f"({tree_difference(treedef, value)}); build it with lawful.tree.map"
        )

    def fail(position: int, got: str) -> NoReturn:
        path = tree.leaves_with_path(tree.unflatten(treedef, leaves))[position][0]
        expected = avals[position]
        if expected.dtype == float0:
            advice = f"integers have no other; return numpy.zeros({expected.shape}, lawful.core.float0)"
        else:
            advice = "its shape and dtype must be those of the value that it belongs to"
        raise InvalidArgumentError(
            f"{label}: expected {what} of type {expected} at {name}{tree.keystr(path)}, got {got}; {advice}"
        )

    return [
        _checked_leaf(aval, x, none_is_zero, of_number, partial(fail, position))
        for position, (aval, x) in enumerate(zip(avals, leaves, strict=True))
    ]


def _is_none(x: Any) -> bool:
    return x is None


def _with_zeros(treedef: Any, value: Any, avals: Sequence[ShapedArray]) -> tuple[list[Any], Any]:
    """Returns a tree flat; None stands for zeros, and any other leaf for each leaf of the subtree in its place."""
    zeros = tree.unflatten(treedef, [Zero(aval) for aval in avals])
    try:
        full = tree.map(
            lambda x, zero: zero if x is None else tree.map(lambda _: x, zero), value, zeros, is_leaf=_is_none
        )
    except TreeStructureError:
        return [], None
    return tree.flatten(full)


def _checked_leaf(
    expected: ShapedArray, x: Any, is_cotangent: bool, of_number: bool, fail: Callable[[str], NoReturn]
) -> Any:
    if type(x) is Zero:
        if (x.aval.shape, x.aval.dtype) != (expected.shape, expected.dtype):
            fail(str(x.aval))
        return Zero(expected)
    if expected.dtype == float0:
        if not is_cotangent and getattr(x, "dtype", None) != float0:
            fail(str(getattr(x, "dtype", type(x).__name__)))
        return Zero(expected)
    if not is_array(x):
        fail(f"{shorten(x)} of type {type(x).__name__}")
    if isinstance(x, Tracer):
        require_usable(x)
    got = get_aval(x)
    if got.weak_type and got.shape == expected.shape and (got.dtype.kind != "c" or expected.dtype.kind == "c"):
        return x if got.dtype == expected.dtype else _converted(x, expected)
    if is_cotangent and may_be_of_number(got, expected.update(weak_type=True) if of_number else expected):
        return _converted(x, expected)
    if (got.shape, got.dtype) != (expected.shape, expected.dtype):
        fail(str(got))
    return x


def _converted(x: Any, aval: ShapedArray) -> Any:
    """Returns a value in another dtype. A known one stays known: whether a rule is linear is seen by its constants."""
    with set_current(current.trace if isinstance(x, Tracer) else eval_trace):
        return convert_element_type(x, aval.dtype)
