"""Calls of functions of sets, samples, bits and positions."""

from typing import Any

import numpy

from ._case import Case, Data, case, creates


def rough(call: Any, *args: Any) -> Case:
    """Returns a call whose result shape differs at neighbouring arguments, so that difference quotients fail."""
    return Case(call, args, creates=True, smooth=False)


def _sized(name: str, size: int, **kwargs: Any) -> Any:
    """Returns a call with the number of elements that lawful's function needs if values are traced."""
    return lambda np, *args: getattr(np, name)(*args, **kwargs, **({} if np is numpy else {"size": size}))


def table(data: Data) -> dict[str, list[Case]]:
    """Returns the calls by subject."""
    some, others = numpy.array([5, 1, 3, 3, 1, 8]), numpy.array([[3, 4], [1, 9]])
    edges = numpy.array([0.5, 1.0, 1.6, 2.0])
    rows = data.matrix.T
    return {
        "sets": [
            case(lambda np, x, y: np.isin(x, y), data.integers, numpy.array([1, -2, 3])),
            case(lambda np, x, y: np.isin(x, y, invert=True), data.holes, numpy.array([numpy.nan, 1.0])),
            case(lambda np, x, y: np.isin(x, y), data.complex, data.complex[0]),
            case(lambda np, x: np.isin(x, numpy.zeros(0)), data.matrix),
            creates(_sized("union1d", 6), some, others),
            rough(_sized("union1d", 6), some + 0.5, others + 0.5),
            creates(_sized("intersect1d", 2), some, others),
            creates(_sized("intersect1d", 2, return_indices=True), some, others),
            creates(_sized("setdiff1d", 2), some, others),
            rough(_sized("setxor1d", 4), some, others + 0.0),
        ],
        "different elements": [
            *[creates(_sized(f"unique_{name}", 4), some) for name in ("all", "counts", "inverse")],
            creates(lambda np, x: np.sort(_sized("unique_values", 4)(np, x)), some),
            creates(_sized("nonzero", 5), numpy.array([[0.0, 5, 3], [7, 1, 2]])),
            creates(_sized("flatnonzero", 5), numpy.array([[0.0, 5, 3], [7, 1, 2]])),
        ],
        "samples": [
            case(lambda np, x: np.histogram_bin_edges(x, 4), data.matrix),
            case(lambda np, x: np.histogram_bin_edges(x, 3, (0.0, 2.0)), data.single),
            case(lambda np, x: np.histogram(x, 4), data.single),
            case(lambda np, x: np.histogram(x, 4), data.integers),
            case(lambda np, x: np.histogram(x, edges), data.mask),
            case(lambda np, x, y: np.histogram2d(x, y, 3), data.matrix[0], data.matrix[1]),
            case(
                lambda np, x, y, w: np.histogram2d(x, y, [edges, 2], weights=w),
                data.matrix[0],
                data.matrix[1],
                data.vector,
            ),
            case(lambda np, x, y: np.histogram2d(x, y, edges, density=True), data.matrix[0], data.matrix[1]),
            case(lambda np, x: np.histogramdd(x, 2), rows),
            case(lambda np, x, w: np.histogramdd(x, (2, edges, 3), weights=w), rows, data.vector),
            case(lambda np, x: np.histogramdd(x, 2, [(0.0, 2.0), None, (0.0, 1.0)]), rows),
            case(lambda np, x: np.histogramdd(x, [edges] * 3, density=True), rows),
        ],
        "bits": [
            case(lambda np, x, kwargs=kwargs: np.packbits(x, **kwargs), x)
            for kwargs in ({}, {"axis": 1}, {"axis": 0, "bitorder": "little"})
            for x in (data.mask, data.integers, data.cube > 1)
        ]
        + [
            case(lambda np, x, kwargs=kwargs: np.unpackbits(x, **kwargs), data.bytes)
            for kwargs in ({}, {"axis": 0}, {"axis": 1, "bitorder": "little"}, {"count": 5}, {"axis": 1, "count": -3})
        ]
        + [case(lambda np, x: np.unpackbits(x, axis=0, count=40), data.bytes)],
        "indices": [
            creates(lambda np, x: np.indices((2, 3)) + x, data.scalar),
            creates(lambda np, x: np.indices((2, 3), dtype="int32", sparse=True)[1] + x, data.scalar),
            creates(lambda np, x: np.fromfunction(lambda i, j: i * x + j, (2, 3)), data.scalar),
            case(lambda np, i, j: np.ix_(i, j), data.integers[0], data.bytes[0]),
            creates(lambda np, x: x[np.ix_(numpy.array([0, 2]), numpy.array([True, False, True, False]))], data.matrix),
            creates(lambda np, x: x[np.tril_indices(3)], data.matrix),
            creates(lambda np, x: x[np.triu_indices(3, 1, 4)], data.matrix),
            case(lambda np, x: x[np.tril_indices_from(x, -1)], data.square),
            case(lambda np, x: x[np.triu_indices_from(x)], data.matrix),
            creates(lambda np, x: x[np.diag_indices(3)], data.matrix),
            case(lambda np, x: x[np.diag_indices_from(x)], data.square),
            creates(lambda np, x: x[np.mask_indices(3, np.triu)], data.matrix),
            case(lambda np, i: np.unravel_index(i, (5, 7)), data.bytes % 35),
            case(lambda np, i: np.unravel_index(i, (2, 3, 4), "F"), data.bytes[0] % 24),
            case(lambda np, i, j: np.ravel_multi_index((i, j), (4, 5)), data.bytes[:, 0] % 3, data.bytes[:, 1] % 4),
            *[
                case(lambda np, i, mode=mode: np.ravel_multi_index((i, i), (3, 4), mode, "F"), data.integers)
                for mode in ("clip", "wrap", ("clip", "wrap"))
            ],
            creates(lambda np, x: np.mgrid[0:3, 0:2:3j] * x, data.scalar),
            creates(lambda np, x: np.ogrid[0:3, 1:2:0.5][1] * x, data.scalar),
            creates(lambda np, x: np.mgrid[1:4] * x, data.scalar),
            creates(lambda np, x, y: np.r_[x, 1:4, 0, y], data.vector, data.scalar),
            creates(lambda np, x: np.r_["0,2", x, x], data.vector),
            creates(lambda np, x: np.r_["-1,3,0", x, x], data.vector),
            creates(lambda np, x: np.r_["1", x, x], data.matrix),
            creates(lambda np, x: np.r_[x, 3], data.bytes[0]),
            creates(lambda np, x: np.c_[x, 2.0 * x], data.vector),
            creates(lambda np, x: np.c_[x, x[:, :1]], data.matrix),
            creates(lambda np, x: x[np.s_[1:, ::2]] + x[np.index_exp[1:, 1::2]], data.matrix),
        ],
    }
