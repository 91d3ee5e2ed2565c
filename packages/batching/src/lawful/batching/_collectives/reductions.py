"""Reductions over named axes: ``psum``, ``pmean``, ``pmax``, ``pmin``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lawful import batching, tree
from lawful.batching._collectives.axes import (
    AxisName,
    Groups,
    MappedAxis,
    as_param,
    bound_axis,
    checked_groups,
    groups_param,
    names_of,
    participants,
    varying,
)
from lawful.batching._collectives.declaration import Shape, collective, has_transpose, is_linear, without_bools
from lawful.core import AxisNames, Primitive, current, get_aval, require_arithmetic
from lawful.ops import div, mul, reduce_max, reduce_min, reduce_sum

_NUMBERS = (int, float, complex)


def reduction(name: str, along: Callable[[Any, int | None, int], Any], combine: str) -> Primitive:
    """Returns the primitive of a reduction over named axes.

    Args:
      name: its name.
      along: ``along(x, dim, size)`` returns the reduction over a dimension, or of ``size`` equal elements if that is
        None.
      combine: the operation of StableHLO.
    """

    def infer(shape: Shape, *, axis_index_groups: Groups | None = None) -> Shape:
        return shape

    def over(x: Any, dim: int | None, axis: MappedAxis) -> tuple[Any, None]:
        out = along(x, dim, axis.size)
        return out if axis.rest == () else primitive.bind(out, axis_name=axis.rest), None

    def beside(dim: int, **params: Any) -> tuple[dict[str, Any], int]:
        return params, dim

    def lower(ctx: Any, x: Any, *, axis_name: AxisName, axis_index_groups: Groups | None = None) -> Any:
        return ctx.all_reduce(x, axis_name, axis_index_groups, combine)

    primitive = collective(name, infer=infer, over=over, beside=beside, lower=lower)
    return primitive


def sum_along(x: Any, dim: int | None, size: int) -> Any:
    """Returns the sum over a dimension, or of ``size`` equal elements if that is None."""
    return mul(x, size) if dim is None else reduce_sum(x, (dim,))


def _of_all(vma: AxisNames, *, axis_name: AxisName, axis_index_groups: Groups | None = None) -> AxisNames:
    """Returns the axes that a reduction varies over: not the reduced ones, but where each group has its own."""
    return vma - {*names_of(axis_name)} if axis_index_groups is None else vma


psum_p = reduction("psum", sum_along, "add")
is_linear(psum_p)
# The sum over all elements is the result of each one, so each cotangent goes to every element.
has_transpose(psum_p, lambda ct, aval, **params: psum_p.bind(ct, **params))

pmax_p = reduction("pmax", lambda x, dim, size: x if dim is None else reduce_max(x, (dim,)), "maximum")
pmin_p = reduction("pmin", lambda x, dim, size: x if dim is None else reduce_min(x, (dim,)), "minimum")
for _primitive in (pmax_p, pmin_p):
    _primitive.def_rule("varying", _of_all)
    _primitive.declare_absent("jvp", "as in JAX; use max or min of the whole batch outside of vmap")
    _primitive.declare_absent("transpose", "it is not linear")


def psum[T](x: T, axis_name: Any, *, axis_index_groups: Any = None) -> T:
    """Returns the sum of each leaf over a named axis of an enclosing ``vmap``, or over several.

    Args:
      x: a pytree of arrays and numbers.
      axis_name: the axis, or a sequence of them.
      axis_index_groups: sequences of positions along the axis; an element gets the sum of its group.

    Raises:
      UnboundAxisError: no enclosing ``vmap`` has an axis of that name.
      ArgumentValueError: the groups do not have each position once.

    >>> import numpy as np
    >>> from lawful.batching import vmap
    >>> vmap(lambda x: x / psum(x, "i"), axis_name="i")(np.array([1.0, 3.0]))
    array([0.25, 0.75])

    To record it, `make_jaxpr` is given the name and the size:

    >>> from lawful.staging import make_jaxpr
    >>> make_jaxpr(lambda x: psum(x, "i"), axis_env=[("i", 2)])(np.float64(1.0))
    { lambda ; a:f64[]. let b:f64[] = psum[axis_name=i] a in (b,) }

    Source: ``jax.lax.psum``.
    """
    name, size = bound_axis("psum", axis_name, may_be_none=True)
    groups = checked_groups("psum", axis_index_groups, size, uneven=True)

    def summed(leaf: Any) -> Any:
        if type(leaf) in _NUMBERS:
            # It is equal for all elements. Its sum is a Python number too, which may be a shape.
            return leaf * participants(size, checked_groups("psum of a number", groups, size))
        return leaf if name == () else _sum(without_bools(leaf), name, groups_param(groups))

    result: T = tree.map(summed, x)
    return result


def _sum(x: Any, name: AxisName, groups: dict[str, Groups]) -> Any:
    """Returns the sum of an array over axes. Where types say what varies over which of them, they say so of the sum."""
    checked, names = current.trace.checked_axes, names_of(name)
    others = tuple([axis for axis in names if axis not in checked])
    if groups or len(others) == len(names):
        return psum_p.bind(varying(x, name), axis_name=name, **groups)
    if others:
        x = psum_p.bind(x, axis_name=as_param(others))
    summed = as_param(tuple([axis for axis in names if axis in checked]))
    return batching.psum_invariant_p.bind(varying(x, summed), axis_name=summed)


def pmean[T](x: T, axis_name: Any, *, axis_index_groups: Any = None) -> T:
    """Returns the mean of each leaf over a named axis, or over several; see `psum`.

    >>> import numpy as np
    >>> from lawful.batching import vmap
    >>> vmap(lambda x: x - pmean(x, "i"), axis_name="i")(np.array([1.0, 2.0, 6.0]))
    array([-2., -1.,  3.])

    Source: ``jax.lax.pmean``.
    """
    _, size = bound_axis("pmean", axis_name, may_be_none=True)
    count = participants(size, checked_groups("pmean", axis_index_groups, size))
    total = batching.psum(x, axis_name, axis_index_groups=axis_index_groups)
    result: T = tree.map(lambda leaf: div(leaf, float(count)), total)
    return result


def _extremum(primitive: Primitive, x: Any, axis_name: Any, axis_index_groups: Any) -> Any:
    name, size = bound_axis(primitive.name, axis_name, may_be_none=True)
    groups = groups_param(checked_groups(primitive.name, axis_index_groups, size, uneven=True))

    def reduced(leaf: Any) -> Any:
        require_arithmetic(primitive.name, get_aval(leaf).dtype)
        return primitive.bind(varying(leaf, name), axis_name=name, **groups)

    return x if name == () else tree.map(reduced, x)


def pmax[T](x: T, axis_name: Any, *, axis_index_groups: Any = None) -> T:
    """Returns the largest of each leaf over a named axis, or over several; see `psum`.

    >>> import numpy as np
    >>> from lawful.batching import vmap
    >>> vmap(lambda x: x / pmax(x, "i"), axis_name="i")(np.array([1.0, 2.0, 4.0]))
    array([0.25, 0.5 , 1.  ])

    Source: ``jax.lax.pmax``.
    """
    result: T = _extremum(pmax_p, x, axis_name, axis_index_groups)
    return result


def pmin[T](x: T, axis_name: Any, *, axis_index_groups: Any = None) -> T:
    """Returns the smallest of each leaf over a named axis, or over several; see `psum`.

    >>> import numpy as np
    >>> from lawful.batching import vmap
    >>> vmap(lambda x: x - pmin(x, "i"), axis_name="i")(np.array([1.0, 2.0, 4.0]))
    array([0., 1., 3.])

    Source: ``jax.lax.pmin``.
    """
    result: T = _extremum(pmin_p, x, axis_name, axis_index_groups)
    return result
