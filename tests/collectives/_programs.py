"""Programs of one position with a collective, for `vmap` over named axes and for partitions of a mesh."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from lawful import batching

Function = Callable[..., Any]

#: Of an operand of the shape (24, 24), and the name of an axis whose size divides 24.
COLLECTIVES: dict[str, Function] = {
    "psum": batching.psum,
    "pmean": batching.pmean,
    "pmax": batching.pmax,
    "pmin": batching.pmin,
    "all_gather": lambda x, n, **o: batching.all_gather(x, n, axis=1, **o),
    "all_gather tiled": lambda x, n, **o: batching.all_gather(x, n, tiled=True, **o),
    "psum_scatter": lambda x, n, **o: batching.psum_scatter(x, n, scatter_dimension=1, tiled=True, **o),
    "all_to_all": lambda x, n, **o: batching.all_to_all(x, n, 0, 1, tiled=True, **o),
    "all_to_all back": lambda x, n, **o: batching.all_to_all(x, n, 1, 1, tiled=True, **o),
}


def of_axis(size: int) -> dict[str, Function]:
    """Returns more programs, over an axis of a size, without groups."""
    shift = [(i, (i + 1) % size) for i in range(size)]
    return {
        "psum_scatter untiled": lambda x, n: batching.psum_scatter(x[:size], n),
        "all_to_all untiled": lambda x, n: batching.all_to_all(x[:size], n, 0, 1),
        "pswapaxes": lambda x, n: batching.pswapaxes(x[:, :size], n, 1),
        "ppermute": lambda x, n: batching.ppermute(x, n, shift),
        "ppermute dropping": lambda x, n: batching.ppermute(x, n, shift[:-1]),
        "pshuffle": lambda x, n: batching.pshuffle(x, n, [*reversed(range(size))]),
        "pbroadcast": lambda x, n: batching.pbroadcast(x, n, size - 1),
        "axis_index": lambda x, n: batching.axis_index(n) + 0 * x[0, 0].astype("int32"),
        "psum_invariant": lambda x, n: batching.psum_invariant_p.bind(x, axis_name=n),
        "all_gather_invariant": lambda x, n: batching.all_gather(x, n, to="invarying"),
        "pvary": batching.pvary,
    }


def axis_names(axes: Any) -> Iterator[Any]:
    """Yields the name of each axis, and tuples of several, in every order."""
    names = [name for name, _ in axes]
    yield from names
    for count in range(2, len(names) + 1):
        yield from itertools.permutations(names, count)
