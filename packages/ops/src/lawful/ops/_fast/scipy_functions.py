"""Special functions of float64 by SciPy's, where it is installed: compiled loops that are as precise.

SciPy is imported when such a function is first evaluated. The algorithm of the op computes the elements for which
SciPy has other conventions or fewer digits: subnormal numbers, some zeros and infinities.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

import numpy as np

from lawful.core import record

#: The oldest version whose functions are precise.
_OLDEST: Final = (1, 14)
_NORMAL: Final = float(np.finfo(np.float64).tiny)
Ends = tuple[float, float]


@record
class Counterpart:
    """A function of SciPy.

    Attributes:
      name: in ``scipy.special``.
      domain: for each operand the interval, with its ends, in which it is as precise as the algorithm; empty for all
        numbers, and NaN.
      least: the least result that is as precise; None if all are.
      is_odd: whether the result has the sign of the operand, also at 0, where SciPy has another convention.
    """

    name: str
    domain: tuple[Ends, ...] = ()
    least: float | None = None
    is_odd: bool = False


_POSITIVE: Final = (_NORMAL, math.inf)
_GAMMA: Final = ((1e-100, 1e12), (_NORMAL, 1e300))
_COUNTERPARTS: Final = {
    "lgamma": Counterpart("gammaln", (_POSITIVE,)),
    "digamma": Counterpart("digamma", (_POSITIVE,)),
    "zeta": Counterpart("zeta", ((1.01, 100.0), (_NORMAL, 1e150)), _NORMAL),
    "igamma": Counterpart("gammainc", _GAMMA, _NORMAL),
    "igammac": Counterpart("gammaincc", _GAMMA, _NORMAL),
    "betainc": Counterpart("betainc", ((1e-100, 1e8), (1e-100, 1e8), (_NORMAL, 1.0)), _NORMAL),
    "erf_inv": Counterpart("erfinv", is_odd=True),
    "bessel_i0e": Counterpart("i0e"),
    "bessel_i1e": Counterpart("i1e", is_odd=True),
}


class Native:
    """A function of SciPy, called in its domain."""

    def __init__(self, counterpart: Counterpart, function: Callable[..., Any]) -> None:
        self.function = function
        self.is_odd = counterpart.is_odd
        self._of_numbers: tuple[Callable[..., float] | None, Callable[..., float]] = (None, function)
        # A result is treated as one more operand.
        results = () if counterpart.least is None else ((counterpart.least, math.inf),)
        intervals = (*counterpart.domain, *results)
        self.ends = tuple([ends[0] for ends in intervals]), tuple([ends[1] for ends in intervals])

    def number(self, args: Sequence[Any]) -> Any:
        """Returns the result for numbers; None if it may differ from the algorithm's."""
        out = self.function(*args)
        if self.is_odd:
            return np.copysign(out, args[0])
        for x, least, most in zip((*args, out), *self.ends, strict=False):
            if not least <= x <= most:
                return None
        return out

    def of_numbers(self, algorithm: Callable[..., float]) -> Callable[..., float]:
        """Returns the function of Python's floats that calls an algorithm outside of the domain."""

        def function(*args: float) -> float:
            out = self.number(args)
            return algorithm(*args) if out is None else float(out)

        known, found = self._of_numbers
        if known is algorithm:
            return found
        self._of_numbers = algorithm, function
        return function

    def array(self, args: Sequence[Any], algorithm: Callable[..., Any]) -> Any:
        """Returns the result for arrays of one shape, by an algorithm outside of the domain."""
        out = self.function(*args)
        if self.is_odd:
            return np.copysign(out, args[0], out) if type(out) is np.ndarray else np.copysign(out, args[0])
        within = _number_is_within if args[0].size == 1 else _is_within
        for x, least, most in zip((*args, out), *self.ends, strict=False):
            if not within(x, least, most):
                return self._corrected(args, np.asarray(out), algorithm) if args[0].size else out
        return out

    def _corrected(self, args: Sequence[Any], out: Any, algorithm: Callable[..., Any]) -> Any:
        rest = np.zeros(out.shape, bool)
        for x, least, most in zip((*args, out), *self.ends, strict=False):
            rest |= ~((x >= least) & (x <= most))
        out[rest] = algorithm(*[x[rest] for x in args])
        return out[()]


def _is_within(x: Any, least: float, most: float) -> Any:
    """Whether all elements are in an interval; False also if one is NaN, or there are none."""
    # For few elements twice as fast as the least and the largest one. The position of a NaN comes first.
    return x.size and least <= x.item(x.argmin()) and (most == math.inf or x.item(x.argmax()) <= most)


def _number_is_within(x: Any, least: float, most: float) -> Any:
    return least <= x.item() <= most


class _Natives(dict[str, "Native | None"]):
    """Maps the name of an op with a counterpart to SciPy's function; None if SciPy is not installed."""

    def __missing__(self, name: str) -> Native | None:
        counterpart, module = _COUNTERPARTS[name], _special()
        self[name] = None if module is None else Native(counterpart, getattr(module, counterpart.name))
        return self[name]


def _special() -> Any:
    """Returns ``scipy.special``; None if it is not installed, or too old."""
    if find_spec("scipy") is None:
        return None
    version = import_module("scipy").__version__.split(".")
    return import_module("scipy.special") if (int(version[0]), int(version[1])) >= _OLDEST else None


_natives: Final = _Natives()


def native_function(name: str, params: dict[str, Any]) -> Native | None:
    """Returns SciPy's function for an op with settings; None if it has none."""
    return None if params or name not in _COUNTERPARTS else _natives[name]
