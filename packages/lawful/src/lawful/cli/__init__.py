"""The `lawful` command: runs the laws, shows programs and rules, examines the installation."""

from argparse import Namespace
from collections.abc import Callable, Sequence

from lawful.cli._arguments import parse

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status, which ``lawful --help`` explains.

    Args:
      argv: the arguments after the command's name; those of the process if None.

    >>> main(["rules", "--missing", "sin"])
    no rule is missing
    0
    """
    import sys

    from lawful.cli._usage import INTERRUPTED, USAGE, UsageError
    from lawful.tree.base.environment import EnvironmentSwitchError

    arguments = parse(argv)
    if argv is None:
        _hide_launcher()
    try:
        return _command(arguments.command)(arguments)
    except (UsageError, EnvironmentSwitchError) as error:
        text = error.message if isinstance(error, EnvironmentSwitchError) else error
        print(f"lawful: {text}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader of the pipe, such as head, has exited
        sys.stderr.close()
        return 0


def _hide_launcher() -> None:
    """Says that the script which started the process is not the user's: no line of it is one of the program shown."""
    from lawful.tree.base import register_internal_module

    register_internal_module("__main__")


def _command(name: str | None) -> Callable[[Namespace], int]:
    """Returns a subcommand. Each is imported only when it runs: `lawful --version` needs no arrays."""
    if name == "laws":
        from lawful.cli._laws import run_laws

        return run_laws
    if name == "show":
        from lawful.cli._show import show

        return show
    if name == "doctor":
        from lawful.cli._doctor import doctor

        return doctor
    if name == "rules":
        from lawful.cli._rules import rules

        return rules
    from lawful.cli._layers import layers

    return layers
