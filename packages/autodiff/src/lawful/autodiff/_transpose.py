"""Transposition: from a linear program, the program that runs it backwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from lawful import tree
from lawful.autodiff._arguments import checked_leaves, flat_function, single_cotangent
from lawful.autodiff._zeros import instantiated
from lawful.core import (
    ArgumentTypeError,
    Atom,
    ClosedJaxpr,
    Hook,
    JaxprEqn,
    Literal,
    ShapedArray,
    UndefinedPrimal,
    Var,
    Zero,
    at_source,
    current,
    eval_closed_jaxpr,
    get_aval,
    instantiate_zeros,
    is_inexact,
    memoize,
    new_trace,
    shorten,
)
from lawful.ops import add_tangents, with_weakness_of
from lawful.staging import (
    JaxprTracer,
    PartialTrace,
    copy_aliased,
    dce_jaxpr,
    function_name,
    in_avals,
    require_callable,
    trace_to_jaxpr,
)


def run_backwards(closed: ClosedJaxpr, cts: Sequence[Any]) -> list[Any]:
    """Returns the cotangents of the inputs of a linear jaxpr from those of its outputs; see `backward_pass`."""
    jaxpr = closed.jaxpr
    residuals = dict(zip(jaxpr.constvars, closed.consts, strict=True))
    ct_of: dict[Var, Any] = {}

    def accumulate(atoms: Sequence[Atom], found: Sequence[Any]) -> None:
        for atom, ct in zip(atoms, found, strict=True):
            if type(atom) is Var and ct is not None and type(ct) is not Zero:
                ct_of[atom] = add_tangents(ct_of[atom], ct) if atom in ct_of else ct

    accumulate(jaxpr.outvars, cts)
    for eqn in reversed(jaxpr.eqns):
        if any(var in ct_of for var in eqn.outvars):
            with at_source(eqn.source):
                out_cts = [ct_of.pop(var, Zero(var.aval)) for var in eqn.outvars]
                accumulate(eqn.invars, transpose_equation(eqn, out_cts, residuals))
    return [ct_of.get(var, Zero(var.aval)) for var in jaxpr.invars]


#: Runs a linear jaxpr backwards.
transpose_hook: Final[Hook[Callable[[ClosedJaxpr, Sequence[Any]], list[Any]]]] = Hook("transpose", run_backwards)


def backward_pass(closed: ClosedJaxpr, cts: Sequence[Any]) -> list[Any]:
    """Returns the cotangents of the inputs of a linear jaxpr from those of its outputs; zeros are symbolic, or None.

    Every equation must be linear in the variables that depend on inputs; constants are residuals.

    >>> from lawful.staging import make_jaxpr
    >>> backward_pass(make_jaxpr(lambda x: x * 3.0)(1.0), [2.0])
    [6.0]
    """
    return transpose_hook.for_traces(closed, cts)


def transpose_equation(eqn: JaxprEqn, cts: Sequence[Any], residuals: dict[Var, Any]) -> Sequence[Any]:
    """Returns a cotangent for each operand of an equation; None, or a symbolic zero, for non-linear operands.

    Args:
      eqn: the equation.
      cts: the cotangents of its results; zeros are symbolic.
      residuals: the values of the variables that are constants.
    """
    args = [
        atom.val if type(atom) is Literal else residuals[atom] if atom in residuals else UndefinedPrimal(atom.aval)
        for atom in eqn.invars
    ]
    if not any(type(x) is UndefinedPrimal for x in args):
        return [None] * len(args)  # a constant of the linear program, such as zeros
    rule = eqn.primitive.rule("transpose")
    in_cts = rule(cts if eqn.primitive.multiple_results else cts[0], *args, **eqn.params)
    if not isinstance(in_cts, Sequence) or len(in_cts) != len(args):
        raise ArgumentTypeError(
            f"transpose rule of {eqn.primitive.name}: expected a list of cotangents, as many as operands "
            f"({len(args)}), got {shorten(in_cts)}; return None for an operand that it is not linear in"
        )
    return in_cts


def linear_program(
    function: Callable[..., Sequence[Any]], avals: Sequence[ShapedArray]
) -> tuple[ClosedJaxpr, list[bool], list[Any]]:
    """Traces a function that is linear in inputs of these types; what does not depend on them is computed.

    Returns:
      The jaxpr of the outputs that depend on the inputs, for each output whether it does, and all outputs.

    >>> linear_program(lambda x: [x * 3.0, 2.0], [ShapedArray((), float)])[:2]
    ({ lambda ; a:f64[]. let b:f64[] = mul a 3.0:f64[] in (b,) }, [True, False])
    """
    trace = PartialTrace(current.trace, "linear_transpose")
    with new_trace(trace):
        inputs = [trace.new_input(aval) for aval in avals]
        outs = list(function(*inputs))
        depends = [type(x) is JaxprTracer and x._trace is trace for x in outs]
        closed = trace.to_jaxpr(inputs, [x for x, linear in zip(outs, depends, strict=True) if linear])
    return dce_jaxpr(closed, (True,) * sum(depends)), depends, outs


@memoize
def transpose_jaxpr(
    closed: ClosedJaxpr,
    linear: tuple[bool, ...],
    nonzeros: tuple[bool, ...],
    instantiate: tuple[bool, ...] | None = None,
) -> tuple[ClosedJaxpr, tuple[bool, ...]]:
    """Returns the transpose of a jaxpr with respect to some inputs, and which of their cotangents it gives.

    Args:
      closed: the program, linear in the inputs marked by ``linear``.
      linear: for each input, whether to transpose with respect to it.
      nonzeros: for each output, whether its cotangent is given; the others are zero.
      instantiate: for each linear input, whether to give its cotangent also if it is zero.

    Returns:
      A jaxpr of the other inputs and then the given cotangents, which gives those cotangents of linear inputs that
      are marked in the second result.

    >>> from lawful.staging import make_jaxpr
    >>> transpose_jaxpr(make_jaxpr(lambda x: x * 3.0)(1.0), (True,), (True,))
    ({ lambda ; a:~f64[]. let b:~f64[] = mul a 3.0:~f64[] in (b,) }, (True,))
    """
    residual_avals = [aval for aval, lin in zip(closed.in_avals, linear, strict=True) if not lin]
    linear_avals = [aval for aval, lin in zip(closed.in_avals, linear, strict=True) if lin]
    given = [aval.to_tangent_aval() for aval, nonzero in zip(closed.out_avals, nonzeros, strict=True) if nonzero]
    nonzeros_out: tuple[bool, ...] = ()

    def transposed(*args: Any) -> list[Any]:
        nonlocal nonzeros_out
        residuals = args[: len(residual_avals)]
        cts = iter(args[len(residual_avals) :])

        def function(*linear_args: Any) -> list[Any]:
            rest, given_linear = iter(residuals), iter(linear_args)
            return eval_closed_jaxpr(closed, *[next(given_linear) if lin else next(rest) for lin in linear])

        program, depends, _ = linear_program(function, linear_avals)
        all_cts = [next(cts) if nonzero else None for nonzero in nonzeros]
        out_cts = backward_pass(program, [ct for ct, d in zip(all_cts, depends, strict=True) if d])
        wanted = (False,) * len(out_cts) if instantiate is None else instantiate
        nonzeros_out = tuple(type(ct) is not Zero or want for ct, want in zip(out_cts, wanted, strict=True))
        return [
            with_weakness_of(instantiated(ct), aval)
            for ct, aval, keep in zip(out_cts, linear_avals, nonzeros_out, strict=True)
            if keep
        ]

    jaxpr = trace_to_jaxpr(
        transposed, [*residual_avals, *given], transformation="transpose", name=f"transpose_{closed.jaxpr.name}"
    )
    return jaxpr, nonzeros_out


def linear_transpose(fun: Callable[..., Any], *primals: Any) -> Callable[[Any], tuple[Any, ...]]:
    """Returns the transpose of a linear function.

    Args:
      fun: a function of pytrees of floating or complex arrays, linear in all of them, that returns such a tree.
      primals: arguments of the right structure, shapes and dtypes; their values do not matter, so that
        ``ShapeDtypeStruct`` and other objects with ``shape`` and ``dtype`` do as well.

    Returns:
      A function from a cotangent of the result to the tuple of cotangents of the arguments.

    Raises:
      ArgumentTypeError: an argument has integers, or the cotangent has another type than the result.
      MissingRuleError: ``fun`` applies an operation that is not linear.

    Laws: ``⟨w, f(v)⟩ = ⟨fᵀ(w), v⟩``; transposing twice is the identity. Source: ``jax.linear_transpose``.

    >>> linear_transpose(lambda x: x * 3.0, 1.0)(2.0)
    (6.0,)
    """
    require_callable("linear_transpose", fun)
    leaves, in_tree = tree.flatten(primals)
    avals = in_avals("linear_transpose", (primals, {}), leaves, values=False)
    for aval in avals:
        if not is_inexact(aval.dtype):
            raise ArgumentTypeError(
                f"linear_transpose: expected floating or complex arguments, got {aval}; close over integers instead"
            )
    flat, out = flat_function(f"linear_transpose of {function_name(fun)}", fun, in_tree, has_aux=False)
    program, depends, outs = linear_program(flat, avals)
    out_avals = [get_aval(x) for x in outs]

    def transposed_fun(*args: Any, **names: Any) -> tuple[Any, ...]:
        ct = single_cotangent("linear_transpose", out.tree, args, names)
        checked = checked_leaves("linear_transpose", "cotangent", out.tree, out_avals, ct)
        cts_in = backward_pass(program, [x for x, linear in zip(checked, depends, strict=True) if linear])
        results = [with_weakness_of(instantiate_zeros(x), aval) for x, aval in zip(cts_in, avals, strict=True)]
        result: tuple[Any, ...] = tree.unflatten(in_tree, copy_aliased(results, checked))
        return result

    return transposed_fun
