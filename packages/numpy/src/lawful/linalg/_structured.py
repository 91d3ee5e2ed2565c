"""Matrices of special structure."""

from __future__ import annotations

import math
from typing import Any

import numpy

import lawful.numpy as np
from lawful.core import ArgumentValueError, get_aval
from lawful.special._arguments import inexact


def block_diag(*arrs: Any) -> Any:
    """Returns the matrix with some matrices along its diagonal, and zeros elsewhere.

    >>> block_diag(np.array([[1, 2]]), 3)
    array([[1, 2, 0],
           [0, 0, 3]])

    Source: ``scipy.linalg.block_diag``.
    """
    blocks = [np.atleast_2d(a) for a in (arrs or (np.zeros((1, 0)),))]
    if any(get_aval(block).ndim > 2 for block in blocks):
        raise ArgumentValueError(f"block_diag: expected matrices, got {[get_aval(block) for block in blocks]}")
    dtype = np.result_type(*blocks)
    widths = [get_aval(block).shape[1] for block in blocks]
    rows = []
    for i, block in enumerate(blocks):
        height = get_aval(block).shape[0]
        before, after = (np.zeros((height, sum(part)), dtype) for part in (widths[:i], widths[i + 1 :]))
        rows.append(np.concatenate([before, block.astype(dtype), after], axis=1))
    return np.concatenate(rows, axis=0)


def toeplitz(c: Any, r: Any = None) -> Any:
    """Returns the matrices that are constant along diagonals.

    Args:
      c: the first column, of shape (…, m).
      r: the first row, whose first element is not read; the conjugate of ``c`` if None.

    >>> toeplitz(np.array([1, 2, 3]), np.array([1, 8]))
    array([[1, 8],
           [2, 1],
           [3, 2]])

    Source: ``scipy.linalg.toeplitz``.
    """
    c = np.atleast_1d(c)
    r = np.conj(c) if r is None else np.atleast_1d(r)
    batch = np.broadcast_shapes(get_aval(c).shape[:-1], get_aval(r).shape[:-1])
    c, r = (np.broadcast_to(x, (*batch, get_aval(x).shape[-1])) for x in (c, r))
    rows, columns = get_aval(c).shape[-1], get_aval(r).shape[-1]
    if not rows or not columns:
        return np.zeros((*batch, rows, columns), np.result_type(c, r))
    elements = np.concatenate([np.flip(c, -1), r[..., 1:]], axis=-1)
    return elements[..., numpy.arange(columns) - numpy.arange(rows)[:, None] + rows - 1]


def hankel(c: Any, r: Any = None) -> Any:
    """Returns the matrices that are constant along antidiagonals.

    Args:
      c: the first column, of shape (…, m).
      r: the last row, whose first element is not read; zeros if None.

    >>> hankel(np.array([1, 2, 3]), np.array([3, 8]))
    array([[1, 2],
           [2, 3],
           [3, 8]])

    Source: ``scipy.linalg.hankel``.
    """
    c = np.atleast_1d(c)
    r = np.zeros_like(c) if r is None else np.atleast_1d(r)
    batch = np.broadcast_shapes(get_aval(c).shape[:-1], get_aval(r).shape[:-1])
    c, r = (np.broadcast_to(x, (*batch, get_aval(x).shape[-1])) for x in (c, r))
    rows, columns = get_aval(c).shape[-1], get_aval(r).shape[-1]
    positions = numpy.arange(rows)[:, None] + numpy.arange(columns)
    return np.concatenate([c, r[..., 1:]], axis=-1)[..., positions]


def circulant(c: Any) -> Any:
    """Returns the matrices whose columns are those before them, rotated; the first is ``c``.

    >>> circulant(np.array([1, 2, 3]))
    array([[1, 3, 2],
           [2, 1, 3],
           [3, 2, 1]])

    Source: ``scipy.linalg.circulant``.
    """
    c = np.atleast_1d(c)
    size = get_aval(c).shape[-1]
    return c[..., (numpy.arange(size)[:, None] - numpy.arange(size)) % max(size, 1)]


def companion(a: Any) -> Any:
    """Returns the matrices whose eigenvalues are the roots of polynomials, the highest coefficient first.

    Raises:
      ArgumentValueError: there are fewer than two coefficients.

    >>> companion(np.array([1.0, -5.0, 6.0]))
    array([[ 5., -6.],
           [ 1.,  0.]])

    Source: ``scipy.linalg.companion``.
    """
    a = np.atleast_1d(a)
    size = get_aval(a).shape[-1] - 1
    if size < 1:
        raise ArgumentValueError(f"companion: expected at least two coefficients, got {get_aval(a)}")
    first = (-a[..., 1:] / a[..., :1])[..., None, :]
    below = np.eye(size - 1, size, dtype=get_aval(first).dtype)
    below = np.broadcast_to(below, (*get_aval(a).shape[:-1], size - 1, size))
    return np.concatenate([first, below], axis=-2)


