"""Which device has which part: shardings as arrays of device numbers, as the runtime has them, and back.

An assignment has one dimension for each of the array's, as long as the number of parts, and a last one for copies.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from lawful.core import ArgumentValueError, cached_function
from lawful.xla_backend._arrays.sharding import DimensionAxes, Index, Sharding
from lawful.xla_backend._runtime import partitions
from lawful.xla_backend._runtime.handles import Device
from lawful.xla_backend._runtime.partitions import Assignment

Axes = Sequence[tuple[Hashable, int]]


def assignment_of(sharding: Sharding, ndim: int) -> Assignment:
    """Returns the assignment of the parts of arrays of ``ndim`` dimensions."""
    if isinstance(sharding, TiledSharding):
        return sharding.assignment
    return _assignment(sharding.mesh_axes, sharding.dimension_axes(ndim))


def _assignment(axes: Axes, dims: DimensionAxes) -> Assignment:
    sizes = dict(axes)
    numbers = np.arange(math.prod(sizes.values())).reshape([*sizes.values()])
    split = [name for names in dims for name in names]
    position = {name: i for i, name in enumerate(sizes)}
    order = [position[name] for name in [*split, *(name for name in sizes if name not in split)]]
    tiles = [math.prod(sizes[name] for name in names) for names in dims]
    return numbers.transpose(order).reshape(*tiles, -1)


def _dimension_axes(assignment: Assignment, axes: Axes) -> DimensionAxes | None:
    """Returns the axes of each dimension that give an assignment; None if whole axes do not."""
    *tiles, _ = assignment.shape
    # The part of each device, as its index along each dimension.
    parts = np.empty((assignment.size, len(tiles)), np.int64)
    parts[assignment.reshape(-1)] = np.indices(assignment.shape)[:-1].reshape(len(tiles), assignment.size).T
    found: list[list[tuple[int, Hashable]]] = [[] for _ in tiles]
    stride = assignment.size
    for name, size in axes:
        stride //= size
        # One step along an axis changes the index along the one dimension that it splits.
        steps = parts[stride] - parts[0] if size > 1 else ()
        changed = np.flatnonzero(steps)
        if len(changed) > 1:
            return None
        for dim in changed:
            found[dim].append((int(steps[dim]), name))
    dims = tuple(tuple(name for _, name in sorted(pairs, key=lambda pair: -pair[0])) for pairs in found)
    return dims if is_same_assignment(_assignment(axes, dims), assignment) else None


def sharding_of(
    assignment: Assignment, meshes: Sequence[Sharding], named: Sequence[tuple[Sharding, int]] = ()
) -> Sharding:
    """Returns the sharding that an assignment is, on one of some meshes if its axes can tell.

    Args:
      assignment: the assignment.
      meshes: shardings on the meshes; the first one decides where several can.
      named: shardings that the program has, with numbers of dimensions. An assignment does not tell which axes of one
        device split a dimension: the first of these that gives it does.
    """
    for sharding in meshes:
        dims = _dimension_axes(assignment, sharding.mesh_axes)
        if dims is None:
            continue
        if any(size == 1 for _, size in sharding.mesh_axes):
            ndim = assignment.ndim - 1
            for other, of in named:
                if of == ndim and other.mesh_axes == sharding.mesh_axes and not _is_open(other):
                    own = other.dimension_axes(ndim)
                    if is_same_assignment(_assignment(sharding.mesh_axes, own), assignment):
                        return sharding.with_dimension_axes(own)
        return sharding.with_dimension_axes(dims)
    return TiledSharding(meshes[0].device_order, assignment)


def _is_open(sharding: Sharding) -> bool:
    """Whether the compiler chooses how a dimension is split."""
    return bool(getattr(sharding, "unconstrained_dimensions", tuple)())


class TiledSharding(Sharding):
    """A sharding that the compiler chose for a result, and that no spec of the mesh describes.

    Source: ``jax.sharding.GSPMDSharding``.
    """

    __slots__ = ("_key", "assignment", "device_order")

    device_order: tuple[Device, ...]

    def __init__(self, devices: tuple[Device, ...], assignment: Assignment) -> None:
        self.device_order = devices
        self.assignment = assignment
        self._key = devices, assignment.shape, assignment.tobytes()

    @property
    def mesh_axes(self) -> tuple[tuple[Hashable, int], ...]:
        """One axis for each dimension and one for copies, in an order of devices of their own."""
        return tuple((f"_{i}", size) for i, size in enumerate(self.assignment.shape))

    @property
    def device_numbers(self) -> tuple[int, ...]:
        """The number of the device, in ``device_order``, at each point of the mesh; none where they are in order."""
        numbers = tuple(self.assignment.reshape(-1).tolist())
        return () if numbers == tuple(range(len(numbers))) else numbers

    def dimension_axes(self, ndim: int) -> DimensionAxes:
        if ndim != self.assignment.ndim - 1:
            raise ArgumentValueError(
                f"{self}: expected an array of {self.assignment.ndim - 1} dimensions, got {ndim}; use a NamedSharding"
            )
        return tuple((f"_{i}",) for i in range(ndim))

    def with_dimension_axes(self, dims: DimensionAxes) -> TiledSharding:
        inner = _assignment(self.mesh_axes, dims)
        return TiledSharding(self.device_order, self.assignment.reshape(-1)[inner])

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        shape = tuple(global_shape)
        self.dimension_axes(len(shape))
        for dim, (size, parts) in enumerate(zip(shape, self.assignment.shape[:-1], strict=True)):
            if size % parts:
                raise ArgumentValueError(
                    f"{self}: expected dimension {dim} of the shape {shape} to be a multiple of {parts}, the number of "
                    f"its parts, got {size}; pad the array, or use another sharding"
                )
        return tuple(size // parts for size, parts in zip(shape, self.assignment.shape[:-1], strict=True))

    def devices_indices_map(self, global_shape: Sequence[int]) -> dict[Any, Index]:
        part, found = self.shard_shape(global_shape), {}
        for place in np.ndindex(self.assignment.shape):
            found[int(self.assignment[place])] = tuple(
                slice(i * size, (i + 1) * size) if size < whole else slice(None)
                for i, size, whole in zip(place[:-1], part, global_shape, strict=True)
            )
        return {device: found[number] for number, device in enumerate(self.device_order)}

    @property
    def is_fully_replicated(self) -> bool:
        return bool(self.assignment.shape[-1] == self.assignment.size)

    def is_equivalent_to(self, other: Any, ndim: int) -> bool:
        return isinstance(other, Sharding) and is_same_placement(self, other, ndim)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TiledSharding) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"TiledSharding(parts={self.assignment.shape[:-1]}, devices={len(self.device_order)})"


def is_same_placement(x: Sharding, y: Sharding, ndim: int) -> bool:
    """Whether two shardings put the same parts of arrays of ``ndim`` dimensions on the same devices, in one order."""
    if x.device_order != y.device_order:
        return False
    return is_same_assignment(assignment_of(x, ndim), assignment_of(y, ndim))


def is_same_assignment(x: Assignment, y: Assignment) -> bool:
    """Whether two assignments give the same parts to the same devices; the order of copies does not matter."""
    return x.shape == y.shape and np.array_equal(np.sort(x, -1), np.sort(y, -1))


@cached_function("shardings of the runtime", 4096)
def runtime_sharding(sharding: Sharding, ndim: int) -> Any:
    """Returns the runtime's sharding of arrays of ``ndim`` dimensions."""
    return partitions.runtime_sharding(sharding.device_order, assignment_of(sharding, ndim))
