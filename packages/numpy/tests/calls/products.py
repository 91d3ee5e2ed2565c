"""Calls of products, correlations and polynomials."""

import numpy

from ._case import Case, Data, case, creates, since


def table(data: Data) -> dict[str, list[Case]]:
    """Returns the calls by subject."""
    return {
        "products": [
            case(lambda np, a, b: np.dot(a, b), data.vector, data.vector),
            case(lambda np, a, b: np.dot(a, b), data.matrix, data.vector),
            case(lambda np, a, b: np.dot(a, b), data.cube, data.matrix.T),
            case(lambda np, a, b: np.dot(a, b), 2.0, data.matrix),
            case(lambda np, a, b: np.matmul(a, b), data.matrix, data.cube.transpose(0, 2, 1)),
            case(lambda np, a, b: np.matmul(a, b), data.single, data.integers.T),
            case(lambda np, a, b: np.matmul(a, b), data.vector, data.vector),
            case(lambda np, a, b: np.matmul(a, b), data.complex, data.matrix.T),
            case(lambda np, a, b: np.matmul(a, b), data.mask, data.mask.T),
            case(lambda np, a, b: np.matmul(a, b), data.half, data.half.T),
            case(lambda np, a, b: np.tensordot(a, b), data.matrix, data.matrix),
            case(lambda np, a, b: np.tensordot(a, b, 1), data.matrix, data.vector),
            case(lambda np, a, b: np.tensordot(a, b, ([0, 2], [1, 0])), data.cube, data.cube.transpose(2, 0, 1)),
            case(lambda np, a, b: np.outer(a, b), data.vector, data.matrix),
            case(lambda np, a, b: np.vdot(a, b), data.matrix, data.matrix),
            case(lambda np, a, b: np.vdot(a, b), data.complex, data.complex[::-1]),
            case(lambda np, a, b: np.inner(a, b), data.matrix, data.cube),
            case(lambda np, a, b: np.inner(a, b), 2.0, data.vector),
            case(lambda np, a: np.trace(a), data.matrix),
            case(lambda np, a: np.trace(a, 1), data.matrix),
            case(lambda np, a: np.trace(a, offset=-2), data.integers),
        ],
        "products of stacks": [
            case(lambda np, a, b: np.kron(a, b), data.matrix, data.vector),
            case(lambda np, a, b: np.kron(a, b), data.cube, data.integers),
            case(lambda np, a, b: np.kron(a, b), data.scalar, data.vector),
            case(lambda np, a, b: np.vecdot(a, b), data.matrix, data.vector),
            case(lambda np, a, b: np.vecdot(a, b), data.complex, data.complex + 1j),
            case(lambda np, a, b: np.vecdot(a, b), data.bytes, data.integers),
            case(lambda np, a, b: np.vecdot(a, b, axis=0), data.matrix, data.matrix),
            since("2.2.0", case(lambda np, a, b: np.matvec(a, b), data.cube, data.vector)),
            since("2.2.0", case(lambda np, a, b: np.matvec(a, b), data.complex, data.vector)),
            since("2.2.0", case(lambda np, a, b: np.vecmat(a, b), data.vector, data.cube.swapaxes(1, 2))),
            since("2.2.0", case(lambda np, a, b: np.vecmat(a, b), data.complex[:, 0], data.complex)),
            case(lambda np, a, b: np.cross(a, b), data.matrix[:, :3], data.vector[:3]),
            case(lambda np, a, b: np.cross(a, b, axis=0), data.matrix, data.integers),
            case(lambda np, a, b: np.cross(a, b, axisa=1, axisb=0, axisc=0), data.cube, data.matrix[:, :1]),
            case(lambda np, a, b: np.einsum("ij,ij->i", a, b), data.matrix, data.matrix),
            creates(lambda np, a: np.ones(len(np.einsum_path("ij,kj", a, a)[0])), data.matrix),
        ],
        "correlation": [
            case(lambda np, a, v, name=name, mode=mode: getattr(np, name)(a, v, mode), a, v)
            for name in ("convolve", "correlate")
            for mode in ("full", "same", "valid")
            for a, v in (
                (data.vector, data.matrix[0, :3]),
                (data.matrix[0, :2], data.vector),
                (data.integers[0], data.integers[1]),
                (data.complex[0], data.vector),
            )
        ]
        + [
            case(lambda np, x: np.cov(x), data.matrix),
            case(lambda np, x: np.cov(x, rowvar=False, bias=True), data.matrix),
            case(lambda np, x, y: np.cov(x, y, ddof=0), data.vector, data.vector[::-1]),
            case(lambda np, x: np.cov(x), data.complex),
            case(lambda np, x: np.cov(x, fweights=numpy.array([1, 2, 1, 3]), aweights=data.vector), data.matrix),
            case(lambda np, x: np.corrcoef(x), data.matrix),
            case(lambda np, x, y: np.corrcoef(x, y), data.integers, data.matrix),
        ],
        "polynomials": [
            *[
                case(lambda np, x, N=N, up=up: np.vander(x, N, up), x)
                for N in (None, 0, 1, 3)
                for up in (False, True)
                for x in (data.vector, data.integers[0], data.bytes[0], data.complex[0])
            ],
            case(lambda np, p, x: np.polyval(p, x), data.vector, data.matrix),
            case(lambda np, p, x: np.polyval(p, x), data.integers[0], 3),
            case(lambda np, p, x: np.polyval(p, x), data.complex[0], data.scalar),
            case(lambda np, a, b: np.polyadd(a, b), data.vector, data.integers[0, :2]),
            case(lambda np, a, b: np.polysub(a, b), data.vector[:3], data.vector),
            case(lambda np, a, b: np.polymul(a, b), data.vector, data.vector[1:]),
            case(lambda np, a, b: np.polymul(a, b), 1 + data.bytes[0].astype(int), data.complex[0]),
            *[
                case(lambda np, p, m=m: np.polyder(p, m), p)
                for m in (0, 1, 2, 5)
                for p in (data.vector, data.integers[0])
            ],
            *[case(lambda np, p, m=m: np.polyint(p, m), p) for m in (0, 1, 3) for p in (data.vector, data.complex[0])],
            case(lambda np, p: np.polyint(p, 2, [1.0, 2.0]), data.vector),
            case(lambda np, p: np.polyint(p, 2, 3.0), data.vector),
        ],
    }
