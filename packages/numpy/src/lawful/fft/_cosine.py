"""The discrete cosine transforms of types 1 to 4, each by one Fourier transform."""

from __future__ import annotations

import math
from typing import Any

import numpy

import lawful.numpy as np
from lawful import ops
from lawful.core import ArgumentValueError, get_aval
from lawful.numpy.linalg._matrices import inexact
from lawful.ops import canonical_axes, canonical_axis, static_integers

#: The type of the inverse of each.
_INVERSES = {1: 1, 2: 3, 3: 2, 4: 4}


def dct(x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """Returns a discrete cosine transform of one dimension.

    Type 2 of n numbers is ``2 * sum(x[m] * cos(pi * k * (2 * m + 1) / (2 * n)))``. Type 3 is its transpose with
    ``x[0]`` halved. Type 4 has ``(2 * k + 1) * (2 * m + 1) / (4 * n)`` in the cosine. Type 1 continues ``x`` evenly at
    both ends.

    Args:
      x: an array; integers become floats, and floats of 16 bits float32. Complex numbers are transformed by parts.
      type: 1, 2, 3 or 4.
      n: the length to which the dimension is sliced or padded with zeros; by default its own.
      axis: the dimension.
      norm: ``"backward"`` or None: no factor; ``"forward"``: divided by 2n, or 2(n - 1) for type 1; ``"ortho"``: the
        transform is orthogonal.

    Raises:
      ArgumentValueError: there is no such type or norm, or ``n`` is less than 1, or than 2 for type 1.
      AxisError: there is no such dimension.

    Law: ``idct(dct(x)) = x``; linear.

    >>> dct(np.array([1.0, 2.0, 3.0]), norm="ortho")
    array([ 3.46410162e+00, -1.41421356e+00, ...])

    Source: ``scipy.fft.dct``; Makhoul (1980), "A fast cosine transform in one and two dimensions".
    """
    return _along("dct", x, type, n, axis, norm)


def idct(x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """Returns the inverse of `dct`, which has the same arguments.

    >>> idct(dct(np.array([1.0, 2.0])))
    array([1., 2.])

    Source: ``scipy.fft.idct``.
    """
    return _along("idct", x, type, n, axis, norm)


def dctn(x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None) -> Any:
    """Returns the discrete cosine transform of several dimensions.

    Args:
      x: as for `dct`.
      type: the same.
      s: the lengths to which the dimensions are sliced or padded with zeros; by default their own.
      axes: the dimensions; by default the last ones, as many as ``s`` has, or all.
      norm: as for `dct`.

    Raises:
      ArgumentValueError: there are not as many lengths as dimensions; and as `dct`.
      AxisError: there is no such dimension.

    >>> dctn(np.ones((2, 2)))
    array([[16.,  0.],
           [ 0.,  0.]])

    Source: ``scipy.fft.dctn``.
    """
    return _over("dctn", x, type, s, axes, norm)


def idctn(x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None) -> Any:
    """Returns the inverse of `dctn`, which has the same arguments.

    >>> idctn(dctn(np.ones((2, 2))))
    array([[1., 1.],
           [1., 1.]])

    Source: ``scipy.fft.idctn``.
    """
    return _over("idctn", x, type, s, axes, norm)


def _over(name: str, x: Any, type: int, s: Any, axes: Any, norm: str | None) -> Any:
    ndim = len(get_aval(x).shape)
    sizes = None if s is None else list(static_integers(name, "s", s))
    if axes is None:
        dims = tuple(range(ndim) if sizes is None else range(-len(sizes), 0))
    else:
        dims = static_integers(name, "axes", axes)
    dims = canonical_axes(name, dims, ndim)
    if sizes is not None and len(sizes) != len(dims):
        raise ArgumentValueError(f"{name}: expected a length for each of {len(dims)} dimensions, got s={s}")
    for i, axis in enumerate(dims):
        x = _along(name, x, type, None if sizes is None else sizes[i], axis, norm)
    return x if dims else inexact(name, x, linear_algebra=False)[0]


def _along(name: str, x: Any, type: int, n: Any, axis: int, norm: str | None) -> Any:
    inverse = name[0] == "i"
    if type not in _INVERSES or norm not in (None, "backward", "ortho", "forward"):
        raise ArgumentValueError(
            f"{name}: expected a type of 1, 2, 3 or 4 and a norm of 'backward', 'ortho' or 'forward', got {type!r} and "
            f"{norm!r}"
        )
    [x] = inexact(name, x, linear_algebra=False)
    axis = canonical_axis(name, axis, get_aval(x).ndim)
    length = get_aval(x).shape[axis]
    size = length if n is None else static_integers(name, "n", (n,))[0]
    if size < 1 + (type == 1):
        raise ArgumentValueError(f"{name}: expected at least {1 + (type == 1)} elements for type {type}, got {size}")
    zero = get_aval(x).dtype.type(0)
    x = ops.pad(x, zero, [(0, (size - length) * (i == axis), 0) for i in range(get_aval(x).ndim)])
    x = np.moveaxis(x, axis, -1)
    period = 2.0 * (size - (type == 1))
    scale = math.sqrt(1 / period) if norm == "ortho" else 1 / period if inverse is (norm != "forward") else 1.0
    kind = _INVERSES[type] if inverse else type
    if get_aval(x).dtype.kind == "c":
        out = ops.complex(*(_scaled(kind, part, scale, norm == "ortho") for part in (ops.real(x), ops.imag(x))))
    else:
        out = _scaled(kind, x, scale, norm == "ortho")
    return np.moveaxis(out, -1, axis)


def _scaled(kind: int, x: Any, scale: float, orthogonal: bool) -> Any:
    """Returns a transform of the last dimension of a real array, times a factor, and made orthogonal."""
    size = get_aval(x).shape[-1]
    before, after = numpy.ones(size), numpy.full(size, scale)
    ends = [0, -1] if kind == 1 else [0]
    if orthogonal and kind in (1, 3):
        before[ends] *= math.sqrt(2)
    if orthogonal and kind in (1, 2):
        after[ends] /= math.sqrt(2)
    x = _times(x, before) if orthogonal else x
    return _times(_TRANSFORMS[kind](x), after)


def _times(x: Any, factors: Any) -> Any:
    """Returns an array times known factors of the last dimension, in the precision of the array."""
    aval = get_aval(x)
    is_single = aval.dtype.name in ("float32", "complex64", "float16", "bfloat16")
    names = {"c": ("complex128", "complex64"), "f": ("float64", "float32")}[factors.dtype.kind]
    return ops.mul(x, numpy.broadcast_to(factors.astype(names[is_single]), aval.shape))


def _first(x: Any) -> Any:
    inner = ops.rev(x[..., 1:-1], (get_aval(x).ndim - 1,))
    return ops.real(np.fft.rfft(np.concatenate([x, inner], axis=-1)))


def _order(size: int) -> Any:
    """Returns the even positions, then the odd ones reversed."""
    positions = numpy.arange(size)
    return numpy.concatenate([positions[::2], positions[1::2][::-1]])


def _quarters(size: int) -> Any:
    return 2 * numpy.exp(-0.5j * math.pi / size * numpy.arange(size))


def _second(x: Any) -> Any:
    size = get_aval(x).shape[-1]
    return ops.real(_times(np.fft.fft(x[..., _order(size)]), _quarters(size)))


def _third(x: Any) -> Any:
    size = get_aval(x).shape[-1]
    factors = _quarters(size)
    factors[0] = 1
    return ops.real(np.fft.fft(_times(x, factors)))[..., numpy.argsort(_order(size))]


def _fourth(x: Any) -> Any:
    size = get_aval(x).shape[-1]
    spectrum = np.fft.fft(_times(x, _quarters(size)), 2 * size)[..., :size]
    return ops.real(_times(spectrum, numpy.exp(-0.25j * math.pi / size * (2 * numpy.arange(size) + 1))))


_TRANSFORMS = {1: _first, 2: _second, 3: _third, 4: _fourth}
