"""``while_loop``: a function applied again while a predicate holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from lawful import tree
from lawful.control_flow._loops.arguments import integer, require_function
from lawful.control_flow._loops.carry import copied_carry, require_carry, trace_body
from lawful.control_flow._while.primitive import bind_while
from lawful.core import (
    ArgumentTypeError,
    AxisNames,
    ClosedJaxpr,
    ShapedArray,
    deduplicated,
    get_aval,
    is_array,
    with_axes_of,
)
from lawful.staging import (
    consts_as_inputs,
    copy_aliased,
    function_name,
    is_jit_disabled,
    known_value,
    trace_to_jaxpr,
)

#: The default of ``checkpoints``: how many states of a loop are stored while it is reversed.
DEFAULT_CHECKPOINTS: Final = 32


def while_loop(
    cond_fun: Callable[[Any], Any],
    body_fun: Callable[[Any], Any],
    init_val: Any,
    *,
    max_iters: int | None = None,
    checkpoints: int | None = None,
) -> Any:
    """Returns a value after a function has been applied to it for as long as a predicate of the value holds.

    It means the Python loop::

        val = init_val
        while cond_fun(val):
            val = body_fun(val)
        return val

    Args:
      cond_fun: a function of the value that gives a boolean scalar.
      body_fun: a function of the value that gives a value of the same structure, shapes and dtypes. Both are traced
        once, and may close over arrays and tracers.
      init_val: the first value, a pytree of arrays. A Python number gets the dtype that ``body_fun`` gives back for it.
      max_iters: how many iterations can be differentiated in reverse, with the value at the start of each of them
        stored. A loop of more iterations still has a value, and forward mode derivatives. Its reverse mode derivative
        is an error where the trip count is known, and NaN where it is not: compiled, or under ``vmap`` of the
        derivative.
      checkpoints: with no ``max_iters``, how many values are stored at a time while the loop is reversed; 32 by
        default. Any trip count is reversed: each iteration is run again once where there are up to 33, at most twice
        up to 561, three times up to 6,545 and so on as the binomial coefficients grow, and once more while it is
        reversed.

    Under ``vmap`` each batch element stops when its own predicate is false; values computed for it afterwards are
    discarded.

    Raises:
      ArgumentTypeError: the value does not keep its structure, shapes and dtypes, or the predicate is not a boolean
        scalar.
      ArgumentValueError: ``max_iters`` or ``checkpoints`` is out of range.
      IterationBoundError: from the derivative in reverse of a loop that runs more than ``max_iters`` iterations.

    Law: equal to the loop above, under every transformation. Source: ``jax.lax.while_loop``, which has no reverse
    mode.

    >>> while_loop(lambda x: x < 100.0, lambda x: x * 3.0, 2.0)
    np.float64(162.0)
    """
    require_function("while_loop", "cond_fun", cond_fun)
    require_function("while_loop", "body_fun", body_fun)
    return run_while(
        "while_loop",
        cond_fun,
        body_fun,
        function_name(body_fun),
        init_val,
        max_iters=max_iters,
        checkpoints=checkpoints,
    )


def run_while(
    construct: str, cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], name: str, init_val: Any, *,
    max_iters: int | None = None, checkpoints: int | None = None, hidden: int = 0,
) -> Any:  # fmt: skip
    """Runs a while loop on behalf of a public function.

    Args:
      construct: the public function that the user called, for error messages.
      cond_fun: the predicate.
      body_fun: the body.
      name: the name of the user's function.
      init_val: the first value.
      max_iters: as in `while_loop`.
      checkpoints: as in `while_loop`.
      hidden: the number of leading keys of a path into the value that are internal.
    """
    if is_jit_disabled():
        while (going := known_value(bool, _predicate(cond_fun, init_val))) is not None:
            if not going:
                return init_val
            after = body_fun(copied_carry(init_val))
            init_val = require_carry(construct, name, init_val, after, "init_val", hidden)
    room = DEFAULT_CHECKPOINTS if checkpoints is None else integer(construct, "checkpoints", checkpoints, 1)
    bound = None if max_iters is None else integer(construct, "max_iters", max_iters, 0)
    nothing = tree.structure(())
    treedef = tree.structure(init_val)
    vma: AxisNames = frozenset()
    while True:
        body = trace_body(
            construct, lambda val, _: (body_fun(val), ()), name, init_val, [], nothing, "init_val", hidden, vma
        )
        avals = body.jaxpr.in_avals[len(body.consts) :]
        carry = [*map(with_axes_of, body.carry, avals)]
        cond_jaxpr, cond_consts = _trace_predicate(cond_fun, treedef, avals)
        [predicate] = cond_jaxpr.out_avals
        if vma >= predicate.vma:
            break
        vma = predicate.vma
    outs = bind_while(
        cond_consts, body.consts, carry, cond_jaxpr=cond_jaxpr, body_jaxpr=body.jaxpr,
        const_pred_dims=(), counted=False, max_iters=bound, checkpoints=room,
    )  # fmt: skip
    return tree.unflatten(treedef, copy_aliased(outs, [*cond_consts, *body.consts, *tree.leaves(init_val), *carry]))


def _predicate(cond_fun: Callable[[Any], Any], val: Any) -> Any:
    """Returns the predicate of a value; raises ArgumentTypeError if it is no boolean scalar."""
    pred = cond_fun(val)
    if not is_array(pred) or get_aval(pred).shape or get_aval(pred).dtype != bool:
        got = get_aval(pred) if is_array(pred) else type(pred).__name__
        raise ArgumentTypeError(
            f"while_loop: expected a boolean scalar as the result of {function_name(cond_fun)}, got {got}; compare "
            "numbers, and reduce arrays with all or any"
        )
    return pred


def _trace_predicate(cond_fun: Callable[[Any], Any], treedef: Any, avals: list[ShapedArray]) -> tuple[ClosedJaxpr, Any]:
    name = function_name(cond_fun)

    def flat(*leaves: Any) -> list[Any]:
        return [_predicate(cond_fun, tree.unflatten(treedef, leaves))]

    closed = trace_to_jaxpr(flat, avals, transformation="while_loop", name=name)
    opened, consts = consts_as_inputs(closed)
    return deduplicated(opened), list(consts)
