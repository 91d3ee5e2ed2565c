"""Faults in ``vmap``."""

from __future__ import annotations

from typing import Any

from lawful import ops
from lawful.batching import _batch, _vmap
from lawful.batching._batch import BatchTrace, BatchTracer
from lawful.core import get_aval
from lawful.ops._support import batch_dimensions
from tests.faults._fault import Rule, function_fault, instead, local_fault, method_fault


def _none_is_zero(right: Rule) -> Rule:
    def dim(name: str, axis: Any, aval: Any, arguments: Any, place: int) -> Any:
        return right(name, 0 if axis is None and aval.ndim else axis, aval, arguments, place)

    return dim


def _from_the_end_but_one(right: Rule) -> Rule:
    def dim(name: str, axis: Any, aval: Any, arguments: Any, place: int) -> Any:
        found = right(name, axis, aval, arguments, place)
        return found if axis is None or axis >= 0 else (found - 1) % aval.ndim

    return dim


def _of_the_first(right: Rule) -> Rule:
    def batch_size(name: str, axis_size: Any, arguments: Any, avals: Any, dims: Any) -> int:
        size = right(name, axis_size, arguments, avals, dims)
        return next((int(aval.shape[0]) for aval in avals if aval.ndim), size)

    return batch_size


def _always_in_front(right: Rule) -> Rule:
    return lambda name, axis, x, dim, *rest: right(name, None if axis is None else 0, x, dim, *rest)


def _any_tracer(right: Rule) -> Rule:
    return lambda self, x: (x.val, x.batch_dim) if type(x) is BatchTracer else right(self, x)


def _not_repeated(right: Rule) -> Rule:
    return lambda x, dim, wanted, size: right(x, dim, wanted, size if dim is not None else 1)


def _neighbour(x: Any, dim: int, to: int = 0) -> Any:
    order = list(range(get_aval(x).ndim))
    order[dim], order[to] = order[to], order[dim]
    return ops.transpose(x, tuple(order))


def _last(x: Any, size: int, to: int = 0) -> Any:
    shape = get_aval(x).shape
    out = ops.broadcast_in_dim(x, (*shape, size), tuple(range(len(shape))))
    return ops.reshape(out, (*shape[:to], size, *shape[to:]))


def _unmapped_results(right: Rule) -> Rule:
    def batched(closed: Any, axis_data: Any, dims: Any, instantiate: Any) -> Any:
        jaxpr, found = right(closed, axis_data, dims, instantiate)
        return jaxpr, tuple(None if dim == 0 and i else dim for i, dim in enumerate(found))

    return batched


mapping_faults = (
    local_fault("in_axes of None maps the first axis", "closure constant", _vmap, "_dim", _none_is_zero),
    local_fault("negative in_axes are one too small", "off by one", _vmap, "_dim", _from_the_end_but_one),
    local_fault("out_axes are ignored", "wrong axis", _vmap, "_out_axis", _always_in_front),
    local_fault(
        "the size of the batch is that of the first argument", "wrong operand", _vmap, "common_size", _of_the_first
    ),
    local_fault(
        "results that are not mapped are not repeated", "forgotten broadcast", _vmap, "place_batch_dim", _not_repeated
    ),
    method_fault(
        "vmap takes a tracer of another vmap for its own", "nested axes confused", BatchTrace, "split", _any_tracer
    ),
    function_fault(
        "moving the batch exchanges it with another axis",
        "wrong permutation",
        batch_dimensions,
        "move_batch_dim",
        instead(_neighbour),
    ),
    function_fault(
        "a new batch dimension is filled in the wrong order",
        "wrong axis",
        batch_dimensions,
        "add_batch_dim",
        instead(_last),
    ),
    function_fault(
        "a jaxpr maps its first result only", "batch dimension ignored", _batch, "batch_jaxpr", _unmapped_results
    ),
)
