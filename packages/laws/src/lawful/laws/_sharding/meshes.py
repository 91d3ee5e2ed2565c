"""Meshes and specs for laws, and the meaning of a spec: which part of an array is at which position of a mesh.

A spec is a tuple with the axes of each dimension, major first. Parts are cut and joined by slices and concatenations
that are written here anew, so that laws do not compare ``lawful.parallel`` with itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, Final

import numpy as np

from lawful.batching import vmap
from lawful.core import get_aval
from lawful.laws._composition.batching import batch_of
from lawful.laws._law.implementation import Implementation
from lawful.parallel import Mesh, PartitionSpec, make_mesh
from lawful.staging import jit

Spec = tuple[tuple[str, ...], ...]
#: The number along each axis, by its name.
Position = Mapping[str, int]

# Up to 8 devices, and up to three axes; small meshes, on which laws are fast, are more frequent.
_SIZES: Final = (
    *((2,), (2,), (3,), (4,), (2, 2), (2, 2), (1,), (1, 2), (2, 3), (3, 2)),
    *((8,), (5,), (2, 4), (4, 2), (2, 1, 3), (2, 2, 2)),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Axes:
    """The axes of a mesh: their names and sizes, major first."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]

    @property
    def count(self) -> int:
        """The number of devices."""
        return math.prod(self.sizes)

    def size(self, names: Sequence[str]) -> int:
        """Returns the number of positions along some axes."""
        return math.prod(self.sizes[self.names.index(name)] for name in names)

    def positions(self, names: Sequence[str] | None = None) -> Iterator[Position]:
        """Yields the positions along some axes, by default all, in row-major order."""
        chosen = self.names if names is None else names
        for numbers in product(*[range(self.size((name,))) for name in chosen]):
            yield dict(zip(chosen, numbers, strict=True))

    def number(self, position: Position, names: Sequence[str]) -> int:
        """Returns the number of a position along some axes, in row-major order."""
        number = 0
        for name in names:
            number = number * self.size((name,)) + position[name]
        return number

    def mesh(self, system: Implementation) -> Mesh:
        """Returns the mesh of a system's devices."""
        return make_mesh(self.sizes, self.names, devices=system.devices(self.count))

    def __str__(self) -> str:
        return ", ".join(f"{name}: {size}" for name, size in zip(self.names, self.sizes, strict=True))


