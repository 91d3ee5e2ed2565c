"""Numbers by transformed rejection: candidates are drawn until one is accepted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lawful.numpy as np
from lawful.control_flow import while_loop
from lawful.random._keys import split
from lawful.random._uniform import uniform


def first_accepted(
    key: Any, shape: tuple[int, ...], dtype: Any, propose: Callable[[Any, Any], tuple[Any, Any]], limit: float
) -> Any:
    """Returns the first accepted candidate for each element; -1 where there is none.

    Args:
      key: a key.
      shape: that of the result.
      dtype: its real floating dtype.
      propose: ``propose(u, v)`` gives candidates and whether they are accepted, for ``u`` uniform from -1/2 to 1/2 and
        ``v`` uniform from 0 to 1.
      limit: how many candidates at most.

    Source: Hörmann, "The transformed rejection method for generating Poisson random variables", Insurance: Mathematics
    and Economics 12 (1993).
    """

    def goes_on(state: Any) -> Any:
        _, is_done, _, iteration = state
        return np.any(~is_done) & (iteration < limit)

    def step(state: Any) -> Any:
        number, is_done, key, iteration = state
        key, of_u, of_v = split(key, 3)
        candidate, is_accepted = propose(uniform(of_u, shape, dtype) - 0.5, uniform(of_v, shape, dtype))
        return np.where(is_accepted, candidate, number), is_done | is_accepted, key, iteration + 1

    return while_loop(goes_on, step, (np.full(shape, -1, dtype), np.zeros(shape, bool), key, 0))[0]
