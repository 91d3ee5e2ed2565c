"""Which parts of a signature, or of a function, differ from an earlier one: why ``jit`` traces again."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType, MethodType
from typing import Any

from lawful import tree
from lawful.core import ShapedArray, exact_key, shorten
from lawful.staging._signature import argument_names, merge

#: The first part of the context of the traces of `debug_nans` and `blame_nan`.
OBSERVED = "observed"


def describe_difference(function: Callable[..., Any], signature: Any, known: Sequence[Any]) -> tuple[str, ...]:
    """Returns in words which parts of a signature differ from the most similar of the known ones.

    Args:
      function: the function, for the names of its arguments.
      signature: the new signature.
      known: the known ones; at least one.
    """
    similar = min(known, key=lambda other: len(_differences(function, signature, other)))
    return tuple(_differences(function, signature, similar))


def _differences(function: Callable[..., Any], new: Any, old: Any) -> list[str]:
    found = []
    if new.in_tree.exact_key != old.in_tree.exact_key:
        found += _tree_differences(function, new, old)
    elif new.avals != old.avals:
        names = leaf_names(function, new)
        found += [
            f"{name} is {aval}, was {before}: {_aval_difference(aval, before)}"
            for name, aval, before in zip(names, new.avals, old.avals, strict=True)
            if aval != before
        ]
    if exact_key(new.static) != exact_key(old.static):
        was = dict(old.static)
        for argument, value in new.static:
            if argument not in was or exact_key(value) != exact_key(was[argument]):
                before = f", was {shorten(was[argument])}" if argument in was else ", was not given"
                found.append(f"the static argument {argument} is {shorten(value)}{before}")
        found += [f"the static argument {argument} is not given" for argument in was.keys() - dict(new.static).keys()]
    if new.axis_env != old.axis_env:
        found.append(f"named axes are {dict(new.axis_env)}, were {dict(old.axis_env)}")
    if new.typed_axes != old.typed_axes:
        found.append("the axes of a mesh that types tell of differ: it is called within another shard_map or branch")
    if new.context != old.context:
        found.append(_context_difference(new.context, old.context))
    return found


def _tree_differences(function: Callable[..., Any], new: Any, old: Any) -> list[str]:
    names, before = leaf_names(function, new), leaf_names(function, old)
    extra = [name for name in names if name not in before]
    missing = [name for name in before if name not in names]
    parts = [f"{', '.join(extra[:5])}{' …' * (len(extra) > 5)} is new"] * bool(extra)
    parts += [f"{', '.join(missing[:5])}{' …' * (len(missing) > 5)} is missing"] * bool(missing)
    if parts:
        return [f"the tree of the arguments differs: {'; '.join(parts)}"]
    return [f"the tree of the arguments is {shorten_tree(new.in_tree)}, was {shorten_tree(old.in_tree)}"]


def shorten_tree(treedef: Any) -> str:
    """Returns the text of a tree structure, shortened."""
    text = str(treedef)
    return text if len(text) <= 200 else f"{text[:100]} … {text[-100:]}"


def _aval_difference(aval: ShapedArray, before: ShapedArray) -> str:
    parts = []
    if aval.shape != before.shape:
        parts.append("another rank" if aval.ndim != before.ndim else "another shape")
    if aval.dtype != before.dtype:
        parts.append("another dtype")
    if aval.weak_type != before.weak_type:
        parts.append(f"a Python number {'now' if aval.weak_type else 'before'}")
    return ", ".join(parts or ["it varies over other axes of the mesh"])


def _context_difference(new: Any, old: Any) -> str:
    is_observed, was_observed = (type(x) is tuple and x[:1] == (OBSERVED,) for x in (new, old))
    if is_observed != was_observed:
        return f"it is called {'within' if is_observed else 'outside of'} debug_nans or blame_nan"
    return f"the mesh that is set is {shorten(new)}, was {shorten(old)}"


def leaf_names(function: Callable[..., Any], signature: Any) -> list[str]:
    """Returns the name of each leaf of the arguments that are not static, as the user writes it: ``params['w']``."""
    args, kwargs = tree.unflatten(signature.in_tree, range(signature.in_tree.num_leaves))
    args, kwargs = merge(args, kwargs, tuple([(argument, None) for argument, _ in signature.static]))
    return argument_names(function, tree.structure((tuple(args), kwargs)))


def codes_of(function: Any) -> tuple[CodeType, ...]:
    """Returns the code objects of a function and of those that it wraps: equal ones are made by the same ``def``."""
    return tuple([each.__code__ for each in _functions_in(function)])


def _functions_in(function: Any) -> list[FunctionType]:
    found: list[FunctionType] = []
    while function is not None and len(found) < 32:
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, MethodType):
            function = function.__func__
        else:
            if isinstance(function, FunctionType):
                found.append(function)
            function = getattr(function, "__wrapped__", None)
    return found


def describe_closures(new: Any, old: Any) -> list[str]:
    """Returns which values two functions with the same code close over, or have as defaults, that differ."""
    found = []
    for function, other in zip(_functions_in(new), _functions_in(old), strict=False):
        names = function.__code__.co_freevars
        pairs = zip(names, function.__closure__ or (), other.__closure__ or (), strict=False)
        values = [(name, _content(cell), _content(before)) for name, cell, before in pairs]
        values += [
            ("a default", x, y) for x, y in zip(function.__defaults__ or (), other.__defaults__ or (), strict=False)
        ]
        for name, value, before in values:
            is_function = callable(value) and callable(before)
            if value is not before and not is_function and exact_key_or_none(value) != exact_key_or_none(before):
                found.append(f"{name} is {shorten(value)}, was {shorten(before)}")
    return found


def exact_key_or_none(value: Any) -> Any:
    """Returns the exact key of a value; its identity if it has none."""
    try:
        hash(value)
        return exact_key(value)
    except TypeError:
        return id(value)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return None
