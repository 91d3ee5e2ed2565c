"""Calls of functions that join, split and pad arrays."""

import numpy

from ._case import Case, Data, case, since


def table(data: Data) -> dict[str, list[Case]]:
    """Returns the calls by subject."""
    return {
        "joining": [
            case(lambda np, x, y: np.concatenate([x, y]), data.matrix, data.integers),
            case(lambda np, x, y: np.concatenate((x, y), axis=-1), data.single, data.bytes),
            case(lambda np, x, y: np.concatenate((x, y), axis=None), data.vector, data.matrix),
            case(lambda np, x, y: np.concatenate((x, y), dtype="float32"), data.vector, data.vector),
            case(lambda np, x: np.concatenate(x), data.cube),
            case(lambda np, x, y: np.concat([x, y], axis=1), data.matrix, data.matrix),
            case(lambda np, x, y: np.stack([x, y]), data.matrix, data.integers),
            case(lambda np, x, y: np.stack([x, y], axis=-1), data.vector, data.vector),
            case(lambda np, x, y: np.stack([x, y]), data.scalar, numpy.float32(2)),
            case(lambda np, x: np.stack(x, axis=1), data.cube),
            case(lambda np, x, y: np.vstack([x, y]), data.vector, data.matrix),
            case(lambda np, x, y: np.hstack([x, y]), data.matrix, data.matrix[:, :1]),
            case(lambda np, x, y: np.hstack([x, y]), data.vector, data.vector),
            case(lambda np, x, y: np.hstack([x, y]), data.scalar, data.vector),
            case(lambda np, x, y: np.column_stack([x, y]), data.matrix[:, 0], data.matrix),
            case(lambda np, x: np.tile(x, 2), data.matrix),
            case(lambda np, x: np.tile(x, (2, 1, 3)), data.matrix),
            case(lambda np, x: np.tile(x, (2,)), data.cube),
            case(lambda np, x: np.tile(x, 3), data.scalar),
            case(lambda np, x: np.repeat(x, 2), data.matrix),
            case(lambda np, x: np.repeat(x, 3, axis=1), data.matrix),
            case(lambda np, x: np.repeat(x, 0, axis=-1), data.matrix),
            case(lambda np, x: np.pad(x, 1), data.matrix),
            case(lambda np, x: np.pad(x, (1, 2)), data.matrix),
            case(lambda np, x: np.pad(x, ((1, 2), (0, 3)), constant_values=7), data.integers),
            case(lambda np, x: np.pad(x, ((1, 2), (0, 3)), constant_values=((1, 2), (3, 4))), data.matrix),
            case(lambda np, x: np.pad(x, 1, mode="constant", constant_values=(1, 2)), data.matrix),
            case(lambda np, x: np.split(x, 3), data.matrix),
            case(lambda np, x: np.split(x, [1, 3], axis=1), data.matrix),
            case(lambda np, x: np.split(x, [2, 1, 9, -1], axis=1), data.matrix),
        ],
        "parts": [
            case(lambda np, x, axis=axis: np.unstack(x, axis=axis), x)
            for axis in (0, -1)
            for x in (data.matrix, data.cube)
        ],
        "edited": [
            case(lambda np, x, y: np.append(x, y), data.matrix, data.vector),
            case(lambda np, x, y: np.append(x, y, 0), data.matrix, data.integers),
            *[
                case(lambda np, x, obj=obj, axis=axis: np.delete(x, obj, axis), data.matrix)
                for obj in (0, -1, [0, 2], slice(None, None, 2), [], [1, 1], numpy.array([True, False, True]))
                for axis in (0, 1, None)
                if not (axis != 0 and isinstance(obj, numpy.ndarray))
            ],
            *[
                case(lambda np, x, v, obj=obj, axis=axis: np.insert(x, obj, v, axis), data.matrix, data.scalar)
                for obj in (0, -1, 2, [0, 2], [1], slice(0, 2), [1, 1])
                for axis in (0, 1, None)
            ],
            case(lambda np, x, v: np.insert(x, 1, v, 0), data.matrix, data.vector),
            case(lambda np, x, v: np.insert(x, 1, v, 1), data.matrix, data.vector[:3]),
            case(lambda np, x, v: np.insert(x, [1], v, 1), data.matrix, data.vector[:3, None]),
            case(lambda np, x, v: np.insert(x, [0, 2], v, 1), data.matrix, data.matrix[:, :2]),
            case(lambda np, x, v: np.insert(x, 1, v), data.integers, data.vector),
            case(lambda np, x: np.repeat(x, [1, 0, 3], axis=0), data.matrix),
            case(lambda np, x: np.repeat(x, numpy.arange(4), axis=1), data.integers),
            case(lambda np, x: np.repeat(x, [2]), data.scalar),
        ],
        "padding": [
            *[
                case(lambda np, x, mode=mode, width=width: np.pad(x, width, mode), x)
                for mode in (
                    "edge",
                    "reflect",
                    "symmetric",
                    "wrap",
                    "linear_ramp",
                    "maximum",
                    "minimum",
                    "mean",
                    "median",
                )
                for width in (1, ((2, 0), (0, 3)), ((7, 5), (9, 1)))
                for x in (data.matrix, data.integers, data.single)
            ],
            *[
                case(lambda np, x, mode=mode, width=width: np.pad(x, width, mode, reflect_type="odd"), x)
                for mode in ("reflect", "symmetric")
                for width in (1, ((7, 5), (9, 1)))
                for x in (data.matrix, data.integers, data.bytes, data.matrix[:1])
            ],
            *[
                case(lambda np, x, mode=mode, n=n: np.pad(x, 2, mode, stat_length=n), data.matrix)
                for mode in ("maximum", "minimum", "mean", "median")
                for n in (2, ((1, 2), (3, 99)))
            ],
            case(lambda np, x: np.pad(x, 2, "linear_ramp", end_values=((1, 2), (3, 4))), data.matrix),
            since("2.4.0", case(lambda np, x: np.pad(x, {0: 1, -1: (0, 2)}), data.matrix)),
            case(lambda np, x: np.pad(x, ((0, 0), (1, 1)), "edge"), data.empty),
            case(lambda np, x: np.pad(x, ((0, 0), (2, 1)), "wrap"), data.complex),
            case(lambda np, x: np.pad(x, 1, "symmetric"), data.mask),
            case(lambda np, x: np.pad(x, 3, "reflect"), data.matrix[:1]),
        ],
    }
