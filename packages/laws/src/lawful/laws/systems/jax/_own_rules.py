"""Functions with custom rules equal to the derived ones, in JAX.

JAX refuses to differentiate by closed-over values of such functions, so these become arguments.
"""

from __future__ import annotations

from typing import Any

import jax

from lawful.laws._law.implementation import Function


def with_jvp_rule(function: Function) -> Function:
    """Returns a function with a rule for forward mode, which is its derivative.

    >>> float(jax.grad(with_jvp_rule(lambda x: x * x))(3.0))
    6.0
    """

    def called(*args: Any) -> Any:
        converted, closed_over = jax.closure_convert(function, *args)
        ruled = jax.custom_jvp(converted)
        ruled.defjvp(lambda primals, tangents: jax.jvp(converted, primals, tangents))
        return ruled(*args, *closed_over)

    return called
