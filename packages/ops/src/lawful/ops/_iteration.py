"""An iteration that runs until all of its elements have converged: the same in NumPy and, as a loop, in XLA."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful.core import record

Arrays = Sequence[Any]

#: So few elements are done one after the other, by Python's arithmetic: an operation of NumPy takes 20 times as long.
_FEW = 8
_PYTHON_TYPES = (np.dtype(bool), np.dtype(np.float64))


def choose(condition: Any, x: Any, y: Any) -> Any:
    """Returns ``x`` where a condition holds, else ``y``: of arrays, or of numbers where the condition is a ``bool``."""
    return (x if condition else y) if type(condition) is bool else np.where(condition, x, y)


@record
class Iteration:
    """A loop over a state of arrays of one shape, the first of which says which elements go on.

    Attributes:
      start: ``start(*operands)`` gives the first state.
      step: ``step(*state)`` gives the next one. It is also given single elements, as Python numbers.
    """

    start: Callable[..., Arrays]
    step: Callable[..., Arrays]

    def evaluate(self, *operands: Any) -> Arrays:
        """Returns the last state, of NumPy arrays."""
        first = [np.asarray(x) for x in self.start(*operands)]
        last = self._one_by_one(first) if first[0].size <= _FEW else None
        return self._together(first) if last is None else last

    def _one_by_one(self, first: Sequence[np.ndarray[Any, Any]]) -> Arrays | None:
        """Returns the last state; None if Python's numbers do not do as NumPy's: integers, and divisions by zero."""
        if any([x.dtype not in _PYTHON_TYPES for x in first]):
            return None
        ended = []
        try:
            for element in zip(*[x.reshape(-1).tolist() for x in first], strict=True):
                state: Arrays = element
                while state[0]:
                    state = self.step(*state)
                ended.append(state)
        except ZeroDivisionError:
            return None
        parts = zip(*ended, strict=True) if ended else [()] * len(first)
        return [np.array(part, x.dtype).reshape(x.shape) for part, x in zip(parts, first, strict=True)]

    def _together(self, first: Sequence[np.ndarray[Any, Any]]) -> Arrays:
        shape = first[0].shape
        last = [np.array(x).reshape(-1) for x in first]
        places, state = np.arange(last[0].size), list(last)
        count = np.count_nonzero(state[0])
        while count:
            state = list(self.step(*state))
            going_on = state[0]
            count = np.count_nonzero(going_on)
            # Elements that are done wait for the others no longer, once they are many.
            if 2 * count <= going_on.size:
                for whole, x in zip(last, state, strict=True):
                    whole[places] = x
                places, state = places[going_on], [x[going_on] for x in state]
        for whole, x in zip(last, state, strict=True):
            whole[places] = x
        return [x.reshape(shape) for x in last]

    def lower(self, ctx: Any, *operands: Any) -> Arrays:
        """Returns the last state, of MLIR values."""
        init = ctx.apply(self.start, *operands)
        last: Arrays = ctx.while_loop(ctx.program(_goes_on, *init), ctx.program(self.step, *init), init)
        return last


def _goes_on(active: Any, *state: Any) -> Any:
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
        """Returns the result, of NumPy arrays."""
        return self.finish(*args, *[x for iteration in self.iterations for x in iteration.evaluate(*args)])

    def lower(self, ctx: Any, *operands: Any) -> Any:
        """Returns the result, of MLIR values of float64."""
        states = [x for iteration in self.iterations for x in iteration.lower(ctx, *operands)]
        (out,) = ctx.apply(self.finish, *operands, *states)
        return out


def lowered_iteration(algorithm: Callable[..., IteratedAlgorithm]) -> Callable[..., Any]:
    """Returns the lowering rule of what ``algorithm(**params)`` computes, at float64."""

    def lower(ctx: Any, *operands: Any, **params: Any) -> Any:
        aval = ctx.avals_out[0]
        double = ctx.tensor_type(aval.update(dtype=np.dtype(np.float64)))
        out = algorithm(**params).lower(ctx, *[ctx.hlo.convert(double, x) for x in operands])
        return ctx.hlo.convert(ctx.tensor_type(aval), out)

    return lower
