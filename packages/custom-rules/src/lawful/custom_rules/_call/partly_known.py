"""Calls some of whose operands are known, as in the linear part of a derivative."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from lawful.autodiff import linear_program
from lawful.core import ClosedJaxpr, Jaxpr, Primitive, Var, deduplicated, get_aval
from lawful.custom_rules._call.callee import Callee, as_function
from lawful.custom_rules._call.rules import CallRules, Derivative
from lawful.staging import kept, merge_lists, read_only


def partly_known_call(
    primitive: Primitive, record: Callable[..., list[Any]], unknown: Sequence[bool], args: Sequence[Any],
    *, name: str, rules: CallRules, fun: Callee | None = None, jaxpr: ClosedJaxpr | None = None,
) -> list[Any]:  # fmt: skip
    """Computes what the known operands of a call determine, and records a call of the rest.

    The recorded call evaluates the rest of the function on its residuals. It takes all operands too: an enclosing
    transformation may differentiate by the known ones, and the derivative is that of the whole call, by its rules.

    Args:
      primitive: the primitive of the call.
      record: adds a call to the recorded program.
      unknown: for each operand, whether it is unknown.
      args: the operands.
      name: the name of the function.
      rules: its rules, with one of derivatives.
      fun: the function, or None.
      jaxpr: the function as a jaxpr, or None.
    """
    function = as_function(fun, jaxpr)
    known = kept(args, [not u for u in unknown])
    program, depends, outs = linear_program(
        lambda *values: function(*merge_lists(unknown, known, values)), [get_aval(x) for x in kept(args, unknown)]
    )
    if not any(depends):
        return outs
    given = iter(program.jaxpr.invars)
    operands = [next(given) if u else Var(get_aval(x)) for x, u in zip(args, unknown, strict=True)]
    rest = Jaxpr((), [*program.jaxpr.constvars, *operands], program.eqns, program.jaxpr.outvars, name=name)
    count = len(program.consts)
    whole = {"name": name, **({"jaxpr": jaxpr} if fun is None else {"fun": fun})}

    def derivative(rules: CallRules) -> Derivative:
        def of_rest(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
            pair = primitive.rule("jvp")(primals[count:], tangents[count:], rules=rules, **whole)
            return kept(pair[0], depends), kept(pair[1], depends)

        return of_rest

    of_rest = CallRules(
        ("partly known", primitive.name, tuple(unknown), tuple(depends), count, fun or jaxpr, rules.key),
        jvp=rules.jvp and derivative(replace(rules, vjp=None)),
        vjp=rules.vjp and derivative(replace(rules, jvp=None)),
        linear=(*(False,) * count, *unknown),
    )
    # Read-only copies of known values: the user may write into the originals.
    values = [*program.consts, *[x if u else read_only(x) for x, u in zip(args, unknown, strict=True)]]
    found = record(*values, name=name, rules=of_rest, jaxpr=deduplicated(ClosedJaxpr(rest)))
    return merge_lists(depends, [x for x, d in zip(outs, depends, strict=True) if not d], found)
