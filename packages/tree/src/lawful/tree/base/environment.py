"""Switches in the environment."""

from __future__ import annotations

import os

from lawful.tree.base.errors import ArgumentValueError


class EnvironmentSwitchError(ArgumentValueError):
    """A variable of the environment has a value that lawful does not know."""


def environment_switch(name: str, *words: str, default: str = "") -> str | None:
    """Returns the value of a variable of the environment in lower case; None if it says no.

    Args:
      name: of the variable.
      words: what it may be besides words for yes and no.
      default: its value if it is unset or empty.

    Raises:
      ArgumentValueError: the value is another word.

    >>> environment_switch("LAWFUL_UNSET") is None
    True
    """
    text = os.environ.get(name) or default
    value = text.lower()
    if value in ("", "0", "false", "off", "no"):
        return None
    if value in ("1", "true", "on", "yes", *words):
        return value
    expected = ", ".join(["1", *words])
    raise EnvironmentSwitchError(f"{name} in the environment: expected {expected} or 0, got {text!r}")
