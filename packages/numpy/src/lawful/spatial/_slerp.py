"""``Slerp``: interpolation between rotations."""

from __future__ import annotations

from typing import Any

import numpy

import lawful.numpy as np
from lawful import tree
from lawful.core import ArgumentValueError, Tracer, get_aval
from lawful.numpy.linalg._matrices import inexact
from lawful.spatial import _quaternions as quaternions
from lawful.spatial._rotation import Rotation


@tree.register_node_class
class Slerp:
    """A function of time that turns from each rotation to the next around one axis, with a constant speed.

    Calling it with times, a scalar or of shape (m,), returns a `Rotation`. Before the first and after the last time it
    turns on. It is a pytree of the times and the rotations.

    Args:
      times: increasing, at least two, of shape (n,); traced ones are not checked.
      rotations: as many.

    Raises:
      ArgumentValueError: they are not increasing, or there are not as many rotations.

    >>> turns = Slerp(np.array([0.0, 1.0]), Rotation.from_euler("z", np.array([[0.0], [90.0]]), degrees=True))
    >>> turns(0.5).as_euler("xyz", degrees=True)
    array([ 0.,  0., 45.])

    Source: ``scipy.spatial.transform.Slerp``; Shoemake (1985), "Animating rotation with quaternion curves".
    """

    times: Any
    rotations: Any

    def __init__(self, times: Any, rotations: Rotation) -> None:
        [times] = inexact("Slerp", np.asarray(times), linear_algebra=False)
        shape = get_aval(times).shape
        if len(shape) != 1 or shape[0] < 2 or rotations.single or len(rotations) != shape[0]:
            raise ArgumentValueError(
                f"Slerp: expected at least two times and as many rotations, got {get_aval(times)} and the quaternions "
                f"{get_aval(rotations.quat)}"
            )
        if not isinstance(times, Tracer) and not numpy.all(numpy.diff(numpy.asarray(times)) > 0):
            raise ArgumentValueError(f"Slerp: expected increasing times, got {times}; sort them, with the rotations")
        self.times, self.rotations = times, rotations

    @classmethod
    def init(cls, times: Any, rotations: Rotation) -> Any:
        """Returns the function of such times and rotations, as calling the class does."""
        return cls(times, rotations)

    @property
    def timedelta(self) -> Any:
        """The differences of the times."""
        return np.diff(self.times)

    @property
    def rotvecs(self) -> Any:
        """The rotations from each one to the next, as vectors along their axes."""
        q = self.rotations.quat
        turns = quaternions.product(Rotation(q[:-1]).inv().quat, q[1:])
        return quaternions.to_rotation_vectors(turns)

    def __call__(self, times: Any) -> Any:
        """Returns the rotations at times."""
        known, times = inexact("Slerp", self.times, np.asarray(times), linear_algebra=False)
        if get_aval(times).ndim > 1:
            raise ArgumentValueError(f"Slerp: expected a time or times of shape (m,), got {get_aval(times)}")
        place = np.clip(np.searchsorted(known, times) - 1, 0, get_aval(known).shape[0] - 2)
        part = (times - known[place]) / (known[place + 1] - known[place])
        turns = quaternions.of_rotation_vectors(self.rotvecs[place] * part[..., None])
        return type(self.rotations)(quaternions.product(self.rotations.quat[place], turns))

    def tree_flatten(self) -> tuple[Any, None]:
        """Returns the times and the rotations."""
        return (self.times, self.rotations), None

    @classmethod
    def tree_unflatten(cls, _: None, children: Any) -> Any:
        """Returns the function of times and rotations, which may be any values."""
        slerp = object.__new__(cls)
        slerp.times, slerp.rotations = children
        return slerp
