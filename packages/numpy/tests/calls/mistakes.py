"""Mistakes: calls that NumPy refuses; lawful's error must be of the same class."""

from collections.abc import Callable
from typing import Any

import numpy

MATRIX, VECTOR = numpy.ones((3, 4)), numpy.ones(3)
CUBE, COMPLEX, INTEGERS = numpy.ones((2, 2, 2)), numpy.ones(3, complex), numpy.arange(3)
BOOLEANS, EMPTY = numpy.array([True, False, True]), numpy.zeros((0, 3))

Mistakes = dict[str, tuple[Callable[[Any, Any], Any], Any]]


def nested(x: Any, depth: int) -> Any:
    """Returns a value in lists of one element."""
    for _ in range(depth):
        x = [x]
    return x


_COUNTS = numpy.array([1, 0, 2])

CHOSEN: Mistakes = {
    **{
        f"where that is not boolean of {name}": (
            lambda np, x, name=name, more=more: getattr(np, name)(x, where=_COUNTS, **more),
            VECTOR,
        )
        for names, more in (
            (
                ("sum", "prod", "all", "any", "mean", "var", "std", "nansum", "nanprod", "nanmean", "nanvar", "nanstd"),
                {},
            ),
            (("max", "min", "nanmax", "nanmin"), {"initial": 0.0}),
        )
        for name in names
    },
    "where that is not boolean of a ufunc": (lambda np, x: np.add.reduce(x, where=_COUNTS), VECTOR),
    **{
        f"initial that is no scalar of {name}": (
            lambda np, x, name=name: getattr(np, name)(x, initial=np.ones(3)),
            VECTOR,
        )
        for name in ("sum", "prod", "max", "min", "nansum", "nanprod", "nanmax", "nanmin")
    },
    "initial that is no scalar of a ufunc": (lambda np, x: np.add.reduce(x, initial=np.ones(3)), VECTOR),
    "dtype of a covariance": (lambda np, x: np.cov(x, dtype=int), MATRIX),
    "dtype of a correlation": (lambda np, x: np.corrcoef(x, dtype=int), MATRIX),
    **{
        f"stat_length=None of the mode {mode}": (
            lambda np, x, mode=mode: np.pad(x, 1, mode=mode, stat_length=None),
            VECTOR,
        )
        for mode in ("constant", "edge", "linear_ramp", "reflect", "symmetric", "wrap", "empty")
    },
    "three sequences of axes of tensordot": (lambda np, x: np.tensordot(x, x, ((0,), (1,), (0,))), MATRIX),
    "axes of tensordot that are None": (lambda np, x: np.tensordot(x, x, None), MATRIX),
    "axes of tensordot that are a float": (lambda np, x: np.tensordot(x, x, 1.0), MATRIX),
}

