"""The linear part of a function with a rule for reverse mode: a call whose transpose is that rule.

Forward mode is derived: what the rule does to cotangents, which must be linear, is transposed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from lawful.autodiff._custom_derivatives import custom_transpose_call_p
from lawful.autodiff._jvp import instantiated
from lawful.autodiff._transpose import backward_pass, linear_program
from lawful.batching import Callee, CallRules
from lawful.core import (
    Atom,
    ClosedJaxpr,
    ConcretizationTypeError,
    JaxprEqn,
    Literal,
    MissingRuleError,
    NotLinearError,
    ShapedArray,
    Tracer,
    UndefinedPrimal,
    Zero,
    float0,
    get_aval,
    is_inexact,
    jaxprs_in_params,
)
from lawful.ops import broadcast_in_dim_p, convert_element_type_p, with_weakness_of
from lawful.staging import kept

# What is zero if its operand is.
_KEEPING_ZERO = frozenset({broadcast_in_dim_p, convert_element_type_p})

#: Of residuals and cotangents of all results to the cotangents of the operands that are differentiated by.
Pullback = Callable[[Sequence[Any], Sequence[Any]], list[Any]]


def pushed_forward(
    label: str, name: str, key: Hashable, pull: Pullback, residuals: Sequence[Any], tangents: Sequence[Any],
    outs: Sequence[Any],
) -> list[Any]:  # fmt: skip
    """Returns the tangents of results by a pullback, which becomes the transpose of the call that gives them.

    Args:
      label: the function, for messages.
      name: its name.
      key: what tells pullbacks apart.
      pull: the pullback; where it is asked for an operand's cotangent it may give a symbolic ``Zero``.
      residuals: what it needs of the forward run.
      tangents: of the operands that it gives cotangents of, none of them a symbolic zero.
      outs: the results.
    """
    count = len(residuals)
    out_avals = [get_aval(x).to_tangent_aval() for x in outs]
    floating = [aval.dtype != float0 for aval in out_avals]
    if not tangents or not any(floating):
        return [Zero(aval) for aval in out_avals]
    linear_avals = kept(out_avals, floating)

    def pulled(residuals: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
        given = iter(cts)
        return pull(residuals, [next(given) if f else Zero(a) for f, a in zip(floating, out_avals, strict=True)])

    def forward(*operands: Any) -> list[Any]:
        return _transposed(label, lambda *cts: pulled(operands[:count], cts), linear_avals, operands[count:])

    def transpose(cts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
        found = pulled(args[:count], cts)
        return [None if i < count or type(x) is not UndefinedPrimal else found[i - count] for i, x in enumerate(args)]

    operands = [*residuals, *tangents]
    key = ("pullback", key, tuple(floating), len(tangents))
    callee = Callee(f"the tangents of {label}", forward, [get_aval(x) for x in operands], key, out_avals=linear_avals)
    rules = CallRules(key, transpose=transpose, linear=(*(False,) * count, *(True,) * len(tangents)))
    found = iter(custom_transpose_call_p.bind(*operands, name=f"{name}_tangents", fun=callee, rules=rules))
    return [next(found) if f else Zero(aval) for f, aval in zip(floating, out_avals, strict=True)]


def _transposed(
    label: str, pulled: Callable[..., list[Any]], avals: Sequence[ShapedArray], tangents: Sequence[Any]
) -> list[Any]:
    """Returns the transpose of a pullback at some tangents.

    Raises:
      NotLinearError: the pullback is not linear in the cotangents.
    """
    try:
        program, depends, outs = linear_program(lambda *cts: [*map(instantiated, pulled(*cts))], avals)
        _require_linear(label, program, [x for x, linear in zip(outs, depends, strict=True) if not linear])
        found = backward_pass(program, kept(tangents, depends))
    except (MissingRuleError, ConcretizationTypeError, NotLinearError) as error:
        if isinstance(error, NotLinearError) and error.message.startswith(label):
            raise
        raise _not_linear(label, f"one for which transposition says: {error.message}") from error
    return [with_weakness_of(instantiated(x), aval) for x, aval in zip(found, avals, strict=True)]


def _not_linear(label: str, got: str) -> NotLinearError:
    return NotLinearError(
        f"{label}: expected a bwd that is linear in the cotangent, because forward mode is derived from it by "
        f"transposition, got {got}; give forward mode a rule of its own: def_jvp of custom_rule"
    )


def _require_linear(label: str, program: ClosedJaxpr, constants: Sequence[Any]) -> None:
    """Raises NotLinearError for a program that is seen to be no linear one: an affine one transposes in silence."""
    for x in constants:
        if not _may_be_zero(x):
            raise _not_linear(label, "one that gives something else than zero for the cotangent zero")
    values = dict(zip(program.jaxpr.constvars, program.consts, strict=True))
    pending = [(program.jaxpr, set(program.jaxpr.invars))]
    while pending:
        jaxpr, depends = pending.pop()
        for eqn in jaxpr.eqns:
            if depends.isdisjoint(eqn.invars):
                if eqn.primitive in _KEEPING_ZERO:
                    values[eqn.outvars[0]] = _value(eqn.invars[0], values)
                continue
            if eqn.primitive.declaration is None:
                # A call, whose operands are the last inputs of the jaxprs inside.
                for inner in jaxprs_in_params(eqn.params):
                    pairs = zip(reversed(inner.invars), reversed(eqn.invars), strict=False)
                    pending.append((inner, {var for var, atom in pairs if atom in depends}))
                depends.update([var for var in eqn.outvars if is_inexact(var.aval.dtype)])
                continue
            if not all([is_inexact(var.aval.dtype) for var in eqn.outvars]):
                raise _not_linear(label, f"one that decides something by it, `{eqn.primitive.name}` at {eqn.source}")
            if not _is_linear(eqn, depends, values):
                raise _not_linear(label, f"one that adds something to it, `{eqn.primitive.name}` at {eqn.source}")
            depends.update(eqn.outvars)


def _is_linear(eqn: JaxprEqn, depends: set[Any], values: dict[Any, Any]) -> bool:
    """Whether those operands in which an equation is jointly linear are zero if they do not depend on a cotangent.

    What is not known may be zero.
    """
    assert eqn.primitive.declaration is not None
    # Of a primitive with any number of operands more are declared than it may have.
    operands = set(range(len(eqn.invars)))
    unknown = {i for i, atom in enumerate(eqn.invars) if atom in depends}
    around = [operands & set(places) for places in eqn.primitive.declaration.linear if unknown <= set(places)]
    if not around:
        return True  # its transpose rule says what is wrong

    return any(all(_may_be_zero(_value(eqn.invars[i], values)) for i in places - unknown) for places in around)


def _value(atom: Atom, values: dict[Any, Any]) -> Any:
    """Returns the value of a constant, None if it is not known."""
    return atom.val if type(atom) is Literal else values.get(atom)


def _may_be_zero(x: Any) -> bool:
    return x is None or isinstance(x, Tracer) or not np.any(np.asarray(x))
