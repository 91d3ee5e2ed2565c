"""Discrete Fourier transforms over the last dimensions of an array, of complex and of real signals."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    Call,
    Choose,
    Declaration,
    JaxprEqn,
    Primitive,
    ShapedArray,
    Unequal,
    Zero,
    get_aval,
    is_float,
)
from lawful.ops._elementwise.arithmetic.arithmetic import mul
from lawful.ops._elementwise.complex_parts import conj
from lawful.ops._shape.joining import pad
from lawful.ops._shape.reshape import broadcast_in_dim
from lawful.ops._support.batch_dimensions import move_batch_dim
from lawful.ops._support.dtypes import COMPLEX_OF, REAL_OF
from lawful.ops._support.promotion import convert
from lawful.ops._support.structural import Shape, apply_to_tangents, static_integers

__all__ = ["FftType", "fft", "fft_p"]

fft_p = Primitive("fft", pure_rules=True)

_MOST_DIMENSIONS = 3  # of one transform, in XLA


class FftType(enum.IntEnum):
    """Which transform: ``FftType.FFT`` is the same as ``"FFT"`` and ``"fft"``.

    >>> fft(np.array([1.0, 0.0, 0.0, 0.0]), FftType.RFFT, 4)
    array([1.+0.j, 1.+0.j, 1.+0.j])
    """

    FFT = 0
    IFFT = 1
    RFFT = 2
    IRFFT = 3


def fft(x: Any, fft_type: FftType | str, fft_lengths: Any) -> Any:
    """Returns the discrete Fourier transform of the last dimensions of an array.

    The transforms are not normalized, their inverses are divided by the product of the lengths, as in ``numpy.fft``.

    Args:
      x: an array, ``f[..., *lengths]`` for ``"RFFT"``, ``c[..., *lengths]`` for ``"FFT"`` and ``"IFFT"``, and
        ``c[..., *lengths[:-1], lengths[-1] // 2 + 1]`` for ``"IRFFT"``, in which the imaginary part of what has to be
        real, after the inverse transforms of the other dimensions, is ignored. Other dtypes are converted: integers
        to 64 bits of float, floats of fewer than 32 bits to 32, and reals to complex numbers where these are needed.
      fft_type: ``"FFT"``, ``"IFFT"``, ``"RFFT"`` or ``"IRFFT"``, or a `FftType`.
      fft_lengths: the lengths of the transformed dimensions of the complex (``"FFT"``, ``"IFFT"``) or real signal,
        each at least 1. For none of them the array is returned.

    Raises:
      ArgumentTypeError: there is no such transform of this dtype, or ``fft_type`` is not a type of transform.
      ArgumentValueError: there is no transform of this name, or the lengths do not fit the array.

    Laws: ``fft(fft(x, "FFT", n), "IFFT", n) = x``; the transform is linear, and ``"FFT"`` is its own transpose.

    >>> fft(np.array([1.0, 0.0, 0.0, 0.0]), "RFFT", (4,))
    array([1.+0.j, 1.+0.j, 1.+0.j])

    Source: ``jax.lax.fft``, which has no transforms of more than three dimensions.
    """
    transform = _canonical_type(fft_type)
    lengths = static_integers("fft", "fft_lengths", fft_lengths)
    x = convert(x, _operand_dtype(get_aval(x), transform))
    if not lengths:
        return x
    _infer(get_aval(x).shape, transform, lengths)
    inner = lengths[-_MOST_DIMENSIONS:]
    outer = lengths[:-_MOST_DIMENSIONS]
    if transform != "IRFFT":
        x = fft_p.bind(x, fft_type=transform, fft_lengths=inner)
    ndim = get_aval(x).ndim
    for axis, length in enumerate(outer, start=ndim - len(lengths)):
        moved = move_batch_dim(x, axis, ndim - 1)
        moved = fft_p.bind(moved, fft_type="IFFT" if transform[0] == "I" else "FFT", fft_lengths=(length,))
        x = move_batch_dim(moved, ndim - 1, axis)
    return fft_p.bind(x, fft_type=transform, fft_lengths=inner) if transform == "IRFFT" else x


def _canonical_type(fft_type: Any) -> str:
    if isinstance(fft_type, FftType):
        return fft_type.name
    if not isinstance(fft_type, str):
        raise ArgumentTypeError(f"fft: expected a type of transform as fft_type, got {fft_type!r}; give 'FFT'")
    if fft_type.upper() not in FftType.__members__:
        raise ArgumentValueError(
            f"fft: expected a fft_type of {', '.join(map(repr, FftType.__members__))}, got {fft_type!r}; give one"
        )
    return fft_type.upper()


def _operand_dtype(aval: ShapedArray, fft_type: str) -> np.dtype[Any]:
    dtype = aval.dtype
    if dtype.kind == "c":
        if fft_type == "RFFT":
            raise ArgumentTypeError(
                f"fft: expected a real array for RFFT, got {aval}; take its real part, or use FFT, which is of complex "
                "arrays"
            )
        return dtype
    if is_float(dtype):
        real = np.dtype(np.float32) if dtype.itemsize < 8 else dtype
    else:
        real = np.dtype(np.float64)
    return real if fft_type == "RFFT" else COMPLEX_OF[real]


def _infer(shape: Shape, fft_type: str, lengths: Shape) -> Shape:
    """Returns the shape of a transform.

    Raises:
      ArgumentValueError: the lengths do not fit the shape.
    """
    if any(length < 1 for length in lengths):
        raise ArgumentValueError(f"fft: expected lengths of at least 1, got fft_lengths={lengths}; pad the signal")
    batch = shape[: len(shape) - len(lengths)]
    spectrum = (*lengths[:-1], lengths[-1] // 2 + 1)
    expected = (*batch, *(spectrum if fft_type == "IRFFT" else lengths))
    if len(lengths) > len(shape) or shape != expected:
        raise ArgumentValueError(
            f"fft: expected an array whose last dimensions are {expected[len(batch) :]} for {fft_type} with "
            f"fft_lengths={lengths}, got the shape {shape}; slice or pad it to them"
        )
    return (*batch, *(spectrum if fft_type == "RFFT" else lengths))


# Evaluation and typing


@fft_p.def_impl
def _impl(x: Any, *, fft_type: str, fft_lengths: Shape) -> Any:
    axes = range(-len(fft_lengths), 0)
    if not np.size(x):
        aval = _abstract_eval(get_aval(x), fft_type=fft_type, fft_lengths=fft_lengths)
        return np.zeros(aval.shape, aval.dtype)
    transforms: dict[str, Callable[..., Any]] = {
        "FFT": np.fft.fftn,
        "IFFT": np.fft.ifftn,
        "RFFT": np.fft.rfftn,
        "IRFFT": np.fft.irfftn,
    }
    return transforms[fft_type](x, fft_lengths, axes)


@fft_p.def_abstract_eval
def _abstract_eval(x: ShapedArray, *, fft_type: str, fft_lengths: Shape) -> ShapedArray:
    if not 1 <= len(fft_lengths) <= _MOST_DIMENSIONS:
        raise ArgumentTypeError(
            f"fft_p: expected one to {_MOST_DIMENSIONS} lengths, got fft_lengths={fft_lengths}; call lawful.ops.fft"
        )
    dtypes = COMPLEX_OF if fft_type == "RFFT" else REAL_OF
    if x.dtype not in dtypes:
        raise ArgumentTypeError(
            f"fft_p: expected an array of dtype {' or '.join(map(str, dtypes))} for {fft_type}, got {x}; "
            "call lawful.ops.fft, which converts"
        )
    dtype = x.dtype if fft_type in ("FFT", "IFFT") else dtypes[x.dtype]
    return ShapedArray(_infer(x.shape, fft_type, fft_lengths), dtype)


# Derivatives

apply_to_tangents(fft_p)


@fft_p.def_transpose
def _transpose(ct: Any, x: Any, *, fft_type: str, fft_lengths: Shape) -> list[Any]:
    if type(ct) is Zero:
        return [Zero(x.aval)]
    size = math.prod(fft_lengths)
    if fft_type == "RFFT":
        # The transpose counts each frequency once; the inverse transform counts all but the first and last twice.
        halved = mul(conj(ct), _multiplicities(x.aval.dtype, fft_lengths[-1], 0.5))
        return [mul(fft_p.bind(halved, fft_type="IRFFT", fft_lengths=fft_lengths), float(size))]
    if fft_type == "IRFFT":
        spectrum = fft_p.bind(ct, fft_type="RFFT", fft_lengths=fft_lengths)
        weights = _multiplicities(get_aval(ct).dtype, fft_lengths[-1], 2.0)
        return [conj(mul(mul(spectrum, weights), 1 / size))]
    return [fft_p.bind(ct, fft_type=fft_type, fft_lengths=fft_lengths)]


def _multiplicities(dtype: np.dtype[Any], length: int, inner: float) -> Any:
    """Returns ``inner`` for the frequencies of a real signal that represent two of the whole spectrum, else 1.

    The first, and for an even length the last, represent only themselves.
    """
    is_even = 1 - length % 2
    twice = broadcast_in_dim(dtype.type(inner), (length // 2 - is_even,), ())
    return pad(twice, dtype.type(1), ((1, is_even, 0),))


# Batching


@fft_p.def_batch
def _batch(args: Sequence[Any], dims: Sequence[int], *, fft_lengths: Shape, **params: Any) -> tuple[Any, int]:
    (x,), (dim,) = args, dims
    if dim >= get_aval(x).ndim - len(fft_lengths):
        x, dim = move_batch_dim(x, dim), 0
    return fft_p.bind(x, fft_lengths=fft_lengths, **params), dim


# Lowering


@fft_p.def_lowering
def _lower(ctx: Any, x: Any, *, fft_type: str, fft_lengths: Shape) -> Any:
    (out,) = ctx.avals_out
    if not out.size:
        return ctx.zeros(out)
    if ctx.platform != "cpu" and fft_type == "IRFFT" and len(fft_lengths) > 1:
        return _lower_by_dimension(ctx, x, fft_lengths)
    return _hlo_fft(ctx, x, fft_type, fft_lengths)


def _lower_by_dimension(ctx: Any, x: Any, fft_lengths: Shape) -> Any:
    """Inverts the outer dimensions first: for several at once cuFFT requires symmetric input, NumPy does not."""
    ndim, first = ctx.avals_in[0].ndim, ctx.avals_in[0].ndim - len(fft_lengths)
    last_in_front = [*range(first), ndim - 1, *range(first, ndim - 1)]
    x = ctx.hlo.transpose(x, ctx.i64_array(last_in_front))
    x = _hlo_fft(ctx, x, "IFFT", fft_lengths[:-1])
    x = ctx.hlo.transpose(x, ctx.i64_array([*range(first), *range(first + 1, ndim), first]))
    return _hlo_fft(ctx, x, "IRFFT", fft_lengths[-1:])


def _hlo_fft(ctx: Any, x: Any, fft_type: str, fft_lengths: Shape) -> Any:
    return ctx.hlo.fft(x, ctx.hlo.FftTypeAttr.get(fft_type), ctx.i64_array(fft_lengths))


# Declaration


def _sample(choose: Choose) -> Call:
    fft_type = choose.one_of(tuple(FftType.__members__))
    *batch, last = choose.shape(min_ndim=1)
    transformed = choose.integer(0, min(len(batch), _MOST_DIMENSIONS - 1))
    lengths = tuple(max(size, 1) for size in (*batch[len(batch) - transformed :], last))
    shape = (*batch[: len(batch) - transformed], *lengths)
    if fft_type == "IRFFT":
        # A spectrum of this size belongs to an odd and to an even signal.
        size = 2 * lengths[-1] - choose.integer(1, 2)
        lengths = (*lengths[:-1], max(size, 1))
    dtype = choose.dtype("f" if fft_type == "RFFT" else "c")
    if fft_type == "RFFT" and dtype not in COMPLEX_OF:
        dtype = np.dtype(np.float32)
    return (ShapedArray(shape, dtype),), {"fft_type": fft_type, "fft_lengths": lengths}


def _reference(x: Any, *, fft_type: str, fft_lengths: Shape) -> Any:
    """Computes the transform by products with the matrix of roots of unity, one dimension after the other."""
    x = np.asarray(x)
    if not np.all(np.isfinite(x)):  # a sum with infinities depends on its order
        return _impl(x, fft_type=fft_type, fft_lengths=fft_lengths)
    dtype = x.dtype if fft_type in ("FFT", "IFFT") else (COMPLEX_OF | REAL_OF)[x.dtype]
    first = x.ndim - len(fft_lengths)
    y = x.astype(np.complex128)
    for axis, length in enumerate(fft_lengths, start=first):
        k = np.arange(length)
        inverse = fft_type[0] == "I"
        matrix = np.exp((2j if inverse else -2j) * np.pi * (np.outer(k, k) % length) / length)
        matrix = matrix / length if inverse else matrix
        if axis == x.ndim - 1 and fft_type == "RFFT":
            matrix = matrix[:, : length // 2 + 1]
        elif axis == x.ndim - 1 and fft_type == "IRFFT":
            once = np.pad(np.full(length // 2 - 1 + length % 2, 2), (1, 1 - length % 2), constant_values=1)
            matrix = once[:, None] * matrix[: length // 2 + 1]
        y = np.moveaxis(np.tensordot(y, matrix, (axis, 0)), -1, axis)
    return (y.real if fft_type == "IRFFT" else y).astype(dtype)


def _may_overflow(x: Any, **_: Any) -> bool:
    parts = np.array([x.real, x.imag])
    return not (np.abs(parts) < np.sqrt(np.finfo(x.dtype).max)).all()


fft_p.declaration = Declaration(
    sample=_sample,
    reference=_reference,
    kinds="fc",
    linear=((0,),),
    unequal=(Unequal("", _may_overflow, "the order of the sums decides which of them are infinite or NaN"),),
)


@fft_p.def_rule_as("operations")
def _operations(eqn: JaxprEqn) -> int:
    """Returns ``5 n log2(n)`` for each transform; half of it where one side is real."""
    size = max(eqn.invars[0].aval.size, eqn.outvars[0].aval.size)
    points = math.prod(eqn.params["fft_lengths"])
    half = 2 if any(atom.aval.dtype.kind == "f" for atom in (eqn.invars[0], eqn.outvars[0])) else 1
    return round(5 * size * math.log2(max(points, 2))) // half
