"""Where a call of a program on several devices runs, and how its arguments lie there: as the data does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

from lawful.core import ArgumentValueError, ShapedArray, record
from lawful.xla_backend._arrays.array import Array
from lawful.xla_backend._arrays.sharding import Sharding
from lawful.xla_backend._lowering.meshes import devices_text, is_abstract
from lawful.xla_backend._runtime import bindings, clients
from lawful.xla_backend._runtime.handles import Device


@record
class Placement:
    """The devices of the partitions of a program, and the shardings of its constants and arguments.

    Attributes:
      devices: the devices, in order.
      consts: the shardings of the constants.
      arguments: those of the arguments.
      first: a sharding on the mesh that says which devices these are.
    """

    devices: tuple[Device, ...]
    consts: tuple[Sharding, ...]
    arguments: tuple[Sharding, ...]
    first: Sharding

    @property
    def meshes(self) -> list[Sharding]:
        """A sharding on each of the meshes, in the order of the arguments."""
        found: dict[Any, Sharding] = {}
        for sharding in (*self.arguments, *self.consts, self.first):
            found.setdefault((sharding.mesh_axes, getattr(sharding, "device_numbers", ())), sharding)
        return [*found.values()]


def is_sharded(x: Any) -> bool:
    """Whether a value is an Array with a sharding over devices, of which there may be one, or such a sharding."""
    return type(x._device) is not bindings.DeviceType if type(x) is Array else isinstance(x, Sharding)


def _sharding(x: Any) -> Sharding:
    return cast(Sharding, x._device if type(x) is Array else x)


def placement_of(
    name: str, consts: Sequence[Any], args: Sequence[Any], avals: Sequence[ShapedArray], mesh: Sharding | None,
    abstract: Sequence[Sharding] = (), chosen: Sequence[Device] | None = None,
) -> Placement:  # fmt: skip
    """Returns where a call runs: on the devices of its sharded Arrays, or of the mesh that the program names.

    All other values are copied to each of the devices: those of the host, and Arrays on the default device, which is
    where they are unless another one was asked for.

    Args:
      name: the program's, for errors.
      consts: its constants.
      args: its arguments, or shardings of some of them.
      avals: the types of both.
      mesh: a sharding on a mesh that the program names; None if it names none with devices.
      abstract: a sharding on each mesh without devices that it names.
      chosen: the devices that a user chose for meshes without devices.

    Raises:
      ArgumentValueError: two Arrays are on different devices, or one is not where the program runs; or no value is on
        devices that a mesh without devices can have.
    """
    values = [*consts, *args]
    abstract = [*abstract, *[x for x in values if is_abstract(x)]]
    lead, first = mesh, "a mesh that the program names"
    for x in values:
        if is_sharded(x) and not is_abstract(x):
            if lead is None:
                lead, first = _sharding(x), f"an Array with {_sharding(x)}"
            elif lead.device_order != _sharding(x).device_order:
                raise _elsewhere(name, first, lead.device_order, f"one with {_sharding(x)}", _sharding(x).device_order)
    if lead is None:
        assert abstract, "a value is sharded, or the program names a mesh"
        if chosen is None:
            raise ArgumentValueError(
                f"{name}: expected an argument on the devices of a mesh like {abstract[0]}, whose mesh has none, got "
                "none; move one with device_put(x, NamedSharding(mesh, spec)), name a Mesh in the program, or give "
                "device_assignment to compile"
            )
        devices, first = (*chosen,), "device_assignment"
    else:
        devices = lead.device_order
        if chosen is not None and (*chosen,) != devices:
            raise ArgumentValueError(
                f"{name}: expected the device_assignment {devices_text(devices)} of {first}, got "
                f"{devices_text((*chosen,))}; leave it out"
            )
    default = clients.default_device()
    for sharding in abstract:
        if (count := math.prod([size for _, size in sharding.mesh_axes])) != len(devices):
            raise ArgumentValueError(
                f"{name}: expected {count} devices for {sharding}, got {first} on {devices_text(devices)}; make the "
                "abstract mesh of as many"
            )
    lead = _on_devices(abstract[0], devices) if lead is None else lead
    shardings: list[Sharding] = []
    for x, aval in zip(values, avals, strict=True):
        if is_sharded(x):
            shardings.append(_on_devices(x, devices) if is_abstract(x) else _sharding(x))
            continue
        if type(x) is Array and x._device is not default and devices != (x._device,):
            raise _elsewhere(name, first, devices, "an Array", x.sharding.device_order)
        shardings.append(lead.with_dimension_axes(((),) * aval.ndim))
    return Placement(devices, tuple(shardings[: len(consts)]), tuple(shardings[len(consts) :]), lead)


def single_device(name: str, devices: Sequence[Device]) -> Device:
    """Returns the device that a user chose for a program without a mesh; raises ArgumentValueError if it is not one."""
    if len(devices) != 1:
        raise ArgumentValueError(
            f"{name}: expected one device in device_assignment, as no sharding is over several, got "
            f"{devices_text((*devices,))}; give arguments or results shardings"
        )
    return devices[0]


def _on_devices(sharding: Any, devices: tuple[Device, ...]) -> Sharding:
    """Returns a sharding on a mesh without devices as one on a mesh of these."""
    return cast(Sharding, sharding.on_devices(devices))


def _elsewhere(
    name: str, first: str, devices: tuple[Device, ...], other: str, others: tuple[Device, ...]
) -> ArgumentValueError:
    return ArgumentValueError(
        f"{name}: expected all Arrays on the same devices in the same order, got {first} on {devices_text(devices)} "
        f"and {other} on {devices_text(others)}; move one with device_put(x, sharding)"
    )
