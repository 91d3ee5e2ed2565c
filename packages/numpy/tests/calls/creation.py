"""Calls of functions that create and inspect arrays."""

import numpy

from ._case import Case, Data, case, creates, since


def table(data: Data) -> dict[str, list[Case]]:
    """Returns the calls by subject."""
    return {
        "types": [
            case(lambda np, x: np.astype(x, "float32"), data.matrix),
            case(lambda np, x: np.astype(x, np.int8), data.matrix),
            case(lambda np, x: np.copy(x), data.matrix),
            case(lambda np, x: x * np.size(x) * np.size(x, 1) + np.ndim(x), data.matrix),
            *[
                since("2.4.0", case(lambda np, x, axis=axis: x * np.size(x, axis), data.cube))
                for axis in ((0, 1), (-1, 0), (2,), ())
            ],
            case(lambda np, x: np.reshape(x, np.shape(x)[::-1]), data.matrix),
            case(lambda np, x: x * np.iscomplexobj(x) + 2 * np.isrealobj(x), data.complex),
            case(lambda np, x: np.astype(x, np.result_type(x, 1.0, "int64")), data.single),
            case(lambda np, x: np.astype(x, np.promote_types(x.dtype, "int64")), data.single),
            case(lambda np, x: np.broadcast_to(x, np.broadcast_shapes(x.shape, (2, 1, 1))), data.single),
            case(lambda np, x: x * np.can_cast(x, "float64"), data.single),
            creates(lambda np, x: x * np.isdtype(x.dtype, "real floating"), data.matrix),
            creates(lambda np, x: x * np.issubdtype(x.dtype, np.floating), data.matrix),
            creates(lambda np, x: x * float(np.finfo(x.dtype).eps), data.matrix),
            creates(lambda np, x: x * np.iinfo(x.dtype).bits, data.integers),
            creates(lambda np, x: x + np.from_dlpack(numpy.arange(4)), data.matrix),
        ],
        "creation": [
            case(lambda np, x: np.zeros_like(x), data.single),
            case(lambda np, x: np.ones_like(x), data.integers),
            case(lambda np, x: np.ones_like(x, dtype="float32"), data.integers),
            case(lambda np, x: np.full_like(x, 2.75), data.integers),
            case(lambda np, x: np.full_like(x, 2.75, shape=(2,)), data.single),
            case(lambda np, x: np.zeros_like(np.empty_like(x)), data.single),
            creates(lambda np, x: np.zeros((2, 3)) + np.zeros(3, "int8"), data.scalar),
            creates(
                lambda np, x: np.ones((2, 3)) + np.ones((), "complex64") + np.zeros_like(np.empty((3,))), data.scalar
            ),
            creates(lambda np, x: np.full((2, 2), 7), data.scalar),
            creates(lambda np, x: np.full((2, 2), 7.5, "float32"), data.scalar),
            creates(lambda np, x: np.full((2, 2), x), data.scalar),
            creates(lambda np, x: np.full((3, 4), x, "float32"), data.vector),
            creates(lambda np, x: np.eye(3), data.scalar),
            creates(lambda np, x: np.eye(3, 4, -1, "int8"), data.scalar),
            creates(lambda np, x: np.identity(2), data.scalar),
            creates(lambda np, x: np.tri(3, 4, 1, dtype="float32"), data.scalar),
            creates(lambda np, x: np.arange(5), data.scalar),
            creates(lambda np, x: np.arange(5.0), data.scalar),
            creates(lambda np, x: np.arange(1, 8, 3), data.scalar),
            creates(lambda np, x: np.arange(5, 0, -2), data.scalar),
            creates(lambda np, x: np.arange(3, 1), data.scalar),
            creates(lambda np, x: np.arange(0.1, 1.0, 0.1), data.scalar),
            creates(lambda np, x: np.arange(1.0, 0.0, -0.3, dtype="float32"), data.scalar),
            creates(lambda np, x: np.arange(3, dtype="complex64"), data.scalar),
            case(lambda np, x: np.linspace(x, 3.0, 7), data.scalar),
            case(lambda np, x: np.linspace(x, 2 * x, 5, axis=1), data.vector),
            case(lambda np, x: np.linspace(0.0, x, 5, endpoint=False), data.scalar),
            case(lambda np, x: np.linspace(0.0, x, 5, retstep=True), data.scalar),
            case(lambda np, x: np.linspace(0, 10 * x, 4, dtype="int32"), data.scalar),
            case(lambda np, x: np.linspace(x, 5.0, 1), data.scalar),
            case(lambda np, x: np.linspace(x, 5.0, 0), data.scalar),
            creates(lambda np, x: np.array(x), data.matrix),
            creates(lambda np, x: np.array(x, "float32"), data.integers),
            creates(lambda np, x: np.array(x), 3),
            creates(lambda np, x: np.array([x, 2.0, 3]), data.scalar),
            creates(lambda np, x: np.array([[x, 1], (2, x)], "float32"), data.scalar),
            creates(lambda np, x: np.array([x, x + 1]), numpy.float32(1)),
            creates(lambda np, x: np.array([x, 2.0]), numpy.float32(1)),
            creates(lambda np, x: np.asarray([x, x]), data.vector),
            creates(lambda np, x: np.asarray(x), data.single),
        ],
        "grids": [
            case(lambda np, x: np.logspace(x, 2.0, 5), data.scalar),
            case(lambda np, x: np.logspace(x, 2 * x, 3, base=2), data.vector),
            case(lambda np, x: np.logspace(0.0, x, 3, base=x, axis=1), data.vector),
            case(lambda np, x: np.logspace(0, x, 4, endpoint=False, dtype="int32"), data.scalar),
            case(lambda np, x: np.geomspace(x, 100 * x, 5), data.vector),
            case(lambda np, x: np.geomspace(-x, -5 * x, 5, endpoint=False), data.scalar),
            case(lambda np, x: np.geomspace(x, 3 + 2j, 4), data.scalar),
            case(lambda np, x: np.geomspace(x, 100 * x, 3, axis=1), data.vector),
            case(lambda np, x: np.geomspace(x, 2.0, 1), data.scalar),
            case(lambda np, x: np.geomspace(x, 2.0, 0), data.scalar),
            *[
                case(lambda np, x, y, kwargs=kwargs: np.meshgrid(x, y, **kwargs), data.vector, data.integers[0, :2])
                for kwargs in ({}, {"indexing": "ij"}, {"sparse": True}, {"copy": False})
            ],
            case(lambda np, x, y, z: np.meshgrid(x, y, z), data.vector, data.vector[:2], data.scalar),
            case(lambda np, x: np.meshgrid(x), data.vector),
        ],
    }
