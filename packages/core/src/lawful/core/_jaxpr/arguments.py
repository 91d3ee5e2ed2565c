"""Errors for what is given in place of a jaxpr: users call functions of jaxprs from passes and transformations."""

from __future__ import annotations

from typing import Any

from lawful.core._errors import ArgumentTypeError
from lawful.core._jaxpr.jaxpr import ClosedJaxpr, Jaxpr
from lawful.tree.base import shorten


def require_closed(function: str, closed: Any) -> None:
    """Returns nothing if a value is a closed jaxpr.

    Args:
      function: the name of the function that takes it, for the message.
      closed: the value.

    Raises:
      ArgumentTypeError: it is none.

    >>> require_closed("my_pass", max)
    Traceback (most recent call last):
    lawful.core._errors.ArgumentTypeError: ...: my_pass: expected a ClosedJaxpr, got ...; call make_jaxpr(f)(*args) ...
    """
    if not isinstance(closed, ClosedJaxpr):
        raise ArgumentTypeError(f"{function}: expected a ClosedJaxpr, got {_described(closed)}")


def require_jaxpr(function: str, jaxpr: Any) -> None:
    """Returns nothing if a value is a jaxpr, closed or not.

    Args:
      function: the name of the function that takes it, for the message.
      jaxpr: the value.

    Raises:
      ArgumentTypeError: it is none.

    >>> require_jaxpr("my_pass", 2.0)
    Traceback (most recent call last):
    lawful.core._errors.ArgumentTypeError: ...: my_pass: expected a jaxpr, got 2.0 of type float; ...
    """
    if not isinstance(jaxpr, (Jaxpr, ClosedJaxpr)):
        raise ArgumentTypeError(f"{function}: expected a jaxpr, got {_described(jaxpr)}")


def _described(x: Any) -> str:
    """Returns a value with its type, and what to do."""
    if isinstance(x, Jaxpr):
        return "a Jaxpr; give ClosedJaxpr(jaxpr, consts), with a value for each of its constvars"
    remedy = "call make_jaxpr(f)(*args) first, which returns one" if callable(x) else "make_jaxpr(f)(*args) returns one"
    return f"{shorten(x)} of type {type(x).__name__}; {remedy}"
