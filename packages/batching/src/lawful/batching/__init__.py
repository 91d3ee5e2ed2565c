"""Batching: ``vmap``, and operations over the axes that it names.

>>> import numpy as np
>>> from lawful.batching import vmap
>>> vmap(lambda x: x + 1.0)(np.arange(3.0))
array([1., 2., 3.])
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from lawful.batching._batch import AxisData, BatchTrace, batch_jaxpr, mentions_axis, new_batch_trace, place_batch_dim
from lawful.batching._vmap import common_size, input_axes, output_axes, vmap
from lawful.core import lazy_imports as _lazy_imports

# isort: split
from lawful.batching import _fast as _fast  # installs the accelerators

if _TYPE_CHECKING:
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
    from lawful.batching._gathering import (
        all_gather,
        all_gather_p,
        all_to_all,
        ppermute,
        pshuffle,
        psum_scatter,
        pswapaxes,
    )
else:
    __getattr__, __dir__ = _lazy_imports(__name__, "_collectives", "_gathering")

__all__ = [
    "AxisData",
    "BatchTrace",
    "UnboundAxisError",
    "all_gather",
    "all_gather_p",
    "all_to_all",
    "axis_index",
    "axis_index_p",
    "axis_size",
    "batch_jaxpr",
    "common_size",
    "input_axes",
    "output_axes",
    "mentions_axis",
    "new_batch_trace",
    "place_batch_dim",
    "pmax",
    "pmax_p",
    "pmean",
    "pmin",
    "pmin_p",
    "ppermute",
    "pshuffle",
    "psum",
    "psum_p",
    "psum_scatter",
    "pswapaxes",
    "vmap",
]
