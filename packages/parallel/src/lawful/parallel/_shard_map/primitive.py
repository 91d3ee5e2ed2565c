"""``shard_map_p``: the primitive that runs a jaxpr on every device of a mesh, each on its parts of the operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lawful.batching import pvary_p
from lawful.core import (
    ArgumentTypeError,
    Atom,
    AxisNames,
    ClosedJaxpr,
    InvalidArgumentError,
    JaxprEqn,
    Primitive,
    ShapedArray,
    eval_closed_jaxpr,
    get_aval,
    memoize,
    with_axes_of,
)
from lawful.ops import with_weakness_of
from lawful.parallel._mesh.manual import manual_axes
from lawful.parallel._mesh.mesh import AbstractMesh, Mesh
from lawful.parallel._shard_map.axes import AxisName, Spec, axes_of, part_aval, untyped, whole_aval
from lawful.parallel._shard_map.reference import as_vmap
from lawful.parallel._sharded_jit.constraint import mesh_of
from lawful.staging import dce_call, disable_jit, hoist_call, is_jit_disabled, jit, kept, trace_to_jaxpr

#: Its parameters are the jaxpr of the parts, the ``mesh``, a spec of each operand (``in_specs``) and of each result
#: (``out_specs``), the names of the axes that the jaxpr knows (``axis_names``), and whether types say over which of
#: these values vary (``check_vma``).
shard_map_p = Primitive("shard_map", multiple_results=True, pure_rules=True)


def bind_shard_map(
    args: Sequence[Any], jaxpr: ClosedJaxpr, in_specs: Sequence[Spec], out_specs: Sequence[Spec], *,
    mesh: Mesh | AbstractMesh, axis_names: tuple[AxisName, ...], check_vma: bool,
    bind: Callable[..., list[Any]] = shard_map_p.bind,
) -> list[Any]:  # fmt: skip
    """Binds the primitive with a derived jaxpr; types are made exact.

    Args:
      args: the operands.
      jaxpr: of the parts.
      in_specs: the spec of each operand.
      out_specs: the spec of each result.
      mesh: as the parameter.
      axis_names: as the parameter.
      check_vma: as the parameter.
      bind: called instead of ``shard_map_p.bind``.
    """
    with manual_axes(mesh, axis_names, check_vma):
        jaxpr = _of_axes(jaxpr, tuple([get_aval(x).vma - {*axis_names} for x in args]))
    if check_vma:
        with manual_axes(mesh, axis_names, True):
            jaxpr = _varying_as(jaxpr, tuple(map(axes_of, out_specs)))
        # Else a derivative would lack a sum, without a word where nothing types the equation.
        assert all([not _hidden(*pair, axis_names) for pair in zip(jaxpr.out_avals, out_specs, strict=True)]), jaxpr
    operands = [_as_operand(x, aval, axis_names) for x, aval in zip(args, jaxpr.in_avals, strict=True)]
    return bind(
        *operands, jaxpr=jaxpr, mesh=mesh, in_specs=tuple(in_specs), out_specs=tuple(out_specs),
        axis_names=axis_names, check_vma=check_vma,
    )  # fmt: skip


def _hidden(aval: ShapedArray, spec: Spec, axis_names: Sequence[AxisName]) -> AxisNames:
    """Returns the axes that a result varies over although its spec says that it is the same along them."""
    return aval.vma & {*axis_names} - {*axes_of(spec)}


def _as_operand(x: Any, part: ShapedArray, axis_names: Sequence[AxisName]) -> Any:
    """Returns an operand with the weakness of its part, and varying over the axes outside that its part varies over."""
    aval = get_aval(x)
    return with_weakness_of(x, aval.update(weak_type=part.weak_type, vma=aval.vma | part.vma - {*axis_names}))


@memoize
def _of_axes(closed: ClosedJaxpr, axes: tuple[AxisNames, ...]) -> ClosedJaxpr:
    """Returns a jaxpr whose inputs vary over some more axes outside: a tangent may vary where its primal does not."""
    avals = [aval.update(vma=aval.vma | names) for aval, names in zip(closed.in_avals, axes, strict=True)]
    if avals == closed.in_avals:
        return closed

    def function(*args: Any) -> list[Any]:
        return eval_closed_jaxpr(closed, *args)

    return trace_to_jaxpr(function, avals, transformation="shard_map", name=closed.jaxpr.name)


@memoize
def _varying_as(closed: ClosedJaxpr, axes: tuple[tuple[AxisName, ...], ...]) -> ClosedJaxpr:
    """Returns a jaxpr whose outputs vary over the axes of their specs, so that its transpose sums over them."""
    wanted = [aval.update(vma=aval.vma | {*names}) for aval, names in zip(closed.out_avals, axes, strict=True)]
    if wanted == closed.out_avals:
        return closed
    closed = _with_earlier_casts(closed, wanted)

    def varying(*args: Any) -> list[Any]:
        return [*map(with_axes_of, eval_closed_jaxpr(closed, *args), wanted)]

    return trace_to_jaxpr(varying, closed.in_avals, transformation="shard_map", name=closed.jaxpr.name)


def _with_earlier_casts(closed: ClosedJaxpr, wanted: Sequence[ShapedArray]) -> ClosedJaxpr:
    """Returns a jaxpr with the variables that its outputs are cast to already, so that their cotangents meet."""
    jaxpr = closed.jaxpr
    casts: dict[tuple[Atom, ShapedArray], Atom] = {
        (eqn.invars[0], eqn.outvars[0].aval): eqn.outvars[0] for eqn in jaxpr.eqns if eqn.primitive is pvary_p
    }
    outvars = [casts.get(pair, pair[0]) for pair in zip(jaxpr.outvars, wanted, strict=True)]
    return ClosedJaxpr(jaxpr.replace(outvars=outvars), closed.consts)


@shard_map_p.def_abstract_eval
def _abstract_eval(
    *avals: ShapedArray, jaxpr: ClosedJaxpr, mesh: Mesh | AbstractMesh, in_specs: Sequence[Spec],
    out_specs: Sequence[Spec], axis_names: Sequence[AxisName], check_vma: bool,
) -> list[ShapedArray]:  # fmt: skip
    sizes = mesh.shape
    parts = [part_aval(aval, spec, sizes, check_vma) for aval, spec in zip(avals, in_specs, strict=True)]
    if parts != jaxpr.in_avals:
        raise ArgumentTypeError(
            f"shard_map_p: expected operands with parts of types {', '.join(map(str, jaxpr.in_avals))}, got "
            f"{', '.join(map(str, parts))}; the parts must have the types of the jaxpr's inputs"
        )
    for aval, spec in zip(jaxpr.out_avals, out_specs, strict=True):
        if check_vma and _hidden(aval, spec, axis_names):
            raise ArgumentTypeError(
                f"shard_map_p: expected a result of which the spec {spec} has all axes, got {aval}; apply psum, or "
                "name the axes in out_specs"
            )
    return [whole_aval(aval, spec, sizes, axis_names) for aval, spec in zip(jaxpr.out_avals, out_specs, strict=True)]


@shard_map_p.def_rule_as("untyped")
def _untyped(avals: Sequence[ShapedArray], params: dict[str, Any]) -> dict[str, Any]:
    jaxpr = untyped(params["jaxpr"], params["mesh"], params["axis_names"], params["check_vma"])
    return {**params, "jaxpr": jaxpr, "check_vma": False}


@shard_map_p.def_rule_as("hoist")
def _hoist(args: Sequence[Any], params: dict[str, Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    operands, hoisted = hoist_call(args, params)
    whole = [((),) * get_aval(x).ndim for x in operands[: len(operands) - len(args)]]
    return operands, {**hoisted, "in_specs": (*whole, *params["in_specs"])}


@shard_map_p.def_rule_as("dce")
def _dce(used: Sequence[bool], eqn: JaxprEqn) -> JaxprEqn:
    jaxpr, used_in = dce_call(eqn.params["jaxpr"], tuple(used))
    if jaxpr is eqn.params["jaxpr"]:
        return eqn
    params = {
        **eqn.params,
        "jaxpr": jaxpr,
        "in_specs": tuple(kept(eqn.params["in_specs"], used_in)),
        "out_specs": tuple(kept(eqn.params["out_specs"], used)),
    }
    return eqn.replace(invars=kept(eqn.invars, used_in), outvars=kept(eqn.outvars, used), params=params)


# Evaluation


@memoize
def _compiled(jaxpr: ClosedJaxpr, params: tuple[tuple[str, Any], ...]) -> Callable[..., list[Any]]:
    """Returns the function of one equation, which ``jit`` compiles for the devices of its mesh."""

    def shard_map(*args: Any) -> list[Any]:
        outs: list[Any] = shard_map_p.bind(*args, jaxpr=jaxpr, **dict(params))
        return outs

    compiled: Callable[..., list[Any]] = jit(shard_map, backend="xla")
    return compiled


def _impl(*args: Any, jaxpr: ClosedJaxpr, mesh: Mesh | AbstractMesh, **params: Any) -> list[Any]:
    if isinstance(mesh, AbstractMesh):
        found = next(filter(None, [mesh_of(x, mesh) for x in args]), None)
        if found is None:
            raise InvalidArgumentError(
                "shard_map: expected a mesh with devices to run on, or an argument on a mesh of the same axes, got "
                f"{mesh} and none; give a Mesh"
            )
        mesh = found
    if mesh.flat_devices[0].platform == "numpy":
        return as_vmap(jaxpr, mesh=mesh, **params)(*args)
    run = _compiled(jaxpr, tuple({"mesh": mesh, **params}.items()))
    if not is_jit_disabled():
        return run(*args)
    with disable_jit(False):  # there is no other way to run it
        return run(*args)


shard_map_p.def_impl(_impl, any_array=True)


@shard_map_p.def_rule_as("numpy")
def _numpy(avals: Sequence[ShapedArray], compile: Callable[..., Any], *, jaxpr: ClosedJaxpr, **params: Any) -> Any:
    return as_vmap(jaxpr, **params)


@shard_map_p.def_expand
def _expand(*args: Any, jaxpr: ClosedJaxpr, **params: Any) -> list[Any]:
    return as_vmap(jaxpr, **params)(*args)
