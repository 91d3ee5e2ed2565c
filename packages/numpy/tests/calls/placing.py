"""Calls of functions that put elements into arrays, and of windows and polynomials."""

from typing import Any

import numpy

from ._case import Case, Data, case, creates, jumps


def _written(np: Any, name: str, x: Any, *args: Any) -> Any:
    """Returns an array after ``np.<name>`` wrote into it, or the result of lawful's function."""
    if np is not numpy:
        return getattr(np, name)(x, *args, inplace=False)
    copy = numpy.array(x)
    getattr(np, name)(copy, *args)
    return copy


def table(data: Data) -> dict[str, list[Case]]:
    """Returns the calls by subject."""
    three = numpy.array([2, 0, 11])
    # Around zero, so that their powers are well conditioned.
    points = numpy.cumsum(data.vector) - numpy.cumsum(data.vector).mean()
    return {
        "written": [
            creates(lambda np, x, v: _written(np, "put", x, three, v), data.matrix, data.vector),
            creates(lambda np, x, v: _written(np, "put", x, three, np.ravel(v)[:2]), data.matrix, data.vector),
            creates(lambda np, x: _written(np, "put", x, three + 5, 7, "wrap"), data.integers),
            creates(lambda np, x: _written(np, "put", x, three - 2, 7, "clip"), data.integers),
            creates(lambda np, x, m, v: _written(np, "place", x, m, v), data.matrix, data.mask, data.vector),
            creates(lambda np, x, v: _written(np, "fill_diagonal", x, v), data.matrix, data.scalar),
            creates(lambda np, x, v: _written(np, "fill_diagonal", x, v), data.cube[:, :2, :2], data.vector[:2]),
            creates(lambda np, x: _written(np, "fill_diagonal", x, 7, True), numpy.zeros((7, 3))),
            creates(
                lambda np, x, v: _written(np, "put_along_axis", x, three[:, None] % 4, v, 1), data.matrix, data.scalar
            ),
        ],
        "chosen": [
            case(lambda np, i, x, y: np.choose(i, [x, y, 0.5]), data.bytes % 3, data.matrix, data.vector),
            case(lambda np, i, x: np.choose(i, x), data.mask, data.cube),
            *[
                case(lambda np, i, x, mode=mode: np.choose(i, [x, -x], mode=mode), data.integers, data.matrix)
                for mode in ("clip", "wrap")
            ],
            creates(lambda np, x: np.compress([True, False, True], x, axis=0), data.matrix),
            creates(lambda np, x: np.compress([0, 1, 1, 0, 1], x), data.integers),
            creates(_extracted, data.matrix),
        ],
        "sorted and trimmed": [
            case(lambda np, x: np.sort_complex(x), data.complex),
            case(lambda np, x: np.sort_complex(x), data.integers),
            case(lambda np, x: np.sort_complex(x), data.bytes),
            creates(lambda np, x: x * np.size(np.trim_zeros(numpy.array([0, 1, 0]))), data.matrix),
            case(lambda np, x, w: np.quantile(x, 0.4, 1, method="inverted_cdf", weights=w), data.matrix, data.vector),
            case(
                lambda np, x, w: np.percentile(x, numpy.array([0.0, 45, 100]), method="inverted_cdf", weights=w),
                data.matrix,
                data.matrix[::-1],
            ),
            case(
                lambda np, x, w: np.nanquantile(x, 0.7, 0, method="inverted_cdf", weights=w, keepdims=True),
                data.holes,
                data.matrix,
            ),
            case(
                lambda np, x, w: np.nanpercentile(x, 70, 1, method="inverted_cdf", weights=w), data.holes, data.matrix
            ),
        ],
        "windows": [
            *[
                creates(lambda np, x, name=name, size=size: getattr(np, name)(size) * x, data.scalar)
                for name in ("bartlett", "blackman", "hamming", "hanning")
                for size in (0, 1, 2, 7)
            ],
            *[creates(lambda np, x, size=size: np.kaiser(size, x), data.scalar) for size in (0, 1, 2, 7)],
            case(lambda np, x: np.i0(x), data.matrix),
            case(lambda np, x: np.i0(x), data.integers),
        ],
        "kinds of numbers": [
            *[
                case(lambda np, x, name=name: getattr(np, name)(x), x)
                for name in ("angle", "isreal", "iscomplex")
                for x in (data.matrix, data.complex, data.integers)
            ],
            case(lambda np, x: np.angle(x, deg=True), data.complex),
            *[
                case(lambda np, x, name=name: getattr(np, name)(x), x)
                for name in ("isposinf", "isneginf")
                for x in (data.integers, numpy.array([numpy.inf, -numpy.inf, numpy.nan, 1.0]))
            ],
            jumps(lambda np, x: np.fix(x), data.matrix - 1),
            creates(lambda np, x: x * np.isscalar(3.0) * np.iterable(x) * (not np.isscalar([1])), data.matrix),
            case(lambda np, x: np.astype(x, np.common_type(x, x)), data.single),
            case(lambda np, x: np.astype(x, np.common_type(x)), data.integers),
        ],
        "polynomials and roots": [
            case(lambda np, r: np.poly(r), data.vector),
            case(lambda np, r: np.poly(r), data.integers[0]),
            case(lambda np, r: np.poly(r), data.complex[0]),
            jumps(lambda np, a: np.poly(a + a.T), data.square),
            case(lambda np, p: np.sort(np.abs(np.roots(p))), data.vector),
            jumps(lambda np, p: np.astype(np.roots(p), complex), numpy.array([1, -6, 11, -6])),
            case(lambda np, u, v: np.polydiv(u, v), data.vector, data.matrix[0, :2]),
            case(lambda np, u, v: np.polydiv(u, v), data.matrix[0, :2], data.vector),
            case(lambda np, u, v: np.polydiv(u, v)[0], data.integers[0], numpy.array([2, 1])),
            case(lambda np, x, y: np.polyfit(x, y, 2), points, data.matrix[0]),
            case(lambda np, x, y, w: np.polyfit(x, y, 1, w=w), points, data.matrix.T, data.vector),
            case(lambda np, x, y: np.polyfit(x, y, 1, cov=True), points, data.matrix[0]),
            case(lambda np, x, y: np.polyfit(x, y, 1, cov="unscaled"), points, data.matrix.T),
            case(lambda np, x, y: np.polyfit(x, y, 1, full=True), points, data.matrix[0]),
        ],
        "reshaped": [
            *[case(lambda np, x, start=start: np.rollaxis(x, 2, start), data.cube) for start in (0, 1, 2, 3)],
            case(lambda np, x: np.rollaxis(x, 0, -1), data.cube),
            *[case(lambda np, x, shape=shape: np.resize(x, shape), data.matrix) for shape in ((2, 3), 7, (5, 5), ())],
            case(lambda np, x: np.resize(x, (2, 2)), data.empty),
            *[case(lambda np, x: np.atleast_3d(x), x) for x in (data.scalar, data.vector, data.matrix, data.cube)],
            case(lambda np, x, y: np.dstack([x, y]), data.vector, data.matrix[0]),
            case(lambda np, x, y: np.dstack((x, y)), data.matrix, data.integers),
            case(lambda np, x, y: np.block([[x, 1], [y, x[:, :1]]]), data.matrix[:1], data.vector[None]),
            case(lambda np, x, y: np.block([x, y]), data.vector, data.integers[0]),
            case(lambda np, x: np.block(x), data.matrix),
            *[case(lambda np, x, n=n: np.array_split(x, n, axis=1), data.matrix) for n in (3, 5, [1, 3])],
            case(lambda np, x: np.hsplit(x, 2), data.matrix),
            case(lambda np, x: np.hsplit(x, [1]), data.vector),
            case(lambda np, x: np.vsplit(x, 3), data.matrix),
            case(lambda np, x: np.dsplit(x, 2), data.cube),
        ],
    }


def _extracted(np: Any, x: Any) -> Any:
    condition = numpy.array([[True, False, True, False]] * 3)
    return np.extract(condition, x)
