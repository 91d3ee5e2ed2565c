"""The law of derivatives at special points: zeros, ties, and the ends of a domain.

Along a line ``g(s) = f(x + s v)`` the derivatives from the right are those at ``s = 0`` of the polynomial that
interpolates ``g`` at Chebyshev points of ``(0, r)``, and those from the left of ``(-r, 0)``. The polynomial is accurate
where ``g`` is analytic beside the point, even if it has a kink, jump or pole at it. Intervals of two lengths must agree
before anything is claimed, and so must both sides: then the derivative exists.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.polynomial import chebyshev

from lawful import tree
from lawful.core import Declaration, get_aval
from lawful.laws._derivatives.directions import normal
from lawful.laws._law.law import Claim, Claims, Fault, Inapplicable, Trial, law
from lawful.laws._primitives.call import PrimitiveCall
from lawful.laws._primitives.special_args import special_args

_ORDERS: Final = 3
#: The number of directions that decide whether slopes are additive.
_DIRECTIONS: Final = 6
#: The lengths of intervals, and how many points of each are sampled: with as many of both, a jump between the first two
#: points would add the same to both values.
_INTERVALS: Final = ((0.25, 12), (0.125, 11))
#: Smaller parts of numbers are set to zero.
_TINY: Final = 1e-2
#: The tolerance of derivatives by order, beginning with the value, relative to one plus their size.
_TOLERANCES: Final = (1e-9, 1e-7, 1e-5, 1e-3)
_WIDE: Final = {"f": np.dtype(np.float64), "c": np.dtype(np.complex128)}

Array = np.ndarray[Any, Any]


@law("primitives", needs=("jaxprs", "higher order"), subject="primitive", share=1 / 2)
def law_primitive_special_points(trial: Trial) -> Claims:
    """The derivatives of a primitive are right to third order at special points too, wherever they exist.

    Equation: jvpᵏ(f, x, v) = dᵏ/dsᵏ f(x + s v) at s = 0 for k ≤ 3, wherever the derivatives from both sides agree, also
    where x is zero, a tie or an end of the domain; where they do not agree, the declaration of f says why; and
    jit(jvp(f)) = jvp(f) everywhere

    It says nothing where intervals of two lengths show another kink, jump or pole beside the point.

    Raises:
      LawViolation: it does not hold.
      Inapplicable: nothing to differentiate, or the declaration says that there is no derivative.

    >>> from lawful import ops
    >>> from lawful.laws import RandomChoose, draw_call
    >>> from lawful.laws.systems import lawful
    >>> law_primitive_special_points(lawful, draw_call(ops.sin_p, RandomChoose(1)))
    """
    if not isinstance(trial.case, PrimitiveCall) or trial.case.primitive.declaration is None:
        raise Inapplicable("law: expected a call of a declared primitive, got a function")
    call, declaration = trial.case, trial.case.primitive.declaration
    args = special_args(trial.random, call.primitive, _widened(call), call.params, extreme=False)
    if not declaration.differentiable:
        raise Inapplicable(f"law: expected a primitive with derivatives, got {call.primitive!r}")
    if not declaration.pointwise:
        for excluded in declaration.excluded:
            assert callable(excluded.point), excluded
            if np.any(excluded.point(*args, **call.params)):
                raise Inapplicable(f"{call.primitive!r}: {excluded.reason}")
    floating = [i for i, x in enumerate(args) if get_aval(x).dtype in _WIDE.values()]
    # Along all arguments, or along one with the others constant.
    moving = int(trial.random.integers(0, len(floating) + 1))
    chosen = floating if moving == len(floating) else [floating[moving]]
    if not chosen:
        raise Inapplicable("law: expected an argument to differentiate by, got none")

    def function(*xs: Any) -> list[Any]:
        full = list(args)
        for i, x in zip(chosen, xs, strict=True):
            full[i] = x
        return [x for x in tree.leaves(call(*full)) if get_aval(x).dtype.kind in "fc"]

    xs = tuple([args[i] for i in chosen])
    vs = tuple([_direction(trial, x) for x in xs])
    values = function(*xs)
    found = _derivatives(trial, function, xs, vs)
    for number, value in enumerate(values):

        def along(direction: Any, number: int = number) -> Callable[[float], Any]:
            return lambda s: function(*[x + s * v for x, v in zip(xs, direction, strict=True)])[number]

        line = _Line.of(along(vs))
        if len(args) > 1 or not declaration.pointwise:
            kinked = ~_near(line.right[1], line.left[1], _TOLERANCES[1])
            line = line.where(kinked | _is_additive(trial, along, xs, vs))
        declared = _declared_order(declaration, args, call, np.shape(value)) if declaration.pointwise else None
        yield from _agree(line, [each[number] for each in found], declared, args)
    yield from _compiled(trial, function, xs, vs)


def _widened(call: PrimitiveCall) -> tuple[Any, ...]:
    """Returns the arguments with floating numbers of most bits, and zeros for those close to zero.

    Differences look at an interval beside each point: on both sides of a branch cut that is closer than its length.

    Raises:
      Inapplicable: the primitive does not take these.
    """

    def one(x: Any) -> Any:
        wide = _WIDE.get(get_aval(x).dtype.kind)
        return x if wide is None else _without_tiny_parts(np.asarray(x).astype(wide))

    args = tuple([one(x) for x in call.args])
    try:
        call.primitive.rule("abstract_eval")(*map(get_aval, args), **call.params)
    except TypeError as error:
        raise Inapplicable(f"law: expected a primitive of 64 bits, got {call.primitive!r}") from error
    return args


def _without_tiny_parts(x: Array) -> Array:
    parts = [np.where(np.abs(part) < _TINY, np.copysign(0.0, part), part) for part in (x.real, x.imag)]
    out = np.empty_like(x)
    out.real = parts[0]
    if x.dtype.kind == "c":
        out.imag = parts[1]
    return out


def _direction(trial: Trial, x: Any) -> Any:
    v = np.asarray(normal(trial.random, get_aval(x)))
    # Not too short, because an interval of length |v| r beside the point is sampled.
    return np.where(np.abs(v) < 0.3, 0.5, v).astype(v.dtype)


def _derivatives(trial: Trial, function: Callable[..., Any], xs: Any, vs: Any) -> list[list[Any]]:
    """Returns the derivatives along a direction by order, beginning with the value, each a list of results."""
    system = trial.system

    def pushed(inner: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args: system.jvp(inner, args, vs)

    first = pushed(function)
    ((zeroth, once), (_, twice)), (_, (_, thrice)) = pushed(pushed(first))(*xs)
    return [[system.numpy(x) for x in each] for each in (zeroth, once, twice, thrice)]


def _compiled(trial: Trial, function: Callable[..., Any], xs: Any, vs: Any) -> Claims:
    def derivative(*args: Any) -> Any:
        return trial.system.jvp(function, args, vs)

    if all(get_aval(x).dtype.kind == "f" for x in xs):
        for backend in trial.some(trial.system.backends):
            compiled = trial.system.jit(derivative, backend)(*xs)
            yield Claim(f"jit(jvp(f)) by {backend}", compiled, "jvp(f)", derivative(*xs))


@dataclass(frozen=True, slots=True)
class _Line:
    """The derivatives of a function of one number at 0, from both sides.

    Attributes:
      right: those from the right, for each order; NaN where they are not known.
      left: those from the left.
    """

    right: list[Array]
    left: list[Array]

    def where(self, mask: Any) -> _Line:
        """Returns the derivatives where a mask is true; elsewhere only the values."""
        right, left = [[side[0], *[np.where(mask, x, np.nan) for x in side[1:]]] for side in (self.right, self.left)]
        return _Line(right, left)

    @classmethod
    def of(cls, function: Callable[[float], Any]) -> _Line:
        sides = []
        for sign in (1.0, -1.0):
            longer, shorter = [_one_sided(function, sign * length, count) for length, count in _INTERVALS]
            sides.append(
                [
                    np.where(_near(a, b, tolerance / 10), b, np.nan)
                    for a, b, tolerance in zip(longer, shorter, _TOLERANCES, strict=True)
                ]
            )
        return cls(*sides)


def _is_additive(trial: Trial, along: Callable[[Any], Callable[[float], Any]], xs: Any, vs: Any) -> Any:
    """Whether slopes add up, and are the same on both sides along other lines, for each element.

    Two counterexamples need both conditions. The median of three equal numbers has the same slope on both sides along
    every line, and no derivative. The slopes of the maximum of two equal numbers add up if both numbers move alike.
    """

    def slope(direction: Any, sign: float = 1.0) -> Array:
        length, count = _INTERVALS[1]
        return _one_sided(along(direction), sign * length, count)[1]

    first, out = slope(vs), np.True_
    for _ in range(_DIRECTIONS):
        ws = tuple([_direction(trial, x) for x in xs])
        both = tuple([(v + w) / 2 for v, w in zip(vs, ws, strict=True)])
        other = slope(ws)
        out = out & _near((first + other) / 2, slope(both), _TOLERANCES[1])
        out = out & _near(slope(ws, -1.0), other, _TOLERANCES[1])
    return out


def _one_sided(function: Callable[[float], Any], length: float, count: int) -> list[Array]:
    nodes, weights = _interpolation(count)
    values = np.stack([np.asarray(function(float(node) * length)) for node in nodes])
    return [np.tensordot(row, values, 1) / length**k for k, row in enumerate(weights)]


@cache
def _interpolation(count: int) -> tuple[Array, Array]:
    """Returns Chebyshev points of (0, 1), and the weights that give each derivative at 0 from values there."""
    nodes = (1 - np.cos(np.pi * (np.arange(count) + 0.5) / count)) / 2
    inverse = np.linalg.inv(chebyshev.chebvander(2 * nodes - 1, count - 1))
    rows = []
    for k in range(_ORDERS + 1):
        ends = [chebyshev.chebval(-1.0, chebyshev.chebder(row, k)) * 2.0**k for row in np.eye(count)]
        rows.append(np.array(ends) @ inverse)
    return nodes, np.stack(rows)


def _near(a: Any, b: Any, tolerance: float) -> Any:
    return np.abs(a - b) <= tolerance * (1 + np.abs(b))


def _agree(line: _Line, found: list[Any], declared: Any, args: tuple[Any, ...]) -> Claims:
    """Yields a fault for the first wrong order, up to the last order that exists."""
    exists: Any = True
    for k, (right, left, got, tolerance) in enumerate(zip(line.right, line.left, found, _TOLERANCES, strict=True)):
        known = exists & np.isfinite(right) & np.isfinite(left) & (k > 0 or np.isfinite(got))
        exists = known & _near(right, left, tolerance)
        if k == 0:
            exists = exists & _near(right, np.asarray(got), tolerance)
        undeclared = known & ~exists & (declared > k) if declared is not None else np.False_
        if np.any(undeclared):
            yield Fault(
                f"its derivative of order {k} does not exist{_location(undeclared, args)}, "
                "and its declaration does not say why: declare it at its operand, as "
                f'domain=(Interval(excluded=(Excluded(point, "why", order={k}),)),)',
                f"from the right: {right[undeclared][:3]}\nfrom the left: {left[undeclared][:3]}",
            )
        exists = exists if declared is None else exists & (declared > k)
        wrong = exists & ~_near(np.asarray(got), right, tolerance)
        if np.any(wrong):
            yield Fault(
                f"its derivative of order {k} is wrong{_location(wrong, args)}",
                f"by its rules: {np.asarray(got)[wrong][:3]}\nby differences: {right[wrong][:3]}",
            )


def _location(mask: Any, args: tuple[Any, ...]) -> str:
    """Describes where a mask of the result is true; empty if the arguments have other shapes."""
    if any(np.shape(x) != np.shape(mask) for x in args):
        return ""
    return " at " + ", ".join(repr(np.asarray(x)[mask].reshape(-1)[0].item()) for x in args)


def _declared_order(declaration: Declaration, args: tuple[Any, ...], call: PrimitiveCall, shape: Any) -> Any:
    """Returns the lowest order of derivative that is declared not to exist, for each element."""
    order = np.full(shape, _ORDERS + 1)
    last = len(declaration.domain) - 1
    for i, x in enumerate(args):
        for excluded in declaration.domain[min(i, last)].excluded:
            order = np.where(np.asarray(x) == excluded.point, np.minimum(order, excluded.order), order)
    for excluded in declaration.excluded:
        assert callable(excluded.point), excluded
        order = np.where(excluded.point(*args, **call.params), np.minimum(order, excluded.order), order)
    return order
