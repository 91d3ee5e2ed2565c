"""Geometry with the names and arguments of ``scipy.spatial``: rotations, in the module `lawful.spatial.transform`."""

from lawful.spatial import transform

__all__ = ["transform"]
