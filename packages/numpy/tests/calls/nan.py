"""Calls of averages, and of reductions that ignore NaNs."""

import numpy

from ._case import Case, Data, case


def table(data: Data) -> dict[str, list[Case]]:
    """Returns the calls by subject."""
    weights = data.matrix[::-1].copy()
    return {
        "averages": [
            case(lambda np, x: np.average(x), data.matrix),
            case(lambda np, x: np.average(x, axis=1, returned=True), data.integers),
            case(lambda np, x, w: np.average(x, weights=w), data.matrix, weights),
            case(lambda np, x, w: np.average(x, axis=1, weights=w, returned=True), data.matrix, data.vector),
            case(
                lambda np, x, w: np.average(x, axis=(2, 0), weights=w, keepdims=True), data.cube, data.matrix[:2, :].T
            ),
            case(lambda np, x, w: np.average(x, axis=0, weights=w), data.single, data.integers[:, 0] ** 2 + 1),
            case(lambda np, x, w: np.average(x, axis=1, weights=w), data.complex, data.vector),
            case(lambda np, x: np.ptp(x), data.matrix),
            case(lambda np, x: np.ptp(x, axis=-1, keepdims=True), data.integers),
            *[
                case(lambda np, x, m, name=name, kwargs=kwargs: getattr(np, name)(x, where=m, **kwargs), x, data.mask)
                for name in ("mean", "var", "std")
                for kwargs in ({}, {"keepdims": True})
                for x in (data.matrix, data.integers, data.single)
            ],
            case(lambda np, x, m: np.mean(x, axis=1, where=m), data.holes, ~numpy.eye(3, 4, dtype=bool)),
            case(lambda np, x, m: np.var(x, axis=1, where=m, ddof=1), data.cube, numpy.eye(3, 1) == 0),
            case(lambda np, x: np.var(x, axis=0, correction=1), data.matrix),
            case(lambda np, x: np.std(x, mean=np.mean(x, axis=1, keepdims=True), axis=1), data.matrix),
        ],
        "without NaNs": [
            case(lambda np, x, name=name, kwargs=kwargs: getattr(np, name)(x, **kwargs), x)
            for name in ("nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd")
            for kwargs in ({}, {"axis": 1}, {"axis": (0, -1), "keepdims": True})
            for x in (data.holes, data.matrix, data.integers, data.single)
        ]
        + [
            case(lambda np, x, name=name, kwargs=kwargs: getattr(np, name)(x, **kwargs), x)
            for name in ("nancumsum", "nancumprod")
            for kwargs in ({}, {"axis": 1})
            for x in (data.holes, data.integers)
        ]
        + [
            case(lambda np, x, name=name, kwargs=kwargs: getattr(np, name)(x, **kwargs), x)
            for name in ("nanargmax", "nanargmin")
            for kwargs in ({}, {"axis": 0}, {"axis": 1, "keepdims": True})
            for x in (data.holes, data.integers)
        ]
        + [
            case(lambda np, x, m: np.nansum(x, axis=1, where=m, initial=2.0), data.holes, data.mask),
            case(lambda np, x, m: np.nanmax(x, where=m, initial=0.0), data.holes, data.mask),
            case(lambda np, x: np.nanvar(x, axis=1, ddof=1), data.holes),
            case(lambda np, x: np.nanmean(x, axis=0, where=~numpy.eye(3, 4, 1, dtype=bool)), data.holes),
            case(lambda np, x: np.nansum(x, dtype="float32"), data.holes),
            case(lambda np, x: np.nanmin(x), data.half),
        ],
    }
