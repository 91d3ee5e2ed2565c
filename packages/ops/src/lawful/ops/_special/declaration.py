"""The declaration of special functions that are one algorithm in float64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lawful.core import Interval
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise
from lawful.ops._support.double import REAL_PROMOTION, EvaluatedInDouble, lowered_in_double


def special_function(
    name: str,
    doc: str,
    algorithm: Callable[..., Any],
    derivatives: Sequence[Callable[..., Any] | None],
    domain: Sequence[Interval],
    **options: Any,
) -> Elementwise:
    """Declares a function of real numbers.

    Args:
      name: the primitive's name, and the function's.
      doc: the function's docstring.
      algorithm: evaluates it on arrays of float64 and of one shape, and is staged to lower it.
      derivatives: one for each argument; see `elementwise`, as for the rest.
      domain: an interval for each argument.
      options: further arguments of `elementwise`.
    """
    return elementwise(
        name,
        doc,
        EvaluatedInDouble(name, algorithm),
        lowered_in_double(algorithm),
        arity=len(domain),
        promote_as=REAL_PROMOTION[len(domain)],
        derivatives=derivatives,
        domain=domain,
        **options,
    )
