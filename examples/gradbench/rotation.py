"""Rotations of space, given by three numbers."""

from __future__ import annotations

from typing import Any

import lawful.numpy as np


def rotate(angle_axis: Any, x: Any) -> Any:
    """Returns the vector ``x`` turned about an axis, by an angle that is the length of the axis (Rodrigues' formula).

    It has the right derivative for the angle 0 too.
    """
    square = np.sum(np.square(angle_axis))
    is_turned = square > 0.0
    # The square root has no derivative at 0; `where` alone would still multiply by it.
    angle = np.sqrt(np.where(is_turned, square, 1.0))
    axis = angle_axis / angle
    across = np.cross(axis, x) * np.sin(angle)
    turned = x * np.cos(angle) + across + axis * (axis @ x) * (1.0 - np.cos(angle))
    return np.where(is_turned, turned, x + np.cross(angle_axis, x))
