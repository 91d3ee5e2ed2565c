"""``custom_vjp``: a function with rules of its own for reverse mode, from which forward mode follows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lawful import tree
from lawful.core import ArgumentTypeError
from lawful.custom_rules._custom_rule import custom_rule
from lawful.custom_rules._user_rules.derivatives import CustomVJPPrimal


class custom_vjp(custom_rule):
    """A function whose derivative is given by rules of reverse mode; forward mode follows where they are linear.

    Args:
      fun: a function of pytrees of arrays that returns such a tree.
      nondiff_argnums: positions of arguments of any type which have no derivative. ``fwd`` is given them in their
        positions, ``bwd`` first.
      nondiff_argnames: the same by name.

    It is a `custom_rule` with the names of JAX: ``defvjp`` defines the rules.

    A call that is linear in an argument is transposed through ``fun``, not by ``bwd``, as that of a `custom_jvp` is.
    JAX has no transpose of it.

    Raises:
      UndefinedRuleError: it is called before the rules are defined.
      ArgumentTypeError: a rule gives something else than it should in structure, shape or dtype; says which.
      NotLinearError: forward mode is asked for, and ``bwd`` is not linear in the cotangent.

    Law: with rules made of ``vjp(fun, *args)`` it is ``fun`` under every transformation. Source: ``jax.custom_vjp``,
    which has no forward mode.

    >>> from lawful.autodiff import grad
    >>> from lawful.ops import clamp
    >>> @custom_vjp
    ... def clip_gradient(x):
    ...     return x
    >>> clip_gradient.defvjp(lambda x: (x, None), lambda _, ct: (clamp(-1.0, ct, 1.0),))
    >>> grad(lambda x: 5.0 * clip_gradient(x))(2.0)
    1.0
    """

    decorator = "custom_vjp"
    required = ("vjp", "defvjp")

    def defvjp(
        self,
        fwd: Callable[..., Any],
        bwd: Callable[..., Any],
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
        generic_batching: bool = False,
    ) -> None:
        """Defines the rules.

        Args:
          fwd: of the function's arguments, gives ``(out, residuals)``.
          bwd: ``bwd(residuals, ct)`` gives a tuple of one cotangent for each argument, as for ``custom_rule.def_vjp``.
          symbolic_zeros: whether ``fwd`` is told what is differentiated by, and ``bwd`` which cotangents are zero.
          optimize_remat: accepted as in JAX, without effect.
          generic_batching: accepted as in JAX, without effect.
        """
        self.def_vjp(fwd, bwd, symbolic_zeros)


def custom_vjp_primal_tree_values(values: Any) -> Any:
    """Returns a tree of ``CustomVJPPrimal``, as ``fwd`` is given it with ``symbolic_zeros``, as a tree of their values.

    Raises:
      ArgumentTypeError: a leaf is something else.

    Source: ``jax.custom_derivatives.custom_vjp_primal_tree_values``.

    >>> custom_vjp_primal_tree_values([CustomVJPPrimal(1.0, True)])
    [1.0]
    """

    def value(leaf: Any) -> Any:
        if type(leaf) is not CustomVJPPrimal:
            raise ArgumentTypeError(
                f"custom_vjp_primal_tree_values: expected leaves that are CustomVJPPrimal, got {type(leaf).__name__}; "
                "give what fwd was given with symbolic_zeros=True"
            )
        return leaf.value

    return tree.map(value, values)
