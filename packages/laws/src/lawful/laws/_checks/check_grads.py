"""`check_grads`, with JAX's signature: derivatives of any order against finite differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from lawful import tree
from lawful.core import ArgumentTypeError, ArgumentValueError, as_dtype, shorten
from lawful.laws._checks.given import GivenCase, require_arguments, require_function, require_results
from lawful.laws._derivatives.directions import restrict
from lawful.laws._law.case import Case, text_of_value
from lawful.laws._law.effort import usual
from lawful.laws._law.implementation import Function, Implementation
from lawful.laws._law.law import Inapplicable, LawViolation, Trial
from lawful.laws._law.smooth import moved

#: One bound for all dtypes, or bounds by dtype.
Bound = float | Mapping[Any, float] | None

_MODES: Final = ("fwd", "rev", "lin")
_STEP: Final = 1e-4
#: The tolerances by dtype for central differences of this step, as in JAX.
_TOLERANCES: Final[dict[np.dtype[Any], float]] = {
    np.dtype(np.float64): 1e-5,
    np.dtype(np.complex128): 1e-5,
    np.dtype(np.float32): 2e-3,
    np.dtype(np.complex64): 1e-3,
    np.dtype(np.float16): 1e-2,
    as_dtype("bfloat16"): 1e-1,
}
_COARSE: Final = 1e-1  # for 8-bit floats


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int,
    modes: Sequence[str] = ("fwd", "rev"),
    atol: Bound = None,
    rtol: Bound = None,
    eps: float | None = None,
    *,
    system: Implementation | None = None,
) -> None:
    """Checks derivatives up to an order against finite differences, in one random direction each.

    Forward mode is compared with central differences, reverse mode with them through the pairing
    ``Re⟨w, J v⟩ = Re⟨Jᵀ w, v⟩``. Up to an order: the derivatives of each mode are functions, of which the same is
    checked again in each mode. Integer arguments are constants. `check` says much more of a function.

    Args:
      f: a function of pytrees of arrays, to such.
      args: its arguments, away from kinks.
      order: how often it is differentiated, from 1.
      modes: of ``"fwd"`` (`jvp`), ``"rev"`` (`vjp`) and ``"lin"`` (`linearize`).
      atol: the absolute bound, or a mapping from dtypes to it; by default 1e-5 in float64 and 2e-3 in float32.
      rtol: the bound relative to the finite differences, of the same form. Both are multiplied by the number of
        elements.
      eps: the step of the differences; by default 1e-4, which is too small for float32 and below.
      system: the system of transformations; by default lawful.

    Raises:
      LawViolation: a derivative is wrong. It is an AssertionError.
      ArgumentValueError: there is no such mode or order, nothing to differentiate, or ``f`` does not accept ``args``.
      ArgumentTypeError: ``f`` is not a function, or ``args`` is not a sequence.
      NonArrayError: an argument or a result is not an array.

    Source: ``jax.test_util.check_grads``.

    >>> from lawful import ops
    >>> from lawful.autodiff import stop_gradient
    >>> check_grads(ops.sin, (0.5,), order=3)
    >>> check_grads(lambda x: stop_gradient(x) * x, (0.5,), order=1, modes=["rev"])
    Traceback (most recent call last):
    lawful.laws._law.law.LawViolation: ...: check_grads: VJP of <lambda>: expected the cotangent paired with a...
    """
    require_function("check_grads", f)
    if not isinstance(args, list | tuple):
        raise ArgumentTypeError(f"check_grads: expected a tuple of arguments, got {shorten(args)}; write (x,) for one")
    require_arguments("check_grads", tuple(args))
    modes = (modes,) if isinstance(modes, str) else tuple(modes)
    if unknown := [mode for mode in modes if mode not in _MODES]:
        raise ArgumentValueError(f"check_grads: expected modes of {_MODES}, got {unknown[0]!r}; give one of these")
    if order < 1:
        raise ArgumentValueError(f"check_grads: expected an order from 1, got {order}; it counts derivatives")
    system = system or _lawful()
    case = GivenCase(f, tuple(args))
    require_results("check_grads", case, system)
    bounds = _Bounds(atol, rtol, _STEP if eps is None else eps)
    trial = Trial(system, case, usual, np.random.default_rng(0))
    try:
        function, leaves = restrict(trial)
    except Inapplicable as error:
        raise ArgumentValueError(
            f"check_grads: expected floating arguments and results, got none: {error.message}; give arguments as floats"
        ) from None
    name = getattr(f, "__name__", "f")
    _check_to_order(system, function, leaves, order, modes, bounds, name, case)


@dataclass(frozen=True, slots=True)
class _Bounds:
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


def _check_to_order(
    system: Implementation,
    function: Function,
    leaves: list[Any],
    order: int,
    modes: tuple[str, ...],
    bounds: _Bounds,
    name: str,
    case: Case,
) -> None:
    """Checks a function from leaves to leaves, all floating-point, and its derivatives of lower orders."""
    count = len(leaves)
    check_one = _OneCheck(system, function, leaves, bounds, case)

    def again(derivative: Function, args: list[Any], what: str) -> None:
        if order > 1:
            _check_to_order(system, derivative, args, order - 1, modes, bounds, what, case)

    for mode, what, derivative in (("fwd", "JVP", system.jvp), ("lin", "LIN", _by_linearization(system))):
        if mode not in modes:
            continue

        def pushed(*xs: Any, derivative: Function = derivative) -> list[Any]:
            out, tangent = derivative(function, list(xs[:count]), list(xs[count:]))
            return [*out, *tangent]

        check_one.forward(f"{what} of {name}", derivative)
        again(pushed, [*leaves, *leaves], f"{what} of {name}")
    if "rev" in modes:

        def pulled(*xs: Any) -> list[Any]:
            out, pull = system.vjp(function, *xs)
            return list(pull(out))

        check_one.reverse(f"VJP of {name}")
        again(pulled, leaves, f"VJP of {name}")


def _by_linearization(system: Implementation) -> Function:
    def derivative(function: Function, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out, push = system.linearize(function, *primals)
        return out, push(*tangents)

    return derivative


class _OneCheck:
    """A function at arguments, whose derivatives are compared with finite differences in one direction."""

    def __init__(
        self, system: Implementation, function: Function, leaves: list[Any], bounds: _Bounds, case: Case
    ) -> None:
        self.system, self.leaves, self.bounds, self.case = system, leaves, bounds, case
        self.function = function

    def forward(self, what: str, derivative: Function) -> None:
        """Raises LawViolation unless a forward derivative is that of finite differences."""
        random = np.random.default_rng(0)
        direction = [_direction(self.system, random, x) for x in self.leaves]
        with np.errstate(all="ignore"):
            out, tangent = derivative(self.function, self.leaves, direction)
            self._compare(f"{what}: expected the primal output to be that of the function", out, self._value())
            self._compare(f"{what}: expected the tangent to be the finite difference", tangent, self._along(direction))

    def reverse(self, what: str) -> None:
        """Raises LawViolation unless reverse mode is the transpose of finite differences."""
        random = np.random.default_rng(0)
        with np.errstate(all="ignore"):
            out, pull = self.system.vjp(self.function, *self.leaves)
            self._compare(f"{what}: expected the primal output to be that of the function", out, self._value())
            direction = [_direction(self.system, random, x) for x in self.leaves]
            weights = [_direction(self.system, random, x) for x in out]
            pulled = _pairing(self._numpy(pull(weights)), direction)
            expected = _pairing(self._along(direction), weights)
        self._compare(
            f"{what}: expected the cotangent paired with a direction to be the finite difference paired with weights",
            [pulled], [expected],
        )  # fmt: skip

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

    def _compare(self, what: str, found: Any, expected: Any) -> None:
        pairs = zip(self._numpy(found), self._numpy(expected), strict=True)
        for i, (got, wanted) in enumerate(pairs):
            if got.shape != wanted.shape or got.dtype != wanted.dtype:
                detail = f"{wanted.dtype}{list(wanted.shape)}, got {got.dtype}{list(got.shape)}"
            elif self.bounds.exceeded(got, wanted):
                detail = f"{text_of_value(wanted)}, got {text_of_value(got)}"
            else:
                continue
            which = f" (result {i})" if len(found) > 1 else ""
            raise LawViolation(
                f"check_grads: {what}{which}, {detail}; look for the rule that is wrong with lawful.laws.check, or "
                f"give a larger eps, atol or rtol\n{self.case.text(self.system)}"
            )


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


def _lawful() -> Implementation:
    from lawful.laws.systems import lawful

    return lawful
