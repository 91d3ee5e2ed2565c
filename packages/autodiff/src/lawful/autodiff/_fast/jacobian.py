"""Few rows of a Jacobian: one backward pass over the tape for each, written into one array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from lawful.autodiff._fast.linearize import TapeLinearized
from lawful.autodiff._rows import rows_hook
from lawful.autodiff._vjp import VJPFunction
from lawful.core import Zero, current, eval_trace

#: Up to this many rows a loop takes less time than a batch, measured on programs of 2 to 45 operations.
_FEW: Final = 12


def pull_rows(vmap: Any, f_vjp: VJPFunction, out_tree: Any, basis: list[Any], leaves: list[Any]) -> Sequence[Any]:
    """Returns the cotangents of a basis; see `rows_hook`."""
    linearized, count = f_vjp._linearized, len(basis[0])
    if (
        count > _FEW
        or count < 2
        or type(linearized) is not TapeLinearized
        or not all(linearized.inputs)
        or current.trace is not eval_trace
    ):
        return rows_hook.plain(vmap, f_vjp, out_tree, basis, leaves)
    results = [np.zeros((count, *aval.shape), aval.dtype) for aval in f_vjp._in_types]
    given = [block for block, nonzero in zip(basis, linearized.nonzeros, strict=True) if nonzero]
    for i in range(count):
        for result, ct in zip(results, linearized.pull_back([block[i] for block in given]), strict=True):
            if type(ct) is not Zero:
                result[i] = ct
    return results
