"""Laws of tangents and cotangents: their types, and linearity in the cotangent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lawful import tree
from lawful.core import ShapedArray, float0
from lawful.laws._derivatives.directions import combine, differentiable, require_range, tangents_of
from lawful.laws._law.law import Claim, Claims, Fault, Trial, law


@law("typing")
def law_tangent_types(trial: Trial) -> Claims:
    """A tangent has the shape and dtype of the result that it belongs to, and a cotangent those of the argument.

    Equation: aval(jvp(f, x, v)[1]) = aval(linearize(f, x)[1](v)) = tangent type of f(x), and
    aval(vjp(f, x)[1](w)) = tangent type of x

    The tangent type is the type itself for floating and complex numbers. Weakness is not looked at.

    Raises:
      LawViolation: it does not hold.
      Inapplicable: nothing to differentiate.

    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_tangent_types(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5))
    """
    function, args = differentiable(trial)
    out, system = trial.value(function, args), trial.system
    v, w = tangents_of(trial, args), tangents_of(trial, out)

    def forward() -> Iterator[Fault]:
        yield from _wrong_types(trial, "jvp(f, x, v) gives a tangent", system.jvp(function, args, v)[1], out)

    def linearized() -> Iterator[Fault]:
        tangents = system.linearize(function, *args)[1](*v)
        yield from _wrong_types(trial, "linearize(f, x)[1](v) gives a tangent", tangents, out)

    def reverse() -> Iterator[Fault]:
        cotangents = tuple(system.vjp(function, *args)[1](w))
        yield from _wrong_types(trial, "vjp(f, x)[1](w) gives a cotangent", cotangents, args)

    ways = {"jvp": forward, "linearize": linearized, "vjp": reverse}
    for way in trial.some([way for name, way in ways.items() if trial.has(name)]):
        yield from way()


def _wrong_types(trial: Trial, what: str, found: Any, of: Any) -> Iterator[Fault]:
    found_leaves, found_tree = tree.flatten(found)
    leaves, treedef = tree.flatten(of)
    if found_tree != treedef:
        yield Fault(f"{what} of another tree: {found_tree}, where the values are {treedef}")
        return
    for i, (x, value) in enumerate(zip(found_leaves, leaves, strict=True)):
        expected = _strong(trial.system.aval(value)).to_tangent_aval()
        got = _strong(trial.system.aval(x))
        if got != expected and not (expected.dtype == float0 and not trial.has("integer tangents")):
            yield Fault(f"{what} {got}, of a value {_strong(trial.system.aval(value))} (leaf {i})")


def _strong(aval: ShapedArray) -> ShapedArray:
    return aval.update(weak_type=False)


@law("transposition", needs=("vjp",))
def law_vjp_linear(trial: Trial) -> Claims:
    """Reverse mode is linear in the cotangent.

    Equation: Jᵀ(a u + b w) = a Jᵀ u + b Jᵀ w, with zero and large multiples among them

    Raises:
      LawViolation: it does not hold.
      Inapplicable: nothing to differentiate.

    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_vjp_linear(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5))
    """
    function, args = differentiable(trial)
    out, pull = trial.system.vjp(function, *args)
    u, w = tangents_of(trial, out), tangents_of(trial, out)

    def pulled(cotangent: Any) -> Any:
        return tree.map(trial.system.numpy, tuple(pull(cotangent)))

    of_u = pulled(u)

    def of_a_combination() -> Claims:
        both, of_w = pulled(combine(1.5, u, -0.5, w)), pulled(w)
        require_range(trial.system, (args, out), of_u, of_w, both)
        yield Claim("vjp of 1.5 u − 0.5 w", both, "1.5 vjp(u) − 0.5 vjp(w)", combine(1.5, of_u, -0.5, of_w))

    def of_zero() -> Claims:
        yield Claim("vjp of 0", pulled(combine(0.0, u, 0.0, u)), "0", combine(0.0, of_u, 0.0, of_u))

    def of_a_multiple() -> Claims:
        scaled = pulled(combine(8.0, u, 0.0, u))
        require_range(trial.system, (args, out), of_u, scaled)
        yield Claim("vjp of 8 u, divided by 8", combine(1 / 8.0, scaled, 0.0, scaled), "vjp of u", of_u)

    for part in trial.some([of_a_combination, of_zero, of_a_multiple]):
        yield from part()
