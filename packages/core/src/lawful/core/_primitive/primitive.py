"""Primitives: the operations that programs consist of, each carrying its rules.

A primitive has a name, and a slot for each transformation. Its author fills the slots. A transformation looks up its
rule by the name of the slot, so that a package outside this repository can add a transformation under a new name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from lawful.core._errors import AbsentRuleError, MissingRuleError
from lawful.core._primitive.by_name import primitives_by_name
from lawful.core._primitive.rules import SLOTS, Rule, Rules, has_parameter, note_impure_rule
from lawful.core._trace.trace import current
from lawful.tree.base import register_dispatch_module

if TYPE_CHECKING:
    from lawful.core._primitive.declaration import Declaration

register_dispatch_module(__name__)

F = TypeVar("F", bound=Rule)


def primitive_named(name: str) -> Primitive:
    """Returns the most recently made primitive of a name; raises KeyError if there is none."""
    return primitives_by_name[name]


class Primitive:
    """An operation with its rules, one for each transformation.

    Args:
      name: how jaxprs print it, and how ``parse_jaxpr`` finds it: the most recently made primitive of the name, while
        something else refers to it. The registry does not keep a primitive alive.
      multiple_results: whether ``bind`` gives a list of arrays and not an array.
      effectful: whether it does more than return a result. No pass drops such an equation, merges it with another, or
        changes the order of two of them.
      pure_rules: whether its rules are pure functions of the types of the arguments and of the parameters. Only then
        its derivatives may be cached; otherwise each rule runs each time.

    >>> double_p = Primitive("double")
    >>> @double_p.def_impl
    ... def double_impl(x):
    ...     return x + x
    >>> double_p.bind(4)
    8

    Source: ``jax.extend.core.Primitive``, with the rules of all transformations in the primitive itself.
    """

    __slots__ = (
        "__weakref__",
        "absent",
        "batch_takes_axis_data",
        "declaration",
        "effectful",
        "impl_takes_any_array",
        "multiple_results",
        "name",
        "pure_rules",
        "rules",
    )

    def __init__(
        self, name: str, multiple_results: bool = False, *, effectful: bool = False, pure_rules: bool = False
    ) -> None:
        self.name = name
        self.multiple_results = multiple_results
        self.effectful = effectful
        self.pure_rules = pure_rules
        self.rules: dict[str, Rule] = Rules()
        self.absent: dict[str, str] = {}
        self.declaration: Declaration | None = None
        self.batch_takes_axis_data = False
        self.impl_takes_any_array = False
        primitives_by_name[name] = self

    def __repr__(self) -> str:
        return f"{self.name}_p"

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[object, ...]:
        return primitive_named, (self.name,)

    def bind(self, *args: Any, **params: Any) -> Any:
        """Applies the primitive under the current transformation: evaluates, records, differentiates, ….

        Args:
          args: arrays, numbers or tracers, as strict as the primitive's ``abstract_eval`` is.
          params: static parameters.

        Returns:
          The result, or a list of results where the primitive has several.

        Raises:
          MissingRuleError: the transformation needs a rule that is not defined.
        """
        return current.trace.process_primitive(self, args, params)

    def get_bind_params(self, params: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Returns the functions and the parameters that `bind` takes for an equation: no functions, and ``params``.

        It is there for interpreters that were written for JAX, where some primitives are bound with functions.
        Source: ``jax.extend.core.Primitive.get_bind_params``.
        """
        return [], params

    # Rules

    def rule(self, slot: str) -> Rule:
        """Returns the rule in a slot; raises MissingRuleError, which names the call that defines it, if none is.

        A transformation calls this each time that it runs a rule. The result of a computation is not cached if this
        returned a rule of a primitive without ``pure_rules``.
        """
        if not self.pure_rules:
            note_impure_rule()
        try:
            return self.rules[slot]
        except KeyError:
            raise self._missing(slot) from None

    def rule_or_none(self, slot: str) -> Rule | None:
        """Returns the rule in a slot as `rule` does; None if none is defined."""
        found = self.rules.get(slot)
        if found is not None and not self.pure_rules:
            note_impure_rule()
        return found

    def _missing(self, slot: str) -> MissingRuleError:
        known = SLOTS.get(slot)
        title = known.title if known else slot
        definer = f"{self.name}_p.{known.definer}" if known else f"{self.name}_p.def_rule({slot!r}, rule)"
        reason = self.absent.get(slot)
        if reason is not None:
            return AbsentRuleError(f"{title} rule for '{self.name}' does not exist: {reason}")
        return MissingRuleError(f"{title} rule for '{self.name}' not implemented; define it with {definer}")

    def def_rule(self, slot: str, rule: F) -> F:
        """Puts a rule into a slot of any name: how a new transformation gives rules to existing primitives."""
        self.rules[slot] = rule
        return rule

    def def_rule_as(self, slot: str) -> Callable[[F], F]:
        """Returns the decorator that puts a rule into a slot of any name."""
        return lambda rule: self.def_rule(slot, rule)

    def declare_absent(self, slot: str, reason: str) -> None:
        """Declares that a rule cannot exist. The reason is part of the error of a lookup."""
        self.absent[slot] = reason

    def def_impl(self, rule: F, *, any_array: bool = False) -> F:
        """Defines evaluation: ``rule(*arrays, **params)`` of NumPy values gives a value, or a list of them.

        Args:
          rule: the rule.
          any_array: whether the rule takes arrays of every registered type as they are, on their devices.
        """
        self.impl_takes_any_array = any_array
        return self.def_rule("impl", rule)

    def def_abstract_eval(self, rule: F) -> F:
        """Defines typing: ``rule(*avals, **params)`` gives the aval(s); raises TypeError on ill-typed input."""
        return self.def_rule("abstract_eval", rule)

    def def_jvp(self, rule: F) -> F:
        """Defines forward mode: ``rule(primals, tangents, **params)`` gives ``(primal_out, tangent_out)``.

        A tangent, given or returned, may be a symbolic ``Zero``.
        """
        return self.def_rule("jvp", rule)

    def def_transpose(self, rule: F) -> F:
        """Defines transposition: ``rule(ct, *args, **params)`` gives one cotangent an argument.

        A linear argument is an ``UndefinedPrimal``; the cotangent of any other is None. ``ct`` may be ``Zero``.
        """
        return self.def_rule("transpose", rule)

    def def_batch(self, rule: F) -> F:
        """Defines batching: ``rule(args, dims, **params)`` gives ``(out, out_dim)``.

        A dim is the position of the batch dimension, or None. A rule with a parameter named ``axis_data`` is
        also given the size and name of the mapped axis.
        """
        self.batch_takes_axis_data = has_parameter(rule, "axis_data")
        return self.def_rule("batch", rule)

    def def_lowering(self, rule: F, platform: str | None = None) -> F:
        """Defines lowering: ``rule(ctx, *operands, **params)`` gives the MLIR value, or a list of them.

        Args:
          rule: the rule.
          platform: the platform (``"cpu"``, ``"cuda"``) that the rule is for; None for all without their own rule.
        """
        return self.def_rule("lowering" if platform is None else f"lowering:{platform}", rule)

    def lowering_rule(self, platform: str) -> Rule:
        """Returns the lowering rule for a platform; raises MissingRuleError if there is none."""
        rule = self.rules.get(f"lowering:{platform}", self.rules.get("lowering"))
        if rule is None:
            others = [slot.removeprefix("lowering:") for slot in self.rules if slot.startswith("lowering:")]
            if others:
                raise MissingRuleError(
                    f"Lowering rule for '{self.name}' on the platform {platform!r} not implemented, only for "
                    f"{', '.join(others)}; run it there, or define it with {self.name}_p.def_lowering"
                )
            raise self._missing("lowering")
        return rule

    def def_expand(self, rule: F) -> F:
        """Defines expansion: ``rule(*args, **params)`` gives the result by other primitives, under the current trace.

        A transformation that has no rule for a primitive may run this one instead: calls, branches and loops evaluate
        their jaxprs, so that it needs no rules for these.

        Law: expansion gives what evaluation gives.
        """
        return self.def_rule("expand", rule)

    def def_linearize(self, rule: F) -> F:
        """Defines linearization, for call-like primitives only: all others derive it from their jvp.

        ``rule(nonzeros, *primals, **params)`` gives ``(primals_out, nonzeros_out, tangent_fun)``, lists all
        three but the last: ``tangent_fun(*tangents)`` of the tangents that are not zero gives those that are not.
        """
        return self.def_rule("linearize", rule)

    def def_partial_eval(self, rule: F) -> F:
        """Defines partial evaluation, for call-like primitives only: all others are recorded whole.

        ``rule(record, unknown, *args, **params)`` gives the list of results: it binds what the known arguments
        decide, and ``record(*args, **params)`` adds the rest to the program of what is unknown.
        """
        return self.def_rule("partial_eval", rule)
