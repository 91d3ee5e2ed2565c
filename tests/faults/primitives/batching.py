"""Faults in batching rules."""

from __future__ import annotations

from typing import Any

from lawful import ops
from lawful.core import get_aval
from lawful.ops._support.batch_dimensions import add_batch_dim
from tests.faults._fault import Rule, instead, rule_fault


def _size(args: Any, dims: Any) -> int:
    return next(int(get_aval(x).shape[dim]) for x, dim in zip(args, dims, strict=True) if dim is not None)


def _unshifted_axes(args: Any, dims: Any, *, axes: Any) -> Any:
    return ops.reduce_sum_p.bind(args[0], axes=axes), dims[0] - len([axis for axis in axes if axis < dims[0]])


def _said_to_be_first(right: Rule) -> Rule:
    return lambda args, dims, **params: (right(args, dims, **params)[0], 0)


def _not_aligned(args: Any, dims: Any) -> Any:
    return ops.add(*args), next(dim for dim in dims if dim is not None)


def _repeated_last(right: Rule) -> Rule:
    def batch(args: Any, dims: Any) -> Any:
        if None not in dims:
            return right(args, dims)
        size, dim = _size(args, dims), next(dim for dim in dims if dim is not None)
        filled = [add_batch_dim(x, size, get_aval(x).ndim) if d is None else x for x, d in zip(args, dims, strict=True)]
        return ops.mul_p.bind(*filled), dim

    return batch


def _late_shift(args: Any, dims: Any, *, permutation: Any) -> Any:
    (x,), (dim,) = args, dims
    order = (dim, *[source + (source > dim) for source in permutation])
    if len(set(order)) < len(order):
        order = (dim, *[axis for axis in range(get_aval(x).ndim) if axis != dim])
    return ops.transpose(x, order), 0


def _not_moved(args: Any, dims: Any, *, new_sizes: Any) -> Any:
    return ops.reshape_p.bind(args[0], new_sizes=(_size(args, dims), *new_sizes)), 0


def _inserted_in_front(args: Any, dims: Any, *, start_indices: Any, limit_indices: Any, strides: Any) -> Any:
    params = {
        "start_indices": (0, *start_indices),
        "limit_indices": (_size(args, dims), *limit_indices),
        "strides": None if strides is None else (1, *strides),
    }
    return ops.slice_p.bind(args[0], **params), dims[0]


def _unshifted_dimension(right: Rule) -> Rule:
    def batch(args: Any, dims: Any, *, dimension: int) -> Any:
        return right(args, dims, dimension=max(dimension - 1, 0))

    return batch


def _contracted_counted(right: Rule) -> Rule:
    def batch(args: Any, dims: Any, **params: Any) -> Any:
        out, dim = right(args, dims, **params)
        return out, dims[0] if dims[1] is None and dims[0] < get_aval(out).ndim else dim

    return batch


def _first_element_decides(right: Rule) -> Rule:
    def batch(args: Any, dims: Any) -> Any:
        which, *cases = args
        if dims[0] is None or get_aval(which).ndim != 1 or all(dim is None for dim in dims[1:]):
            return right(args, dims)
        return right([ops.reshape(ops.slice_in_dim(which, 0, 1), ()), *cases], [None, *dims[1:]])

    return batch


def _first_bound_for_all(right: Rule) -> Rule:
    def batch(args: Any, dims: Any) -> Any:
        args, dims = list(args), list(dims)
        for i in (0, 2):
            if dims[i] is not None and dims[1] is not None and get_aval(args[i]).ndim == 1:
                args[i], dims[i] = ops.reshape(ops.slice_in_dim(args[i], 0, 1), ()), None
        return right(args, dims)

    return batch


def _padded_in_front(right: Rule) -> Rule:
    def batch(args: Any, dims: Any, *, padding_config: Any) -> Any:
        if dims[1] is not None:
            return right(args, dims, padding_config=padding_config)
        return ops.pad_p.bind(*args, padding_config=(*padding_config, (0, 0, 0))), dims[0]

    return batch


