"""``jax._src.core``: the type of arrays, and whether a program is traced, which numpyro asks."""

from __future__ import annotations

from lawful.core import ShapedArray, current, eval_trace

__all__ = ["ShapedArray", "trace_state_clean"]


def trace_state_clean() -> bool:
    """Whether no transformation runs: operations are evaluated at once.

    >>> import lawful.jax as jax
    >>> trace_state_clean(), jax.make_jaxpr(lambda x: print(trace_state_clean()))(1.0) and None
    False
    (True, None)
    """
    return current.trace is eval_trace
