"""The errors of programs that run in several processes."""

from __future__ import annotations

from typing import Final

from lawful.core import LawfulError


class ProcessError(LawfulError, RuntimeError):
    """Several processes cannot work together: one was started wrongly, has ended, or does not come.

    Cure: the message names the process and what it does.

    >>> issubclass(ProcessError, RuntimeError)
    True
    """


class ProcessEndedError(ProcessError):
    """Another process has ended, and this one needs it.

    Cure: look at the output of the process that the message names.

    >>> issubclass(ProcessEndedError, ProcessError)
    True
    """


class ProcessTimeoutError(ProcessError, TimeoutError):
    """Other processes did not come within the stated time.

    Cure: let all processes run the same program; give `initialize` a longer time.

    >>> issubclass(ProcessTimeoutError, TimeoutError)
    True
    """


class ProcessMismatchError(ProcessError, AssertionError):
    """Processes do different things, or have different values, where all have to do or have the same.

    Cure: let all processes call the same functions over several processes in the same order.

    >>> issubclass(ProcessMismatchError, AssertionError)
    True
    """


#: The classes by the names that they have in messages between processes.
CLASSES: Final[dict[str, type[ProcessError]]] = {
    cls.__name__: cls for cls in (ProcessError, ProcessEndedError, ProcessTimeoutError, ProcessMismatchError)
}
