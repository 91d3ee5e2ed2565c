"""``custom_vmap``: a function with a rule of its own for ``vmap``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from lawful.core import Primitive, UndefinedRuleError
from lawful.custom_rules._call.function import CustomFunction
from lawful.custom_rules._call.primitive import custom_vmap_call_p
from lawful.custom_rules._call.rules import CallRules
from lawful.custom_rules._call.site import CallSite
from lawful.custom_rules._user_rules.batching import batch_by

F = TypeVar("F", bound=Callable[..., Any])


class custom_vmap(CustomFunction):
    """A function whose batched form is given by a rule.

    Args:
      fun: a function of pytrees of arrays that returns such a tree.

    ``def_vmap`` gives the rule. Where no argument is mapped, the function itself runs. Its derivatives are those of the
    function; under ``vmap`` they are those of the rule. So are compiled and other forms: the rule says what ``vmap``
    means, wherever it stands in a stack of transformations.

    Raises:
      UndefinedRuleError: it is called before ``def_vmap``.
      ArgumentTypeError: the rule gives another tree, shape or dtype than the function does for each element.

    Law: if the rule gives what the loop gives, so does every transformation. Source:
    ``jax.custom_batching.custom_vmap``; there it has no reverse mode.

    >>> import numpy as np
    >>> from lawful.batching import vmap
    >>> @custom_vmap
    ... def solve(a, b):
    ...     return b / a
    >>> @solve.def_vmap
    ... def _(axis_size, in_batched, a, b):
    ...     a_batched, b_batched = in_batched
    ...     print(f"{axis_size} at once")
    ...     return b / a, a_batched or b_batched
    >>> vmap(solve, in_axes=(None, 0))(2.0, np.array([2.0, 4.0]))
    2 at once
    array([1., 2.])
    """

    decorator = "custom_vmap"
    takes_nondiff = False

    def __init__(self, fun: Callable[..., Any]) -> None:
        super().__init__(fun)
        self.vmap_rule: Callable[..., Any] | None = None

    def def_vmap(self, vmap_rule: F) -> F:
        """Defines the rule, and returns it, so that this is a decorator.

        Args:
          vmap_rule: ``rule(axis_size, in_batched, *args)`` gives ``(out, out_batched)``. ``in_batched`` is a list with
            a tree of booleans for each argument: whether a leaf is a batch, with its batch dimension in front. The
            result likewise, with ``out_batched`` such a tree; one boolean may stand for a whole subtree.
        """
        self.vmap_rule = vmap_rule
        return vmap_rule

    @property
    def carried_functions(self) -> list[Callable[..., Any]]:
        """The function and its rule."""
        return [self.fun] if self.vmap_rule is None else [self.fun, self.vmap_rule]

    def _require_rules(self) -> None:
        if self.vmap_rule is None:
            raise UndefinedRuleError(
                f"{self.label}: expected a batching rule, got none; define it with @{self.name}.def_vmap"
            )

    def _call(self, site: CallSite) -> tuple[Primitive, CallRules]:
        assert self.vmap_rule is not None
        return custom_vmap_call_p, CallRules(
            ("custom_vmap", site), batch=batch_by(self.vmap_rule, site), closed_over=site.closed_over
        )
