"""Batching: ``vmap``, and operations over the axes that it names.

>>> import numpy as np
>>> from lawful.batching import vmap
>>> vmap(lambda x: x + 1.0)(np.arange(3.0))
array([1., 2., 3.])
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from lawful.batching._batch import AxisData, batch_jaxpr, mentions_axis, place_batch_dim
from lawful.batching._vmap import vmap
from lawful.core import on_demand as _on_demand

if _TYPE_CHECKING:
    from lawful.batching._call_site import CallSite, describe_result, tree_difference
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
    from lawful.batching._custom_call import Callee, as_function, custom_call, may_be_batched
    from lawful.batching._custom_function import CustomFunction
    from lawful.batching._custom_rules import CallRules
    from lawful.batching._custom_vmap import batch_by, custom_vmap, custom_vmap_call_p
else:
    __getattr__, __dir__ = _on_demand(
        __name__,
        "_call_site",
        "_collectives",
        "_custom_call",
        "_custom_function",
        "_custom_rules",
        "_custom_vmap",
    )

__all__ = [
    "AxisData",
    "CallRules",
    "CallSite",
    "Callee",
    "CustomFunction",
    "UnboundAxisError",
    "as_function",
    "axis_index",
    "axis_index_p",
    "axis_size",
    "batch_by",
    "batch_jaxpr",
    "custom_call",
    "custom_vmap",
    "custom_vmap_call_p",
    "describe_result",
    "may_be_batched",
    "mentions_axis",
    "place_batch_dim",
    "pmax",
    "pmax_p",
    "pmean",
    "pmin",
    "pmin_p",
    "psum",
    "psum_p",
    "tree_difference",
    "vmap",
]