SHAPES: Mistakes = {
    "shapes do not broadcast": (lambda np, x: np.add(x, np.zeros(5)), MATRIX),
    "axis of a reduction": (lambda np, x: np.sum(x, axis=2), MATRIX),
    "axis named twice": (lambda np, x: np.sum(x, axis=(0, 0)), MATRIX),
    "extremum of nothing": (lambda np, x: np.max(x), numpy.zeros((0, 3))),
    "position in nothing": (lambda np, x: np.argmax(x), numpy.zeros((0, 3))),
    "number of elements": (lambda np, x: np.reshape(x, (5, -1)), MATRIX),
    "two unknown lengths": (lambda np, x: np.reshape(x, (-1, -1)), MATRIX),
    "permutation": (lambda np, x: np.transpose(x, (0, 0)), MATRIX),
    "axis to swap": (lambda np, x: np.swapaxes(x, 0, 2), MATRIX),
    "axis to move": (lambda np, x: np.moveaxis(x, 5, 0), MATRIX),
    "places for axes": (lambda np, x: np.moveaxis(x, (0, 1), (0,)), MATRIX),
    "length to squeeze": (lambda np, x: np.squeeze(x, 0), MATRIX),
    "axis to squeeze": (lambda np, x: np.squeeze(x, 2), MATRIX),
    "axis to expand": (lambda np, x: np.expand_dims(x, 4), MATRIX),
    "axis to flip": (lambda np, x: np.flip(x, 2), MATRIX),
    "axis to roll": (lambda np, x: np.roll(x, 1, 2), MATRIX),
    "distances to roll": (lambda np, x: np.roll(x, (1, 2, 3), (0, 1)), MATRIX),
    "nothing to join": (lambda np, x: np.concatenate([]), MATRIX),
    "scalars to join": (lambda np, x: np.concatenate([x, x]), 1.0),
    "shapes to join": (lambda np, x: np.concatenate([x, np.zeros((3, 5))]), MATRIX),
    "shapes to stack": (lambda np, x: np.stack([x, np.zeros((3, 5))]), MATRIX),
    "nothing to stack": (lambda np, x: np.stack([]), MATRIX),
    "place to stack": (lambda np, x: np.stack([x, x], axis=4), MATRIX),
    "unequal parts": (lambda np, x: np.split(x, 2), MATRIX),
    "shape to broadcast": (lambda np, x: np.broadcast_to(x, (3, 5)), MATRIX),
    "shorter shape to broadcast": (lambda np, x: np.broadcast_to(x, (4,)), MATRIX),
    "shapes of arrays": (lambda np, x: np.broadcast_arrays(x, np.zeros(5)), MATRIX),
    "pairs to pad": (lambda np, x: np.pad(x, ((1, 1), (1, 1), (1, 1))), MATRIX),
    "negative padding": (lambda np, x: np.pad(x, -1), MATRIX),
    "negative repetition": (lambda np, x: np.repeat(x, -1), MATRIX),
    "axis to repeat": (lambda np, x: np.repeat(x, 2, axis=2), MATRIX),
    "mode of padding": (lambda np, x: np.pad(x, 1, "corner"), MATRIX),
    "argument of a mode of padding": (lambda np, x: np.pad(x, 1, "edge", end_values=1), MATRIX),
    "type of reflection": (lambda np, x: np.pad(x, 1, "wrap", reflect_type="odd"), MATRIX),
    "nothing to continue": (lambda np, x: np.pad(x, 1, "edge"), numpy.zeros((0, 3))),
    "pairs to ramp to": (lambda np, x: np.pad(x, 1, "linear_ramp", end_values=((1, 2),) * 3), MATRIX),
    "number of repetitions": (lambda np, x: np.repeat(x, [1, 2], 0), MATRIX),
    "position to delete": (lambda np, x: np.delete(x, 3, 0), MATRIX),
    "axis to delete": (lambda np, x: np.delete(x, 0, 2), MATRIX),
    "position to insert": (lambda np, x: np.insert(x, 4, 0, 0), MATRIX),
    "values to insert": (lambda np, x: np.insert(x, 1, np.ones(3), 0), MATRIX),
    "shapes to append": (lambda np, x: np.append(x, np.ones(4), 0), MATRIX),
    "diagonal of a vector": (lambda np, x: np.diagonal(x), VECTOR),
    "diagonal of one axis": (lambda np, x: np.diagonal(x, 0, 1, 1), MATRIX),
    "diagonal of no axis": (lambda np, x: np.diagonal(x, 0, 1, 2), MATRIX),
    "diag of a cube": (lambda np, x: np.diag(x), numpy.ones((2, 2, 2))),
    "trace of a vector": (lambda np, x: np.trace(x), VECTOR),
    "columns to flip": (lambda np, x: np.fliplr(x), VECTOR),
    "rows to flip": (lambda np, x: np.flipud(x), 1.0),
    "axes to turn": (lambda np, x: np.rot90(x, 1, (0, 0)), MATRIX),
    "number of axes to turn": (lambda np, x: np.rot90(x, 1, (0,)), MATRIX),
    "vectors to cross": (lambda np, x: np.cross(x, x), MATRIX),
    "lengths of vectors": (lambda np, x: np.vecdot(x, np.zeros(5)), MATRIX),
    "matrix and vector": (lambda np, x: np.matvec(x, np.zeros(5)), MATRIX),
    "vector and matrix": (lambda np, x: np.vecmat(x[0], x), MATRIX),
    "powers of a matrix": (lambda np, x: np.vander(x), MATRIX),
    "negative number of powers": (lambda np, x: np.vander(x, -1), VECTOR),
    "order of a derivative": (lambda np, x: np.polyder(x, -1), VECTOR),
    "order of an antiderivative": (lambda np, x: np.polyint(x, -1), VECTOR),
    "constants of integration": (lambda np, x: np.polyint(x, 3, [1.0, 2.0]), VECTOR),
    "indexing of a grid": (lambda np, x: np.meshgrid(x, indexing="yx"), VECTOR),
    "samples of a logarithm": (lambda np, x: np.logspace(x, 1.0, -1), VECTOR),
    "number of distances": (lambda np, x: np.gradient(x, 1.0, 1.0, 1.0), MATRIX),
    "number of coordinates": (lambda np, x: np.gradient(x, np.ones(5), axis=0), MATRIX),
    "samples of a gradient": (lambda np, x: np.gradient(x), numpy.ones(1)),
    "edges of a gradient": (lambda np, x: np.gradient(x, edge_order=2), numpy.ones(2)),
    "axis of a gradient": (lambda np, x: np.gradient(x, axis=2), MATRIX),
    "axis to unwrap": (lambda np, x: np.unwrap(x, axis=2), MATRIX),
    "axis to apply along": (lambda np, x: np.apply_along_axis(np.sum, 2, x), MATRIX),
    "dimensions over axes": (lambda np, x: np.apply_over_axes(lambda a, axis: a[0, 0], x, 0), MATRIX),
    "conditions": (lambda np, x: np.select([x > 1], [x, x]), MATRIX),
    "no conditions": (lambda np, x: np.select([], []), MATRIX),
    "numbers as conditions": (lambda np, x: np.select([x], [x]), MATRIX),
    "functions of pieces": (lambda np, x: np.piecewise(x, [x > 1], [1, 2, 3]), MATRIX),
    "signature": (lambda np, x: np.vectorize(np.sum, signature="(n->()")(x), MATRIX),
    "arguments of a signature": (lambda np, x: np.vectorize(np.sum, signature="(n),(n)->()")(x), MATRIX),
    "dimensions of a signature": (lambda np, x: np.vectorize(np.dot, signature="(n),(n)->()")(x, np.ones(5)), MATRIX),
    "matrix product": (lambda np, x: np.matmul(x, x), MATRIX),
    "product with a scalar": (lambda np, x: np.matmul(x, 2.0), MATRIX),
    "inner product": (lambda np, x: np.dot(x, np.zeros(5)), MATRIX),
    "last dimensions": (lambda np, x: np.inner(x, np.zeros(5)), MATRIX),
    "elements": (lambda np, x: np.vdot(x, np.zeros(5)), MATRIX),
    "contracted dimensions": (lambda np, x: np.tensordot(x, np.zeros(5), 1), MATRIX),
    "exact dtype of a float function": (lambda np, x: np.bitwise_and(x, x), MATRIX),
    "difference of booleans": (lambda np, x: np.subtract(x, x), numpy.array([True])),
    "shape of a value": (lambda np, x: np.full((2,), x), VECTOR),
    "negative length": (lambda np, x: np.zeros(-1), VECTOR),
    "negative number of samples": (lambda np, x: np.linspace(0, 1, -1), VECTOR),
    "ragged list": (lambda np, x: np.array([[1, 2], [3]]), VECTOR),
    "ragged list of arrays": (lambda np, x: np.array([x, x[:2]]), VECTOR),
    "too few dimensions": (lambda np, x: np.size(x, 2), VECTOR),
    "too few dimensions of several": (lambda np, x: np.size(x, (0, 1)), VECTOR),
    "repeated dimension": (lambda np, x: np.size(x, (1, -1)), MATRIX),
    "two bounds": (lambda np, x: np.clip(x, 0, 1, max=2), VECTOR),
}

