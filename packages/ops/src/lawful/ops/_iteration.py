"""An iteration that runs until all of its elements have converged: the same in NumPy and, as a loop, in XLA."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful.core import record
from lawful.ops._straight_line import few_numbers, loop_of

Arrays = Sequence[Any]


#: Up to so many elements are iterated one after the other.
_FEW = 32
_PYTHON_TYPES = (np.dtype(bool), np.dtype(np.float64))


class Iteration:
    """A loop over a state of arrays of one shape, the first of which says which elements go on.

    Law: few elements are iterated to the same bits as many, one after the other by a function of Python's numbers.

    Args:
      start: ``start(*operands)`` gives the first state.
      step: ``step(*state)`` gives the next one. Of float64 it is arithmetic, comparisons, ``abs`` and `choose`; where
        there are few elements an ArgumentTypeError says what else it does.
    """

    def __init__(self, start: Callable[..., Arrays], step: Callable[..., Arrays]) -> None:
        self.start = start
        self.step = step
        self._loop: Callable[..., Arrays] | None = None

    def evaluate(self, *operands: Any) -> Arrays:
        """Returns the last state, of NumPy arrays."""
        first = [np.asarray(x) for x in self.start(*operands)]
        last = self._one_by_one(first)
        return self._together(first) if last is None else last

    def _one_by_one(self, first: Sequence[np.ndarray[Any, Any]]) -> Arrays | None:
        """Returns the last state of few elements; None of many, and where they are not Python's to go through."""
        numbers = few_numbers(first, _FEW, _PYTHON_TYPES)
        if numbers is None:
            return None
        if self._loop is None:
            self._loop = loop_of(self.step, len(first))
        try:
            ended = zip(*map(self._loop, *numbers), strict=True)
        except ZeroDivisionError:  # an infinity or NaN of NumPy's
            return None
        return [np.array(part, x.dtype).reshape(x.shape) for part, x in zip(ended, first, strict=True)]

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
