"""``jax.interpreters.batching``: the table of batching rules."""

from collections.abc import Callable
from typing import Any

from lawful import ops as _ops
from lawful.core import Primitive, get_aval
from lawful.jax._support.lax.primitives import Rules as _Rules


class _AxisRules:
    """JAX's table of batching rules with the axis: ``rule(size, name, None, args, dims, **params)``."""

    def __setitem__(self, prim: Primitive, rule: Callable[..., Any]) -> None:
        @prim.def_batch
        def batch(args: Any, dims: Any, *, axis_data: Any, **params: Any) -> Any:
            return rule(axis_data.size, axis_data.name, None, args, dims, **params)


__all__ = [
    "axis_primitive_batchers",
    "bdim_at_front",
    "broadcast",
    "defbroadcasting",
    "defvectorized",
    "not_mapped",
    "primitive_batchers",
]

primitive_batchers = _Rules("batch", "def_batch")
axis_primitive_batchers = _AxisRules()
not_mapped = None


def broadcast(x: Any, sz: int, axis: int, mesh_axis: Any = None) -> Any:
    """Returns an array repeated along a new dimension.

    >>> broadcast(1.0, 3, 0)
    array([1., 1., 1.])
    """
    return _ops.add_batch_dim(x, sz, axis)


def bdim_at_front(x: Any, bdim: int | None, size: int, mesh_axis: Any = None) -> Any:
    """Returns an array with its batch dimension in front, repeated if it has none.

    >>> bdim_at_front(_ops.full((2, 3), 0.0), 1, 3).shape, bdim_at_front(1.0, None, 3).shape
    ((3, 2), (3,))
    """
    return broadcast(x, size, 0) if bdim is None else _ops.move_batch_dim(x, bdim, 0)


def defvectorized(prim: Primitive) -> None:
    """Defines the batching of a primitive that works elementwise on one array.

    >>> double_p = Primitive("double")
    >>> _ = double_p.def_impl(lambda x: x + x)
    >>> defvectorized(double_p)
    >>> double_p.rule("batch")([_ops.full((3,), 1.0)], [0])
    (array([2., 2., 2.]), 0)
    """

    @prim.def_batch
    def batch(args: Any, dims: Any, **params: Any) -> Any:
        return prim.bind(*args, **params), dims[0]


def defbroadcasting(prim: Primitive) -> None:
    """Defines the batching of a primitive that works elementwise on arrays of one shape.

    >>> plus_p = Primitive("plus")
    >>> _ = plus_p.def_impl(lambda x, y: x + y)
    >>> defbroadcasting(plus_p)
    >>> plus_p.rule("batch")([_ops.full((3,), 1.0), 2.0], [0, None])
    (array([3., 3., 3.]), 0)
    """

    @prim.def_batch
    def batch(args: Any, dims: Any, **params: Any) -> Any:
        [size] = {get_aval(x).shape[dim] for x, dim in zip(args, dims, strict=True) if dim is not None}
        moved = [bdim_at_front(x, dim, size) for x, dim in zip(args, dims, strict=True)]
        return prim.bind(*moved, **params), 0
