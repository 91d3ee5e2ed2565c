"""Calls of reductions."""

from ._case import Case, Data, case


def table(data: Data) -> dict[str, list[Case]]:
    """Returns the calls by subject."""
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
    }
