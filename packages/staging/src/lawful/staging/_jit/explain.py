"""Which parts of a signature, or of a function, differ from an earlier one: why ``jit`` traces again."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FunctionType, MethodType
from typing import Any

from lawful import core, tree
from lawful.core import ClosedJaxpr, ShapedArray, exact_key, shorten
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

    # Between equally different signatures, prefer the same tree of arguments, then the last traced.
    def distance(other: Any) -> tuple[bool, int]:
        is_other_tree = signature.in_tree.exact_key != other.in_tree.exact_key
        return is_other_tree, len(_differences(function, signature, other))

    return tuple(_differences(function, signature, min(reversed(known), key=distance)))


def _differences(function: Callable[..., Any], new: Any, old: Any) -> list[str]:
    found = _given_otherwise(function, new, old)
    if new.in_tree.exact_key != old.in_tree.exact_key:
        found += _tree_differences(function, new, old, is_explained=bool(found))
    elif new.avals != old.avals:
        names = leaf_names(function, new)
        found += [
            f"{name} is {aval}, was {before}: {_aval_difference(aval, before)}"
            for name, aval, before in zip(names, new.avals, old.avals, strict=True)
            if aval != before
        ]
    if exact_key(new.static) != exact_key(old.static):
        static, was = (
            {_static_name(function, argument): value for argument, value in each.static} for each in (new, old)
        )
        for name, value in static.items():
            if name not in was or exact_key(value) != exact_key(was[name]):
                before = f", was {shorten(was[name])}" if name in was else ", was not given"
                found.append(f"the static argument {name} is {shorten(value)}{before}")
        found += [f"the static argument {name} is not given" for name in was.keys() - static.keys()]
    if new.axis_env != old.axis_env:
        found.append(f"named axes are {dict(new.axis_env)}, were {dict(old.axis_env)}")
    if new.typed_axes != old.typed_axes:
        found.append("the axes of a mesh that types tell of differ: it is called within another shard_map or branch")
    if new.context != old.context:
        found.append(_context_difference(new.context, old.context))
    return found


def describe_programs(new: ClosedJaxpr, old: ClosedJaxpr) -> tuple[str, ...]:
    """Returns in words how a program differs from one that the same transformation of the same function gave."""
    avals, before = new.in_avals, old.in_avals
    if len(avals) != len(before):
        return (
            f"the program has {len(avals)} inputs, had {len(before)}: other arguments are mapped or differentiated",
        )
    found = [
        f"input {i} of the program is {aval}, was {was}: {_aval_difference(aval, was)}"
        for i, (aval, was) in enumerate(zip(avals, before, strict=True))
        if aval != was
    ]
    if found:
        return tuple(found)
    if core.alpha_equivalent(new, old):
        return ("it has other options, or was removed from the cache, by clear_caches or because the cache was full",)
    return ("the program differs, for inputs of the same types: other axes or arguments are mapped or differentiated",)


def _static_name(function: Callable[..., Any], argument: int | str) -> str:
    """Returns the name of a static argument that is given by position or by name."""
    if isinstance(argument, str):
        return argument
    return argument_names(function, tree.structure(((0,) * (argument + 1), {})))[argument]


def _given_otherwise(function: Callable[..., Any], new: Any, old: Any) -> list[str]:
    """Returns which arguments are given by name in one signature and by position in the other."""
    (positions, names), (positions_before, names_before) = _given(function, new), _given(function, old)
    found = [f"{name} is given by name, was by position" for name in names if name in positions_before]
    return found + [f"{name} is given by position, was by name" for name in positions if name in names_before]


def _given(function: Callable[..., Any], signature: Any) -> tuple[list[str], list[str]]:
    """Returns the names of the arguments that are given by position, and by name."""
    args, kwargs = _arguments(signature)
    return argument_names(function, tree.structure(((0,) * len(args), {}))), [*kwargs]


def _tree_differences(function: Callable[..., Any], new: Any, old: Any, *, is_explained: bool) -> list[str]:
    names, before = leaf_names(function, new), leaf_names(function, old)
    extra = [name for name in names if name not in before]
    missing = [name for name in before if name not in names]
    parts = [f"{', '.join(extra[:5])}{' …' * (len(extra) > 5)} is new"] * bool(extra)
    parts += [f"{', '.join(missing[:5])}{' …' * (len(missing) > 5)} is missing"] * bool(missing)
    if parts:
        return [f"the tree of the arguments differs: {'; '.join(parts)}"]
    if is_explained:
        return []
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
    args, kwargs = _arguments(signature)
    return argument_names(function, tree.structure((tuple(args), kwargs)))


def _arguments(signature: Any) -> tuple[list[Any], dict[str, Any]]:
    """Returns the arguments of a signature, with numbers for leaves, and None for static ones."""
    args, kwargs = tree.unflatten(signature.in_tree, range(signature.in_tree.num_leaves))
    return merge(args, kwargs, tuple([(argument, None) for argument, _ in signature.static]))


def codes_of(function: Any) -> tuple[CodeType, ...]:
    """Returns the code objects of a function and of those that it wraps: equal ones are made by the same ``def``."""
    return tuple([each.__code__ for each in _functions_in(function)])


def _functions_in(function: Any) -> list[FunctionType]:
    return [each for each in _wrapped(function) if isinstance(each, FunctionType)]


def _wrapped(function: Any) -> Iterator[Any]:
    """Returns a function and those that it wraps, the outermost first."""
    for _ in range(32):
        if function is None:
            return
        yield function
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, MethodType):
            function = function.__func__
        else:
            function = getattr(function, "__wrapped__", None)


def closed_over(function: Any) -> list[tuple[str, Any]]:
    """Returns what a function and those that it wraps close over, have as defaults, or are partially applied to.

    The values are those at the time of this call: functions that a loop makes share the variables of its function.
    """
    found: list[tuple[str, Any]] = []
    for each in _wrapped(function):
        if isinstance(each, functools.partial):
            found += [(f"argument {i} of partial", value) for i, value in enumerate(each.args)]
            found += each.keywords.items()
        elif isinstance(each, FunctionType):
            cells = zip(each.__code__.co_freevars, each.__closure__ or (), strict=False)
            found += [(name, _content(cell)) for name, cell in cells]
            found += [("a default", value) for value in each.__defaults__ or ()]
    return found


def describe_closures(new: Sequence[tuple[str, Any]], old: Sequence[tuple[str, Any]]) -> list[str]:
    """Returns which values of two results of `closed_over` differ, for functions with the same code."""
    found = []
    for (name, value), (name_before, before) in zip(new, old, strict=False):
        is_function = callable(value) and callable(before)
        if name != name_before or value is before or is_function:
            continue
        if exact_key_or_none(value) != exact_key_or_none(before):
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
