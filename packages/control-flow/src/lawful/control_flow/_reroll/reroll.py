"""``reroll``: unrolled loops of a program become loops again."""

from __future__ import annotations

from lawful.control_flow._loops.arguments import integer
from lawful.core import ArgumentTypeError, ClosedJaxpr, shorten


def reroll(closed: ClosedJaxpr, *, min_turns: int = 8) -> ClosedJaxpr:
    """Returns a program in which repeated equations, as a loop of Python leaves them, are one ``scan``.

    What a compiler takes for a program grows with its equations. A loop of n turns is as large as one of its turns, and
    so is its gradient: the backward loop takes its residuals as the forward loop has stacked them.

    Turns are consecutive blocks of equations with the same primitives, parameters and types, all but for weakness. An
    operand may come from the same turn, from up to four turns before, or from outside of the loop: the same in all
    turns, or another one in each. Slices ``x[i]`` along one axis are taken from the array itself. Equations with
    effects are left as they are, and so are loops that would not make the program smaller.

    Args:
      closed: a program, as ``make_jaxpr`` gives it. Programs within its equations are treated alike.
      min_turns: how many turns make a loop, at least 2.

    Raises:
      ArgumentTypeError: ``closed`` is not a ``ClosedJaxpr``, or ``min_turns`` not an integer.
      ArgumentValueError: ``min_turns`` is less than 2.

    Laws: it means the same; doing it twice is doing it once. The work is proportional to the number of equations, but
    for a logarithm.

    >>> import numpy as np
    >>> from lawful.ops import sin
    >>> from lawful.staging import make_jaxpr
    >>> def chain(x):
    ...     for _ in range(1000):
    ...         x = sin(x)
    ...     return x
    >>> [(eqn.primitive.name, eqn.params["length"]) for eqn in reroll(make_jaxpr(chain)(np.float64(1.0))).eqns]
    [('scan', 1000)]

    Give it to ``jit``: ``jit(f, passes=(reroll,))``, or ``passes=(functools.partial(reroll, min_turns=16),)``.
    """
    if not isinstance(closed, ClosedJaxpr):
        raise ArgumentTypeError(
            f"reroll: expected a ClosedJaxpr, got {shorten(closed)} of type {type(closed).__name__}; make one of a "
            "function by make_jaxpr, or give reroll to jit by passes=(reroll,)"
        )
    from lawful.control_flow._reroll.program import rerolled  # imported late: it takes 5 ms

    return rerolled(closed, integer("reroll", "min_turns", min_turns, 2))
