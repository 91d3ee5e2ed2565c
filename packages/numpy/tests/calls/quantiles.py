"""Calls of medians and quantiles."""

import numpy

from ._case import Case, Data, case


def table(data: Data) -> dict[str, list[Case]]:
    """Returns the calls by subject."""
    return {
        "quantiles": [
            case(lambda np, x, name=name, kwargs=kwargs: getattr(np, name)(x, **kwargs), x)
            for name in ("median", "nanmedian")
            for kwargs in ({}, {"axis": 0}, {"axis": (0, -1), "keepdims": True})
            for x in (data.matrix, data.integers, data.bytes, data.cube, data.holes)
        ]
        + [
            case(lambda np, x, name=name, q=q, kwargs=kwargs: getattr(np, name)(x, q, **kwargs), x)
            for name in ("quantile", "nanquantile")
            for q, kwargs in (
                (0.3, {}),
                (0.5, {"axis": 0}),
                (numpy.array([0.2, 0.9]), {"axis": -1}),
                (0.7, {"axis": (0, -1), "keepdims": True}),
                (1, {"axis": 0}),
                (numpy.array([[0.25, 0.75]]), {}),
            )
            for x in (data.matrix, data.integers, data.cube, data.single, data.holes)
        ]
        + [
            case(
                lambda np, x, method=method: np.quantile(x, numpy.array([0.0, 0.13, 0.51, 1.0]), 1, method=method),
                data.matrix,
            )
            for method in (
                "inverted_cdf",
                "averaged_inverted_cdf",
                "closest_observation",
                "interpolated_inverted_cdf",
                "hazen",
                "weibull",
                "linear",
                "median_unbiased",
                "normal_unbiased",
                "lower",
                "higher",
                "midpoint",
                "nearest",
            )
        ]
        + [
            case(lambda np, x: np.percentile(x, 30, axis=0), data.matrix),
            case(lambda np, x: np.percentile(x, numpy.array([10, 80.0])), data.single),
            case(lambda np, x: np.nanpercentile(x, 60.0, axis=1), data.holes),
            case(lambda np, x, q: np.quantile(x, q), data.matrix, numpy.float64(0.37)),
        ],
    }
