"""Calls of functions that change the shape of an array."""

from ._case import Case, Data, case


def table(data: Data) -> dict[str, list[Case]]:
    """Returns the calls by subject."""
    return {
        "shapes": [
            case(lambda np, x: np.reshape(x, (4, -1)), data.matrix),
            case(lambda np, x: np.reshape(x, 12), data.cube[0]),
            case(lambda np, x: np.reshape(x, (2, 2), copy=True), data.vector),
            case(lambda np, x: np.ravel(x), data.cube),
            case(lambda np, x: np.transpose(x), data.cube),
            case(lambda np, x: np.transpose(x, (1, 2, 0)), data.cube),
            case(lambda np, x: np.transpose(x, (0, -1, 1)), data.cube),
            case(lambda np, x: np.permute_dims(x, (1, 2, 0)), data.cube),
            case(lambda np, x: np.matrix_transpose(x), data.cube),
            case(lambda np, x: np.swapaxes(x, 0, -1), data.cube),
            case(lambda np, x: np.moveaxis(x, 0, -1), data.cube),
            case(lambda np, x: np.moveaxis(x, (0, 1), (-1, 0)), data.cube),
            case(lambda np, x: np.squeeze(x), data.thin),
            case(lambda np, x: np.squeeze(x, axis=-1), data.thin),
            case(lambda np, x: np.squeeze(x, axis=(0, 2)), data.thin),
            case(lambda np, x: np.expand_dims(x, 0), data.matrix),
            case(lambda np, x: np.expand_dims(x, axis=(0, -1)), data.matrix),
            case(lambda np, x: np.expand_dims(x, ()), data.matrix),
            case(lambda np, x: np.flip(x), data.matrix),
            case(lambda np, x: np.flip(x, axis=(0, -1)), data.cube),
            case(lambda np, x: np.roll(x, 5), data.matrix),
            case(lambda np, x: np.roll(x, -1, axis=1), data.matrix),
            case(lambda np, x: np.roll(x, (1, 2), axis=(0, 1)), data.matrix),
            case(lambda np, x: np.roll(x, 1, axis=(0, 1)), data.matrix),
            case(lambda np, x: np.roll(x, 1), data.empty),
            case(lambda np, x: np.broadcast_to(x, (2, 3, 4)), data.vector),
            case(lambda np, x: np.broadcast_to(x, (5, 2, 4, 3)), data.thin),
            case(lambda np, x: np.broadcast_to(x, ()), data.scalar),
            case(lambda np, x, y: np.broadcast_arrays(x, y), data.vector, data.matrix[:, :1]),
            case(lambda np, x: np.atleast_1d(x), data.scalar),
            case(lambda np, x, y: np.atleast_1d(x, y), 2.0, data.matrix),
            case(lambda np, x: np.atleast_2d(x), data.vector),
            case(lambda np, x: np.atleast_2d(x), data.scalar),
            case(lambda np, x: np.tril(x), data.matrix),
            case(lambda np, x: np.tril(x, -1), data.cube),
            case(lambda np, x: np.triu(x, 1), data.integers),
            case(lambda np, x: np.triu(x, k=-1), data.matrix),
        ],
        "diagonals": [
            *[
                case(lambda np, x, name=name, k=k: getattr(np, name)(x, k), x)
                for name in ("diag", "diagonal", "trace")
                for k in (0, 1, -2, 4, 9, -9)
                for x in (data.matrix, data.integers, data.complex)
            ],
            *[case(lambda np, x, k=k: np.diag(x, k), data.vector) for k in (0, 2, -1)],
            case(lambda np, x: np.diag(x), data.empty[:, 0]),
            case(lambda np, x: np.diagflat(x, 1), data.matrix),
            case(lambda np, x: np.diagonal(x, 1, 2, 0), data.cube),
            case(lambda np, x: np.diagonal(x, axis1=-1, axis2=-2), data.cube),
            case(lambda np, x: np.diagonal(x), data.empty),
            case(lambda np, x: np.trace(x, -1, 1, 2), data.cube),
            case(lambda np, x: np.trace(x, dtype="float32"), data.bytes),
            case(lambda np, x: np.fliplr(x), data.matrix),
            case(lambda np, x: np.flipud(x), data.vector),
            *[case(lambda np, x, k=k: np.rot90(x, k), data.matrix) for k in range(-1, 5)],
            case(lambda np, x: np.rot90(x, 1, (2, 0)), data.cube),
        ],
    }
