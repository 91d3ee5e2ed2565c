"""The defaults of the arguments of `initialize`: variables of the environment, which the launcher sets."""

from __future__ import annotations

import operator
import os
from typing import Any, Final

from lawful.core import ArgumentTypeError, ArgumentValueError

ADDRESS: Final = "LAWFUL_COORDINATOR_ADDRESS"
COUNT: Final = "LAWFUL_NUM_PROCESSES"
INDEX: Final = "LAWFUL_PROCESS_ID"
#: Set by the launcher, which reports the first process that fails.
LAUNCHED: Final = "LAWFUL_LAUNCHED"


def address(name: str, given: str | None) -> tuple[str, int]:
    """Returns host and port."""
    address = os.environ.get(ADDRESS) if given is None else given
    if address is None:
        raise ArgumentTypeError(
            f"initialize: expected a coordinator_address, or {ADDRESS} in the environment, got neither; give "
            "'host:port', or start the program with python -m lawful.parallel -n 2"
        )
    if not isinstance(address, str):
        raise ArgumentTypeError(f"initialize: expected 'host:port' as {name}, got {address!r}; give a string")
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65_536:
        raise ArgumentValueError(
            f"initialize: expected 'host:port' as {name}, got {address!r}; give a port of 1 to 65535"
        )
    return host.strip("[]"), int(port)


def integer(name: str, given: Any, variable: str | None, least: int) -> int:
    """Returns an integer of at least ``least``, by default that of a variable of the environment."""
    if given is None and variable is not None:
        text = os.environ.get(variable)
        if text is None:
            raise ArgumentTypeError(
                f"initialize: expected {name}, or {variable} in the environment, got neither; give it, or start the "
                "program with python -m lawful.parallel -n 2"
            )
        given = int(text) if text.isdecimal() else text
    try:
        value = operator.index(given)
    except TypeError:
        raise ArgumentTypeError(f"initialize: expected an integer as {name}, got {given!r}; give one") from None
    if value < least:
        raise ArgumentValueError(f"initialize: expected {name} of at least {least}, got {value}; correct it")
    return value
