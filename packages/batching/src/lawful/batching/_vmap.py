"""``vmap``: a function of one example as a function of a batch of them."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final

from lawful import tree
from lawful.batching._axis import AxisData
from lawful.batching._batch import batch_flat, place_batch_dim
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    NonArrayError,
    ShapedArray,
    TreeStructureError,
    get_aval,
    is_array,
)
from lawful.staging import copy_aliased, describe_argument, flatten_outputs, function_name, in_avals, require_callable


def _is_none(x: Any) -> bool:
    return x is None


def vmap(
    fun: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Hashable | None = None,
    axis_size: int | None = None,
    spmd_axis_name: Hashable | tuple[Hashable, ...] | None = None,
) -> Callable[..., Any]:
    """Returns ``fun`` mapped over a dimension of its arguments, as if called once for each index, in one pass.

    Args:
      fun: a function of pytrees of arrays that returns such a tree.
      in_axes: which dimension of each argument is mapped: an integer (negative from the end), None for an argument
        that all calls share, which may be of any type, or a tuple of one for each argument, of which each may be a
        prefix of its tree. Keyword arguments are mapped over dimension 0.
      out_axes: where the mapped dimension goes in the result: an integer, or a prefix of its tree; None for a
        result that does not depend on mapped arguments.
      axis_name: a name for the mapped axis, which ``psum`` and its like refer to.
      axis_size: its size; needed only if no argument is mapped.
      spmd_axis_name: the axis of a mesh, or axes, that the mapped dimension is split over where ``fun`` applies
        ``shard_map`` or ``with_sharding_constraint`` of ``lawful.parallel``.

    Raises:
      ArgumentValueError: the mapped dimensions differ in size, an axis does not exist, or ``in_axes`` does not
        fit the arguments.

    Laws: ``vmap(f)`` is the stacked loop; nested ``vmap``s commute. Source: ``jax.vmap``.

    >>> import numpy as np
    >>> vmap(lambda x, y: x * y, in_axes=(0, None))(np.arange(3.0), 2.0)
    array([0., 2., 4.])
    """
    require_callable("vmap", fun)
    if isinstance(in_axes, list):
        # As in JAX: arguments are a tuple, and a list is a tree too.
        in_axes = tuple(in_axes)
    _check_axes("in_axes", in_axes)
    _check_axes("out_axes", out_axes)
    size = _count(axis_size)
    spmd = spmd_axis_name if isinstance(spmd_axis_name, tuple) else (spmd_axis_name,)
    spmd_axes = () if spmd_axis_name is None else spmd
    name = f"vmap of {function_name(fun)}"

    @functools.wraps(fun, updated=())
    def vmap_fun(*args: Any, **kwargs: Any) -> Any:
        leaves, in_tree = tree.flatten((args, kwargs))
        passed: dict[int, Any] = {}
        try:
            avals = in_avals(name, (args, kwargs), leaves)
        except NonArrayError:
            passed = _passed_through(name, in_axes, args, kwargs, leaves)
            leaves = [0 if i in passed else x for i, x in enumerate(leaves)]
            avals = in_avals(name, tree.unflatten(in_tree, leaves), leaves)
        dims = input_axes(name, in_axes, args, kwargs, avals)
        axis_data = AxisData(common_size(name, size, (args, kwargs), avals, dims), axis_name, spmd_axes)
        out_tree: Any = None

        def flat(*tracers: Any) -> list[Any]:
            nonlocal out_tree
            given = [passed.get(i, x) for i, x in enumerate(tracers)] if passed else tracers
            call_args, call_kwargs = tree.unflatten(in_tree, given)
            outputs, out_tree = flatten_outputs(name, fun(*call_args, **call_kwargs))
            return outputs

        outs, found = batch_flat(flat, axis_data, leaves, dims)
        placed = output_axes(name, out_axes, out_tree, outs, found)
        results = [place_batch_dim(x, dim, to, axis_data.size) for x, dim, to in zip(outs, found, placed, strict=True)]
        return tree.unflatten(out_tree, copy_aliased(results, leaves))

    return vmap_fun


def _count(axis_size: Any) -> int | None:
    """Returns ``axis_size`` as an int, or None; raises ArgumentValueError if it does not count elements."""
    try:
        size = -1 if isinstance(axis_size, bool) else None if axis_size is None else operator.index(axis_size)
    except TypeError:
        size = -1
    if size is not None and size < 0:
        raise ArgumentValueError(f"vmap: expected an axis_size that counts elements, got {axis_size!r}")
    return size


def _check_axes(what: str, axes: Any) -> None:
    for leaf in tree.leaves(axes):
        try:
            is_axis = not isinstance(leaf, bool) and operator.index(leaf) is not None
        except TypeError:
            is_axis = False
        if not is_axis:
            raise ArgumentTypeError(
                f"vmap: expected {what} of integers and None, got {leaf!r}; "
                "give a dimension, or None for what is shared"
            )


def input_axes(
    name: str, in_axes: Any, args: tuple[Any, ...], kwargs: Any, avals: Sequence[ShapedArray]
) -> list[int | None]:
    """Returns the mapped dimension of each leaf of the arguments, counted from 0, or None.

    Args:
      name: the call, for messages.
      in_axes: as `vmap` takes it.
      args: the positional arguments.
      kwargs: the keyword arguments.
      avals: the types of their leaves.

    Raises:
      ArgumentValueError: the axes do not fit the arguments.

    >>> input_axes("f", (0, None), ([1.0, 2.0], 3.0), {}, [ShapedArray((5,), float)] * 2 + [ShapedArray((), float)])
    [0, 0, None]
    """
    axes = _axes_of_arguments(name, in_axes, args, kwargs, len(avals))
    return [
        _dim(name, axis, aval, (args, kwargs), leaf) for leaf, (axis, aval) in enumerate(zip(axes, avals, strict=True))
    ]


def _axes_of_arguments(name: str, in_axes: Any, args: tuple[Any, ...], kwargs: Any, total: int) -> list[int | None]:
    """Returns the axis of each leaf of the arguments."""
    if isinstance(in_axes, tuple) and len(in_axes) != len(args):
        raise ArgumentValueError(
            f"{name}: expected in_axes of one entry for each of {len(args)} positional arguments, "
            f"got {len(in_axes)} in {in_axes}; give an integer for all, or a tuple of that length"
        )
    count = total - (len(tree.leaves(kwargs)) if kwargs else 0)
    axes = _axes_of_leaves(name, "in_axes", in_axes, "arguments", lambda: args, count)
    return axes + [0] * (total - count)  # keyword arguments


def _passed_through(
    name: str, in_axes: Any, args: tuple[Any, ...], kwargs: Any, leaves: Sequence[Any]
) -> dict[int, Any]:
    """Returns, by position, those leaves of shared arguments that are no arrays: the function gets them as they are."""
    axes = _axes_of_arguments(name, in_axes, args, kwargs, len(leaves))
    return {i: x for i, (axis, x) in enumerate(zip(axes, leaves, strict=True)) if axis is None and not is_array(x)}


#: in_axes has no entry for an argument by name.
_SHARED_BY_NAME: Final = (
    "arguments by name are mapped over dimension 0; to share it, bind it with functools.partial or a lambda"
)


def _dim(name: str, axis: int | None, aval: ShapedArray, arguments: Any, leaf: int) -> int | None:
    """Returns an axis counted from 0; raises ArgumentValueError if the array has no such dimension."""
    if axis is None:
        return None
    if not -aval.ndim <= axis < aval.ndim:
        by_name = leaf >= len(tree.leaves(arguments[0]))
        raise ArgumentValueError(
            f"{name}: expected an array with a dimension {axis} at {_argument(arguments, leaf)}, got {aval}; "
            + (_SHARED_BY_NAME if by_name else "change in_axes, or give None there to share it")
        )
    return axis % aval.ndim


def _argument(arguments: Any, leaf: int) -> str:
    """Returns the words for a leaf of the arguments, for errors: it costs as much as a whole call."""
    return describe_argument(tree.leaves_with_path(arguments)[leaf][0])


def common_size(
    name: str, axis_size: int | None, arguments: Any, avals: Sequence[ShapedArray], dims: Sequence[int | None]
) -> int:
    """Returns the one size of the mapped dimensions; raises ArgumentValueError if there is none or several.

    Args:
      name: the call, for messages.
      axis_size: the size if it was given.
      arguments: the pair of positional and keyword arguments.
      avals: the types of their leaves.
      dims: the mapped dimension of each.

    >>> common_size("f", None, (([1.0, 2.0],), {}), [ShapedArray((5,), float), ShapedArray((3, 5), float)], [0, 1])
    5
    """
    sizes = {aval.shape[dim] for aval, dim in zip(avals, dims, strict=True) if dim is not None}
    if axis_size is not None:
        sizes.add(axis_size)
    if len(sizes) == 1:
        return sizes.pop()
    if not sizes:
        raise ArgumentValueError(
            f"{name}: expected at least one mapped argument, got in_axes of None only; give axis_size"
        )
    lines = [
        f"  {_argument(arguments, leaf)} of type {aval}: size {aval.shape[dim]} of dimension {dim}"
        for leaf, (aval, dim) in enumerate(zip(avals, dims, strict=True))
        if dim is not None
    ]
    if axis_size is not None:
        lines.append(f"  axis_size: {axis_size}")
    raise ArgumentValueError(
        f"{name}: expected one size of the mapped dimensions, got\n" + "\n".join(lines) + "\nmake them equal, or give "
        "None in in_axes for what is shared"
    )


def output_axes(
    name: str, out_axes: Any, out_tree: Any, outs: Sequence[Any], dims: Sequence[int | None]
) -> list[int | None]:
    """Returns where the mapped dimension of each leaf of the result goes; raises ArgumentValueError if it cannot.

    Args:
      name: the call, for messages.
      out_axes: as `vmap` takes it.
      out_tree: the structure of the result.
      outs: its leaves.
      dims: for each the mapped dimension that it has already, or None.

    >>> output_axes("f", -1, tree.structure(0), [1.0], [None])
    [0]
    """
    axes = _axes_of_leaves(name, "out_axes", out_axes, "result", lambda: _numbered(out_tree), len(outs))
    return [
        _out_axis(name, axis, x, dim, out_tree, leaf)
        for leaf, (axis, x, dim) in enumerate(zip(axes, outs, dims, strict=True))
    ]


def _out_axis(name: str, axis: int | None, x: Any, dim: int | None, out_tree: Any, leaf: int) -> int | None:
    if axis is None:
        if dim is not None:
            raise ArgumentValueError(
                f"{name}: expected {_result(out_tree, leaf)} to be the same for all calls because its out_axes is "
                "None, got one that depends on mapped arguments; give it an axis"
            )
        return None
    ndim = get_aval(x).ndim + (dim is None)
    if not -ndim <= axis < ndim:
        raise ArgumentValueError(
            f"{name}: expected out_axes between {-ndim} and {ndim - 1} for {_result(out_tree, leaf)} with {ndim} "
            f"dimensions, got {axis}"
        )
    return axis % ndim


def _axes_of_leaves(name: str, what: str, axes: Any, of: str, full: Callable[[], Any], count: int) -> list[int | None]:
    """Returns the axis of each leaf of a full tree; raises ArgumentValueError if the axes are no prefix of it."""
    if type(axes) is int:  # the common case
        return [axes] * count
    full_tree = full()
    try:
        return tree.broadcast_prefix(axes, full_tree, is_leaf=_is_none)
    except TreeStructureError as error:
        raise ArgumentValueError(
            f"{name}: expected {what} that is a prefix of the tree of the {of}, {tree.structure(full_tree)}, got "
            f"{axes}: {error.message}"
        ) from error


def _result(out_tree: Any, leaf: int) -> str:
    """Returns the words for a leaf of the result."""
    path, _ = tree.leaves_with_path(_numbered(out_tree))[leaf]
    return f"result{tree.keystr(path)}"


def _numbered(out_tree: Any) -> Any:
    return tree.unflatten(out_tree, range(out_tree.num_leaves))
