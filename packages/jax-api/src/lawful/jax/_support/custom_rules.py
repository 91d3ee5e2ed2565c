"""Functions with rules of their own, as `lawful.custom_rules` has them, which are given `Array`s."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from lawful import control_flow, custom_rules
from lawful.custom_rules._user_rules.derivatives import takes_numbers
from lawful.jax._support.user_functions import keeps_known_numbers, receives_arrays

Function = Callable[..., Any]


class custom_jvp(custom_rules.custom_jvp):  # type: ignore[type-arg]  # generic for type checkers alone
    """A function with a rule of forward mode; see `lawful.custom_rules.custom_jvp`.

    >>> import lawful.jax as jax
    >>> @jax.custom_jvp
    ... def double(x):
    ...     return x * 2.0
    >>> @double.defjvp
    ... def double_jvp(primals, tangents):
    ...     return double(*primals), 2.0 * tangents[0]
    >>> float(jax.grad(double)(3.0))
    2.0
    """

    def __init__(self, fun: Function, nondiff_argnums: Sequence[int] = (), nondiff_argnames: Sequence[str] = ()):
        super().__init__(fun, nondiff_argnums, nondiff_argnames)
        self.fun = receives_arrays(fun, self.nondiff_argnums)

    def defjvp[F: Function](self, jvp: F, symbolic_zeros: bool = False) -> F:
        """Defines the rule, and returns it; see `lawful.custom_rules.custom_jvp.defjvp`."""
        super().defjvp(receives_arrays(jvp, range(len(self.nondiff_argnums))), symbolic_zeros)
        return jvp

    def defjvps(self, *jvps: Function | None) -> None:
        """Defines the rule by one for each argument; see `lawful.custom_rules.custom_jvp.defjvps`."""
        super().defjvps(*[rule and receives_arrays(rule) for rule in jvps])


class custom_vjp(custom_rules.custom_vjp):  # type: ignore[type-arg]  # generic for type checkers alone
    """A function with rules of reverse mode; see `lawful.custom_rules.custom_vjp`.

    >>> import lawful.jax as jax
    >>> @jax.custom_vjp
    ... def double(x):
    ...     return x * 2.0
    >>> double.defvjp(lambda x: (double(x), None), lambda residuals, ct: (2.0 * ct,))
    >>> float(jax.grad(double)(3.0))
    2.0
    """

    def __init__(self, fun: Function, nondiff_argnums: Sequence[int] = (), nondiff_argnames: Sequence[str] = ()):
        super().__init__(fun, nondiff_argnums, nondiff_argnames)
        self.fun = receives_arrays(fun, self.nondiff_argnums)

    def defvjp(
        self,
        fwd: Function,
        bwd: Function,
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
        generic_batching: bool = False,
    ) -> None:
        """Defines the rules; see `lawful.custom_rules.custom_vjp.defvjp`."""
        super().defvjp(
            keeps_known_numbers(receives_arrays(fwd, self.nondiff_argnums)),
            takes_numbers(receives_arrays(bwd, range(len(self.nondiff_argnums)))),  # as weak arrays
            symbolic_zeros,
        )


class custom_vmap(custom_rules.custom_vmap):  # type: ignore[type-arg]  # generic for type checkers alone
    """A function with a rule of ``vmap``; see `lawful.custom_rules.custom_vmap`.

    >>> import lawful.jax as jax
    >>> import lawful.jax.numpy as jnp
    >>> from lawful.jax.custom_batching import custom_vmap
    >>> @custom_vmap
    ... def double(x):
    ...     return x * 2.0
    >>> @double.def_vmap
    ... def double_vmap(axis_size, in_batched, x):
    ...     return x + x, in_batched[0]
    >>> jax.vmap(double)(jnp.arange(3.0))
    Array([0., 2., 4.], dtype=float64)
    """

    def __init__(self, fun: Function) -> None:
        super().__init__(fun)
        self.fun = receives_arrays(fun)

    def def_vmap[F: Function](self, vmap_rule: F) -> F:
        """Defines the rule, and returns it; see `lawful.custom_rules.custom_vmap.def_vmap`."""
        super().def_vmap(receives_arrays(vmap_rule, (0, 1)))
        return vmap_rule


def sequential_vmap(f: Function) -> Function:
    """Returns a function that ``vmap`` applies to one element after another; see `lawful.control_flow`.

    >>> import lawful.jax as jax
    >>> import lawful.jax.numpy as jnp
    >>> from lawful.jax.custom_batching import sequential_vmap
    >>> jax.vmap(sequential_vmap(lambda x: x * 2.0))(jnp.arange(3.0))
    Array([0., 2., 4.], dtype=float64)
    """
    return control_flow.sequential_vmap(receives_arrays(f))


def custom_gradient(fun: Function) -> Function:
    """Returns a function that gives its value and its own cotangents; see `lawful.custom_rules.custom_gradient`.

    >>> import lawful.jax as jax
    >>> square = jax.custom_gradient(lambda x: (x * x, lambda ct: 2.0 * x * ct))
    >>> float(jax.grad(square)(3.0))
    6.0
    """

    def of_arrays(*args: Any, **kwargs: Any) -> tuple[Any, Function]:
        value, vjp = receives_arrays(fun)(*args, **kwargs)
        return value, receives_arrays(vjp)

    return custom_rules.custom_gradient(functools.wraps(fun, updated=())(of_arrays))
