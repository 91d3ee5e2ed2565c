"""The declaration of convolutions for laws: samples and a reference."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from lawful.core import Call, Choose, Declaration, ShapedArray, Unequal, is_inexact, kind
from lawful.ops._convolution.dimension_numbers import Specs
from lawful.ops._convolution.sliding_window import Pads, dilated
from lawful.ops._products.precision import OF_COMPLEX_INFINITY, sum_dtype
from lawful.ops._shape.joining import pad_p
from lawful.ops._support.promotion import cast
from lawful.ops._support.structural import Shape

_WIDEST = {name[0]: np.dtype(name) for name in ("int64", "uint64", "float64", "complex128")}


def _order(choose: Choose, ndim: int) -> Shape:
    """Draws an order of dimensions, of which the simplest is the natural one."""
    order: list[int] = []
    for index in range(ndim):
        order.insert(index - choose.one_of((0, 0, min(1, index), index)), index)
    return tuple(order)


def _in_order(sizes: tuple[int, ...], spec: Shape) -> Shape:
    return tuple(sizes[spec.index(dim)] for dim in range(len(sizes)))


def _sample(choose: Choose) -> Call:
    n = choose.one_of((1, 2, 1, 0, 3))
    groups = choose.one_of((1, 1, 2, 3))
    of_batch = groups > 1 and choose.one_of((False, True))
    batch, inputs, outputs = choose.one_of((1, 2, 0)), choose.one_of((1, 2, 0)), choose.one_of((1, 2, 0))
    array, kernel, strides, padding, lhs_dilation, rhs_dilation = [], [], [], [], [], []
    for _ in range(n):
        size, window = choose.one_of((3, 2, 4, 1, 5, 0)), choose.one_of((2, 1, 3, 2, 0))
        array.append(min(size, 3) if n > 1 else size)
        kernel.append(min(window, 2) if n > 1 else window)
        strides.append(choose.one_of((1, 1, 2, 3)))
        lhs_dilation.append(choose.one_of((1, 1, 2, 3)))
        rhs_dilation.append(choose.one_of((1, 1, 2)))
        whole = dilated(array[-1], lhs_dilation[-1])
        low = choose.integer(-min(whole, 1), 2)
        padding.append((low, choose.integer(-min(whole + low, 1), 2)))
    specs = tuple(_order(choose, n + 2) for _ in range(3))
    lhs = (batch * groups, inputs, *array) if of_batch else (batch, inputs * groups, *array)
    rhs = (outputs * groups, inputs, *kernel)
    dtype = choose.dtype("fiubc")
    preferred = choose.one_of((None, None, _WIDEST.get(kind(dtype))))
    params = {
        "window_strides": tuple(strides),
        "padding": tuple(padding),
        "lhs_dilation": tuple(lhs_dilation),
        "rhs_dilation": tuple(rhs_dilation),
        "dimension_numbers": specs,
        "feature_group_count": 1 if of_batch else groups,
        "batch_group_count": groups if of_batch else 1,
        "precision": choose.one_of((None, None, None, ("default", "highest"))),
        "preferred_element_type": None if preferred == dtype else preferred,
    }
    return (ShapedArray(_in_order(lhs, specs[0]), dtype), ShapedArray(_in_order(rhs, specs[1]), dtype)), params


def _padded(x: Any, value: Any, **params: Any) -> Any:
    assert pad_p.declaration is not None
    assert pad_p.declaration.reference is not None
    return pad_p.declaration.reference(x, value, **params)


def _reference(
    lhs: Any,
    rhs: Any,
    *,
    window_strides: Shape,
    padding: Pads,
    lhs_dilation: Shape,
    rhs_dilation: Shape,
    dimension_numbers: Specs,
    feature_group_count: int,
    batch_group_count: int,
    preferred_element_type: np.dtype[Any] | None,
    **_: Any,
) -> Any:
    """Adds the products for each group and each position of the kernel."""
    lhs, rhs = np.asarray(lhs), np.asarray(rhs)
    result = preferred_element_type or lhs.dtype
    wide = sum_dtype(lhs.dtype, result)
    config = [(0, 0, 0)] * 2 + [(low, high, step - 1) for (low, high), step in zip(padding, lhs_dilation, strict=True)]
    x = _padded(lhs.astype(wide).transpose(dimension_numbers[0]), 0, padding_config=config)
    lengths = [lhs.shape[dim] for dim in dimension_numbers[0][2:]]
    is_element = _padded(np.ones(lengths, bool), False, padding_config=config[2:])
    y = rhs.astype(wide).transpose(dimension_numbers[1])
    window = [dilated(size, step) for size, step in zip(y.shape[2:], rhs_dilation, strict=True)]
    spatial = [
        max((size - length) // stride + 1, 0)
        for size, length, stride in zip(x.shape[2:], window, window_strides, strict=True)
    ]
    parts = []
    everywhere: Any = (slice(None), slice(None))
    xs: Any = np.split(x, batch_group_count, 0) if batch_group_count > 1 else np.split(x, feature_group_count, 1)
    for group, kernel in zip(xs, np.split(y, len(xs), 0), strict=True):
        total: Any = np.zeros((group.shape[0], kernel.shape[0], *spatial), wide)
        for position in product(*map(range, spatial)):
            for offset in product(*map(range, kernel.shape[2:])):
                at = [p * s + o * d for p, s, o, d in zip(position, window_strides, offset, rhs_dilation, strict=True)]
                if is_element[tuple(at)]:
                    term = np.einsum("nc,oc->no", group[(*everywhere, *at)], kernel[(*everywhere, *offset)])
                    total[(*everywhere, *position)] += term
        parts.append(total)
    out_spec = dimension_numbers[2]
    out = np.concatenate(parts, 1)
    return cast(out.transpose([out_spec.index(dim) for dim in range(out.ndim)]), result)


def _multiplies_padding(lhs: Any, rhs: Any, *, padding: Pads, **_: Any) -> bool:
    dtype = np.asarray(rhs).dtype
    padded = any(pad > 0 for pads in padding for pad in pads)
    return is_inexact(dtype) and dtype.name not in ("float64", "complex128") and padded and not np.isfinite(rhs).all()


convolution_declaration = Declaration(
    sample=_sample,
    reference=_reference,
    kinds="fiubc",
    linear=((0,), (1,)),
    unequal=(
        OF_COMPLEX_INFINITY,
        Unequal(
            "xla",
            _multiplies_padding,
            "of at most 32 bits XLA multiplies padding with the kernel, which gives NaN where that is infinite",
        ),
    ),
)
