"""Iterations, in NumPy, that make Hessenberg matrices triangular."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_EPS = float(np.finfo(np.float64).eps)
# After so many steps without success a shift is made up.
_STUCK = 10
_MOST_STEPS_PER_ROW = 40


def make_triangular(h: Any, z: Any) -> None:
    """Makes a Hessenberg matrix in double precision upper triangular by similarities, and multiplies ``z`` by these.

    A real one becomes quasi-triangular: pairs of complex eigenvalues keep blocks of 2 × 2, with equal elements on the
    diagonal. The largest elements have to be about 1.

    Args:
      h: the matrix, which is overwritten.
      z: the unitary matrix by which its basis is given, which is overwritten.

    Raises:
      LinAlgError: the iteration does not converge.

    Source: Golub and Van Loan 2013, "Matrix Computations", algorithms 7.5.1 and 7.5.2.
    """
    is_real = h.dtype.kind == "f"
    norm = float(np.linalg.norm(h))
    last, steps, left = len(h) - 1, 0, _MOST_STEPS_PER_ROW * len(h)
    while last > 0:
        first = _split(h, last, norm)
        if first == last or (is_real and first == last - 1):
            if first < last:
                _standardize(h, z, first)
            last, steps = first - 1, 0
            continue
        if not left:
            raise np.linalg.LinAlgError("the QR iteration does not converge")
        steps, left = steps + 1, left - 1
        is_stuck = steps % _STUCK == 0
        if is_real:
            _step_of_two_shifts(h, z, first, last, is_stuck)
        else:
            _step_of_one_shift(h, z, first, last, is_stuck)


def _split(h: Any, last: int, norm: float) -> int:
    """Returns where the last block begins that is coupled; the element before it becomes 0."""
    diagonal = np.abs(np.diagonal(h)[: last + 1])
    size = diagonal[:-1] + diagonal[1:]
    small = np.abs(np.diagonal(h, -1)[:last]) <= _EPS * np.where(size == 0, norm, size)
    found = np.flatnonzero(small)
    if not len(found):
        return 0
    first = int(found[-1]) + 1
    h[first, first - 1] = 0
    return first


def _apply(h: Any, z: Any, matrix: Any, start: int, column: int, last: int) -> None:
    """Changes the basis of some rows and columns, where ``h`` is zero before a column and below a row."""
    stop = start + len(matrix)
    adjoint = np.conj(matrix.T)
    h[start:stop, column:] = matrix @ h[start:stop, column:]
    h[: last + 1, start:stop] = h[: last + 1, start:stop] @ adjoint
    z[:, start:stop] = z[:, start:stop] @ adjoint


# Complex matrices


def _step_of_one_shift(h: Any, z: Any, first: int, last: int, is_stuck: bool) -> None:
    shift = _shift(h, last, is_stuck)
    x, y = complex(h[first, first]) - shift, complex(h[first + 1, first])
    for k in range(first, last):
        length = math.hypot(abs(x), abs(y))
        if length:
            u, v = x / length, y / length
            rotation = np.array([[u.conjugate(), v.conjugate()], [-v, u]])
            _apply(h, z, rotation, k, max(k - 1, first), min(k + 2, last))
        if k > first:
            h[k + 1, k - 1] = 0
        if k < last - 1:
            x, y = complex(h[k + 1, k]), complex(h[k + 2, k])


def _shift(h: Any, last: int, is_stuck: bool) -> complex:
    """Returns the eigenvalue of the last block of 2 × 2 that is nearer to its last element."""
    a, b, c, d = (complex(x) for x in h[last - 1 : last + 1, last - 1 : last + 1].ravel())
    if is_stuck:
        return d + abs(c)
    half = (a - d) / 2
    root = (half * half + b * c) ** 0.5
    far = half + root if abs(half + root) >= abs(half - root) else half - root
    return d - b * c / far if far else d


# Real matrices


def _step_of_two_shifts(h: Any, z: Any, first: int, last: int, is_stuck: bool) -> None:
    x, y, w = _first_column(h, first, last, is_stuck)
    for k in range(first, last):
        count = min(3, last - k + 1)
        reflection = _reflection((x, y, w)[:count])
        if reflection is not None:
            _apply(h, z, reflection, k, max(k - 1, first), min(k + 3, last))
        if k > first:
            h[k + 1 : k + count, k - 1] = 0
        if k < last - 1:
            x, y = float(h[k + 1, k]), float(h[k + 2, k])
            w = float(h[k + 3, k]) if k < last - 2 else 0.0


def _first_column(h: Any, first: int, last: int, is_stuck: bool) -> tuple[float, float, float]:
    """Returns a multiple of the first column of ``(h − s)(h − t)``, for both eigenvalues of the last block."""
    a, b, c, d = (float(x) for x in h[first : first + 2, first : first + 2].ravel())
    e = float(h[first + 2, first + 1])
    p, q, r, s = (float(x) for x in h[last - 1 : last + 1, last - 1 : last + 1].ravel())
    scale = max(map(abs, (a, b, c, d, e, p, q, r, s)))
    a, b, c, d, e, p, q, r, s = (x / scale for x in (a, b, c, d, e, p, q, r, s))
    total, product = p + s, p * s - q * r
    if is_stuck:
        size = abs(r) + abs(float(h[last - 1, last - 2])) / scale
        total, product = 1.5 * size, size * size
    return a * a + b * c - total * a + product, c * (a + d - total), c * e


def _reflection(x: tuple[float, ...]) -> Any:
    """Returns the symmetric matrix that maps a vector to a multiple of the first unit vector; None for one of zeros."""
    largest = max(map(abs, x))
    if not largest:
        return None
    v = [value / largest for value in x]
    v[0] += math.copysign(math.sqrt(sum(value * value for value in v)), v[0])
    factor = 2 / sum(value * value for value in v)
    return np.array([[(i == j) - factor * s * t for j, t in enumerate(v)] for i, s in enumerate(v)])


def _standardize(h: Any, z: Any, k: int) -> None:
    """Rotates a block of 2 × 2: to a triangle for real eigenvalues, to equal diagonal elements for complex ones."""
    a, b, c, d = (float(x) for x in h[k : k + 2, k : k + 2].ravel())
    if c == 0 or (a == d and b * c < 0):
        return
    _rotate(h, z, k, math.atan2(d - a, b + c) / 2)
    h[k, k] = h[k + 1, k + 1] = (h[k, k] + h[k + 1, k + 1]) / 2
    b, c = float(h[k, k + 1]), float(h[k + 1, k])
    if not b * c < 0:  # the eigenvector of one of two real eigenvalues becomes the first vector of the basis
        _rotate(h, z, k, math.atan2(math.copysign(math.sqrt(abs(c)), b), math.sqrt(abs(b))))
        h[k + 1, k] = 0


def _rotate(h: Any, z: Any, k: int, angle: float) -> None:
    cosine, sine = math.cos(angle), math.sin(angle)
    _apply(h, z, np.array([[cosine, sine], [-sine, cosine]]), k, k, k + 1)
