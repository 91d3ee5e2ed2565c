"""Batching: ``vmap``, and operations over the axes that it names.

>>> import numpy as np
>>> from lawful.batching import vmap
>>> vmap(lambda x: x + 1.0)(np.arange(3.0))
array([1., 2., 3.])
"""

import typing as _typing

from lawful.batching._axis import AxisData, mentions_axis
from lawful.batching._batch import BatchTrace, batch_jaxpr, new_batch_trace, place_batch_dim
from lawful.batching._vmap import common_size, input_axes, output_axes
from lawful.core import lazy_imports as _lazy_imports

# isort: split
from lawful.batching import _fast as _fast  # installs the accelerators

if _typing.TYPE_CHECKING:
    from lawful.batching._collectives.axes import UnboundAxisError, axis_size
    from lawful.batching._collectives.exchange import all_to_all, all_to_all_p, pswapaxes
    from lawful.batching._collectives.gathering import all_gather, all_gather_invariant_p, all_gather_p
    from lawful.batching._collectives.index import axis_index, axis_index_p
    from lawful.batching._collectives.permutation import pbroadcast, pbroadcast_p, ppermute, ppermute_p, pshuffle
    from lawful.batching._collectives.reductions import pmax, pmax_p, pmean, pmin, pmin_p, psum, psum_p
    from lawful.batching._collectives.scattering import psum_scatter, reduce_scatter_p
    from lawful.batching._collectives.varying import pcast, psum_invariant_p, pvary, pvary_p
    from lawful.batching._typed import vmap
else:
    from lawful.batching._vmap import vmap

    __getattr__, __dir__ = _lazy_imports(
        __name__,
        "_collectives.axes",
        "_collectives.exchange",
        "_collectives.gathering",
        "_collectives.index",
        "_collectives.permutation",
        "_collectives.reductions",
        "_collectives.scattering",
        "_collectives.varying",
    )

__all__ = [
    "AxisData",
    "BatchTrace",
    "UnboundAxisError",
    "all_gather",
    "all_gather_invariant_p",
    "all_gather_p",
    "all_to_all",
    "all_to_all_p",
    "axis_index",
    "axis_index_p",
    "axis_size",
    "batch_jaxpr",
    "common_size",
    "input_axes",
    "mentions_axis",
    "new_batch_trace",
    "output_axes",
    "pbroadcast",
    "pbroadcast_p",
    "pcast",
    "place_batch_dim",
    "pmax",
    "pmax_p",
    "pmean",
    "pmin",
    "pmin_p",
    "ppermute",
    "ppermute_p",
    "pshuffle",
    "psum",
    "psum_invariant_p",
    "psum_p",
    "psum_scatter",
    "pswapaxes",
    "pvary",
    "pvary_p",
    "reduce_scatter_p",
    "vmap",
]
