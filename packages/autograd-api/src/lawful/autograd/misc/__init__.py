"""Flattening of pytrees, optimizers, fixed points and recorded graphs."""

from lawful.autograd.misc.flatten import flatten
from lawful.autograd.misc.tracers import const_graph

__all__ = ["const_graph", "flatten"]
