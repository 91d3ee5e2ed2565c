"""Which results of a batched operation stand for Python numbers: those that would without the batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lawful.core import Primitive, get_aval, types_alike, with_weakness_of_jaxprs


def weak_results(primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> list[bool]:
    """Returns, for each result, whether it would be weak outside of the batch; an empty list if none would."""
    if not params.get("weak_type") and not any([get_aval(x).weak_type for x in args]):
        return []
    avals = with_weakness_of_jaxprs(primitive, [get_aval(x) for x in args], params)
    avals, params = types_alike(primitive, avals, params)
    out = primitive.rule("abstract_eval")(*avals, **params)
    return [aval.weak_type for aval in (out if primitive.multiple_results else (out,))]
