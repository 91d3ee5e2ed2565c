"""The residuals that reverse mode saves for its backward pass, and their origins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lawful import tree
from lawful.autodiff._arguments import Output, flat_function
from lawful.autodiff._checkpoint.rematerialization import cut_call
from lawful.autodiff._checkpoint_name import name_p
from lawful.autodiff._linearize import linearize_hook
from lawful.core import Atom, Jaxpr, JaxprEqn, ShapedArray, Var, current, new_trace
from lawful.staging import AnalyzedCall, JaxprTrace, function_name, require_callable

Residuals = list[tuple[ShapedArray, str]]


def saved_residuals(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Residuals:
    """Returns what reverse mode keeps of ``f`` for its backward pass.

    Args:
      f: a function of pytrees of floating arrays that returns such a tree. It is traced, and not evaluated.
      args: its arguments, or ``ShapeDtypeStruct`` in their place. Static arguments of `jit`, and objects that are no
        arrays, are given as they are.
      kwargs: the same, by name.

    Returns:
      A pair for each value: its type, and its origin: ``"a constant"``, ``"the argument x['w']"``, ``"named 'h' at
      file.py:3 (f)"``, or ``"output of sin at file.py:2 (f)"``.

    Raises:
      NonArrayError: no leaf of the arguments is an array, or a leaf of the result is none.

    Law: the values are those of the constants of ``vjp(f, *args)[1].jaxpr``. Source: JAX's
    ``jax.ad_checkpoint.print_saved_residuals``.

    >>> from lawful.ops import sin
    >>> saved_residuals(lambda x, y: sin(x) * y, 1.0, 2.0)
    [(ShapedArray(~f64[]), 'the argument y'), (ShapedArray(f64[]), 'output of sin at ...'), ...]
    """
    require_callable("saved_residuals", f)
    call = AnalyzedCall("saved_residuals", f, args, kwargs)
    flat, _ = flat_call("saved_residuals", f, call)
    trace = JaxprTrace(current.trace, "saved_residuals")
    with new_trace(trace):
        inputs = [trace.new_input(aval) for aval in call.avals]
        linearized = linearize_hook.for_traces(flat, inputs, trace)
        linearized.drop_known()
        residuals = linearized.jaxpr.consts
        jaxpr = trace.to_jaxpr(inputs, residuals).jaxpr
    names = dict(zip(jaxpr.invars, call.names, strict=True))
    order = [*jaxpr.constvars, *jaxpr.invars, *(var for eqn in jaxpr.eqns for var in eqn.outvars)]
    kept = set(jaxpr.outvars)
    origins = Origins(jaxpr, names)
    return [(var.aval, origins.of(var)) for var in order if var in kept]


def print_saved_residuals(f: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Prints what :func:`saved_residuals` returns, a line for each value.

    >>> from lawful.ops import sin
    >>> print_saved_residuals(lambda x: sin(x), 1.0)
    f64[]: output of cos at ...
    """
    for aval, origin in saved_residuals(f, *args, **kwargs):
        print(f"{aval}: {origin}")  # noqa: T201  # this is what it is for


def flat_call(tool: str, f: Callable[..., Any], call: AnalyzedCall) -> tuple[Callable[..., list[Any]], Output]:
    """Returns `flat_function` of a function, for the arrays of a call that a tool analyzes."""
    return flat_function(f"{tool} of {function_name(f)}", call, tree.structure((*call.arrays,)), has_aux=False)


class Origins:
    """Where the values of a jaxpr come from, in words.

    Args:
      jaxpr: the program.
      arguments: the names of its inputs.
    """

    def __init__(self, jaxpr: Jaxpr, arguments: dict[Var, str]) -> None:
        self._jaxpr = jaxpr
        self._arguments = arguments
        #: The equation that makes each variable, and as which result, of each jaxpr, by the ids of those.
        self._makers: dict[int, dict[Var, tuple[JaxprEqn, int]]] = {}

    def _maker(self, jaxpr: Jaxpr, var: Var) -> tuple[JaxprEqn, int]:
        if id(jaxpr) not in self._makers:
            self._makers[id(jaxpr)] = {out: (eqn, i) for eqn in jaxpr.eqns for i, out in enumerate(eqn.outvars)}
        return self._makers[id(jaxpr)][var]

    def of(self, atom: Atom) -> str:
        """Returns the words for where a value comes from."""
        jaxpr = self._jaxpr
        # The equations that call a jaxpr, from the outermost one inwards, with the jaxprs that they are in.
        callers: list[tuple[Jaxpr, JaxprEqn]] = []
        while True:
            if not isinstance(atom, Var) or atom in jaxpr.constvars:
                return "a constant"
            if atom in jaxpr.invars:
                if not callers:
                    return f"the argument {self._arguments[atom]}"
                inner = jaxpr
                jaxpr, eqn = callers.pop()
                atom = eqn.invars[inner.invars.index(atom)]
                continue
            eqn, number = self._maker(jaxpr, atom)
            if eqn.primitive.rules.get("checkpoint") is not cut_call:
                break
            callers.append((jaxpr, eqn))
            called: Jaxpr = eqn.params["jaxpr"].jaxpr
            atom = called.outvars[number]
            jaxpr = called
        at = f" at {eqn.source.with_callers()}" if eqn.source is not None else ""
        if eqn.primitive is name_p:
            return f"named '{eqn.params['name']}'{at}"
        return f"output of {eqn.primitive.name}{at}"
