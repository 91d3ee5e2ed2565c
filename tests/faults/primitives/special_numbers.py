"""Faults at special numbers: zeros, infinities, subnormal numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful import ops
from lawful.core import UndefinedPrimal
from lawful.ops._convolution import matrices as _conv_matrices
from tests.faults._fault import Rule, instead, local_fault, rule_fault


def _flushed(right: Rule) -> Rule:
    def impl(x: Any) -> Any:
        value = np.asarray(x)
        if value.dtype not in (np.float32, np.float64):
            return right(x)
        return right(np.where(np.abs(value) < np.finfo(value.dtype).tiny, 0, value).astype(value.dtype))

    return impl


def _one_for_zero(right: Rule) -> Rule:
    def transpose(ct: Any, *args: Any) -> Any:
        return right(ct, *[x if type(x) is UndefinedPrimal else ops.where(ops.eq(x, 0), 1, x) for x in args])

    return transpose


special_number_faults = (
    rule_fault(
        "the reciprocal root of a complex infinity is NaN",
        "wrong at infinity",
        ops.rsqrt_p,
        "impl",
        instead(lambda x: np.reciprocal(np.sqrt(x))),
        sources=("rsqrt, special",),
    ),
    rule_fault(
        "sign takes subnormal numbers for zeros",
        "wrong at subnormal numbers",
        ops.sign_p,
        "impl",
        _flushed,
        sources=("sign, special",),
    ),
    local_fault(
        "a convolution multiplies padding with infinity",
        "wrong at infinity",
        _conv_matrices,
        "_sum_of_products",
        lambda right: lambda rows, is_element, kernel: np.matmul(rows, kernel),
        sources=("conv_general_dilated, special",),
    ),
    rule_fault(
        "the transpose of mul takes a zero for one",
        "wrong at zero",
        ops.mul_p,
        "transpose",
        _one_for_zero,
        sources=("mul, special",),
    ),
)
