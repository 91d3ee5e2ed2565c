"""``reroll``: unrolled loops of a program become loops again."""

from __future__ import annotations

from lawful.control_flow._loops.arguments import integer
from lawful.core import ArgumentTypeError, ClosedJaxpr, shorten


def reroll(closed: ClosedJaxpr, *, min_trip_count: int = 8) -> ClosedJaxpr:
    """Returns a program in which repeated equations, as a loop of Python leaves them, are one ``scan``.

    The time of a compiler grows with the number of equations. A rolled loop has the size of one iteration, and so has
    its gradient: the backward loop takes the stacked residuals of the forward loop.

    Iterations are consecutive blocks of equations with the same primitives, parameters and types up to weakness. An
    operand may come from the same iteration, from up to four iterations before, or from outside of the loop: the same
    in all iterations, or another one in each. Slices ``x[i]`` along one axis are taken from the array itself. Equations
    with effects stay outside of loops, and loops that would not make the program smaller are not rolled.

    Args:
      closed: a program, as ``make_jaxpr`` returns it. Sub-jaxprs of its equations are rerolled too.
      min_trip_count: the minimal trip count of a loop, at least 2.

    Raises:
      ArgumentTypeError: ``closed`` is not a ``ClosedJaxpr``, or ``min_trip_count`` not an integer.
      ArgumentValueError: ``min_trip_count`` is less than 2.

    Laws: it keeps the meaning of the program, and is idempotent. The work is O(n log n) in the number of equations.

    >>> import numpy as np
    >>> from lawful.ops import sin
    >>> from lawful.staging import make_jaxpr
    >>> def chain(x):
    ...     for _ in range(1000):
    ...         x = sin(x)
    ...     return x
    >>> [(eqn.primitive.name, eqn.params["length"]) for eqn in reroll(make_jaxpr(chain)(np.float64(1.0))).eqns]
    [('scan', 1000)]

    Give it to ``jit``: ``jit(f, passes=(reroll,))``, or ``passes=(functools.partial(reroll, min_trip_count=16),)``.
    """
    if not isinstance(closed, ClosedJaxpr):
        raise ArgumentTypeError(
            f"reroll: expected a ClosedJaxpr, got {shorten(closed)} of type {type(closed).__name__}; make one of a "
            "function by make_jaxpr, or give reroll to jit by passes=(reroll,)"
        )
    from lawful.control_flow._reroll.program import rerolled  # a lazy import: it takes 5 ms

    return rerolled(closed, integer("reroll", "min_trip_count", min_trip_count, 2))
