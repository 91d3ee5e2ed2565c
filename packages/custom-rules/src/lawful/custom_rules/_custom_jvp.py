"""``custom_jvp``: a function with a rule of its own for forward mode, from which reverse mode follows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from lawful import tree
from lawful.autodiff import instantiated, zero_tangent
from lawful.core import ArgumentTypeError
from lawful.custom_rules._custom_rule import custom_rule
from lawful.ops import add_tangents

F = TypeVar("F", bound=Callable[..., Any])


class custom_jvp(custom_rule):
    """A function whose derivative is given by a rule of forward mode; reverse mode follows from it.

    Args:
      fun: a function of pytrees of arrays that returns such a tree.
      nondiff_argnums: positions of arguments of any type which the rule is given first, and which have no derivative.
      nondiff_argnames: the same by name.

    It is a `custom_rule` with the names of JAX: ``defjvp`` defines the rule, or ``defjvps`` one for each argument.

    A call that is linear in an argument, as in the tangent of another rule, in a ``matvec``, or under
    ``linear_transpose``, is transposed through ``fun``. As in JAX, derivatives of the transpose are then those of
    ``fun``, not of the rule; ``def_transpose``, or `linear_call`, gives a transpose that calls functions with rules.

    Raises:
      UndefinedRuleError: it is called before a rule is defined.
      ArgumentTypeError: the rule gives something else than it should in structure, shape or dtype; says which.

    Law: with the rule ``lambda primals, tangents: jvp(fun, primals, tangents)`` it is ``fun`` under every
    transformation. Source: ``jax.custom_jvp``.

    >>> from lawful.autodiff import grad
    >>> from lawful.ops import cos, sin
    >>> @custom_jvp
    ... def f(x, y):
    ...     return sin(x) * y
    >>> @f.defjvp
    ... def f_jvp(primals, tangents):
    ...     x, y = primals
    ...     x_dot, y_dot = tangents
    ...     return f(x, y), cos(x) * x_dot * y + sin(x) * y_dot
    >>> grad(f)(0.0, 2.0)
    2.0
    """

    decorator = "custom_jvp"
    required = ("jvp", "defjvp")

    def defjvp(self, jvp: F, symbolic_zeros: bool = False) -> F:
        """Defines the rule, and returns it, so that this is a decorator.

        Args:
          jvp: ``jvp(primals, tangents)`` gives ``(out, tangent_out)``, as for ``custom_rule.def_jvp``.
          symbolic_zeros: whether tangents that are known to be zero are given as a ``Zero``.
        """
        return self.def_jvp(jvp, symbolic_zeros)

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Defines the rule by one for each argument; the tangent of the result is their sum.

        Args:
          jvps: ``rule(tangent, out, *primals)`` gives the tangent of the result by one argument; None where it is zero.

        Raises:
          ArgumentTypeError: there are nondiff_argnums; use ``defjvp``.

        >>> from lawful.autodiff import jvp
        >>> f = custom_jvp(lambda x, y: x * y)
        >>> f.defjvps(lambda x_dot, out, x, y: x_dot * y, None)
        >>> jvp(f, (2.0, 3.0), (1.0, 1.0))
        (6.0, 3.0)
        """
        if self.nondiff_argnums:
            raise ArgumentTypeError(
                f"{self.label}, defjvps: expected no nondiff_argnums, got {self.nondiff_argnums}; use defjvp"
            )

        def jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
            if len(jvps) != len(primals):
                raise ArgumentTypeError(
                    f"{self.label}, defjvps: expected one rule for each of {len(primals)} arguments, got {len(jvps)}; "
                    "give None for an argument that has no derivative"
                )
            out = self(*primals)
            total = tree.map(zero_tangent, out)
            for tangent, rule in zip(tangents, jvps, strict=True):
                if rule is not None:
                    total = tree.map(add_tangents, total, rule(tangent, out, *primals))
            return out, tree.map(instantiated, total)

        self.def_jvp(jvp)
