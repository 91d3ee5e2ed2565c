"""``checkify``: a function whose failed checks are a value that it returns."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

import numpy

from lawful import control_flow, parallel, staging, tree
from lawful import numpy as lawful_numpy
from lawful.autodiff import checkpoint_p
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Literal,
    Tracer,
    Var,
    avals_of,
    distinct_jaxprs,
    eval_closed_jaxpr,
    get_aval,
    is_array,
    jaxprs_in_params,
    memoize_program,
    shorten,
    zeros,
)
from lawful.jax._support.checkify.error import Error, ErrorCategory, user_checks
from lawful.jax._support.checkify.primitive import check_p, failure
from lawful.ops import with_weakness_of
from lawful.staging import jit_p


class State(NamedTuple):
    """The first failed check of a program: its position, or -1, and for each check the values for its message."""

    code: Any
    payloads: tuple[tuple[Any, ...], ...]


Sites = tuple[JaxprEqn, ...]
Checked = tuple[State, list[Any]]


def check(pred: Any, msg: str, *fmt_args: Any, debug: bool = False, **fmt_kwargs: Any) -> None:
    """States a condition of a program. Where it fails, `checkify` returns an error; without `checkify`, it is raised.

    Args:
      pred: a boolean without dimensions.
      msg: a format string.
      fmt_args: pytrees of arrays to format.
      debug: whether it is raised only by `checkify`.
      fmt_kwargs: the same, by name.

    Raises:
      JaxRuntimeError: the condition fails where no `checkify` returns the error, also in a compiled program.
      ArgumentTypeError: ``pred`` is not a boolean without dimensions, or a value is no array.

    >>> check(2.0 > 1.0, "expected more, got {}", numpy.array(2.0))

    Source: ``jax.experimental.checkify.check``.
    """
    if not is_array(pred) or get_aval(pred).shape or get_aval(pred).dtype != bool:
        raise ArgumentTypeError(f"check: expected a boolean without dimensions, got {shorten(pred)}; use jnp.all")
    leaves, in_tree = tree.flatten((fmt_args, fmt_kwargs))
    for leaf in leaves:
        if not hasattr(leaf, "dtype") or not is_array(leaf):
            raise ArgumentTypeError(f"check: expected arrays to format, got {shorten(leaf)}; use jnp.asarray")
    if not any(isinstance(x, Tracer) for x in (pred, *leaves)):
        failure(msg, in_tree, leaves)  # raises for a text that lacks a value
    check_p.bind(pred, *leaves, message=msg, in_tree=in_tree, debug=debug)


def debug_check(pred: Any, msg: str, *fmt_args: Any, **fmt_kwargs: Any) -> None:
    """States a condition that counts under `checkify` only; see `check`.

    >>> debug_check(False, "never seen")

    Source: ``jax.experimental.checkify.debug_check``.
    """
    check(pred, msg, *fmt_args, debug=True, **fmt_kwargs)


def checkify(f: Callable[..., Any], errors: frozenset[ErrorCategory] = user_checks) -> Callable[..., Any]:
    """Returns a function that returns ``(error, f(...))``, where ``error`` says which call of `check` failed first.

    Args:
      f: a function of pytrees of arrays.
      errors: what to look for: ``user_checks``, or nothing.

    Raises:
      ArgumentValueError: ``errors`` has a category that lawful does not look for, or a check is inside a function with
        rules of its own, or in the predicate of a loop.

    >>> def f(x):
    ...     check(x > 0.0, "expected a positive number, got {}", x)
    ...     return 2.0 * x
    >>> error, y = checkify(f)(numpy.float64(-1.0))
    >>> error.get(), float(y)
    ('expected a positive number, got -1.0 (`check` failed)', -2.0)

    Source: ``jax.experimental.checkify.checkify``.
    """
    if unknown := {*errors} - user_checks:
        raise ArgumentValueError(
            f"checkify: expected user_checks, got {', '.join(sorted(x.value for x in unknown))} too; use "
            "jax.debug_nans for NaNs, and mode= for indices"
        )

    @functools.wraps(f)
    def checked(*args: Any, **kwargs: Any) -> tuple[Error, Any]:
        leaves, in_tree = tree.flatten((args, kwargs))
        closed, out_tree = staging.trace_tree("checkify", f, in_tree, tuple(avals_of(leaves)))
        sites = sites_of([closed.jaxpr])
        state, outs = evaluate(closed, *map(with_weakness_of, leaves, closed.in_avals))
        if not errors:
            state = nothing(sites)
        checks = tuple([(site.params["message"], site.params["in_tree"]) for site in sites])
        return Error(*state, checks), tree.unflatten(out_tree, outs)

    return checked


def sites_of(jaxprs: Iterable[Jaxpr]) -> Sites:
    """Returns the checks of some jaxprs, also of those within them."""
    return tuple([eqn for jaxpr in distinct_jaxprs(jaxprs)[0] for eqn in jaxpr.eqns if eqn.primitive is check_p])


def nothing(sites: Sites) -> State:
    """Returns the state in which no check has failed."""
    payloads = [tuple([zeros(x.aval.strip_weak_type()) for x in site.invars[1:]]) for site in sites]
    return State(numpy.int32(-1), tuple(payloads))


def first(state: State, later: State) -> State:
    """Returns the state of what failed first."""
    found: State = tree.map(lambda x, y: lawful_numpy.where(state.code >= 0, x, y), state, later)
    return found


def lifted(state: State, of: Sites, sites: Sites) -> State:
    """Returns the state of some checks as one of more checks."""
    positions = {id(site): i for i, site in enumerate(sites)}
    payloads = [*nothing(sites).payloads]
    code = state.code
    if of:
        code = lawful_numpy.take(numpy.array([-1, *[positions[id(x)] for x in of]], numpy.int32), state.code + 1)
    for site, values in zip(of, state.payloads, strict=True):
        payloads[positions[id(site)]] = values
    return State(code, tuple(payloads))


def evaluate(closed: ClosedJaxpr, *args: Any) -> Checked:
    """Returns the state of the checks of a jaxpr, and its outputs."""
    jaxpr = closed.jaxpr
    sites = sites_of([jaxpr])
    state = nothing(sites)
    env: dict[Var, Any] = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*closed.consts, *args], strict=True))
    for eqn in jaxpr.eqns:
        values = [atom.val if type(atom) is Literal else env[atom] for atom in eqn.invars]
        if check_p in eqn.effects:
            rule = _RULES.get(eqn.primitive, _refuse)
            inner, outs = rule(eqn, *values)
            state = first(state, lifted(inner, _sites_of_eqn(eqn), sites))
        else:
            found = eqn.primitive.bind(*values, **eqn.params)
            outs = found if eqn.primitive.multiple_results else [found]
        env.update(zip(eqn.outvars, outs, strict=True))
    return state, [atom.val if type(atom) is Literal else env[atom] for atom in jaxpr.outvars]


def _sites_of_eqn(eqn: JaxprEqn) -> Sites:
    return (eqn,) if eqn.primitive is check_p else sites_of(jaxprs_in_params(eqn.params))


def _check(eqn: JaxprEqn, pred: Any, *leaves: Any) -> Checked:
    values = [with_weakness_of(x, get_aval(x).strip_weak_type()) for x in leaves]
    return State(lawful_numpy.where(pred, numpy.int32(-1), numpy.int32(0)), (tuple(values),)), []


@memoize_program
def _compiled(closed: ClosedJaxpr) -> Callable[..., Any]:
    return staging.jit(functools.partial(evaluate, closed))


def _jit(eqn: JaxprEqn, *args: Any) -> Checked:
    state, outs = _compiled(eqn.params["jaxpr"])(*args)
    return state, outs


def _checkpoint(eqn: JaxprEqn, *args: Any) -> Checked:
    return evaluate(eqn.params["jaxpr"], *args)


def _cond(eqn: JaxprEqn, index: Any, *args: Any) -> Checked:
    sites = _sites_of_eqn(eqn)

    def taken(branch: ClosedJaxpr, *args: Any) -> Checked:
        state, outs = evaluate(branch, *args)
        return lifted(state, sites_of([branch.jaxpr]), sites), outs

    branches = [functools.partial(taken, branch) for branch in eqn.params["branches"]]
    checked: Checked = control_flow.switch(index, branches, *args)
    return checked


def _scan(eqn: JaxprEqn, *args: Any) -> Checked:
    params = eqn.params
    num_consts, num_carry, jaxpr = params["num_consts"], params["num_carry"], params["jaxpr"]
    consts, carry, xs = args[:num_consts], args[num_consts:][:num_carry], args[num_consts + num_carry :]

    def body(carry: tuple[State, Sequence[Any]], x: Sequence[Any]) -> Any:
        state, values = carry
        later, outs = evaluate(jaxpr, *consts, *values, *x)
        return (first(state, later), outs[:num_carry]), outs[num_carry:]

    init = (nothing(_sites_of_eqn(eqn)), [*carry])
    loop = {name: params[name] for name in ("length", "reverse", "unroll")}
    (state, values), ys = control_flow.scan(body, init, [*xs], **loop)
    return state, [*values, *ys]


def _while(eqn: JaxprEqn, *args: Any) -> Checked:
    params = eqn.params
    cond, body = params["cond_jaxpr"], params["body_jaxpr"]
    if sites_of([cond.jaxpr]) or cond.out_avals[0].shape:
        return _refuse(eqn)
    first_of_body, first_of_carry = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
    cond_consts, body_consts = args[:first_of_body], args[first_of_body:first_of_carry]

    def holds(carry: tuple[State, Sequence[Any]]) -> Any:
        [result] = eval_closed_jaxpr(cond, *cond_consts, *carry[1])
        return result

    def step(carry: tuple[State, Sequence[Any]]) -> Any:
        state, values = carry
        later, outs = evaluate(body, *body_consts, *values)
        return first(state, later), outs

    checked: Checked = control_flow.while_loop(holds, step, (nothing(_sites_of_eqn(eqn)), [*args[first_of_carry:]]))
    return checked


def _pmap(eqn: JaxprEqn, *args: Any) -> Checked:
    params = eqn.params
    mapped = parallel.pmap(
        functools.partial(evaluate, params["call_jaxpr"]),
        params["axis_name"],
        in_axes=params["in_axes"],
        out_axes=(0, [*params["out_axes"]]),
        devices=params["devices"].flat_devices,
    )
    states, outs = mapped(*args)
    device = lawful_numpy.argmax(states.code >= 0)
    return tree.map(lambda x: x[device], states), outs


def _refuse(eqn: JaxprEqn, *args: Any) -> Checked:
    raise ArgumentValueError(
        f"checkify: expected checks in functions of jit, pmap, checkpoint, cond, switch, scan and loops, got one in "
        f"{eqn.primitive.name}; call checkify inside it, or check outside of it"
    )


_RULES: Final = {
    check_p: _check, jit_p: _jit, checkpoint_p: _checkpoint, control_flow.cond_p: _cond, control_flow.scan_p: _scan,
    control_flow.while_p: _while, parallel.xla_pmap_p: _pmap,
}  # fmt: skip
