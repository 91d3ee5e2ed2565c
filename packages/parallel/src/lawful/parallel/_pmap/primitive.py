"""``xla_pmap_p``: the equation of ``pmap``, named as JAX names it. All of its rules are those of ``shard_map_p``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lawful.core import ArgumentValueError, ClosedJaxpr, JaxprEqn, Primitive, ShapedArray, eval_closed_jaxpr, memoize
from lawful.ops import expand_dims, reshape
from lawful.parallel._mesh.mesh import Mesh
from lawful.parallel._shard_map.axes import AxisName, Spec
from lawful.parallel._shard_map.primitive import shard_map_p
from lawful.staging import dce_call, hoist_call, kept, trace_to_jaxpr

Axes = tuple[int | None, ...]

#: Its parameters are the ``name`` of the function, its jaxpr for one device (``call_jaxpr``), the ``axis_name`` and
#: ``axis_size``, the mapped dimension of each operand and result (``in_axes``, ``out_axes``), and the ``devices``.
xla_pmap_p = Primitive("xla_pmap", multiple_results=True, pure_rules=True)


def _as_shard_map(
    call_jaxpr: ClosedJaxpr,
    name: str,
    axis_name: AxisName,
    axis_size: int,
    in_axes: Axes,
    out_axes: Axes,
    devices: Mesh,
) -> dict[str, Any]:
    """Returns the parameters of the ``shard_map_p`` that an equation stands for."""
    jaxpr = _of_parts(call_jaxpr, in_axes, out_axes)
    return {
        "jaxpr": jaxpr,
        "mesh": devices,
        "in_specs": tuple(map(_spec, jaxpr.in_avals, in_axes, [axis_name] * len(in_axes))),
        "out_specs": tuple(map(_spec, jaxpr.out_avals, out_axes, [axis_name] * len(out_axes))),
        "axis_names": (axis_name,),
        "check_vma": False,
    }


def _spec(aval: ShapedArray, axis: int | None, name: AxisName) -> Spec:
    return tuple([(name,) if dim == axis else () for dim in range(aval.ndim)])


@memoize
def _of_parts(closed: ClosedJaxpr, in_axes: Axes, out_axes: Axes) -> ClosedJaxpr:
    """Returns a jaxpr of one element as one of parts, whose mapped dimension has length 1."""
    parts = [
        aval if axis is None else aval.update(shape=(*aval.shape[:axis], 1, *aval.shape[axis:]), weak_type=False)
        for aval, axis in zip(closed.in_avals, in_axes, strict=True)
    ]

    def function(*args: Any) -> list[Any]:
        elements = [
            x if axis is None else reshape(x, aval.shape)
            for x, aval, axis in zip(args, closed.in_avals, in_axes, strict=True)
        ]
        outs = eval_closed_jaxpr(closed, *elements)
        return [x if axis is None else expand_dims(x, (axis,)) for x, axis in zip(outs, out_axes, strict=True)]

    return trace_to_jaxpr(function, parts, transformation="pmap", name=closed.jaxpr.name)


def _rule(slot: str) -> Callable[..., Any]:
    def rule(*args: Any, call_jaxpr: ClosedJaxpr, axis_data: Any = None, **params: Any) -> Any:
        converted = _as_shard_map(call_jaxpr, **params)
        if axis_data is not None:
            converted["axis_data"] = axis_data
        return shard_map_p.rule(slot)(*args, **converted)

    return rule


xla_pmap_p.def_impl(_rule("impl"), any_array=True)
xla_pmap_p.def_abstract_eval(_rule("abstract_eval"))
xla_pmap_p.def_jvp(_rule("jvp"))
xla_pmap_p.def_linearize(_rule("linearize"))
xla_pmap_p.def_transpose(_rule("transpose"))
xla_pmap_p.def_expand(_rule("expand"))


@xla_pmap_p.def_batch
def _batch(args: Sequence[Any], dims: Sequence[int | None], *, axis_data: Any, **params: Any) -> Any:
    if axis_data.spmd_axes:
        raise ArgumentValueError(
            "vmap of pmap: expected no spmd_axis_name, as the devices of a pmap have one axis, of its elements, got "
            f"{', '.join(map(repr, axis_data.spmd_axes))}; leave it out, or use shard_map on a mesh with both axes"
        )
    return _rule("batch")(args, dims, axis_data=axis_data, **params)


@xla_pmap_p.def_rule_as("numpy")
def _numpy(avals: Sequence[ShapedArray], compile: Callable[..., Any], *, call_jaxpr: ClosedJaxpr, **params: Any) -> Any:
    return shard_map_p.rule("numpy")(avals, compile, **_as_shard_map(call_jaxpr, **params))


@xla_pmap_p.def_partial_eval
def _partial_eval(
    record: Callable[..., Any], unknown: Sequence[bool], *args: Any, call_jaxpr: ClosedJaxpr, **params: Any
) -> list[Any]:
    outs: list[Any] = shard_map_p.bind(*args, **_as_shard_map(call_jaxpr, **params))
    return outs


@xla_pmap_p.def_lowering
def _lower(ctx: Any, *operands: Any, call_jaxpr: ClosedJaxpr, **params: Any) -> Any:
    return shard_map_p.lowering_rule(ctx.platform)(ctx, *operands, **_as_shard_map(call_jaxpr, **params))


@xla_pmap_p.def_rule_as("hoist")
def _hoist(args: Sequence[Any], params: dict[str, Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    operands, hoisted = hoist_call(args, {**params, "jaxpr": params["call_jaxpr"]})
    count = len(operands) - len(args)
    hoisted["call_jaxpr"] = hoisted.pop("jaxpr")
    return operands, {**hoisted, "in_axes": ((None,) * count + params["in_axes"])}


@xla_pmap_p.def_rule_as("dce")
def _dce(used: Sequence[bool], eqn: JaxprEqn) -> JaxprEqn:
    params = eqn.params
    jaxpr, used_in = dce_call(params["call_jaxpr"], tuple(used))
    if jaxpr is params["call_jaxpr"]:
        return eqn
    changed = {
        "call_jaxpr": jaxpr,
        "in_axes": tuple(kept(params["in_axes"], used_in)),
        "out_axes": tuple(kept(params["out_axes"], used)),
    }
    return eqn.replace(invars=kept(eqn.invars, used_in), outvars=kept(eqn.outvars, used), params={**params, **changed})
