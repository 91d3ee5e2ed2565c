"""Functions that run on several devices, with unchanged meaning: through ``shard_map``, ``pmap`` or shardings."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from lawful import tree
from lawful.batching import all_gather, axis_index, psum, vmap
from lawful.core import current, get_aval, is_inexact
from lawful.laws._law.implementation import Function
from lawful.ops import convert_element_type, eq, expand_dims, getitem, mul, with_weakness_of
from lawful.parallel import (
    Mesh,
    NamedSharding,
    PartitionSpec,
    make_mesh,
    numpy_devices,
    pmap,
    shard_map,
    with_sharding_constraint,
)
from lawful.staging import jit

Devices = Callable[[int], Sequence[Any]]
_MOST_DEVICES: Final = 8


def _mesh(sizes: Sequence[int], devices: Devices) -> Mesh:
    """Returns a mesh whose axes have names that are not in use."""
    used = {name for name, _ in current.trace.axis_env}
    free = (f"{letter}{number or ''}" for number in range(len(used) + 1) for letter in "xyz")
    names = [name for name in free if name not in used]
    return make_mesh(tuple(sizes), tuple(names[: len(sizes)]), devices=devices(math.prod(sizes)))


def _is_inside_another(devices: Devices) -> bool:
    """Whether devices other than NumPy's are in use already: programs for them do not nest."""
    return bool(current.trace.axis_env) and devices(1)[0].platform != "numpy"


def _spec(mesh: Mesh, shape: Sequence[int]) -> PartitionSpec:
    """Returns a spec that splits the dimensions of an array over the axes that divide them, one over each."""
    entries: list[Any] = [None] * len(shape)
    for name, size in mesh.shape_tuple:
        fitting = [i for i, length in enumerate(shape) if entries[i] is None and length and length % size == 0]
        if fitting:
            entries[fitting[0]] = name
    return PartitionSpec(*entries)


def with_shard_map(
    function: Function, sizes: Sequence[int] = (2,), checked: bool = True, way: str = "whole",
    devices: Devices = numpy_devices,
) -> Function:  # fmt: skip
    """Returns a function that gathers its split arguments on every device of a mesh, and runs there.

    Args:
      function: the function.
      sizes: the sizes of the mesh's axes.
      checked: whether types say what varies.
      way: how results come back: ``"whole"``, the same on all devices; ``"stacked"``, of which the last is taken; or
        ``"summed"``, all but the last of them replaced by zeros.
      devices: gives the devices.

    >>> from lawful.autodiff import grad
    >>> grad(with_shard_map(lambda x: x * x, (2, 2), True, "summed"))(3.0)
    6.0
    """

    @wraps(function)
    def called(*args: Any) -> Any:
        if _is_inside_another(devices):
            return function(*args)
        mesh = _mesh(sizes, devices)
        leaves, structure = tree.flatten(args)
        specs = [_spec(mesh, get_aval(x).shape) for x in leaves]
        results: list[Any] = []

        def part(*parts: Any) -> list[Any]:
            wholes = [_gathered(x, spec, same=way == "whole") for x, spec in zip(parts, specs, strict=True)]
            outs, out_tree = tree.flatten(function(*tree.unflatten(structure, wholes)))
            results[:] = [out_tree, [get_aval(y) for y in outs]]
            return [_sent(y, mesh, way) for y in outs]

        out_specs = PartitionSpec(mesh.axis_names) if way == "stacked" else PartitionSpec()
        mapped = shard_map(part, mesh=mesh, in_specs=tuple(specs), out_specs=out_specs, check_vma=checked)
        outs = mapped(*leaves)
        if way == "stacked":
            outs = [getitem(y, -1) for y in outs]
        out_tree, avals = results
        return tree.unflatten(out_tree, [*map(with_weakness_of, outs, avals)])

    return called


def _gathered(x: Any, spec: PartitionSpec, *, same: bool) -> Any:
    for dim, name in enumerate(spec):
        if name is not None:
            x = all_gather(x, name, axis=dim, tiled=True, to="invarying" if same else "varying")
    return x


def _sent(y: Any, mesh: Mesh, way: str) -> Any:
    """Returns what a device gives of a result."""
    if way == "stacked":
        return expand_dims(y, (0,))
    if way == "whole":
        return y
    last = np.int32(mesh.size - 1)
    if not is_inexact(get_aval(y).dtype):
        return getitem(all_gather(y, mesh.axis_names, to="invarying"), -1)
    is_last = convert_element_type(eq(axis_index(mesh.axis_names), last), get_aval(y).dtype)
    return psum(mul(y, is_last), mesh.axis_names)


def with_pmap(function: Function, in_axes: Any = 0, out_axes: Any = 0, devices: Devices = numpy_devices) -> Function:
    """Returns a function mapped over devices, which means the same as mapped by ``vmap``.

    >>> with_pmap(lambda x: x * x)(np.array([1.0, 2.0]))
    array([1., 4.])
    """

    @wraps(function)
    def called(*args: Any) -> Any:
        axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
        size = next(get_aval(x).shape[axis] for x, axis in zip(args, axes, strict=True) if axis is not None)
        if size > _MOST_DEVICES or _is_inside_another(devices):
            return vmap(function, in_axes, out_axes)(*args)
        return pmap(function, in_axes=in_axes, out_axes=out_axes, devices=devices(size))(*args)

    return called


def with_shardings(
    function: Function, sizes: Sequence[int] = (2,), compiled: bool = False, devices: Devices = numpy_devices
) -> Function:
    """Returns a function whose arguments and results are split over the devices of a mesh.

    Args:
      function: the function.
      sizes: the sizes of the mesh's axes.
      compiled: whether ``jit`` splits the arguments, and not constraints.
      devices: gives the devices.

    >>> from lawful.autodiff import grad
    >>> grad(with_shardings(lambda x: x * x))(3.0)
    6.0
    """

    @wraps(function)
    def called(*args: Any) -> Any:
        if _is_inside_another(devices):
            return function(*args)
        mesh = _mesh(sizes, devices)

        def shardings(values: Any) -> Any:
            return tree.map(lambda x: NamedSharding(mesh, _spec(mesh, get_aval(x).shape)), values)

        def constrained(*xs: Any) -> Any:
            outs = function(*xs)
            return with_sharding_constraint(outs, shardings(outs))

        if compiled:
            backend = "numpy" if devices(1)[0].platform == "numpy" else "xla"
            return jit(constrained, in_shardings=shardings(args), backend=backend)(*args)
        return constrained(*with_sharding_constraint(args, shardings(args)))

    return called


#: Functions that run on several devices, by their names in programs.
on_devices: Final[Mapping[str, Callable[..., Function]]] = MappingProxyType(
    {"with_shard_map": with_shard_map, "with_pmap": with_pmap, "with_shardings": with_shardings}
)
