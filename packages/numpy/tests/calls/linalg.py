"""Calls of linear algebra."""

import numpy

from ._case import Case, Data, case, creates


def table(data: Data) -> dict[str, list[Case]]:
    """Returns the calls by subject."""
    definite = data.squares @ data.squares.swapaxes(1, 2)
    symmetric = data.square + data.square.T
    single = data.square.astype("float32")
    square_c = data.square + 1j * data.square[::-1]
    # Of full rank, and well conditioned: rounding in a pseudo-inverse grows with the condition number.
    wide = data.cube + 3 * numpy.eye(3, 4)
    return {
        "solving": [
            case(lambda np, a, b: np.linalg.solve(a, b), data.square, data.vector[:3]),
            case(lambda np, a, b: np.linalg.solve(a, b), data.squares, data.matrix.T),
            case(lambda np, a, b: np.linalg.solve(a, b), square_c, data.matrix),
            case(lambda np, a: np.linalg.inv(a), data.squares),
            case(lambda np, a: np.linalg.inv(a), single),
            case(lambda np, a: np.linalg.det(a), data.square),
            case(lambda np, a: np.linalg.det(a), data.squares),
            case(lambda np, a: np.linalg.det(a), square_c),
            case(lambda np, a: np.linalg.slogdet(a), data.squares),
            case(lambda np, a: np.linalg.slogdet(a), square_c),
            *[case(lambda np, a, n=n: np.linalg.matrix_power(a, n), data.square) for n in (0, 1, 2, 5, -2)],
            case(lambda np, a: np.linalg.matrix_power(a, 3), data.integers[:, :3]),
            case(lambda np, a: np.linalg.matrix_rank(a), data.cube),
            case(lambda np, a: np.linalg.pinv(a), wide),
            case(lambda np, a: np.linalg.pinv(a), data.complex),
            case(lambda np, a, b: np.linalg.lstsq(a, b), data.matrix.T, data.vector),
            case(lambda np, a, b: np.linalg.lstsq(a, b), data.matrix, data.square),
            case(
                lambda np, a, b: np.linalg.tensorsolve(a, b),
                data.squares[0].reshape(2, 2, 4),
                data.vector.reshape(2, 2),
            ),
            case(lambda np, a: np.linalg.tensorinv(a, 1), data.squares[0].reshape(4, 2, 2)),
        ],
        "decompositions": [
            case(lambda np, a: np.linalg.cholesky(a + np.matrix_transpose(a)), definite),
            case(lambda np, a: np.linalg.cholesky(a + np.matrix_transpose(a), upper=True), definite),
            *[case(lambda np, a, mode=mode: np.linalg.qr(a, mode), data.cube) for mode in ("reduced", "r")],
            case(lambda np, a: np.linalg.qr(a, "complete"), data.square),
            case(lambda np, a: np.linalg.svd(a, full_matrices=False), data.matrix),
            case(lambda np, a: np.linalg.svd(a, compute_uv=False), data.cube),
            case(lambda np, a: np.linalg.svdvals(a), data.complex),
            case(lambda np, a: np.linalg.eigh(a + a.T), data.square),
            case(lambda np, a: np.linalg.eigvalsh(a + np.matrix_transpose(a), "U"), data.squares),
            case(lambda np, a: np.astype(np.linalg.eigvals(a + 0j), complex), symmetric + numpy.diag([0.0, 1.0, 2.0])),
            creates(
                lambda np, a: np.abs(np.linalg.eig(a + 0j).eigenvalues), numpy.diag([1.0, 2.0, 4.0]).astype("float32")
            ),
        ],
        "norms": [
            *[case(lambda np, x, ord=ord: np.linalg.norm(x, ord), data.vector) for ord in (None, 1, 2, 3, 0.5, 0)],
            *[case(lambda np, x, ord=ord: np.linalg.norm(x, ord), data.vector) for ord in (numpy.inf, -numpy.inf)],
            *[
                case(lambda np, x, ord=ord: np.linalg.norm(x, ord, axis=(0, 2), keepdims=True), data.cube)
                for ord in (None, "fro", "nuc", 1, -1, 2, -2, numpy.inf, -numpy.inf)
            ],
            case(lambda np, x: np.linalg.norm(x, axis=1), data.complex),
            case(lambda np, x: np.linalg.norm(x), data.integers),
            case(lambda np, x: np.linalg.vector_norm(x, axis=(0, 1), ord=3), data.cube),
            case(lambda np, x: np.linalg.vector_norm(x, keepdims=True), data.single),
            case(lambda np, x: np.linalg.matrix_norm(x, ord="nuc"), data.cube),
            *[case(lambda np, x, p=p: np.linalg.cond(x, p), data.squares) for p in (None, 1, -2, "fro", numpy.inf)],
        ],
        "products of matrices": [
            case(lambda np, a, b: np.linalg.cross(a, b), data.square, data.vector[:3]),
            case(lambda np, a, b: np.linalg.cross(a, b, axis=0), data.matrix, data.integers),
            case(lambda np, a: np.linalg.diagonal(a, offset=1), data.cube),
            case(lambda np, a: np.linalg.trace(a, offset=-1), data.cube),
            case(lambda np, a: np.linalg.trace(a, dtype="float32"), data.bytes),
            case(lambda np, a, b: np.linalg.matmul(a, b), data.cube, data.matrix.T),
            case(lambda np, a: np.linalg.matrix_transpose(a), data.cube),
            case(lambda np, a, b, c: np.linalg.multi_dot([a, b, c]), data.matrix, data.matrix.T, data.matrix),
            case(lambda np, a, b: np.linalg.multi_dot([a, b]), data.vector, data.matrix.T),
            case(lambda np, a, b: np.linalg.outer(a, b), data.vector, data.complex[0]),
            case(lambda np, a, b: np.linalg.tensordot(a, b, axes=1), data.cube, data.matrix.T),
            case(lambda np, a, b: np.linalg.vecdot(a, b), data.complex, data.vector),
        ],
    }