AVERAGES: Mistakes = {
    "shape of weights": (lambda np, x: np.average(x, weights=np.ones(5)), MATRIX),
    "shape of weights with an axis": (lambda np, x: np.average(x, axis=0, weights=np.ones(4)), MATRIX),
    "axis of an average": (lambda np, x: np.average(x, axis=2), MATRIX),
    "axis of a range": (lambda np, x: np.ptp(x, axis=2), MATRIX),
    "range of nothing": (lambda np, x: np.ptp(x), EMPTY),
    "range of booleans": (lambda np, x: np.ptp(x), BOOLEANS),
    "axis of a sum without NaN": (lambda np, x: np.nansum(x, axis=2), MATRIX),
    "axis of a mean without NaN": (lambda np, x: np.nanmean(x, axis=2), MATRIX),
    "axis of a mean": (lambda np, x: np.mean(x, axis=2), MATRIX),
    "axis of a variance": (lambda np, x: np.var(x, axis=2), MATRIX),
    "two corrections": (lambda np, x: np.var(x, ddof=1, correction=1), MATRIX),
    "elements that count": (lambda np, x: np.mean(x, where=np.ones(5, bool)), MATRIX),
    "extremum without NaN of nothing": (lambda np, x: np.nanmax(x), EMPTY),
    "position without NaN in nothing": (lambda np, x: np.nanargmax(x), EMPTY),
    "axis of a position without NaN": (lambda np, x: np.nanargmin(x, axis=2), MATRIX),
    "axis of cumulative sums without NaN": (lambda np, x: np.nancumsum(x, axis=2), MATRIX),
    "weights of a method": (lambda np, x: np.quantile(x, 0.5, weights=x), VECTOR),
    "shape of weights of a quantile": (
        lambda np, x: np.quantile(x, 0.5, 0, method="inverted_cdf", weights=np.ones(4)),
        MATRIX,
    ),
    "weights of all with no axis": (
        lambda np, x: np.quantile(x, 0.5, method="inverted_cdf", weights=np.ones(4)),
        MATRIX,
    ),
    "method of a quantile": (lambda np, x: np.quantile(x, 0.5, method="best"), VECTOR),
    "share of a quantile": (lambda np, x: np.quantile(x, 1.5), VECTOR),
    "quantile of complex numbers": (lambda np, x: np.quantile(x, 0.5), COMPLEX),
    "axis of a median": (lambda np, x: np.median(x, axis=2), MATRIX),
    "order of reduction": (lambda np, x: np.subtract.reduce(x, axis=None), MATRIX),
    "reduction of nothing": (lambda np, x: np.maximum.reduce(x), EMPTY),
    "axis of a reduction by a ufunc": (lambda np, x: np.multiply.reduce(x, axis=2), MATRIX),
    "reduction by a function of one": (lambda np, x: np.sin.reduce(x), VECTOR),
    "position of a slice": (lambda np, x: np.add.reduceat(x, [0, 5]), VECTOR),
}

