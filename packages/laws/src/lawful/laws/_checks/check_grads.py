"""`check_grads`, with JAX's signature: derivatives of any order against finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from lawful.core import ArgumentTypeError, ArgumentValueError, shorten
from lawful.laws._checks.finite_differences import DEFAULT_STEP, Bound, Bounds, OneCheck
from lawful.laws._checks.given import (
    GivenCase,
    floating_names,
    require_arguments,
    require_function,
    require_results,
)
from lawful.laws._derivatives.directions import restrict
from lawful.laws._law.effort import usual
from lawful.laws._law.implementation import Function, Implementation
from lawful.laws._law.law import Inapplicable, Trial

_MODES: Final = ("fwd", "rev", "lin")


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
    bounds = Bounds(atol, rtol, DEFAULT_STEP if eps is None else eps)
    trial = Trial(system, case, usual, np.random.default_rng(0))
    try:
        function, leaves = restrict(trial)
    except Inapplicable as error:
        raise ArgumentValueError(
            f"check_grads: expected floating arguments and results, got none: {error.message}; give arguments as floats"
        ) from None
    name = getattr(f, "__name__", "f")
    _check_to_order(system, function, leaves, floating_names(case), order, modes, bounds, name, case)


def _check_to_order(
    system: Implementation,
    function: Function,
    leaves: list[Any],
    names: list[str],
    order: int,
    modes: tuple[str, ...],
    bounds: Bounds,
    name: str,
    case: GivenCase,
) -> None:
    """Checks a function from leaves to leaves, all floating-point, and its derivatives of lower orders."""
    count = len(leaves)
    check_one = OneCheck("check_grads", system, function, leaves, names, bounds, case)

    def again(derivative: Function, args: list[Any], of_args: list[str], what: str) -> None:
        if order > 1:
            _check_to_order(system, derivative, args, of_args, order - 1, modes, bounds, what, case)

    for mode, what, derivative in (("fwd", "JVP", system.jvp), ("lin", "LIN", _by_linearization(system))):
        if mode not in modes:
            continue

        def pushed(*xs: Any, derivative: Function = derivative) -> list[Any]:
            out, tangent = derivative(function, list(xs[:count]), list(xs[count:]))
            return [*out, *tangent]

        check_one.forward(f"{what} of {name}", derivative)
        again(pushed, [*leaves, *leaves], [*names, *[f"the tangent of {x}" for x in names]], f"{what} of {name}")
    if "rev" in modes:

        def pulled(*xs: Any) -> list[Any]:
            out, pull = system.vjp(function, *xs)
            return list(pull(out))

        check_one.reverse(f"VJP of {name}", system.vjp)
        again(pulled, leaves, names, f"VJP of {name}")


def _by_linearization(system: Implementation) -> Function:
    def derivative(function: Function, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out, push = system.linearize(function, *primals)
        return out, push(*tangents)

    return derivative


def _lawful() -> Implementation:
    from lawful.laws.systems import lawful

    return lawful
