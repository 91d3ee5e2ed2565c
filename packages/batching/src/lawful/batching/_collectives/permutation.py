"""Sending along named axes: ``ppermute``, ``pshuffle`` and ``pbroadcast``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful import tree
from lawful.batching._batch import place_batch_dim
from lawful.batching._collectives.axes import AxisName, MappedAxis, bound_axis, checked_pairs, varying
from lawful.batching._collectives.declaration import Shape, collective, has_transpose, is_linear
from lawful.batching._collectives.index import axis_index
from lawful.batching._collectives.reductions import psum_p
from lawful.core import ArgumentValueError, ShapedArray, get_aval
from lawful.ops import convert_element_type, expand_dims, static_integers, take, where

Pairs = tuple[tuple[int, int], ...]


def _infer(shape: Shape, **params: Any) -> Shape:
    return shape


def _beside(dim: int, **params: Any) -> tuple[dict[str, Any], int]:
    return params, dim


def _where(mask: Any, x: Any, otherwise: Any) -> Any:
    """Returns ``x`` where the mask of its first dimension is true."""
    aval = get_aval(x)
    return where(expand_dims(mask, tuple(range(1, aval.ndim))), x, otherwise)


def _ppermute_over(x: Any, dim: int | None, axis: MappedAxis, *, perm: Pairs) -> tuple[Any, int | None]:
    if dim is None and axis.rest == () and len(perm) == axis.size:
        return x, None  # all elements are equal
    x = place_batch_dim(x, dim, 0, axis.size)
    zero = np.zeros((), get_aval(x).dtype)
    if axis.rest == ():
        sources, sent = _table(axis.size, perm)
        received = take(x, sources, axis=0)
        return received if sent.all() else _where(sent, received, zero), 0
    out: Any = zero
    for beside, along in _split_pairs(axis, perm):
        # All elements that are sent alike over the other axes are sent together.
        sources, _ = _table(axis.size, tuple(along))
        received = take(x, sources, axis=0)
        if any(source != destination for source, destination in beside):
            received = ppermute_p.bind(received, axis_name=axis.rest, perm=beside)
        mask = np.zeros((axis.before * axis.after, axis.size), bool)
        for _, destination in beside:
            mask[destination, [end for _, end in along]] = True
        mine = mask[0] if (mask == mask[0]).all() else take(mask, axis_index(axis.rest), axis=0)
        out = _where(mine, received, out)
    return place_batch_dim(out, None, 0, axis.size) if out is zero else out, 0


def _table(size: int, pairs: Pairs) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Returns, for each destination, its source, and whether it has one."""
    sources, sent = np.zeros(size, np.int64), np.zeros(size, bool)
    for source, destination in pairs:
        sources[destination], sent[destination] = source, True
    return sources, sent


def _split_pairs(axis: MappedAxis, perm: Pairs) -> list[tuple[Pairs, list[tuple[int, int]]]]:
    """Returns pairs of positions along the other axes, and with each set those along the mapped axis that it goes with.

    Each pair of ``perm`` is one of either kind.
    """

    def split(position: int) -> tuple[int, int]:
        slower, faster = divmod(position, axis.size * axis.after)
        mapped, faster = divmod(faster, axis.after)
        return mapped, slower * axis.after + faster

    beside: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for source, destination in perm:
        (source_mapped, source_rest), (mapped, rest) = split(source), split(destination)
        beside.setdefault((source_mapped, mapped), []).append((source_rest, rest))
    alike: dict[Pairs, list[tuple[int, int]]] = {}
    for along, pairs in beside.items():
        alike.setdefault(tuple(sorted(pairs)), []).append(along)
    return [*alike.items()]


def _ppermute_lowering(ctx: Any, x: Any, *, axis_name: AxisName, perm: Pairs) -> Any:
    return ctx.collective_permute(x, axis_name, perm)


ppermute_p = collective("ppermute", infer=_infer, over=_ppermute_over, beside=_beside, lower=_ppermute_lowering)
is_linear(ppermute_p)


def _sent_back(ct: Any, aval: ShapedArray, *, axis_name: AxisName, perm: Pairs) -> Any:
    inverse = tuple((destination, source) for source, destination in perm)
    return ppermute_p.bind(ct, axis_name=axis_name, perm=inverse)


has_transpose(ppermute_p, _sent_back)


