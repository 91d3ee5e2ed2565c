"""``checkpoint``: a function whose derivative computes its intermediate values again instead of keeping them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from lawful import tree
from lawful.autodiff._checkpoint.primitive import checkpoint_p
from lawful.autodiff.checkpoint_policies import as_param, require_policy
from lawful.core import ArgumentTypeError, ConcretizationTypeError, deduplicated, shorten
from lawful.staging import (
    consts_as_inputs,
    copy_aliased,
    declare_statics,
    function_name,
    in_avals,
    require_callable,
    statics_of,
    trace_tree,
)


def checkpoint[**P, R](
    fun: Callable[P, R],
    *,
    prevent_cse: Any = True,
    policy: Callable[..., bool] | None = None,
    static_argnums: int | tuple[int, ...] = (),
    static_argnames: str | Iterable[str] = (),
) -> Callable[P, R]:
    """Returns ``fun`` with derivatives that compute its intermediate values again, where they would be kept.

    Reverse mode keeps the arguments, and what the policy allows. The backward pass runs ``fun`` again. That takes up
    to one more evaluation of ``fun``, and less memory. Values and derivatives are the same.

    Args:
      fun: a function of pytrees of arrays that returns such a tree. It may close over arrays and tracers. It is traced
        at each call, so that Python control flow on values needs static arguments, or ``cond``.
      prevent_cse: whether a compiler is kept from merging the second computation with the first one, which would undo
        it. It costs a little; in a loop body, where there is nothing to merge, False is as good. A tree of booleans, as
        JAX takes for single arguments, is True if one of them is.
      policy: what may be kept, of ``checkpoint_policies``; nothing by default.
      static_argnums: positions of arguments that ``fun`` gets as they are.
      static_argnames: the same by name; where one of both is given, the signature tells the other.

    Raises:
      ArgumentTypeError: ``fun`` is not a function, or an option is of another type.
      NonArrayError: an argument that is not static, or a leaf of the result, is not an array.
      TracerBoolConversionError: ``fun`` uses a value as a condition; the other errors of abstract tracers likewise.

    Laws: ``checkpoint(f) = f`` in value, shape, dtype and weakness, under every transformation; the constants of
    ``vjp(checkpoint(f), x)[1].jaxpr`` are among ``x``. Source: ``jax.checkpoint``.

    >>> from lawful.autodiff import grad, saved_residuals
    >>> from lawful.ops import sin
    >>> f = checkpoint(lambda x: sin(sin(sin(x))))
    >>> float(grad(f)(0.0))
    1.0
    >>> saved_residuals(f, 0.0)
    [(ShapedArray(~f64[]), 'the argument x')]
    """
    require_callable("checkpoint", fun)
    switches = tree.leaves(prevent_cse)
    if not switches or not all([isinstance(x, bool) for x in switches]):
        raise ArgumentTypeError(
            f"checkpoint: expected True, False or a tree of them as prevent_cse, got {shorten(prevent_cse)}; "
            "give one value for all arguments"
        )
    if policy is not None:
        require_policy("checkpoint", policy)
    names = static_argnames if isinstance(static_argnames, str) else tuple(static_argnames)
    statics = statics_of(fun, None if static_argnums == () else static_argnums, names or None)
    label = f"checkpoint of {function_name(fun)}"
    params = {"prevent_cse": any(switches), "differentiated": False, "policy": as_param(policy)}

    @functools.wraps(fun, updated=())
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        args, kwargs, static = statics.split(label, args, kwargs, hashable=False)
        leaves, in_tree = tree.flatten((args, kwargs))
        avals = in_avals(label, (args, kwargs), leaves)
        try:
            closed, out_tree = trace_tree("checkpoint", fun, in_tree, avals, static)
        except ConcretizationTypeError as error:
            raise _explained(error) from error
        called, consts = consts_as_inputs(closed)
        if policy is None:  # one is a function of the user's, for which more is derived
            called = deduplicated(called)
        outs = checkpoint_p.bind(*consts, *leaves, jaxpr=called, **params)
        return tree.unflatten(out_tree, copy_aliased(outs, [*consts, *leaves]))

    declare_statics(checkpointed, statics)
    return checkpointed


def _explained(error: ConcretizationTypeError) -> ConcretizationTypeError:
    """Returns the error of a use of a value, with an explanation of ``checkpoint``."""
    if " of checkpoint" not in error.message:
        return error
    advice = error.message.replace("static_argnums of jit", "static_argnums of checkpoint")
    return type(error)(
        f"{advice}; checkpoint traces its function, also outside of jit: what depends on values in Python can stand "
        "outside of it, and the function close over the result",
        source=error.source,
    )


#: JAX's other name of the same function.
remat = checkpoint
