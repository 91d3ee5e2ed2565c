"""Calls of functions of signals, and of those that take functions."""

import numpy

from ._case import Case, Data, case, creates


def table(data: Data) -> dict[str, list[Case]]:
    """Returns the calls by subject."""
    return {
        "signals": [
            *[
                case(lambda np, x, axis=axis, order=order: np.gradient(x, axis=axis, edge_order=order), x)
                for axis in (None, 0, -1, (1, 0))
                for order in (1, 2)
                for x in (data.matrix, data.integers, data.single, data.complex)
            ],
            *[
                case(lambda np, x, h, order=order: np.gradient(x, h, edge_order=order), data.matrix, data.scalar)
                for order in (1, 2)
            ],
            *[
                case(
                    lambda np, x, h, order=order: np.gradient(x, h, axis=1, edge_order=order),
                    data.matrix,
                    numpy.cumsum(data.vector),
                )
                for order in (1, 2)
            ],
            case(lambda np, x, h: np.gradient(x, 0.5, h), data.matrix, numpy.array([0.0, 1.0, 3.0, 7.0])),
            case(lambda np, x: np.gradient(x), data.vector[:2]),
            case(lambda np, x: np.sinc(x), data.matrix),
            case(lambda np, x: np.sinc(x), numpy.array([0.0, 1e-9, 0.01, 0.0318, 0.032, 1.0])),
            case(lambda np, x: np.sinc(x), data.integers),
            case(lambda np, x: np.sinc(x), data.single),
            case(lambda np, x: np.nan_to_num(x), numpy.array([numpy.nan, numpy.inf, -numpy.inf, 1.0])),
            case(
                lambda np, x: np.nan_to_num(x, True, 1.0, 2.0, 3), numpy.array([numpy.nan, numpy.inf, -numpy.inf, 1.0])
            ),
            case(lambda np, x: np.nan_to_num(x), numpy.array([complex(numpy.nan, numpy.inf), 1j], "complex64")),
            case(lambda np, x: np.nan_to_num(x, nan=7.0), data.half),
            case(lambda np, x: np.nan_to_num(x), data.integers),
            *[
                case(lambda np, x, kwargs=kwargs: np.unwrap(x, **kwargs), x)
                for kwargs in ({}, {"axis": 0}, {"period": 3}, {"discont": 5.0}, {"period": 4})
                for x in (10 * data.matrix, data.integers)
            ],
            case(lambda np, x: np.unwrap(x, period=4), numpy.array([0, 2, 0, -2])),
            case(lambda np, x, y: np.heaviside(x, y), data.matrix - 1, data.scalar),
            case(lambda np, x, y: np.heaviside(x, y), numpy.array([0.0, -0.0, numpy.nan, -1.0, 2.0]), 0.5),
            case(lambda np, x, y: np.array_equiv(x, y), data.matrix, data.matrix[:1]),
            case(lambda np, x, y: np.array_equiv(x, y), 0 * data.matrix, 0 * data.matrix[:1]),
            case(lambda np, x, y: np.array_equiv(x, y), data.matrix, data.vector[:3]),
        ],
        "differences": [
            case(lambda np, x: np.diff(x), data.matrix),
            case(lambda np, x: np.diff(x, 2, axis=0), data.matrix),
            case(lambda np, x: np.diff(x, prepend=1, append=x), data.integers),
            case(lambda np, x: np.diff(x), data.mask),
            case(lambda np, x: np.diff(x, 0), data.complex),
            case(lambda np, x: np.diff(x, 9), data.vector),
            case(lambda np, x: np.ediff1d(x), data.matrix),
            case(lambda np, x: np.ediff1d(x, to_begin=1, to_end=numpy.array([2, 3])), data.integers),
            case(lambda np, y: np.trapezoid(y), data.matrix),
            case(lambda np, y: np.trapezoid(y, dx=0.5, axis=0), data.matrix),
            case(lambda np, y, x: np.trapezoid(y, x), data.matrix, data.vector.cumsum()),
            case(lambda np, y, x: np.trapezoid(y, x, axis=0), data.integers, data.matrix),
            case(
                lambda np, x, xp, fp: np.interp(x, xp, fp), data.matrix, numpy.array([0.7, 1.0, 1.6]), data.vector[:3]
            ),
            case(
                lambda np, x, xp, fp: np.interp(x, xp, fp, -1.0, 7),
                data.matrix,
                numpy.array([0.7, 1.0, 1.6]),
                data.vector[:3],
            ),
            case(lambda np, fp, x: np.interp(x, numpy.arange(4), fp, period=3.5), data.vector, 9 * data.matrix),
            case(lambda np, x, fp: np.interp(x, numpy.arange(4), fp), data.matrix, data.complex[0]),
        ],
        "functional": [
            *[case(lambda np, x, axis=axis: np.apply_along_axis(np.sum, axis, x), data.cube) for axis in (0, 1, -1)],
            case(lambda np, x: np.apply_along_axis(np.cumsum, 1, x), data.cube),
            case(lambda np, x: np.apply_along_axis(np.outer, 1, x, 2.0 * numpy.ones(2)), data.cube),
            case(lambda np, x: np.apply_along_axis(np.diag, 0, x), data.matrix),
            case(lambda np, x: np.apply_along_axis(lambda row, k: row[:2] * k, -1, x, k=3), data.vector),
            case(lambda np, x: np.apply_over_axes(np.sum, x, (0, -1)), data.cube),
            case(lambda np, x: np.apply_over_axes(np.cumsum, x, 1), data.cube),
            case(lambda np, x: np.piecewise(x, [x < 1, x > 1.5], [lambda x: -x, lambda x: x**2, 7]), data.matrix),
            case(lambda np, x: np.piecewise(x, [x < 1.5, x < 1], [lambda x, k: k * x, 2.7], 3.0), data.matrix),
            case(lambda np, x: np.piecewise(x, [x < 0, x >= 0], [lambda x: -x, lambda x: x]), data.integers),
            case(lambda np, x, m: np.select([m, ~m], [x, 2 * x]), data.matrix, data.mask),
            case(lambda np, x, m: np.select([m], [x], 9.0), data.integers, data.mask),
            case(lambda np, x, m: np.select([m, m], [x, 1], x[:1]), data.single, data.mask),
            *[
                creates(
                    lambda np, x, y, call=call: np.astype(
                        call(np.frompyfunc(lambda a, b: a * b + 1, 2, 1), x, y), float
                    ),
                    data.matrix,
                    data.vector,
                )
                for call in (
                    lambda f, x, y: f(x, y),
                    lambda f, x, y: f.reduce(x, axis=1, keepdims=True),
                    lambda f, x, y: f.accumulate(x),
                    lambda f, x, y: f.reduceat(x, [0, 2, 1], axis=-1),
                    lambda f, x, y: f.outer(x, y),
                )
            ],
            creates(lambda np, x, y: np.vectorize(lambda a, b: a * b + 1)(x, y), data.matrix, data.vector),
            creates(
                lambda np, x, y: np.vectorize(lambda a, b: a @ b, signature="(m,n),(n)->(m)")(x, y),
                data.cube,
                data.vector,
            ),
            creates(lambda np, x, y: np.vectorize(np.outer, signature="(m),(n)->(m,n)")(x, y), data.matrix, data.cube),
            creates(lambda np, x: np.vectorize(lambda a: (a, 2 * a), signature="(n)->(n),(n)")(x), data.matrix),
            creates(lambda np, x: np.vectorize(lambda a, k: a * k, excluded={1})(x, 3), data.thin),
            creates(lambda np, x: np.vectorize(lambda a, k=2: a * k, otypes=["float64"])(x, k=3), data.integers),
        ],
    }
