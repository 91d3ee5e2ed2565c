"""Clusters with the names and arguments of ``scipy.cluster``: the module `lawful.cluster.vq`."""

from lawful.cluster import vq

__all__ = ["vq"]
