"""Transposition: from a linear program, the program that runs it backwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

from numpy import ndarray

from lawful import tree
from lawful.autodiff._arguments import check_tangent, flat_function, match_tree, single_cotangent
from lawful.autodiff._derivative_recipes import transpose_recipe
from lawful.autodiff._jvp import instantiated
from lawful.autodiff._tape import Node, Tangent, equations
from lawful.core import (
    ArgumentTypeError,
    Atom,
    ClosedJaxpr,
    JaxprEqn,
    ShapedArray,
    UndefinedPrimal,
    Var,
    Zero,
    avals_of,
    current,
    eval_closed_jaxpr,
    get_aval,
    instantiate_zeros,
    is_inexact,
    memoize,
    new_trace,
    place,
    shorten,
)
from lawful.ops import add_tangents, with_weakness_of
from lawful.staging import (
    JaxprTracer,
    PartialTrace,
    dce_jaxpr,
    function_name,
    in_avals,
    own_results,
    require_callable,
    trace_to_jaxpr,
)


def backward_pass(closed: ClosedJaxpr, cts: Sequence[Any]) -> list[Any]:
    """Returns the cotangents of the inputs of a linear jaxpr from those of its outputs; zeros are symbolic.

    Every equation must be linear in the variables that depend on inputs; constants are residuals.
    """
    jaxpr = closed.jaxpr
    return pull_back(
        reversed(jaxpr.eqns), jaxpr.invars, jaxpr.outvars, dict(zip(jaxpr.constvars, closed.consts, strict=True)), cts
    )


def pull_back(
    entries: Iterable[Any],
    invars: Sequence[Atom],
    outvars: Sequence[Tangent],
    residuals: dict[Var, Any],
    cts: Sequence[Any],
) -> list[Any]:
    """Runs a linear program backwards.

    Args:
      entries: equations and nodes, all linear, from the last to the first.
      invars: the variables whose cotangents are wanted.
      outvars: those whose cotangents are given; a known tangent has no use for its own.
      residuals: the values of the variables that are constants.
      cts: the cotangents; zeros are symbolic, or None.

    Returns:
      The cotangents of ``invars``; zeros are symbolic.
    """
    ct_of: dict[Any, Any] = {}
    atoms: Sequence[Tangent]
    pulled: Sequence[Any]
    follow = current.trace.follow
    before = place.source
    try:
        for entry in chain((None,), entries):
            if type(entry) is Node and len(entry.outputs) == 1:  # as most
                ct = ct_of.pop(entry.outputs[0], None)
                if ct is None:
                    continue
                place.source = entry.source
                usual = entry.recipe.usual
                if (
                    usual is not None
                    and (kind := type(ct)) is usual[0]
                    and (kind is not ndarray or (ct.shape == usual[1] and ct.dtype is usual[2]))
                ):
                    atoms, pulled = entry.inputs, follow(usual[3], [*entry.residuals, ct])
                else:
                    atoms, pulled = entry.inputs, _pulled_node(entry, avals_of((ct,)), (ct,))
            elif entry is None:  # to begin with
                atoms, pulled = outvars, _without_zeros(cts)
            else:
                is_node = type(entry) is Node
                given = [ct_of.pop(var, None) for var in (entry.outputs if is_node else entry.outvars)]
                if all([ct is None for ct in given]):
                    continue
                place.source = entry.source
                if is_node:
                    types = tuple([None if ct is None else get_aval(ct) for ct in given])
                    atoms, pulled = entry.inputs, _pulled_node(entry, types, given)
                else:
                    atoms, pulled = _pulled_equation(entry, given, residuals)
            for atom, ct in zip(atoms, pulled, strict=True):
                if ct is not None and type(atom) is Var:
                    ct_of[atom] = add_tangents(ct_of[atom], ct) if atom in ct_of else ct
    finally:
        place.source = before
    return [ct_of[var] if var in ct_of else Zero(var.aval) for var in invars]


def _without_zeros(cts: Sequence[Any]) -> list[Any]:
    """Returns cotangents with None for symbolic zeros."""
    return [None if type(ct) is Zero else ct for ct in cts]


def _pulled_node(node: Node, avals: tuple[ShapedArray | None, ...], cts: Sequence[Any]) -> Sequence[Any]:
    """Returns the cotangents of the inputs of a node from those of its outputs and their types; None for a zero."""
    recipe = node.recipe.pulled_back.get(avals) or node.recipe.transposed(avals)
    if recipe is None:  # a rule looks at values
        residuals = [Var(get_aval(x)) for x in node.residuals]
        values = dict(zip(residuals, node.residuals, strict=True))
        cts = pull_back(reversed(equations(node, residuals)), node.inputs, node.outputs, values, cts)
        return _without_zeros(cts)
    if None in avals:
        cts = [ct for ct in cts if ct is not None]
    found = current.trace.follow(recipe.steps, [*node.residuals, *cts])
    return found if recipe.all_nonzero else [None if number is None else found[number] for number in recipe.numbers]


def _pulled_equation(
    eqn: JaxprEqn, cts: Sequence[Any], residuals: dict[Var, Any]
) -> tuple[Sequence[Atom], Sequence[Any]]:
    """Returns the operands that an equation is linear in, and their cotangents; None for a zero.

    Args:
      eqn: the equation.
      cts: the cotangents of its results; None for a zero.
      residuals: the values of the variables that are constants.
    """
    linear_atoms = []
    linear = []
    others: list[Any] = []
    for atom in eqn.invars:
        if type(atom) is Var:
            known = atom in residuals
            linear.append(not known)
            if known:
                others.append(residuals[atom])
            else:
                linear_atoms.append(atom)
        else:
            linear.append(False)
            others.append(atom.val)  # type: ignore[union-attr]
    if not linear_atoms:
        return (), ()  # a constant of the linear program, such as zeros
    given = [ct for ct in cts if ct is not None]
    recipe = transpose_recipe(
        eqn.primitive,
        tuple([atom.aval for atom in eqn.invars]),
        tuple(linear),
        tuple([var.aval if ct is None else get_aval(ct) for var, ct in zip(eqn.outvars, cts, strict=True)]),
        tuple([ct is not None for ct in cts]),
        eqn.params,
    )
    if recipe is not None:
        found = current.trace.follow(recipe.steps, others + given)
        return linear_atoms, [None if number is None else found[number] for number in recipe.numbers]
    rest = iter(others)
    args = [UndefinedPrimal(atom.aval) if lin else next(rest) for atom, lin in zip(eqn.invars, linear, strict=True)]
    out_cts = [Zero(var.aval) if ct is None else ct for var, ct in zip(eqn.outvars, cts, strict=True)]
    rule = eqn.primitive.rule("transpose")
    in_cts = rule(out_cts if eqn.primitive.multiple_results else out_cts[0], *args, **eqn.params)
    if not isinstance(in_cts, Sequence) or len(in_cts) != len(eqn.invars):
        raise ArgumentTypeError(
            f"transpose rule of {eqn.primitive.name}: expected a list of cotangents, as many as operands "
            f"({len(eqn.invars)}), got {shorten(in_cts)}; return None for an operand that it is not linear in"
        )
    return eqn.invars, _without_zeros(in_cts)


def linear_program(
    function: Callable[..., Sequence[Any]], avals: Sequence[ShapedArray]
) -> tuple[ClosedJaxpr, list[bool], list[Any]]:
    """Traces a function that is linear in inputs of these types; what does not depend on them is computed.

    Returns:
      The jaxpr of the outputs that depend on the inputs, for each output whether it does, and all outputs.
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
        ``ShapeDtypeStruct`` do as well.

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
    avals = in_avals("linear_transpose", (primals, {}), leaves)
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
        cts = match_tree("linear_transpose", "cotangents", "result", out.tree, ct)
        paths = [path for path, _ in tree.leaves_with_path(ct)]
        checked = [
            check_tangent("linear_transpose", "cotangent", path, aval, x)
            for path, aval, x in zip(paths, out_avals, cts, strict=True)
        ]
        cts_in = backward_pass(program, [x for x, linear in zip(checked, depends, strict=True) if linear])
        results = [with_weakness_of(instantiate_zeros(x), aval) for x, aval in zip(cts_in, avals, strict=True)]
        result: tuple[Any, ...] = tree.unflatten(in_tree, own_results(results, checked))
        return result

    return transposed_fun
