"""The arguments that choose elements of a reduction, and that it begins with."""

from __future__ import annotations

from typing import Any

from lawful.core import ArgumentTypeError, ArgumentValueError, get_aval


def require_mask(name: str, where: Any) -> None:
    """Raises ArgumentTypeError if ``where`` is not None and not boolean."""
    if where is not None and get_aval(where).dtype.kind != "b":
        raise ArgumentTypeError(
            f"{name}: expected booleans as where, got {get_aval(where)}; compare with zero, as in where=x != 0"
        )


def require_initial(name: str, initial: Any) -> None:
    """Raises ArgumentValueError if ``initial`` is not None and not a scalar."""
    if initial is not None and get_aval(initial).shape:
        raise ArgumentValueError(
            f"{name}: expected a scalar as initial, got {get_aval(initial)}; combine the result with the array"
        )