SAMPLES: Mistakes = {
    "weights of a histogram": (lambda np, x: np.histogram(x, weights=np.ones(5)), VECTOR),
    "ends that decrease": (lambda np, x: np.histogram(x, np.array([2.0, 1.0])), VECTOR),
    "ends in two dimensions": (lambda np, x: np.histogram(x, np.ones((2, 2))), VECTOR),
    "no intervals": (lambda np, x: np.histogram(x, 0), VECTOR),
    "infinite range": (lambda np, x: np.histogram(x, 3, (0.0, numpy.inf)), VECTOR),
    "range that decreases": (lambda np, x: np.histogram_bin_edges(x, 3, (1.0, 0.0)), VECTOR),
    "intervals of each direction": (lambda np, x: np.histogramdd(x, (2, 2)), MATRIX),
    "ranges of each direction": (lambda np, x: np.histogramdd(x, 2, [(0.0, 1.0)]), MATRIX),
    "samples of a polynomial": (lambda np, x: np.polyfit(x, np.ones(5), 1), VECTOR),
    "degree of a polynomial": (lambda np, x: np.polyfit(x, x, -1), VECTOR),
    "samples in a matrix": (lambda np, x: np.polyfit(x, x, 1), MATRIX),
    "weights of a polynomial": (lambda np, x: np.polyfit(x, x, 1, w=np.ones(5)), VECTOR),
    "samples of a covariance": (lambda np, x: np.polyfit(x, x, 2, cov=True), numpy.array([1.0, 2.0, 4.0])),
    "roots of a matrix": (lambda np, x: np.roots(x), MATRIX),
    "polynomial of a matrix": (lambda np, x: np.poly(x), MATRIX),
    "samples of a convolution": (lambda np, x: np.convolve(x, np.zeros(0)), VECTOR),
    "mode of a convolution": (lambda np, x: np.convolve(x, x, "half"), VECTOR),
    "points to interpolate": (lambda np, x: np.interp(x, x, np.ones(5)), VECTOR),
    "no period": (lambda np, x: np.interp(x, x, x, period=0), VECTOR),
    "variables in a cube": (lambda np, x: np.cov(x), CUBE),
    "weights of samples": (lambda np, x: np.cov(x, aweights=np.ones(5)), MATRIX),
}