def _first_element_only(right: Rule) -> Rule:
    def batch(args: Any, dims: Any, *, dimension: int) -> Any:
        size = _size(args, dims)

        def in_first_element(x: Any) -> Any:
            around = [(0, size - 1, 0), *[(0, 0, 0)] * get_aval(x).ndim]
            return ops.pad(ops.expand_dims(x, (0,)), get_aval(x).dtype.type(0), around)

        filled = [in_first_element(x) if dim is None and size else x for x, dim in zip(args, dims, strict=True)]
        return right(filled, [0 if dim is None else dim for dim in dims], dimension=dimension)

    return batch


def _maximum_of_elements(right: Rule) -> Rule:
    def batch(args: Any, dims: Any, *, axes: Any) -> Any:
        out, dim = right(args, dims, axes=axes)
        others = tuple(axis for axis in range(get_aval(out).ndim) if axis != dim)
        return ops.broadcast_in_dim(ops.reduce_max_p.bind(out, axes=(dim,)), get_aval(out).shape, others), dim

    return batch


batching_faults = (
    rule_fault(
        "the axes of reduce_sum are not shifted past the batch",
        "axes not shifted",
        ops.reduce_sum_p,
        "batch",
        instead(_unshifted_axes),
    ),
    rule_fault(
        "the batch of reduce_max is said to come first", "wrong axis", ops.reduce_max_p, "batch", _said_to_be_first
    ),
    rule_fault("the batch of sin is said to come first", "wrong axis", ops.sin_p, "batch", _said_to_be_first),
    rule_fault(
        "the batch of broadcast_in_dim is said to come first",
        "wrong axis",
        ops.broadcast_in_dim_p,
        "batch",
        _said_to_be_first,
    ),
    rule_fault(
        "the operands of add are not aligned", "batch dimension ignored", ops.add_p, "batch", instead(_not_aligned)
    ),
    rule_fault(
        "an unmapped factor is repeated along the last axis", "forgotten broadcast", ops.mul_p, "batch", _repeated_last
    ),
    rule_fault(
        "the permutation of transpose is shifted one axis late",
        "off by one",
        ops.transpose_p,
        "batch",
        instead(_late_shift),
    ),
    rule_fault(
        "the batch of reshape is not moved to the front", "wrong axis", ops.reshape_p, "batch", instead(_not_moved)
    ),
    rule_fault(
        "the batch of slice is taken for its first axis",
        "wrong axis",
        ops.slice_p,
        "batch",
        instead(_inserted_in_front),
    ),
    rule_fault(
        "the dimension of concatenate is not shifted",
        "axes not shifted",
        ops.concatenate_p,
        "batch",
        _unshifted_dimension,
    ),
    rule_fault(
        "an unmapped operand of concatenate is in the first element only",
        "forgotten broadcast",
        ops.concatenate_p,
        "batch",
        _first_element_only,
    ),
    rule_fault(
        "the batch of dot_general counts contracted axes", "wrong axis", ops.dot_general_p, "batch", _contracted_counted
    ),
    rule_fault(
        "the first element decides for all in select_n", "wrong branch", ops.select_n_p, "batch", _first_element_decides
    ),
    rule_fault(
        "the bounds of the first element hold for all in clamp",
        "closure constant",
        ops.clamp_p,
        "batch",
        _first_bound_for_all,
    ),
    rule_fault(
        "the axis of cumsum is not shifted",
        "axes not shifted",
        ops.cumsum_p,
        "batch",
        instead(lambda args, dims, *, axis, reverse: (ops.cumsum_p.bind(args[0], axis=axis, reverse=reverse), dims[0])),
    ),
    rule_fault(
        "the dimensions of rev are not shifted",
        "axes not shifted",
        ops.rev_p,
        "batch",
        instead(lambda args, dims, *, dimensions: (ops.rev_p.bind(args[0], dimensions=dimensions), dims[0])),
    ),
    rule_fault(
        "the axis of argmax is not shifted at the batch",
        "off by one",
        ops.argmax_p,
        "batch",
        lambda right: (
            lambda args, dims, *, axes, **params: right(
                args, dims, axes=tuple(axis - (axis == dims[0] and axis > 0) for axis in axes), **params
            )
        ),
    ),
    rule_fault("the batch of pad is taken for its last axis", "wrong axis", ops.pad_p, "batch", _padded_in_front),
    rule_fault(
        "the maximum is taken over the batch too",
        "batch dimension ignored",
        ops.reduce_max_p,
        "batch",
        _maximum_of_elements,
    ),
)
