"""The linear part of a function with a rule of reverse mode: a call whose transpose is that rule.

Forward mode is derived by transposing the rule, which must be linear in the cotangents.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

from lawful.autodiff import backward_pass, instantiated, linear_program
from lawful.batching import psum_invariant_p
from lawful.core import (
    ConcretizationTypeError,
    MissingRuleError,
    NotLinearError,
    ShapedArray,
    UndefinedPrimal,
    Zero,
    float0,
    get_aval,
    with_axes_of,
)
from lawful.custom_rules._call.callee import Callee
from lawful.custom_rules._call.derivatives import custom_transpose_call_p
from lawful.custom_rules._call.rules import CallRules
from lawful.custom_rules._user_rules.linearity import require_linear
from lawful.custom_rules._user_rules.zeros import zero_residuals
from lawful.ops import with_weakness_of
from lawful.staging import kept

#: Maps residuals and the cotangents of all results to the cotangents of the operands that are differentiated by.
Pullback = Callable[[Sequence[Any], Sequence[Any]], list[Any]]


def push_forward(
    label: str, name: str, key: Hashable, pullback: Pullback, residuals: Sequence[Any], tangents: Sequence[Any],
    outs: Sequence[Any],
) -> list[Any]:  # fmt: skip
    """Returns the tangents of results, by a call whose transpose is a pullback.

    Args:
      label: the function, for messages.
      name: its name.
      key: identifies the pullback: pullbacks with equal keys do the same.
      pullback: the pullback; the cotangents that it returns may be a symbolic ``Zero``.
      residuals: the values that it needs of the forward run.
      tangents: the tangents of the operands that it returns cotangents of, none of them a symbolic zero.
      outs: the results.
    """
    count = len(residuals)
    out_avals = [get_aval(x).to_tangent_aval() for x in outs]
    floating = [aval.dtype != float0 for aval in out_avals]
    if not tangents or not any(floating):
        return [Zero(aval) for aval in out_avals]
    linear_avals, in_avals = kept(out_avals, floating), [get_aval(t) for t in tangents]
    zeros = zero_residuals(residuals)  # where the rule is traced, its operands do not show it

    def pulled(residuals: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
        given = iter(cts)
        found = pullback(residuals, [next(given) if f else Zero(a) for f, a in zip(floating, out_avals, strict=True)])
        return [*map(_with_axes, found, in_avals)]

    def forward(*operands: Any) -> list[Any]:
        values, tangents = operands[:count], operands[count:]
        return _transposed(label, lambda *cts: pulled(values, cts), linear_avals, tangents, kept(values, zeros))

    def transpose(cts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
        found = pulled(args[:count], cts)
        return [None if i < count or type(x) is not UndefinedPrimal else found[i - count] for i, x in enumerate(args)]

    operands = [*residuals, *tangents]
    key = ("pullback", key, tuple(floating), len(tangents), zeros)
    callee = Callee(f"the tangents of {label}", forward, [get_aval(x) for x in operands], key, out_avals=linear_avals)
    rules = CallRules(key, transpose=transpose, linear=(*(False,) * count, *(True,) * len(tangents)))
    found = iter(custom_transpose_call_p.bind(*operands, name=f"{name}_tangents", fun=callee, rules=rules))
    return [next(found) if f else Zero(aval) for f, aval in zip(floating, out_avals, strict=True)]


def _with_axes(ct: Any, aval: ShapedArray) -> Any:
    """Returns a cotangent that varies over the axes of a mesh over which its operand does.

    That of an operand which is the same along an axis is the sum of what the devices along it have for it.
    """
    if type(ct) is Zero:
        return ct
    ct = with_axes_of(ct, aval)
    others = tuple(sorted(get_aval(ct).vma - aval.vma, key=str))
    return psum_invariant_p.bind(ct, axis_name=others[0] if len(others) == 1 else others) if others else ct


def _transposed(
    label: str, pulled: Callable[..., list[Any]], avals: Sequence[ShapedArray], tangents: Sequence[Any],
    zeros: Sequence[Any],
) -> list[Any]:  # fmt: skip
    """Returns the transpose of a pullback, applied to tangents; ``zeros`` are the residuals that are known to be zero.

    Raises:
      NotLinearError: the pullback is not linear in the cotangents.
    """
    try:
        program, depends, outs = linear_program(lambda *cts: [*map(instantiated, pulled(*cts))], avals)
        constants = [x for x, linear in zip(outs, depends, strict=True) if not linear]
        require_linear(program, constants, partial(_not_linear, label), zeros)
        found = backward_pass(program, kept(tangents, depends))
    except (MissingRuleError, ConcretizationTypeError, NotLinearError) as error:
        if isinstance(error, NotLinearError) and error.message.startswith(label):
            raise
        raise _not_linear(label, f"one for which transposition says: {error.message}") from error
    return [with_weakness_of(instantiated(x), aval) for x, aval in zip(found, avals, strict=True)]


def _not_linear(label: str, got: str, remedy: str = "") -> NotLinearError:
    remedy = f"{remedy}, or " if remedy else ""
    return NotLinearError(
        f"{label}: expected a bwd that is linear in the cotangent, because forward mode is derived from it by "
        f"transposition, got {got}; {remedy}give forward mode a rule of its own: def_jvp of custom_rule"
    )
