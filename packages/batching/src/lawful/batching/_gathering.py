"""Exchanges over a named axis of ``vmap``: gathering, permutation, transposition, and sums that are scattered.

All are made of one primitive, which gathers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful import tree
from lawful.batching._collectives import AxisName, axis_index, axis_size, psum_p
from lawful.core import ArgumentValueError, Primitive, ShapedArray, Zero, get_aval
from lawful.ops import add_batch_dim, move_batch_dim, reduce_sum, reshape, take, where

all_gather_p = Primitive("all_gather", pure_rules=True)


@all_gather_p.def_abstract_eval
def _all_gather_abstract_eval(x: ShapedArray, *, axis_name: AxisName, size: int) -> ShapedArray:
    return ShapedArray((size, *x.shape), x.dtype)


@all_gather_p.def_batch
def _all_gather_batch(
    args: Sequence[Any], dims: Sequence[int | None], *, axis_data: Any, axis_name: AxisName, size: int
) -> Any:
    (x,), (dim,) = args, dims
    if axis_data.name != axis_name:
        out = all_gather_p.bind(x, axis_name=axis_name, size=size)
        return out, None if dim is None else dim + 1
    return (add_batch_dim(x, size) if dim is None else move_batch_dim(x, dim)), None


@all_gather_p.def_jvp
def _all_gather_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
    (x,), (t,) = primals, tangents
    out = all_gather_p.bind(x, **params)
    if type(t) is Zero:
        return out, Zero(get_aval(out).to_tangent_aval())
    return out, all_gather_p.bind(t, **params)


@all_gather_p.def_transpose
def _all_gather_transpose(ct: Any, x: Any, *, axis_name: AxisName, size: int) -> list[Any]:
    if type(ct) is Zero:
        return [Zero(x.aval)]
    # Each element was gathered by all: its cotangent is the sum of what all have for it.
    return [take(psum_p.bind(ct, axis_name=axis_name), axis_index(axis_name), axis=0)]


for _slot in ("impl", "lowering"):
    all_gather_p.declare_absent(_slot, "it has a meaning only inside a vmap with that axis name")


def _groups(name: str, groups: Any, size: int) -> np.ndarray[Any, Any]:
    """Returns, for each position along the axis, the positions of its group."""
    try:
        table = np.asarray(groups, np.int64)
    except ValueError:
        table = np.zeros(0, np.int64)
    if table.ndim != 2 or sorted(table.ravel().tolist()) != list(range(size)):
        raise ArgumentValueError(
            f"{name}: expected axis_index_groups of one length that have each of {size} positions once, got {groups}"
        )
    members = np.empty((size, table.shape[1]), np.int64)
    for group in table:
        members[group] = group
    return members


def all_gather(
    x: Any, axis_name: AxisName, *, axis_index_groups: Any = None, axis: int = 0, tiled: bool = False
) -> Any:
    """Returns each leaf of all elements along a named axis, in a new dimension.

    Args:
      x: a pytree of arrays.
      axis_name: the axis.
      axis_index_groups: lists of positions along the axis, of one length; an element gets those of its list.
      axis: where the new dimension is.
      tiled: whether the leaves are joined along the dimension ``axis`` instead.

    Raises:
      UnboundAxisError: no enclosing ``vmap`` has an axis of that name.
      ArgumentValueError: the groups do not have each position once.

    >>> from lawful.batching import vmap
    >>> vmap(lambda x: all_gather(x, "i"), axis_name="i")(np.array([1.0, 2.0]))
    array([[1., 2.],
           [1., 2.]])

    Source: ``jax.lax.all_gather``.
    """
    size = axis_size(axis_name)

    def gathered(leaf: Any) -> Any:
        out = all_gather_p.bind(leaf, axis_name=axis_name, size=size)
        if axis_index_groups is not None:
            members = _groups("all_gather", axis_index_groups, size)
            out = take(out, take(members, axis_index(axis_name), axis=0), axis=0)
        at = axis % (get_aval(out).ndim - tiled)
        return _joined(out, at) if tiled else move_batch_dim(out, 0, at)

    return tree.map(gathered, x)


def _joined(stacked: Any, axis: int) -> Any:
    """Returns the slices along the first dimension joined along another one of theirs."""
    count, *shape = get_aval(stacked).shape
    shape[axis] *= count
    return reshape(move_batch_dim(stacked, 0, axis), tuple(shape))


def all_to_all(
    x: Any, axis_name: AxisName, split_axis: int, concat_axis: int, *, axis_index_groups: Any = None,
    tiled: bool = False,
) -> Any:  # fmt: skip
    """Returns leaves in which a named axis and a dimension are exchanged.

    Args:
      x: a pytree of arrays.
      axis_name: the axis.
      split_axis: a dimension as long as the axis, of which each element gets one slice of each other element.
      concat_axis: the dimension of the result along which these are stacked.
      axis_index_groups: as for `all_gather`.
      tiled: whether ``split_axis`` is a multiple of the axis, and stays: its parts are joined along ``concat_axis``.

    Raises:
      UnboundAxisError: no enclosing ``vmap`` has an axis of that name.
      ArgumentValueError: the dimension has another length.

    Source: ``jax.lax.all_to_all``.
    """
    size = axis_size(axis_name) if axis_index_groups is None else len(axis_index_groups[0])

    def exchanged(leaf: Any) -> Any:
        shape = get_aval(leaf).shape
        split = split_axis % len(shape)
        if shape[split] % size or (not tiled and shape[split] != size):
            raise ArgumentValueError(
                f"all_to_all: expected a split_axis of length {size}{' or a multiple' if tiled else ''}, got "
                f"{shape[split]} in the shape {shape}"
            )
        parts = reshape(leaf, (*shape[:split], size, shape[split] // size, *shape[split + 1 :]))
        gathered = all_gather(move_batch_dim(parts, split, 0), axis_name, axis_index_groups=axis_index_groups)
        mine = take(gathered, _position(axis_name, axis_index_groups), axis=1)
        if tiled:
            return _joined(mine, concat_axis % len(shape))
        without = reshape(mine, (size, *shape[:split], *shape[split + 1 :]))
        return move_batch_dim(without, 0, concat_axis % len(shape))

    return tree.map(exchanged, x)


def _position(axis_name: AxisName, groups: Any) -> Any:
    """Returns the position along a named axis, or in one's group."""
    index = axis_index(axis_name)
    if groups is None:
        return index
    positions = np.empty(axis_size(axis_name), np.int32)
    for group in groups:
        positions[list(group)] = range(len(group))
    return take(positions, index, axis=0)


