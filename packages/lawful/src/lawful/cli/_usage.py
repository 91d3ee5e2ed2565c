"""Usage errors, and the meaning of exit statuses."""

from __future__ import annotations

from typing import Final

HOLDS: Final = 0
FAILS: Final = 1
USAGE: Final = 2
INTERRUPTED: Final = 130

EXIT_STATUS: Final = """exit status:
  0    all that was asked holds
  1    a law fails, `rules --missing` finds a missing rule, or `doctor` finds what does not work
  2    the command cannot do what it is told: a wrong option, a library that is not installed, a program that fails
  130  interrupted; what was found until then is reported"""


def counted(number: int, noun: str) -> str:
    """Returns a number with a noun.

    >>> counted(1, "law"), counted(2, "law")
    ('1 law', '2 laws')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


class UsageError(Exception):
    """The command cannot do what its arguments say. Its text is printed without a traceback; the status is 2."""