POSITIONS: Mistakes = {
    "position to take": (lambda np, x: np.take(x, numpy.array([5])), VECTOR),
    "negative position to take": (lambda np, x: np.take(x, numpy.array([-5])), VECTOR),
    "mode to take": (lambda np, x: np.take(x, numpy.array([0]), mode="nearest"), VECTOR),
    "axis to take": (lambda np, x: np.take(x, numpy.array([0]), axis=1), VECTOR),
    "float positions to take": (lambda np, x: np.take(x, numpy.array([0.5])), VECTOR),
    "position to take along": (lambda np, x: np.take_along_axis(x, numpy.array([5]), 0), VECTOR),
    "dimensions to take along": (lambda np, x: np.take_along_axis(x, numpy.array([0]), 0), MATRIX),
    "float positions to take along": (lambda np, x: np.take_along_axis(x, numpy.array([0.5]), 0), VECTOR),
    "choice": (lambda np, x: np.choose(numpy.array([0, 2, 1]), [x, x]), VECTOR),
    "mode of a choice": (lambda np, x: np.choose(numpy.array([0, 1, 1]), [x, x], mode="nearest"), VECTOR),
    "shapes to choose from": (lambda np, x: np.choose(numpy.array([0, 1, 1]), [x, np.ones(4)]), VECTOR),
    "condition in two dimensions": (lambda np, x: np.compress(MATRIX > 0, x), VECTOR),
    "condition that is too long": (lambda np, x: np.compress([True] * 4, x), VECTOR),
    "axis to compress": (lambda np, x: np.compress([True], x, axis=1), VECTOR),
    "matrix of positions": (lambda np, x: x[np.ix_(numpy.array([[0]]), numpy.array([0]))], MATRIX),
    "flat position outside": (lambda np, x: x[np.unravel_index(12, (3, 4))], MATRIX),
    "negative flat position": (lambda np, x: x[np.unravel_index(-1, (3, 4))], MATRIX),
    "order of flat positions": (lambda np, x: x[np.unravel_index(3, (3, 4), "K")], MATRIX),
    "float flat position": (lambda np, x: x[np.unravel_index(numpy.array([0.5]), (3, 4))], MATRIX),
    "position in a dimension": (lambda np, x: x[np.ravel_multi_index((3,), (3,))], VECTOR),
    "mode of positions": (lambda np, x: x[np.ravel_multi_index((1,), (3,), mode="nearest")], VECTOR),
    "number of positions": (lambda np, x: x[np.ravel_multi_index((1, 1), (3,))], VECTOR),
    "triangle of a vector": (lambda np, x: x[np.tril_indices_from(x)], VECTOR),
    "diagonal of unequal lengths": (lambda np, x: x[np.diag_indices_from(x)], MATRIX),
    "shape of a grid": (lambda np, x: x + np.indices((1.5,)), VECTOR),
    "sorted in two dimensions": (lambda np, x: np.searchsorted(x, 1.0), MATRIX),
    "side of a search": (lambda np, x: np.searchsorted(x, 1.0, side="middle"), VECTOR),
    "bins that do neither": (lambda np, x: np.digitize(x, np.array([1.0, 3.0, 2.0])), VECTOR),
    "floats to count": (lambda np, x: np.bincount(x), VECTOR),
    "place of a partition": (lambda np, x: np.partition(x, 5), VECTOR),
    "axis to sort": (lambda np, x: np.sort(x, axis=1), VECTOR),
}