def ppermute[T](x: T, axis_name: Any, perm: Sequence[tuple[int, int]]) -> T:
    """Returns leaves sent along a named axis, and zeros where nothing is sent to.

    Args:
      x: a pytree of arrays.
      axis_name: the axis, or a sequence of them, the slowest first.
      perm: pairs of a source and a destination, in which none occurs twice.

    Raises:
      UnboundAxisError: no enclosing ``vmap`` has an axis of that name.
      ArgumentTypeError: these are no pairs.
      ArgumentValueError: a position is sent twice, sent to twice, or does not exist.

    >>> from lawful.batching import vmap
    >>> vmap(lambda x: ppermute(x, "i", [(0, 1), (1, 2)]), axis_name="i")(np.array([1.0, 2.0, 3.0]))
    array([0., 1., 2.])

    Source: ``jax.lax.ppermute``.
    """
    name, size = bound_axis("ppermute", axis_name)
    pairs = checked_pairs("ppermute", perm, size)
    result: T = tree.map(lambda leaf: ppermute_p.bind(varying(leaf, name), axis_name=name, perm=pairs), x)
    return result


def pshuffle[T](x: T, axis_name: Any, perm: Sequence[int]) -> T:
    """Returns leaves permuted along a named axis: each element gets that of its number in ``perm``.

    >>> from lawful.batching import vmap
    >>> vmap(lambda x: pshuffle(x, "i", [2, 0, 1]), axis_name="i")(np.array([1.0, 2.0, 3.0]))
    array([3., 1., 2.])

    Source: ``jax.lax.pshuffle``.
    """
    name, size = bound_axis("pshuffle", axis_name)
    if sorted(perm) != list(range(size)):
        raise ArgumentValueError(f"pshuffle: expected a permutation of {size} positions, got {perm}")
    pairs = tuple((int(source), destination) for destination, source in enumerate(perm))
    result: T = tree.map(lambda leaf: ppermute_p.bind(varying(leaf, name), axis_name=name, perm=pairs), x)
    return result


def _pbroadcast_over(x: Any, dim: int | None, axis: MappedAxis, *, source: int) -> tuple[Any, None]:
    ((beside, along),) = _split_pairs(axis, ((source, source),))
    if dim is not None:
        x = take(x, along[0][0], axis=dim)
    if axis.rest != ():
        x = pbroadcast_p.bind(x, axis_name=axis.rest, source=beside[0][0])
    return x, None


def _pbroadcast_lowering(ctx: Any, x: Any, *, axis_name: AxisName, source: int) -> Any:
    (aval,) = ctx.avals_in
    is_source = ctx.compare(ctx.axis_index(axis_name), ctx.constant(np.int32(source)), "EQ")
    # -0.0 leaves every summand as it is.
    zero = ctx.full(aval, -0.0 if aval.dtype.kind not in "bui" else 0)
    return ctx.all_reduce(ctx.hlo.select(is_source, x, zero), axis_name, None, "add")


pbroadcast_p = collective("pbroadcast", infer=_infer, over=_pbroadcast_over, beside=_beside, lower=_pbroadcast_lowering)
is_linear(pbroadcast_p)


def _sum_at_source(ct: Any, aval: ShapedArray, *, axis_name: AxisName, source: int) -> Any:
    total = psum_p.bind(ct, axis_name=axis_name)
    return where(axis_index(axis_name) == source, total, convert_element_type(0, get_aval(total).dtype))


has_transpose(pbroadcast_p, _sum_at_source)


def pbroadcast[T](x: T, axis_name: Any, source: int) -> T:
    """Returns the leaves of one position along a named axis, for all positions.

    Args:
      x: a pytree of arrays.
      axis_name: the axis, or a sequence of them, the slowest first.
      source: the position.

    Raises:
      UnboundAxisError: no enclosing ``vmap`` has an axis of that name.
      ArgumentValueError: there is no such position.

    >>> from lawful.batching import vmap
    >>> vmap(lambda x: pbroadcast(x, "i", 1), axis_name="i")(np.array([1.0, 2.0, 3.0]))
    array([2., 2., 2.])

    Source: ``jax.lax.pbroadcast``.
    """
    name, size = bound_axis("pbroadcast", axis_name)
    (position,) = static_integers("pbroadcast", "source", (source,))
    if not 0 <= position < size:
        raise ArgumentValueError(f"pbroadcast: expected a source from 0 to {size - 1}, got {source}")
    result: T = tree.map(lambda leaf: pbroadcast_p.bind(varying(leaf, name), axis_name=name, source=position), x)
    return result
