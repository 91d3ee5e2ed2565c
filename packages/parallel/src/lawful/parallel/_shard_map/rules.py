"""The derivative and batching rules of ``shard_map_p``: each derives a jaxpr of parts and maps it again.

Where types say what varies (``check_vma``), a derivative has the collectives that its jaxpr has: a value that is the
same on all devices becomes one that varies by ``pvary``, whose transpose is a sum. Else, that sum is here: the
cotangent of an operand that is whole along an axis is the sum over it of those of its copies, and a result that is
whole has its cotangent shared among its copies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from lawful.autodiff import jvp_jaxpr, linearize_jaxpr, transpose_jaxpr
from lawful.batching import AxisData, batch_jaxpr, mentions_axis, psum
from lawful.core import (
    ArgumentValueError,
    ClosedJaxpr,
    UndefinedPrimal,
    Var,
    Zero,
    eval_closed_jaxpr,
    get_aval,
    has_effects,
    memoize,
)
from lawful.ops import div, reshape, with_weakness_of
from lawful.parallel._mesh.manual import manual_axes
from lawful.parallel._mesh.mesh import AbstractMesh, Mesh
from lawful.parallel._mesh.partition_spec import PartitionSpec, spec_of
from lawful.parallel._mesh.sharding import NamedSharding
from lawful.parallel._shard_map.axes import AxisName, Spec, axes_of, untyped
from lawful.parallel._shard_map.primitive import bind_shard_map, shard_map_p
from lawful.parallel._sharded_jit.constraint import constrain
from lawful.staging import kept, merge_lists, partial_eval_jaxpr, trace_to_jaxpr, without_effects


class Residuals:
    """The residuals of a jaxpr of parts: an operand itself, or a result that is split over the axes it varies over.

    Args:
      primal: the jaxpr, whose last outputs are the residuals.
      count: the number of its outputs that are none.
      in_specs: the specs of its operands.
      params: ``mesh``, ``axis_names`` and ``check_vma``.
    """

    def __init__(self, primal: ClosedJaxpr, count: int, in_specs: Sequence[Spec], params: dict[str, Any]) -> None:
        outvars, invars = primal.jaxpr.outvars[count:], list(primal.jaxpr.invars)
        #: For each residual, the operand that it is, or None.
        self.operands = [invars.index(x) if type(x) is Var and x in invars else None for x in outvars]
        names, checked = params["axis_names"], params["check_vma"]
        varying = names if checked else _varying(primal, in_specs, names)
        #: For each residual that is no operand, the axes that it is split over, in a new dimension in front.
        self.axes = [
            tuple([axis for axis in varying if not checked or axis in x.aval.vma])
            for x, operand in zip(outvars, self.operands, strict=True)
            if operand is None
        ]
        results = [x.aval for x, operand in zip(outvars, self.operands, strict=True) if operand is None]
        self._results = results
        is_result = [True] * count + [operand is None for operand in self.operands]
        #: The jaxpr without those that are operands, the others with their new dimension.
        self.primal = _with_dimensions(primal, tuple(is_result), (None,) * count + tuple(map(bool, self.axes)))
        self.out_specs = [
            ((axes,) if axes else ()) + ((),) * aval.ndim for axes, aval in zip(self.axes, results, strict=True)
        ]
        rest = iter(self.out_specs)
        #: The spec of each residual as an operand of the second part.
        self.specs = [next(rest) if i is None else in_specs[i] for i in self.operands]

    def values(self, results: Sequence[Any], args: Sequence[Any]) -> list[Any]:
        """Returns the residuals, from the results of `primal` that are some, and its operands."""
        rest = iter(results)
        return [next(rest) if i is None else args[i] for i in self.operands]

    def without_dimensions(self, second: ClosedJaxpr) -> ClosedJaxpr:
        """Returns the second part as a jaxpr of residuals with their new dimensions."""
        rest = iter(self.axes)
        added = tuple([i is None and bool(next(rest)) for i in self.operands])
        return _of_dimensions(second, added)


def _varying(closed: ClosedJaxpr, specs: Sequence[Spec], names: Sequence[AxisName]) -> list[AxisName]:
    """Returns the axes over which values of a jaxpr can vary, whose types do not say so."""
    split = {axis for spec in specs for axis in axes_of(spec)}
    return [axis for axis, is_mentioned in zip(names, _mentions(closed, tuple(names)), strict=True)
            if is_mentioned or axis in split]  # fmt: skip


@memoize
def _mentions(closed: ClosedJaxpr, names: tuple[AxisName, ...]) -> list[bool]:
    """Returns for each axis whether a jaxpr mentions it, or has effects with results, which vary over all."""
    effects = has_effects(without_effects(closed))
    return [effects or mentions_axis(closed.jaxpr, axis) for axis in names]


@memoize
def _with_dimensions(closed: ClosedJaxpr, keep: tuple[bool, ...], added: tuple[bool | None, ...]) -> ClosedJaxpr:
    """Returns a jaxpr with some of its outputs, of which some have a new dimension of length 1 in front."""

    def function(*args: Any) -> list[Any]:
        outs = kept(eval_closed_jaxpr(closed, *args), keep)
        return [reshape(x, (1, *x.shape)) if add else x for x, add in zip(outs, added, strict=True)]

    return trace_to_jaxpr(function, closed.in_avals, transformation="shard_map", name=closed.jaxpr.name)


@memoize
def _of_dimensions(closed: ClosedJaxpr, added: tuple[bool, ...]) -> ClosedJaxpr:
    """Returns a jaxpr of whose first inputs some have a dimension of length 1 more in front."""
    avals = list(closed.in_avals)
    shapes = [aval.shape for aval in avals]
    for i, add in enumerate(added):
        if add:
            avals[i] = avals[i].update(shape=(1, *shapes[i]), weak_type=False)

    def function(*args: Any) -> list[Any]:
        given = [reshape(x, shapes[i]) if i < len(added) and added[i] else x for i, x in enumerate(args)]
        return eval_closed_jaxpr(closed, *map(with_weakness_of, given, closed.in_avals))

    return trace_to_jaxpr(function, avals, transformation="shard_map", name=closed.jaxpr.name)


@shard_map_p.def_jvp
def _jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, jaxpr: ClosedJaxpr, in_specs: Sequence[Spec],
    out_specs: Sequence[Spec], **params: Any,
) -> tuple[list[Any], list[Any]]:  # fmt: skip
    nonzeros = tuple([type(t) is not Zero for t in tangents])
    with manual_axes(params["mesh"], params["axis_names"], params["check_vma"]):
        derived, nonzeros_out = jvp_jaxpr(jaxpr, nonzeros, False)
    outs = bind_shard_map(
        [*primals, *kept(tangents, nonzeros)], derived, [*in_specs, *kept(in_specs, nonzeros)],
        [*out_specs, *kept(out_specs, nonzeros_out)], **params,
    )  # fmt: skip
    count = len(out_specs)
    rest = iter(outs[count:])
    return outs[:count], [
        next(rest) if nonzero else Zero(get_aval(x).to_tangent_aval())
        for x, nonzero in zip(outs, nonzeros_out, strict=False)
    ]


@shard_map_p.def_linearize
def _linearize(
    nonzeros: Sequence[bool], *primals: Any, jaxpr: ClosedJaxpr, in_specs: Sequence[Spec], out_specs: Sequence[Spec],
    **params: Any,
) -> tuple[list[Any], tuple[bool, ...], Callable[..., list[Any]]]:  # fmt: skip
    count = len(out_specs)
    with manual_axes(params["mesh"], params["axis_names"], params["check_vma"]):
        primal, linear, nonzeros_out = linearize_jaxpr(jaxpr, tuple(nonzeros))
        residuals = Residuals(primal, count, in_specs, params)
        linear = residuals.without_dimensions(linear)
    outs = bind_shard_map(primals, residuals.primal, in_specs, [*out_specs, *residuals.out_specs], **params)
    values = residuals.values(outs[count:], primals)

    def tangent_fun(*tangents: Any) -> list[Any]:
        specs = [*residuals.specs, *kept(in_specs, nonzeros)]
        return bind_shard_map([*values, *tangents], linear, specs, kept(out_specs, nonzeros_out), **params)

    return outs[:count], nonzeros_out, tangent_fun


@shard_map_p.def_partial_eval
def _partial_eval(
    record: Callable[..., Any], unknown: Sequence[bool], *args: Any, jaxpr: ClosedJaxpr, in_specs: Sequence[Spec],
    out_specs: Sequence[Spec], **params: Any,
) -> list[Any]:  # fmt: skip
    is_known = [not is_unknown for is_unknown in unknown]
    with manual_axes(params["mesh"], params["axis_names"], params["check_vma"]):
        split = partial_eval_jaxpr(jaxpr, tuple(unknown))
        count = len(split.known.out_avals) - split.residual_count
        residuals = Residuals(split.known, count, kept(in_specs, is_known), params)
        second = residuals.without_dimensions(split.unknown)
    known = kept(args, is_known)
    known_out = [not is_unknown for is_unknown in split.unknown_out]
    outs = bind_shard_map(
        known, residuals.primal, kept(in_specs, is_known), [*kept(out_specs, known_out), *residuals.out_specs], **params
    )
    rest = bind_shard_map(
        [*residuals.values(outs[count:], known), *kept(args, unknown)], second,
        [*residuals.specs, *kept(in_specs, unknown)], kept(out_specs, split.unknown_out), bind=record, **params,
    )  # fmt: skip
    return merge_lists(split.unknown_out, outs[:count], rest)


@shard_map_p.def_transpose
def _transpose(
    cts: Sequence[Any], *args: Any, jaxpr: ClosedJaxpr, in_specs: Sequence[Spec], out_specs: Sequence[Spec],
    **params: Any,
) -> list[Any]:  # fmt: skip
    linear = tuple([type(x) is UndefinedPrimal for x in args])
    nonzeros = tuple([type(ct) is not Zero for ct in cts])
    mesh, names, checked = params["mesh"], params["axis_names"], params["check_vma"]
    with manual_axes(mesh, names, checked):
        derived, nonzeros_out = transpose_jaxpr(jaxpr, linear, nonzeros)
        ct_specs, results = kept(out_specs, nonzeros), kept(kept(in_specs, linear), nonzeros_out)
        if not checked:
            # Along the other axes every device has the whole sum.
            varying = _varying(derived, [*in_specs, *out_specs], names)
            derived = _summed(
                derived, tuple([_missing(spec, varying) for spec in ct_specs]),
                tuple([_missing(spec, varying) for spec in results]), tuple(mesh.shape.items()),
            )  # fmt: skip
    is_known = [not is_linear for is_linear in linear]
    outs = bind_shard_map(
        [*kept(args, is_known), *kept(cts, nonzeros)], derived, [*kept(in_specs, is_known), *ct_specs], results,
        **params,
    )  # fmt: skip
    rest, nonzero = iter(outs), iter(nonzeros_out)
    return [(next(rest) if next(nonzero) else Zero(x.aval)) if type(x) is UndefinedPrimal else None for x in args]


def _missing(spec: Spec, names: Sequence[AxisName]) -> tuple[AxisName, ...]:
    return tuple([axis for axis in names if axis not in axes_of(spec)])


@memoize
def _summed(
    closed: ClosedJaxpr, whole_cts: tuple[tuple[AxisName, ...], ...], whole_results: tuple[tuple[AxisName, ...], ...],
    sizes: tuple[tuple[AxisName, int], ...],
) -> ClosedJaxpr:  # fmt: skip
    """Returns a transposed jaxpr whose last inputs are shared among the copies along axes, and whose outputs summed."""
    size_of = dict(sizes)
    first = len(closed.in_avals) - len(whole_cts)

    def function(*args: Any) -> list[Any]:
        copies = [math.prod(size_of[axis] for axis in axes) for axes in whole_cts]
        shared = [div(ct, float(n)) if n > 1 else ct for ct, n in zip(args[first:], copies, strict=True)]
        outs = eval_closed_jaxpr(closed, *args[:first], *shared)
        return [psum(x, axes) if axes else x for x, axes in zip(outs, whole_results, strict=True)]

    return trace_to_jaxpr(function, closed.in_avals, transformation="shard_map", name=closed.jaxpr.name)


@shard_map_p.def_batch
def _batch(
    args: Sequence[Any], dims: Sequence[int | None], *, axis_data: Any, jaxpr: ClosedJaxpr, in_specs: Sequence[Spec],
    out_specs: Sequence[Spec], **params: Any,
) -> tuple[list[Any], tuple[int | None, ...]]:  # fmt: skip
    if axis_data.name in params["axis_names"]:  # the axis of the mesh hides that of the vmap outside
        axis_data = AxisData(axis_data.size, None, axis_data.spmd_axes)
    split = axis_data.spmd_axes
    if split:
        _require_unused(jaxpr, split, [*in_specs, *out_specs], params["mesh"])
        params["axis_names"] = tuple([axis for axis in params["axis_names"] if axis not in split])
        args = [
            _split_batch(x, dim, spec, split, params["mesh"]) for x, dim, spec in zip(args, dims, in_specs, strict=True)
        ]
    with manual_axes(params["mesh"], params["axis_names"], params["check_vma"]):
        batched, dims_out = batch_jaxpr(jaxpr, axis_data, tuple(dims), False)
    outs = bind_shard_map(
        args, batched, [*map(_batched_spec, in_specs, dims)], [*map(_batched_spec, out_specs, dims_out)], **params
    )
    if split:
        outs = [
            _split_batch(x, dim, spec, split, params["mesh"])
            for x, dim, spec in zip(outs, dims_out, out_specs, strict=True)
        ]
    return outs, dims_out


def _batched_spec(spec: Spec, dim: int | None) -> Spec:
    return spec if dim is None else (*spec[:dim], (), *spec[dim:])


def _require_unused(
    jaxpr: ClosedJaxpr, axes: Sequence[AxisName], specs: Sequence[Spec], mesh: Mesh | AbstractMesh
) -> None:
    """Raises ArgumentValueError if a mesh lacks the axes that a batch is split over, or a mapped function uses them."""
    for axis in axes:
        if axis not in mesh.axis_names:
            raise ArgumentValueError(
                f"vmap of shard_map: expected spmd_axis_name of {mesh}, got {axis!r}; split the batch over an axis of "
                "this mesh"
            )
        if any(axis in axes_of(spec) for spec in specs) or mentions_axis(jaxpr.jaxpr, axis):
            raise ArgumentValueError(
                f"vmap of shard_map: expected spmd_axis_name that the mapped function does not use, got {axis!r}; "
                "split the batch over another axis of the mesh"
            )


def _split_batch(x: Any, dim: int | None, spec: Spec, axes: tuple[AxisName, ...], mesh: Mesh | AbstractMesh) -> Any:
    """Returns a batch whose batch dimension is split over axes that the compiler has."""
    if dim is None:
        return x
    entries = [names or PartitionSpec.UNCONSTRAINED for names in _batched_spec(spec, dim)]
    entries[dim] = axes
    return constrain(x, NamedSharding(mesh, PartitionSpec(*entries)))


@shard_map_p.def_lowering
def _lower(
    ctx: Any, *operands: Any, jaxpr: ClosedJaxpr, mesh: Any, in_specs: Sequence[Spec], out_specs: Sequence[Spec],
    axis_names: Sequence[AxisName], check_vma: bool,
) -> Any:  # fmt: skip
    return ctx.manual_computation(
        untyped(jaxpr, mesh, tuple(axis_names), check_vma), operands,
        [NamedSharding(mesh, spec_of(spec)) for spec in in_specs],
        [NamedSharding(mesh, spec_of(spec)) for spec in out_specs], axis_names, NamedSharding(mesh, PartitionSpec()),
    )  # fmt: skip