PARTS: Mistakes = {
    "no parts": (lambda np, x: np.array_split(x, 0), VECTOR),
    "axis of parts": (lambda np, x: np.array_split(x, 2, axis=1), VECTOR),
    "columns of a scalar": (lambda np, x: np.hsplit(x, 1), 1.0),
    "rows of a vector": (lambda np, x: np.vsplit(x, 1), VECTOR),
    "planes of a matrix": (lambda np, x: np.dsplit(x, 1), MATRIX),
    "depths of blocks": (lambda np, x: np.block([x, [x]]), VECTOR),
    "tuple of blocks": (lambda np, x: np.block([(x, x)]), VECTOR),
    "empty list of blocks": (lambda np, x: np.block([[x], []]), VECTOR),
    "shapes of blocks": (lambda np, x: np.block([[x], [x[:2]]]), VECTOR),
    "shapes of planes": (lambda np, x: np.dstack([x, x[:2]]), VECTOR),
    "axis to roll back": (lambda np, x: np.rollaxis(x, 2), MATRIX),
    "place to roll to": (lambda np, x: np.rollaxis(x, 0, 4), MATRIX),
    "negative new shape": (lambda np, x: np.resize(x, (-1, 2)), VECTOR),
    "sides to trim": (lambda np, x: x * np.trim_zeros(numpy.arange(3), "x").size, VECTOR),
    "bits of floats": (lambda np, x: np.packbits(x), VECTOR),
    "bits of wide integers": (lambda np, x: np.unpackbits(x), INTEGERS),
    "order of bits": (lambda np, x: np.packbits(x, bitorder="middle"), BOOLEANS),
    "axis of bits": (lambda np, x: np.packbits(x, axis=1), BOOLEANS),
    "casting": (lambda np, x: np.concatenate([x, x], dtype="int64"), VECTOR),
    "rule of casting": (lambda np, x: np.stack([x, x], dtype="int64", casting="some"), VECTOR),
}

