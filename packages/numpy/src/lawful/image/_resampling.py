"""Images at other resolutions and positions: products with a matrix of weights along each dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

import lawful.numpy as np
from lawful import ops
from lawful.core import ArgumentValueError, get_aval
from lawful.image._methods import KERNELS, ResizeMethod
from lawful.numpy.linalg._matrices import inexact
from lawful.ops import canonical_axes, static_integers
from lawful.special._arguments import silent

#: How far an image goes on outside of its edges for ``CUBIC_PYTORCH``: as far as the kernel reaches.
_EDGE = 2
#: Weights whose sum is less are none: kernels with lobes have sums near zero outside.
_LEAST_TOTAL = 1000 * float(numpy.finfo(numpy.float32).eps)


def resize(
    image: Any,
    shape: Sequence[int],
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: Any = ops.Precision.HIGHEST,
) -> Any:
    """Returns an image of another shape that shows the same.

    Args:
      image: an array of any rank. The center of the first pixel is at 0.5 along each dimension.
      shape: the new shape, of all dimensions: of features and batches their own.
      method: a `ResizeMethod` or its name: ``"nearest"``, ``"linear"``, ``"cubic"``, ``"cubic-pytorch"``,
        ``"lanczos3"``, ``"lanczos5"`` or ``"area"``.
      antialias: whether a kernel is as wide as a new pixel where that is larger than an old one.
      precision: how exactly an accelerator multiplies: a `lawful.ops.Precision` or its name.

    Returns:
      An array of the dtype of ``image`` for ``"nearest"``; for other methods integers become floats.

    Raises:
      ArgumentValueError: there is no such method, or the shape has other dimensions or a negative length.

    Law: linear in the image; an image of its own shape is itself.

    >>> resize(np.arange(6.0), (3,), "area")
    array([0.5, 2.5, 4.5])

    Source: ``jax.image.resize``.
    """
    method = _method(method)
    old, new = get_aval(image).shape, _shape("resize", image, shape)
    dims = [i for i in range(len(new)) if old[i] != new[i]]
    if method is ResizeMethod.NEAREST:
        for i in dims:
            # In integers, so that a center between two pixels never falls to the left.
            positions = (2 * numpy.arange(new[i]) + 1) * old[i] // (2 * max(new[i], 1))
            image = np.take(image, positions, axis=i)
        return image
    [image] = inexact("resize", image, linear_algebra=False)
    if any(not old[i] or not new[i] for i in dims):
        return np.zeros(new, get_aval(image).dtype)  # of no pixels
    scales = [ops.convert_element_type(new[i] / old[i], _real(image)) for i in dims]
    shifts = [ops.mul(scale, 0) for scale in scales]
    return _resampled(image, new, dims, scales, shifts, method, antialias, precision)


@silent
def scale_and_translate(
    image: Any,
    shape: Sequence[int],
    spatial_dims: Sequence[int],
    scale: Any,
    translation: Any,
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: Any = ops.Precision.HIGHEST,
) -> Any:
    """Returns an image of another shape, whose position ``x * scale + translation`` shows what ``x`` did.

    Args:
      image: as for `resize`.
      shape: the new shape; dimensions that are not spatial have their own length.
      spatial_dims: the dimensions that are scaled, k of them.
      scale: their scales, of shape (k,). They may be negative, and traced.
      translation: how far they are moved, in new pixels, of shape (k,).
      method: as for `resize`, but not ``"nearest"``.
      antialias: the same.
      precision: the same.

    Returns:
      The image, zero where a new center is outside of the old one, for ``"cubic-pytorch"`` without antialiasing where
      it is out of reach of its edge; integers become floats. Only positive scales make kernels wider, as in JAX.

    Raises:
      ArgumentValueError: there is no such method, the shapes do not fit, or a dimension occurs twice.
      AxisError: there is no such dimension.

    >>> scale_and_translate(np.array([0.0, 4.0]), (4,), (0,), np.array([1.0]), np.array([1.0]), "linear")
    array([0., 0., 4., 0.])

    Source: ``jax.image.scale_and_translate``.
    """
    method = _method(method)
    if method is ResizeMethod.NEAREST:
        raise ArgumentValueError("scale_and_translate: expected a method with weights, got 'nearest'; use 'linear'")
    old, new = get_aval(image).shape, _shape("scale_and_translate", image, shape)
    dims = canonical_axes("scale_and_translate", spatial_dims, len(old))
    if any(i not in dims and a != b for i, (a, b) in enumerate(zip(old, new, strict=True))):
        raise ArgumentValueError(
            f"scale_and_translate: expected the lengths of other dimensions as they are, got the shapes {old} and {new}"
        )
    [image] = inexact("scale_and_translate", image, linear_algebra=False)
    factors = inexact("scale_and_translate", np.asarray(scale), np.asarray(translation), linear_algebra=False)
    if any(get_aval(x).shape != (len(dims),) or get_aval(x).dtype.kind == "c" for x in factors):
        raise ArgumentValueError(
            f"scale_and_translate: expected real scales and translations of {len(dims)} dimensions, got "
            f"{get_aval(factors[0])} and {get_aval(factors[1])}"
        )
    if any(not old[i] for i in dims):
        return np.zeros(new, get_aval(image).dtype)
    scales, shifts = ([x[i] for i in range(len(dims))] for x in factors)
    return _resampled(image, new, dims, scales, shifts, method, antialias, precision)


def _method(method: Any) -> ResizeMethod:
    return method if isinstance(method, ResizeMethod) else ResizeMethod.from_string(method)


def _shape(name: str, image: Any, shape: Any) -> tuple[int, ...]:
    new = static_integers(name, "shape", tuple(shape))
    if len(new) != get_aval(image).ndim or any(size < 0 for size in new):
        raise ArgumentValueError(
            f"{name}: expected a length for each dimension of {get_aval(image)}, got {new}; give all"
        )
    return new


def _real(image: Any) -> Any:
    return np.finfo(get_aval(image).dtype).dtype


def _resampled(
    image: Any,
    shape: Sequence[int],
    dims: Sequence[int],
    scales: Sequence[Any],
    shifts: Sequence[Any],
    method: ResizeMethod,
    antialias: bool,
    precision: Any,
) -> Any:
    if method is ResizeMethod.CUBIC_PYTORCH and antialias:
        method = ResizeMethod.CUBIC
    dtype = get_aval(image).dtype
    for dim, scale, shift in zip(dims, scales, shifts, strict=True):
        weights = _weights(get_aval(image).shape[dim], shape[dim], scale, shift, method, antialias)
        weights = ops.convert_element_type(weights, dtype)
        rows = ops.dot_general(image, weights, (((dim,), (1,)), ((), ())), precision)
        image = np.moveaxis(rows, -1, dim)
    return image


def _weights(old: int, new: int, scale: Any, shift: Any, method: ResizeMethod, antialias: bool) -> Any:
    """Returns the weights of old pixels for new ones, of shape (new, old): the sum of a row is 1, or 0 outside."""
    dtype = get_aval(scale).dtype
    if dtype.itemsize == 2:  # positions are not exact there
        scale, shift = (ops.convert_element_type(x, numpy.float32) for x in (scale, shift))
        dtype = get_aval(scale).dtype
    edge = _EDGE if method is ResizeMethod.CUBIC_PYTORCH else 0
    pixels = ops.convert_element_type(numpy.arange(-edge, old + edge), dtype)
    step = 1 / scale
    centers = ops.convert_element_type(numpy.arange(new) + 0.5, dtype) * step - shift * step - 0.5
    if method is ResizeMethod.AREA:
        width = ops.abs(step) / 2
        starts = ops.max((centers - width)[:, None], pixels - 0.5)
        ends = ops.min((centers + width)[:, None], pixels + 0.5)
        weights = ops.max(ends - starts, 0.0)
    else:
        width = ops.max(step, 1.0) if antialias else 1.0
        weights = KERNELS[method](ops.abs(centers[:, None] - pixels) / width)
    total = np.sum(weights, axis=1, keepdims=True)
    is_some = ops.abs(total) > _LEAST_TOTAL
    weights = ops.where(is_some, weights / ops.where(is_some, total, 1.0), 0.0)
    if edge:
        first = np.sum(weights[:, : edge + 1], axis=1, keepdims=True)
        last = np.sum(weights[:, -edge - 1 :], axis=1, keepdims=True)
        inner = weights[:, edge + 1 : -edge - 1]
        return np.concatenate([first, inner, last], axis=1) if old > 1 else np.sum(weights, axis=1, keepdims=True)
    inside = (centers >= -0.5) & (centers <= old - 0.5)
    return ops.where(inside[:, None], weights, 0.0)
