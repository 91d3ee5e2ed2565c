"""The meshes of a program: their symbols in Shardy's dialect, and the shardings of values over them.

A rule that splits values over devices says so by ``ctx.constrain(value, sharding)``. The program then runs on the
devices of the sharding's mesh, one partition on each.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from lawful.core import ArgumentValueError, ClosedJaxpr, ShapedArray
from lawful.xla_backend._runtime.bindings import DeviceType, ir, sdy

if TYPE_CHECKING:
    from lawful.xla_backend._arrays.sharding import Sharding
    from lawful.xla_backend._lowering.function import FunctionLowering
    from lawful.xla_backend._runtime.handles import Device

Value = Any
#: The axes of a mesh, and the numbers of its devices where they are in another order than the partitions.
MeshKey = tuple[tuple[tuple[Hashable, int], ...], tuple[int, ...]]


class MeshTable:
    """The meshes of a module, each declared once.

    Attributes:
      module: the ``ir.Module``, whose context must be current in every call.
      symbols: the symbol of each mesh.
      shardings: one sharding on each mesh of devices.
      abstract: one on each mesh that has axes alone, whose devices are those of the arguments.
      named: the shardings that values are given, with their numbers of dimensions, the last one last.
    """

    def __init__(self, module: Any, symbols: dict[MeshKey, str], shardings: tuple[Sharding, ...]) -> None:
        self.module = module
        self.symbols = symbols
        self.shardings = [*shardings]
        self.abstract: list[Sharding] = []
        self.named: dict[tuple[Sharding, int], None] = {}

    @property
    def device_order(self) -> tuple[Device, ...] | None:
        """The devices of the partitions, in order; None where there is no mesh."""
        return self.shardings[0].device_order if self.shardings else None

    def symbol(self, sharding: Sharding) -> str:
        """Returns the symbol of the mesh of a sharding, declaring the mesh if it is new.

        Raises:
          ArgumentValueError: the program has a mesh over other devices, or over these in another order.
        """
        key = sharding.mesh_axes, getattr(sharding, "device_numbers", ())
        found = self.symbols.get(key)
        if is_abstract(sharding):
            return self._declared(key, sharding, self.abstract) if found is None else found
        order = self.device_order
        if order is not None and order != sharding.device_order:
            raise ArgumentValueError(
                f"lowering: expected one order of devices in a program, got {self.shardings[0]} on "
                f"{devices_text(order)} and {sharding} on {devices_text(sharding.device_order)}; make both meshes "
                "of the same devices in the same order"
            )
        if found is None:
            foreign = next((d for d in sharding.device_order if not isinstance(d, DeviceType)), None)
            if foreign is not None:
                raise ArgumentValueError(
                    f"lowering: expected a mesh of XLA's devices, got {foreign} in {sharding}; compile for NumPy with "
                    "jit(f, backend='numpy'), or make the mesh of lawful.parallel.devices()"
                )
            return self._declared(key, sharding, self.shardings)
        if not self.shardings:  # the axes were those of an abstract mesh so far
            self.shardings.append(sharding)
        return found

    def _declared(self, key: MeshKey, sharding: Sharding, among: list[Sharding]) -> str:
        sdy().register_dialect(self.module.context)
        symbol = self._declare(f"mesh_{len(self.symbols)}" if self.symbols else "mesh", sharding)
        self.symbols[key] = symbol
        among.append(sharding)
        return symbol

    def _declare(self, symbol: str, sharding: Sharding) -> str:
        dialect = sdy()
        names = axis_texts(sharding)
        sizes = dict(sharding.mesh_axes)
        axes = [dialect.MeshAxisAttr.get(text, sizes.get(name, 1)) for name, text in names.items()]
        mesh = dialect.MeshAttr.get(axes, list(getattr(sharding, "device_numbers", ())))
        with ir.InsertionPoint.at_block_begin(self.module.body):
            dialect.MeshOp(symbol, mesh)
        return symbol

    def attribute(self, sharding: Sharding, ndim: int, *, is_open: bool = False) -> Any:
        """Returns the attribute that gives a value of ``ndim`` dimensions a sharding.

        Args:
          sharding: the sharding.
          ndim: the number of dimensions.
          is_open: whether the compiler may split dimensions over further axes.
        """
        symbol, dialect = self.symbol(sharding), sdy()
        self.named.pop((sharding, ndim), None)
        self.named[sharding, ndim] = None
        names = axis_texts(sharding)
        free: tuple[int, ...] = getattr(sharding, "unconstrained_dimensions", tuple)()
        dims = [
            dialect.DimensionShardingAttr.get(
                [dialect.AxisRefAttr.get(names[axis]) for axis in axes], is_closed=not is_open and dim not in free
            )
            for dim, axes in enumerate(sharding.dimension_axes(ndim))
        ]
        return dialect.TensorShardingAttr.get(symbol, dims)


def is_abstract(sharding: Sharding) -> bool:
    """Whether a sharding is over the axes of a mesh without devices."""
    return bool(getattr(sharding, "is_abstract", False))


def axis_texts(sharding: Sharding) -> dict[Hashable, str]:
    """Returns the names of the axes of a mesh in the dialect, where they are strings; a single device is one axis."""
    axes = [name for name, _ in sharding.mesh_axes] or ["_device"]
    texts = [str(name) for name in axes]
    if len({*texts}) < len(texts):
        texts = [f"{text}_{i}" for i, text in enumerate(texts)]
    return dict(zip(axes, texts, strict=True))


def devices_text(devices: tuple[Device, ...]) -> str:
    """Returns some devices as text, those after the eighth left out."""
    shown = ", ".join(map(str, devices[:8]))
    return f"[{shown}]" if len(devices) <= 8 else f"[{shown}, … {len(devices)} devices]"


class MeshMethods:
    """The part of `LoweringContext` for devices and shardings."""

    __slots__ = ()

    if TYPE_CHECKING:  # what `LoweringContext` defines
        _function: FunctionLowering

        @property
        def avals_out(self) -> list[ShapedArray]: ...

        mesh: Callable[..., AbstractContextManager[None]]

    def mesh_symbol(self, sharding: Sharding) -> str:
        """Returns the symbol of the mesh of a sharding in Shardy's dialect, declared in the module."""
        return self._function.module.meshes.symbol(sharding)

    def sharding_attribute(self, sharding: Sharding, ndim: int) -> Any:
        """Returns Shardy's attribute that gives a value of ``ndim`` dimensions a sharding."""
        return self._function.module.meshes.attribute(sharding, ndim)

    def constrain(self, value: Value, sharding: Sharding) -> Value:
        """Returns a value, split over devices as a sharding says.

        Args:
          value: a value.
          sharding: its mesh is one that the program runs on.

        Raises:
          ArgumentValueError: the sharding does not divide the shape, or the program has a mesh over other devices.
        """
        shape = tuple(value.type.shape)
        sharding.shard_shape(shape)
        attribute = self.sharding_attribute(sharding, len(shape))
        return sdy().ShardingConstraintOp(value, attribute).result

    def manual_computation(
        self,
        jaxpr: ClosedJaxpr,
        operands: Sequence[Value],
        in_shardings: Sequence[Sharding],
        out_shardings: Sequence[Sharding],
        manual_axes: Sequence[Hashable],
        mesh: Sharding,
    ) -> list[Value]:
        """Returns the results of a jaxpr that every device runs on its parts of the operands.

        Args:
          jaxpr: of the parts; it has no constants.
          operands: the whole values.
          in_shardings: how each is split.
          out_shardings: the same for the results, whose parts the jaxpr gives.
          manual_axes: the axes of the mesh along which the values are split by hand; the compiler has the others.
          mesh: the sharding on it of a value that is whole; all shardings are on this mesh.
        """
        module, dialect = self._function.module, sdy()
        names = axis_texts(mesh)
        # The axes of a manual computation around this one are manual here too.
        around = module.mesh
        outside = [] if around is None else [axis for axis, _ in around.axes if axis not in around.free]
        free = tuple([axis for axis, _ in mesh.mesh_axes if axis not in manual_axes and axis not in outside])
        symbol = module.meshes.symbol(mesh)
        sizes = dict(mesh.mesh_axes)
        if all(sizes[axis] == 1 for axis in manual_axes):  # the parts are the whole; XLA has no operation for it
            with self.mesh(mesh.mesh_axes, free=free, symbol=symbol):
                return self._function.inline(jaxpr, operands)
        if around and outside and (around.axes != mesh.mesh_axes or any(axis in outside for axis in manual_axes)):
            raise ArgumentValueError(
                f"lowering: expected one mesh for a nest of functions that are mapped over devices, got one of axes "
                f"({', '.join(repr(axis) for axis, _ in mesh.mesh_axes)}) inside a function that is mapped over "
                f"({', '.join(map(repr, outside))}); make one mesh with all axes for shard_map, "
                "use vmap inside of pmap, or compile for NumPy with jit(f, backend='numpy')"
            )

        def attributes(shardings: Sequence[Sharding], avals: Sequence[ShapedArray]) -> Any:
            each = [
                module.meshes.attribute(sharding, aval.ndim, is_open=bool(free))
                for sharding, aval in zip(shardings, avals, strict=True)
            ]
            return dialect.TensorShardingPerValueAttr.get(each)

        # Without a result XLA's partitioner does not know where a call of a Python function runs: give it one.
        added = [] if jaxpr.out_avals else [ShapedArray((), np.dtype(np.int32))]
        op = dialect.ManualComputationOp(
            [module.types.tensor_type(aval) for aval in (*self.avals_out, *added)],
            [*operands],
            attributes(in_shardings, jaxpr.in_avals),
            attributes([*out_shardings, *[mesh] * len(added)], [*jaxpr.out_avals, *added]),
            dialect.ManualAxesAttr.get([ir.StringAttr.get(names[axis]) for axis in manual_axes]),
        )
        parts = [module.types.tensor_type(aval) for aval in jaxpr.in_avals]
        # Each device calls Python functions in its own order.
        block = self._function.block(op.regions[0], parts, runs_once=True)
        with self.mesh(mesh.mesh_axes, free=free, symbol=symbol), block as args:
            dialect.ReturnOp([*self._function.inline(jaxpr, list(args)), *map(module.types.zeros, added)])
        return list(op.results)[: len(jaxpr.out_avals)]

    @property
    def sdy(self) -> Any:
        """Shardy's dialect: ``ctx.sdy.manual_computation``."""
        return sdy()
