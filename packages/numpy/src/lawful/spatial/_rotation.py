"""``Rotation``: one or several rotations of space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import lawful.numpy as np
from lawful import ops, random, tree
from lawful.core import ArgumentTypeError, ArgumentValueError, get_aval
from lawful.numpy import linalg
from lawful.numpy.linalg._matrices import inexact
from lawful.ops import static_integers
from lawful.spatial import _quaternions as quaternions


@tree.register_node_class
class Rotation:
    """One or several rotations of three-dimensional space. It is a pytree of their quaternions.

    ``p * q`` is the rotation q followed by p; ``rotations[i]`` chooses of several ones. All methods differentiate,
    batch and compile. Angles are in radians unless degrees are asked for.

    Args:
      quat: quaternions ``(x, y, z, w)`` of length 1, of shape (4,) or (n, 4); see `from_quat` for others.

    Raises:
      ArgumentValueError: they have another shape.
      ArgumentTypeError: they are complex.

    Law: ``(p * q).apply(v) = p.apply(q.apply(v))``.

    >>> third = Rotation.from_rotvec(np.array([120.0, 120.0, 120.0]) / 3**0.5, degrees=True)
    >>> np.round(third.apply(np.array([1.0, 2.0, 3.0])), 12)
    array([3., 1., 2.])

    Source: ``scipy.spatial.transform.Rotation``.
    """

    quat: Any

    def __init__(self, quat: Any) -> None:
        self.quat = _real("Rotation", quat, (4,), (1, 2))

    # Forms

    @classmethod
    def from_quat(cls, quat: Any) -> Any:
        """Returns the rotations of quaternions ``(x, y, z, w)``, of shape (4,) or (n, 4), of any length but 0."""
        return cls(quaternions.normalized(_real("from_quat", quat, (4,), (1, 2))))

    @classmethod
    def from_matrix(cls, matrix: Any) -> Any:
        """Returns the rotations of orthogonal matrices, of shape (3, 3) or (n, 3, 3)."""
        return cls(quaternions.of_matrices(_real("from_matrix", matrix, (3, 3), (2, 3))))

    @classmethod
    def from_rotvec(cls, rotvec: Any, degrees: bool = False) -> Any:
        """Returns the rotations around vectors, of shape (3,) or (n, 3), by angles that are their lengths."""
        vectors = _real("from_rotvec", rotvec, (3,), (1, 2))
        return cls(quaternions.of_rotation_vectors(np.deg2rad(vectors) if degrees else vectors))

    @classmethod
    def from_mrp(cls, mrp: Any) -> Any:
        """Returns the rotations of modified Rodrigues parameters, of shape (3,) or (n, 3)."""
        return cls(quaternions.of_mrp(_real("from_mrp", mrp, (3,), (1, 2))))

    @classmethod
    def from_euler(cls, seq: str, angles: Any, degrees: bool = False) -> Any:
        """Returns the rotations around one to three axes after each other.

        Args:
          seq: the axes, as ``"xyz"``, or as ``"XYZ"`` for axes that rotate with the body.
          angles: of shape (m,) or (n, m) for m axes; for one axis also a scalar.
          degrees: whether they are in degrees.

        Raises:
          ArgumentValueError: there are no such axes, or not as many angles.
        """
        axes, of_body = quaternions.axes_of("from_euler", seq, (1, 2, 3))
        [angles] = inexact("from_euler", np.asarray(angles), linear_algebra=False)
        if len(axes) == 1 and not get_aval(angles).ndim:
            angles = np.reshape(angles, (1,))
        angles = _real("from_euler", angles, (len(axes),), (1, 2))
        return cls(quaternions.of_euler_angles(axes, of_body, np.deg2rad(angles) if degrees else angles))

    def as_quat(self, canonical: bool = False, scalar_first: bool = False) -> Any:
        """Returns the quaternions.

        Args:
          canonical: whether w is to be positive, or x if it is 0, and so on; of a rotation there are two quaternions.
          scalar_first: whether they are ``(w, x, y, z)``.
        """
        q = quaternions.canonical(self.quat) if canonical else self.quat
        return np.roll(q, 1, axis=-1) if scalar_first else q

    def as_matrix(self) -> Any:
        """Returns the matrices, of shape (3, 3) or (n, 3, 3)."""
        return quaternions.to_matrices(self.quat)

    def as_rotvec(self, degrees: bool = False) -> Any:
        """Returns vectors along the axes whose lengths are the angles, up to π."""
        return quaternions.degrees_or_radians(quaternions.to_rotation_vectors(self.quat), degrees)

    def as_mrp(self) -> Any:
        """Returns the modified Rodrigues parameters, whose lengths are at most 1."""
        return quaternions.to_mrp(self.quat)

    def as_euler(self, seq: str, degrees: bool = False) -> Any:
        """Returns the angles of rotations around three axes, of shape (3,) or (n, 3).

        The first and the last one are from -π to π. The middle one is from 0 to π where the first axis is the last one,
        and from -π/2 to π/2 otherwise. Where the first and the last axis are parallel, the last angle is 0.

        Args:
          seq: the axes, as for `from_euler`.
          degrees: whether the angles are in degrees.

        Raises:
          ArgumentValueError: there are no such axes.
        """
        axes, of_body = quaternions.axes_of("as_euler", seq, (3,))
        return quaternions.degrees_or_radians(quaternions.to_euler_angles(self.quat, axes, of_body), degrees)

    # Several rotations

    @classmethod
    def identity(cls, num: int | None = None, dtype: Any = float) -> Any:
        """Returns the rotation by 0, or several of it."""
        return cls(ops.convert_element_type(quaternions.static_identity(num), np.dtype(dtype)))

    @classmethod
    def random(cls, random_key: Any, num: int | None = None) -> Any:
        """Returns a rotation, or several, uniformly distributed; the key is one of `lawful.random`."""
        shape = (4,) if num is None else (*static_integers("random", "num", (num,)), 4)
        return cls.from_quat(random.normal(random_key, shape))

    @classmethod
    def concatenate(cls, rotations: Sequence[Rotation]) -> Any:
        """Returns the rotations of a sequence as one."""
        return cls(np.concatenate([np.atleast_2d(rotation.quat) for rotation in rotations], axis=0))

    @property
    def single(self) -> bool:
        """Whether it is one rotation, which has no length."""
        return get_aval(self.quat).ndim == 1

    def __len__(self) -> int:
        if self.single:
            raise ArgumentTypeError("Rotation: expected several rotations, got one, which has no length")
        return int(get_aval(self.quat).shape[0])

    def __getitem__(self, indexer: Any) -> Any:
        """Returns some of several rotations."""
        if self.single:
            raise ArgumentTypeError("Rotation: expected several rotations, got one, which has no elements")
        return type(self)(self.quat[indexer])

    # Operations of rotations

    def __mul__(self, other: Rotation) -> Any:
        """Returns the rotations of the other, followed by these."""
        return type(self)(quaternions.product(*_of_one_rank(self.quat, other.quat)))

    def apply(self, vectors: Any, inverse: bool = False) -> Any:
        """Returns rotated vectors.

        Args:
          vectors: of shape (3,) or (n, 3); one vector is rotated by all, one rotation applied to all.
          inverse: whether to rotate by the inverse.

        Raises:
          ArgumentValueError: they have another shape, or there are neither one nor as many as rotations.
        """
        matrices, vectors = inexact("apply", self.as_matrix(), _real("apply", vectors, (3,), (1, 2)))
        matrices = np.matrix_transpose(matrices) if inverse else matrices
        return np.sum(ops.mul(*np.broadcast_arrays(matrices, vectors[..., None, :])), axis=-1)

    def inv(self) -> Any:
        """Returns the inverses."""
        return type(self)(np.concatenate([-self.quat[..., :3], self.quat[..., 3:]], axis=-1))

    def magnitude(self) -> Any:
        """Returns the angles, from 0 to π."""
        return quaternions.magnitudes(self.quat)

    def mean(self, weights: Any = None) -> Any:
        """Returns the rotation from which the mean of the squared sines of half the angles to all is least.

        Args:
          weights: of shape (n,), none negative; all equal by default.

        Raises:
          ArgumentValueError: there are not as many weights as rotations.

        Source: Markley, Cheng, Crassidis and Oshman (2007), "Averaging quaternions".
        """
        q = np.atleast_2d(self.quat)
        weighted = q
        if weights is not None:
            weights = np.asarray(weights)
            if get_aval(weights).shape != get_aval(q).shape[:1]:
                raise ArgumentValueError(
                    f"mean: expected a weight for each of {get_aval(q).shape[0]} rotations, got {get_aval(weights)}"
                )
            weighted = q * weights[:, None]
        return type(self)(linalg.eigh(weighted.T @ q)[1][:, -1])

    # As a pytree

    def tree_flatten(self) -> tuple[Any, None]:
        """Returns the quaternions."""
        return (self.quat,), None

    @classmethod
    def tree_unflatten(cls, _: None, children: Any) -> Any:
        """Returns the rotations of quaternions, which may be any value."""
        rotation = object.__new__(cls)
        (rotation.quat,) = children
        return rotation

    def __repr__(self) -> str:
        return f"Rotation(quat={self.quat!r})"


def _real(name: str, x: Any, last: tuple[int, ...], ranks: tuple[int, ...]) -> Any:
    """Returns an array of floats, whose last dimensions and rank are checked."""
    [x] = inexact(name, np.asarray(x), linear_algebra=False)
    aval = get_aval(x)
    if aval.dtype.kind == "c":
        raise ArgumentTypeError(f"{name}: expected real numbers, got {aval}")
    if aval.ndim not in ranks or aval.shape[-len(last) :] != last:
        inner = ", ".join(map(str, last))
        raise ArgumentValueError(f"{name}: expected an array of shape ({inner}) or (n, {inner}), got {aval}")
    return x


def _of_one_rank(p: Any, q: Any) -> list[Any]:
    p, q = inexact("Rotation", p, q, linear_algebra=False)
    return list(np.broadcast_arrays(p, q))
