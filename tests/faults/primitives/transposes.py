"""Faults in transpose rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful import ops
from lawful.autodiff import stop_gradient
from lawful.core import UndefinedPrimal, Zero
from lawful.ops._products import dot_general as _dot_general
from tests.faults._fault import Rule, Wrong, instead, local_fault, rule_fault


def cotangents(change: Any) -> Wrong:
    """Returns the fault that changes each cotangent of a transpose rule by ``change(ct, x)``; zeros and None stay."""

    def wrong(right: Rule) -> Rule:
        def transpose(ct: Any, *args: Any, **params: Any) -> list[Any]:
            found = right(ct, *args, **params)
            return [y if y is None or type(y) is Zero else change(y, x) for y, x in zip(found, args, strict=True)]

        return transpose

    return wrong


def _first_only(right: Rule) -> Rule:
    def transpose(ct: Any, *args: Any, **params: Any) -> list[Any]:
        first, *rest = right(ct, *args, **params)
        return [first, *(None if y is None else Zero(x.aval) for x, y in zip(args[1:], rest, strict=True))]

    return transpose


def _reversed_results(right: Rule) -> Rule:
    def transpose(ct: Any, *args: Any, **params: Any) -> list[Any]:
        return list(reversed(right(ct, *args, **params)))

    return transpose


def _repeated_element(ct: Any, aval: Any, *, shape: Any, broadcast_dimensions: Any) -> Any:
    repeated = set(range(len(shape))) - {
        dim for size, dim in zip(aval.shape, broadcast_dimensions, strict=True) if size == shape[dim]
    }
    if 0 in shape:
        return np.zeros(aval.shape, aval.dtype)
    starts, limits = [0] * len(shape), [1 if i in repeated else size for i, size in enumerate(shape)]
    return ops.reshape(ops.slice(ct, starts, limits), aval.shape)


def _unsummed(ct: Any, x: Any, **params: Any) -> list[Any]:
    return [Zero(x.aval) if type(ct) is Zero else _repeated_element(ct, x.aval, **params)]


def _same_permutation(right: Rule) -> Rule:
    def transpose(ct: Any, x: Any, *, permutation: Any) -> Any:
        if type(ct) is Zero:
            return right(ct, x, permutation=permutation)
        return [ops.reshape(ops.transpose(ct, permutation), x.aval.shape)]

    return transpose


def _one_earlier(right: Rule) -> Rule:
    def transpose(ct: Any, x: Any, *, start_indices: Any, limit_indices: Any, strides: Any) -> Any:
        earlier = tuple(max(start - 1, 0) for start in start_indices)
        limits = tuple(limit - (start > 0) for start, limit in zip(start_indices, limit_indices, strict=True))
        return right(ct, x, start_indices=earlier, limit_indices=limits, strides=strides)

    return transpose


def _without_the_value(right: Rule) -> Rule:
    def transpose(ct: Any, x: Any, value: Any, **params: Any) -> list[Any]:
        first, second = right(ct, x, value, **params)
        return [first, None if second is None else Zero(value.aval)]

    return transpose


def _other_products(right: Rule) -> Rule:
    def transpose(ct: Any, x: Any, y: Any) -> list[Any]:
        found = right(ct, x, y)
        return [None if c is None else ops.mul(ct, ct) for c in found]

    return transpose


def _same_direction(ct: Any, x: Any, *, axis: int, reverse: bool) -> list[Any]:
    return [Zero(x.aval) if type(ct) is Zero else ops.cumsum_p.bind(ct, axis=axis, reverse=reverse)]


def _of_dtype_of_the_result(ct: Any, x: Any, **_: Any) -> list[Any]:
    return [Zero(x.aval) if type(ct) is Zero else ct]


def _constant(x: Any) -> Any:
    return x if type(x) is UndefinedPrimal else stop_gradient(x)


def _all_cases(right: Rule) -> Rule:
    def transpose(ct: Any, which: Any, *cases: Any) -> list[Any]:
        found = right(ct, which, *cases)
        return [None, *(y if y is None or type(y) is Zero else ct for y in found[1:])]

    return transpose


def _rows_for_columns(right: Rule) -> Rule:
    def cotangent(ct: Any, x: Any, *rest: Any, **options: Any) -> Any:
        out = right(ct, x, *rest, **options)
        order = tuple(reversed(range(x.ndim)))
        return ops.reshape(ops.transpose(out, order), x.shape)

    return cotangent


transpose_faults = (
    rule_fault(
        "the transpose of neg lacks its sign",
        "wrong sign",
        ops.neg_p,
        "transpose",
        cotangents(lambda ct, x: ops.neg(ct)),
    ),
    rule_fault("the transpose of add forgets its second operand", "missing term", ops.add_p, "transpose", _first_only),
    rule_fault(
        "the transposes of the operands of sub are swapped",
        "operands swapped",
        ops.sub_p,
        "transpose",
        _reversed_results,
    ),
    rule_fault(
        "the transpose of mul multiplies by the cotangent", "wrong operand", ops.mul_p, "transpose", _other_products
    ),
    rule_fault(
        "the transpose of mul has a conjugate too many",
        "conjugate added",
        ops.mul_p,
        "transpose",
        lambda right: lambda ct, *args: right(ct, *[x if type(x) is UndefinedPrimal else ops.conj(x) for x in args]),
    ),
    rule_fault(
        "the transpose of mul takes its factor for a constant",
        "second derivative lost",
        ops.mul_p,
        "transpose",
        lambda right: lambda ct, *args: right(ct, *map(_constant, args)),
    ),
    rule_fault(
        "the transpose of div multiplies",
        "wrong operation",
        ops.div_p,
        "transpose",
        lambda right: lambda ct, x, y: [ops.mul(ct, y), None] if type(ct) is not Zero else right(ct, x, y),
    ),
    rule_fault(
        "the transpose of broadcast_in_dim does not sum",
        "forgotten sum",
        ops.broadcast_in_dim_p,
        "transpose",
        instead(_unsummed),
    ),
    rule_fault(
        "the transpose of reduce_sum shares instead of repeating",
        "wrong factor",
        ops.reduce_sum_p,
        "transpose",
        cotangents(lambda ct, x: ops.div(ct, max(x.aval.size, 1))),
    ),
    rule_fault(
        "the transpose of transpose permutes the same way",
        "wrong permutation",
        ops.transpose_p,
        "transpose",
        _same_permutation,
    ),
    rule_fault(
        "the transpose of slice puts elements one index early", "off by one", ops.slice_p, "transpose", _one_earlier
    ),
    rule_fault(
        "the transpose of pad forgets the padding value", "missing term", ops.pad_p, "transpose", _without_the_value
    ),
    rule_fault(
        "the transpose of concatenate gives parts in reversed order",
        "reversed order",
        ops.concatenate_p,
        "transpose",
        lambda right: (
            lambda ct, *xs, dimension: right(
                ct if type(ct) is Zero else ops.rev(ct, (dimension,)), *xs, dimension=dimension
            )
        ),
    ),
    rule_fault("the transpose of select_n goes to every case", "wrong branch", ops.select_n_p, "transpose", _all_cases),
    rule_fault(
        "the transpose of cumsum sums in the same direction",
        "reversed order",
        ops.cumsum_p,
        "transpose",
        instead(_same_direction),
    ),
    rule_fault(
        "the transpose of rev does not reverse",
        "reversed order",
        ops.rev_p,
        "transpose",
        instead(lambda ct, x, **_: [Zero(x.aval) if type(ct) is Zero else ct]),
    ),
    rule_fault(
        "the transpose of imag lacks its sign",
        "dropped conjugate",
        ops.imag_p,
        "transpose",
        cotangents(lambda ct, x: ops.conj(ct)),
    ),
    rule_fault(
        "the transpose of conj does not conjugate",
        "dropped conjugate",
        ops.conj_p,
        "transpose",
        cotangents(lambda ct, x: ops.conj(ct)),
    ),
    rule_fault(
        "the cotangent of a conversion keeps its dtype",
        "dtype lost",
        ops.convert_element_type_p,
        "transpose",
        instead(_of_dtype_of_the_result),
    ),
    local_fault(
        "the cotangents of dot_general have rows for columns",
        "transposed transpose",
        _dot_general,
        "_cotangent",
        _rows_for_columns,
        ("dot_general, smooth", "dot_general", "smooth"),
    ),
)