def convolution_matrix(a: Any, n: int, mode: str = "full") -> Any:
    """Returns the matrices whose product with a vector of length ``n`` is its convolution with ``a``, of shape (…, m).

    Raises:
      ArgumentValueError: the mode is none of ``"full"``, ``"same"`` and ``"valid"``, or a length is 0.

    >>> convolution_matrix(np.array([1, 2]), 3)
    array([[1, 0, 0],
           [2, 1, 0],
           [0, 2, 1],
           [0, 0, 2]])

    Source: ``scipy.linalg.convolution_matrix``.
    """
    a = np.atleast_1d(a)
    size = get_aval(a).shape[-1]
    if mode not in ("full", "same", "valid") or n < 1 or not size:
        raise ArgumentValueError(
            f"convolution_matrix: expected the mode 'full', 'same' or 'valid' and lengths of at least 1, got {mode!r}, "
            f"{get_aval(a)} and n={n}"
        )
    zeros = np.zeros((*get_aval(a).shape[:-1], n - 1), get_aval(a).dtype)
    whole = toeplitz(np.concatenate([a, zeros], axis=-1), np.concatenate([a[..., :1], zeros], axis=-1))
    lengths = {"full": size + n - 1, "same": max(size, n), "valid": max(size, n) - min(size, n) + 1}
    start = (size + n - 1 - lengths[mode]) // 2
    return whole[..., start : start + lengths[mode], :]


def dft(n: int, scale: str | None = None) -> Any:
    """Returns the matrix of the discrete Fourier transform, divided by ``n`` or its root with a scale.

    Raises:
      ArgumentValueError: the scale is none of None, ``"sqrtn"`` and ``"n"``.

    >>> dft(2).real
    array([[ 1.,  1.],
           [ 1., -1.]])

    Source: ``scipy.linalg.dft``.
    """
    if scale not in (None, "sqrtn", "n"):
        raise ArgumentValueError(f"dft: expected the scale None, 'sqrtn' or 'n', got {scale!r}")
    indices = numpy.arange(n)
    matrix = numpy.exp(-2j * math.pi / max(n, 1) * (indices[:, None] * indices % max(n, 1)))
    return np.asarray(matrix / {None: 1, "sqrtn": math.sqrt(n), "n": n}[scale])


def fiedler(a: Any) -> Any:
    """Returns the matrices of absolute differences of the elements of vectors.

    >>> fiedler(np.array([1, 4, 6]))
    array([[0, 3, 5],
           [3, 0, 2],
           [5, 2, 0]])

    Source: ``scipy.linalg.fiedler``.
    """
    a = np.atleast_1d(a)
    return np.abs(a[..., :, None] - a[..., None, :])


def fiedler_companion(a: Any) -> Any:
    """Returns the pentadiagonal matrices whose eigenvalues are the roots of polynomials.

    Args:
      a: the coefficients, an array of shape (…, n + 1), the highest one first, which is not 0.

    Returns:
      An array of shape (…, n, n).

    Raises:
      ArgumentValueError: there are no coefficients.

    >>> fiedler_companion(np.array([1.0, 2.0, 3.0, 4.0]))
    array([[-2., -3.,  1.],
           [ 1.,  0.,  0.],
           [ 0., -4.,  0.]])

    Source: ``scipy.linalg.fiedler_companion``; Fiedler 2003, "A note on companion matrices",
    https://doi.org/10.1016/S0024-3795(03)00548-2.
    """
    a = inexact("fiedler_companion", np.atleast_1d(a))
    size = get_aval(a).shape[-1] - 1
    if size < 0:
        raise ArgumentValueError(f"fiedler_companion: expected at least one coefficient, got {get_aval(a)}; add one")
    row, column = numpy.indices((size, size))
    is_even = row % 2 == 0
    # The even rows hold two coefficients, beside the diagonal, of the numbers row + 1 and row + 2.
    first = is_even & (column == numpy.maximum(row - 1, 0))
    second = is_even & (column == row + 1)
    ones = (is_even & (column == row + 2)) | (~is_even & (column == numpy.maximum(row - 2, 0)))
    number = numpy.where(first, row + 1, numpy.where(second, row + 2, 0))
    quotients = -a / a[..., :1]
    return np.where(first | second, quotients[..., number], ones.astype(get_aval(a).dtype))


def hadamard(n: int, dtype: Any = int) -> Any:
    """Returns the Hadamard matrix of Sylvester's construction.

    Raises:
      ArgumentValueError: ``n`` is no power of 2.

    >>> hadamard(4)
    array([[ 1,  1,  1,  1],
           [ 1, -1,  1, -1],
           [ 1,  1, -1, -1],
           [ 1, -1, -1,  1]])

    Source: ``scipy.linalg.hadamard``.
    """
    if n < 1 or n & (n - 1):
        raise ArgumentValueError(f"hadamard: expected a power of 2, got {n}")
    indices = numpy.arange(n)
    return np.asarray(1 - 2 * (numpy.bitwise_count(indices[:, None] & indices) % 2).astype(int)).astype(dtype)


