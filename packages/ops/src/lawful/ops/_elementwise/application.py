"""Application of elementwise primitives to promoted and broadcast operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from lawful.core import Hook, IntegerOverflowError, Primitive
from lawful.ops._support.promotion import PromoteAs, promote, with_fitting_integers

__all__ = ["apply_promoted"]


def _apply(primitive: Primitive, name: str, promote_as: PromoteAs, args: Sequence[Any], operator: bool = False) -> Any:
    return primitive.bind(*promote(name, promote_as, args, operator=operator, keep_scalars=True))


promotion_hook: Final[Hook[Callable[..., Any]]] = Hook("promotion", _apply)


def apply_promoted(
    primitive: Primitive, name: str, promote_as: PromoteAs, args: Sequence[Any], operator: bool = False
) -> Any:
    """Applies a primitive to arguments after promotion and broadcasting; scalars beside arrays stay scalars.

    Args:
      primitive: a strict elementwise one, of one result and no parameters.
      name: the function that the user called, for messages.
      promote_as: the ufunc or dtype kinds whose promotion is used; None for the plain one.
      args: as many arrays, numbers or tracers as the primitive takes.
      operator: whether a Python operator was used, which gives a weak result of weak operands; a function gives a
        strong one.

    Law: it is what converting and broadcasting each argument and then applying the primitive gives.

    >>> import numpy as np
    >>> from lawful import ops
    >>> apply_promoted(ops.add_p, "add", np.add, (np.array([1, 2]), 0.5))
    array([1.5, 2.5])
    """
    return promotion_hook.use(primitive, name, promote_as, args, operator)


class Application:
    """How a function applies an elementwise primitive: a constant of the function.

    Attributes:
      primitive: a strict elementwise one, of one result and no parameters.
      name: of the function, for messages.
      promote_as: its promotion.
      operator: whether it is a Python operator, which gives a weak result of weak operands.
    """

    __slots__ = ("name", "operator", "primitive", "promote_as")

    def __init__(self, primitive: Primitive, name: str, promote_as: PromoteAs, operator: bool = False) -> None:
        self.primitive = primitive
        self.name = name
        self.promote_as = promote_as
        self.operator = operator

    def apply(self, args: Sequence[Any]) -> Any:
        """Applies the primitive to the arguments of a call."""
        try:
            return promotion_hook.use(self.primitive, self.name, self.promote_as, args, self.operator)
        except IntegerOverflowError:
            args = with_fitting_integers(args, self.name, self.promote_as, self.operator)
            return promotion_hook.use(self.primitive, self.name, self.promote_as, args, self.operator)


def _switch_apply(apply: Callable[..., Any]) -> None:
    Application.apply = apply  # type: ignore[method-assign]


#: ``Application.apply``, which functions and operators of tracers call. An accelerator replaces the method itself, so
#: that the choice costs nothing.
application_hook: Final[Hook[Callable[..., Any]]] = Hook("elementwise application", Application.apply, _switch_apply)
