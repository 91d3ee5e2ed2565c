"""Calls of reductions, of averages, and of reductions that ignore NaNs."""

import numpy

from ._case import Case, Data, case


def table(data: Data) -> dict[str, list[Case]]:
    """Returns the calls by subject."""
    weights = data.matrix[::-1].copy()
    return {
        "reductions": [
            case(lambda np, x, name=name, kwargs=kwargs: getattr(np, name)(x, **kwargs), x)
            for name in ("sum", "prod", "max", "min", "amax", "amin", "mean", "var", "std", "all", "any")
            for kwargs in (
                {},
                {"axis": 1},
                {"axis": (0, -1)},
                {"axis": -1, "keepdims": True},
                {"keepdims": True},
                {"axis": ()},
            )
            for x in (data.matrix, data.integers, data.bytes, data.single, data.mask, data.half, data.cube)
            if not (name == "std" and kwargs == {"axis": ()})  # the square root of 0 has no derivative
        ],
        "reductions of no elements": [
            case(lambda np, x: np.sum(x, axis=0), data.empty),
            case(lambda np, x: np.prod(x), data.empty),
            case(lambda np, x: np.max(x, axis=0, initial=-1.0), data.empty),
            case(lambda np, x: np.all(x), data.empty),
            case(lambda np, x: np.any(x), data.empty),
            case(lambda np, x: np.min(x, axis=1), data.empty),
            case(lambda np, x: np.mean(x, axis=1), data.empty),
        ],
        "reductions with arguments": [
            case(lambda np, x: np.sum(x, dtype="float32"), data.matrix),
            case(lambda np, x: np.sum(x, 0, "int32"), data.bytes),
            case(lambda np, x: np.sum(x, initial=10), data.matrix),
            case(lambda np, x, m: np.sum(x, axis=0, where=m), data.matrix, data.mask),
            case(lambda np, x, m: np.prod(x, axis=0, where=m, initial=2), data.matrix, data.mask),
            case(lambda np, x, m: np.max(x, axis=0, where=m, initial=0.0), data.matrix, data.mask),
            case(lambda np, x, m: np.min(x, axis=0, where=m, initial=9.0, keepdims=True), data.matrix, data.mask),
            case(lambda np, x, m: np.all(x, axis=0, where=m), data.integers, data.mask),
            case(lambda np, x, m: np.any(x, axis=0, where=m), data.integers, data.mask),
            case(lambda np, x: np.mean(x, dtype="float32"), data.integers),
            case(lambda np, x: np.var(x, axis=0, ddof=1), data.matrix),
            case(lambda np, x: np.std(x, ddof=1.5), data.matrix),
            case(lambda np, x: np.var(x, axis=1), data.complex),
            case(lambda np, x: np.std(x), data.complex),
            case(lambda np, x: np.sum(x, axis=0), data.complex),
            case(lambda np, x: np.prod(x), data.complex),
            case(lambda np, x: np.mean(x), data.complex),
            case(lambda np, x: np.sum(x), data.scalar),
            case(lambda np, x: np.mean(x), 3),
            case(lambda np, x: np.max(x), 3.0),
        ],
        "positions": [
            case(lambda np, x, name=name, kwargs=kwargs: getattr(np, name)(x, **kwargs), x)
            for name in ("argmax", "argmin")
            for kwargs in ({}, {"axis": 0}, {"axis": -1, "keepdims": True})
            for x in (data.matrix, data.integers, data.mask, data.cube)
        ],
        "cumulative": [
            case(lambda np, x, name=name, kwargs=kwargs: getattr(np, name)(x, **kwargs), x)
            for name in ("cumsum", "cumprod")
            for kwargs in ({}, {"axis": 1}, {"axis": 0, "dtype": "float32"})
            for x in (data.matrix, data.integers, data.bytes, data.mask, data.cube, data.complex)
            if not (x is data.complex and "dtype" in kwargs)
        ],
        "cumulative, of the array API": [
            case(lambda np, x, name=name, kwargs=kwargs: getattr(np, name)(x, **kwargs), x)
            for name in ("cumulative_sum", "cumulative_prod")
            for kwargs in ({"axis": 1}, {"axis": 0, "include_initial": True}, {"axis": -1, "dtype": "float32"})
            for x in (data.matrix, data.integers, data.bytes, data.mask)
        ],
        "counts": [
            case(lambda np, x, kwargs=kwargs: np.count_nonzero(x, **kwargs), x)
            for kwargs in ({}, {"axis": 1}, {"axis": (0, 1), "keepdims": True})
            for x in (data.matrix, data.integers, data.mask, data.complex)
        ],
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
