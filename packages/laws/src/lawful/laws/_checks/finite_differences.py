"""Derivatives in one direction, compared with finite differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from lawful import tree
from lawful.core import as_dtype, get_aval
from lawful.laws._checks.given import GivenCase
from lawful.laws._law.case import text_of_value
from lawful.laws._law.implementation import Function, Implementation
from lawful.laws._law.law import LawViolation
from lawful.laws._law.smooth import moved

#: One bound for all dtypes, or bounds by dtype.
Bound = float | Mapping[Any, float] | None

DEFAULT_STEP: Final = 1e-4
#: The tolerances by dtype for central differences of this step, as in JAX.
_TOLERANCES: Final[dict[np.dtype[Any], float]] = {
    np.dtype(np.float64): 1e-5,
    np.dtype(np.complex128): 1e-5,
    np.dtype(np.float32): 2e-3,
    np.dtype(np.complex64): 1e-3,
    np.dtype(np.float16): 1e-2,
    as_dtype("bfloat16"): 1e-1,
}
#: Arrays of more elements are not printed.
_LONGEST: Final = 16
_COARSE: Final = 1e-1  # for 8-bit floats


@dataclass(frozen=True, slots=True)
class Bounds:
    atol: Bound
    rtol: Bound
    step: float

    def exceeded(self, got: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> bool:
        """Whether two arrays differ too much; NaN equals NaN."""
        dtypes = (got.dtype, expected.dtype)
        atol, rtol = (max(_bound(given, dtype) for dtype in dtypes) * got.size for given in (self.atol, self.rtol))
        wide = np.complex128 if "c" in (got.dtype.kind, expected.dtype.kind) else np.float64
        return not np.allclose(got.astype(wide), expected.astype(wide), rtol=rtol, atol=atol, equal_nan=True)


def _bound(given: Bound, dtype: np.dtype[Any]) -> float:
    if given is not None and not isinstance(given, Mapping):
        return given
    for key, value in (given or {}).items():
        if np.dtype(key) == dtype:  # other keys may be dtypes that lawful does not have
            return value
    return _TOLERANCES.get(dtype, _COARSE)


class OneCheck:
    """A function at arguments, whose derivatives are compared with finite differences in one direction.

    Args:
      name: the check, for messages.
      system: the system of transformations.
      function: the function.
      leaves: its arguments.
      names: the names of these, for messages.
      bounds: how much derivatives may differ.
      case: the call.
    """

    def __init__(
        self, name: str, system: Implementation, function: Function, leaves: list[Any], names: Sequence[str],
        bounds: Bounds, case: GivenCase,
    ) -> None:  # fmt: skip
        self.name, self.system, self.leaves, self.bounds, self.case = name, system, leaves, bounds, case
        self.function = function
        self.names = names

    def forward(self, what: str, derivative: Function) -> None:
        """Raises LawViolation unless a forward derivative is that of finite differences."""
        random = np.random.default_rng(0)
        direction = [_direction(self.system, random, x) for x in self.leaves]
        with np.errstate(all="ignore"):
            out, tangent = derivative(self.function, self.leaves, direction)
            self._compare(f"{what}: expected the primal output to be that of the function", out, self._value())

            def by(alone: list[Any]) -> tuple[list[Any], list[Any]]:
                return self._numpy(derivative(self.function, self.leaves, alone)[1]), self._along(alone)

            self._compare(
                f"{what}: expected the tangent to be the finite difference", tangent, self._along(direction),
                lambda: self._at_fault(direction, by),
            )  # fmt: skip

    def reverse(self, what: str, derivative: Function) -> None:
        """Raises LawViolation unless a derivative of reverse mode is the transpose of finite differences."""
        random = np.random.default_rng(0)
        with np.errstate(all="ignore"):
            out, pull = derivative(self.function, *self.leaves)
            self._compare(f"{what}: expected the primal output to be that of the function", out, self._value())
            direction = [_direction(self.system, random, x) for x in self.leaves]
            weights = [_direction(self.system, random, x) for x in out]
            cotangents = self._numpy(pull(weights))
            pulled = _pairing(cotangents, direction)
            expected = _pairing(self._along(direction), weights)

            def by(alone: list[Any]) -> tuple[list[Any], list[Any]]:
                return [_pairing(cotangents, alone)], [_pairing(self._along(alone), weights)]

            # Arguments and results may have different dtypes: both numbers are as exact as the coarser of these.
            coarser = max(pulled.dtype, expected.dtype, key=lambda dtype: _TOLERANCES.get(dtype, _COARSE))
            pulled, expected = pulled.astype(coarser), expected.astype(coarser)
        self._compare(
            f"{what}: expected the cotangent paired with a direction to be the finite difference paired with weights",
            [pulled], [expected], lambda: self._at_fault(direction, by),
        )  # fmt: skip

    def _at_fault(self, direction: list[Any], by: Callable[[list[Any]], tuple[list[Any], list[Any]]]) -> str:
        """Returns the words for the arguments by which a derivative is wrong; empty if there is only one.

        Args:
          direction: a tangent of each argument.
          by: from a direction along one argument, what the derivative and what the differences give.
        """
        wrong = []
        with np.errstate(all="ignore"):
            for i, name in enumerate(self.names):
                got, wanted = by([v if i == j else v * 0 for j, v in enumerate(direction)])
                pairs = [(x, y.astype(x.dtype)) for x, y in zip(got, wanted, strict=True) if x.shape == y.shape]
                if any([self.bounds.exceeded(x, y) for x, y in pairs]):
                    wrong.append(f"{name}, which is zero," if not any([np.any(x) for x in got]) else name)
        if not wrong or (len(self.names) == 1 and wrong == [*self.names]):
            return ""
        return f" (wrong is the derivative by {' and by '.join(wrong).removesuffix(',')})"

    def _value(self) -> list[Any]:
        return list(self.function(*self.leaves))

    def _along(self, direction: list[Any]) -> list[Any]:
        step = self.bounds.step

        def at(sign: float) -> list[Any]:
            moves = [moved(x, v, sign * step) for x, v in zip(self.leaves, direction, strict=True)]
            return self._numpy(self.function(*moves))

        # Infinite values do not move, so that their difference is zero.
        pairs = zip(at(1.0), at(-1.0), strict=True)
        return [np.where(a == b, 0, (a - b) * (0.5 / step)).astype(a.dtype) for a, b in pairs]

    def _numpy(self, values: Any) -> list[Any]:
        return [np.asarray(self.system.numpy(x)) for x in tree.leaves(values)]

    def _compare(self, what: str, found: Any, expected: Any, at_fault: Callable[[], str] = str) -> None:
        pairs = zip(self._numpy(found), self._numpy(expected), strict=True)
        for i, (got, wanted) in enumerate(pairs):
            if got.shape != wanted.shape or got.dtype != wanted.dtype:
                detail = f"{wanted.dtype}{list(wanted.shape)}, got {got.dtype}{list(got.shape)}"
            elif self.bounds.exceeded(got, wanted):
                detail = _difference(wanted, got)
            else:
                continue
            which = f" (result {i})" if len(found) > 1 else ""
            raise LawViolation(
                f"{self.name}: {what}{which}, {detail}{at_fault()}; look for the rule that is wrong with "
                f"lawful.laws.check, or give a larger eps, atol or rtol\n{self.case.text(self.system, _LONGEST)}"
            )


def _difference(wanted: np.ndarray[Any, Any], got: np.ndarray[Any, Any]) -> str:
    """Returns the text of two arrays; of long ones, that of the elements that differ most."""
    if wanted.size <= _LONGEST:
        return f"{text_of_value(wanted)}, got {text_of_value(got)}"
    wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
    distance = np.abs(wanted.astype(wide) - got.astype(wide))
    index = np.unravel_index(np.argmax(distance), distance.shape)
    where = [int(i) for i in index]
    return f"{wanted[index]} at {where} of {get_aval(wanted)}, got {got[index]}"


def _direction(system: Implementation, random: np.random.Generator, x: Any) -> Any:
    aval = system.aval(x)
    values = random.normal(size=aval.shape)
    if aval.dtype.kind == "c":
        values = values + 1j * random.normal(size=aval.shape)
    direction = np.asarray(values).astype(aval.dtype)
    return direction.item() if aval.weak_type else direction


def _pairing(xs: Sequence[Any], ys: Sequence[Any]) -> Any:
    """Returns the real part of the sum of products, without conjugation: the pairing of cotangents and tangents."""
    products = [np.asarray(x) * np.asarray(y) for x, y in zip(xs, ys, strict=True)]
    return np.sum([np.sum(np.real(product)) for product in products]).astype(
        np.result_type(*[np.real(product).dtype for product in products])
    )