NUMBERS: Mistakes = {
    "bits of a float": (lambda np, x: np.bitwise_count(x), VECTOR),
    "divisor of floats": (lambda np, x: np.gcd(x, 2), VECTOR),
    "shift of floats": (lambda np, x: np.left_shift(x, 1), VECTOR),
    "float exponent": (lambda np, x: np.ldexp(x, 0.5), VECTOR),
    "mantissa of complex numbers": (lambda np, x: np.frexp(x), COMPLEX),
    "order of complex numbers": (lambda np, x: np.floor(x), COMPLEX),
    "infinity of complex numbers": (lambda np, x: np.isposinf(x), COMPLEX),
    "Bessel function of complex numbers": (lambda np, x: np.i0(x), COMPLEX),
    "negative of booleans": (lambda np, x: np.negative(x), BOOLEANS),
    "sign of booleans": (lambda np, x: np.sign(x), BOOLEANS),
    "differences of booleans": (lambda np, x: np.subtract(x, True), BOOLEANS),
    "type of booleans": (lambda np, x: np.zeros(2, np.common_type(x)), BOOLEANS),
    "unknown dtype": (lambda np, x: np.astype(x, "float31"), VECTOR),
    "unknown dtype of an array": (lambda np, x: x * np.zeros(3, "float31"), VECTOR),
    "unknown dtype of a sum": (lambda np, x: np.sum(x, dtype="float31"), VECTOR),
    "negative power of integers": (lambda np, x: np.power(x, -1), INTEGERS),
    "integer that does not fit": (lambda np, x: np.add(x, 300), INTEGERS.astype("int8")),
    **{
        f"integers that do not fit, {values!r:.20}, as {dtype} by {name}": (
            lambda np, x, name=name, values=values, dtype=dtype: np.add(x, getattr(np, name)(values, dtype)),
            INTEGERS,
        )
        for name in ("array", "asarray")
        for values, dtype in (
            *((300, "uint8"), ([[1, 300, 2]], "uint8"), (range(300, 303), "int8"), (-1, "uint64")),
            *(([-1, 2, 3], "uint64"), ([1, 2**70, 2], "int16"), ([10**400, 1, 2], float)),
        )
    },
    "fill value that does not fit": (lambda np, x: np.full_like(x, 300), INTEGERS.astype("uint8")),
    "fill value beyond floats": (lambda np, x: np.add(x, np.full(3, 10**400, float)), VECTOR),
    "start that does not fit": (lambda np, x: np.add(x, np.arange(-1, 2, dtype="uint8")), INTEGERS),
    "more than 64 dimensions": (lambda np, x: np.expand_dims(x, tuple(range(70))), VECTOR),
    "more than 64 dimensions of zeros": (lambda np, x: x[0] * np.zeros((1,) * 65), VECTOR),
    "more than 64 nested lists": (lambda np, x: np.add(x, np.array(nested(1.0, 5000))), VECTOR),
    "more than 64 nested empty lists": (lambda np, x: np.add(x, np.array(nested([], 5000))), VECTOR),
    "shapes of an outer function": (lambda np, x: np.add(x, np.ones((2, 2))), VECTOR),
}

