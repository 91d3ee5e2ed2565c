"""Iterations until all elements have converged, in NumPy, and as a while loop in XLA."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful.core import record
from lawful.ops._support.number import Number

Arrays = Sequence[Any]


class Iteration:
    """A loop over a state of arrays of one shape; the first array says which elements are active.

    Args:
      start: ``start(*operands)`` returns the initial state.
      step: ``step(*state)`` returns the next state. It also gets elements that are not active while others are, and
        leaves the parts of their state that are used afterwards unchanged.
    """

    def __init__(self, start: Callable[..., Arrays], step: Callable[..., Arrays]) -> None:
        self.start = start
        self.step = step

    def evaluate(self, *operands: Any) -> Arrays:
        """Returns the last state: NumPy arrays, or `Number`s, whose trace records the loop."""
        first = self.start(*operands)
        for x in first:
            if type(x) is Number:
                return x._trace.loop(first, self.step)
        return self._together([np.asarray(x) for x in first])

    def _together(self, first: Sequence[np.ndarray[Any, Any]]) -> Arrays:
        shape = first[0].shape
        last = [np.array(x).reshape(-1) for x in first]
        positions, state = np.arange(last[0].size), list(last)
        count = np.count_nonzero(state[0])
        while count:
            state = list(self.step(*state))
            active = state[0]
            count = np.count_nonzero(active)
            # Converged elements are removed from the state when they are at least half of it.
            if 2 * count <= active.size:
                for whole, x in zip(last, state, strict=True):
                    whole[positions] = x
                positions, state = positions[active], [x[active] for x in state]
        for whole, x in zip(last, state, strict=True):
            whole[positions] = x
        return [x.reshape(shape) for x in last]

    def lower(self, ctx: Any, *operands: Any) -> Arrays:
        """Returns the last state, as MLIR values."""
        init = ctx.apply(self.start, *operands)
        last: Arrays = ctx.while_loop(ctx.program(_any_active, *init), ctx.program(self.step, *init), init)
        return last


def _any_active(active: Any, *state: Any) -> Any:
    return np.any(active)


@record
class IteratedAlgorithm:
    """A function computed by iterations over its arguments, float64 arrays of one shape.

    Attributes:
      iterations: each gets the arguments.
      finish: ``finish(*arguments, *state, *state…)`` gives the result from the last states.
    """

    iterations: tuple[Iteration, ...]
    finish: Callable[..., Any]

    def __call__(self, *args: Any) -> Any:
        """Returns the result for NumPy arrays or `Number`s."""
        return self.finish(*args, *[x for iteration in self.iterations for x in iteration.evaluate(*args)])

    def lower(self, ctx: Any, *operands: Any) -> Any:
        """Returns the result for MLIR values of float64."""
        states = [x for iteration in self.iterations for x in iteration.lower(ctx, *operands)]
        (out,) = ctx.apply(self.finish, *operands, *states)
        return out


def lowered_iteration(algorithm: Callable[..., IteratedAlgorithm]) -> Callable[..., Any]:
    """Returns the lowering rule of the function that ``algorithm(**params)`` returns, computed in float64."""

    def lower(ctx: Any, *operands: Any, **_: Any) -> Any:
        return ctx.call_rule(lower_algorithm, *operands)

    def lower_algorithm(ctx: Any, *operands: Any, **params: Any) -> Any:
        aval = ctx.avals_out[0]
        double = ctx.tensor_type(aval.update(dtype=np.dtype(np.float64)))
        out = algorithm(**params).lower(ctx, *[ctx.hlo.convert(double, x) for x in operands])
        return ctx.hlo.convert(ctx.tensor_type(aval), out)

    return lower
