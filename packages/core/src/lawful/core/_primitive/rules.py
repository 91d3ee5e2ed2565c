"""Rules of primitives: one for each slot, observers of changes, and checks of what rules return."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from lawful.core._errors import ArgumentTypeError, shorten
from lawful.tree.base import record

if TYPE_CHECKING:
    from lawful.core._primitive.primitive import Primitive

Rule = Callable[..., Any]

#: Called after a definition or removal of a rule: an observer discards what it has derived from rules.
rule_observers: Final[list[Callable[[], None]]] = []
#: How many times results may have been derived from rules.
_uses = 0


def note_use_of_rules() -> None:
    """Says that a result may be derived from any rule there is: each change of one is observed from here on."""
    global _uses
    _uses += 1


class Rules(dict[str, Rule]):
    """The rules of a primitive, by slot. A change calls ``rule_observers``, unless nothing was derived since its birth.

    So the import of a module that makes primitives and defines their rules discards nothing.
    """

    def __init__(self) -> None:
        super().__init__()
        self._born = _uses

    def __setitem__(self, slot: str, rule: Rule) -> None:
        super().__setitem__(slot, rule)
        self._observe()

    def __delitem__(self, slot: str) -> None:
        super().__delitem__(slot)
        self._observe()

    def _observe(self) -> None:
        if self._born != _uses:
            for observe in rule_observers:
                observe()


@record
class Slot:
    """The name of a slot's rule in an error message, and the method that defines it."""

    title: str
    definer: str


SLOTS: Final = {
    "impl": Slot("Evaluation", "def_impl"),
    "abstract_eval": Slot("Abstract evaluation", "def_abstract_eval"),
    "jvp": Slot("JVP", "def_jvp"),
    "transpose": Slot("Transpose", "def_transpose"),
    "batch": Slot("Batching", "def_batch"),
    "lowering": Slot("Lowering", "def_lowering"),
    "linearize": Slot("Linearization", "def_linearize"),
    "expand": Slot("Expansion", "def_expand"),
    "partial_eval": Slot("Partial evaluation", "def_partial_eval"),
}


class _Count(threading.local):
    count = 0


_impure = _Count()


def note_impure_rule() -> None:
    """Counts a rule of a primitive without ``pure_rules`` that is about to run in this thread.

    >>> before = impure_rules()
    >>> note_impure_rule()
    >>> impure_rules() - before
    1
    """
    _impure.count += 1


def impure_rules() -> int:
    """Returns how many rules without ``pure_rules`` ran in this thread.

    A result may be cached only if the count is the same before and after its computation.

    >>> before = impure_rules()
    >>> note_impure_rule()
    >>> impure_rules() == before
    False
    """
    return _impure.count


def has_parameter(rule: Rule, name: str) -> bool:
    """Whether a rule takes an argument by a name."""
    if type(rule) is FunctionType and not hasattr(rule, "__wrapped__"):
        # 100× faster than a signature; it runs for each primitive when lawful is imported.
        code = rule.__code__
        return name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return name in inspect.signature(rule).parameters


def pair_of_rule(primitive: Primitive, slot: str, parts: str, result: Any) -> tuple[Any, Any]:
    """Returns the result of a rule, which must be a pair.

    Args:
      primitive: the primitive.
      slot: the slot of the rule.
      parts: the names of the parts of the pair, for a message.
      result: the result of the rule.

    Raises:
      ArgumentTypeError: it is no pair, or for a primitive with several results no pair of lists of one length.

    >>> from lawful.core import Primitive
    >>> pair_of_rule(Primitive("double"), "jvp", "(primal_out, tangent_out)", [0.0, 1.0])
    (0.0, 1.0)
    >>> pair_of_rule(Primitive("double"), "jvp", "(primal_out, tangent_out)", 1.0)
    Traceback (most recent call last):
    lawful.core._errors.ArgumentTypeError: ...: jvp rule of 'double': expected a pair (primal_out, tangent_out), ...
    """
    is_pair = isinstance(result, tuple | list) and len(result) == 2
    if is_pair and not primitive.multiple_results:
        return result[0], result[1]
    if is_pair and all(isinstance(part, tuple | list) for part in result) and len(result[0]) == len(result[1]):
        return result[0], result[1]
    kind = "a pair of lists of one length" if primitive.multiple_results else "a pair"
    raise ArgumentTypeError(
        f"{slot} rule of '{primitive.name}': expected {kind} {parts}, got {shorten(result)} of type "
        f"{type(result).__name__}; return both"
    )
