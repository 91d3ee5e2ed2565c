"""``fori_loop``: a function applied for each integer of a range."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lawful.control_flow._loops.arguments import require_function, strong
from lawful.control_flow._scan.scan import run_scan
from lawful.control_flow._while.while_loop import run_while
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    ShapedArray,
    Tracer,
    get_aval,
    is_array,
    promote_dtypes,
    to_numpy,
)
from lawful.ops import convert_element_type, lt, with_weakness_of
from lawful.staging import function_name


def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[[Any, Any], Any],
    init_val: Any,
    *,
    unroll: int | bool | None = None,
    max_iters: int | None = None,
    checkpoints: int | None = None,
) -> Any:
    """Returns a value after a function has been applied to it once for each integer from ``lower`` to before ``upper``.

    It means the Python loop::

        val = init_val
        for i in range(lower, upper):
            val = body_fun(i, val)
        return val

    If both bounds are known while it is traced it is a `scan`, else a `while_loop`; both differentiate in reverse.

    Args:
      lower: the first integer, a scalar that may be traced.
      upper: the integer before which it ends; there is no iteration if that is not above ``lower``.
      body_fun: a function of the integer and of the value that gives a value of the same structure, shapes and dtypes.
        Between bounds that are Python integers the integer promotes as one.
      init_val: the first value, a pytree of arrays.
      unroll: how many iterations a compiled loop runs between two tests of its counter; for known bounds.
      max_iters: as in `while_loop`; for traced bounds.
      checkpoints: as in `scan` if the bounds are known, else as in `while_loop`.

    Raises:
      ArgumentTypeError: a bound is not an integer scalar, or the value does not keep its structure, shapes and dtypes.
      ArgumentValueError: ``unroll`` is given and a bound is traced.

    Law: equal to the loop above, under every transformation. Source: ``jax.lax.fori_loop``.

    >>> fori_loop(0, 5, lambda i, total: total + i * i, 0)
    np.int64(30)
    """
    require_function("fori_loop", "body_fun", body_fun)
    avals = [_bound_aval("lower", lower), _bound_aval("upper", upper)]
    dtype, weak = promote_dtypes(*[(aval.dtype, aval.weak_type) for aval in avals])
    index = ShapedArray((), dtype, weak)
    one = np.ones((), dtype)[()]
    name = function_name(body_fun)

    def iteration(loop: tuple[Any, Any]) -> tuple[Any, Any]:
        i, val = loop
        return i + one, body_fun(with_weakness_of(i, index), val)

    if not (isinstance(lower, Tracer) or isinstance(upper, Tracer)):
        first, end = int(to_numpy(lower)), int(to_numpy(upper))
        start = np.asarray(first, dtype)[()]
        (_, val), _ = run_scan(
            "fori_loop", lambda loop, _: (iteration(loop), ()), name, (start, init_val), None, max(end - first, 0),
            unroll=1 if unroll is None else unroll, checkpoints=checkpoints, argument="init_val", hidden=1,
        )  # fmt: skip
        return val
    if unroll is not None:
        raise ArgumentValueError(
            "fori_loop: expected known bounds where unroll is given, got a traced bound; leave unroll out, or make the "
            "bounds static"
        )
    start, end = (convert_element_type(strong(x), dtype) for x in (lower, upper))
    return run_while(
        "fori_loop", lambda loop: lt(loop[0], end), iteration, name, (start, init_val),
        max_iters=max_iters, checkpoints=checkpoints, hidden=1,
    )[1]  # fmt: skip


def _bound_aval(argument: str, value: Any) -> ShapedArray:
    if not is_array(value) or get_aval(value).shape or get_aval(value).dtype.kind not in "iu":
        got = get_aval(value) if is_array(value) else type(value).__name__
        raise ArgumentTypeError(f"fori_loop: expected an integer scalar as {argument}, got {got}; convert it with int")
    return get_aval(value)
