"""Results of rules: a pair of values, or a pair of lists for a primitive with several results."""

from __future__ import annotations

from typing import Any

from lawful.core._errors import ArgumentTypeError, shorten
from lawful.core._primitive import Primitive


def pair_of_rule(primitive: Primitive, slot: str, parts: str, result: Any) -> tuple[Any, Any]:
    """Returns the pair that a rule gave.

    Args:
      primitive: whose rule it is.
      slot: which rule.
      parts: how a message names the parts of the pair.
      result: what the rule gave.

    Raises:
      ArgumentTypeError: it is no pair, or not a pair of lists of one length for a primitive with several results.
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
