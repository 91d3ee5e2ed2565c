"""Definitions of collectives: the call of each, and its result at every position from the operands at all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from lawful import batching
from lawful.laws._sharding.steps import draw_groups, draw_pairs
from lawful.ops import concatenate, convert_element_type, mul

Array = np.ndarray[Any, Any]
Arrays = list[Array]


@dataclass(frozen=True, slots=True)
class Collective:
    """A collective over some axes.

    Attributes:
      text: its call, for messages.
      call: of the array at one position.
      define: of the arrays at all positions along the axes, to the results there.
      is_linear: whether it is linear in them.
    """

    text: str
    call: Callable[[Any], Any]
    define: Callable[[Arrays], Arrays]
    is_linear: bool = True


#: Makes a collective of the names of axes, the number of positions along them, and the shape of the operand.
Draw = Callable[[np.random.Generator, Any, int], Collective]
Groups = Sequence[Sequence[int]] | None


def _in_groups(define: Callable[[Arrays], Arrays], groups: Groups) -> Callable[[Arrays], Arrays]:
    """Returns the definition within each group of positions."""
    if groups is None:
        return define

    def within(xs: Arrays) -> Arrays:
        outs: dict[int, Array] = {}
        for group in groups:
            outs.update(zip(group, define([xs[i] for i in group]), strict=True))
        return [outs[i] for i in range(len(xs))]

    return within


def _maybe_groups(random: np.random.Generator, count: int) -> tuple[Groups, int]:
    """Returns groups, or none, and the number of positions that exchange with one another."""
    if random.integers(3):
        return None, count
    groups = draw_groups(random, count)
    return groups, len(groups[0])


def _total(xs: Arrays) -> Array:
    total = xs[0]
    for x in xs[1:]:
        total = total + x
    return np.asarray(total)


def _reduction(name: str, reduce: Callable[[Arrays], Array], *, is_linear: bool) -> Draw:
    def draw(random: np.random.Generator, names: Any, count: int) -> Collective:
        groups, _ = _maybe_groups(random, count)
        function = getattr(batching, name)
        return Collective(
            f"{name}(x, {names!r}, axis_index_groups={groups})",
            lambda x: function(x, names, axis_index_groups=groups),
            _in_groups(lambda xs: [reduce(xs)] * len(xs), groups), is_linear,
        )  # fmt: skip

    return draw


def _all_gather(random: np.random.Generator, names: Any, count: int) -> Collective:
    (groups, _), tiled = _maybe_groups(random, count), bool(random.integers(2))
    axis = int(random.integers(3 - tiled))
    to = "varying" if groups is not None or random.integers(2) else "invarying"

    def define(xs: Arrays) -> Arrays:
        return [np.concatenate(xs, axis) if tiled else np.stack(xs, axis)] * len(xs)

    return Collective(
        f"all_gather(x, {names!r}, axis_index_groups={groups}, axis={axis}, tiled={tiled}, to={to!r})",
        lambda x: batching.all_gather(x, names, axis_index_groups=groups, axis=axis, tiled=tiled, to=to),
        _in_groups(define, groups),
    )


def _start(ndim: int, dim: int, *, tiled: bool) -> tuple[slice, ...]:
    """Returns the index of what is repeated: without tiles, each part has length 1."""
    return (*(slice(None),) * dim, slice(None) if tiled else slice(0, 1), *(slice(None),) * (ndim - dim - 1))


def _widened(x: Any, dim: int, times: int, *, tiled: bool) -> Any:
    """Returns an array with so many parts along a dimension, which differ."""
    x = x[_start(x.ndim, dim, tiled=tiled)]
    return concatenate([mul(x, np.asarray(1 + i, x.dtype)) for i in range(times)], dim)


def _wide(x: Array, dim: int, times: int, *, tiled: bool) -> Array:
    x = x[_start(x.ndim, dim, tiled=tiled)]
    return np.concatenate([x * x.dtype.type(1 + i) for i in range(times)], dim)


def _psum_scatter(random: np.random.Generator, names: Any, count: int) -> Collective:
    (groups, size), tiled, dim = _maybe_groups(random, count), bool(random.integers(2)), int(random.integers(2))

    def define(xs: Arrays) -> Arrays:
        parts = np.split(_total([_wide(x, dim, size, tiled=tiled) for x in xs]), size, dim)
        return parts if tiled else [part[(slice(None),) * dim + (0,)] for part in parts]

    return Collective(
        f"psum_scatter(x, {names!r}, scatter_dimension={dim}, axis_index_groups={groups}, tiled={tiled})",
        lambda x: batching.psum_scatter(
            _widened(x, dim, size, tiled=tiled), names, scatter_dimension=dim, axis_index_groups=groups, tiled=tiled
        ),
        _in_groups(define, groups),
    )


def _all_to_all(random: np.random.Generator, names: Any, count: int) -> Collective:
    (groups, size), tiled = _maybe_groups(random, count), bool(random.integers(2))
    split, concat = int(random.integers(2)), int(random.integers(2))

    def define(xs: Arrays) -> Arrays:
        pieces = [np.split(_wide(x, split, size, tiled=tiled), size, split) for x in xs]
        received = [[piece[i] for piece in pieces] for i in range(size)]
        if tiled:
            return [np.concatenate(parts, concat) for parts in received]
        return [np.stack([part[(slice(None),) * split + (0,)] for part in parts], concat) for parts in received]

    return Collective(
        f"all_to_all(x, {names!r}, {split}, {concat}, axis_index_groups={groups}, tiled={tiled})",
        lambda x: batching.all_to_all(
            _widened(x, split, size, tiled=tiled), names, split, concat, axis_index_groups=groups, tiled=tiled
        ),
        _in_groups(define, groups),
    )


def _ppermute(random: np.random.Generator, names: Any, count: int) -> Collective:
    pairs = draw_pairs(random, count)
    source = {destination: source for source, destination in pairs}

    def define(xs: Arrays) -> Arrays:
        return [xs[source[i]] if i in source else np.zeros_like(xs[i]) for i in range(len(xs))]

    return Collective(f"ppermute(x, {names!r}, {pairs})", lambda x: batching.ppermute(x, names, pairs), define)


def _pshuffle(random: np.random.Generator, names: Any, count: int) -> Collective:
    order = [int(i) for i in random.permutation(count)]
    return Collective(
        f"pshuffle(x, {names!r}, {order})", lambda x: batching.pshuffle(x, names, order),
        lambda xs: [xs[i] for i in order],
    )  # fmt: skip


def _pbroadcast(random: np.random.Generator, names: Any, count: int) -> Collective:
    source = int(random.integers(count))
    return Collective(
        f"pbroadcast(x, {names!r}, {source})", lambda x: batching.pbroadcast(x, names, source),
        lambda xs: [xs[source]] * len(xs),
    )  # fmt: skip


def _axis_index(random: np.random.Generator, names: Any, count: int) -> Collective:
    return Collective(
        f"x * axis_index({names!r})",
        lambda x: mul(x, convert_element_type(batching.axis_index(names), x.dtype)),
        lambda xs: [x * x.dtype.type(i) for i, x in enumerate(xs)],
    )


def _largest(xs: Arrays) -> Array:
    return np.max(np.stack(xs), 0)


def _least(xs: Arrays) -> Array:
    return np.min(np.stack(xs), 0)


def _mean(xs: Arrays) -> Array:
    return _total(xs) / len(xs)


#: The collectives of real numbers, by name.
collectives: Final[dict[str, Draw]] = {
    "psum": _reduction("psum", _total, is_linear=True),
    "pmean": _reduction("pmean", _mean, is_linear=True),
    "pmax": _reduction("pmax", _largest, is_linear=False),
    "pmin": _reduction("pmin", _least, is_linear=False),
    "all_gather": _all_gather,
    "psum_scatter": _psum_scatter,
    "all_to_all": _all_to_all,
    "ppermute": _ppermute,
    "pshuffle": _pshuffle,
    "pbroadcast": _pbroadcast,
    "axis_index": _axis_index,
}
