"""Batching: ``vmap``, and operations over the axes that it names.

>>> import numpy as np
>>> from lawful.batching import vmap
>>> vmap(lambda x: x + 1.0)(np.arange(3.0))
array([1., 2., 3.])
"""

from lawful.batching._batch import AxisData, batch_jaxpr
from lawful.batching._collectives import (
    UnboundAxisError,
    axis_index,
    axis_index_p,
    axis_size,
    pmax,
    pmax_p,
    pmean,
    pmin,
    pmin_p,
    psum,
    psum_p,
)
from lawful.batching._vmap import vmap

__all__ = [
    "AxisData",
    "UnboundAxisError",
    "axis_index",
    "axis_index_p",
    "axis_size",
    "batch_jaxpr",
    "pmax",
    "pmax_p",
    "pmean",
    "pmin",
    "pmin_p",
    "psum",
    "psum_p",
    "vmap",
]
