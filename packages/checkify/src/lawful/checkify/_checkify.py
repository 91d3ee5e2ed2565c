"""``checkify``: a function whose failed checks are a value that it returns."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from lawful import staging, tree
from lawful.checkify._error import Error, ErrorCategory, user_checks
from lawful.checkify._evaluate import evaluate, nothing, sites_of
from lawful.core import ArgumentValueError, avals_of
from lawful.ops import with_weakness_of


def checkify(f: Callable[..., Any], errors: frozenset[ErrorCategory] = user_checks) -> Callable[..., Any]:
    """Returns a function that returns ``(error, f(...))``, where ``error`` says which call of `check` failed first.

    Args:
      f: a function of pytrees of arrays of any shape and dtype that returns such a tree.
      errors: what to look for: ``user_checks``, or nothing.

    Returns:
      A function of the arguments of ``f``. It returns an `Error`, and what ``f`` returns, also where a check failed.

    Raises:
      ArgumentValueError: ``errors`` has a category that lawful does not look for; or, in a call, a check is inside a
        function with rules of its own, or in the predicate of a loop.

    >>> import numpy as np
    >>> from lawful.checkify import check
    >>> def f(x):
    ...     check(x > 0.0, "expected a positive number, got {}", x)
    ...     return 2.0 * x
    >>> error, y = checkify(f)(np.float64(-1.0))
    >>> error.get(), float(y)
    ('expected a positive number, got -1.0 (`check` failed)', -2.0)

    Laws: the second result is that of ``f``; ``checkify(jit(f)) = jit(checkify(f))``.
    Source: ``jax.experimental.checkify.checkify``.
    """
    if unknown := {*errors} - user_checks:
        raise ArgumentValueError(
            f"checkify: expected user_checks, got {', '.join(sorted(x.value for x in unknown))} too; use "
            "lawful.debug.debug_nans for NaNs, and mode= for indices"
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
