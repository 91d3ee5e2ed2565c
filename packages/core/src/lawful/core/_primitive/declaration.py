"""Declarations of primitives: plain data that laws read, beside the rules.

With a declaration every law applies to a new primitive, without an edit to a test. It has the domain of the arguments,
the NumPy function that the primitive equals, its algebra, and a generator of well-typed calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from lawful.core._errors import ArgumentTypeError
from lawful.core._types.aval import ShapedArray
from lawful.tree.base import record

T = TypeVar("T")


class Choose(Protocol):
    """The source of random calls: Hypothesis, or a seeded generator.

    >>> def sample(choose: Choose):
    ...     return (ShapedArray((choose.integer(1, 3),), choose.dtype("f")),), {}
    """

    def integer(self, low: int, high: int) -> int:
        """Returns an integer between both bounds, which are included."""

    def one_of(self, choices: Sequence[T]) -> T:
        """Returns one of the choices."""

    def shape(self, min_ndim: int = 0, max_ndim: int = 3) -> tuple[int, ...]:
        """Returns a shape of small sizes, zero among them."""

    def dtype(self, kinds: str) -> np.dtype[Any]:
        """Returns a dtype of one of the kinds ``b i u f c``."""


@record
class Excluded:
    """A point where a derivative does not exist, with the reason.

    Attributes:
      point: a value of one argument, in `Interval`; in `Declaration` a function of all arguments and parameters that
        gives a mask.
      reason: the mathematical reason: "a kink", "a jump", "the slope is infinite".
      order: the lowest order of a derivative that does not exist there; 0 for a jump or pole.

    >>> Excluded(0.0, "a kink")
    Excluded(point=0.0, reason='a kink', order=1)
    """

    point: float | Callable[..., Any]
    reason: str
    order: int = 1


@record
class Unequal:
    """A point where a backend computes something else than evaluation, with the reason.

    Attributes:
      backend: its name; empty for every other way to compute the same, the reference among them.
      point: a function of all arguments and parameters that gives a mask, or a single truth value.
      reason: what the backend does there.

    >>> Unequal("xla", lambda x: x == 0.0, "it gives 0").point(np.array([0.0, 1.0]))
    array([ True, False])
    """

    backend: str
    point: Callable[..., Any]
    reason: str


@record
class Interval:
    """The interval of an argument in which the value and the derivative of an op are finite and well conditioned.

    >>> Interval(-1.0, 1.0, excluded=(Excluded(0.0, "a kink"),)).high
    1.0
    """

    low: float = -2.0
    high: float = 2.0
    #: Points that finite differences must keep away from: kinks, jumps and poles.
    excluded: tuple[Excluded, ...] = ()


Call = tuple[tuple[ShapedArray, ...], dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """The description of a primitive for laws.

    Attributes:
      sample: draws the avals and params of a well-typed call.
      reference: ``f(*arrays, **params)`` in NumPy or SciPy that the primitive equals; None where there is no such.
      domain: an interval for each argument, or one for all.
      kinds: the kinds of dtype, of ``b i u f c``, that the first argument may have.
      linear: sets of arguments in which the primitive is jointly linear when the others are fixed.
      commutes: whether ``f(x, y) = f(y, x)``.
      associates: whether ``f(f(x, y), z) = f(x, f(y, z))``, up to rounding.
      unit: the value with ``f(x, unit) = x``, if there is one.
      differentiable: whether the derivative is not zero or undefined everywhere.
      pointwise: whether each element of the result depends only on the elements of the arguments at its position.
      excluded: where derivatives do not exist, besides the points that ``domain`` excludes; by functions of all
        arguments.
      unequal: where backends compute something else than evaluation does.
      prepare: ``f(*arrays, **params)`` makes of arrays within the intervals such as lie in a domain that no interval
        describes: a positive definite matrix. Generated programs do not call a primitive that has one.
      units: gives, for a number of arguments, those that must be units of what a jaxpr among the parameters combines:
        laws of loops do not change them.

    Raises:
      ArgumentTypeError: ``excluded`` has a point of one argument, which belongs to the `Interval` of that argument.

    >>> Declaration(sample=lambda choose: ((ShapedArray((2,), float),), {}), reference=np.sin).reference(0.0)
    np.float64(0.0)
    """

    sample: Callable[[Choose], Call]
    reference: Callable[..., Any] | None = None
    domain: tuple[Interval, ...] = (Interval(),)
    kinds: str = "f"
    linear: tuple[tuple[int, ...], ...] = ()
    commutes: bool = False
    associates: bool = False
    unit: float | None = None
    differentiable: bool = True
    pointwise: bool = False
    excluded: tuple[Excluded, ...] = ()
    unequal: tuple[Unequal, ...] = ()
    prepare: Callable[..., tuple[Any, ...]] | None = None
    units: Callable[[int], Sequence[int]] = lambda count: ()

    def __post_init__(self) -> None:
        for excluded in self.excluded:
            if not callable(excluded.point):
                raise ArgumentTypeError(
                    "Declaration: expected functions of all arguments as points in `excluded`, got "
                    f"{excluded.point!r}; put a point of one argument into its domain, as Interval(excluded=…)"
                )


def of_numpy[F: Callable[..., Any]](function: F) -> F:
    """Marks an implementation that calls NumPy alone: it does not read the current trace, and takes any byte order.

    >>> of_numpy(lambda x: np.sin(x)).is_numpy
    True
    """
    function.is_numpy = True  # type: ignore[attr-defined]
    return function


def by_elements[F: Callable[..., Any]](function: F) -> F:
    """Marks an implementation that computes each element from the same elements of its operands, or from scalars.

    It calls NumPy alone, decides nothing by the values of elements, and returns a new array.

    Law: of arrays cut into blocks of at least 4,096 elements, it gives the blocks of the whole result.

    >>> by_elements(lambda x: np.sin(x)).is_by_elements
    True
    """
    function.is_by_elements = True  # type: ignore[attr-defined]
    return function
