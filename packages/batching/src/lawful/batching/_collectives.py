"""Operations over a named axis of ``vmap``: sums, extrema, gathering, and the index along it."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from lawful import tree
from lawful.core import (
    ArgumentValueError,
    Primitive,
    ShapedArray,
    Zero,
    current,
)
from lawful.ops import broadcasted_iota, div, mul, reduce_max, reduce_min, reduce_sum

AxisName = Hashable

_NUMBERS = (int, float, complex)


class UnboundAxisError(ArgumentValueError, NameError):
    """An axis name was used outside of any ``vmap`` that binds it."""


def axis_size(axis_name: AxisName) -> int:
    """Returns the size of a named axis of an enclosing ``vmap``.

    Raises:
      UnboundAxisError: no enclosing ``vmap`` has an axis of that name.

    Source: ``jax.lax.axis_size``.
    """
    for name, size in reversed(current.trace.axis_env):
        if name == axis_name:
            return size
    known = ", ".join(repr(name) for name, _ in current.trace.axis_env) or "none"
    raise UnboundAxisError(
        f"axis name: expected one of an enclosing vmap ({known}), got {axis_name!r}; give vmap axis_name={axis_name!r}"
    )


def _collective(name: str) -> Primitive:
    """Returns the primitive of a reduction over a named axis, without its batching rule."""
    primitive = Primitive(name, pure_rules=True)

    @primitive.def_abstract_eval
    def abstract_eval(x: ShapedArray, *, axis_name: AxisName) -> ShapedArray:
        return x.update(weak_type=False)

    primitive.declare_absent("impl", "it has a meaning only inside a vmap with that axis name")
    primitive.declare_absent("lowering", "it has a meaning only inside a vmap with that axis name")
    return primitive


def _psum_batch(args: Sequence[Any], dims: Sequence[int | None], *, axis_data: Any, axis_name: AxisName) -> Any:
    (x,), (dim,) = args, dims
    if axis_data.name != axis_name:
        return psum_p.bind(x, axis_name=axis_name), dim
    if dim is None:
        return mul(x, axis_data.size), None
    return reduce_sum(x, (dim,)), None


psum_p = _collective("psum")
psum_p.def_batch(_psum_batch)


@psum_p.def_jvp
def _psum_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, axis_name: AxisName) -> tuple[Any, Any]:
    (x,), (t,) = primals, tangents
    return psum_p.bind(x, axis_name=axis_name), t if type(t) is Zero else psum_p.bind(t, axis_name=axis_name)


@psum_p.def_transpose
def _psum_transpose(ct: Any, x: Any, *, axis_name: AxisName) -> list[Any]:
    # The sum over all elements is the result for each one, so each cotangent goes to every element.
    return [Zero(x.aval) if type(ct) is Zero else psum_p.bind(ct, axis_name=axis_name)]


def _extremum(name: str, reduce: Callable[[Any, tuple[int, ...]], Any]) -> Primitive:
    primitive = _collective(name)

    @primitive.def_batch
    def batch(args: Sequence[Any], dims: Sequence[int | None], *, axis_data: Any, axis_name: AxisName) -> Any:
        (x,), (dim,) = args, dims
        if axis_data.name != axis_name:
            return primitive.bind(x, axis_name=axis_name), dim
        return (x if dim is None else reduce(x, (dim,))), None

    primitive.declare_absent("jvp", "as in JAX; use max or min of the whole batch outside of vmap")
    primitive.declare_absent("transpose", "it is not linear")
    return primitive


pmax_p = _extremum("pmax", reduce_max)
pmin_p = _extremum("pmin", reduce_min)

axis_index_p = Primitive("axis_index", pure_rules=True)


@axis_index_p.def_abstract_eval
def _axis_index_abstract_eval(*, axis_name: AxisName) -> ShapedArray:
    return ShapedArray((), np.int32)


@axis_index_p.def_batch
def _axis_index_batch(args: Sequence[Any], dims: Sequence[int | None], *, axis_data: Any, axis_name: AxisName) -> Any:
    return broadcasted_iota(np.int32, (axis_data.size,), 0), 0


axis_index_p.declare_absent("impl", "it has a meaning only inside a vmap with that axis name")
axis_index_p.declare_absent("lowering", "it has a meaning only inside a vmap with that axis name")
for _slot in ("jvp", "transpose"):
    axis_index_p.declare_absent(_slot, "it has no argument")


def _names(axis_name: Any) -> tuple[AxisName, ...]:
    names = tuple(axis_name) if isinstance(axis_name, tuple | list) else (axis_name,)
    for name in names:
        axis_size(name)
    return names


def _apply(primitive: Primitive, x: Any, axis_name: Any) -> Any:
    for name in _names(axis_name):
        x = tree.map(lambda leaf, name=name: primitive.bind(leaf, axis_name=name), x)
    return x


def psum(x: Any, axis_name: Any) -> Any:
    """Returns the sum of each leaf over a named axis of an enclosing ``vmap``, or over several.

    Raises:
      UnboundAxisError: no enclosing ``vmap`` has an axis of that name.

    >>> from lawful.batching import vmap
    >>> vmap(lambda x: x / psum(x, "i"), axis_name="i")(np.array([1.0, 3.0]))
    array([0.25, 0.75])

    To record it, `make_jaxpr` is given the name and the size:

    >>> from lawful.staging import make_jaxpr
    >>> make_jaxpr(lambda x: psum(x, "i"), axis_env=[("i", 2)])(np.float64(1.0))
    { lambda ; a:f64[]. let b:f64[] = psum[axis_name=i] a in (b,) }

    Source: ``jax.lax.psum``.
    """
    size = math.prod(axis_size(name) for name in _names(axis_name))
    # A Python number is equal for all elements. Its sum is a Python number too, which may be a shape.
    return tree.map(lambda leaf: leaf * size if type(leaf) in _NUMBERS else _apply(psum_p, leaf, axis_name), x)


def pmean(x: Any, axis_name: Any) -> Any:
    """Returns the mean of each leaf over a named axis, or over several. Source: ``jax.lax.pmean``."""
    count = float(np.prod([axis_size(name) for name in _names(axis_name)]))
    return tree.map(lambda leaf: div(leaf, count), psum(x, axis_name))


def pmax(x: Any, axis_name: Any) -> Any:
    """Returns the largest of each leaf over a named axis, or over several. Source: ``jax.lax.pmax``."""
    return _apply(pmax_p, x, axis_name)


def pmin(x: Any, axis_name: Any) -> Any:
    """Returns the smallest of each leaf over a named axis, or over several. Source: ``jax.lax.pmin``."""
    return _apply(pmin_p, x, axis_name)


def axis_index(axis_name: AxisName) -> Any:
    """Returns the position along a named axis, an int32 scalar. Source: ``jax.lax.axis_index``."""
    axis_size(axis_name)
    return axis_index_p.bind(axis_name=axis_name)
