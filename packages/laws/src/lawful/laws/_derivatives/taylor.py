"""The law of Taylor mode: derivatives along a curve are those of nested forward mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from lawful.core import get_aval, is_inexact, to_numpy
from lawful.laws._derivatives.directions import Leaves, normal, restrict
from lawful.laws._law.implementation import Implementation
from lawful.laws._law.law import Claim, Claims, Inapplicable, Trial, law

_HIGHEST_ORDER: Final = 4
#: The order up to which values of 16 bits and fewer are compared.
_HIGHEST_NARROW_ORDER: Final = 1
_SPECIAL: Final = (0.0, -0.0, 1.0, -1.0)


@law("second order", needs=("jet", "jvp", "higher order"), share=1 / 2)
def law_jet_is_nested_jvp(trial: Trial) -> Claims:
    """Taylor mode gives the derivatives of a function along a curve, of each order up to the fourth.

    Equation: jet(f, x, (x′, x″, …)) = f(x), (D f, D² f, …), where D g(x, x′, …) = jvp(g, (x, x′, …), (x′, x″, …))

    Coefficients of the curve are zero by chance, wholly or in some elements. Points
    are the given one, and one with zeros of both signs, ones and ties in it. The law
    says nothing of elements for which nested jvp gives infinity or NaN: there, the
    recurrences of Taylor mode may know more. Values of 16 bits and fewer are compared
    up to the first order, types up to the last: each order amplifies rounding errors,
    differently by either way. In float16, second derivatives of a Bessel function
    inside a loop differ by 3 %, and a fourth derivative is off by 40 % by both ways.

    Raises:
      LawViolation: it does not hold.
      Inapplicable: nothing to differentiate, or the function raises an arithmetic error at a special point.

    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_jet_is_nested_jvp(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5))
    """
    function, leaves = restrict(trial)
    for point in trial.some([partial(_as_given), partial(_special_point, trial)]):
        yield from _along_a_curve(trial, function, [point(x) for x in leaves])


def _along_a_curve(trial: Trial, function: Callable[..., Leaves], leaves: Leaves) -> Claims:
    order = int(trial.random.integers(1, _HIGHEST_ORDER + 1))
    curve = [leaves, *[_coefficients(trial, leaves) for _ in range(order)]]
    try:
        expected = nested_jvp(trial.system, function, curve)
    except (ArithmeticError, np.linalg.LinAlgError) as error:  # raised for Python numbers, and by eager solvers
        raise Inapplicable(f"jet: expected a function of these arguments, got {error!r}") from error
    series = [[terms[i] for terms in curve[1:]] for i in range(len(leaves))]
    value, derivatives = trial.system.jet(function, tuple(leaves), series)
    narrow = any(_is_narrow(x) for x in (*leaves, *expected[0]))
    for k, (got, right) in enumerate(zip([value, *derivatives], expected, strict=True)):
        values_count = not narrow or k <= _HIGHEST_NARROW_ORDER
        found = [_where_comparable(trial.system, *pair, values_count) for pair in zip(got, right, strict=True)]
        yield Claim(f"the derivative of order {k} by jet, of order {order}", found, f"{k}-fold jvp", right)


def nested_jvp(system: Implementation, function: Callable[..., Leaves], curve: Sequence[Leaves]) -> list[Leaves]:
    """Returns the results of a function and their derivatives along a curve, by ``jvp`` of ``jvp``.

    Args:
      system: the system of transformations.
      function: of leaves, to a list of leaves.
      curve: the arguments, and the derivatives of each of them, by order.
    """
    count = len(curve[0])

    def tower(order: int) -> Callable[..., list[Leaves]]:
        if order == 0:
            return lambda *xs: [function(*xs)]
        lower = tower(order - 1)

        def raised(*xs: Any) -> list[Leaves]:
            values, tangents = system.jvp(lower, xs[:-count], xs[count:])
            return [*values, tangents[-1]]

        return raised

    return tower(len(curve) - 1)(*[x for terms in curve for x in terms])


def _is_narrow(x: Any) -> bool:
    dtype = get_aval(x).dtype
    return is_inexact(dtype) and dtype.itemsize <= 2


def _as_given(x: Any) -> Any:
    return x


def _special_point(trial: Trial, x: Any) -> Any:
    """Returns an argument with zeros of both signs and with positive and negative ones, which makes ties, at random
    elements.
    """
    aval = get_aval(x)

    def mixed(part: np.ndarray[Any, Any]) -> Any:
        drawn = trial.random.integers(0, 2 * len(_SPECIAL), aval.shape)
        special = np.asarray(_SPECIAL)[np.minimum(drawn, len(_SPECIAL) - 1)]
        return np.where(drawn < len(_SPECIAL), special, part)

    value = np.asarray(to_numpy(x))
    if aval.dtype.kind == "c":
        out = np.empty(aval.shape, aval.dtype)
        out.real, out.imag = mixed(value.real), mixed(value.imag)  # a sum would lose the signs of zeros
    else:
        out = np.asarray(mixed(value)).astype(aval.dtype)
    return out.item() if aval.weak_type else out


def _coefficients(trial: Trial, leaves: Leaves) -> Leaves:
    """Returns the coefficients of one order of a curve: zero for a third of the arguments, and for a few elements."""
    return [_some_zeros(trial, normal(trial.random, get_aval(x))) for x in leaves]


def _some_zeros(trial: Trial, v: Any) -> Any:
    value = np.asarray(v)
    kept = trial.random.integers(0, 4, value.shape) > 0 if trial.random.integers(0, 3) else False
    out = np.where(kept, value, np.zeros_like(value))
    return out if isinstance(v, np.ndarray | np.generic) else out.item()


def _where_comparable(system: Implementation, got: Any, right: Any, values_count: bool) -> Any:
    """Returns a value of the same type, with elements from ``right`` where ``right`` is not finite.

    Where values do not count, it is ``right``: the law compares types alone.
    """
    x, y = (np.asarray(system.numpy(value)) for value in (got, right))
    if x.shape != y.shape or x.dtype != y.dtype:
        return got
    return np.where(np.isfinite(y), x, y) if values_count else y
