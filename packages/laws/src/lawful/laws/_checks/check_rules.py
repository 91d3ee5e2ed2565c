"""`check_jvp` and `check_vjp`, with JAX's signatures: derivatives that are given, against finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful import tree
from lawful.core import ArgumentTypeError, ArgumentValueError, float0, get_aval, shorten
from lawful.laws._checks.finite_differences import DEFAULT_STEP, Bound, Bounds, OneCheck
from lawful.laws._checks.given import GivenCase, floating_names, require_arguments, require_function, require_results
from lawful.laws._derivatives.directions import is_floating


def check_jvp(
    f: Callable[..., Any],
    f_jvp: Callable[..., Any],
    args: Sequence[Any],
    atol: Bound = None,
    rtol: Bound = None,
    eps: float = DEFAULT_STEP,
    err_msg: str = "",
) -> None:
    """Checks a function of forward mode against finite differences in a random direction.

    Args:
      f: a function of pytrees of arrays, to such.
      f_jvp: ``f_jvp(args, tangents)`` gives ``(f(*args), tangent_out)``, as ``functools.partial(jvp, f)`` does.
      args: the arguments, away from kinks. Integer ones are constants.
      atol: as for `check_grads`.
      rtol: the same.
      eps: the step of the differences.
      err_msg: a text that the error begins with.

    Raises:
      LawViolation: the derivative is wrong. It is an AssertionError.
      ArgumentValueError: there is nothing to differentiate, or ``f`` does not accept ``args``.
      ArgumentTypeError: ``f`` or ``f_jvp`` is not a function, or ``args`` is not a sequence.

    Source: ``jax.test_util.check_jvp``.

    >>> from lawful import ops
    >>> check_jvp(ops.sin, lambda x, v: (ops.sin(*x), ops.cos(*x) * v[0]), (0.5,))
    """
    given = _Given("check_jvp", f, f_jvp, args, Bounds(atol, rtol, eps))

    def derivative(_: Any, leaves: list[Any], direction: list[Any]) -> tuple[Any, Any]:
        out, out_dot = f_jvp(given.arguments(leaves), given.arguments(direction, _no_tangent))
        return given.results(out), given.results(out_dot)

    given.check(lambda check: check.forward(f"JVP of {given.called}", derivative), err_msg)


def check_vjp(
    f: Callable[..., Any],
    f_vjp: Callable[..., Any],
    args: Sequence[Any],
    atol: Bound = None,
    rtol: Bound = None,
    eps: float = DEFAULT_STEP,
    err_msg: str = "",
) -> None:
    """Checks a function of reverse mode against finite differences in a random direction.

    Args:
      f: as for `check_jvp`.
      f_vjp: ``f_vjp(*args)`` gives ``(f(*args), pull)``, where ``pull`` gives a tuple of cotangents of the arguments
        for one of the result, as ``functools.partial(vjp, f)`` does.
      args: as for `check_jvp`.
      atol: the same.
      rtol: the same.
      eps: the same.
      err_msg: the same.

    Raises:
      LawViolation: the derivative is wrong; and as `check_jvp`.

    Source: ``jax.test_util.check_vjp``.

    >>> from lawful import ops
    >>> check_vjp(ops.sin, lambda x: (ops.sin(x), lambda ct: (-ops.cos(x) * ct,)), (0.5,))
    Traceback (most recent call last):
    lawful.laws._law.law.LawViolation: ...: check_vjp: VJP of sin: expected the cotangent paired with a direction...
    """
    given = _Given("check_vjp", f, f_vjp, args, Bounds(atol, rtol, eps))

    def derivative(_: Any, *leaves: Any) -> tuple[Any, Callable[[Any], Any]]:
        out, pull = f_vjp(*given.arguments(list(leaves)))
        return given.results(out), lambda weights: given.cotangents(pull(given.cotangent(out, weights)))

    given.check(lambda check: check.reverse(f"VJP of {given.called}", derivative), err_msg)


def _no_tangent(x: Any) -> Any:
    return np.zeros(get_aval(x).shape, float0)


class _Given:
    """A function at arguments, as one of their floating leaves to those of the result."""

    def __init__(self, name: str, f: Any, derivative: Any, args: Any, bounds: Bounds) -> None:
        require_function(name, f)
        require_function(name, derivative)
        if not isinstance(args, list | tuple):
            raise ArgumentTypeError(f"{name}: expected a tuple of arguments, got {shorten(args)}; write (x,) for one")
        require_arguments(name, tuple(args))
        from lawful.laws.systems import lawful

        self.name, self.f, self.bounds = name, f, bounds
        self.called = getattr(f, "__name__", "f")
        self.system, self.case = lawful, GivenCase(f, tuple(args))
        require_results(name, self.case, lawful)
        self.all_leaves, self.treedef = tree.flatten(tuple(args))
        self.chosen = [i for i, x in enumerate(self.all_leaves) if is_floating(get_aval(x))]
        if not self.chosen or not self.results(f(*args)):
            raise ArgumentValueError(
                f"{name}: expected floating arguments and results, got none; give arguments as floats"
            )

    def arguments(self, leaves: list[Any], other: Callable[[Any], Any] = lambda x: x) -> tuple[Any, ...]:
        """Returns arguments, or tangents, with these floating leaves."""
        full = [other(x) for x in self.all_leaves]
        for i, x in zip(self.chosen, leaves, strict=True):
            full[i] = x
        found: tuple[Any, ...] = tree.unflatten(self.treedef, full)
        return found

    def results(self, out: Any) -> list[Any]:
        """Returns the floating leaves of a result."""
        return [x for x in tree.leaves(out) if is_floating(get_aval(x))]

    def cotangent(self, out: Any, weights: list[Any]) -> Any:
        """Returns the cotangent of a result with these floating leaves."""
        rest = iter(weights)
        return tree.map(lambda x: next(rest) if is_floating(get_aval(x)) else _no_tangent(x), out)

    def cotangents(self, found: Any) -> list[Any]:
        """Returns the cotangents of the floating arguments."""
        leaves = tree.leaves(tuple(found), is_leaf=lambda x: x is None)
        return [leaves[i] for i in self.chosen]

    def check(self, compare: Callable[[OneCheck], None], err_msg: str) -> None:
        """Compares the derivative; raises LawViolation with a text before it."""
        leaves = [self.all_leaves[i] for i in self.chosen]

        def function(*leaves: Any) -> list[Any]:
            return self.results(self.f(*self.arguments(list(leaves))))

        name = f"{err_msg}: {self.name}" if err_msg else self.name
        compare(OneCheck(name, self.system, function, leaves, floating_names(self.case), self.bounds, self.case))
