"""Quaternions ``(x, y, z, w)`` of rotations, in the last dimension of arrays, and their other forms."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy

import lawful.numpy as np
from lawful import ops
from lawful.core import ArgumentValueError, get_aval
from lawful.numpy import linalg

#: The square of a tangent or an angle below which series are used, which derivatives at 0 need.
_SMALL = 1e-2


def product(p: Any, q: Any) -> Any:
    """Returns the quaternions of the rotations q followed by p."""
    v, a = p[..., :3], p[..., 3:]
    w, b = q[..., :3], q[..., 3:]
    real = a * b - np.sum(v * w, axis=-1, keepdims=True)
    return np.concatenate([a * w + b * v + np.cross(v, w), real], axis=-1)


def normalized(q: Any) -> Any:
    """Returns quaternions of length 1; zeros give NaN."""
    return q / np.sqrt(np.sum(np.square(q), axis=-1, keepdims=True))


def _series(coefficients: list[float], x: Any) -> Any:
    total: Any = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        total = coefficient + x * total
    return total


_HALF_COSINE = [(-0.25) ** k / math.factorial(2 * k) for k in range(7)]
_HALF_SINE = [0.5 * (-0.25) ** k / math.factorial(2 * k + 1) for k in range(7)]
_ARCTANGENT = [(-1.0) ** k / (2 * k + 1) for k in range(9)]


def of_rotation_vectors(vectors: Any) -> Any:
    """Returns the quaternions of vectors along the axis, as long as the angle in radians."""
    square = np.sum(np.square(vectors), axis=-1, keepdims=True)
    is_small = square < _SMALL
    angle = np.sqrt(ops.where(is_small, 1.0, square))
    inner = ops.where(is_small, square, 0.0)
    factor = ops.where(is_small, _series(_HALF_SINE, inner), np.sin(angle / 2) / angle)
    cosine = ops.where(is_small, _series(_HALF_COSINE, inner), np.cos(angle / 2))
    return np.concatenate([vectors * factor, cosine], axis=-1)


def to_rotation_vectors(q: Any) -> Any:
    """Returns the vectors along the axis, as long as the angle in radians, up to π."""
    q = canonical(q)
    v, w = q[..., :3], q[..., 3:]
    square = np.sum(np.square(v), axis=-1, keepdims=True)
    is_small = square < _SMALL * np.square(w)
    safe_w = ops.where(is_small, w, 1.0)
    inner = ops.where(is_small, square, 0.0) / np.square(safe_w)
    sine = np.sqrt(ops.where(is_small, 1.0, square))
    factor = ops.where(is_small, _series(_ARCTANGENT, inner) / safe_w, np.arctan2(sine, w) / sine)
    return 2 * factor * v


def magnitudes(q: Any) -> Any:
    """Returns the angles of rotation, from 0 to π."""
    return 2 * np.arctan2(linalg.norm(q[..., :3], axis=-1), np.abs(q[..., 3]))


def canonical(q: Any) -> Any:
    """Returns the quaternions of the same rotations whose last element that is not 0, w first, is positive."""
    x, y, z, w = (q[..., i] for i in range(4))
    first = ops.where(w != 0, w, ops.where(x != 0, x, ops.where(y != 0, y, z)))
    return ops.where(first[..., None] < 0, -q, q)


def to_matrices(q: Any) -> Any:
    """Returns the matrices of rotations."""
    x, y, z, w = (q[..., i] for i in range(4))
    rows = [
        [x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), -x * x + y * y - z * z + w * w, 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), -x * x - y * y + z * z + w * w],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def of_matrices(m: Any) -> Any:
    """Returns the quaternions of matrices of rotations.

    The largest of the diagonal and the trace says which of four formulas loses no digits. Source: Markley (2008), "Unit
    quaternion from rotation matrix".
    """
    diagonal = [m[..., i, i] for i in range(3)]
    trace = diagonal[0] + diagonal[1] + diagonal[2]
    turns = [m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]]
    candidates = []
    for i in range(3):
        parts = [m[..., i, j] + m[..., j, i] if i != j else 1 - trace + 2 * diagonal[i] for j in range(3)]
        candidates.append(np.stack([*parts, turns[i]], axis=-1))
    candidates.append(np.stack([*turns, 1 + trace], axis=-1))
    choice = np.argmax(np.stack([*diagonal, trace], axis=-1), axis=-1)[..., None]
    chosen = candidates[3]
    for i in range(3):
        chosen = ops.where(choice == i, candidates[i], chosen)
    return normalized(chosen)


def to_mrp(q: Any) -> Any:
    """Returns the modified Rodrigues parameters: vectors as long as the tangent of a quarter of the angle."""
    sign = ops.where(q[..., 3:] < 0, ops.convert_element_type(-1.0, get_aval(q).dtype), 1.0)
    return sign * q[..., :3] / (1 + sign * q[..., 3:])


def of_mrp(vectors: Any) -> Any:
    """Returns the quaternions of modified Rodrigues parameters."""
    square = np.sum(np.square(vectors), axis=-1, keepdims=True)
    return np.concatenate([2 * vectors, 1 - square], axis=-1) / (1 + square)


# Euler angles


def axes_of(name: str, seq: str, lengths: tuple[int, ...]) -> tuple[list[int], bool]:
    """Returns the axes of a sequence of letters, and whether they rotate with the body.

    Raises:
      ArgumentValueError: these are not one to three of ``"xyz"``, or of ``"XYZ"``, with neighbours that differ.
    """
    letters = str(seq)
    is_known = set(letters) <= set("xyz") or set(letters) <= set("XYZ")
    repeats = any(a == b for a, b in itertools.pairwise(letters))
    if not is_known or repeats or len(letters) not in lengths:
        raise ArgumentValueError(
            f"{name}: expected {' or '.join(map(str, lengths))} letters of 'xyz', or of 'XYZ' for axes of the body, "
            f"neighbours different, got {seq!r}"
        )
    return ["xyz".index(letter) for letter in letters.lower()], letters.isupper()


def of_euler_angles(axes: list[int], of_body: bool, angles: Any) -> Any:
    """Returns the quaternions of rotations around axes, by angles in the last dimension."""
    q: Any = None
    for i, axis in enumerate(axes):
        half = angles[..., i] / 2
        sine, zero = np.sin(half), ops.mul(half, 0)
        parts = [sine if j == axis else zero for j in range(3)]
        turn = np.stack([*parts, np.cos(half)], axis=-1)
        q = turn if q is None else product(q, turn) if of_body else product(turn, q)
    return q


def to_euler_angles(q: Any, axes: list[int], of_body: bool) -> Any:
    """Returns the angles of three rotations around axes, in the last dimension.

    Where the first and the last axis are parallel, only the sum of their angles is known, and the last one is 0.

    Source: Bernardes and Viollet (2022), "Quaternion to Euler angles conversion: A direct, general and computationally
    efficient method".
    """
    i, j, k = reversed(axes) if of_body else axes
    is_proper = i == k
    if is_proper:
        k = 3 - i - j
    sign = (i - j) * (j - k) * (k - i) // 2
    w, x, y, z = q[..., 3], q[..., i], q[..., j], q[..., k] * sign
    a, b, c, d = (w, x, y, z) if is_proper else (w - y, x + z, y + w, z - x)
    middle = 2 * np.arctan2(np.hypot(c, d), np.hypot(a, b))
    half_sum, half_difference = np.arctan2(b, a), np.arctan2(d, c)
    at_zero, at_pi = np.abs(middle) <= 1e-7, np.abs(middle - math.pi) <= 1e-7
    first, last = half_sum - half_difference, half_sum + half_difference
    if of_body:
        first, last = last, first
    alone = ops.where(at_zero, 2 * half_sum, 2 * half_difference * (1 if of_body else -1))
    is_known = ~(at_zero | at_pi)
    first, last = ops.where(is_known, first, alone), ops.where(is_known, last, 0.0)
    if not is_proper:
        first, last = (first * sign, last) if of_body else (first, last * sign)
        middle = middle - math.pi / 2
    angles = np.stack([first, middle, last], axis=-1)
    turn = 2 * math.pi
    return ops.where(angles < -math.pi, angles + turn, ops.where(angles > math.pi, angles - turn, angles))


def degrees_or_radians(angles: Any, degrees: bool) -> Any:
    """Returns angles in radians as degrees, if these are asked for."""
    return np.rad2deg(angles) if degrees else angles


def static_identity(num: int | None) -> Any:
    """Returns the quaternion of no rotation, or several of it."""
    q = numpy.array([0.0, 0.0, 0.0, 1.0])
    return q if num is None else numpy.tile(q, (num, 1))
