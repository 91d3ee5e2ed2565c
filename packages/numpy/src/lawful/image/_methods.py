"""Methods of resampling, with their names and kernels."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import lawful.numpy as np
from lawful import ops
from lawful.core import ArgumentValueError


class ResizeMethod(enum.Enum):
    """How the pixels of a resized image follow from those of the image.

    ``NEAREST`` takes the nearest one, ``LINEAR``, ``CUBIC``, ``LANCZOS3`` and ``LANCZOS5`` a mean weighted by a kernel.
    ``CUBIC_PYTORCH`` without antialiasing has the kernel of PyTorch, and an image that goes on outside of its edges;
    with it, it is ``CUBIC``. ``AREA`` takes the mean over the area of the pixel.

    >>> from lawful.image import resize
    >>> resize(np.array([1.0, 2.0]), (4,), ResizeMethod.NEAREST)
    array([1., 1., 2., 2.])

    Source: ``jax.image.ResizeMethod``.
    """

    NEAREST = 0
    LINEAR = 1
    LANCZOS3 = 2
    LANCZOS5 = 3
    CUBIC = 4
    CUBIC_PYTORCH = 5
    AREA = 6

    @staticmethod
    def from_string(s: str) -> ResizeMethod:
        """Returns the method of a name.

        Raises:
          ArgumentValueError: there is none.

        >>> ResizeMethod.from_string("bicubic")
        <ResizeMethod.CUBIC: 4>
        """
        if s not in _NAMES:
            raise ArgumentValueError(f"ResizeMethod: expected a method of {', '.join(_NAMES)}, got {s!r}; give one")
        return _NAMES[s]


_NAMES = {
    "nearest": ResizeMethod.NEAREST,
    **dict.fromkeys(("linear", "bilinear", "trilinear", "triangle"), ResizeMethod.LINEAR),
    **dict.fromkeys(("cubic", "bicubic", "tricubic"), ResizeMethod.CUBIC),
    **dict.fromkeys(("cubic-pytorch", "bicubic-pytorch"), ResizeMethod.CUBIC_PYTORCH),
    "lanczos3": ResizeMethod.LANCZOS3,
    "lanczos5": ResizeMethod.LANCZOS5,
    "area": ResizeMethod.AREA,
}


# Kernels of distances, which are not negative.


def _triangle(x: Any) -> Any:
    return ops.max(1 - x, 0.0)


def _cubic(a: float) -> Callable[[Any], Any]:
    """Returns the kernel of a slope a at distance 1.

    Source: Keys (1981), "Cubic convolution interpolation for digital image processing".
    """

    def kernel(x: Any) -> Any:
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        return ops.where(x < 1, near, ops.where(x < 2, far, 0.0))

    return kernel


def _lanczos(radius: float) -> Callable[[Any], Any]:
    """Returns the kernel of some lobes. Source: Duchon (1979), "Lanczos filtering in one and two dimensions"."""

    def kernel(x: Any) -> Any:
        return ops.where(x < radius, np.sinc(x) * np.sinc(x / radius), 0.0)

    return kernel


#: The kernel of each method that has one.
KERNELS = {
    ResizeMethod.LINEAR: _triangle,
    ResizeMethod.CUBIC: _cubic(-0.5),
    ResizeMethod.CUBIC_PYTORCH: _cubic(-0.75),
    ResizeMethod.LANCZOS3: _lanczos(3.0),
    ResizeMethod.LANCZOS5: _lanczos(5.0),
}
