"""The position along a named axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful.batching._axis import AxisData
from lawful.batching._collectives.axes import AxisName, bound_axis, mapped_axis, names_of
from lawful.core import Primitive, ShapedArray, current
from lawful.ops import add, broadcasted_iota, div, mul, rem

axis_index_p = Primitive("axis_index", pure_rules=True)


@axis_index_p.def_abstract_eval
def _axis_index_abstract_eval(*, axis_name: AxisName, vma: tuple[AxisName, ...] = ()) -> ShapedArray:
    return ShapedArray((), np.int32)


@axis_index_p.def_batch
def _axis_index_batch(
    args: Sequence[Any], dims: Sequence[int | None], *, axis_data: AxisData, axis_name: AxisName, **params: Any
) -> tuple[Any, int]:
    axis = mapped_axis(axis_data, axis_name)
    assert axis is not None, "it has no operand that could be mapped over another axis"
    index = broadcasted_iota(np.int32, (axis.size,), 0)
    if axis.rest == ():
        return index, 0
    rest = axis_index_p.bind(axis_name=axis.rest, **params)
    index = mul(index, np.int32(axis.after))
    if axis.after > 1:
        index = add(index, rest if axis.before == 1 else rem(rest, np.int32(axis.after)))
    if axis.before > 1:
        index = add(index, mul(div(rest, np.int32(axis.after)), np.int32(axis.size * axis.after)))
    return index, 0


@axis_index_p.def_lowering
def _axis_index_lowering(ctx: Any, *, axis_name: AxisName, **_: Any) -> Any:
    return ctx.axis_index(axis_name)


# Its parameter ``vma`` has those axes over which types say that it varies.
axis_index_p.def_rule("varying", lambda _, **params: frozenset(params.get("vma", ())))
axis_index_p.declare_absent("impl", "it has a meaning only inside a vmap with that axis name")
for _slot in ("jvp", "transpose"):
    axis_index_p.declare_absent(_slot, "it has no argument")


def axis_index(axis_name: Any) -> Any:
    """Returns the position along a named axis, an int32 scalar.

    Along several axes it is the position in row-major order: the last one is the fastest.

    >>> from lawful.batching import vmap
    >>> index = vmap(lambda row: vmap(lambda x: axis_index(("i", "j")), axis_name="j")(row), axis_name="i")
    >>> index(np.zeros((2, 3)))
    array([[0, 1, 2],
           [3, 4, 5]], dtype=int32)

    Source: ``jax.lax.axis_index``.
    """
    name, _ = bound_axis("axis_index", axis_name, may_be_none=True)
    if name == ():
        return np.int32(0)
    vma = tuple([axis for axis in names_of(name) if axis in current.trace.checked_axes])
    return axis_index_p.bind(axis_name=name, vma=vma) if vma else axis_index_p.bind(axis_name=name)