def helmert(n: int, full: bool = False) -> Any:
    """Returns the Helmert matrix, without its first row unless ``full``.

    Raises:
      ArgumentValueError: ``n`` is less than 1.

    >>> helmert(3, full=True).round(3)
    array([[ 0.577,  0.577,  0.577],
           [ 0.707, -0.707,  0.   ],
           [ 0.408,  0.408, -0.816]])

    Source: ``scipy.linalg.helmert``.
    """
    if n < 1:
        raise ArgumentValueError(f"helmert: expected n of at least 1, got {n}")
    rows = numpy.arange(n)[:, None]
    matrix = numpy.tril(numpy.ones((n, n)), -1) - numpy.diag(numpy.arange(n))
    lengths = rows * (rows + 1.0)
    matrix[:1], lengths[:1] = 1, n
    matrix = matrix / numpy.sqrt(lengths)
    return np.asarray(matrix if full else matrix[1:])


def hilbert(n: int) -> Any:
    """Returns the matrix of the elements ``1 / (i + j + 1)``.

    >>> hilbert(2).round(3)
    array([[1.   , 0.5  ],
           [0.5  , 0.333]])

    Source: ``scipy.linalg.hilbert``.
    """
    indices = numpy.arange(n)
    return np.asarray(1.0 / (indices[:, None] + indices + 1))


def invhilbert(n: int) -> Any:
    """Returns the inverse of the Hilbert matrix, exact where float64 has its integers.

    >>> invhilbert(2)
    array([[ 4., -6.],
           [-6., 12.]])

    Source: ``scipy.linalg``.
    """

    def element(i: int, j: int) -> float:
        return float(
            (-1) ** (i + j) * (i + j + 1) * math.comb(n + i, n - j - 1) * math.comb(n + j, n - i - 1)
            * math.comb(i + j, i) ** 2
        )  # fmt: skip

    return np.asarray(numpy.array([[element(i, j) for j in range(n)] for i in range(n)]).reshape(n, n))


def invpascal(n: int, kind: str | None = None) -> Any:
    """Returns the inverse of what `pascal` gives, exact where float64 has its integers.

    Raises:
      ArgumentValueError: the kind is none of None, ``"symmetric"``, ``"lower"`` and ``"upper"``.

    >>> invpascal(3, "lower")
    array([[ 1.,  0.,  0.],
           [-1.,  1.,  0.],
           [ 1., -2.,  1.]])

    Source: ``scipy.linalg.invpascal``.
    """
    _check_pascal("invpascal", kind)
    lower = [[(-1) ** (i + j) * math.comb(i, j) for j in range(n)] for i in range(n)]
    if kind == "lower":
        rows = lower
    elif kind == "upper":
        rows = [list(column) for column in zip(*lower, strict=True)]
    else:  # the inverse of L Lᵀ
        rows = [[sum(lower[k][i] * lower[k][j] for k in range(max(i, j), n)) for j in range(n)] for i in range(n)]
    return np.asarray(numpy.array(rows, float).reshape(n, n))


def leslie(f: Any, s: Any) -> Any:
    """Returns the matrix of a population: fecundities in the first row, survivals below the diagonal.

    Raises:
      ArgumentValueError: there is no survival, or not one fewer than fecundities.

    >>> leslie(np.array([0.0, 2.0, 1.0]), np.array([0.5, 0.25]))
    array([[0.  , 2.  , 1.  ],
           [0.5 , 0.  , 0.  ],
           [0.  , 0.25, 0.  ]])

    Source: ``scipy.linalg.leslie``.
    """
    if get_aval(f).shape[-1] != get_aval(s).shape[-1] + 1 or not get_aval(s).shape[-1]:
        raise ArgumentValueError(
            f"leslie: expected at least two fecundities and one survival fewer, got {get_aval(f)} and {get_aval(s)}"
        )
    dtype = np.result_type(f, s)
    size = get_aval(f).shape[-1]
    survivals = np.eye(size - 1, size, dtype=dtype) * s[..., :, None]
    return np.concatenate([np.asarray(f)[..., None, :].astype(dtype), survivals.astype(dtype)], axis=-2)


def pascal(n: int, kind: str | None = None) -> Any:
    """Returns the matrix of binomial coefficients: symmetric, or its lower or upper triangular factor.

    Raises:
      ArgumentValueError: the kind is none of None, ``"symmetric"``, ``"lower"`` and ``"upper"``.

    >>> pascal(3)
    array([[1., 1., 1.],
           [1., 2., 3.],
           [1., 3., 6.]])

    Source: ``scipy.linalg.pascal``.
    """
    _check_pascal("pascal", kind)
    lower = numpy.array([[math.comb(i, j) for j in range(n)] for i in range(n)], float).reshape(n, n)
    return np.asarray({"lower": lower, "upper": lower.T}.get(kind or "", lower @ lower.T))


def _check_pascal(name: str, kind: str | None) -> None:
    if kind not in (None, "symmetric", "lower", "upper"):
        raise ArgumentValueError(f"{name}: expected the kind 'symmetric', 'lower' or 'upper', got {kind!r}")