def ppermute(x: Any, axis_name: AxisName, perm: Sequence[tuple[int, int]]) -> Any:
    """Returns leaves sent along a named axis, and zeros where nothing is sent to.

    Args:
      x: a pytree of arrays.
      axis_name: the axis.
      perm: pairs of a source and a destination, in which none occurs twice.

    Raises:
      UnboundAxisError: no enclosing ``vmap`` has an axis of that name.
      ArgumentValueError: a position is sent twice, sent to twice, or does not exist.

    >>> from lawful.batching import vmap
    >>> vmap(lambda x: ppermute(x, "i", [(0, 1), (1, 2)]), axis_name="i")(np.array([1.0, 2.0, 3.0]))
    array([0., 1., 2.])

    Source: ``jax.lax.ppermute``.
    """
    size = axis_size(axis_name)
    pairs = list(perm)
    for ends in zip(*pairs, strict=True):
        if len(set(ends)) < len(ends) or not all(0 <= end < size for end in ends):
            raise ArgumentValueError(
                f"ppermute: expected pairs in which each of {size} positions occurs once at most, got {pairs}"
            )
    sources, sent = np.zeros(size, np.int64), np.zeros(size, bool)
    for source, destination in pairs:
        sources[destination], sent[destination] = source, True

    def permuted(leaf: Any) -> Any:
        gathered = all_gather_p.bind(leaf, axis_name=axis_name, size=size)
        index = axis_index(axis_name)
        mine = take(gathered, take(sources, index, axis=0), axis=0)
        return mine if sent.all() else where(take(sent, index, axis=0), mine, np.zeros((), get_aval(mine).dtype))

    return tree.map(permuted, x)


def pshuffle(x: Any, axis_name: AxisName, perm: Sequence[int]) -> Any:
    """Returns leaves permuted along a named axis: each element gets that of its number in ``perm``.

    Source: ``jax.lax.pshuffle``.
    """
    if sorted(perm) != list(range(axis_size(axis_name))):
        raise ArgumentValueError(f"pshuffle: expected a permutation of {axis_size(axis_name)} positions, got {perm}")
    return ppermute(x, axis_name, list(zip(perm, range(len(perm)), strict=True)))


def pswapaxes(x: Any, axis_name: AxisName, axis: int, *, axis_index_groups: Any = None) -> Any:
    """Returns leaves in which a named axis and a dimension of its length are swapped. Source: ``jax.lax.pswapaxes``."""
    return all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)


def psum_scatter(
    x: Any, axis_name: AxisName, *, scatter_dimension: int = 0, axis_index_groups: Any = None, tiled: bool = False
) -> Any:
    """Returns the sum over a named axis, of which each element gets the slice of its position.

    Args:
      x: a pytree of arrays.
      axis_name: the axis.
      scatter_dimension: the dimension of the slices, as long as the axis.
      axis_index_groups: as for `all_gather`.
      tiled: whether that is a multiple of the axis, and stays with the quotient as its length.

    Source: ``jax.lax.psum_scatter``.
    """
    size = axis_size(axis_name) if axis_index_groups is None else len(axis_index_groups[0])

    def scattered(leaf: Any) -> Any:
        shape = get_aval(leaf).shape
        at = scatter_dimension % len(shape)
        if tiled:
            leaf = reshape(leaf, (*shape[:at], size, shape[at] // size, *shape[at + 1 :]))
        parts = all_to_all(leaf, axis_name, at, 0, axis_index_groups=axis_index_groups)
        return reduce_sum(parts, (0,))

    return tree.map(scattered, x)
