"""Shardings of a mesh with names, as the backend asks for them; it does not know those of ``lawful.parallel``."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful.core import ArgumentValueError
from lawful.xla_backend import Sharding, devices


class Grid:
    """A sharding of a mesh with names, with no more than the backend asks for; it inherits from nothing."""

    device_order: tuple[Any, ...] = ()
    mesh_axes: tuple[Any, ...] = ()

    def __init__(self, devices: Any, axes: dict[str, int], dims: Any) -> None:
        self.device_order, self.mesh_axes = tuple(devices), tuple(axes.items())
        self.dims = tuple((dim,) if isinstance(dim, str) else tuple(dim) for dim in dims)
        while self.dims and not self.dims[-1]:
            self.dims = self.dims[:-1]

    def dimension_axes(self, ndim: int) -> Any:
        return self.dims + ((),) * (ndim - len(self.dims))

    def with_dimension_axes(self, dims: Any) -> "Grid":
        return Grid(self.device_order, dict(self.mesh_axes), dims)

    def _parts(self, ndim: int) -> list[int]:
        return [math.prod(dict(self.mesh_axes)[axis] for axis in axes) for axes in self.dimension_axes(ndim)]

    def shard_shape(self, shape: Any) -> tuple[int, ...]:
        for dim, (size, parts) in enumerate(zip(shape, self._parts(len(shape)), strict=True)):
            if size % parts:
                axes = ", ".join(self.dimension_axes(len(shape))[dim])
                raise ArgumentValueError(f"expected dimension {dim} to be a multiple of {parts} ({axes}), got {size}")
        return tuple(size // parts for size, parts in zip(shape, self._parts(len(shape)), strict=True))

    def devices_indices_map(self, shape: Any) -> dict[Any, Any]:
        found, sizes = {}, dict(self.mesh_axes)
        for device, place in zip(self.device_order, np.ndindex(*sizes.values()), strict=True):
            position = dict(zip(sizes, place, strict=True))
            index = []
            for size, axes in zip(self.shard_shape(shape), self.dimension_axes(len(shape)), strict=True):
                number = 0
                for axis in axes:
                    number = number * sizes[axis] + position[axis]
                index.append(slice(number * size, (number + 1) * size) if axes else slice(None))
            found[device] = tuple(index)
        return found

    addressable_devices_indices_map = devices_indices_map

    @property
    def device_set(self) -> set[Any]:
        return {*self.device_order}

    addressable_devices = device_set
    is_fully_addressable = True
    memory_kind = None

    @property
    def is_fully_replicated(self) -> bool:
        return not self.dims

    def is_equivalent_to(self, other: Any, ndim: int) -> bool:
        return self == other

    def _key(self) -> Any:
        return self.device_order, self.mesh_axes, self.dims

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Grid) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"Grid({dict(self.mesh_axes)}, {self.dims})"


assert issubclass(Grid, Sharding)


@pytest.fixture
def grid() -> Callable[..., Grid]:
    """Returns shardings over a mesh of 4 by 2 devices, or over another one: ``grid("a", "b")``."""

    def make(*dims: Any, axes: dict[str, int] | None = None, on: Any = None) -> Grid:
        axes = {"a": 4, "b": 2} if axes is None else axes
        chosen = devices()[: math.prod(axes.values())] if on is None else on
        return Grid(chosen, axes, dims)

    return make


#: How the arrays of the tests are split over the axes "a" and "b".
SPECS = [(), ("a",), ("b",), ("a", "b"), (("a", "b"),), ((), "a"), ("b", "a"), (("b", "a"),), ((), ("a", "b"))]


@pytest.fixture(params=SPECS, ids=str)
def spec(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(params=SPECS, ids=str)
def other_spec(request: pytest.FixtureRequest) -> Any:
    return request.param
