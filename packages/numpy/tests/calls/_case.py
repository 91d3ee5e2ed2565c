"""A call of a function by its name in some module, and the arrays that calls are made with."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy

Array = numpy.ndarray[Any, Any]


def is_newer(version: str) -> bool:
    """Whether a version of NumPy is newer than the one that is installed."""
    return numpy.lib.NumpyVersion(numpy.__version__) < version


@dataclass(frozen=True)
class Case:
    """A call of a function ``np.<name>`` of some module ``np``, and the arrays that it is called with."""

    call: Callable[..., Any]
    args: tuple[Any, ...]
    #: NumPy's function does not dispatch on its arguments: it is called in lawful.numpy only.
    creates: bool = False
    #: Its derivative is compared with difference quotients.
    smooth: bool = True
    #: The first NumPy that can be called so: there is nothing to compare with in an earlier one.
    since: str = "2.1.0"


def case(call: Callable[..., Any], *args: Any) -> Case:
    return Case(call, args)


def creates(call: Callable[..., Any], *args: Any) -> Case:
    return Case(call, args, creates=True)


def jumps(call: Callable[..., Any], *args: Any) -> Case:
    """Returns a call whose result has no derivative, or none that difference quotients approximate."""
    return Case(call, args, smooth=False)


def since(version: str, entry: Case) -> Case:
    """Returns the call, which NumPy has since some version."""
    return replace(entry, since=version)


class Data:
    """Arrays of several shapes and dtypes.

    Args:
      seed: what their elements are drawn from.
    """

    def __init__(self, seed: int) -> None:
        generator = numpy.random.default_rng(seed)
        self.vector: Array = generator.uniform(0.5, 2.0, 4)
        self.matrix: Array = generator.uniform(0.5, 2.0, (3, 4))
        self.cube: Array = generator.uniform(0.5, 2.0, (2, 3, 4))
        self.thin: Array = generator.uniform(0.5, 2.0, (1, 4, 1))
        self.complex: Array = self.matrix + 1j * generator.uniform(0.5, 2.0, (3, 4))
        self.integers: Array = generator.integers(-5, 6, (3, 4))
        self.bytes: Array = generator.integers(0, 200, (3, 4)).astype("uint8")
        self.single: Array = self.matrix.astype("float32")
        self.half: Array = self.matrix.astype("float16")
        self.mask: Array = self.matrix > 1.0
        self.empty: Array = numpy.zeros((0, 3))
        self.scalar = numpy.float64(generator.uniform(1.0, 1.5))
        self.holes: Array = numpy.where(numpy.eye(3, 4) > 0, numpy.nan, self.matrix)
        #: Square matrices, well conditioned: of three rows, and a stack of those of four.
        self.square: Array = generator.uniform(-1.0, 1.0, (3, 3)) + 3 * numpy.eye(3)
        self.squares: Array = generator.uniform(-1.0, 1.0, (2, 4, 4)) + 3 * numpy.eye(4)