def compiled(system: Implementation, function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function compiled for the devices of a system's meshes, which NumPy may play where XLA has too few."""
    on_numpy = system.devices(1)[0].platform == "numpy"
    result: Callable[..., Any] = jit(function, backend="numpy") if on_numpy else system.jit(function)
    return result


def draw_axes(random: np.random.Generator) -> Axes:
    """Returns the axes of a mesh of at most 8 devices."""
    sizes = _SIZES[random.integers(len(_SIZES))]
    return Axes(tuple("xyz"[: len(sizes)]), sizes)


def draw_names(random: np.random.Generator, axes: Axes, least: int = 1) -> tuple[str, ...]:
    """Returns some axes of a mesh, in any order."""
    count = int(random.integers(least, len(axes.names) + 1))
    return tuple([axes.names[i] for i in random.permutation(len(axes.names))[:count]])


def draw_spec(random: np.random.Generator, names: Sequence[str], ndim: int) -> Spec:
    """Returns a spec that has each of some axes in one of the dimensions."""
    dims: list[tuple[str, ...]] = [()] * ndim
    for name in names:
        dim = int(random.integers(ndim))
        dims[dim] = (*dims[dim], name)
    return tuple(dims)


def axes_of(spec: Spec) -> tuple[str, ...]:
    """Returns all axes of a spec."""
    return tuple([name for names in spec for name in names])


def public(spec: Spec) -> PartitionSpec:
    """Returns a spec as lawful writes it."""
    return PartitionSpec(*spec)


def fitting_names(random: np.random.Generator, axes: Axes, shape: Sequence[int]) -> Spec:
    """Returns a random spec whose axes divide a shape."""
    dims: list[tuple[str, ...]] = [()] * len(shape)
    for name in draw_names(random, axes, 0):
        fitting = [i for i, size in enumerate(shape) if size % axes.size((*dims[i], name)) == 0]
        if fitting:
            dim = fitting[random.integers(len(fitting))]
            dims[dim] = (*dims[dim], name)
    return tuple(dims)


# The meaning of a spec


def index_at(axes: Axes, spec: Spec, shape: Sequence[int], position: Position) -> tuple[slice, ...]:
    """Returns the index of the part of an array that is at a position."""
    index = []
    for size, names in zip(shape, spec, strict=True):
        length = size // axes.size(names)
        start = axes.number(position, names) * length
        index.append(slice(start, start + length))
    return tuple(index)


def part_at(axes: Axes, spec: Spec, x: Any, position: Position) -> Any:
    """Returns the part of an array that is at a position."""
    index = index_at(axes, spec, get_aval(x).shape, position)
    return x[index] if index else x


def joined(ops: Any, axes: Axes, spec: Spec, parts: Mapping[tuple[int, ...], Any]) -> Any:
    """Returns the array whose parts are at the positions of a mesh; of those that differ in other axes the first."""

    def along(dim: int, position: Position) -> Any:
        if dim == len(spec):
            return parts[tuple([position.get(name, 0) for name in axes.names])]
        found = [along(dim + 1, {**position, **more}) for more in axes.positions(spec[dim])]
        return found[0] if len(found) == 1 else ops.concatenate(found, dim)

    return along(0, {})


def on_every_device(system: Implementation, function: Any, axes: Axes, in_specs: Sequence[Spec]) -> Any:
    """Returns the function of whole arrays that gives the results at all positions, by nested ``vmap`` with names.

    Args:
      system: whose transformations map.
      function: of a list of parts, to a list of parts.
      axes: those of the mesh.
      in_specs: how the arguments are split.
    """
    ops = system.ops

    def on_all(*wholes: Any) -> dict[tuple[int, ...], list[Any]]:
        stacked, is_split = [], [bool(axes_of(spec)) for spec in in_specs]
        for x, spec, split in zip(wholes, in_specs, is_split, strict=True):
            if split:
                parts = [ops.expand_dims(part_at(axes, spec, x, position), (0,)) for position in axes.positions()]
                whole = ops.concatenate(parts, 0)
                x = ops.reshape(whole, (*axes.sizes, *get_aval(whole).shape[1:]))
            stacked.append(x)

        def along(names: Sequence[str], *parts: Any) -> Any:
            if not names:
                return function(list(parts))
            mapped = tuple([0 if split else None for split in is_split])
            inner, size = partial(along, names[1:]), axes.size(names[:1])
            return vmap(inner, mapped, axis_name=names[0], axis_size=size)(*parts)

        outs = along(axes.names, *stacked)
        return {tuple(position.values()): [y[tuple(position.values())] for y in outs] for position in axes.positions()}

    return on_all


def as_vmap(
    system: Implementation, function: Any, axes: Axes, in_specs: Sequence[Spec], out_specs: Sequence[Spec]
) -> Any:
    """Returns the function of whole arrays that a function of parts stands for, by nested ``vmap`` with names."""
    on_all = on_every_device(system, function, axes, in_specs)

    def whole(*wholes: Any) -> list[Any]:
        outs = on_all(*wholes)
        return [
            joined(system.ops, axes, spec, {at: results[i] for at, results in outs.items()})
            for i, spec in enumerate(out_specs)
        ]

    return whole


# Values


def whole_near(axes: Axes, spec: Spec, x: Any) -> Any:
    """Returns an array whose parts are near a given one, so that they are within the same domain."""
    names = axes_of(spec)
    batch = batch_of(x, axes.size(names), 0)
    parts = {tuple(position.values()): batch[axes.number(position, names)] for position in axes.positions()}
    return joined(np, axes, spec, parts)
