"""Faults on several devices: in meshes and specs, ``shard_map``, ``pmap`` and collectives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lawful import batching, ops
from lawful.batching._axis import names_axis
from lawful.batching._collectives import axes as collective_axes
from lawful.batching._collectives import declaration, permutation
from lawful.core import ArgumentTypeError
from lawful.parallel import NamedSharding, shard_map_p, sharding_constraint_p
from lawful.parallel._pmap import primitive as pmap
from lawful.parallel._shard_map import axes, reference, rules
from lawful.parallel._shard_map import shard_map as public
from lawful.parallel._shard_map.rules import Residuals
from tests.faults._fault import Fault, Rule, instead, local_fault, met_by, method_fault, rule_fault

SOURCES = ("smooth", "sharded", "complex")


# Transposes


def _unsummed(right: Rule) -> Rule:
    return lambda closed, cts, results, sizes: right(closed, cts, ((),) * len(results), sizes)


def _undivided(right: Rule) -> Rule:
    return lambda closed, cts, results, sizes: right(closed, ((),) * len(cts), results, sizes)


def _doubled(ct: Any, x: Any, **params: Any) -> list[Any]:
    return [ops.mul(batching.psum_invariant_p.bind(ct, **params), 2.0)]


def _unchanged(ct: Any, x: Any, **params: Any) -> list[Any]:
    return [ct]


def _own_slice(ct: Any, x: Any, *, axis_name: Any, axis_size: int, all_gather_dimension: int, **params: Any) -> Any:
    position = batching.axis_index(axis_name)
    if not params["tiled"]:
        return [ops.dynamic_index_in_dim(ct, position, all_gather_dimension, keepdims=False)]
    length = x.aval.shape[all_gather_dimension]
    start = ops.mul(position, np.int32(length))
    return [ops.dynamic_slice_in_dim(ct, start, length, all_gather_dimension)]


def _sent_on(ct: Any, x: Any, **params: Any) -> list[Any]:
    return [batching.ppermute_p.bind(ct, **params)]


def _twice(ct: Any, x: Any, **params: Any) -> list[Any]:
    return [ops.add(ct, ct)]


def _without_mentions(right: Rule) -> Rule:
    return lambda closed, names: [False] * len(names)


# Collectives


def _minor_for_major(right: Rule) -> Rule:
    def mapped_axis(axis_data: Any, axis_name: Any) -> Any:
        axis = right(axis_data, axis_name)
        return axis and collective_axes.MappedAxis(axis.size, axis.rest, axis.after, axis.before)

    return mapped_axis


def _drops_a_pair(right: Rule) -> Rule:
    return lambda size, pairs: right(size, pairs[:-1])


def _of_the_neighbour(right: Rule) -> Rule:
    def batch(args: Any, dims: Any, *, axis_data: Any, axis_name: Any, **params: Any) -> Any:
        out, dim = right(args, dims, axis_data=axis_data, axis_name=axis_name, **params)
        if dim is None or not names_axis(axis_name, axis_data.name):
            return out, dim
        return ops.take(out, np.roll(np.arange(axis_data.size), 1), axis=dim), dim

    return batch


def _split_for_concat(right: Rule) -> Rule:
    def batch(args: Any, dims: Any, *, split_axis: int, concat_axis: int, **params: Any) -> Any:
        return right(args, dims, split_axis=concat_axis, concat_axis=split_axis, **params)

    return batch


def _sorted_groups(right: Rule) -> Rule:
    """Each group has the positions of another one: those in ascending order."""

    def of_all(over: Any, x: Any, groups: Any, params: Any) -> Any:
        order = iter(range(sum(map(len, groups))))
        return right(over, x, tuple([tuple([next(order) for _ in group]) for group in groups]), params)

    return of_all


# Specs


def _reversed_devices(right: Rule) -> Rule:
    def indices(self: NamedSharding, global_shape: Any) -> Any:
        found = right(self, global_shape)
        return dict(zip(found, reversed([*found.values()]), strict=True))

    return indices


def _minor_first(right: Rule) -> Rule:
    return lambda x, spec, *rest: right(x, tuple([axes[::-1] for axes in spec]), *rest)


def _accept_lies(patch: pytest.MonkeyPatch) -> None:
    out_dims, abstract_eval = public._out_dims, shard_map_p.rule("abstract_eval")

    def typed(*avals: Any, jaxpr: Any, mesh: Any, out_specs: Any, axis_names: Any, **params: Any) -> Any:
        try:
            return abstract_eval(*avals, jaxpr=jaxpr, mesh=mesh, out_specs=out_specs, axis_names=axis_names, **params)
        except ArgumentTypeError:
            outs = zip(jaxpr.out_avals, out_specs, strict=True)
            return [axes.whole_aval(aval, spec, mesh.shape, axis_names) for aval, spec in outs]

    patch.setattr(public, "_out_dims", lambda *args: out_dims(*args[:-1], False))
    patch.setitem(shard_map_p.rules, "abstract_eval", typed)


def _misread(right: Rule) -> Rule:
    """Residuals that are split over several axes are read as if the minor one came first."""

    def init(self: Residuals, primal: Any, count: int, *rest: Any) -> None:
        right(self, primal, count, *rest)
        self.specs = [
            (spec[0][::-1], *spec[1:]) if operand is None and spec else spec
            for spec, operand in zip(self.specs, self.operands, strict=True)
        ]

    return init


def _in_front(right: Rule) -> Rule:
    return lambda spec, dim: right(spec, dim and 0)


def _other_end(right: Rule) -> Rule:
    return lambda aval, axis, name: right(aval, None if axis is None else aval.ndim - 1 - axis, name)


def _varies_over_one(right: Rule) -> Rule:
    """A sum over one axis of several does not vary over the others either."""
    return lambda vma, **params: frozenset()


sharding_faults = met_by(
    SOURCES,
    local_fault(
        "the cotangent of a whole operand of unchecked shard_map is not summed", "forgotten psum", rules, "_summed",
        _unsummed,
    ),
    local_fault(
        "the cotangent of a whole result of unchecked shard_map is not divided among its copies", "wrong scale", rules,
        "_summed", _undivided,
    ),
    local_fault(
        "values of unchecked shard_map vary only over axes of its specs", "wrong type", rules, "_mentions",
        _without_mentions,
    ),
    rule_fault(
        "the transpose of pvary is no sum", "forgotten psum", batching.pvary_p, "transpose", instead(_unchanged),
    ),
    rule_fault("the transpose of pvary sums twice", "doubled psum", batching.pvary_p, "transpose", instead(_doubled)),
    rule_fault(
        "the transpose of psum is the identity", "forgotten psum", batching.psum_p, "transpose", instead(_unchanged),
    ),
    rule_fault(
        "the transpose of all_gather takes its own slice", "forgotten psum", batching.all_gather_p, "transpose",
        instead(_own_slice),
    ),
    rule_fault(
        "the transpose of ppermute sends on", "wrong permutation", batching.ppermute_p, "transpose",
        instead(_sent_on),
    ),
    rule_fault(
        "the transpose of pbroadcast is the identity", "forgotten psum", batching.pbroadcast_p, "transpose",
        instead(_unchanged),
    ),
    rule_fault(
        "the transpose of a sharding constraint is doubled", "wrong scale", sharding_constraint_p, "transpose",
        instead(_twice),
    ),
    local_fault(
        "collectives over several axes take the minor one for the major one", "wrong replica groups", declaration,
        "mapped_axis", _minor_for_major,
    ),
    local_fault(
        "collectives in groups take positions in ascending order", "wrong replica groups", declaration,
        "_of_all_positions", _sorted_groups,
    ),
    local_fault("ppermute drops a pair", "forgotten operand", permutation, "_table", _drops_a_pair),
    rule_fault(
        "psum_scatter gives the slice of the neighbour", "off by one", batching.reduce_scatter_p, "batch",
        _of_the_neighbour,
    ),
    rule_fault(
        "all_to_all splits where it concatenates", "swapped operands", batching.all_to_all_p, "batch", _split_for_concat
    ),
    rule_fault(
        "a sum over some axes varies over no other", "wrong type", batching.psum_invariant_p, "varying",
        _varies_over_one
    ),
    method_fault(
        "shardings count devices from the last one", "wrong device order", NamedSharding, "devices_indices_map",
        _reversed_devices,
    ),
    local_fault(
        "shard_map splits dimensions minor axis first", "wrong device order", reference, "_split", _minor_first,
    ),
    Fault("out_specs that lie are accepted", "missing check", "`_out_dims` of parallel", _accept_lies),
    method_fault("residuals of shard_map have a wrong spec", "wrong spec", Residuals, "__init__", _misread),
    local_fault(
        "a batched shard_map has the batch dimension of specs in front", "wrong axis", rules, "_batched_spec", _in_front
    ),
    local_fault("pmap splits dimensions counted from the end", "wrong axis", pmap, "_spec", _other_end),
)  # fmt: skip
