"""Calls of functions that choose, sort and search elements."""

import numpy

from ._case import Case, Data, case, creates


def table(data: Data) -> dict[str, list[Case]]:
    """Returns the calls by subject."""
    return {
        "taken": [
            case(lambda np, x, i: np.take(x, i), data.matrix, numpy.array([[0, -1], [2, 2]])),
            case(lambda np, x, i: np.take(x, i, 1, mode="clip"), data.matrix, numpy.array([-5, 1, 9])),
            case(lambda np, x, i: np.take(x, i, axis=0, mode="wrap"), data.complex, numpy.array(7)),
            case(lambda np, x, i: np.take_along_axis(x, i, 1), data.matrix, numpy.argsort(data.matrix, axis=1)),
            case(lambda np, x, i: np.take_along_axis(x, i, axis=0), data.matrix, numpy.array([[1]])),
            case(lambda np, x, i: np.take_along_axis(x, i, None), data.integers, numpy.array([1, -1])),
        ],
        "choice": [
            case(lambda np, c, x, y: np.where(c, x, y), data.mask, data.matrix, data.vector),
            case(lambda np, c, x: np.where(c, x, 0), data.mask, data.single),
            case(lambda np, c, x: np.where(c, 1.5, x), data.integers, data.integers),
            case(lambda np, x: np.clip(x, 0.75, 1.5), data.matrix),
            case(lambda np, x: np.clip(x, None, 1), data.single),
            case(lambda np, x: np.clip(x, -2, 2), data.integers),
            case(lambda np, x: np.clip(x, 0.5, 2), data.integers),
            case(lambda np, x: np.clip(x, a_min=1.0, a_max=None), data.matrix),
            case(lambda np, x: np.clip(x, min=1.0, max=1.25), data.matrix),
            case(lambda np, x, low: np.clip(x, low, 1.5), data.matrix, data.vector),
            case(lambda np, x: np.round(x), data.matrix),
            case(lambda np, x: np.round(x, 2), data.matrix),
            case(lambda np, x: np.round(x * 100, -1), data.matrix),
            case(lambda np, x: np.round(x, 1), data.complex),
            case(lambda np, x: np.round(x), data.integers),
            case(lambda np, x: np.around(x, 3), data.single),
            case(lambda np, x: np.real(x), data.complex),
            case(lambda np, x: np.imag(x), data.complex),
            case(lambda np, x: np.real(x), data.matrix),
            case(lambda np, x: np.imag(x), data.matrix),
            case(lambda np, x, y: np.isclose(x, y), data.matrix, data.matrix + 1e-9 * data.mask + 1e-3 * ~data.mask),
            case(lambda np, x, y: np.isclose(x, y, equal_nan=True), numpy.array([numpy.nan, numpy.inf, 1]), numpy.inf),
            case(lambda np, x, y: np.isclose(x, y, rtol=0.5, atol=0.0), data.matrix, data.vector),
            case(lambda np, x, y: np.allclose(x, y), data.matrix, data.matrix + 1e-10),
            case(lambda np, x, y: np.allclose(x, y, atol=1.0), data.matrix, data.matrix + 2),
            case(lambda np, x, y: np.array_equal(x, y), data.integers, data.integers),
            case(lambda np, x, y: np.array_equal(x, y), data.integers, data.integers + 1),
        ],
        "searching": [
            case(lambda np, a, v, side=side: np.searchsorted(a, v, side), a, v)
            for side in ("left", "right")
            for a in (numpy.sort(data.vector), numpy.array([-2, 1, 1, 3]), numpy.array([0.75, 1.0, numpy.nan]))
            for v in (data.matrix, data.integers, data.scalar, data.holes)
        ]
        + [
            case(lambda np, a, v: np.searchsorted(a, v, sorter=numpy.argsort(data.vector)), data.vector, data.matrix),
            case(lambda np, x, b: np.digitize(x, b), data.matrix, numpy.array([0.5, 1.0, 1.5])),
            case(lambda np, x, b: np.digitize(x, b, right=True), data.integers, numpy.array([3, 1, -2])),
            case(lambda np, x: np.histogram(x, 4), data.matrix),
            case(lambda np, x: np.histogram(x, numpy.array([0.5, 1.0, 1.1, 2.0]), density=True), data.matrix),
            case(lambda np, x: np.histogram(x, 3, range=(0.0, 1.5)), data.matrix),
            case(lambda np, x, w: np.histogram(x, numpy.array([0.5, 1.0, 2.0]), weights=w), data.matrix, data.matrix),
            creates(
                lambda np, x: np.bincount(x, minlength=9) if np is numpy else np.bincount(x, length=9),
                data.bytes[0] % 9,
            ),
            creates(lambda np, x: np.argwhere(x) if np is numpy else np.argwhere(x, size=12), data.matrix),
        ],
        "sorting": [
            case(lambda np, x, name=name, kwargs=kwargs: getattr(np, name)(x, **kwargs), x)
            for name in ("sort", "argsort")
            for kwargs in ({}, {"axis": 0}, {"axis": None}, {"axis": 1, "stable": True})
            for x in (data.matrix, data.complex, data.single, data.half)
        ]
        + [
            case(lambda np, x: np.sort(x, axis=0, kind="stable"), data.integers),
            case(lambda np, x: np.argsort(x, kind="stable"), data.mask),
            case(lambda np, x: np.sort(x), numpy.array([2.0, numpy.nan, -1.0])),
            case(lambda np, x: np.sort(x), data.empty),
            case(lambda np, x, y: np.lexsort((x, y)), data.integers, data.bytes),
            case(lambda np, x: np.lexsort(x), data.integers),
            case(lambda np, x: np.sort(np.partition(x, 2)), data.vector),
            case(lambda np, x: np.partition(x, 2, axis=0)[2], data.matrix),
            case(lambda np, x: np.argpartition(x, -1)[:, -1], data.matrix),
            creates(
                lambda np, x: np.unique(x) if np is numpy else np.unique(x, size=7), numpy.arange(14).reshape(2, 7) % 7
            ),
        ],
    }
