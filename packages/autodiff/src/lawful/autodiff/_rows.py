"""Rows of Jacobians: a basis of cotangents, pulled back by a loop or a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from lawful import tree
from lawful.autodiff._vjp import VJPFunction
from lawful.core import Hook, Tracer, float0, get_aval
from lawful.ops import concatenate, reshape

# Up to this many rows a loop takes less time than a batch.
_FEW = 4


def pull_rows(vmap: Any, f_vjp: VJPFunction, out_tree: Any, basis: list[Any], leaves: list[Any]) -> Sequence[Any]:
    """Returns ``vmap(f_vjp)`` of a basis: by a loop for one row, and for few rows that are not traced."""

    def pull(*cts: Any) -> Any:
        return f_vjp(tree.unflatten(out_tree, cts))

    count = len(basis[0])
    is_recorded = any(isinstance(x, Tracer) for x in leaves)
    is_fast = count == 1 or (1 < count <= _FEW and not is_recorded)
    if not is_fast:
        pulled: Sequence[Any] = vmap(pull)(*basis)
        return pulled
    rows = [pull(*[block[i] for block in basis]) for i in range(count)]
    return [_stacked(cotangents) for cotangents in zip(*rows, strict=True)]


#: Pulls a basis of cotangents back: given ``vmap``, the backward function, the tree of the result and its arguments.
rows_hook: Final[Hook[Callable[..., Sequence[Any]]]] = Hook("rows of a Jacobian", pull_rows)


def _stacked(rows: Sequence[Any]) -> Any:
    aval = get_aval(rows[0])
    if aval.dtype == float0:
        return np.zeros((len(rows), *aval.shape), float0)
    stacked = [reshape(row, (1, *aval.shape)) for row in rows]
    return stacked[0] if len(stacked) == 1 else concatenate(stacked, 0)
