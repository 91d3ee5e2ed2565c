"""Calls of Fourier transforms."""

from ._case import Case, Data, case, creates


def table(data: Data) -> dict[str, list[Case]]:
    """Returns the calls by subject."""
    return {
        "transforms": [
            case(lambda np, x, name=name, kwargs=kwargs: getattr(np.fft, name)(x, **kwargs), x)
            for name, x in (
                *[(name, data.matrix) for name in ("fft", "ifft", "rfft", "ihfft")],
                *[(name, data.complex) for name in ("fft", "ifft", "irfft", "hfft")],
                ("fft", data.single),
                ("rfft", data.integers),
            )
            for kwargs in ({}, {"n": 3}, {"n": 6, "axis": 0, "norm": "ortho"}, {"norm": "forward"})
        ],
        "transforms of several dimensions": [
            case(lambda np, x, name=name, kwargs=kwargs: getattr(np.fft, name)(x, **kwargs), x)
            for name, x in (
                *[(name, data.cube) for name in ("fft2", "ifft2", "rfft2", "fftn", "ifftn", "rfftn")],
                *[(name, data.complex) for name in ("fftn", "irfft2", "irfftn")],
            )
            for kwargs in ({}, {"s": (2, 4), "axes": (0, 1)}, {"axes": (1, 0), "norm": "ortho"})
        ],
        "frequencies": [
            creates(lambda np, d: np.fft.fftfreq(5, d), data.scalar),
            creates(lambda np, d: np.fft.rfftfreq(4, d), data.scalar),
            case(lambda np, x: np.fft.fftshift(x), data.matrix),
            case(lambda np, x: np.fft.ifftshift(x, axes=1), data.cube),
        ],
    }
