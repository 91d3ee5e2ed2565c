"""Collectives between the partitions of a program, which are numbered by their row-major position in a mesh.

The lowering of a program over a mesh sets `ModuleLowering.mesh`, by ``with ctx.mesh(axes)``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from lawful.core import ShapedArray, record
from lawful.ops import reduce_max, reduce_min
from lawful.xla_backend._errors import LoweringError
from lawful.xla_backend._runtime.bindings import ir, stablehlo

if TYPE_CHECKING:
    from lawful.core import JaxprEqn
    from lawful.xla_backend._lowering.function import FunctionLowering

Value = Any
Groups = Sequence[Sequence[int]]

# All collectives between devices share one channel; XLA gives each its own.
_CHANNEL, _BETWEEN_DEVICES = 1, 1


@record
class MeshAxes:
    """The axes of the mesh over which a program is split.

    Attributes:
      axes: the name and the size of every axis, the slowest first.
      free: the names of the axes that the compiler may use, as it sees fit.
      symbol: the name of the mesh in the module; needed where there are free axes.
    """

    axes: tuple[tuple[Hashable, int], ...]
    free: tuple[Hashable, ...] = ()
    symbol: str = ""

    def positions(self, names: Sequence[Hashable]) -> np.ndarray[Any, Any]:
        """Returns the partitions, a row for each combination of positions along the axes that are not named."""
        numbers = [name for name, _ in self.axes]
        sizes = [size for _, size in self.axes]
        at = [numbers.index(name) for name in names]
        others = [i for i in range(len(sizes)) if i not in at]
        count = math.prod(sizes[i] for i in at)
        return np.arange(math.prod(sizes)).reshape(sizes).transpose(*others, *at).reshape(-1, count)


class CollectiveLowering:
    """The part of `LoweringContext` for collectives; ``axis_name`` is a name or a tuple of names, the slowest first."""

    __slots__ = ()

    if TYPE_CHECKING:  # what `LoweringContext` defines
        _eqn: JaxprEqn
        _function: FunctionLowering
        apply: Callable[..., list[Value]]
        compare: Callable[[Value, Value, str], Value]
        full: Callable[[ShapedArray, Any], Value]
        tensor_type: Callable[[ShapedArray], Any]
        zeros: Callable[[ShapedArray], Value]

    @contextmanager
    def mesh(
        self, axes: Sequence[tuple[Hashable, int]], *, free: Sequence[Hashable] = (), symbol: str = ""
    ) -> Iterator[None]:
        """Makes the collectives of the equations lowered inside ``with`` those of a mesh.

        Args:
          axes: the name and the size of every axis of the mesh, the slowest first.
          free: the names of the axes over which the compiler splits what is inside.
          symbol: the name of the mesh in the module; needed only where there are free axes.
        """
        module = self._function.module
        outside, module.mesh = module.mesh, MeshAxes(tuple(axes), tuple(free), symbol)
        try:
            yield
        finally:
            module.mesh = outside

    def _partitions(self, axis_name: Any) -> tuple[MeshAxes, np.ndarray[Any, Any]]:
        mesh = self._function.module.mesh
        names = axis_name if type(axis_name) is tuple else (axis_name,)
        bound = () if mesh is None else tuple(name for name, _ in mesh.axes)
        missing = [name for name in names if name not in bound]
        if mesh is None or missing:
            where = "outside of any mesh" if mesh is None else f"in a mesh with the axes {bound}"
            raise LoweringError(
                f"lowering: expected '{self._eqn.primitive.name}' over the axis {axis_name!r} inside a mesh with that "
                f"axis, got it {where}; call the function through vmap or shard_map with that axis name",
                source=self._eqn.source,
            )
        return mesh, mesh.positions(names)

    def replica_groups(self, axis_name: Any, axis_index_groups: Groups | None = None) -> Any:
        """Returns the attribute of the partitions that exchange with one another, a row for each group.

        Args:
          axis_name: the axis.
          axis_index_groups: positions along the axis, a sequence for each group.
        """
        _, rows = self._partitions(axis_name)
        if axis_index_groups is not None:
            groups = [row[[*group]].tolist() for row in rows for group in axis_index_groups]
            rows = np.array([*itertools.zip_longest(*groups, fillvalue=-1)]).T
        return ir.DenseIntElementsAttr.get(np.ascontiguousarray(rows, np.int64))

    def _exchange(self, axis_name: Any, groups: Groups | None, *, by_device: bool = True) -> dict[str, Any]:
        attributes = {"replica_groups": self.replica_groups(axis_name, groups), "channel_handle": _channel()}
        if by_device:
            attributes["use_global_device_ids"] = ir.BoolAttr.get(True)
        return attributes

    def all_reduce(self, x: Value, axis_name: Any, axis_index_groups: Groups | None, combine: str) -> Value:
        """Returns the reduction of the values of a group.

        Args:
          x: a value.
          axis_name: the axis.
          axis_index_groups: the groups of positions along it, or None.
          combine: ``"add"``, ``"maximum"`` or ``"minimum"``.
        """
        dtype = self._function.module.types.dtype_of(x.type.element_type)
        if combine == "add" or dtype.kind in "bui":
            return self._all_reduce(x, axis_name, axis_index_groups, combine)
        if dtype.kind == "c":  # XLA has no such collective: the values are gathered first.
            gathered = self.all_gather(_reshaped(x, (1, *x.type.shape)), axis_name, axis_index_groups, 0)
            return self.apply(_REDUCTIONS[combine], gathered)[0]
        # XLA's collective drops NaNs, depending on the order of partitions, so it gets integers in the order of floats.
        largest = np.iinfo(f"i{dtype.itemsize}").max
        nan = largest if combine == "maximum" else ~largest
        aval = ShapedArray(tuple(x.type.shape), np.dtype(f"i{dtype.itemsize}"))
        ordered = self._flipped(stablehlo.bitcast_convert(self.tensor_type(aval), x), aval)
        ordered = stablehlo.select(self.compare(x, x, "NE"), self.full(aval, nan), ordered)
        reduced = self._all_reduce(ordered, axis_name, axis_index_groups, combine)
        return stablehlo.bitcast_convert(x.type, self._flipped(reduced, aval))

    def _flipped(self, bits: Value, aval: ShapedArray) -> Value:
        """Returns the bits of floats as integers in the same order, or such integers as the bits."""
        flipped = stablehlo.xor(bits, self.full(aval, np.iinfo(aval.dtype).max))
        return stablehlo.select(self.compare(bits, self.zeros(aval), "LT"), flipped, bits)

    def _all_reduce(self, x: Value, axis_name: Any, axis_index_groups: Groups | None, combine: str) -> Value:
        op = stablehlo.AllReduceOp([x.type], [x], **self._exchange(axis_name, axis_index_groups))
        self._combine(op, x, combine)
        return op.results[0]

    def all_gather(self, x: Value, axis_name: Any, axis_index_groups: Groups | None, dim: int) -> Value:
        """Returns the values of a group joined along a dimension."""
        attributes = self._exchange(axis_name, axis_index_groups)
        count = attributes["replica_groups"].type.shape[1]
        out = _resized(x, dim, x.type.shape[dim] * count)
        return stablehlo.AllGatherOp([out], [x], dim, **attributes).results[0]

    def reduce_scatter(self, x: Value, axis_name: Any, axis_index_groups: Groups | None, dim: int) -> Value:
        """Returns the own part, along a dimension, of the sum of the values of a group."""
        attributes = self._exchange(axis_name, axis_index_groups)
        count = attributes["replica_groups"].type.shape[1]
        op = stablehlo.ReduceScatterOp(_resized(x, dim, x.type.shape[dim] // count), x, dim, **attributes)
        self._combine(op, x, "add")
        return op.result

    def all_to_all(
        self, x: Value, axis_name: Any, axis_index_groups: Groups | None, split_dim: int, concat_dim: int
    ) -> Value:
        """Returns what the members of a group have for this one, joined; each has parts along a dimension for all."""
        attributes = self._exchange(axis_name, axis_index_groups, by_device=False)
        count = attributes["replica_groups"].type.shape[1]
        op = stablehlo.AllToAllOp([x], split_dim, concat_dim, count, **attributes)
        return op.results[0]

    def collective_permute(self, x: Value, axis_name: Any, perm: Sequence[tuple[int, int]]) -> Value:
        """Returns the value that is sent here, or zeros.

        Args:
          x: a value.
          axis_name: the axis.
          perm: pairs of a source and a destination, positions along the axis.
        """
        _, rows = self._partitions(axis_name)
        pairs = np.array([(row[source], row[destination]) for row in rows for source, destination in perm], np.int64)
        attribute = ir.DenseIntElementsAttr.get(pairs.reshape(-1, 2))
        return stablehlo.CollectivePermuteOp(x, attribute, channel_handle=_channel()).result

    def axis_index(self, axis_name: Any) -> Value:
        """Returns the position of this partition along an axis, an int32 scalar."""
        mesh, rows = self._partitions(axis_name)
        if rows.shape[1] == 1:
            return self.zeros(ShapedArray((), np.dtype(np.int32)))
        if not mesh.free:
            return self._axis_index(mesh, axis_name)
        # Partitions have numbers only where every axis is manual.
        free = ", ".join(f'"{name}"' for name in mesh.free)
        attributes = {
            "in_shardings": ir.Attribute.parse("#sdy.sharding_per_value<[]>"),
            "out_shardings": ir.Attribute.parse(f"#sdy.sharding_per_value<[<@{mesh.symbol}, []>]>"),
            "manual_axes": ir.Attribute.parse(f"#sdy<manual_axes{{{free}}}>"),
        }
        scalar = ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))
        op = ir.Operation.create("sdy.manual_computation", [scalar], [], attributes=attributes, regions=1)
        with ir.InsertionPoint(op.regions[0].blocks.append()):
            ir.Operation.create("sdy.return", [], [self._axis_index(mesh, axis_name)])
        return op.result

    def _axis_index(self, mesh: MeshAxes, axis_name: Any) -> Value:
        sizes = dict(mesh.axes)
        strides = dict(zip(sizes, _strides([*sizes.values()]), strict=True))
        names = axis_name if type(axis_name) is tuple else (axis_name,)
        unsigned = ir.IntegerType.get_unsigned(32)

        def number(value: int) -> Value:
            return stablehlo.constant(ir.DenseElementsAttr.get(np.array(value, np.uint32), type=unsigned))

        partition = stablehlo.partition_id()
        index: Value = None
        for name, stride in zip(names, _strides([sizes[name] for name in names]), strict=True):
            here = stablehlo.remainder(stablehlo.divide(partition, number(strides[name])), number(sizes[name]))
            if stride > 1:
                here = stablehlo.multiply(here, number(stride))
            index = here if index is None else stablehlo.add(index, here)
        return stablehlo.convert(ir.RankedTensorType.get([], ir.IntegerType.get_signless(32)), index)

    def _combine(self, op: Any, x: Value, combine: str) -> None:
        scalar = ir.RankedTensorType.get([], x.type.element_type)
        with self._function.block(op.regions[0], [scalar, scalar]) as (a, b):
            stablehlo.return_([getattr(stablehlo, combine)(a, b)])


_REDUCTIONS = {
    "maximum": lambda x: reduce_max(x, (0,)),
    "minimum": lambda x: reduce_min(x, (0,)),
}


def _channel() -> Any:
    return stablehlo.ChannelHandle.get(_CHANNEL, _BETWEEN_DEVICES)


def _strides(sizes: Sequence[int]) -> list[int]:
    return [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]


def _resized(x: Value, dim: int, size: int) -> Any:
    shape = [*x.type.shape]
    shape[dim] = size
    return ir.RankedTensorType.get(shape, x.type.element_type)


def _reshaped(x: Value, shape: Sequence[int]) -> Value:
    return stablehlo.reshape(ir.RankedTensorType.get(shape, x.type.element_type), x)