MATRICES: Mistakes = {
    **{
        f"linalg.{name} of what is not square": (lambda np, x, name=name: getattr(np.linalg, name)(x), MATRIX)
        for name in ("inv", "det", "slogdet", "cholesky", "eig", "eigh", "eigvals", "eigvalsh")
    },
    **{
        f"linalg.{name} of a vector": (lambda np, x, name=name: getattr(np.linalg, name)(x), VECTOR)
        for name in ("inv", "det", "svd", "qr", "pinv", "matrix_norm", "cond", "matrix_transpose", "trace", "diagonal")
    },
    "power of what is not square": (lambda np, x: np.linalg.matrix_power(x, 2), MATRIX),
    "fractional power": (lambda np, x: np.linalg.matrix_power(x, 0.5), numpy.eye(2)),
    "sides of an equation": (lambda np, x: np.linalg.solve(x, np.ones(3)), numpy.eye(2)),
    "rows of an equation": (lambda np, x: np.linalg.lstsq(x, np.ones(4)), MATRIX),
    "stack of least squares": (lambda np, x: np.linalg.lstsq(x, np.ones(2)), CUBE),
    "norm of a vector": (lambda np, x: np.linalg.norm(x, "fro"), VECTOR),
    "norm of a matrix": (lambda np, x: np.linalg.norm(x, 3), MATRIX),
    "norm of a cube": (lambda np, x: np.linalg.norm(x, 2), CUBE),
    "axis of a norm": (lambda np, x: np.linalg.norm(x, axis=2), MATRIX),
    "triangle": (lambda np, x: np.linalg.eigh(x, "M"), numpy.eye(2)),
    "mode of a decomposition": (lambda np, x: np.linalg.qr(x, "some"), numpy.eye(2)),
    "vectors of a cross product": (lambda np, x: np.linalg.cross(x, x), MATRIX),
    "factors of a product": (lambda np, x: np.linalg.multi_dot([x]), MATRIX),
    "sizes of factors": (lambda np, x: np.linalg.multi_dot([x, x]), MATRIX),
    "outer product of matrices": (lambda np, x: np.linalg.outer(x, x), MATRIX),
    "sides of an inverse": (lambda np, x: np.linalg.tensorinv(x, 1), MATRIX),
    "no sides of an inverse": (lambda np, x: np.linalg.tensorinv(x, 0), MATRIX),
    "half precision": (lambda np, x: np.linalg.inv(x), numpy.eye(2, dtype="float16")),
    "points of a transform": (lambda np, x: np.fft.fft(x, 0), VECTOR),
    "norm of a transform": (lambda np, x: np.fft.fft(x, norm="some"), VECTOR),
    "axis of a transform": (lambda np, x: np.fft.fft(x, axis=1), VECTOR),
    "real transform of complex numbers": (lambda np, x: np.fft.rfft(x), COMPLEX),
    "sizes of a transform": (lambda np, x: np.fft.fftn(x, (2, 2), (0,)), MATRIX),
    "transform of two dimensions": (lambda np, x: np.fft.fft2(x), VECTOR),
    "axis to shift": (lambda np, x: np.fft.fftshift(x, 1), VECTOR),
    "number of frequencies": (lambda np, x: x * np.fft.fftfreq(1.5), VECTOR),
}

#: The first NumPy that refuses a mistake as the newest does: an earlier one has no such function, argument or check.
SINCE = {
    **dict.fromkeys(("matrix and vector", "vector and matrix", "sides to trim"), "2.2.0"),
    **dict.fromkeys(("too few dimensions of several", "repeated dimension"), "2.4.0"),
}

#: Mistakes in operators, which are lawful's only if an array is traced.
OPERATORS: Mistakes = {
    "index outside": (lambda np, x: x[5], VECTOR),
    "indices outside": (lambda np, x: x[numpy.array([0, 5])], VECTOR),
    "too many indices": (lambda np, x: x[0, 0], VECTOR),
    "float as index": (lambda np, x: x[1.0], VECTOR),
    "length of a mask": (lambda np, x: x[numpy.array([True, False])], VECTOR),
    "booleans minus booleans": (lambda np, x: x - x, BOOLEANS),
    "minus booleans": (lambda np, x: -x, BOOLEANS),
    "shapes of a sum": (lambda np, x: x + numpy.ones(5), MATRIX),
    "shapes of a product of matrices": (lambda np, x: x @ x, MATRIX),
    "bits of floats of both": (lambda np, x: x & x, VECTOR),
    "dtype of a conversion": (lambda np, x: x.astype("float31"), VECTOR),
    "shape of a method": (lambda np, x: x.reshape(5), VECTOR),
    "axis of a method": (lambda np, x: x.sum(axis=2), VECTOR),
}

#: All other mistakes by subject.
mistakes: Mistakes = {**SHAPES, **CHOSEN, **AVERAGES, **SAMPLES, **POSITIONS, **PARTS, **NUMBERS, **MATRICES}
assert len(mistakes) == sum(map(len, (SHAPES, CHOSEN, AVERAGES, SAMPLES, POSITIONS, PARTS, NUMBERS, MATRICES)))
assert SINCE.keys() <= mistakes.keys()
