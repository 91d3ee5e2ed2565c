"""Values that are equal along named axes, and values that vary: the types of ``shard_map`` tell them apart.

Mapped by ``vmap``, a value that varies is a batch. So ``pvary`` does nothing there, and ``psum_invariant`` is a sum.
"""

from __future__ import annotations

from typing import Any

from lawful import tree
from lawful.batching._collectives.axes import AxisName, MappedAxis, bound_axis, names_of
from lawful.batching._collectives.declaration import Shape, collective, has_transpose, is_linear
from lawful.batching._collectives.reductions import reduction, sum_along
from lawful.core import ArgumentValueError, ShapedArray, current, get_aval, vary


def _infer(shape: Shape) -> Shape:
    return shape


def _pvary_over(x: Any, dim: int | None, axis: MappedAxis) -> tuple[Any, int | None]:
    return x if axis.rest == () else pvary_p.bind(x, axis_name=axis.rest), dim


def _beside(dim: int) -> tuple[dict[str, Any], int]:
    return {}, dim


def _pvary_lowering(ctx: Any, x: Any, *, axis_name: AxisName) -> Any:
    return x


psum_invariant_p = reduction("psum_invariant", sum_along, "add")
pvary_p = collective("pvary", infer=_infer, over=_pvary_over, beside=_beside, lower=_pvary_lowering)
is_linear(psum_invariant_p)
is_linear(pvary_p)
pvary_p.def_abstract_eval(lambda x, *, axis_name: x)  # a weak value stays weak: it is the same value
psum_invariant_p.def_rule("varying", lambda vma, *, axis_name: vma - {*names_of(axis_name)})
pvary_p.def_rule("varying", lambda vma, *, axis_name: vma | {*names_of(axis_name)})


def _pvary_transpose(ct: Any, aval: ShapedArray, *, axis_name: AxisName) -> Any:
    """Returns the sum over the copies of a value that is equal along axes; along others it has a cotangent each."""
    names = tuple([name for name in names_of(axis_name) if name not in aval.vma])
    return psum_invariant_p.bind(ct, axis_name=names[0] if len(names) == 1 else names) if names else ct


has_transpose(pvary_p, _pvary_transpose)
has_transpose(psum_invariant_p, lambda ct, aval, *, axis_name: vary(ct, frozenset(names_of(axis_name))))


def _in_branch_over(x: Any, dim: int | None, axis: MappedAxis) -> tuple[Any, int | None]:
    return x if axis.rest == () else pvary_in_branch_p.bind(x, axis_name=axis.rest), dim


# The type of a value in a branch that some devices take: it varies over the axes along which they differ. Its cotangent
# stays in the branch, and is summed where the operands of the branch become ones that vary.
pvary_in_branch_p = collective(
    "pvary_in_branch", infer=_infer, over=_in_branch_over, beside=_beside, lower=_pvary_lowering
)
is_linear(pvary_in_branch_p)
pvary_in_branch_p.def_abstract_eval(lambda x, *, axis_name: x)
pvary_in_branch_p.def_rule("varying", lambda vma, *, axis_name: vma | {*names_of(axis_name)})
has_transpose(pvary_in_branch_p, lambda ct, aval, *, axis_name: ct)


def pvary[T](x: T, axis_name: Any) -> T:
    """Returns leaves that are equal along named axes as such that may vary; it does nothing where types do not say so.

    That is under ``vmap``, and in ``shard_map`` with ``check_vma=False``.

    >>> import numpy as np
    >>> from lawful.batching import vmap
    >>> vmap(lambda x: pvary(x, "i"), axis_name="i")(np.array([1.0, 2.0]))
    array([1., 2.])

    Source: ``jax.lax.pvary``.
    """
    name, _ = bound_axis("pvary", axis_name, may_be_none=True)
    axes = frozenset(names_of(name)) & current.trace.checked_axes
    return tree.map(lambda leaf: vary(leaf, axes - get_aval(leaf).vma), x) if axes else x


def pcast[T](x: T, axis_name: Any, *, to: str) -> T:
    """Returns leaves as such that may vary along named axes; see `pvary`.

    Args:
      x: a pytree of arrays.
      axis_name: the axis, or a sequence of them.
      to: ``"varying"``.

    >>> import numpy as np
    >>> from lawful.batching import vmap
    >>> vmap(lambda x: pcast(x, "i", to="varying"), axis_name="i")(np.array([1.0, 2.0]))
    array([1., 2.])

    Source: ``jax.lax.pcast``.
    """
    if to != "varying":
        raise ArgumentValueError(f"pcast: expected to='varying', got {to!r}; a sum by psum is equal along its axis")
    return pvary(x, axis_name)
